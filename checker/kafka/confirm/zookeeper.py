"""A cluster with ZooKeeper, whose controller is the harness: brokers up to 3.9.

The harness holds the node /controller, so that no broker becomes controller, writes the partition's
state, and sends each broker what it is to know, when the trace says so (UpdateMetadata,
LeaderAndIsr, StopReplica). A decision that a broker has not
learned is one that was not sent. What the leader writes itself, the ISR, is left to it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from waterline.checker.kafka.confirm.brokers import (
    START_SECONDS_MAX,
    Brokers,
    BrokerSettings,
    free_ports,
    shared_lines,
)
from waterline.checker.kafka.confirm.decisions import TOPIC, Decision
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer, NotInstalled
from waterline.checker.kafka.confirm.processes import Processes
from waterline.checker.kafka.confirm.proxy import listens, wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stage import GRACE_SECONDS, NotHeld, Stage, StepFailed
from waterline.checker.kafka.confirm.wire import (
    HOST,
    LEADER_AND_ISR,
    STOP_REPLICA,
    UPDATE_METADATA,
    Pending,
    call,
    error_name,
)

try:
    from kazoo.client import KazooClient
    from kazoo.exceptions import KazooException, NoNodeError
    from kazoo.handlers.threading import KazooTimeoutError
except ModuleNotFoundError as missing:
    raise NotInstalled(missing.name) from None

logging.getLogger("kazoo").addHandler(logging.NullHandler())
# What it says of a server that is not up yet would come among the report.
logging.getLogger("kazoo").propagate = False

HARNESS_ID = 99
"""The number of the broker that the harness would be, were it one."""
SESSION_SECONDS = 60.0
ANSWER_SECONDS_MAX = 40.0
CONNECT_SECONDS = 10.0

_CONTROLLER_EPOCH = 1
_OFFICE = {"controller_id": HARNESS_ID, "controller_epoch": _CONTROLLER_EPOCH}


@dataclass(slots=True)
class ZookeeperController:
    """The controller of one partition at a time with these replicas. A context manager."""

    zookeeper_port: int
    replicas: Sequence[int]
    topic: str = TOPIC
    decisions: dict[int, Decision] = field(default_factory=dict)
    """The last decision of each epoch."""
    _zookeeper: Any = None

    def __exit__(self, *_: object) -> None:
        if self._zookeeper is not None:
            self._zookeeper.stop()
            self._zookeeper.close()

    def __enter__(self) -> ZookeeperController:
        return self

    def take_office(self, seconds: float) -> None:
        """Connect to ZooKeeper, as soon as it is up, and become controller."""
        end = time.monotonic() + seconds
        while True:
            client = KazooClient(f"{HOST}:{self.zookeeper_port}", timeout=SESSION_SECONDS)
            try:
                client.start(timeout=CONNECT_SECONDS)
                break
            except KazooTimeoutError:
                client.stop()
                client.close()
                if time.monotonic() > end:
                    raise BrokerFailed(
                        f"ZooKeeper does not answer on port {self.zookeeper_port}"
                    ) from None
        self._zookeeper = client
        client.create("/controller_epoch", str(_CONTROLLER_EPOCH).encode())
        office = {"version": 1, "brokerid": HARNESS_ID, "timestamp": "1"}
        client.create("/controller", json.dumps(office).encode(), ephemeral=True)

    def create_topic(
        self, leader: int, settings: Mapping[str, str], replicas: Sequence[int]
    ) -> None:
        """The topic, with everybody in sync and this leader in epoch 0; with topic settings."""
        if list(replicas) != list(self.replicas):
            raise NotHeld("with ZooKeeper every broker has a replica from the start")
        assignment = {"version": 1, "partitions": {"0": list(self.replicas)}}
        if settings:
            written = {"version": 1, "config": dict(settings)}
            self._create(f"/config/topics/{self.topic}", written)
        self._create(f"/brokers/topics/{self.topic}", assignment)
        self._zookeeper.create(self._state_node, _state(leader, 0, self.replicas), makepath=True)
        self.decisions = {0: self.current()}

    @property
    def _state_node(self) -> str:
        return f"/brokers/topics/{self.topic}/partitions/0/state"

    def _create(self, node: str, text: Mapping[str, Any]) -> None:
        self._zookeeper.create(node, json.dumps(text).encode(), makepath=True)

    def decide(self, leader: int, epoch: int, isr: Sequence[int]) -> None:
        """Write a decision; leader -1 means none. Brokers do not learn of it yet."""
        self._zookeeper.set(self._state_node, _state(leader, epoch, isr))
        self.decisions[epoch] = self.current()

    def current(self) -> Decision:
        """The partition's state as ZooKeeper has it, a leader's change of the ISR included."""
        text, node = self._zookeeper.get(self._state_node)
        state = json.loads(text)
        decision = Decision(
            state["leader"],
            state["leader_epoch"],
            tuple(sorted(state["isr"])),
            node.version,
            tuple(self.replicas),
        )
        self.decisions[decision.epoch] = decision
        return decision

    def is_registered(self, broker: int) -> bool:
        """True if the broker has a session."""
        return self._zookeeper.exists(f"/brokers/ids/{broker}") is not None

    def end_session(self, broker: int) -> None:
        """Delete a dead broker's node as the end of its session would, without the wait for it."""
        try:
            self._zookeeper.delete(f"/brokers/ids/{broker}")
        except NoNodeError:
            return
        except KazooException as problem:
            raise BrokerFailed(f"ZooKeeper did not end r{broker}'s session: {problem}") from None

    def update_metadata(self, port: int, decision: Decision, ports: Mapping[int, int]) -> None:
        """Tell a broker who is alive, and where it finds them."""
        endpoints = [
            {"id": broker, "endpoints": [{"host": HOST, "port": at}]}
            for broker, at in sorted(ports.items())
        ]
        values = {
            **_OFFICE,
            "ungrouped_partition_states": [self._partition(decision)],
            "live_brokers": endpoints,
        }
        answer = call(port, UPDATE_METADATA, 2, values, seconds=ANSWER_SECONDS_MAX)
        if answer.error_code:
            raise NoAnswer(f"a broker refused UpdateMetadata: {error_name(answer.error_code)}")

    def lead_or_follow(self, port: int, decision: Decision, ports: Mapping[int, int]) -> Pending:
        """Send the decision to a broker; the answer comes when it has taken it up."""
        leaders = [
            {"broker_id": decision.leader, "host_name": HOST, "port": ports[decision.leader]}
            for _ in range(decision.leader in ports)
        ]
        values = {
            **_OFFICE,
            "ungrouped_partition_states": [self._partition(decision)],
            "live_leaders": leaders,
        }
        return Pending(port, LEADER_AND_ISR, 0, values, seconds=ANSWER_SECONDS_MAX)

    def stop_replica(self, port: int, *, delete: bool = False) -> Pending:
        """Tell a broker to stop fetching, as before its controlled shutdown, or to forget the topic
        and remove its files.
        """
        values = {
            **_OFFICE,
            "delete_partitions": delete,
            "ungrouped_partitions": [{"topic_name": self.topic, "partition_index": 0}],
        }
        return Pending(port, STOP_REPLICA, 0, values, seconds=ANSWER_SECONDS_MAX)

    def _partition(self, decision: Decision) -> dict[str, Any]:
        return {
            "topic_name": self.topic,
            "partition_index": 0,
            "controller_epoch": _CONTROLLER_EPOCH,
            "leader": decision.leader,
            "leader_epoch": decision.epoch,
            "isr": list(decision.isr),
            "partition_epoch": decision.version,
            "replicas": list(self.replicas),
        }


