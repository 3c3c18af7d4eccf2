"""Table of a matrix: a section per setting, a row per fault, a column per version.

Every cell says in a word what its colour says. Where not all versions fit side by side they are
shown in several tables, one below the other.
"""

from __future__ import annotations

import io
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.terminal_theme import MONOKAI
from rich.text import Text

from waterline.checker.kafka.deployed.keys import ACKS, MIN_INSYNC
from waterline.checker.kafka.matrix.grid import (
    CLAIMS,
    FAULT,
    NO_FAULT,
    OTHER_WORD,
    SETTINGS,
    VERSION,
    Grid,
    Place,
    place,
)
from waterline.checker.kafka.matrix.matrix import Matrix
from waterline.checker.kafka.matrix.outcome import Outcome, Standing
from waterline.checker.problem.wording import quantity, rough_time
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD
from waterline.model.message.fluss import in_words_of_fluss
from waterline.model.message.versions import FLUSS, KAFKA

STYLES = {
    Standing.HOLDS: "green",
    Standing.CONTRACT: "yellow",
    Standing.VIOLATED: BAD,
    Standing.INCOMPLETE: "bold magenta",
}
_GAP = 2
_BLOCK_GAP = 4
_SIDE_BY_SIDE = 110
"""Minimum width, in columns, for blocks side by side with folded titles."""


def render_matrix(matrix: Matrix) -> RenderableType:
    """The headline, the tables, the legend and what it all rests on."""
    table = MatrixTable(matrix.grid, {o.cell.at(): o for o in matrix.outcomes})
    return Trimmed(
        Group(
            headline(matrix.grid),
            table,
            Text(),
            *_answers(matrix),
            legend(matrix.outcomes, matrix.grid.system),
            Text(),
            faults(matrix.grid),
            Text(),
            counts(matrix),
        )
    )


def _answers(matrix: Matrix) -> Iterator[Text]:
    """The plain answer, one line for each version, and an empty line after it."""
    lines = list(plain_answers(matrix))
    yield from map(Text, lines)
    if lines:
        yield Text()


def headline(grid: Grid) -> RenderableType:
    """The bounds of every cell, what is the same in all of them, what settings are called."""
    title = Text.assemble("Verdicts within ", (describe_bounds(grid), "bold"))
    same = describe_same(grid)
    below = (f"In every cell: {same}" if same else "", option_names(grid))
    return Group(title, *(Text(line, style="dim") for line in below if line))


def describe_same(grid: Grid) -> str:
    """`acks=all, faults=one crash`: what every cell has."""
    alone = [axis for axis in grid.axes if len(axis.values) == 1]
    return ", ".join(f"{axis.name}={axis.values[0].name}" for axis in alone)


def describe_bounds(grid: Grid) -> str:
    """`3 replicas, 1 and then 2 records, epochs 0 to 3 (raised to 9 where they cut)`"""
    records = quantity(grid.records, "record")
    if grid.records_max > grid.records:
        records = f"{grid.records} and then {quantity(grid.records_max, 'record')}"
    raised = f" (raised to {grid.epochs_max} where they cut)"
    epochs = f"epochs 0 to {grid.epochs}{raised if grid.epochs_max > grid.epochs else ''}"
    if grid.tries_unbounded:
        epochs += ", and without bounds where that shows no more"
    return f"{quantity(grid.replicas, 'replica')}, {records}, {epochs}"


def describe_settings(coordinates: Mapping[str, str], grid: Grid) -> str:
    """`acks=all, min.insync.replicas=2`: the settings that are not the same in every cell."""
    varied = [axis.name for axis in grid.varied if axis.name in SETTINGS]
    return ", ".join(f"{name}={coordinates[name]}" for name in varied)


def describe_coordinates(coordinates: Mapping[str, str], grid: Grid) -> str:
    """`two crashes, acks=all`: a cell of one version."""
    return ", ".join(filter(None, (coordinates[FAULT], describe_settings(coordinates, grid))))


