"""State of the scripted controller: what it has decided, and what it knows of each broker.

One lock guards all of it, the metadata log included: threads that answer brokers and the script
share it. Nothing here decides anything.

The log begins with the control batch that names the quorum's leader. What is appended together is
one batch, which a broker takes up as one image.
"""

from __future__ import annotations

import struct
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.checker.kafka.confirm.codec import message_bytes, record_bytes, write_zigzag
from waterline.checker.kafka.confirm.definitions import Definitions, Struct
from waterline.checker.kafka.confirm.errors import CannotConfirm, NotInstalled

try:
    from kafka.record.util import calc_crc32c
except ModuleNotFoundError as missing:
    raise NotInstalled(missing.name) from None

QUORUM_EPOCH = 1
"""The one epoch of the quorum."""
_CONTROL = 0x20
_LEADER_CHANGE_KEY = struct.pack(">hh", 0, 2)
_MAGIC = 2


@dataclass(frozen=True, slots=True)
class MetadataRecord:
    """A record by name, in one of its versions."""

    name: str
    version: int
    values: Mapping[str, Any]


Seen = Callable[[MetadataRecord], MetadataRecord]
"""A record as one reader is to see it: brokers find each other behind proxies of their own."""


@dataclass(frozen=True, slots=True)
class _Batch:
    base: int
    records: tuple[MetadataRecord, ...]

    @property
    def end(self) -> int:
        return self.base + (len(self.records) or 1)  # The leader's own batch has no such record.


class MetadataLog:
    """The log; its first offset is 0. Who shares it among threads locks it."""

    def __init__(self, definitions: Definitions, leader: int) -> None:
        self._definitions = definitions
        self._leader = leader
        self._batches = [_Batch(0, ())]

    @property
    def end(self) -> int:
        """The offset of the next record."""
        return self._batches[-1].end

    def append(self, records: Sequence[MetadataRecord]) -> int:
        """Write these as one batch; the log's end after them."""
        if not records:
            raise ValueError("a batch of the metadata log has at least one record")
        self._batches.append(_Batch(self.end, tuple(records)))
        return self.end

    def between(self, start: int, end: int, seen: Seen = lambda record: record) -> bytes:
        """The whole batches from `start` on that end at `end` or before, as one reader has them."""
        chosen = [each for each in self._batches if start < each.end <= end]
        return b"".join(self._bytes(each, seen) for each in chosen)

    def _bytes(self, batch: _Batch, seen: Seen) -> bytes:
        if not batch.records:
            voters = [{"voter_id": self._leader}]
            values = {"leader_id": self._leader, "voters": voters, "granting_voters": voters}
            message = self._definitions.by_name["LeaderChangeMessage"]
            value = message_bytes(message, 0, values)
            return batch_bytes(batch.base, [(_LEADER_CHANGE_KEY, value)], attributes=_CONTROL)
        shown = [seen(record) for record in batch.records]
        return batch_bytes(
            batch.base,
            [(None, record_bytes(self._definitions, e.name, e.version, e.values)) for e in shown],
        )


def batch_bytes(
    base: int, records: Sequence[tuple[bytes | None, bytes]], *, attributes: int = 0
) -> bytes:
    """A record batch of keys and values, in the format of 0.11 and later."""
    now = int(time.time() * 1000)
    body = bytearray()
    for delta, (key, value) in enumerate(records):
        one = bytearray(1)
        write_zigzag(one, 0)  # Its time is the batch's.
        write_zigzag(one, delta)
        write_zigzag(one, -1 if key is None else len(key))
        one += key or b""
        write_zigzag(one, len(value))
        one += value
        write_zigzag(one, 0)  # It has no headers.
        write_zigzag(body, len(one))
        body += one
    last = len(records) - 1
    head = struct.pack(">hiqqqhii", attributes, last, now, now, -1, -1, -1, len(records))
    checked = head + bytes(body)
    rest = struct.pack(">ibI", QUORUM_EPOCH, _MAGIC, calc_crc32c(checked)) + checked
    return struct.pack(">qi", base, len(rest)) + rest


NODE = 3000
"""The controller's number as a node."""
NO_LEADER = -1
_SINCE_3_7 = frozenset({"directories", "log_dirs"})
NO_BROKER_EPOCH = -1
METADATA_VERSION = "metadata.version"
ELIGIBLE_LEADER_REPLICAS = "eligible.leader.replicas.version"
PARTITION_CHANGE, PARTITION, REGISTRATION, REGISTRATION_CHANGE = (
    "PartitionChangeRecord",
    "PartitionRecord",
    "RegisterBrokerRecord",
    "BrokerRegistrationChangeRecord",
)

Watch = Callable[[str, Any], None]
"""Receiver of a recorded message: its direction and its content."""
Find = Callable[[int, int, int], int]
"""Port where a reader finds a broker that registered with a port: (reader, broker, port)."""


