"""Rich renderables of a replayed trace.

`render_compact` is for the end of a report: a line a step, then only the last two states.
`render_full` has every state. Nothing here knows the protocol: sentences, columns and facts are the
model's narration, and why a step matters is handed in. Texts are never read as markup.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.segment import Segment
from rich.text import Text

from waterline.counterexamples.for_ever import describe_cycle
from waterline.counterexamples.protocols import State
from waterline.counterexamples.replay import Moment, Replayed
from waterline.counterexamples.state_table import (
    CHANGED,
    LEGEND,
    MARK,
    Facts,
    facts,
    state_table,
    widths_of,
)
from waterline.counterexamples.style import BAD, QUIET, TITLE, columns, two_columns
from waterline.counterexamples.trace import NO_CLAIM

CALL = "bold cyan"
CYCLE = "bold magenta"

WHY = "italic"
WHY_MARK = ">> "
"""Prefix of the sentence that explains why a step matters."""

SENTENCE_WIDTH_MIN = 56
"""Lanes are shown only if this much is left for the sentence next to them."""


def render_header(replayed: Replayed) -> RenderableType:
    """Render the trace's model, version, environment and claim."""
    trace = replayed.trace
    options = Facts(
        tuple(Text(f"{name} {_plain(value)}", QUIET) for name, value in trace.environment.items())
    )
    title = Text.assemble((trace.version, "bold"), f" ({trace.model})")
    if trace.invariant != NO_CLAIM:
        title.append(" against ").append(trace.invariant, "bold")
    ends = ", then an error of a rule" if trace.raises is not None else ""
    title.append(f": {_steps(len(trace.steps))}{ends}")
    return Group(title, options)


def render_compact(
    replayed: Replayed,
    *,
    explanation: str = "",
    lanes: Sequence[str] = (),
    reasons: Mapping[int, str] | None = None,
) -> RenderableType:
    """Every step on a line, the last two states in full, then `explanation`.

    `lanes` are titles of columns that run next to the steps, once a broker, where there is room.
    `reasons` are sentences by the number of the step that they explain.
    """
    parts: list[RenderableType] = [_StepLines(replayed, tuple(lanes), reasons or {}), Text()]
    widths = widths_of(replayed.narration, replayed.states[-2:])
    last = replayed.moments[-1] if replayed.moments else None
    if last is not None:
        parts += [_when(last.number - 1), *_state(replayed, None, last.before, widths), Text()]
    before = last.before if last else None
    parts += [_when(len(replayed.moments), LEGEND if last else "")]
    parts += _state(replayed, before, replayed.states[-1], widths)
    return Trimmed(Group(*parts, *_conclusion(explanation)))


def render_full(
    replayed: Replayed,
    *,
    explanation: str = "",
    reasons: Mapping[int, str] | None = None,
    remarks: Mapping[int, str] | None = None,
) -> RenderableType:
    """The header, then every step with the state after it, then `explanation`.

    `reasons` are as for `render_compact`. `remarks` stand below states, by the number
    of steps that led there.
    """
    below = remarks or {}
    widths = widths_of(replayed.narration, replayed.states)
    parts: list[RenderableType] = [render_header(replayed), Text(LEGEND, style=QUIET), Text()]
    parts += [
        _number(0, Text("Initial state")),
        *_state(replayed, None, replayed.initial, widths),
        *_remark(below.get(0)),
    ]
    for moment in replayed.moments:
        if cycle := describe_repetition(replayed, moment.number):
            parts += [Text(), Text(cycle, style=CYCLE)]
        parts += [Text(), _step(replayed, moment, (reasons or {}).get(moment.number, ""))]
        parts += _state(replayed, moment.before, moment.after, widths)
        parts += _remark(below.get(moment.number))
    if ending := describe_repetition(replayed, len(replayed.moments) + 1):
        parts += [Text(), Text(ending, style=CYCLE)]
    if raises := describe_raising(replayed):
        parts += [Text(), _number(len(replayed.moments) + 1, Text.assemble(*raises))]
    return Trimmed(Group(*parts, *_conclusion(explanation)))


@dataclass(frozen=True, slots=True)
class Trimmed:
    """Without the spaces that fill a table up to its width: a pipe should not get them."""

    whole: RenderableType

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self.whole, options, pad=False):
            while line and not line[-1].text.rstrip():
                line.pop()
            if line:
                text, style, control = line.pop()
                line.append(Segment(text.rstrip(), style, control))
            yield from line
            yield Segment.line()


