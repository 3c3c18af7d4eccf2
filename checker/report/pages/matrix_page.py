"""HTML page of a matrix.

A cell that is broken is a link to its counterexample, on the same page, shown when it is aimed at.
Cells with the same counterexample share it. How one is drawn is the business of
`checker.report.pages.page`, and so is what the browser may do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from checker.kafka.matrix.config_table import (
    ConfigAnswer,
    describe_answers,
    recommendation,
    release,
)
from checker.kafka.matrix.extent import describe_sizes
from checker.kafka.matrix.grid import FAULT, VERSION, Grid, Place, place
from checker.kafka.matrix.matrix import Matrix
from checker.kafka.matrix.outcome import ClaimOutcome, Outcome, Standing
from checker.kafka.matrix.table import (
    combinations,
    counts,
    describe_bounds,
    describe_coordinates,
    describe_same,
    describe_settings,
    meanings,
)
from checker.kafka.narrative.story import story_of
from checker.problem.wording import counted
from checker.report.pages.page import Shown, rendered, shown
from checker.traces.finding import Finding

_SIGNS = {
    Standing.HOLDS: "✓",
    Standing.CONTRACT: "≈",
    Standing.VIOLATED: "✗",
    Standing.INCOMPLETE: "",
}


def to_html(matrix: Matrix, answer: ConfigAnswer | None = None) -> str:
    """The page; with the answer about a configuration, if there is one."""
    grid = matrix.grid
    names = _names(matrix.outcomes)
    return rendered(
        "matrix.html.j2",
        title="Waterline matrix",
        bounds=describe_bounds(grid),
        same=describe_same(grid),
        settings=answer.config.settings if answer else (),
        versions=[value.name for value in grid.axis(VERSION).values],
        blocks=_blocks(matrix, names),
        remedies=_remedies(answer) if answer else (),
        advice=_advice(answer) if answer else (),
        meanings=meanings(matrix.outcomes),
        faults=grid.axis(FAULT).values,
        counts=counts(matrix).plain,
        traces=_traces(matrix, names),
    )


@dataclass(frozen=True, slots=True)
class _Trace:
    """A counterexample, the cells that it is of, and the first of them to go back to."""

    shown: Shown
    claims: tuple[str, ...]
    cells: tuple[tuple[str, tuple[tuple[str, tuple[str, ...]], ...]], ...]
    back: str


def _names(outcomes: Sequence[Outcome]) -> dict[Place, str]:
    """What the counterexample of a cell is called: cells with the same steps share one."""
    numbers: dict[tuple[object, ...], int] = {}
    names = {}
    for outcome in outcomes:
        if outcome.replayed is not None:
            trace = outcome.replayed.trace
            key = (trace.version, trace.invariant, trace.initial, trace.steps)
            names[outcome.cell.at()] = f"trace-{numbers.setdefault(key, len(numbers) + 1)}"
    return names


def _blocks(matrix: Matrix, names: dict[Place, str]) -> list[dict[str, Any]]:
    """A table for each combination of settings: a row for each fault, a column for each version."""
    grid = matrix.grid
    outcomes = {outcome.cell.at(): outcome for outcome in matrix.outcomes}
    ids = _ids(matrix)
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
        "states": counted(outcome.answer.distinct, "state"),
        "sizes": describe_sizes(outcome.cell.environment),
    }


def _ids(matrix: Matrix) -> dict[Place, str]:
    """What a cell is called on the page."""
    return {o.cell.at(): f"cell-{number}" for number, o in enumerate(matrix.outcomes, start=1)}


def _remedies(answer: ConfigAnswer) -> list[tuple[str, list[str]]]:
    return [
        (
            outcome.cell.coordinates[FAULT],
            [line.plain for line in describe_answers(outcome, answer)],
        )
        for outcome in answer.matrix.outcomes
    ]


def _advice(answer: ConfigAnswer) -> list[str]:
    return [line.plain for line in (*release(answer.config), *recommendation(answer))]


def _traces(matrix: Matrix, names: dict[Place, str]) -> list[_Trace]:
    """Every counterexample once, in the order of their names."""
    cells: dict[str, list[Outcome]] = {}
    for outcome in matrix.outcomes:
        if outcome.cell.at() in names:
            cells.setdefault(names[outcome.cell.at()], []).append(outcome)
    ids = _ids(matrix)
    return [
        _trace(name, found, matrix.grid, back=ids[found[0].cell.at()])
        for name, found in cells.items()
    ]


def _trace(name: str, cells: Sequence[Outcome], grid: Grid, *, back: str) -> _Trace:
    first = cells[0]
    replayed = first.replayed
    assert replayed is not None
    claim = replayed.trace.invariant
    problem = first.cell.problem([claim])
    sentence = next(known.sentence for known in problem.claims if known.name == claim)
    story = story_of(Finding(claim, sentence, replayed, first.explanation, problem.model))
    title = f"{first.cell.version}: {claim}, after {counted(story.steps, 'step')}"
    return _Trace(
        shown(story, name, title=title, sentence=sentence, whole=False),
        tuple(claim.name for claim in first.claims),
        tuple(_describe_cell(outcome, grid) for outcome in cells),
        back,
    )


def _describe_cell(
    outcome: Outcome, grid: Grid
) -> tuple[str, tuple[tuple[str, tuple[str, ...]], ...]]:
    """Where a cell is, and the verdict of each claim with what is to be said of it."""
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
