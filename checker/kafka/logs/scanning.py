"""Lines of one file that say something: of a partition, of a broker, of a controller's decision."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from waterline.checker.kafka.logs.controller_lines import (
    CONTROLLER_PATTERNS,
    UNCLEAN_HINTS,
    UncleanElection,
    changes_in,
    unclean_in,
)
from waterline.checker.kafka.logs.files import DUMP_BEGINS, lines_of, stream_of
from waterline.checker.kafka.logs.layouts import Line, lines_in, section_of, span_in, unwrap
from waterline.checker.kafka.logs.metadata_dump import Section, sections_of
from waterline.checker.kafka.logs.noted import NOTED, UNNAMED, noted_in
from waterline.checker.kafka.logs.observation import (
    Change,
    Kind,
    Observation,
    Place,
    Span,
    state_in,
)
from waterline.checker.kafka.logs.patterns import (
    BROKER,
    BROKER_HINTS,
    FETCH_HINT,
    FETCHES,
    KRAFT,
    PATTERNS,
    RELEASE,
    RELEASE_HINT,
    STOP_HINT,
    WHOLE_BROKER,
    ZOOKEEPER,
)

_METADATA = "__cluster_metadata"
_HINTS = (
    *(each.hint for each in (*PATTERNS, *CONTROLLER_PATTERNS, *NOTED)),
    *BROKER_HINTS,
    *UNCLEAN_HINTS,
    STOP_HINT,
    RELEASE_HINT,
    DUMP_BEGINS,
    "==> ",
)
"""A line that has none of these says nothing."""
_JITTER = 1_000_000_000
"""Tolerated fall of the times in a file, in nanoseconds: threads, a clock set right."""
_LINES_MAX = 1_000_000_000
_USUAL = ("server.log", "state-change.log")


@dataclass(frozen=True, slots=True)
class Said:
    """An observation of a partition, "" of all; `broker` is None where it names none."""

    partition: str
    broker: int | None
    writer: str
    seen: Observation

    @property
    def place(self) -> Place:
        """Place of the line."""
        return self.seen.place

    def of(self, broker: int, file: Scanned) -> Observation:
        """Return the observation as that of `broker`."""
        seen = self.seen
        line, runs = seen.place.line, file.runs.get(self.writer)
        is_reversed = runs is not None and runs.is_newest_first
        return replace(
            seen,
            broker=broker,
            stream=f"{file.stream} {broker}",
            number=seen.number - 2 * line if is_reversed else seen.number,
            run=None if runs is None or is_reversed else runs.of(line),
            leader=broker if seen.kind is Kind.LEADS else seen.leader,
        )


@dataclass(slots=True)
class _Runs:
    """Runs of a writer's lines whose times do not fall: their first lines and their times."""

    lines: list[int] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    rises: int = 0

    def note(self, number: int, span: Span) -> None:
        """Add a line."""
        last = self.spans[-1] if self.spans else None
        if last is None or span.end < last.end - _JITTER:
            self.lines.append(number)
            self.spans.append(span)
            return
        self.rises += span.end > last.end + _JITTER
        self.spans[-1] = Span(min(last.start, span.start), max(last.end, span.end))

    @property
    def is_newest_first(self) -> bool:
        """True if times fall more often than they rise."""
        return len(self.lines) - 1 > self.rises

    def of(self, number: int) -> Span | None:
        """The run of a line."""
        return self.spans[bisect_right(self.lines, number) - 1] if self.lines else None


@dataclass(slots=True)
class Scanned:
    """The contents of one file. `named` counts the lines that name a broker, by writer.

    `server_logs` has the brokers with lines that are not of state-change.log. `is_usual`: Kafka
    gives the file this name, so that it is of the broker of its folder.
    """

    path: str
    stream: str
    is_usual: bool
    found: list[Said] = field(default_factory=list)
    changes: list[tuple[str, Change]] = field(default_factory=list)
    unclean: list[UncleanElection] = field(default_factory=list)
    dumped: list[Section] = field(default_factory=list)
    named: Counter[tuple[str, int]] = field(default_factory=Counter)
    server_logs: dict[int, Span | None] = field(default_factory=dict)
    releases: set[tuple[str, str]] = field(default_factory=set)
    manners: set[str] = field(default_factory=set)
    begins: Span | None = None
    runs: dict[str, _Runs] = field(default_factory=dict)
    is_timed: bool = False
    lines: int = 0


