"""Rich renderables of a comparison: two columns, or one below the other where space is short."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from waterline.checker.analysis.compare.aligning import How, Pair
from waterline.checker.analysis.compare.comparison import (
    Comparison,
    describe_changes,
    describe_ends,
)
from waterline.checker.problem.wording import describe_version
from waterline.counterexamples.protocols import Narration, State
from waterline.counterexamples.rendering import CYCLE, describe_repetition
from waterline.counterexamples.state_table import CHANGED, MARK, Facts, StateTable, mark
from waterline.counterexamples.style import BAD, GOOD, QUIET, columns, two_columns

WIDE = 120
"""Columns at least where both versions stand side by side."""
_SAME = "the same"


def render_comparison(comparison: Comparison) -> RenderableType:
    """Render the changes, the steps of both, where they part, the states then and at the end."""
    one, two = names(comparison)
    changes = describe_changes(comparison.left.model, comparison.right.model)
    parts: list[RenderableType] = [
        Text.assemble((one, "bold"), " | ", (two, "bold")),
        *([Text("; ".join(changes), QUIET)] if changes else []),
        Text(),
        _Steps(comparison),
        Text(),
    ]
    parts += _parting(comparison)
    if comparison.parting is not None and comparison.parting < len(comparison.pairs):
        parts += [Text(), *_states(comparison, comparison.parting)]
    parts += [Text(), *_states(comparison, len(comparison.pairs)), Text(), *_ends(comparison)]
    return Group(*parts)


def names(comparison: Comparison) -> tuple[str, str]:
    """Return the names of the two sides: the versions, or ours and theirs of one version."""
    one, two = comparison.left.model, comparison.right.model
    if one.version != two.version:
        return describe_version(one.version), describe_version(two.version)
    return describe_version(one.version), f"{describe_version(two.version)}, changed"


def describe_pair(comparison: Comparison, number: int) -> tuple[str, str]:
    """Both sides of a pair, counted from 1, as sentences; the second is `the same` where it is."""
    pair = comparison.pairs[number - 1]
    left = "" if pair.ours is None else pair.ours.sentence(comparison.left.model.narration)
    right = "" if pair.theirs is None else pair.theirs.sentence(comparison.right.model.narration)
    match pair.how:
        case How.MISSING:
            return left, f"Not possible: {pair.why}."
        case How.INSTEAD:
            return left, f"Instead ({pair.why}): {right}"
        case How.INSERTED:
            return "", f"First: {right}"
    if left == right and not comparison.differences_after(number):
        return left, _SAME
    return left, right


@dataclass(frozen=True, slots=True)
class _Steps:
    """The pairs, numbered by the steps of the trace."""

    comparison: Comparison

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._wide() if options.max_width >= WIDE else self._narrow()

    def _rows(self) -> Iterator[tuple[str, str, str, str]]:
        for number, pair in enumerate(self.comparison.pairs, start=1):
            style = CHANGED if number == self.comparison.parting else ""
            yield _number(pair), *describe_pair(self.comparison, number), style

    def _wide(self) -> Table:
        table = columns(header=QUIET)
        table.add_column(justify="right", no_wrap=True)
        for name in names(self.comparison):
            table.add_column(Text(name), overflow="fold", ratio=1)
        for number, (place, left, right, style) in enumerate(self._rows()):
            if number == self.comparison.ends.repeats_after:
                table.add_row("", Text(self._repetition(), CYCLE), "")
            quiet = QUIET if right == _SAME else style
            table.add_row(place, Text(left, style), Text(right, quiet))
        if self._stands_still:
            table.add_row("", Text(self._repetition(), CYCLE), "")
        return table

    def _narrow(self) -> Table:
        one, two = names(self.comparison)
        table = two_columns(numbers=True)
        for number, (place, left, right, style) in enumerate(self._rows()):
            if number == self.comparison.ends.repeats_after:
                table.add_row("", Text(f"{one}: {self._repetition()}", CYCLE))
            if right in (_SAME, left):
                table.add_row(place, Text(left, style))
                continue
            if left:
                table.add_row(place, Text(f"{one}: {left}", style))
            table.add_row("" if left else place, Text(f"{two}: {right}", style))
        if self._stands_still:
            table.add_row("", Text(f"{one}: {self._repetition()}", CYCLE))
        return table

    @property
    def _stands_still(self) -> bool:
        return self.comparison.ends.repeats_after == len(self.comparison.pairs)

    def _repetition(self) -> str:
        """Return the line before the steps that repeat, or at the end of the trace."""
        replayed = self.comparison.replayed
        assert replayed.trace.cycle is not None
        return describe_repetition(replayed, replayed.trace.cycle + 1)


def _number(pair: Pair) -> str:
    return "+" if pair.ours is None else f"{pair.ours.number}."


def _parting(comparison: Comparison) -> list[RenderableType]:
    if comparison.parting is None:
        same = "do not part: every step and every state is the same"
        if comparison.ends.right.is_judged:
            return [Text(f"They {same}.", "bold")]
        return [Text(f"As far as the trace goes they {same}.", "bold")]
    parts: list[RenderableType] = []
    first = comparison.first_seen
    if first is not None and first != comparison.parting:
        seen = "; ".join(map(str, comparison.differences_after(first))) or "another step"
        parts.append(Text(f"A first difference is seen {comparison.at(first)}: {seen}"))
    parts.append(Text(f"They part {comparison.at(comparison.parting)}", "bold"))
    if comparison.parting:
        _, right = describe_pair(comparison, comparison.parting)
        left, _ = describe_pair(comparison, comparison.parting)
        grid = two_columns()
        for name, sentence in zip(names(comparison), (left, right), strict=True):
            grid.add_row(Text(f"{name}:", "bold"), Text(sentence or "nothing"))
        parts.append(grid)
    if comparison.differences:
        parts.append(Facts(tuple(Text(str(each)) for each in comparison.differences)))
    return parts


def _states(comparison: Comparison, number: int) -> list[RenderableType]:
    """Both states after a pair, what differs marked in the second."""
    ours, theirs = comparison.states_after(number)
    one, two = names(comparison)
    narrations = comparison.left.model.narration, comparison.right.model.narration
    place = comparison.place(number)
    return [
        Text(f"After {place}   {MARK} not as in the other", "bold"),
        Text(one),
        *_state(narrations[0], ours, narrations[1], theirs),
        Text(two),
        *_state(narrations[1], theirs, narrations[0], ours),
    ]


def _state(
    narration: Narration, state: State, others: Narration, other: State
) -> list[RenderableType]:
    header, *rows = narration.rows(state)
    other_header, *other_rows = others.rows(other)
    known = {
        (row[0], title): cell
        for row in other_rows
        for title, cell in zip(other_header, row, strict=True)
    }
    cells = tuple(
        tuple(
            mark(cell, known.get((row[0], title), ""), narration.elements)
            for title, cell in zip(header, row, strict=True)
        )
        for row in rows
    )
    widths = tuple(
        max([0, *(len(cell.plain) for cell in column)])
        for column in (zip(*cells, strict=True) if cells else [()] * len(header))
    )
    theirs = dict(others.summary(other))
    pairs = tuple(
        Text.assemble((f"{label}: ", QUIET), mark(value, theirs.get(label, ""), narration.elements))
        for label, value in narration.summary(state)
    )
    return [*([StateTable(tuple(header), cells, widths)] if cells else []), Facts(pairs)]


def _ends(comparison: Comparison) -> Iterator[RenderableType]:
    """How each ends."""
    for name, end in zip(names(comparison), describe_ends(comparison), strict=True):
        style = {True: BAD, False: GOOD, None: ""}[end.is_broken]
        yield Text.assemble((f"{name}: ", "bold"), (end.sentence, style))
