"""KRaft brokers with a real controller: started, paused, killed.

No decision is made for them. Elections are asked for through the Admin API, and what a broker is
not to hear of it misses because it stands still (SIGSTOP). Nothing between brokers is held; between
them and the controller a gate can hold AlterPartition, by which a leader asks to change the ISR.
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from waterline.checker.kafka.confirm.brokers import free_ports, name_of
from waterline.checker.kafka.confirm.decisions import TOPIC
from waterline.checker.kafka.confirm.definitions import definitions_in
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer
from waterline.checker.kafka.confirm.kraft.brokers import cluster_id
from waterline.checker.kafka.confirm.observing import (
    DEBUGGING_CONSUMER,
    DEBUGGING_FETCH,
    fetch,
    read_epochs,
)
from waterline.checker.kafka.confirm.processes import Processes
from waterline.checker.kafka.confirm.proxy import Link, listens, wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stage import PRODUCE_SECONDS_MAX
from waterline.checker.kafka.confirm.wire import (
    ALTER_PARTITION,
    ALTER_REPLICA_LOG_DIRS,
    HOST,
    PRODUCE,
    Pending,
    Record,
    call,
    error_name,
    one_record,
    reader_of,
    records_in,
)

BROKERS = 3
CONTROLLER = "controller"
START_SECONDS_MAX = 90.0
ASK_SECONDS = 30.0
CONTROLLER_ADVERTISES = (3, 9)
"""The first release whose controller may have an advertised listener (KIP-853)."""
END_SECONDS = 4.0
"""How long a broker that shuts down has to give up leadership before it is killed."""
TIMEOUT_MS = 180_000
RAISED = {
    "broker.session.timeout.ms": TIMEOUT_MS,
    "broker.heartbeat.interval.ms": 500,
    "replica.lag.time.max.ms": TIMEOUT_MS,
}
"""Sessions and lag out of the experiment's reach; docs/losses.md has what happens without that."""

_METADATA, _CREATE_TOPICS, _ELECT_LEADERS = 3, 19, 43
_CHANGE_CONFIGS, _REASSIGN, _LIST_REASSIGNMENTS, _DESCRIBE_PARTITIONS = 44, 45, 46, 75
TOPIC_CONFIG, BROKER_CONFIG = 2, 4
"""Kinds of resources that `KraftCluster.configure` takes."""
_SET = 0
_CONTROLLER_ID = 3000


