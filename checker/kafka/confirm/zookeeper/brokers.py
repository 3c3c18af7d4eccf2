"""Brokers with ZooKeeper: their settings, their registration."""

from __future__ import annotations

import time
from pathlib import Path

from waterline.checker.kafka.confirm.brokers import (
    START_SECONDS_MAX,
    Brokers,
    BrokerSettings,
    free_ports,
    shared_lines,
)
from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.processes import Processes
from waterline.checker.kafka.confirm.proxy import listens, wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.wire import HOST
from waterline.checker.kafka.confirm.zookeeper.controller import ZookeeperController

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
