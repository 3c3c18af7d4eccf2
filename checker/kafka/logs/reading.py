"""Log files of brokers, read into observations of one partition.

A folder may hold files of one broker or of many, rotated and compressed, in any subset; a file may
hold the lines of many. The writer of a line is named by the line itself, by lines with the same
prefix, or by its file; that of a checkpoint by the meta.properties next to it or above. The
controllers' decisions are read apart from the brokers' actions.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeVar

from waterline.checker.kafka.logs.controller_lines import UncleanElection
from waterline.checker.kafka.logs.controllers import Decisions, decided_by_controllers
from waterline.checker.kafka.logs.files import CHECKPOINTS, lines_of, log_files
from waterline.checker.kafka.logs.metadata_dump import Section, changes_of
from waterline.checker.kafka.logs.observation import (
    CONTROLLER,
    BadLogs,
    Change,
    Kind,
    Observation,
    Place,
    Span,
)
from waterline.checker.kafka.logs.order import LastTopic, in_order, of_last_topic
from waterline.checker.kafka.logs.patterns import release_of
from waterline.checker.kafka.logs.scanning import Said, Scanned, scan

_METADATA = "__cluster_metadata"
_BROKER_ID = re.compile(r"^(?:node|broker)\.id\s*=\s*(\d+)\s*$", re.MULTILINE)
_LAST = Span((1 << 80) - 1, 1 << 80)
"""Time after every line: the state when the files were copied."""


def entries_of(path: Path, passed_over: list[str]) -> Iterator[tuple[str, Observation]]:
    """The entries of a checkpoint, with the partition of each: version, number, entries.

    Raises `BadLogs`.
    """
    broker = _broker_of(path)
    if broker is None:
        passed_over.append(f"{path}: no meta.properties beside it says whose it is")
        return
    rows = [line for _, line in lines_of(path)]
    if not rows:
        passed_over.append(f"{path}: it is empty")
        return
    entries = [row.split() for row in rows[2:] if row.strip()]
    if len(rows) < 2 or rows[0].strip() != "0" or rows[1].strip() != str(len(entries)):
        raise BadLogs(f"{path}: not a checkpoint of version 0 with as many entries as it says")
    if path.parent.name.startswith(_METADATA):
        return
    try:
        if path.name == "leader-epoch-checkpoint":
            yield (
                path.parent.name,
                Observation(
                    broker=broker,
                    kind=Kind.HAS_EPOCHS,
                    place=Place(str(path), 1, " ".join(rows[2:])),
                    span=_LAST,
                    stream=str(path),
                    epochs=tuple((int(epoch), int(offset)) for epoch, offset in entries),
                ),
            )
            return
        for number, (topic, partition, offset) in enumerate(entries, 3):
            yield (
                f"{topic}-{partition}",
                Observation(
                    broker=broker,
                    kind=Kind.HAS_CHECKPOINT,
                    place=Place(str(path), number, rows[number - 1]),
                    span=_LAST,
                    stream=str(path),
                    high_watermark=int(offset),
                ),
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


_NAMES_SHOWN = 5
_T = TypeVar("_T")


@dataclass(slots=True)
class Logs:
    """Contents of the files: observations by partition, releases, and the lines passed over.

    `stops` are lines of whole brokers; `noted` those of controllers, by partition, by topic id, or
    under "" for all. `server_logs` are brokers with more than a state-change.log, and the time of
    the first line that shows it: a truncation without a line did not happen there. The `doubtful`
    are excepted. `files` counts the lines of each file. `changes` are the decisions by partition,
    from controllers and the metadata log.
    """

    by_partition: dict[str, list[Observation]] = field(default_factory=lambda: defaultdict(list))
    changes: dict[str, list[Change]] = field(default_factory=lambda: defaultdict(list))
    unclean: list[UncleanElection] = field(default_factory=list)
    stops: list[Observation] = field(default_factory=list)
    noted: dict[str, list[Observation]] = field(default_factory=lambda: defaultdict(list))
    releases: set[str] = field(default_factory=set)
    manners: set[str] = field(default_factory=set)
    files: dict[str, int] = field(default_factory=dict)
    brokers: set[int] = field(default_factory=set)
    server_logs: dict[int, Span | None] = field(default_factory=dict)
    doubtful: set[int] = field(default_factory=set)
    without_times: set[int] = field(default_factory=set)
    passed_over: list[str] = field(default_factory=list)

    def of(self, partition: str) -> dict[int, list[Observation]]:
        """The observations of a partition by broker, each in order. Raises `BadLogs`.

        Decisions of controllers that count stand under `CONTROLLER`, if there are any.
        """
        if partition not in self.by_partition:
            raise BadLogs(f"no line speaks of partition {partition}; {self._known_names()}")
        last = self._last_topic(partition)
        observed = {broker: _with_ends(lines) for broker, lines in last.observed.items()}
        decided = self._decisions(partition, last).observations
        noted = [*self.noted.get("", ()), *self._of_names(partition, self.noted)]
        noted.sort(key=lambda seen: seen.number)
        doubtful = _reassigning(self._changes(partition), last, decided)
        of_controllers = [*(_with_epoch(each, decided) for each in noted), *doubtful, *decided]
        if of_controllers:
            observed[CONTROLLER] = of_controllers
        return dict(sorted(observed.items()))

    def notes_of(self, partition: str) -> list[str]:
        """Return what was passed over: files, an older topic, decisions that do not count."""
        last = self._last_topic(partition)
        notes = [last.note] if last.note else []
        moved = (seen for lines in last.observed.values() for seen in lines if seen.is_moved)
        notes += sorted(
            {
                f"{seen.place.file}: its times fall: its parts are taken in the order of their "
                "times, and not as they stand"
                for seen in moved
            }
        )
        return [*self.passed_over, *notes, *self._decisions(partition, last).notes]

    def unclean_of(self, partition: str) -> list[UncleanElection]:
        """Return the unclean elections that controllers report for the last topic of that name."""
        last = self._last_topic(partition)
        ids = {seen.topic_id for lines in last.observed.values() for seen in lines}
        changes = [each for each in self._changes(partition) if last.has(each)]
        ids |= {each.topic_id for each in changes}
        index = int(partition.rpartition("-")[2])
        found = [
            UncleanElection(
                partition,
                each.topic_id,
                index,
                -1 if each.state.leader is None else each.state.leader,
                each.state.epoch,
                each.place,
            )
            for each in changes
            if each.is_unclean
        ]
        for each in self.unclean:
            is_it = (
                each.partition == partition
                if each.partition is not None
                else each.index == index and each.topic_id in ids
            )
            if is_it and last.topic_id in (None, each.topic_id or last.topic_id):
                found.append(each)
        return found

    def with_server_log(
        self, by_broker: Mapping[int, Sequence[Observation]], first_epoch: int | None
    ) -> set[int]:
        """Return the brokers whose lines show every truncation from an epoch on.

        Excludes those whose server.log begins later: it is kept for a shorter time.
        """
        found = set()
        for broker, since in self.server_logs.items():
            begins = next(
                (
                    seen.span
                    for seen in by_broker.get(broker, ())
                    if seen.epoch is not None and seen.epoch >= (first_epoch or 0)
                ),
                None,
            )
            if since is None or begins is None or since.start < begins.end:
                found.add(broker)
        return found - self.doubtful

    def _last_topic(self, partition: str) -> LastTopic:
        """The lines about the last topic of that name by broker, in order."""
        observed: dict[int, list[Observation]] = defaultdict(list)
        for seen in self.by_partition.get(partition, ()):
            observed[seen.broker].append(seen)
        for seen in self.stops:
            if seen.broker in observed:
                observed[seen.broker].append(seen)
        changes = sorted(self._changes(partition), key=lambda change: change.moment)
        ids = [change.topic_id for change in changes]
        return of_last_topic({b: in_order(seen) for b, seen in observed.items()}, ids)

    def _decisions(self, partition: str, last: LastTopic) -> Decisions:
        changes = [each for each in self._changes(partition) if last.has(each)]
        return decided_by_controllers(changes, last.observed)

    def _changes(self, partition: str) -> list[Change]:
        """Decisions about a partition."""
        return self._of_names(partition, self.changes)

    def _of_names(self, partition: str, every: Mapping[str, list[_T]]) -> list[_T]:
        """Return a partition's entries, also those that name the topic by its id."""
        index = partition.rpartition("-")[2]
        ids = {each.topic_id for each in self.by_partition.get(partition, ())}
        ids |= {each.topic_id for each in self.changes.get(partition, ())}
        names = (partition, *(f"{each}-{index}" for each in sorted(filter(None, ids))))
        return [each for name in names for each in every.get(name, ())]

    def _known_names(self) -> str:
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
            raise BadLogs(f"no line of a broker speaks of a partition; {self._known_names()}")
        if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
            raise BadLogs(f"the logs speak of {len(changes)} partitions; {self._known_names()}")
        return ranked[0][0]