def scan(path: Path, rank: int, passed_over: list[str]) -> Scanned:
    """Read a file. A later line may show which broker an earlier one belongs to."""
    stream = stream_of(path)
    read = Scanned(str(path), stream, Path(stream).name in _USUAL)
    section = ""
    last: Span | None = None
    repeated: set[tuple[object, ...]] = set()
    for number, raw in lines_of(path, passed_over):
        read.lines += 1
        if read.begins is None:
            read.begins = span_in(raw)
        if not any(hint in raw for hint in _HINTS):
            continue
        if raw.startswith(DUMP_BEGINS):
            every = ((Place(str(path), at, line), line) for at, line in lines_of(path))
            read.dumped = list(sections_of(every))
            break
        section = section_of(raw) or section
        for text in lines_in(raw):
            last = _read_line(unwrap(text, section), number, rank, read, last, repeated)
    return read


def _read_line(
    line: Line,
    number: int,
    rank: int,
    read: Scanned,
    before: Span | None,
    repeated: set[tuple[object, ...]],
) -> Span | None:
    """Add what a line says; return its time, or that of the line before."""
    last = line.span or before
    if line.span:
        read.runs.setdefault(line.writer, _Runs()).note(number, line.span)
    read.is_timed = read.is_timed or last is not None
    _note_broker(line, read, last)
    place = Place(read.path, number, line.text)
    order = (rank + 1) * _LINES_MAX + number
    read.changes += changes_in(line.text, place, (last.start if last else 0, order))
    if election := unclean_in(line.text, place):
        read.unclean.append(election)
    for said in _observations(line, place, last, order):
        if said.seen.kind in (Kind.FETCHES, Kind.NOTES):
            # A fetcher that tries again says the same a thousand times.
            minute = last.start // 60_000_000_000 if last else 0
            key = (said.partition, said.broker, said.seen.leader, said.seen.said, minute)
            if key in repeated:
                continue
            repeated.add(key)
        read.found.append(said)
    return last


def _note_broker(line: Line, read: Scanned, span: Span | None) -> None:
    text = line.text
    if RELEASE_HINT in text and (matched := RELEASE.search(text)):
        read.releases.add((matched["release"], matched["rest"]))
    if KRAFT.search(text):
        read.manners.add("kraft")
    elif ZOOKEEPER.search(text):
        read.manners.add("zookeeper")
    if whose := BROKER.search(text):
        broker = int(whose["broker"])
        read.named[line.writer, broker] += 1
        if not whose[0].startswith("[Broker id="):
            read.server_logs.setdefault(broker, read.begins or span)


def _observations(line: Line, place: Place, span: Span | None, number: int) -> Iterator[Said]:
    """Yield what a line says, with the partition, "" for all of a broker's."""
    for partition, seen in noted_in(line.text, place, span, number):
        yield Said(partition, None if seen.broker == UNNAMED else seen.broker, line.writer, seen)
    for each in PATTERNS:
        if each.hint in line.text and (matched := each.pattern.search(line.text)):
            groups = matched.groupdict()
            if groups["tp"].startswith(_METADATA):
                return
            topic_id = groups.get("topic_id")
            seen = Observation(
                broker=UNNAMED,
                kind=each.kind,
                place=place,
                span=span,
                number=number,
                **state_in(groups)._asdict(),
                topic_id=None if topic_id == "None" else topic_id,
                is_below_min_isr=groups.get("below") is not None,
                offset=_number(groups.get("offset")),
                high_watermark=_number(groups.get("high_watermark")),
                previous_epoch=_number(groups.get("previous_epoch")),
                partition_epoch=_number(groups.get("partition_epoch")),
            )
            yield Said(groups["tp"], _number(groups.get("broker")), line.writer, seen)
            return
    if FETCH_HINT in line.text and (matched := FETCHES.search(line.text)):
        seen = Observation(
            broker=UNNAMED,
            kind=Kind.FETCHES,
            place=place,
            span=span,
            number=number,
            leader=int(matched["leader"]),
        )
        yield Said(matched["tp"], int(matched["broker"]), line.writer, seen)
    elif STOP_HINT in line.text:
        for kind, pattern in WHOLE_BROKER:
            if matched := pattern.search(line.text):
                seen = Observation(broker=UNNAMED, kind=kind, place=place, span=span, number=number)
                yield Said("", int(matched["broker"]), line.writer, seen)
                return


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)
