"""Lines of one file that say something: of a partition, of a broker, of a controller's decision.

Read are any layout of log4j, JSON objects of container runtimes and log shippers, and what
kubectl, stern, docker compose, grep and tail put before a line.
"""

from __future__ import annotations

import calendar
import json
import re
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from waterline.checker.kafka.logs.controller_lines import (
    CONTROLLER_PATTERNS,
    UNCLEAN_HINTS,
    UncleanElection,
    changes_in,
    unclean_in,
)
from waterline.checker.kafka.logs.files import DUMP_BEGINS, lines_of, stream_of
from waterline.checker.kafka.logs.metadata_dump import Section, sections_of
from waterline.checker.kafka.logs.observation import (
    CONTROLLER,
    Change,
    Kind,
    Observation,
    Place,
    Span,
    members_in,
    state_in,
)
from waterline.checker.kafka.logs.patterns import (
    BROKER,
    BROKER_HINTS,
    KRAFT,
    NOTED,
    PATTERNS,
    RELEASE,
    RELEASE_HINT,
    ZOOKEEPER,
    LinePattern,
)

_SECOND = 1_000_000_000
_STAMP = re.compile(
    r"(?<!\d)(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d)(?:[,.](\d{1,9}))?"
    r"(?: ?(Z\b|[+-]\d\d:?\d\d\b))?"
)
_COLOUR = re.compile(r"\x1b\[[\d;]*[A-Za-z]")
_SECTION = re.compile(r"^==> (.{1,400}) <==$")
"""Before the lines of each file, by tail and head."""
_MESSAGE_KEYS = ("log", "message", "msg", "MESSAGE", "line", "textPayload", "_raw", "content")
_WRITER_KEYS = frozenset(
    {"pod_name", "podName", "pod", "pod.name", "container_name", "containerName"}
    | {"container.name", "instance", "hostname", "host", "HOSTNAME", "_HOSTNAME", "host.name"}
)
_DEPTH_MAX = 6
_BEFORE_LEVEL = re.compile(r"\b(?:TRACE|DEBUG|INFO|WARN|ERROR|FATAL)\b")
_VARIES = re.compile(r"\d\d:\d\d:\d\d\S*|\d{4}-\d\d-\d\dT?|\b\w{3} [ \d]\d(?= )|:\d+:$|\[\d+\]")
"""Parts of a prefix that differ from line to line: times, line numbers, process ids."""


class Line(NamedTuple):
    """A line without its wrapping. `writer` is what stands before it, the same for one broker."""

    text: str
    span: Span | None
    writer: str


def unwrap(line: str, section: str = "") -> Line:
    """Return a line with its time and the writer that its prefix or its object names."""
    line = _COLOUR.sub("", line)
    begin = line.find("{")
    if begin >= 0 and line.endswith("}") and (found := _of_object(line, begin)):
        text, rest, writer = found
        return Line(text, span_in(text) or span_in(rest), section + writer)
    stamp = _STAMP.search(line)
    level = _BEFORE_LEVEL.search(line)
    ends = [found.start() for found in (stamp, level) if found]
    prefix = line[: min(ends)] if ends else ""
    return Line(line, span_in(line), section + _VARIES.sub("", prefix).strip(" [\t"))


def lines_in(line: str) -> list[str]:
    """The lines that a line has: one, or the objects of an array that an export is."""
    if line.startswith("[{") and line.endswith("]"):
        try:
            return [json.dumps(each) for each in json.loads(line)]
        except (ValueError, RecursionError):
            pass
    return [line]


def section_of(line: str) -> str | None:
    """The file whose lines follow, where tail or head says so."""
    matched = _SECTION.match(line)
    return matched[1] if matched else None


def span_in(text: str) -> Span | None:
    """The time of a line: the last before its message, where a runtime puts one before log4j's."""
    level = _BEFORE_LEVEL.search(text)
    stamps = list(_STAMP.finditer(text, 0, level.start() if level else 400))
    stamps = stamps or list(_STAMP.finditer(text, 0, 2000))[:1]
    for stamp in reversed(stamps):
        try:
            return _span(stamp)
        except ValueError:
            continue
    return None


def _span(stamp: re.Match[str]) -> Span:
    numbers = [int(each) for each in stamp.groups()[:6]]
    if not (1 <= numbers[1] <= 12 and 1 <= numbers[2] <= 31):
        raise ValueError(stamp[0])
    seconds = calendar.timegm((*numbers, 0, 0, 0)) - _offset(stamp[8])
    digits = stamp[7] or ""
    start = seconds * _SECOND + int(digits.ljust(9, "0"))
    return Span(start, start + 10 ** (9 - len(digits)))


