"""HTML page of a matrix.

A cell that is broken is a link to its counterexample, on the same page, shown when it is aimed at.
Cells with the same counterexample share it. How one is drawn is the business of
`checker.report.pages.page`, and so is what the browser may do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from waterline.checker.kafka.matrix.extent import describe_sizes
from waterline.checker.kafka.matrix.grid import FAULT, VERSION, Grid, Place, place
from waterline.checker.kafka.matrix.matrix import Matrix
from waterline.checker.kafka.matrix.outcome import ClaimOutcome, Outcome, Standing
from waterline.checker.kafka.matrix.table import (
    combinations,
    counts,
    describe_bounds,
    describe_coordinates,
    describe_same,
    describe_settings,
    in_words_of,
    meanings,
    option_names,
    plain_answers,
)
from waterline.checker.kafka.narrative.story import story_of
from waterline.checker.problem.wording import quantity
from waterline.checker.report.pages.page import Shown, parts_of, render
from waterline.checker.traces.finding import Finding

_SIGNS = {
    Standing.HOLDS: "✓",
    Standing.CONTRACT: "≈",
    Standing.VIOLATED: "✗",
    Standing.INCOMPLETE: "",
}


def to_html(matrix: Matrix) -> str:
    """The page."""
    grid = matrix.grid
    names = trace_names(matrix.outcomes)
    return render(
        "matrix.html.j2",
        title="Waterline matrix",
        bounds=describe_bounds(grid),
        same=describe_same(grid),
        versions=[value.name for value in grid.axis(VERSION).values],
        blocks=_blocks(matrix, names),
        answers=list(plain_answers(matrix)),
        option_names=option_names(grid),
        meanings=[
            replace(meaning, sentence=in_words_of(grid.system, meaning.sentence))
            for meaning in meanings(matrix.outcomes)
        ],
        faults=[
            replace(value, sentence=in_words_of(grid.system, value.sentence))
            for value in grid.axis(FAULT).values
        ],
        counts=counts(matrix).plain,
        traces=traces_of(matrix, names),
    )


@dataclass(frozen=True, slots=True)
class PageTrace:
    """A counterexample, the cells that it is of, and the first of them to go back to."""

    shown: Shown
    claims: tuple[str, ...]
    cells: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
    back: str


def trace_names(outcomes: Sequence[Outcome], prefix: str = "") -> dict[Place, str]:
    """Return the name of each cell's counterexample; cells with the same steps share one.

    `prefix` keeps the names of several matrices on one page apart.
    """
    numbers: dict[tuple[object, ...], int] = {}
    names = {}
    for outcome in outcomes:
        if outcome.replayed is not None:
            trace = outcome.replayed.trace
            key = (trace.version, trace.invariant, trace.initial, trace.steps)
            names[outcome.cell.at()] = f"{prefix}trace-{numbers.setdefault(key, len(numbers) + 1)}"
    return names


def _blocks(matrix: Matrix, names: dict[Place, str]) -> list[dict[str, Any]]:
    """A table for each combination of settings: a row for each fault, a column for each version."""
    grid = matrix.grid
    outcomes = {outcome.cell.at(): outcome for outcome in matrix.outcomes}
    ids = cell_ids(matrix)
    blocks = []
    for settings in combinations(grid):
        rows = []
        for fault in grid.axis(FAULT).values:
            at = {**settings, FAULT: fault.name}
            cells = [
                _cell(outcomes[place({**at, VERSION: version.name})], names, ids)
                for version in grid.axis(VERSION).values
            ]
            rows.append({"name": fault.name, "cells": cells})
        blocks.append({"title": describe_settings(settings, grid) or "Verdicts", "rows": rows})
    return blocks


def _cell(outcome: Outcome, names: dict[Place, str], ids: dict[Place, str]) -> dict[str, Any]:
    return {
        "kind": outcome.standing.value,
        "label": f"{_SIGNS[outcome.standing]} {outcome.label}".strip(),
        "trace": names.get(outcome.cell.at()),
        "id": ids[outcome.cell.at()],
        "states": quantity(outcome.answer.distinct, "state"),
        "sizes": describe_sizes(outcome.cell.environment),
    }


def cell_ids(matrix: Matrix, prefix: str = "") -> dict[Place, str]:
    """Return the id of each cell on the page."""
    return {
        o.cell.at(): f"{prefix}cell-{number}" for number, o in enumerate(matrix.outcomes, start=1)
    }


def traces_of(
    matrix: Matrix, names: dict[Place, str], *, prefix: str = "", kafka: str = ""
) -> list[PageTrace]:
    """Every counterexample once, in the order of their names; `kafka` is the release in words."""
    cells: dict[str, list[Outcome]] = {}
    for outcome in matrix.outcomes:
        if outcome.cell.at() in names:
            cells.setdefault(names[outcome.cell.at()], []).append(outcome)
    ids = cell_ids(matrix, prefix)
    return [
        _trace(name, found, matrix.grid, back=ids[found[0].cell.at()], kafka=kafka)
        for name, found in cells.items()
    ]


def _trace(name: str, cells: Sequence[Outcome], grid: Grid, *, back: str, kafka: str) -> PageTrace:
    first = cells[0]
    replayed = first.replayed
    assert replayed is not None
    claim = replayed.trace.invariant
    problem = first.cell.problem([claim])
    sentence = next(known.sentence for known in problem.claims if known.name == claim)
    story = story_of(Finding(claim, sentence, replayed, first.explanation, problem.model))
    title = f"{kafka or first.cell.version}: {claim}, after {quantity(story.steps, 'step')}"
    return PageTrace(
        parts_of(story, name, title=title, sentence=sentence, whole=False),
        tuple(claim.name for claim in first.claims),
        tuple(_describe_cell(outcome, grid) for outcome in cells),
        back,
    )


def _describe_cell(
    outcome: Outcome, grid: Grid
) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Return a cell's coordinates, and each claim's verdict with its remarks."""
    text = describe_coordinates(outcome.cell.coordinates, grid)
    return text, tuple(_describe_claim(claim) for claim in outcome.claims)


def _describe_claim(claim: ClaimOutcome) -> tuple[str, tuple[str, ...]]:
    verdict = claim.verdict.value
    if claim.depth is not None:
        verdict += f" after {claim.depth}"
    notes = [claim.contract] if claim.contract else []
    if claim.depth_clean is not None:
        notes.append(f"also without unclean elections, after {claim.depth_clean}")
    return verdict, tuple(notes)