def read_logs(folders: Iterable[Path]) -> Logs:
    """Read every file of these folders, and files that are named. Raises `BadLogs`."""
    logs = Logs()
    files = list(log_files(folders, logs.passed_over))
    if not files:
        raise BadLogs("there is no log file in what was named; name folders that hold server.log")
    dumped: list[Section] = []
    read: list[Scanned] = []
    for rank, path in enumerate(files):
        if path.name in CHECKPOINTS:
            for partition, seen in entries_of(path, logs.passed_over):
                logs.files[str(path)] = max(logs.files.get(str(path), 0), seen.place.line)
                logs.brokers.add(seen.broker)
                logs.by_partition[partition].append(seen)
        else:
            file = scan(path, rank, logs.passed_over)
            dumped += file.dumped
            read.append(file)
    whose = _Whose(read)
    for file in read:
        _note(file, logs, whose)
    for partition, change in changes_of(dumped, logs.passed_over):
        logs.changes[partition].append(change)
    _require_order(logs)
    return logs


def _reassigning(
    changes: Iterable[Change], last: LastTopic, decided: Iterable[Observation]
) -> Iterator[Observation]:
    """Yield the changes that move replicas and do not count as decisions, to be reported."""
    used = {seen.partition_epoch for seen in decided}
    for each in changes:
        moves = each.state.adding or each.state.removing
        if moves and each.number not in used and last.has(each):
            yield Observation(
                broker=CONTROLLER,
                kind=Kind.REASSIGNS,
                place=each.place,
                partition_epoch=each.number,
                said="reassigns replicas, by a decision that no broker's line confirms",
                **each.state._asdict(),
            )


