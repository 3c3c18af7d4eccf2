"""The harness as the controller of a cluster with ZooKeeper.

It holds the node /controller, so that no broker becomes controller, writes the partition's state,
and sends each broker what it is to know, when the trace says so. A decision that a broker has not
learned is one that was not sent. What the leader writes itself, the ISR, is left to it.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.checker.kafka.confirm.decisions import TOPIC, Decision
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer, NotInstalled
from waterline.checker.kafka.confirm.stage import NotHeld
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
            "controller_id": HARNESS_ID,
            "controller_epoch": _CONTROLLER_EPOCH,
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
            "controller_id": HARNESS_ID,
            "controller_epoch": _CONTROLLER_EPOCH,
            "ungrouped_partition_states": [self._partition(decision)],
            "live_leaders": leaders,
        }
        return Pending(port, LEADER_AND_ISR, 0, values, seconds=ANSWER_SECONDS_MAX)

    def stop_replica(self, port: int, *, delete: bool = False) -> Pending:
        """Tell a broker to stop fetching, as before its controlled shutdown, or to forget the topic
        and remove its files.
        """
        values = {
            "controller_id": HARNESS_ID,
            "controller_epoch": _CONTROLLER_EPOCH,
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
