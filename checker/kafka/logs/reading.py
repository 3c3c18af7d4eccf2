"""Log files of brokers, read into observations of one partition.

A folder may hold files of one broker or of many, rotated and gzipped, in any subset. Whose a file
is, its own lines say; of a checkpoint the meta.properties beside it or above. Nothing is ordered by
two brokers' clocks. What controllers decided is read apart from what brokers did.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from checker.kafka.logs.changes import Change
from checker.kafka.logs.controller_lines import changes_in
from checker.kafka.logs.controllers import Decisions, decided_by_controllers
from checker.kafka.logs.errors import BadLogs
from checker.kafka.logs.files import CHECKPOINTS, DUMP_BEGINS, lines_of, log_files
from checker.kafka.logs.metadata_dump import Section, changes_of, sections_of
from checker.kafka.logs.observation import CONTROLLER, Kind, Observation, Place
from checker.kafka.logs.patterns import (
    BROKER,
    KRAFT,
    PATTERNS,
    RELEASE,
    STOP_HINT,
    TIMESTAMP,
    WHOLE_BROKER,
    ZOOKEEPER,
)

_METADATA = "__cluster_metadata"
_BROKER_ID = re.compile(r"^(?:node|broker)\.id\s*=\s*(\d+)\s*$", re.MULTILINE)


@dataclass(slots=True)
class Logs:
    """What the files say: observations by partition, releases, and what was passed over.

    `stops` are those of whole brokers. `with_server_log` are brokers of which not only
    state-change.log was read, so that a truncation that is not observed did not happen. `files`
    counts the lines of each file that was read. `changes` are decisions by partition, as
    controllers and the metadata log say them.
    """

    by_partition: dict[str, list[Observation]] = field(default_factory=lambda: defaultdict(list))
    changes: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))
    stops: list[Observation] = field(default_factory=list)
    releases: set[str] = field(default_factory=set)
    manners: set[str] = field(default_factory=set)
    files: dict[str, int] = field(default_factory=dict)
    brokers: set[int] = field(default_factory=set)
    with_server_log: set[int] = field(default_factory=set)
    without_times: set[int] = field(default_factory=set)
    passed_over: list[str] = field(default_factory=list)

    def of(self, partition: str) -> dict[int, list[Observation]]:
        """The observations of a partition by broker, each in order. Raises `BadLogs`.

        Decisions of controllers that count stand under `CONTROLLER`, if there are any.
        """
        if partition not in self.by_partition:
            raise BadLogs(f"no line speaks of partition {partition}; {self._known()}")
        observed: dict[int, list[Observation]] = defaultdict(list)
        for seen in self.by_partition[partition]:
            observed[seen.broker].append(seen)
        for seen in self.stops:
            if seen.broker in observed:
                observed[seen.broker].append(seen)
        for every in observed.values():
            every.sort(key=lambda seen: seen.moment)
        if decided := self._decided(partition).observations:
            observed[CONTROLLER] = list(decided)
        return dict(sorted(observed.items()))

    def notes_of(self, partition: str) -> list[str]:
        """What was passed over: files, and decisions about the partition that do not count."""
        return [*self.passed_over, *self._decided(partition).notes]

    def _decided(self, partition: str) -> Decisions:
        observed: dict[int, list[Observation]] = defaultdict(list)
        for seen in self.by_partition.get(partition, ()):
            observed[seen.broker].append(seen)
        return decided_by_controllers(self.changes.get(partition, ()), observed)

    def _known(self) -> str:
        names = sorted(self.by_partition)
        if not names and self.changes:
            return "only controllers name any; add server.log and state-change.log of brokers"
        if not names:
            return "name folders with server.log or state-change.log of brokers"
        more = ", ..." if len(names) > _NAMES_SHOWN else ""
        return f"--partition takes one of {', '.join(names[:_NAMES_SHOWN])}{more}"

    def only_partition(self) -> str:
        """The partition to explain where none is named: the one that changed leaders most.

        Raises `BadLogs` where there is none, or several did equally often.
        """
        changes = Counter(
            {
                name: len({o.epoch for o in seen if o.epoch is not None})
                for name, seen in self.by_partition.items()
            }
        )
        ranked = changes.most_common(2)
        if not ranked:
            raise BadLogs(f"no line of a broker speaks of a partition; {self._known()}")
        if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
            raise BadLogs(f"the logs speak of {len(changes)} partitions; {self._known()}")
        return ranked[0][0]


_NAMES_SHOWN = 5


def read_logs(folders: Iterable[Path]) -> Logs:
    """Read every file of these folders, and files that are named. Raises `BadLogs`."""
    logs = Logs()
    files = list(log_files(folders))
    if not files:
        raise BadLogs("there is no log file in what was named; name folders that hold server.log")
    dumped: list[Section] = []
    for rank, path in enumerate(files):
        if path.name in CHECKPOINTS:
            _read_checkpoint(path, logs, rank)
        else:
            dumped += _read_log(path, logs, rank)
    for partition, change in changes_of(dumped, logs.passed_over):
        logs.changes[partition].append(change)
    _require_order(logs)
    return logs


@dataclass(slots=True)
class _Scanned:
    """What the lines of one file say. `named` counts the lines that name their broker."""

    found: list[tuple[str, Observation]] = field(default_factory=list)
    changes: list[tuple[str, Change]] = field(default_factory=list)
    dumped: list[Section] = field(default_factory=list)
    named: Counter[int] = field(default_factory=Counter)
    is_timed: bool = False
    lines: int = 0


def _read_log(path: Path, logs: Logs, rank: int) -> list[Section]:
    """Every line of a log that says something; the sections of a dump, if it is one.

    The broker may come to be known after a line. Decisions of a controller are read from any file,
    also from one of no broker.
    """
    read = _scanned(path, logs, rank)
    for partition, change in read.changes:
        logs.changes[partition].append(change)
    if len(read.named) > 1:
        raise BadLogs(
            f"{path}: lines of brokers {', '.join(map(str, sorted(read.named)))} in one file; "
            "split it, so that each file is one broker's"
        )
    if read.named or read.changes or read.dumped:
        logs.files[str(path)] = read.lines
    if read.named:
        _note_broker(path, logs, read)
    elif read.found:
        logs.passed_over.append(f"{path}: no line says which broker wrote it")
    return read.dumped


def _note_broker(path: Path, logs: Logs, read: _Scanned) -> None:
    [broker] = read.named
    logs.brokers.add(broker)
    if not read.is_timed:
        logs.without_times.add(broker)
    for partition, seen in read.found:
        own = _of_broker(seen, broker)
        if partition:
            logs.by_partition[partition].append(own)
        else:
            logs.stops.append(own)


def _scanned(path: Path, logs: Logs, rank: int) -> _Scanned:
    read, time = _Scanned(), ""
    for number, line in lines_of(path):
        read.lines += 1
        if line.startswith(DUMP_BEGINS):
            read.dumped = _dumped(path)
            break
        if stamp := TIMESTAMP.match(line):
            time, read.is_timed = stamp["time"].replace("T", " ").replace(".", ","), True
        _note_release(line, logs)
        if whose := BROKER.search(line):
            read.named[int(whose["broker"])] += 1
            if not whose[0].startswith("[Broker id="):
                logs.with_server_log.add(int(whose["broker"]))
        place, moment = Place(str(path), number, line), (time, rank * 1_000_000_000 + number)
        read.found += _observed(line, place, moment)
        read.changes += changes_in(line, place, moment)
    return read


def _dumped(path: Path) -> list[Section]:
    return list(sections_of((Place(str(path), at, line), line) for at, line in lines_of(path)))


def _note_release(line: str, logs: Logs) -> None:
    if "Kafka version" in line and (matched := RELEASE.search(line)):
        logs.releases.add(matched["release"])
    if "Server id=" in line:
        if KRAFT.search(line):
            logs.manners.add("kraft")
        elif ZOOKEEPER.search(line):
            logs.manners.add("zookeeper")


_NOBODY = -2
"""A broker that the line does not name; the file's other lines do."""


