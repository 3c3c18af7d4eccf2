"""A matrix as one HTML file that needs nothing else: no script, no font, nothing to fetch.

A cell that is broken is a link to its counterexample, on the same page, shown when it is aimed at.
Cells with the same counterexample share it. Whatever comes from elsewhere is escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from checker.matrix.config_table import ConfigAnswer, recommendation, release, told_of
from checker.matrix.extent import told_sizes
from checker.matrix.grid import FAULT, VERSION, Grid, Place, place
from checker.matrix.matrix import Matrix
from checker.matrix.outcome import Outcome, Standing
from checker.matrix.page_style import STYLE
from checker.matrix.table import (
    combinations,
    counts,
    meanings,
    told_bounds,
    told_coordinates,
    told_same,
    told_settings,
)
from checker.problems.wording import counted
from counterexamples import Moment, Replayed

_SIGNS = {
    Standing.HOLDS: "✓",
    Standing.CONTRACT: "≈",
    Standing.VIOLATED: "✗",
    Standing.INCOMPLETE: "",
}
_STATES_OPEN = 1
"""Of how many last steps the state is shown without a click."""


def to_html(matrix: Matrix, answer: ConfigAnswer | None = None) -> str:
    """The page; with the answer about a configuration, if there is one."""
    traces = _Traces(matrix.outcomes)
    body = [
        "<h1>Waterline matrix</h1>",
        *_headline(matrix),
        *(_settings(answer) if answer else ()),
        *_grid(matrix, traces),
        *(_remedies(answer) if answer else ()),
        '<h2 id="words">What the words mean</h2>',
        *_legend(matrix),
        f"<p>{escape(counts(matrix).plain)}</p>",
        *traces.sections(matrix.grid),
    ]
    return "\n".join([*_head(), *body, "</main></body></html>", ""])


class _Traces:
    """The different counterexamples, numbered, each with the cells that it is of."""

    def __init__(self, outcomes: Sequence[Outcome]) -> None:
        self._cells: dict[tuple[object, ...], list[Outcome]] = {}
        self._names: dict[Place, str] = {}
        for outcome in outcomes:
            if outcome.replayed is not None:
                trace = outcome.replayed.trace
                key = (trace.version, trace.invariant, trace.initial, trace.steps)
                self._cells.setdefault(key, []).append(outcome)
        for number, cells in enumerate(self._cells.values(), start=1):
            self._names |= {outcome.cell.at(): f"trace-{number}" for outcome in cells}

    def name(self, outcome: Outcome) -> str | None:
        """What the counterexample of a cell is called on the page."""
        return self._names.get(outcome.cell.at())

    def sections(self, grid: Grid) -> Iterator[str]:
        """Every counterexample, hidden until it is aimed at."""
        for cells in self._cells.values():
            yield from _trace(self.name(cells[0]) or "", cells, grid)


def _head() -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield f"<title>Waterline matrix</title><style>{STYLE}</style></head><body><main>"


def _headline(matrix: Matrix) -> Iterator[str]:
    same = told_same(matrix.grid)
    fixed = f" In every cell: {escape(same)}." if same else ""
    yield f"<p>Verdicts within <b>{escape(told_bounds(matrix.grid))}</b>.{fixed}"
    yield "A red or yellow cell opens its shortest counterexample; "
    yield '<a href="#words">what the words mean</a> is below.</p>'


def _grid(matrix: Matrix, traces: _Traces) -> Iterator[str]:
    grid = matrix.grid
    outcomes = {outcome.cell.at(): outcome for outcome in matrix.outcomes}
    versions = [value.name for value in grid.axis(VERSION).values]
    yield '<div class="blocks">'
    for settings in combinations(grid):
        title = told_settings(settings, grid) or "Verdicts"
        yield f'<div class="block"><h2>{escape(title)}</h2>'
        yield '<div class="wide"><table class="grid"><thead><tr><th></th>'
        yield "".join(f'<th scope="col">{escape(version)}</th>' for version in versions)
        yield "</tr></thead><tbody>"
        for fault in grid.axis(FAULT).values:
            row = {**settings, FAULT: fault.name}
            cells = [outcomes[place({**row, VERSION: version})] for version in versions]
            yield f'<tr><th scope="row">{escape(fault.name)}</th>'
            yield from (_cell(outcome, traces.name(outcome)) for outcome in cells)
            yield "</tr>"
        yield "</tbody></table></div></div>"
    yield "</div>"


def _cell(outcome: Outcome, trace: str | None) -> str:
    label = escape(f"{_SIGNS[outcome.standing]} {outcome.label}".strip())
    told = f'<a href="#{trace}">{label}</a>' if trace else f"<b>{label}</b>"
    states = f"<small>{counted(outcome.answer.distinct, 'state')}</small>"
    sizes = f"<small>{told_sizes(outcome.cell.environment)}</small>"
    return f'<td class="{outcome.standing.value}">{told}{states}{sizes}</td>'


def _settings(answer: ConfigAnswer) -> Iterator[str]:
    yield "<h2>What was read</h2><table><thead><tr><th>Setting</th><th>Value</th><th>From</th>"
    yield "</tr></thead><tbody>"
    for setting in answer.config.settings:
        cells = (setting.key, setting.value, setting.source)
        yield f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in cells)}</tr>"
    yield "</tbody></table>"


def _remedies(answer: ConfigAnswer) -> Iterator[str]:
    yield "<h2>What can happen, and what closes it</h2><dl>"
    for outcome in answer.matrix.outcomes:
        lines = "<br>".join(escape(line.plain) for line in told_of(outcome, answer))
        yield f"<dt>{escape(outcome.cell.coordinates[FAULT])}</dt><dd>{lines or 'Nothing.'}</dd>"
    yield "</dl>"
    for line in (*release(answer.config), *recommendation(answer)):
        yield f"<p>{escape(line.plain)}</p>"


def _legend(matrix: Matrix) -> Iterator[str]:
    yield "<dl>"
    for meaning in meanings(matrix.outcomes):
        label = f'<dt class="{meaning.standing.value}">{escape(meaning.label)}</dt>'
        yield f"{label}<dd>{escape(meaning.sentence)}</dd>"
    for value in matrix.grid.axis(FAULT).values:
        yield f"<dt>{escape(value.name)}</dt><dd>{escape(value.sentence)}</dd>"
    yield "</dl>"


def _trace(name: str, cells: Sequence[Outcome], grid: Grid) -> Iterator[str]:
    first = cells[0]
    replayed = first.replayed
    assert replayed is not None
    title = f"{first.cell.version}: {replayed.trace.invariant}"
    steps = counted(len(replayed.moments), "step")
    yield f'<section class="trace" id="{name}"><h2>{escape(title)}, after {steps}</h2>'
    yield '<p><a href="#top">Back to the grid</a></p>'
    yield from _cells_of_trace(cells, grid)
    yield "<ol>"
    for moment in replayed.moments:
        yield from _step(replayed, moment)
    yield f'</ol><p class="end">{escape(first.explanation)}</p>'
    yield '<p><a href="#top">Back to the grid</a></p></section>'


def _cells_of_trace(cells: Sequence[Outcome], grid: Grid) -> Iterator[str]:
    """The cells that a counterexample is of, with the verdict of each claim."""
    yield '<div class="wide"><table><thead><tr><th>Cell</th>'
    yield "".join(f"<th>{escape(claim.name)}</th>" for claim in cells[0].claims)
    yield "</tr></thead><tbody>"
    for outcome in cells:
        told = told_coordinates(outcome.cell.coordinates, grid)
        yield f"<tr><td>{escape(told)}</td>"
        for claim in outcome.claims:
            verdict = claim.verdict.value
            if claim.depth is not None:
                verdict += f" after {claim.depth}"
            notes = [claim.contract] if claim.contract else []
            if claim.depth_clean is not None:
                notes.append(f"also without unclean elections, after {claim.depth_clean}")
            told = "".join(f"<small>{escape(note)}</small>" for note in notes)
            yield f"<td>{escape(verdict)}{told}</td>"
        yield "</tr>"
    yield "</tbody></table></div>"


def _step(replayed: Replayed, moment: Moment) -> Iterator[str]:
    narration = replayed.narration
    told = narration.sentence(moment.action, moment.values, moment.before, moment.after)
    is_open = len(replayed.moments) - moment.number < _STATES_OPEN
    yield f"<li><details{' open' if is_open else ''}>"
    yield f"<summary><b>{escape(moment.action)}</b> {escape(told)}</summary>"
    yield '<div class="wide"><table class="state"><thead><tr>'
    header, *rows = narration.rows(moment.after)
    before = narration.rows(moment.before)[1:]
    yield "".join(f"<th>{escape(title)}</th>" for title in header)
    yield "</tr></thead><tbody>"
    for row, was in zip(rows, before, strict=True):
        cells = (_marked(cell, cell != old) for cell, old in zip(row, was, strict=True))
        yield f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>"
    yield "</tbody></table></div>"
    yield f"<p>{_facts(narration.summary(moment.before), narration.summary(moment.after))}</p>"
    yield "</details></li>"


def _facts(before: Sequence[tuple[str, str]], after: Sequence[tuple[str, str]]) -> str:
    old: Mapping[str, str] = dict(before)
    return ", ".join(
        f"{escape(label)}: {_marked(value, value != old.get(label))}" for label, value in after
    )


def _marked(text: str, is_changed: bool) -> str:
    return f"<mark>{escape(text)}*</mark>" if is_changed else escape(text)
