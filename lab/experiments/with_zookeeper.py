"""C63 with ZooKeeper and Kafka's own controller: a cancellation deletes the only replica in sync.

    python -m lab.experiments.with_zookeeper --kafka 3.9.1:zookeeper [--control]

Broker 0 has the only replica. It is reassigned to 1 and 2; 2 stands still (SIGSTOP), 1 copies the
log and is elected, 0 stands still until it has left the ISR. What 1 then acknowledges is in its log
alone as the reassignment is cancelled, but for a control. Broker 3 is the controller, and has no
replica. Releases from 2.4 (KIP-455) to 3.9.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.experiments.real_controller import KraftCluster
from lab.experiments.reassignment import EXIT_CODES
from lab.experiments.watched import Outcome, Verdict, judge_records
from waterline.checker.cli.shared.exit_codes import BAD_USAGE
from waterline.checker.cli.shared.progress import ending_as_by_ctrl_c
from waterline.checker.kafka.confirm.brokers import free_ports, name_of
from waterline.checker.kafka.confirm.carrying_out import work_folder
from waterline.checker.kafka.confirm.decisions import TOPIC
from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm, NoAnswer
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.processes import Processes
from waterline.checker.kafka.confirm.proxy import listens, wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.checker.kafka.confirm.wire import HOST

CONTROLLER = 3
RECORDS = 20
START_SECONDS_MAX = 120.0
STEP_SECONDS_MAX = 60.0
DELETION_SECONDS = 10.0
"""By then a broker has deleted what it was asked to delete."""
_FIRST = (2, 4)
_ZOOKEEPER = "zookeeper"
_SETTINGS = (
    "zookeeper.session.timeout.ms=110000",
    "replica.lag.time.max.ms=6000",
    "auto.leader.rebalance.enable=false",
    "auto.create.topics.enable=false",
    "unclean.leader.election.enable=false",
    "file.delete.delay.ms=1000",
)
_CREATE_TOPICS = 19


class ZookeeperCluster(KraftCluster):
    """Four brokers and their ZooKeeper; the last broker starts first, and is the controller."""

    def __init__(self, folder: Path, processes: Processes) -> None:
        self._folder, self._processes = folder, processes
        self.replicas = range(CONTROLLER + 1)
        self._lines, self._directories = {}, {}
        self._zookeeper, *self.ports = free_ports(1 + len(self.replicas))
        for broker in self.replicas:
            self._lines[broker] = [
                f"broker.id={broker}",
                f"listeners=PLAINTEXT://{HOST}:{self.ports[broker]}",
                f"zookeeper.connect={HOST}:{self._zookeeper}",
                *_SETTINGS,
            ]
            self._set_directories(broker, [folder / f"data-{name_of(broker)}"])

    def start(self) -> None:
        """Start everybody; wait until the controller knows all brokers."""
        self._write(
            _ZOOKEEPER,
            [
                *(f"dataDir={self._folder}/zookeeper", f"clientPort={self._zookeeper}"),
                *(f"clientPortAddress={HOST}", "maxClientCnxns=0", "tickTime=500"),
                *("maxSessionTimeout=120000", "admin.enableServer=false"),
            ],
        )
        main = "org.apache.zookeeper.server.quorum.QuorumPeerMain"
        self._processes.start(_ZOOKEEPER, main, str(self._file(_ZOOKEEPER)))
        self._await(lambda: "Snapshotting" in self._processes.output(_ZOOKEEPER), "ZooKeeper")
        self._start(CONTROLLER)
        self._await(lambda: self._metadata(CONTROLLER).controller_id == CONTROLLER, "a controller")
        for broker in range(CONTROLLER):
            self._start(broker)
        everybody = len(self.replicas)
        self._await(lambda: len(self._metadata(CONTROLLER).brokers) == everybody, "all brokers")

    def create(self) -> None:
        """A topic with a partition on broker 0, which leads it and knows that."""
        assignment = {"partition_index": 0, "broker_ids": [0]}
        topic = {"name": TOPIC, "num_partitions": -1, "replication_factor": -1, "configs": []}
        values = {"topics": [topic | {"assignments": [assignment]}]}
        self._ask(CONTROLLER, _CREATE_TOPICS, 5, values)
        self._await(lambda: self.high_watermark(0).isdecimal(), "a leader of the topic")

    def replica_nodes(self) -> list[int]:
        """The replicas, as the controller has them."""
        return list(self._partition(CONTROLLER).replica_nodes)

    def _start(self, broker: int) -> None:
        self._processes.start(name_of(broker), "kafka.Kafka", str(self._file(name_of(broker))))
        self._await(lambda: listens(self.ports[broker]), f"r{broker}")

    def _await(self, is_there: Any, what: str) -> None:
        def holds() -> bool:
            with contextlib.suppress(NoAnswer):
                return bool(is_there())
            return False

        if not wait_until(holds, START_SECONDS_MAX, every=0.3):
            raise BrokerFailed(f"{what} did not come up within {START_SECONDS_MAX:.0f} s")


def carried_out(cluster: Any, *, is_control: bool) -> Outcome:
    """Every step, with what the controller has of the partition, and the verdict."""
    began = time.monotonic()

    def show(step: str) -> None:
        leader, isr = cluster.leader_and_isr(CONTROLLER)
        state = f"replicas {cluster.replica_nodes()}, leader {leader}, ISR {isr}"
        print(f"{time.monotonic() - began:6.1f}  {state:45}  {step}", flush=True)

    def until(step: str, has_come: Any) -> None:
        if not wait_until(has_come, STEP_SECONDS_MAX, every=0.2):
            raise NoAnswer(f"it did not come to this: {step}")
        show(step)

    cluster.create()
    show("a topic on 0 alone")
    cluster.pause(2)
    if refusal := cluster.reassign({0: [1, 2]}, ask=CONTROLLER):
        raise NoAnswer(f"the reassignment was refused: {refusal}")
    until("reassigned to 1 and 2; 2 stands still, 1 has copied", lambda: 1 in _isr(cluster))
    cluster.elect_preferred(CONTROLLER)
    until("1 leads, the preferred one", lambda: cluster.leader_and_isr(CONTROLLER)[0] == 1)
    cluster.pause(0)
    until("0 stands still and has left the ISR", lambda: _isr(cluster) == [1])
    acknowledged = _acknowledgements(cluster)
    show(f"{len(acknowledged)} records acknowledged by 1, acks=all")
    if not is_control:
        refusal = cluster.reassign({0: None}, ask=CONTROLLER)
        show(f"cancelled: {refusal or 'accepted'}")
    cluster.resume(0)
    cluster.resume(2)
    time.sleep(DELETION_SECONDS)
    show("0 and 2 go on")
    logs = {broker: _names(cluster, broker) for broker in range(CONTROLLER)}
    leader, _ = cluster.leader_and_isr(CONTROLLER)
    return judge_records(acknowledged, logs.get(leader, []), logs)


def _isr(cluster: Any) -> list[int]:
    members: list[int] = cluster.leader_and_isr(CONTROLLER)[1]
    return members


def _acknowledgements(cluster: Any) -> list[str]:
    """The records that the leader, 1, has an answer for."""
    found = []
    for number in range(RECORDS):
        pending = cluster.produce(1, f"m{number}".encode())
        if pending.is_over(STEP_SECONDS_MAX) and pending.answer is not None:
            [partition] = pending.answer.responses[0].partition_responses
            if not partition.error_code:
                found.append(f"m{number}")
    return found


def _names(cluster: Any, broker: int) -> list[str]:
    return [record.value.decode() for record in cluster.log(broker)]


def release_with_zookeeper(name: str) -> KafkaRelease:
    """A release with ZooKeeper that can cancel. Raises `CannotConfirm`."""
    release = kafka_release(name)
    if release.is_kraft or not release.at_least(*_FIRST):
        raise CannotConfirm(
            f"--kafka is {name}; a reassignment with ZooKeeper can be cancelled from 2.4 to 3.9: "
            "name 3.9.1:zookeeper"
        )
    return release


def main(arguments: Sequence[str] | None = None) -> int:
    """Carry it out as the command line says; the exit code."""
    parser = argparse.ArgumentParser(description="C63 on brokers with ZooKeeper.")
    parser.add_argument("--kafka", default="3.9.1:zookeeper", metavar="RELEASE")
    parser.add_argument("--control", action="store_true", help="without the cancellation")
    asked = parser.parse_args(arguments)
    try:
        with ending_as_by_ctrl_c():
            release = release_with_zookeeper(asked.kafka)
            jars = class_path(release, folder=None, announce=lambda line: print(line, flush=True))
            with work_folder(None) as folder, Processes(folder, jars) as processes:
                cluster = ZookeeperCluster(folder, processes)
                cluster.start()
                try:
                    found = carried_out(cluster, is_control=asked.control)
                except NoAnswer as problem:
                    found = Outcome(Verdict.UNDECIDED, str(problem))
    except CannotConfirm as problem:
        print(f"error: {problem}", file=sys.stderr)
        return BAD_USAGE
    print(f"\n{found.verdict.name}: {found.reason}")
    return EXIT_CODES[found.verdict]


if __name__ == "__main__":
    sys.exit(main())
