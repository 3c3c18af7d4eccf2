"""Text that kafka-dump-log writes of the metadata log: what its records decided of partitions.

A record of a change says only what has changed, and its number is not in it: both follow from the
records before. So a state is known from its PARTITION_RECORD on, up to the first record that is
missing or cannot be read. Payloads are read as JSON and in no other way.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from waterline.checker.kafka.logs.files import DUMP_BEGINS
from waterline.checker.kafka.logs.observation import (
    UNCHANGED,
    BadLogs,
    Change,
    PartitionState,
    Place,
)

RECORDS_MAX = 2_000_000
"""Maximum number of records about topics and partitions in one file of the log."""
_RECOVERING = 1
"""Recovery state of a leader that was elected uncleanly."""
_INT_MAX = 2**31 - 1
_READ = frozenset({"TOPIC_RECORD", "REMOVE_TOPIC_RECORD", "PARTITION_RECORD"})
_READ |= {"PARTITION_CHANGE_RECORD", "BEGIN_TRANSACTION_RECORD", "END_TRANSACTION_RECORD"}
_READ |= {"ABORT_TRANSACTION_RECORD", "CLEAR_ELR_RECORD"}
_LISTS = ("isr", "replicas", "addingReplicas", "removingReplicas", "eligibleLeaderReplicas")
"""Sets of brokers in a record, as a state has them; one of a change has those that change."""
_NAME = re.compile(r"(\d{20})(-\d{10}\.checkpoint|\.log)\s*$")
_BATCH = re.compile(r"^baseOffset: (\d{1,19}) lastOffset: (\d{1,19}) ")
_CONTROL = re.compile(r" isControl: true\b")
_RECORD = re.compile(r"^(?:\| ?| (?=payload: ))(?:offset: (\d{1,19}) )?")
_PAYLOAD = re.compile(r'payload: ?(\{"type": ?"([A-Z_]{1,60})".*)$')


@dataclass(frozen=True, slots=True)
class _Entry:
    """A record, or, where `kind` is "", a hole: records that are missing or cannot be read."""

    offset: int
    kind: str
    values: dict[str, Any]
    place: Place


@dataclass(slots=True)
class Section:
    """The dump of one file: a segment of the log, or a snapshot, which is a state by itself.

    `end` is the offset behind its last record; of a snapshot that of the log which it stands for.
    """

    begin: int | None
    end: int | None
    is_snapshot: bool
    entries: list[_Entry] = field(default_factory=list)


def sections_of(lines: Iterable[tuple[Place, str]]) -> Iterator[Section]:
    """The sections of a dump, in the order of the text. Raises `BadLogs` where it is too long."""
    reader: _Reader | None = None
    for place, line in lines:
        if line.startswith(DUMP_BEGINS):
            if reader is not None:
                yield reader.section
            reader = _Reader(line)
        elif reader is not None:
            reader.read(place, line)
    if reader is not None:
        yield reader.section


class _Reader:
    """Reads one section: the lines of batches, and of the records in them."""

    def __init__(self, begins: str) -> None:
        named = _NAME.search(begins)
        is_snapshot = named is not None and named[2] != ".log"
        end = int(named[1]) if named is not None and is_snapshot else None
        self.section = Section(None, end, is_snapshot)
        self._expected: int | None = None
        self._is_control = False

    def read(self, place: Place, line: str) -> None:
        """Read one more line."""
        if batch := _BATCH.match(line):
            self._is_control = _CONTROL.search(line) is not None
            self._require(int(batch[1]), place)
            if self._is_control:  # Its records say nothing of partitions.
                self._goes_on_at(int(batch[2]) + 1)
        elif not self._is_control and (record := _RECORD.match(line)):
            offset = int(record[1]) if record[1] else self._expected
            self._require(offset, place)
            _read_record(self.section, offset or 0, line, place)
            self._goes_on_at((offset or 0) + 1)

    def _require(self, offset: int | None, place: Place) -> None:
        """True if the next offset is the one that follows; otherwise something is missing."""
        if offset is None or (self._expected is not None and offset != self._expected):
            _leave_out(self.section, place, offset or 0)
        if self.section.begin is None:
            self.section.begin = offset or 0
        self._goes_on_at(offset or 0)

    def _goes_on_at(self, offset: int) -> None:
        self._expected = offset
        if not self.section.is_snapshot:
            self.section.end = offset


def _leave_out(section: Section, place: Place, offset: int) -> None:
    if not section.entries or section.entries[-1].kind:
        section.entries.append(_Entry(offset, "", {}, place))


def _read_record(section: Section, offset: int, line: str, place: Place) -> None:
    payload = _PAYLOAD.search(line)
    if payload is None:
        _leave_out(section, place, offset)
        return
    if payload[2] not in _READ:
        return
    try:
        values = json.loads(payload[1])["data"]
        if not isinstance(values, dict):
            raise TypeError
    except (ValueError, TypeError, KeyError, RecursionError):
        _leave_out(section, place, offset)
        return
    if len(section.entries) >= RECORDS_MAX:
        raise BadLogs(f"{place.file}: more than {RECORDS_MAX:,} records; dump fewer files")
    section.entries.append(_Entry(offset, payload[2], values, place))


def changes_of(sections: Iterable[Section], passed_over: list[str]) -> Iterator[tuple[str, Change]]:
    """Yield the changes of every partition, in the order of the log.

    Adds each kind of record that cannot be followed to `passed_over` once.
    """
    every = list(sections)
    log = _Log(passed_over, sorted((s for s in every if s.is_snapshot), key=lambda s: s.end or 0))
    begun = [(s.begin, s) for s in every if not s.is_snapshot and s.begin is not None]
    for begin, section in sorted(begun, key=lambda pair: pair[0]):
        yield from log.changes(begin, section)
    yield from log.end()


class _Log:
    """The state of every partition, as far as the records before are there."""

    def __init__(self, passed_over: list[str], snapshots: Sequence[Section]) -> None:
        self._passed_over = passed_over
        self._snapshots = list(snapshots)
        self._names: dict[str, str] = {}
        self._states: dict[tuple[str, int], _Known] = {}
        self._expected: int | None = None
        """The offset behind the last section."""
        self._pending: list[_Entry] | None = None
        """Records of a transaction that has begun: they count once it has ended."""

    def changes(self, begin: int, section: Section) -> Iterator[tuple[str, Change]]:
        """Yield what a segment adds."""
        yield from self._snapshots_until(begin)
        read = self._expected or 0
        if self._expected is not None and begin > self._expected:
            self._forget()
        for entry in section.entries:
            if entry.offset < read:
                continue
            yield from self._snapshots_until(entry.offset, is_within=True)
            yield from self._take(entry)
        self._expected = max(section.end or 0, read)

    def end(self) -> Iterator[tuple[str, Change]]:
        """Yield what snapshots behind the last segment add."""
        yield from self._snapshots_until(None)

    def _snapshots_until(
        self, offset: int | None, *, is_within: bool = False
    ) -> Iterator[tuple[str, Change]]:
        """Load those of up to an offset: what they say of partitions whose state is not known."""
        while self._snapshots and (offset is None or (self._snapshots[0].end or 0) <= offset):
            snapshot = self._snapshots.pop(0)
            end = snapshot.end or 0
            if not is_within and end > (self._expected or 0):
                self._forget()
                self._expected = end
            known = list(self._states)
            for entry in snapshot.entries:
                if not entry.kind:
                    self._say(entry.place)
                    break
                said = entry.values.get("topicId"), entry.values.get("partitionId")
                if entry.kind == "TOPIC_RECORD" or all(said != each for each in known):
                    yield from self._apply(entry)

    def _forget(self) -> None:
        self._states.clear()
        self._pending = None

    def _take(self, entry: _Entry) -> Iterator[tuple[str, Change]]:
        if not entry.kind:
            self._lose(entry.place)
        elif entry.kind == "BEGIN_TRANSACTION_RECORD":
            self._pending = []
        elif entry.kind in ("END_TRANSACTION_RECORD", "ABORT_TRANSACTION_RECORD"):
            pending, self._pending = self._pending or [], None
            for each in pending if entry.kind.startswith("END") else ():
                yield from self._apply(each)
        elif self._pending is not None:
            self._pending.append(entry)
        else:
            yield from self._apply(entry)

    def _lose(self, place: Place) -> None:
        self._forget()
        self._say(place)

    def _say(self, place: Place) -> None:
        self._passed_over.append(
            f"{place}: records of the metadata log are missing or cannot be read; what it says of "
            "a partition is known again from its next PARTITION_RECORD on"
        )

    def _apply(self, entry: _Entry) -> Iterator[tuple[str, Change]]:
        values, kind = entry.values, entry.kind
        try:
            if kind == "CLEAR_ELR_RECORD":
                yield from self._clear_elr(entry, _text(values["topicName"]))
                return
            topic = _text(values["topicId"])
            if kind == "TOPIC_RECORD":
                self._names[topic] = _text(values["name"])
            elif kind == "REMOVE_TOPIC_RECORD":
                for each in [each for each in self._states if each[0] == topic]:
                    del self._states[each]
            else:
                at = topic, _number(values["partitionId"])
                made = _partition(kind, values, self._states.get(at))
                if made is None:
                    return
                yield from self._set(entry, at, made)
        except (KeyError, TypeError, ValueError):
            self._lose(entry.place)

    def _clear_elr(self, entry: _Entry, name: str) -> Iterator[tuple[str, Change]]:
        """Clear the ELR of the partitions of a topic, of all where it has no name (4.0 on)."""
        for at, known in list(self._states.items()):
            if known.has_elr and (not name or self._names.get(at[0]) == name):
                state = known.state._replace(elr=())
                yield from self._set(entry, at, _Known(known.number + 1, state, ()))

    def _set(
        self, entry: _Entry, at: tuple[str, int], known: _Known
    ) -> Iterator[tuple[str, Change]]:
        self._states[at] = known
        if at[0] in self._names:
            change = _change(entry, at[0], known.number, known.state)
            yield f"{self._names[at[0]]}-{at[1]}", change


class _Known(NamedTuple):
    """Number and state of a partition; `last_known` are its last known eligible leader replicas."""

    number: int
    state: PartitionState
    last_known: tuple[int, ...] | None

    @property
    def has_elr(self) -> bool:
        """True if a record that clears ELRs changes it (TopicDelta.maybeClearElr)."""
        return bool(self.state.elr or self.last_known)


def _partition(kind: str, values: dict[str, Any], known: _Known | None) -> _Known | None:
    """The state after a record; None where those before it are not known."""
    sets = PartitionState(None, None, *(_members(values.get(name)) for name in _LISTS))
    last_known = _members(values.get("lastKnownElr"))
    if kind == "PARTITION_RECORD":
        epoch, leader = _number(values["leaderEpoch"]), _leader(values["leader"])
        state = sets._replace(epoch=epoch, leader=leader, isr=_members(values["isr"]))
        return _Known(_number(values["partitionEpoch"]), state, last_known)
    if known is None:
        return None
    number, before, last_known_before = known
    leads = values.get("leader", int(UNCHANGED))
    assert before.epoch is not None
    after = sets.over(before)
    if leads != int(UNCHANGED):  # Each election is an epoch, also where the same broker is elected.
        after = after._replace(leader=_leader(leads), epoch=before.epoch + 1)
    return _Known(number + 1, after, last_known_before if last_known is None else last_known)


def _change(entry: _Entry, topic: str, number: int, state: PartitionState) -> Change:
    return Change(
        writer="metadata log",
        place=entry.place,
        moment=(0, entry.offset),
        number=number,
        state=state,
        topic_id=topic,
        is_unclean=entry.values.get("leaderRecoveryState") == _RECOVERING,
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: object, least: int = 0) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= _INT_MAX:
        raise TypeError
    return value


def _leader(value: object) -> int:
    return _number(value, least=-1)


def _members(value: object) -> tuple[int, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise TypeError
    return tuple(sorted({_number(each) for each in value}))
