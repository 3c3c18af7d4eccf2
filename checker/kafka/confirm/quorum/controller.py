"""Scripted KRaft controller: a quorum of one that unchanged brokers follow.

Every broker has a port of its own here, reads one metadata log as an observer, and gets the part of
it that the script has revealed to it. What it has applied its heartbeats say. What it asks for, to
change the ISR or to shut down, waits until the script answers. Nothing is decided by itself.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from waterline.checker.kafka.confirm.definitions import NO_UUID, Definitions
from waterline.checker.kafka.confirm.quorum.answers import FENCED_LEADER_EPOCH, answer_frame
from waterline.checker.kafka.confirm.quorum.state import (
    NO_LEADER,
    PARTITION,
    PARTITION_CHANGE,
    REGISTRATION_CHANGE,
    AlterRequest,
    Assignment,
    BrokerImage,
    Find,
    MetadataRecord,
    PartitionImage,
    QuorumState,
    Watch,
)
from waterline.checker.kafka.confirm.wire import HOST, receive_frame, send_frame

Serve = Callable[[int, bytes], bytes | None]
"""Answer to a client's frame; None breaks the connection."""


class Ports:
    """Loopback ports that answer frames: one port for each client, which identifies it.

    Every connection has a thread of its own, and serves one frame at a time. `failed` receives what
    `serve` raised, and that connection ends.
    """

    def __init__(self, number: int, serve: Serve, failed: Callable[[Exception], None]) -> None:
        self._serve = serve
        self._failed = failed
        self._lock = threading.Lock()
        self._connections: set[socket.socket] = set()
        self._is_over = False
        self._servers = [socket.create_server((HOST, 0)) for _ in range(number)]
        self.numbers: list[int] = [server.getsockname()[1] for server in self._servers]
        for asker, server in enumerate(self._servers):
            threading.Thread(target=self._accept, args=(asker, server), daemon=True).start()

    def close(self) -> None:
        """Refuse new connections and cut the open ones."""
        with self._lock:
            self._is_over = True
            left = [*self._servers, *self._connections]
        for each in left:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self, asker: int, server: socket.socket) -> None:
        while True:
            try:
                connection, _ = server.accept()
            except OSError:
                return
            with self._lock:
                if self._is_over:
                    connection.close()
                    return
                self._connections.add(connection)
            threading.Thread(target=self._answer, args=(asker, connection), daemon=True).start()

    def _answer(self, asker: int, connection: socket.socket) -> None:
        try:
            with connection:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                while (frame := receive_frame(connection)) is not None:
                    answer = self._serve(asker, frame)
                    if answer is None:
                        return
                    send_frame(connection, answer)
        except OSError:
            return  # The asker is gone, or all is over.
        except Exception as problem:
            self._failed(problem)
        finally:
            with self._lock:
                self._connections.discard(connection)


INVALID_UPDATE_VERSION, INELIGIBLE_REPLICA, NEW_LEADER_ELECTED = 95, 107, 120
_WITH_ELR = 23
"""The first metadata.version (4.0-IV1) whose partition records have version 2."""
_TOPIC_SETTING = 2
"""The type of a ConfigRecord that is of a topic."""


def _everybody_finds(reader: int, broker: int, port: int) -> int:
    return port


def _ignore(which: str, body: Any) -> None:
    """Ignore a message."""


NO_BROKER = 999
"""The number of a broker that there is not."""