def _observed(
    line: str, place: Place, moment: tuple[str, int]
) -> Iterator[tuple[str, Observation]]:
    """What a line says, with the partition, "" for all of a broker's."""
    for each in PATTERNS:
        if each.hint in line and (matched := each.pattern.search(line)):
            groups = matched.groupdict()
            if groups["tp"].startswith(_METADATA):
                return
            leader = _number(groups.get("leader"))
            broker = _number(groups.get("broker"))
            yield (
                groups["tp"],
                Observation(
                    broker=_NOBODY if broker is None else broker,
                    kind=each.kind,
                    place=place,
                    moment=moment,
                    epoch=_number(groups.get("epoch")),
                    offset=_number(groups.get("offset")),
                    high_watermark=_number(groups.get("high_watermark")),
                    isr=_members(groups.get("isr")),
                    leader=broker if each.kind is Kind.LEADS else leader,
                    previous_epoch=_number(groups.get("previous_epoch")),
                    partition_epoch=_number(groups.get("partition_epoch")),
                ),
            )
            return
    if STOP_HINT in line:
        for kind, pattern in WHOLE_BROKER:
            if matched := pattern.search(line):
                broker = int(matched["broker"])
                yield "", Observation(broker=broker, kind=kind, place=place, moment=moment)
                return


