"""The brokers of a cluster with ZooKeeper: their settings, their folders, their lives.

Timeouts are set out of reach, so that nothing happens but what a step asks for.
"""

from __future__ import annotations

import shutil
import socket
import time
from dataclasses import dataclass
from pathlib import Path

from checker.kafka.confirm.controller import TOPIC, Controller
from checker.kafka.confirm.errors import BrokerFailed
from checker.kafka.confirm.processes import Processes
from checker.kafka.confirm.proxy import listens, wait_until
from checker.kafka.confirm.releases import KafkaRelease
from checker.kafka.confirm.wire import HOST, batch_sizes

START_SECONDS_MAX = 90.0
OUT_OF_REACH_MS = 86_400_000
SESSION_MS = 60_000
"""Long, so that a busy machine ends none: the harness ends those of brokers that it kills."""
ZOOKEEPER = "zookeeper"
_ZOOKEEPER_SECONDS = 0.2
"""How long it may take from there until it serves."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """What a trace's circumstances ask of the brokers. Times are in milliseconds."""

    min_insync_replicas: int
    unclean_leader_election: bool
    lag_ms: int
    """replica.lag.time.max.ms."""
    fetch_wait_ms: int
    """How long a fetch that brings nothing waits at the leader, replica.fetch.wait.max.ms."""


def free_ports(number: int) -> list[int]:
    """So many ports of this machine that nobody listens on."""
    servers = [socket.create_server((HOST, 0)) for _ in range(number)]
    ports: list[int] = [server.getsockname()[1] for server in servers]
    for server in servers:
        server.close()
    return ports


class Brokers:
    """Brokers 0 to n-1 in `folder`, each a process with a folder of its own."""

    def __init__(
        self,
        release: KafkaRelease,
        number: int,
        settings: BrokerSettings,
        folder: Path,
        processes: Processes,
    ) -> None:
        self._folder = folder
        self._processes = processes
        self.topic = TOPIC
        """Whose partition is meant; `Stage.begin` changes it."""
        self.zookeeper_port, *self.ports = free_ports(number + 1)
        for broker in range(number):
            lines = _lines(release, settings, broker, self)
            self._file(broker).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def start_zookeeper(self) -> None:
        """Start it, and wait until it has read its data.

        A connection between its listening and that breaks it for good: it answers nobody then.
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
        wait_until(lambda: _has_read(self._processes.said(ZOOKEEPER)), START_SECONDS_MAX)
        time.sleep(_ZOOKEEPER_SECONDS)

    def start(self, broker: int) -> None:
        """Start a broker; `await_registered` waits for it."""
        self._processes.start(name_of(broker), "kafka.Kafka", str(self._file(broker)))

    def await_registered(self, broker: int, controller: Controller) -> None:
        """Wait until the broker has registered. Raises `BrokerFailed`."""

        def is_there() -> bool:
            self._processes.require(name_of(broker))
            # Later releases register before they listen.
            return controller.is_registered(broker) and listens(self.ports[broker])

        if not wait_until(is_there, START_SECONDS_MAX, every=0.1):
            raise BrokerFailed(
                f"r{broker} did not register within {START_SECONDS_MAX:.0f} s; "
                f"{self._processes.last_lines(name_of(broker))}"
            )

    def is_up(self, broker: int) -> bool:
        """Whether its process runs."""
        return self._processes.runs(name_of(broker))

    def kill(self, broker: int) -> None:
        """End its process by kill -9."""
        self._processes.kill(name_of(broker))

    def ask_to_end(self, broker: int) -> None:
        """Begin a clean shutdown, and do not wait for it."""
        self._processes.ask_to_end(name_of(broker))

    def shut_down(self, broker: int) -> None:
        """A clean shutdown: flushed, checkpointed, ended."""
        self._processes.terminate(name_of(broker))

    def data(self, broker: int) -> Path:
        """The broker's only log directory."""
        return self._folder / f"data-{broker}"

    def partition(self, broker: int) -> Path:
        """The folder of the partition's log."""
        return self.data(broker) / f"{self.topic}-0"

    def segment(self, broker: int) -> bytes:
        """The log as it is on disk, or would be once it is flushed."""
        segments = sorted(self.partition(broker).glob("*.log"))
        return b"".join(segment.read_bytes() for segment in segments)

    def cut(self, broker: int, batches: int) -> None:
        """Leave so many batches of the log of a broker that is down; indexes are made anew."""
        [segment] = sorted(self.partition(broker).glob("*.log"))
        kept = sum(batch_sizes(segment.read_bytes())[:batches])
        with segment.open("r+b") as file:
            file.truncate(kept)
        for index in self.partition(broker).glob("*index"):
            index.unlink()

    def empty_disk(self, broker: int) -> None:
        """An empty disk in place of that of a broker that is down."""
        shutil.rmtree(self.data(broker))
        self.data(broker).mkdir()

    def checkpoint_file(self, broker: int) -> Path:
        """Where the broker keeps its high watermarks."""
        return self.data(broker) / "replication-offset-checkpoint"

    def _file(self, broker: int) -> Path:
        return self._folder / f"{name_of(broker)}.properties"


def _has_read(said: str) -> bool:
    """Whether ZooKeeper has read its data, by its log; 3.4 says nothing of it, and may be asked as
    soon as it listens.
    """
    if "zookeeper.version=3.4" in said:
        return "binding to port" in said
    return "Snapshotting" in said


def name_of(broker: int) -> str:
    """The name of a broker's process."""
    return f"r{broker}"


Lines = list[str]


def _lines(release: KafkaRelease, settings: BrokerSettings, broker: int, brokers: Brokers) -> Lines:
    lines = [
        f"broker.id={broker}",
        f"listeners=PLAINTEXT://{HOST}:{brokers.ports[broker]}",
        f"log.dirs={brokers.data(broker)}",
        f"zookeeper.connect={HOST}:{brokers.zookeeper_port}",
        f"zookeeper.session.timeout.ms={SESSION_MS}",
        "num.network.threads=2",
        "num.io.threads=4",
        "background.threads=2",
        "log.cleaner.enable=false",
        "log.retention.ms=-1",
        "auto.create.topics.enable=false",
        "auto.leader.rebalance.enable=false",
        "controlled.shutdown.enable=false",
        f"min.insync.replicas={settings.min_insync_replicas}",
        f"unclean.leader.election.enable={str(settings.unclean_leader_election).lower()}",
        f"replica.lag.time.max.ms={settings.lag_ms}",
        f"replica.high.watermark.checkpoint.interval.ms={OUT_OF_REACH_MS}",
        f"replica.socket.timeout.ms={OUT_OF_REACH_MS}",
        f"replica.fetch.wait.max.ms={settings.fetch_wait_ms}",
        "replica.fetch.backoff.ms=100",
    ]
    if release.at_least(1, 1):
        # Without sessions every fetch and every answer names the partition, changed or not.
        lines.append("max.incremental.fetch.session.cache.slots=0")
    if release.spoken:
        lines.append(f"inter.broker.protocol.version={release.spoken}")
    return lines