def _state(leader: int, epoch: int, isr: Sequence[int]) -> bytes:
    return json.dumps(
        {
            "controller_epoch": _CONTROLLER_EPOCH,
            "leader": leader,
            "version": 1,
            "leader_epoch": epoch,
            "isr": list(isr),
        }
    ).encode()


SESSION_MS = 60_000
"""Long, so that a busy machine ends none: the harness ends those of brokers that it kills."""
ZOOKEEPER = "zookeeper"
_ZOOKEEPER_SECONDS = 0.2
"""Maximum time from the line in its log until ZooKeeper serves."""


class ZookeeperBrokers(Brokers):
    """Brokers of a release that find each other in a ZooKeeper of their own."""

    def __init__(
        self,
        release: KafkaRelease,
        number: int,
        settings: BrokerSettings,
        folder: Path,
        processes: Processes,
    ) -> None:
        self.zookeeper_port, *ports = free_ports(number + 1)
        super().__init__(folder, processes, ports, settings.log_directories)
        for broker in range(number):
            self.configure(broker, _lines(release, settings, broker, self))

    def start_zookeeper(self) -> None:
        """Start ZooKeeper and wait until it has read its data.

        A connection between its listening and that breaks it permanently: it stops answering.
        """
        file = self._folder / "zookeeper.properties"
        file.write_text(
            f"dataDir={self._folder}/zookeeper\nclientPort={self.zookeeper_port}\n"
            f"clientPortAddress={HOST}\nmaxClientCnxns=0\ntickTime=500\n"
            "maxSessionTimeout=120000\nadmin.enableServer=false\n",
            encoding="utf-8",
        )
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        self._processes.start(ZOOKEEPER, main, str(file))
        wait_until(lambda: _has_read(self._processes.output(ZOOKEEPER)), START_SECONDS_MAX)
        time.sleep(_ZOOKEEPER_SECONDS)

    def await_registered(self, broker: int, controller: ZookeeperController) -> None:
        """Wait until the broker has registered. Raises `BrokerFailed`."""

        def is_there() -> bool:
            self.require(broker)
            # Later releases register before they listen.
            return controller.is_registered(broker) and listens(self.ports[broker])

        if not wait_until(is_there, START_SECONDS_MAX, every=0.1):
            raise BrokerFailed(
                f"r{broker} did not register within {START_SECONDS_MAX:.0f} s; "
                f"{self.last_lines(broker)}"
            )