def _number(text: str | None) -> int | None:
    return None if text is None else int(text)


def _members(text: str | None) -> tuple[int, ...] | None:
    if text is None:
        return None
    return tuple(sorted(int(each) for each in text.split(",") if each))


def _of_broker(seen: Observation, broker: int) -> Observation:
    """The same, of the broker whose file it is where the line does not name one."""
    if seen.broker != _NOBODY:
        return seen
    return Observation(
        broker=broker,
        kind=seen.kind,
        place=seen.place,
        moment=seen.moment,
        epoch=seen.epoch,
        offset=seen.offset,
        high_watermark=seen.high_watermark,
        isr=seen.isr,
        leader=seen.leader,
        previous_epoch=seen.previous_epoch,
        partition_epoch=seen.partition_epoch,
    )


def _read_checkpoint(path: Path, logs: Logs, rank: int) -> None:
    """A leader-epoch-checkpoint or replication-offset-checkpoint: version, number, entries."""
    broker = _broker_of(path)
    if broker is None:
        logs.passed_over.append(f"{path}: no meta.properties beside it says whose it is")
        return
    rows = [line for _, line in lines_of(path)]
    if not rows:
        logs.passed_over.append(f"{path}: it is empty")
        return
    entries = [row.split() for row in rows[2:] if row.strip()]
    if len(rows) < 2 or rows[0].strip() != "0" or rows[1].strip() != str(len(entries)):
        raise BadLogs(f"{path}: not a checkpoint of version 0 with as many entries as it says")
    logs.brokers.add(broker)
    logs.files[str(path)] = len(rows)
    last = ("~", rank)  # Behind every line: as it was when the files were copied.
    try:
        if path.parent.name.startswith(_METADATA):
            return
        if path.name == "leader-epoch-checkpoint":
            pairs = tuple((int(epoch), int(offset)) for epoch, offset in entries)
            logs.by_partition[path.parent.name].append(
                Observation(
                    broker=broker,
                    kind=Kind.HAS_EPOCHS,
                    place=Place(str(path), 1, " ".join(rows[2:])),
                    moment=last,
                    epochs=pairs,
                )
            )
            return
        for number, (topic, partition, offset) in enumerate(entries, 3):
            logs.by_partition[f"{topic}-{partition}"].append(
                Observation(
                    broker=broker,
                    kind=Kind.HAS_CHECKPOINT,
                    place=Place(str(path), number, rows[number - 1]),
                    moment=last,
                    high_watermark=int(offset),
                )
            )
    except ValueError:
        raise BadLogs(f"{path}: an entry is not made of numbers, or of another length") from None


def _broker_of(path: Path) -> int | None:
    for folder in (path.parent, path.parent.parent):
        meta = folder / "meta.properties"
        if meta.is_file() and (
            matched := _BROKER_ID.search(meta.read_text(encoding="utf-8", errors="replace"))
        ):
            return int(matched[1])
    return None


def _require_order(logs: Logs) -> None:
    """Two files of one broker, one of which has no times, are in no order."""
    per_broker: dict[int, set[str]] = defaultdict(set)
    for seen in (*logs.stops, *(o for all_of in logs.by_partition.values() for o in all_of)):
        if seen.kind not in (Kind.HAS_EPOCHS, Kind.HAS_CHECKPOINT):
            per_broker[seen.broker].add(seen.place.file)
    for broker in logs.without_times:
        if len(per_broker[broker]) > 1:
            files = ", ".join(sorted(per_broker[broker]))
            raise BadLogs(f"broker {broker}: lines without times in several files: {files}")