@dataclass(frozen=True, slots=True)
class MatrixTable:
    """The cells of a grid by their place, in blocks: one for each combination of settings.

    Where the screen has room blocks stand side by side; where it is narrow, the versions of a block
    are split.
    """

    grid: Grid
    outcomes: Mapping[Place, Outcome]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width
        versions = [value.name for value in self.grid.axis(VERSION).values]
        for group in self._fitting(versions, width - self._label_width):
            folded = width if width < _SIDE_BY_SIDE else self._rows_width(group)
            blocks = [self._block(settings, group, folded) for settings in combinations(self.grid)]
            block_width = max(line.cell_len for block in blocks for line in block)
            across = self._across((width + _BLOCK_GAP) // (block_width + _BLOCK_GAP))
            for start in range(0, len(blocks), across):
                yield Text()
                yield from _beside(blocks[start : start + across], block_width)

    def _across(self, room: int) -> int:
        """Return the number of blocks in a band: whole groups that differ in the last setting."""
        varied = [axis for axis in self.grid.varied if axis.name in SETTINGS]
        group = len(varied[-1].values) if varied else 1
        return max(1, room - room % group if room > group else room)

    @property
    def _label_width(self) -> int:
        return max(len(value.name) for value in self.grid.axis(FAULT).values)

    def _rows_width(self, versions: Sequence[str]) -> int:
        return self._label_width + sum(_GAP + self._width(version) for version in versions)

    def _fitting(self, versions: Sequence[str], room: int) -> Iterator[list[str]]:
        """Versions in as few groups as the width allows."""
        group: list[str] = []
        used = 0
        for version in versions:
            width = _GAP + self._width(version)
            if group and used + width > room:
                yield group
                group, used = [], 0
            group.append(version)
            used += width
        yield group

    def _width(self, version: str) -> int:
        labels = [o.label for o in self.outcomes.values() if o.cell.version == version]
        return max(map(len, (version, *labels)))

    def _block(
        self, settings: Mapping[str, str], versions: Sequence[str], width: int
    ) -> list[Text]:
        """Settings, versions, and a line for each fault."""
        widths = [self._width(version) for version in versions]
        lines = _fold(describe_settings(settings, self.grid), width)
        lines.append(self._line(Text(), [Text(v, style="dim") for v in versions], widths))
        for fault in self.grid.axis(FAULT).values:
            row = {**settings, FAULT: fault.name}
            cells = [describe_cell(self.outcomes[place({**row, VERSION: v})]) for v in versions]
            lines.append(self._line(Text(fault.name), cells, widths))
        return lines

    def _line(self, label: Text, cells: Sequence[Text], widths: Sequence[int]) -> Text:
        line = _pad(label, self._label_width)
        for cell, width in zip(cells, widths, strict=True):
            line.append(" " * _GAP).append_text(_pad(cell, width))
        return line


def combinations(grid: Grid) -> Iterator[dict[str, str]]:
    """Every combination of settings."""
    axes = [grid.axis(name) for name in SETTINGS]
    for values in itertools.product(*(axis.values for axis in axes)):
        yield {axis.name: value.name for axis, value in zip(axes, values, strict=True)}


def describe_cell(outcome: Outcome) -> Text:
    """The cell in its colour."""
    return Text(outcome.label, style=STYLES[outcome.standing])


def legend(outcomes: Sequence[Outcome], system: str = KAFKA) -> RenderableType:
    """Return the meanings of the words that occur, in the words of the system."""
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column()
    for meaning in meanings(outcomes):
        label = Text(meaning.label, style=STYLES[meaning.standing])
        grid.add_row(label, in_words_of(system, meaning.sentence))
    return grid


@dataclass(frozen=True, slots=True)
class Meaning:
    """Text of a cell and its meaning."""

    label: str
    standing: Standing
    sentence: str


def meanings(outcomes: Sequence[Outcome]) -> Iterator[Meaning]:
    """The labels that occur, best first."""
    standings = {outcome.standing for outcome in outcomes}
    if Standing.HOLDS in standings:
        described = "every claim holds in every state that can be reached within the bounds"
        if any(outcome.unbounded is not None for outcome in outcomes):
            described = (
                "every claim holds in every state that can be reached, for any number of epochs, "
                "of produced records, and of faults but those of disks; bounded are the "
                "records that a log has at one time"
            )
        yield Meaning("holds", Standing.HOLDS, described)
    held = [outcome for outcome in outcomes if outcome.standing is Standing.HOLDS]
    if any(outcome.is_cut_by_epochs and outcome.is_bounded for outcome in held):
        described = "it holds in leader epochs 0 to n; later ones were cut, and may still break it"
        yield Meaning("holds en", Standing.HOLDS, described)
    if any(outcome.is_bound_by_records for outcome in held):
        described = "it holds with n records; it was not shown with more of them, or without bounds"
        yield Meaning("holds rn", Standing.HOLDS, described)
    for reason in sorted({outcome.emptiness or "" for outcome in outcomes} - {""}):
        yield Meaning("holds*", Standing.HOLDS, f"which says less than it seems: {reason}")
    for reason in sorted({o.worst.contract or "" for o in outcomes if o.worst} - {""}):
        yield Meaning("contract n", Standing.CONTRACT, f"broken, as may be expected: {reason}")
    words = {o.worst.word for o in outcomes if o.worst and o.standing is Standing.VIOLATED}
    for claim in reversed(CLAIMS):
        if claim.word in words:
            described = f"{claim.sentence}, after n steps at the soonest"
            yield Meaning(f"{claim.word} n", Standing.VIOLATED, described)
    if OTHER_WORD in words:
        yield Meaning(f"{OTHER_WORD} n", Standing.VIOLATED, "another claim is broken")
    if Standing.INCOMPLETE in standings:
        described = "not explored to the end, or in another size: nothing may be concluded"
        yield Meaning("?", Standing.INCOMPLETE, described)


def faults(grid: Grid) -> RenderableType:
    """Return the description of each fault."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for value in grid.axis(FAULT).values:
        table.add_row(value.name, Text(in_words_of(grid.system, value.sentence), style="dim"))
    return table


def counts(matrix: Matrix) -> Text:
    """The cells by how they stand, with what it took; bounds, so that it can stand alone."""
    interrupted = "Interrupted; this is what is known. " if matrix.interrupted else ""
    described = Text(interrupted, style="bold magenta")
    described.append(f"{quantity(len(matrix.outcomes), 'cell')}: ", style="default")
    parts = [
        Text(f"{matrix.count(standing)} {standing.value}", style=STYLES[standing])
        for standing in Standing
        if matrix.count(standing)
    ]
    described.append_text(Text(", ").join(parts))
    described.append(
        f"; {quantity(matrix.distinct, 'state')} within {describe_bounds(matrix.grid)} "
    )
    described.append(
        f"and the faults named; {rough_time(matrix.seconds)} on engine {matrix.engine}."
    )
    return described


def _pad(text: Text, width: int) -> Text:
    padded = text.copy()
    padded.pad_right(width - text.cell_len)
    return padded


def _fold(title: str, width: int) -> list[Text]:
    """The settings on as many lines as it takes, broken only between two of them."""
    lines: list[str] = []
    for part in title.split(", ") if title else []:
        if lines and len(lines[-1]) + 2 + len(part) <= width:
            lines[-1] += f", {part}"
        else:
            lines.append(part)
    return [Text(line, style="bold") for line in lines]


def _beside(blocks: Sequence[Sequence[Text]], width: int) -> Iterator[Text]:
    """Blocks side by side, line by line."""
    for lines in itertools.zip_longest(*blocks, fillvalue=Text()):
        yield Text(" " * _BLOCK_GAP).join(_pad(line, width) for line in lines)


VERSIONS_MAX = 2
"""Maximum number of versions with sentences; for more the table says enough."""
_SENTENCES = {claim.name: claim.sentence for claim in CLAIMS}
_OPTIONS_OF_FLUSS = {ACKS: "client.writer.acks", MIN_INSYNC: in_words_of_fluss(MIN_INSYNC)}


def in_words_of(system: str, text: str) -> str:
    """A sentence about Kafka in the words of the system: a broker of Fluss is a tablet server."""
    return in_words_of_fluss(text).replace("Kafka", FLUSS) if system == FLUSS else text


def option_names(grid: Grid) -> str:
    """Describe the axes' settings by their names in Fluss; "" for Kafka."""
    if grid.system != FLUSS:
        return ""
    named = [f"{axis} is {option}" for axis, option in _OPTIONS_OF_FLUSS.items()]
    return f"In Fluss {', '.join(named)}; there is no unclean leader election."


def plain_answers(matrix: Matrix) -> Iterator[str]:
    """A sentence for each version and combination of settings, where the versions are few."""
    grid = matrix.grid
    if len(grid.axis(VERSION).values) > VERSIONS_MAX or matrix.interrupted:
        return
    varied = [axis.name for axis in grid.varied if axis.name in SETTINGS]
    places = dict.fromkeys(
        tuple(outcome.cell.coordinates[name] for name in (VERSION, *varied))
        for outcome in matrix.outcomes
    )
    for at in places:
        cells = [
            outcome
            for outcome in matrix.outcomes
            if tuple(outcome.cell.coordinates[name] for name in (VERSION, *varied)) == at
        ]
        settings = ", ".join(f"{n}={v}" for n, v in zip(varied, at[1:], strict=True))
        yield f"{at[0]}{f' with {settings}' if settings else ''}: {'; '.join(_parts(cells))}."


def _parts(cells: list[Outcome]) -> Iterator[str]:
    """`a record is lost that was acknowledged to a producer under one crash (7 steps)`"""
    of_worst: dict[str, list[str]] = {}
    for outcome in cells:
        worst = outcome.worst
        if outcome.standing is Standing.VIOLATED and worst is not None:
            sentence = _SENTENCES.get(worst.name, f"{worst.name} is broken")
            of_worst.setdefault(sentence, []).append(_name_loss(outcome, f" ({worst.depth} steps)"))
    for claim in [*_SENTENCES.values(), *(s for s in of_worst if s not in _SENTENCES.values())]:
        if claim in of_worst:
            yield f"{claim} under {', '.join(of_worst[claim])}"
    for standing, text in (
        (Standing.CONTRACT, "what breaks is not promised"),
        (Standing.HOLDS, "nothing breaks"),
        (Standing.INCOMPLETE, "not decided"),
    ):
        if named := [_name_loss(outcome) for outcome in cells if outcome.standing is standing]:
            yield f"{text} under {', '.join(named)}"


def _name_loss(outcome: Outcome, text: str = "") -> str:
    fault = outcome.fault
    return f"{'no fault' if fault == NO_FAULT else fault}{text}"


COLUMNS = 160
"""Maximum width of a picture that is still legible in a document."""
_FONTS = re.compile(r"@font-face \{.*?\}", re.DOTALL)
"""Rich names fonts on another host; every viewer has a monospaced one."""


def to_svg(table: RenderableType) -> str:
    """The table as it looks on a terminal."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(table)
    drawn = console.export_svg(title="waterline matrix", theme=MONOKAI, unique_id="waterline")
    return _FONTS.sub("", drawn).replace(
        "<!-- Generated with Rich https://www.textualize.io -->", ""
    )