class KraftCluster:
    """One controller and some brokers, started by `started`.

    With a `gate` brokers find the controller behind it: it is made for the controller's port. Each
    broker has so many log `directories`, and its rack of `racks`, if there are any.
    """

    def __init__(
        self,
        folder: Path,
        processes: Processes,
        timeouts: Mapping[str, int],
        *,
        brokers: int = BROKERS,
        directories: int = 1,
        racks: Sequence[str] = (),
        gate: Callable[[int], Link] | None = None,
        advertises: bool = False,
    ) -> None:
        self._folder = folder
        self._processes = processes
        self.replicas = range(brokers)
        self._lines: dict[int, list[str]] = {}
        self._directories: dict[int, list[Path]] = {}
        controller, *self.ports = free_ports(1 + brokers)
        self.gate = gate(controller) if gate is not None else None
        found_at = controller if self.gate is None else self.gate.port
        shared = _shared(found_at, timeouts)
        lines = [*shared, "process.roles=controller", f"node.id={_CONTROLLER_ID}"]
        lines += [
            f"listeners=CONTROLLER://{HOST}:{controller}",
            f"log.dirs={self._folder / f'data-{CONTROLLER}'}",
        ]
        if advertises:
            lines.append(f"advertised.listeners=CONTROLLER://{HOST}:{found_at}")
        self._write(CONTROLLER, lines)
        for broker in self.replicas:
            at = f"PLAINTEXT://{HOST}:{self.ports[broker]}"
            lines = [*shared, "process.roles=broker", f"node.id={broker}", f"listeners={at}"]
            lines += [f"broker.rack={racks[broker]}"] if racks else []
            self._lines[broker] = [*lines, f"advertised.listeners={at}"]
            data = self._folder / f"data-{name_of(broker)}"
            others = [data.with_name(f"{data.name}-{number}") for number in range(1, directories)]
            self._set_directories(broker, [data, *others])

    def start(self) -> None:
        """Format every disk and start everybody; wait until all brokers are known."""
        cluster = cluster_id(uuid.uuid4())
        names = [CONTROLLER, *map(name_of, self.replicas)]
        for name in names:
            self._processes.run(
                "kafka.tools.StorageTool", "format", "-t", cluster, "-c", str(self._file(name))
            )
        for name in names:
            self._processes.start(name, "kafka.Kafka", str(self._file(name)))

        def are_there() -> bool:
            for name in names:
                self._processes.require(name)
            if not all(map(listens, self.ports)):
                return False
            with contextlib.suppress(NoAnswer):
                return len(self._metadata(0).brokers) == len(self.replicas)
            return False

        if not wait_until(are_there, START_SECONDS_MAX, every=0.3):
            text = "; ".join(f"{name}: {self._processes.last_lines(name)}" for name in names)
            raise BrokerFailed(f"the brokers did not find each other: {text}")

    # The Admin API.

    def create_topic(
        self, leader_first: Sequence[int], min_insync_replicas: int, *, partitions: int = 1
    ) -> None:
        """A topic whose partitions have these replicas, and are led by the first of them."""
        assigned = [
            {"partition_index": index, "broker_ids": list(leader_first)}
            for index in range(partitions)
        ]
        topic = {
            "name": TOPIC,
            "num_partitions": -1,
            "replication_factor": -1,
            "assignments": assigned,
            "configs": [{"name": "min.insync.replicas", "value": str(min_insync_replicas)}],
        }
        answer = self._ask(0, _CREATE_TOPICS, 5, {"topics": [topic]})
        _require(answer.topics[0].error_code, "CreateTopics")
        self._await_leader(0, leader_first[0])

    def prefer(self, broker: int, others: Sequence[int], *, ask: int = 0) -> None:
        """The same replicas in another order: who is preferred changes, who leads does not."""
        wanted = [broker, *others]
        if refusal := self.reassign({0: wanted}, ask=ask):
            raise BrokerFailed(f"AlterPartitionReassignments was refused: {refusal}")

        def is_done() -> bool:
            return list(self._partition(ask).replica_nodes) == wanted

        if not wait_until(is_done, ASK_SECONDS):
            raise BrokerFailed(f"the assignment did not become {wanted}")

    def reassign(self, wanted: Mapping[int, Sequence[int] | None], *, ask: int) -> str:
        """Ask for other replicas, by partition, or (None) cancel; why not, "" where it is taken."""
        partitions = [
            {"partition_index": index, "replicas": None if replicas is None else tuple(replicas)}
            for index, replicas in wanted.items()
        ]
        values = {"topics": [{"name": TOPIC, "partitions": partitions}]}
        answer = self._ask(ask, _REASSIGN, 0, values)
        codes = [each.error_code for each in answer.responses[0].partitions]
        return ", ".join(error_name(code).upper() for code in codes if code)

    def reassignments(self, ask: int) -> list[Any]:
        """Return the reassignments under way: replicas, those added and removed, by partition."""
        answer = self._ask(ask, _LIST_REASSIGNMENTS, 0, {"topics": None})
        return [partition for topic in answer.topics for partition in topic.partitions]

    def descriptions(self, ask: int) -> list[Any]:
        """Return each partition as broker `ask` describes it, with its ELR. Raises `NoAnswer`."""
        values = {"topics": [{"name": TOPIC}], "response_partition_limit": 100, "cursor": None}
        answer = self._ask(ask, _DESCRIBE_PARTITIONS, 0, values)
        return sorted(answer.topics[0].partitions, key=lambda each: each.partition_index)

    def configure(self, kind: int, name: str, key: str, value: str, *, ask: int) -> None:
        """Set a dynamic configuration of a topic, or of the broker that is asked."""
        change = {"name": key, "config_operation": _SET, "value": value}
        resource = {"resource_type": kind, "resource_name": name, "configs": [change]}
        answer = self._ask(ask, _CHANGE_CONFIGS, 1, {"resources": [resource]})
        _require(answer.responses[0].error_code, "IncrementalAlterConfigs")

    def elect_preferred(self, ask: int) -> None:
        """Make the preferred replica leader; `ask` is a broker that runs."""
        values = {"topic_partitions": [{"topic": TOPIC, "partitions": [0]}]}
        answer = self._ask(ask, _ELECT_LEADERS, 2, values)
        _require(answer.error_code, "ElectLeaders")

    def leads(self, ask: int, broker: int, seconds: float, *, every: float = 0.2) -> bool:
        """True if `ask` comes to know this broker as leader, in so many seconds."""

        def is_leader() -> bool:
            with contextlib.suppress(NoAnswer):
                return bool(self._partition(ask).leader_id == broker)
            return False

        return wait_until(is_leader, seconds, every=every)

    def leader_and_isr(self, ask: int) -> tuple[int, list[int]]:
        """What `ask` knows of the partition. Raises `NoAnswer`."""
        partition = self._partition(ask)
        return partition.leader_id, list(partition.isr_nodes)

    def lives(self, ask: int, broker: int) -> bool:
        """True if `ask` knows this broker as one that is not fenced. Raises `NoAnswer`."""
        return broker in {each.node_id for each in self._metadata(ask).brokers}

    def _await_leader(self, ask: int, broker: int) -> None:
        if not self.leads(ask, broker, ASK_SECONDS):
            raise BrokerFailed(f"r{broker} did not become leader of the topic")

    def _partition(self, ask: int) -> Any:
        text = self._metadata(ask).topics[0]
        if not text.partitions:
            raise NoAnswer(f"r{ask} does not know the topic yet")
        return text.partitions[0]

    def _metadata(self, ask: int) -> Any:
        return self._ask(ask, _METADATA, 9, {"topics": [{"name": TOPIC}]})

    def _ask(self, broker: int, key: int, version: int, values: dict[str, Any]) -> Any:
        patience = {"timeout_ms": int(ASK_SECONDS * 1000)}
        return call(self.ports[broker], key, version, values | patience, seconds=ASK_SECONDS)

    # Brokers, records.

    def pause(self, broker: int) -> None:
        """SIGSTOP."""
        self._processes.pause(name_of(broker))

    def resume(self, broker: int) -> None:
        """SIGCONT."""
        self._processes.resume(name_of(broker))

    def pause_controller(self) -> None:
        """SIGSTOP."""
        self._processes.pause(CONTROLLER)

    def resume_controller(self) -> None:
        """SIGCONT."""
        self._processes.resume(CONTROLLER)

    def end(self, broker: int) -> None:
        """A controlled shutdown, in which leadership moves; what then is left of it is killed."""
        self._processes.ask_to_end(name_of(broker))
        wait_until(lambda: not self._processes.runs(name_of(broker)), END_SECONDS)
        self._processes.kill(name_of(broker))

    def ask_to_end(self, broker: int) -> None:
        """Begin a controlled shutdown; nobody waits for its end."""
        self._processes.ask_to_end(name_of(broker))

    def kill(self, broker: int) -> None:
        """End it by kill -9."""
        self._processes.kill(name_of(broker))

    def start_again(self, broker: int) -> None:
        """Start a broker that was ended; nobody waits until it is there."""
        self._processes.start(name_of(broker), "kafka.Kafka", str(self._file(name_of(broker))))

    def is_up(self, broker: int) -> bool:
        """True if its process is there; one that stands still is."""
        return self._processes.runs(name_of(broker))

    def produce(
        self,
        leader: int,
        record: bytes,
        *,
        partition: int = 0,
        producer: int = -1,
        timeout_seconds: float = PRODUCE_SECONDS_MAX,
    ) -> Pending:
        """Send a record with acks=all; the answer is waited for in the background.

        With the number of an idempotent `producer` it can be sent once more. The leader answers
        REQUEST_TIMED_OUT after `timeout_seconds`.
        """
        batch = one_record(record, magic=2, producer=producer)
        values = {
            "acks": -1,
            "timeout_ms": int(timeout_seconds * 1000),
            "topic_data": [
                {"name": TOPIC, "partition_data": [{"index": partition, "records": batch}]}
            ],
        }
        return Pending(self.ports[leader], PRODUCE, 3, values, seconds=PRODUCE_SECONDS_MAX)

    def high_watermark(self, broker: int) -> str:
        """What a debugging consumer is told of it; "no answer" where nobody answers."""
        try:
            text = fetch(self.ports[broker], DEBUGGING_CONSUMER, DEBUGGING_FETCH)
        except NoAnswer:
            return "no answer"
        return str(text.high_watermark) if not text.error_code else error_name(text.error_code)

    def log(self, broker: int, partition: int = 0, *, topic: str = TOPIC) -> list[Record]:
        """The broker's records, from its segments."""
        segments = sorted(self._log_folder(broker, partition, topic).glob("*.log"))
        return records_in(b"".join(segment.read_bytes() for segment in segments))

    def epochs(self, broker: int) -> list[tuple[int, int]]:
        """The broker's epoch cache, from its file."""
        return read_epochs(self._log_folder(broker) / "leader-epoch-checkpoint")

    def has_log(self, broker: int, partition: int = 0) -> bool:
        """True if the broker has a log of the partition that is not being deleted."""
        return self._log_folder(broker, partition).exists()

    def move_log(self, broker: int) -> None:
        """Ask a broker to copy its log to its other directory, and to use the copy then."""
        here = self._log_folder(broker).parent
        [there] = (each for each in self._directories[broker] if each != here)
        moved = {"topics": [{"name": TOPIC, "partitions": [0]}], "path": str(there)}
        answer = self._ask(broker, ALTER_REPLICA_LOG_DIRS, 1, {"dirs": [moved]})
        _require(answer.results[0].partitions[0].error_code, "AlterReplicaLogDirs")

    def future_log_bytes(self, broker: int) -> int:
        """The size of the copy that is being made, 0 without one."""
        folders = [
            folder
            for directory in self._directories[broker]
            for folder in directory.glob(f"{TOPIC}-0.*-future")
        ]
        return sum(file.stat().st_size for folder in folders for file in folder.glob("*.log"))

    def take_directory(self, broker: int) -> str:
        """Take the directory with the log out of log.dirs of a broker that is down; its name."""
        taken = self._log_folder(broker).parent
        left = [each for each in self._directories[broker] if each != taken]
        self._set_directories(broker, left)
        return taken.name

    def _log_folder(self, broker: int, partition: int = 0, topic: str = TOPIC) -> Path:
        folders = [each / f"{topic}-{partition}" for each in self._directories[broker]]
        return next((folder for folder in folders if folder.exists()), folders[0])

    def _set_directories(self, broker: int, directories: list[Path]) -> None:
        self._directories[broker] = directories
        log_dirs = f"log.dirs={','.join(map(str, directories))}"
        self._write(name_of(broker), [*self._lines[broker], log_dirs])

    def _file(self, name: str) -> Path:
        return self._folder / f"{name}.properties"

    def _write(self, name: str, lines: Sequence[str]) -> None:
        self._file(name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _shared(controller_port: int, timeouts: Mapping[str, int]) -> list[str]:
    return [
        f"controller.quorum.voters={_CONTROLLER_ID}@{HOST}:{controller_port}",
        "controller.listener.names=CONTROLLER",
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "auto.leader.rebalance.enable=false",
        "auto.create.topics.enable=false",
        "unclean.leader.election.enable=false",
        "offsets.topic.replication.factor=1",
        "log.cleaner.enable=false",
        "log.retention.ms=-1",
        *(f"{name}={value}" for name, value in timeouts.items()),
    ]


def _require(code: Any, what: str) -> None:
    if code:
        raise BrokerFailed(f"{what} was refused: {error_name(code)}")


@contextlib.contextmanager
def started(
    folder: Path,
    jars: Sequence[Path],
    announce: Callable[[str], None],
    *,
    timeouts: Mapping[str, int] = RAISED,
    brokers: int = BROKERS,
    directories: int = 1,
    racks: Sequence[str] = (),
) -> Iterator[KraftCluster]:
    """A cluster in `folder`; when the block is left no process of it is.

    `timeouts` are settings of the servers, by name; what is not among them is Kafka's default.
    """
    with Processes(folder, jars) as processes:
        cluster = KraftCluster(
            folder, processes, timeouts, brokers=brokers, directories=directories, racks=racks
        )
        announce(f"starting a controller and {brokers} brokers")
        cluster.start()
        yield cluster


@contextlib.contextmanager
def started_behind_gate(
    folder: Path,
    release: KafkaRelease,
    jars: Sequence[Path],
    announce: Callable[[str], None],
    *,
    brokers: int,
    timeouts: Mapping[str, int],
) -> Iterator[tuple[KraftCluster, Link]]:
    """As `started`, and the gate at which every AlterPartition waits, and every answer to it.

    From 3.9 on the controller tells brokers where it is to be found: at the gate.
    """
    conversation = folder / "conversation.txt"
    began = time.monotonic()

    def watch(who: str, body: object) -> None:
        with conversation.open("a", encoding="utf-8") as file:
            file.write(f"{time.monotonic() - began:8.3f} {who}: {body}\n")

    def gate(port: int) -> Link:
        held = frozenset({ALTER_PARTITION})
        reader = reader_of(definitions_in(jars))
        return Link("the leader", "the controller", port, watch, held=held, reader=reader)

    with Processes(folder, jars) as processes:
        cluster = KraftCluster(
            folder,
            processes,
            timeouts,
            brokers=brokers,
            gate=gate,
            advertises=release.at_least(*CONTROLLER_ADVERTISES),
        )
        assert cluster.gate is not None
        try:
            announce(f"starting a controller and {brokers} brokers")
            cluster.start()
            yield cluster, cluster.gate
        finally:
            cluster.gate.close()