def _has_read(said: str) -> bool:
    """True if ZooKeeper's log says that it has read its data, or, in 3.4, that it listens."""
    if "zookeeper.version=3.4" in said:
        return "binding to port" in said
    return "Snapshotting" in said


def _lines(
    release: KafkaRelease, settings: BrokerSettings, broker: int, brokers: ZookeeperBrokers
) -> list[str]:
    unclean = str(settings.unclean_leader_election).lower()
    lines = [
        f"broker.id={broker}",
        f"listeners=PLAINTEXT://{HOST}:{brokers.ports[broker]}",
        f"zookeeper.connect={HOST}:{brokers.zookeeper_port}",
        f"zookeeper.session.timeout.ms={SESSION_MS}",
        "auto.leader.rebalance.enable=false",
        "controlled.shutdown.enable=false",
        f"unclean.leader.election.enable={unclean}",
        *shared_lines(settings, brokers.directories(broker)),
    ]
    if release.at_least(1, 1):
        # Without sessions every fetch and every answer names the partition, changed or not.
        lines.append("max.incremental.fetch.session.cache.slots=0")
    if release.spoken:
        lines.append(f"inter.broker.protocol.version={release.spoken}")
    return lines


class ZookeeperStage(Stage):
    """Brokers with ZooKeeper, and the harness as their controller."""

    brokers: ZookeeperBrokers
    controller: ZookeeperController

    def _forget(self, broker: int, *, outlives: bool = False) -> None:
        super()._forget(broker, outlives=outlives)
        self.controller.end_session(broker)

    def restart(self, broker: int) -> None:
        """As `Stage.restart`."""
        self.brokers.start(broker)
        self.brokers.await_registered(broker, self.controller)

    def forget_topic(self) -> None:
        """As `Stage.forget_topic`."""
        down = [broker for broker in self.replicas if not self.brokers.is_up(broker)]
        for broker in down:
            self.brokers.start(broker)
        for broker in down:
            self.brokers.await_registered(broker, self.controller)
        for link in self.links.values():
            link.lose()
            link.lose_stray()
        for broker in self.epochs_learned:
            self.stop_replica(broker, delete=True)
        self.epochs_learned.clear()
        self.sent.clear()
        self.asked.clear()

    def learn(
        self, broker: int, decision: Decision, alive: Sequence[int], *, outlives: bool = False
    ) -> None:
        """As `Stage.learn`."""
        port = self.brokers.ports[broker]
        ports = self._ports_seen_by(broker, alive)
        self.controller.update_metadata(port, decision, ports)
        with self._checkpoint_kept(broker):
            pending = self.controller.lead_or_follow(port, decision, ports)
            while not pending.is_over(GRACE_SECONDS):
                self.lose(broker, outlives=outlives)
        if pending.problem is not None:
            raise StepFailed(f"r{broker} takes up epoch {decision.epoch}", str(pending.problem))
        codes = [
            pending.answer.error_code,
            *(p.error_code for p in pending.answer.partition_errors),
        ]
        for code in codes:
            if code:
                raise StepFailed(f"r{broker} takes up epoch {decision.epoch}", error_name(code))
        self.epochs_learned[broker] = decision.epoch

    def report_alive(self, alive: Sequence[int]) -> None:
        """Brokers that know the partition hear who lives, and of it what they know already."""
        for broker, epoch in self.epochs_learned.items():
            decision = self.controller.decisions[epoch]
            ports = self._ports_seen_by(broker, sorted({*alive, broker}))
            self.controller.update_metadata(self.brokers.ports[broker], decision, ports)

    def _ports_seen_by(self, broker: int, alive: Sequence[int]) -> dict[int, int]:
        """Where a broker is to find those that live: itself, and the others behind their links."""
        own = self.brokers.ports[broker]
        return {each: own if each == broker else self.links[broker, each].port for each in alive}

    def stop_replica(self, broker: int, *, delete: bool = False) -> None:
        """A follower is to fetch no more; or, with `delete`, any broker to forget the partition."""
        pending = self.controller.stop_replica(self.brokers.ports[broker], delete=delete)
        while not pending.is_over(GRACE_SECONDS):
            self.lose(broker)
        self.lose(broker)