def _with_epoch(noted: Observation, decided: Iterable[Observation]) -> Observation:
    """A controller's line with the leader epoch of the decision before it in the same file."""
    places = ((o.place, o.epoch) for o in decided if o.place.file == noted.place.file)
    before = max(((p.line, e) for p, e in places if p.line < noted.place.line), default=None)
    return noted if before is None else replace(noted, epoch=before[1])


def _with_ends(lines: Sequence[Observation]) -> list[Observation]:
    """Each start with how the process before it ended, where what was found says the same."""
    found: set[bool] = set()
    ended: list[Observation] = []
    for seen in lines:
        if seen.is_clean is not None:
            found.add(seen.is_clean)
        elif seen.kind is Kind.LOADS:
            ended.append(replace(seen, is_clean=found.pop() if len(found) == 1 else None))
            found = set()
            continue
        ended.append(seen)
    return ended


class _Whose:
    """Writers of lines that name no broker: by their prefix, by their file, by its folder."""

    def __init__(self, read: Iterable[Scanned]) -> None:
        self._named: dict[tuple[str, ...], set[int]] = defaultdict(set)
        for file in read:
            for writer, broker in file.named:
                for key in _keys(file, writer):
                    self._named[key].add(broker)

    def broker(self, file: Scanned, writer: str) -> int | None:
        """Return the one broker that is named there; None if there are several, or none."""
        for key in _keys(file, writer):
            if (brokers := self._named[key]) and len(brokers) == 1:
                return next(iter(brokers))
            if brokers:
                return None
        return None

    def all_of(self, file: Scanned, writer: str) -> set[int]:
        """Return the possible writers of a line without a name: those the file names, or all."""
        named = self._named[_keys(file, writer)[0]] or self._named[(file.path,)]
        return named or {broker for brokers in self._named.values() for broker in brokers}


def _keys(file: Scanned, writer: str) -> list[tuple[str, ...]]:
    keys: list[tuple[str, ...]] = [(file.path, writer)]
    if "/" in writer:
        keys.append((file.path, writer.rpartition("/")[0] + "/"))
    keys.append((file.path,))
    if file.is_usual:
        keys.append(("folder", str(Path(file.path).parent)))
    return keys


def _note(file: Scanned, logs: Logs, whose: _Whose) -> None:
    for partition, change in file.changes:
        logs.changes[partition].append(change)
    logs.unclean += file.unclean
    logs.releases |= set(map(release_of, file.releases))
    logs.manners |= file.manners
    if file.named or file.changes or file.unclean or file.dumped:
        logs.files[file.path] = file.lines
    logs.brokers |= {broker for _, broker in file.named}
    unknown: list[Said] = []
    for said in file.found:
        broker = said.broker if said.broker is not None else whose.broker(file, said.writer)
        if broker is None:
            unknown += [said] if said.seen.kind is not Kind.NOTES else []
            continue
        seen = said.of(broker, file)
        if broker == CONTROLLER:
            logs.noted[said.partition].append(seen)
            continue
        if not file.is_timed:
            logs.without_times.add(broker)
        if said.partition:
            logs.by_partition[said.partition].append(seen)
        else:
            logs.stops.append(seen)
    for broker, since in file.server_logs.items():
        known = logs.server_logs.setdefault(broker, since)
        logs.server_logs[broker] = min(known, since) if known and since else None
    # A truncation of an unknown broker may be that of any of these.
    logs.doubtful |= {b for said in unknown for b in whose.all_of(file, said.writer)}
    if unknown:
        count = f"{len(unknown)} lines, the first" if len(unknown) > 1 else "a line"
        logs.passed_over.append(
            f"{unknown[0].place}: {count} of which no line says which broker wrote it"
        )


def _require_order(logs: Logs) -> None:
    """Reject two files of one broker if one has no times: their order is unknown."""
    per_broker: dict[int, set[str]] = defaultdict(set)
    for seen in (*logs.stops, *(o for all_of in logs.by_partition.values() for o in all_of)):
        if seen.number:
            per_broker[seen.broker].add(seen.stream.rpartition(" ")[0])
    for broker in logs.without_times:
        if len(per_broker[broker]) > 1:
            files = ", ".join(sorted(per_broker[broker]))
            raise BadLogs(f"broker {broker}: lines without times in several files: {files}")
