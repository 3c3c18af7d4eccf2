"""Lanes of an incident: a column for each broker, its lines in an order that can have been.

As wide as the screen. What no line says stands in brackets: a crash, a record that is appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, RenderResult
from rich.text import Text

from waterline.checker.kafka.logs.observation import Place
from waterline.checker.kafka.logs.timeline import Event, facts_of
from waterline.counterexamples.style import QUIET, TITLE, columns

_GAP = 2
_LANE_MIN = 12
_UNSAID = {
    "Produce": "appends records",
    "Crash": "crashes",
    "Restart": "starts",
    "Stop": "ends",
    "SessionExpiry": "session expires",
    "DirectoryTaken": "log directory is taken out",
}


class Lanes:
    """The table, for rich; `brokers` in the order of the columns."""

    def __init__(self, events: Iterable[Event], brokers: Sequence[int]) -> None:
        self._rows = [(event, *_cell(event)) for event in events if _is_shown(event)]
        self._brokers = sorted(brokers)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        number = max([len("Step"), *(len(f"{event.number}") for event, _, _ in self._rows)])
        lanes = 1 + len(self._brokers)
        width = max(_LANE_MIN, (options.max_width - number) // lanes - _GAP)
        table = columns(gap=_GAP, header=TITLE)
        table.add_column(Text("Step"), justify="right", no_wrap=True)
        table.add_column(Text("Controller"), width=width)
        for broker in self._brokers:
            table.add_column(Text(f"Broker {broker}"), width=width)
        for event, lane, (pieces, place) in self._rows:
            cells: list[Text | str] = [""] * lanes
            cells[0 if lane is None else 1 + self._brokers.index(lane)] = _lines(
                pieces, place, width
            )
            table.add_row(f"{event.number or ''}", *cells)
        yield table


def _is_shown(event: Event) -> bool:
    return event.line is not None or event.decided is not None or event.action in _UNSAID


def _cell(event: Event) -> tuple[int | None, tuple[tuple[str, ...], str]]:
    """Whose lane, what stands in it, and where its line is."""
    if event.line is not None:
        return event.broker, (facts_of(event.line), _short(event.line.place))
    if event.decided is not None:
        decided = event.decided
        whom = "no leader" if decided.leader == -1 else f"leader {decided.leader}"
        at = _short(event.decided_at) if event.decided_at is not None else ""
        sets = [("replicas", decided.replicas), ("adding", decided.adding)]
        sets += [("removing", decided.removing)]
        said = [f"{name} {','.join(map(str, each))}" for name, each in sets if each]
        isr = ",".join(map(str, decided.isr or ())) or "empty"
        return None, ((f"epoch {decided.epoch}", whom, f"ISR {isr}", *said), at)
    return event.broker, ((f"({_UNSAID[event.action]})",), "")


def _short(place: Place) -> str:
    return f"{place.file.rpartition('/')[2]}:{place.line}"


def _lines(pieces: Sequence[str], place: str, width: int) -> Text:
    """Pieces that are not broken where a line has room for them; the place of the line is quiet."""
    quiet = not place
    text = Text("\n".join(_pack(pieces, width)), style=QUIET if quiet else "")
    if place:
        last = text.plain.rpartition("\n")[2]
        fits = len(last) + _GAP + len(place) <= width
        text.append(("  " if fits else "\n") + place, style=QUIET)
    return text


def _pack(pieces: Sequence[str], width: int) -> Iterator[str]:
    line = ""
    for number, piece in enumerate(pieces):
        said = piece + ("," if number + 1 < len(pieces) else "")
        if line and len(line) + 1 + len(said) > width:
            yield line
            line = said
        else:
            line = f"{line} {said}" if line else said
    yield line