def _offset(zone: str | None) -> int:
    if zone in (None, "Z"):
        return 0
    assert zone is not None
    digits = zone[1:].replace(":", "")
    seconds = int(digits[:2]) * 3600 + int(digits[2:]) * 60
    return -seconds if zone[0] == "-" else seconds


def _of_object(line: str, begin: int) -> tuple[str, str, str] | None:
    """The message in a JSON object, the rest of the object, and its writer."""
    try:
        value = json.loads(line[begin:])
    except (ValueError, RecursionError):
        return None
    found = dict(_strings(value, 0))
    key = next((key for key in _MESSAGE_KEYS if key in found), None)
    if key is None:
        return None
    text = found.pop(key).rstrip("\r\n")
    if text.startswith("{") and text.endswith("}") and (inner := _of_object(text, 0)):
        text, rest, _ = inner
    else:
        rest = ""
    writer = " ".join(found[key] for key in sorted(_WRITER_KEYS & found.keys()))
    return text, f"{rest} {' '.join(found.values())}", writer + line[:begin].strip()


def _strings(value: Any, depth: int, within: str = "") -> Iterator[tuple[str, str]]:
    """The texts of an object by their names, those of inner objects also with the outer name."""
    if not isinstance(value, dict) or depth > _DEPTH_MAX:
        return
    if isinstance(seconds := value.get("epochSecond"), int):
        yield "instant", _format_time(seconds, value.get("nanoOfSecond"))
    for name, each in value.items():
        if isinstance(each, dict):
            yield from _strings(each, depth + 1, f"{name}.")
        elif name == "timeMillis" and isinstance(each, int):
            yield name, _format_time(each // 1000, each % 1000 * 1_000_000)
        elif isinstance(each, str):
            yield name, each
            if within:
                yield within + name, each


def _format_time(seconds: int, nanoseconds: object) -> str:
    if not 0 <= seconds < 1 << 36:
        return ""
    fraction = nanoseconds if isinstance(nanoseconds, int) else 0
    return f"{time.strftime('%Y-%m-%d %H:%M:%S', time.gmtime(seconds))}.{fraction:09d}"


_METADATA = "__cluster_metadata"
_UNNAMED = -2
"""The broker of a line that names none, or whose writer is not looked up yet."""
_HINTS = (
    *(each.hint for each in (*PATTERNS, *CONTROLLER_PATTERNS, *NOTED)),
    *BROKER_HINTS,
    *UNCLEAN_HINTS,
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
    for said in observations_in(line, place, last, order):
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


def observations_in(line: Line, place: Place, span: Span | None, number: int) -> Iterator[Said]:
    """Yield what a line says: a meaning to be shown, and what a step has to write."""
    for table in (NOTED, PATTERNS):
        for each in table:
            if each.hint in line.text and (matched := each.pattern.search(line.text)):
                groups = matched.groupdict()
                partition = groups.get("tp") or groups.get("ended") or ""
                if groups.get("index"):
                    partition = f"{groups['topic_id']}-{groups['index']}"
                whose = CONTROLLER if each.is_controllers else _number(groups.get("broker"))
                if each.said or not partition.startswith(_METADATA):
                    seen = _observation(each, groups, place, span, number)
                    yield Said(partition, whose, line.writer, seen)
                break


def _observation(
    pattern: LinePattern,
    groups: Mapping[str, str | None],
    place: Place,
    span: Span | None,
    number: int,
) -> Observation:
    """Return what the groups of a pattern say. Whose it is the file may say (`Said.of`)."""
    state = state_in(groups)
    if "ended" in groups:
        state = state._replace(replicas=members_in(groups["replicas"] or groups["targets"]))
    topic_id = groups.get("topic_id") if groups.get("tp") else None
    return Observation(
        broker=_UNNAMED,
        kind=pattern.kind,
        place=place,
        span=span,
        number=number,
        **state._asdict(),
        topic_id=None if topic_id == "None" else topic_id,
        is_below_min_isr=groups.get("below") is not None,
        offset=_number(groups.get("offset")),
        high_watermark=_number(groups.get("high_watermark")),
        previous_epoch=_number(groups.get("previous_epoch")),
        partition_epoch=_number(groups.get("partition_epoch")),
        is_clean=pattern.is_clean,
        said=pattern.said.format_map({n: text or "none" for n, text in groups.items()}),
    )


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)