class ScriptedController(QuorumState):
    """The controller of one partition at a time. A context manager.

    It is the state that its threads share, with what the script decides. `find` returns the port
    where a reader finds a broker: its own, or that of a proxy between them. `watch` receives the
    brokers' requests, except the constant ones, and the answers.
    """

    def __init__(
        self,
        definitions: Definitions,
        brokers: int,
        *,
        with_eligible_leader_replicas: bool = False,
        find: Find = _everybody_finds,
        watch: Watch = _ignore,
    ) -> None:
        super().__init__(
            definitions,
            brokers,
            with_eligible_leader_replicas=with_eligible_leader_replicas,
            find=find,
            watch=watch,
        )
        self._ports = Ports(brokers, functools.partial(answer_frame, self), self.fail)

    def __enter__(self) -> ScriptedController:
        return self

    def __exit__(self, *_: object) -> None:
        with self.changed:
            self.is_over = True
            self.changed.notify_all()
        self._ports.close()

    @property
    def ports(self) -> list[int]:
        """The port of each broker."""
        return self._ports.numbers

    @property
    def end(self) -> int:
        """The end of the metadata log."""
        with self.changed:
            return self.log.end

    @property
    def partition(self) -> PartitionImage:
        """The partition as it was decided last. Raises `ValueError` before there is a topic."""
        if self.image is None:
            raise ValueError("the scripted controller has no topic yet")
        return self.image

    def broker(self, broker: int) -> BrokerImage:
        """Return the controller's view of a broker."""
        return self.brokers[broker]

    # What brokers may know.

    def reveal(self, broker: int, end: int) -> None:
        """Let the broker read the log up to `end`, never less than before."""
        with self.changed:
            known = self.brokers[broker]
            known.may_know = max(end, known.may_know or 0)
            self.changed.notify_all()

    def hold_all(self) -> None:
        """Let no broker read anything that is not revealed to it."""
        with self.changed:
            for known in self.brokers:
                known.may_know = self.log.end

    def has_applied(self, broker: int, end: int) -> bool:
        """True if the broker has acted on the log up to `end`, as its heartbeat says."""
        return self.brokers[broker].applied >= end - 1

    # What is decided.

    def create_topic(
        self, name: str, replicas: Sequence[int], leader: int, settings: Mapping[str, str]
    ) -> int:
        """A topic of one partition, its replicas in sync, led in epoch 0; the log's end after."""
        with self.changed:
            self.topic_id = topic_id = uuid.uuid4()
            directories = [self._first_directory(each) for each in replicas]
            self.image = PartitionImage(
                leader, 0, 0, list(replicas), Assignment(tuple(replicas)), directories
            )
            records = [MetadataRecord("TopicRecord", 0, {"name": name, "topic_id": topic_id})]
            records += [
                MetadataRecord(
                    "ConfigRecord",
                    0,
                    {
                        "resource_type": _TOPIC_SETTING,
                        "resource_name": name,
                        "name": setting,
                        "value": value,
                    },
                )
                for setting, value in settings.items()
            ]
            records.append(self._partition_record(topic_id, 0, replicas, leader, directories))
            return self.append(records)

    def _partition_record(
        self,
        topic_id: uuid.UUID,
        index: int,
        replicas: Sequence[int],
        leader: int,
        directories: Sequence[uuid.UUID],
    ) -> MetadataRecord:
        """The record of a new partition, whose replicas are in sync."""
        values = {
            "partition_id": index,
            "topic_id": topic_id,
            "replicas": list(replicas),
            "isr": list(replicas),
            "leader": leader,
            "leader_epoch": 0,
            "partition_epoch": 0,
            "directories": directories,
        }
        return MetadataRecord(PARTITION, self._partition_version, values)

    def _first_directory(self, broker: int) -> uuid.UUID:
        return (self.brokers[broker].log_dirs or [NO_UUID])[0]

    def create_unhosted_topic(self, name: str, topic_id: uuid.UUID, partitions: int) -> int:
        """A topic whose replicas are on a broker that there is not; the log's end after it."""
        with self.changed:
            records = [MetadataRecord("TopicRecord", 0, {"name": name, "topic_id": topic_id})]
            records += [
                self._partition_record(topic_id, each, [NO_BROKER], NO_LEADER, [NO_UUID])
                for each in range(partitions)
            ]
            return self.append(records)

    def remove_topic(self) -> int:
        """The topic is deleted; the log's end after that."""
        values = {"topic_id": self.topic_id}
        return self.append([MetadataRecord("RemoveTopicRecord", 0, values)])

    @property
    def _partition_version(self) -> int:
        return 2 if self.metadata_version >= _WITH_ELR else 1

    def change(
        self,
        *,
        leader: int | None = None,
        isr: Sequence[int] | None = None,
        elr: Sequence[int] | None = None,
        assignment: Assignment | None = None,
        is_recovered: bool = False,
        beside: Sequence[MetadataRecord] = (),
    ) -> int:
        """Change the partition in one batch with the given records; return the log's end after it.

        Arguments that are None stay. A given leader raises the leader epoch, even the same leader
        (PartitionRegistration.merge). A leader from outside the ISR and the ELR is recovering until
        a change with `is_recovered` (KIP-704).
        """
        with self.changed:
            now = self.partition
            values: dict[str, Any] = {"partition_id": 0, "topic_id": self.topic_id}
            if leader not in {None, NO_LEADER, *now.isr, *now.elr}:
                if not now.is_recovering:
                    values["leader_recovery_state"] = 1
                now.is_recovering = True
            elif is_recovered and now.is_recovering:
                values["leader_recovery_state"] = 0
                now.is_recovering = False
            if leader is not None:
                values["leader"] = now.leader = leader
                now.leader_epoch += 1
            if isr is not None:
                values["isr"] = now.isr = list(isr)
            if elr is not None:
                values["eligible_leader_replicas"] = now.elr = list(elr)
            if assignment is not None:
                values |= self._values_of(assignment)
            now.epoch += 1
            record = MetadataRecord(PARTITION_CHANGE, self._partition_version, values)
            return self.append([*beside, record])

    def _values_of(self, assignment: Assignment) -> dict[str, Any]:
        """Fields of a change of replicas: who stays keeps its directory."""
        now = self.partition
        kept = dict(zip(now.assignment.replicas, now.directories, strict=True))
        now.assignment = assignment
        now.directories = [
            kept[each] if each in kept else self._first_directory(each)
            for each in assignment.replicas
        ]
        return {
            "replicas": list(assignment.replicas),
            "adding_replicas": list(assignment.adding),
            "removing_replicas": list(assignment.removing),
            "directories": now.directories,
        }

    def fencing(self, broker: int, *, is_fenced: bool) -> MetadataRecord:
        """The record that fences a broker or ends that; its next heartbeat is answered so."""
        with self.changed:
            known = self.brokers[broker]
            known.is_fenced = is_fenced
            fenced = 1 if is_fenced else -1  # 0 is no change.
            return self._registration_change(broker, {"fenced": fenced})

    def stopping(self, broker: int) -> MetadataRecord:
        """The record that a broker is in its controlled shutdown."""
        return self._registration_change(broker, {"in_controlled_shutdown": 1})

    def _registration_change(self, broker: int, change: Mapping[str, int]) -> MetadataRecord:
        values = {"broker_id": broker, "broker_epoch": self.brokers[broker].epoch, **change}
        return MetadataRecord(REGISTRATION_CHANGE, 2, values)

    def let_shut_down(self, broker: int) -> None:
        """The broker's next heartbeat that asks to shut down is answered that it may."""
        self.brokers[broker].may_shut_down = True

    # What leaders ask.

    def asked_by(self, broker: int) -> list[AlterRequest]:
        """The broker's requests to change the ISR that wait for an answer, the oldest first."""
        with self.changed:
            return [each for each in self.asked if each.broker == broker]

    def is_outdated(self, asked: AlterRequest) -> bool:
        """True if the request is of a state of the partition that is no more."""
        epochs = asked.partition.leader_epoch, asked.partition.partition_epoch
        return epochs != (self.partition.leader_epoch, self.partition.epoch)

    def answer(self, asked: AlterRequest) -> None:
        """The leader hears what the partition is now, or that another leads by its request."""
        now = self.partition
        if now.leader != asked.broker:
            self.refuse(asked, NEW_LEADER_ELECTED)
            return
        self._answer(
            asked,
            {
                "error_code": 0,
                "leader_id": now.leader,
                "leader_epoch": now.leader_epoch,
                "isr": now.isr,
                "leader_recovery_state": int(now.is_recovering),
                "partition_epoch": now.epoch,
            },
        )

    def refuse(self, asked: AlterRequest, code: int) -> None:
        """The leader hears an error."""
        self._answer(asked, {"error_code": code})

    def lose(self, asked: AlterRequest) -> None:
        """The connection breaks; the leader asks again."""
        with self.changed:
            asked.is_lost = True
            self.changed.notify_all()

    def refusal(self, asked: AlterRequest) -> int:
        """Return the error of Kafka's controller for this request, 0 if it would agree.

        (ReplicationControlManager.validateAlterPartitionData)
        """
        now, partition = self.partition, asked.partition
        if partition.leader_epoch != now.leader_epoch or asked.broker != now.leader:
            return FENCED_LEADER_EPOCH
        if partition.partition_epoch != now.epoch:
            return INVALID_UPDATE_VERSION
        if any(self.broker(member).is_fenced for member in asked.isr):
            return INELIGIBLE_REPLICA
        for each in partition.get("new_isr_with_epochs", ()):
            if each.broker_epoch not in {-1, self.broker(each.broker_id).epoch}:
                return INELIGIBLE_REPLICA
        return 0

    def _answer(self, asked: AlterRequest, partition: Mapping[str, Any]) -> None:
        with self.changed:
            asked.answer = partition
            self.changed.notify_all()