class ControllerFailed(CannotConfirm):
    """A thread that answers brokers failed; raised where the script waits."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """The brokers that are replicas; of these the ones being added, and being removed."""

    replicas: tuple[int, ...]
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()


@dataclass(slots=True)
class PartitionImage:
    """The partition after the last record about it (PartitionRegistration).

    `epoch` counts its records. `directories` are those of the replicas, in their order.
    `is_recovering` is LeaderRecoveryState (KIP-704).
    """

    leader: int
    leader_epoch: int
    epoch: int
    isr: list[int]
    assignment: Assignment
    directories: list[uuid.UUID]
    elr: list[int] = field(default_factory=list)
    is_recovering: bool = False


@dataclass(slots=True)
class BrokerImage:
    """A broker as it registered and as its heartbeats say; and how much of the log it may read.

    `may_know` is the end of the log for it, None for all of the log. `applied` is the offset of the
    last record that its publishers have run for (MetadataLoader.lastAppliedOffset). `epoch` is the
    offset of its registration. `previous_epoch` is the epoch before a clean shutdown, -1 for none.
    """

    may_know: int | None = None
    applied: int = -1
    epoch: int = NO_BROKER_EPOCH
    previous_epoch: int = NO_BROKER_EPOCH
    incarnation: uuid.UUID | None = None
    is_fenced: bool = True
    wants_unfencing: bool = False
    wants_shutdown: bool = False
    may_shut_down: bool = False
    log_dirs: list[uuid.UUID] = field(default_factory=list)

    @property
    def has_caught_up(self) -> bool:
        """True if it has applied its own registration, and is ready to be unfenced."""
        return self.epoch >= 0 and self.applied >= self.epoch and self.wants_unfencing


@dataclass(slots=True)
class AlterRequest:
    """An AlterPartition that waits for the script: `answer` is of the partition, None for none."""

    broker: int
    partition: Struct
    answer: Mapping[str, Any] | None = None
    is_lost: bool = False

    @property
    def isr(self) -> list[int]:
        """The ISR that the leader asks for."""
        members = [each.broker_id for each in self.partition.get("new_isr_with_epochs", ())]
        return sorted(members or self.partition.get("new_isr", ()))


class QuorumState:
    """All that threads and script share; `changed` is the lock, notified at every change.

    `with_eligible_leader_replicas` is whether the cluster has ELR on (KIP-966).
    """

    def __init__(
        self,
        definitions: Definitions,
        brokers: int,
        *,
        with_eligible_leader_replicas: bool,
        find: Find,
        watch: Watch,
    ) -> None:
        self.definitions = definitions
        self.watch = watch
        self.with_eligible_leader_replicas = with_eligible_leader_replicas
        self.changed = threading.Condition()
        self.log = MetadataLog(definitions, NODE)
        self.brokers = [BrokerImage() for _ in range(brokers)]
        self.image: PartitionImage | None = None
        """The partition as it was decided last, None before there is a topic."""
        self.topic_id = uuid.uuid4()
        self.metadata_version = 0
        """The level of metadata.version, 0 before the first broker has said which it has."""
        self.asked: list[AlterRequest] = []
        self.unexpected: list[str] = []
        """Names of requests that no answer is known for."""
        self.failure: Exception | None = None
        self.is_over = False
        self._find = find

    def append(self, records: Sequence[MetadataRecord]) -> int:
        """Write a batch, each record as the release has it; the log's end after it."""
        with self.changed:
            end = self.log.append([self._as_released(record) for record in records])
            self.changed.notify_all()
            return end

    def _as_released(self, record: MetadataRecord) -> MetadataRecord:
        """Return the record in the release's version, if that is older, without the fields that it
        lacks: directories came with KIP-858 (3.7).
        """
        message = self.definitions.by_name[record.name]
        known = {each.name for each in message.fields}
        values = {
            name: value
            for name, value in record.values.items()
            if name in known or name not in _SINCE_3_7
        }
        return MetadataRecord(record.name, min(record.version, message.valid.high), values)

    def limit(self, broker: int) -> int:
        """The end of the log as this broker may know it. To be called under the lock."""
        may_know = self.brokers[broker].may_know
        return self.log.end if may_know is None else min(may_know, self.log.end)

    def read(self, broker: int, start: int) -> bytes:
        """The batches from `start` on that the broker may know. To be called under the lock."""

        def as_seen(record: MetadataRecord) -> MetadataRecord:
            if record.name != REGISTRATION:
                return record
            registered = record.values["broker_id"]
            endpoints = [
                {**each, "port": self._find(broker, registered, each["port"])}
                for each in record.values["end_points"]
            ]
            values = {**record.values, "end_points": endpoints}
            return MetadataRecord(record.name, record.version, values)

        return self.log.between(start, self.limit(broker), as_seen)

    def fail(self, problem: Exception) -> None:
        """Note what broke in a thread: `await_true` raises it."""
        with self.changed:
            self.failure = self.failure or problem
            self.changed.notify_all()

    def await_true(self, true: Callable[[], bool], seconds: float) -> bool:
        """Wait until it is true; whether it came to that in time. Raises `ControllerFailed`."""
        with self.changed:
            came = self.changed.wait_for(lambda: self.failure is not None or true(), seconds)
            if self.failure is not None:
                raise ControllerFailed(
                    f"the scripted controller failed: {self.failure!r}"
                ) from self.failure
            return came
