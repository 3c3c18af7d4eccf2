"""Start of a cluster: ZooKeeper, brokers, scripted controller, one proxy per pair."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from checker.kafka.confirm.brokers import Brokers, BrokerSettings, name_of
from checker.kafka.confirm.controller import TOPIC, Controller
from checker.kafka.confirm.errors import BrokerFailed, NoAnswer
from checker.kafka.confirm.processes import Processes
from checker.kafka.confirm.proxy import Link
from checker.kafka.confirm.releases import KafkaRelease
from checker.kafka.confirm.stage import Stage, StepFailed
from checker.kafka.confirm.topics import begin


@contextlib.contextmanager
def staged(
    release: KafkaRelease,
    jars: Sequence[Path],
    *,
    replicas: int,
    settings: BrokerSettings,
    folder: Path,
    announce: Callable[[str], None],
) -> Iterator[Stage]:
    """A cluster in `folder`, set up; when the block is left no process of it is."""
    conversation = folder / "conversation.txt"
    began = time.monotonic()

    def watch(who: str, body: object) -> None:
        with conversation.open("a", encoding="utf-8") as file:
            file.write(f"{time.monotonic() - began:8.3f} {who}: {body}\n")

    with contextlib.ExitStack() as ending:
        processes = ending.enter_context(Processes(folder, jars))
        brokers = Brokers(release, replicas, settings, folder, processes)
        announce("starting ZooKeeper")
        brokers.start_zookeeper()
        controller = ending.enter_context(Controller(brokers.zookeeper_port, list(range(replicas))))
        try:
            controller.take_office(60)
        except BrokerFailed as problem:
            raise BrokerFailed(f"{problem}; {processes.last_lines('zookeeper')}") from None
        announce(f"starting {replicas} brokers")
        for broker in range(replicas):
            brokers.start(broker)
        for broker in range(replicas):
            brokers.await_registered(broker, controller)
        links = {
            (follower, leader): Link(
                name_of(follower), name_of(leader), brokers.ports[leader], watch
            )
            for follower in range(replicas)
            for leader in range(replicas)
            if follower != leader
        }
        for link in links.values():
            ending.callback(link.close)
        stage = Stage(release, brokers, controller, links)
        try:
            begin(stage, TOPIC, {})
        except (StepFailed, NoAnswer) as problem:
            logs = "; ".join(processes.last_lines(name_of(broker)) for broker in range(replicas))
            raise BrokerFailed(f"the cluster could not be set up: {problem}; {logs}") from None
        yield stage