@dataclass(frozen=True, slots=True)
class _StepLines:
    """Number, action, sentence; and, where the width allows, how the lanes move."""

    replayed: Replayed
    lanes: tuple[str, ...]
    reasons: Mapping[int, str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        moments = self.replayed.moments
        titles, cells = _lanes(self.replayed, self.lanes)
        widths = [
            max(len(line.plain) for line in (Text(title), *column))
            for title, column in zip(titles, zip(*cells, strict=True), strict=False)
        ]
        number = len(f"{len(moments)}.")
        call = max((len(str(moment)) for moment in moments), default=0)
        left = options.max_width - number - 1 - call - 2 - sum(width + 2 for width in widths)
        has_lanes = bool(titles) and left >= SENTENCE_WIDTH_MIN

        table = columns(header=TITLE if has_lanes else None)
        table.header_style = QUIET
        table.add_column(justify="right", no_wrap=True)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        if has_lanes:
            for title in titles:
                table.add_column(Text(title), no_wrap=True)
            table.add_row("0.", "", Text("Initial state", style=QUIET), *cells[0])
        for moment in moments:
            if cycle := describe_repetition(self.replayed, moment.number):
                table.add_row("", "", Text(cycle, style=CYCLE))
            # The sentence names the broker: a narrow screen can do without the arguments.
            called = str(moment) if has_lanes else moment.action
            table.add_row(
                f"{moment.number}.",
                Text(called, style=CALL),
                _describe(self.replayed, moment, self.reasons.get(moment.number, "")),
                *(cells[moment.number] if has_lanes else ()),
            )
        if ending := describe_repetition(self.replayed, len(moments) + 1):
            table.add_row("", "", Text(ending, style=CYCLE))
        if raises := describe_raising(self.replayed):
            (called, style), (what, bad) = raises
            called = called if has_lanes else called.partition("(")[0]
            table.add_row(f"{len(moments) + 1}.", Text(called, style), Text(what.strip(), bad))
        yield table


def describe_repetition(replayed: Replayed, number: int) -> str:
    """Return the line before the step of this number, if an infinite trace repeats from there."""
    cycle, last = replayed.trace.cycle, len(replayed.moments)
    if cycle is None or number != cycle + 1:
        return ""
    if cycle == last:
        return f"For ever: {replayed.narration.stands_still}."
    return f"{describe_cycle(cycle, last)}:"


def describe_raising(replayed: Replayed) -> tuple[tuple[str, str], tuple[str, str]] | None:
    """The step that raises behind the last one, and that it does, each with its style."""
    raises = replayed.trace.raises
    if raises is None or isinstance(raises, str):
        return None
    return (str(raises), CALL), ("  raises an error", BAD)


def _lanes(replayed: Replayed, titles: Sequence[str]) -> tuple[list[str], list[list[Text]]]:
    """The header of the lanes, and for every state one cell a broker: `1*/0` for two columns."""
    tables = [replayed.narration.rows(state) for state in replayed.states]
    header = tables[0][0]
    columns = [header.index(title) for title in titles if title in header]
    if not columns:
        return [], [[] for _ in tables]
    names = [f"{row[0]} {'/'.join(header[column] for column in columns)}" for row in tables[0][1:]]
    cells = []
    for table, earlier in zip(tables, [tables[0], *tables], strict=False):
        cells.append(
            [_lane(row, was, columns) for row, was in zip(table[1:], earlier[1:], strict=True)]
        )
    return names, cells


def _lane(row: list[str], was: list[str], columns: list[int]) -> Text:
    lane = Text()
    for column in columns:
        if lane:
            lane.append("/", style=QUIET)
        is_changed = row[column] != was[column]
        lane.append(row[column], style=CHANGED if is_changed else QUIET)
        if is_changed:
            lane.append(MARK, style=CHANGED)
    return lane


def _step(replayed: Replayed, moment: Moment, reason: str) -> RenderableType:
    described = Text.assemble((str(moment), CALL), "  ", _describe(replayed, moment, reason))
    return _number(moment.number, described)


def _describe(replayed: Replayed, moment: Moment, reason: str) -> Text:
    """Render the step; below it why it matters, if it does."""
    described = Text(moment.sentence(replayed.narration))
    return described.append(f"\n{WHY_MARK}{reason}", style=WHY) if reason else described


def _remark(remark: str | None) -> list[RenderableType]:
    return [Text(remark, CHANGED)] if remark else []


def _number(number: int, described: Text) -> RenderableType:
    """A number with everything that it numbers to its right."""
    table = two_columns()
    table.add_row(f"{number}.", described)
    return table


def _state(
    replayed: Replayed, before: State | None, state: State, widths: tuple[int, ...]
) -> list[RenderableType]:
    narration = replayed.narration
    table = state_table(narration, before, state, widths)
    # A model may have nothing that belongs to a row.
    return [*([table] if table.rows else []), facts(narration, before, state)]


def _when(number: int, legend: str = "") -> Text:
    when = f"After step {number}" if number else "In the initial state"
    return Text.assemble((when, "bold"), (f"   {legend}" if legend else "", QUIET))


def _conclusion(explanation: str) -> list[RenderableType]:
    return [Text(), Text(explanation, style=BAD)] if explanation else []


def _steps(number: int) -> str:
    return f"{number} step" if number == 1 else f"{number} steps"


def _plain(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
