"""Log files of brokers, read into observations of one partition.

A folder may hold files of one broker or of many, rotated and gzipped, in any subset. Whose a file
is, its own lines say; of a checkpoint the meta.properties beside it or above. Nothing is ordered by
two brokers' clocks. Files are read line by line, with limits: a line that is longer than a line of
Kafka's is cut, a file that is no text is refused.
"""

from __future__ import annotations

import gzip
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, cast

from checker.kafka.logs.errors import BadLogs
from checker.kafka.logs.observation import Kind, Observation, Place
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

LINE_MAX = 20_000
"""Characters of a line that are looked at."""
BYTES_MAX = 2 << 30
"""Of one file, unpacked."""
FILES_MAX = 10_000
_METADATA = "__cluster_metadata"
_CHECKPOINTS = ("leader-epoch-checkpoint", "replication-offset-checkpoint")
_IS_LOG = re.compile(r"(\.log(\.|$)|\.out(\.|$)|\.log-|^console)", re.IGNORECASE)
_IS_SEGMENT = re.compile(r"^\d{20}\.")
_BROKER_ID = re.compile(r"^(?:node|broker)\.id\s*=\s*(\d+)\s*$", re.MULTILINE)


@dataclass(slots=True)
class Logs:
    """What the files say: observations by partition, releases, and what was passed over.

    `stops` are those of whole brokers. `with_server_log` are brokers of which not only
    state-change.log was read, so that a truncation that is not observed did not happen. `files`
    counts the lines of each file that was read.
    """

    by_partition: dict[str, list[Observation]] = field(default_factory=lambda: defaultdict(list))
    stops: list[Observation] = field(default_factory=list)
    releases: set[str] = field(default_factory=set)
    manners: set[str] = field(default_factory=set)
    files: dict[str, int] = field(default_factory=dict)
    brokers: set[int] = field(default_factory=set)
    with_server_log: set[int] = field(default_factory=set)
    without_times: set[int] = field(default_factory=set)
    passed_over: list[str] = field(default_factory=list)

    def of(self, partition: str) -> dict[int, list[Observation]]:
        """The observations of a partition by broker, each in order. Raises `BadLogs`."""
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
        return dict(sorted(observed.items()))

    def _known(self) -> str:
        names = sorted(self.by_partition)
        if not names:
            return "nor of any other; name folders with server.log or state-change.log of brokers"
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
            raise BadLogs(f"no line speaks of a partition, {self._known().removeprefix('nor ')}")
        if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
            raise BadLogs(f"the logs speak of {len(changes)} partitions; {self._known()}")
        return ranked[0][0]


_NAMES_SHOWN = 5


def read_logs(folders: Iterable[Path]) -> Logs:
    """Read every file of these folders, and files that are named. Raises `BadLogs`."""
    logs = Logs()
    files = list(_files(folders))
    if not files:
        raise BadLogs("there is no log file in what was named; name folders that hold server.log")
    for rank, path in enumerate(files):
        if path.name in _CHECKPOINTS:
            _read_checkpoint(path, logs, rank)
        else:
            _read_log(path, logs, rank)
    _require_order(logs)
    return logs


def _files(folders: Iterable[Path]) -> Iterator[Path]:
    """Regular files in a stable order; segments, which are data, are left alone."""
    count = 0
    for named in folders:
        found = [named] if named.is_file() else sorted(named.rglob("*"), key=_rotation)
        if not named.exists():
            raise BadLogs(f"{named}: there is no such file or folder")
        for path in found:
            if path.is_symlink() or not path.is_file():
                continue
            is_log = _IS_LOG.search(path.name) and not _IS_SEGMENT.match(path.name)
            if not (named == path or is_log or path.name in _CHECKPOINTS):
                continue
            count += 1
            if count > FILES_MAX:
                raise BadLogs(f"{named}: more than {FILES_MAX:,} files; name fewer folders")
            yield path


def _rotation(path: Path) -> tuple[str, int, str]:
    """Rotated files before the one that is written to: server.log.2, server.log.1, server.log."""
    matched = re.search(r"\.(\d{1,6})(?:\.gz)?$", path.name)
    base = path.name.split(".log")[0]
    dated = re.search(r"\.log[.-](\d{4}-\d\d-\d\d.*)$", path.name)
    age = -int(matched[1]) if matched and not dated else (1 if path.name.endswith(".log") else 0)
    return str(path.parent / base), age, path.name


def _opened(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        packed = file.read(2) == b"\x1f\x8b"
    return cast("IO[bytes]", gzip.open(path, "rb")) if packed else path.open("rb")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    read = 0
    try:
        with _opened(path) as file:
            number = 0
            while raw := file.readline(LINE_MAX):
                if number == 0 or raw.endswith(b"\n") or len(raw) < LINE_MAX:
                    number += 1
                read += len(raw)
                if read > BYTES_MAX:
                    raise BadLogs(f"{path}: more than {BYTES_MAX:,} bytes unpacked; cut it")
                if b"\x00" in raw:
                    raise BadLogs(f"{path}: line {number} is no text; name logs, not data")
                yield number, raw.decode("utf-8", errors="replace").rstrip("\r\n")
    except (gzip.BadGzipFile, EOFError) as problem:
        raise BadLogs(f"{path}: it is packed and cannot be unpacked ({problem})") from None


def _read_log(path: Path, logs: Logs, rank: int) -> None:
    """Every line of a log that says something. The broker may come to be known after a line."""
    found: list[tuple[str, Observation]] = []
    named: Counter[int] = Counter()
    time, timed, lines = "", False, 0
    for number, line in _lines(path):
        lines += 1
        if stamp := TIMESTAMP.match(line):
            time, timed = stamp["time"].replace("T", " ").replace(".", ","), True
        _note_release(line, logs)
        if whose := BROKER.search(line):
            named[int(whose["broker"])] += 1
            if not whose[0].startswith("[Broker id="):
                logs.with_server_log.add(int(whose["broker"]))
        moment = (time, rank * 1_000_000_000 + number)
        for partition, seen in _observed(line, Place(str(path), number, line), moment):
            found.append((partition, seen))
    if not named:
        if found:
            logs.passed_over.append(f"{path}: no line says which broker wrote it")
        return
    if len(named) > 1:
        raise BadLogs(
            f"{path}: lines of brokers {', '.join(map(str, sorted(named)))} in one file; split it, "
            "so that each file is one broker's"
        )
    [broker] = named
    logs.files[str(path)] = lines
    logs.brokers.add(broker)
    if not timed:
        logs.without_times.add(broker)
    for partition, seen in found:
        own = _of_broker(seen, broker)
        if partition:
            logs.by_partition[partition].append(own)
        else:
            logs.stops.append(own)


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
    )


def _read_checkpoint(path: Path, logs: Logs, rank: int) -> None:
    """A leader-epoch-checkpoint or replication-offset-checkpoint: version, number, entries."""
    broker = _broker_of(path)
    if broker is None:
        logs.passed_over.append(f"{path}: no meta.properties beside it says whose it is")
        return
    rows = [line for _, line in _lines(path)]
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
