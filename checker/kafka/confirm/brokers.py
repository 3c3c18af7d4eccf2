"""Brokers of a cluster, whichever controller they have: their folders, their lives.

Timeouts are set out of reach, so that nothing happens but what a step asks for.
"""

from __future__ import annotations

import shutil
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.kafka.confirm.decisions import TOPIC
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer
from waterline.checker.kafka.confirm.processes import Processes
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.wire import API_VERSIONS, HOST, batch_sizes, call

START_SECONDS_MAX = 90.0
OUT_OF_REACH_MS = 86_400_000
SEND_BYTES = 4096
"""socket.send.buffer.bytes: what of an answer does not fit is read from the log later."""
_ASK_SECONDS = 1.0
_CHECKPOINT = "replication-offset-checkpoint"


@dataclass(frozen=True, slots=True, kw_only=True)
class BrokerSettings:
    """Broker settings that a trace's environment requires. Times are in milliseconds."""

    min_insync_replicas: int
    unclean_leader_election: bool
    lag_ms: int
    """replica.lag.time.max.ms."""
    fetch_wait_ms: int
    """Time that an empty fetch waits at the leader, replica.fetch.wait.max.ms."""
    log_directories: int = 1
    """Number of directories in log.dirs."""


class Brokers:
    """Brokers 0 to n-1 in `folder`, each a process with a folder of its own, on these `ports`."""

    def __init__(
        self, folder: Path, processes: Processes, ports: Sequence[int], directories: int
    ) -> None:
        self._folder = folder
        self._directories = directories
        self._processes = processes
        self.ports = list(ports)
        self.taken: dict[int, Path] = {}
        """Log directory that was taken from each broker."""
        self.topic = TOPIC
        """Topic of the partition; `topics.begin` changes it."""

    def configure(self, broker: int, lines: Sequence[str]) -> None:
        """Write the settings that a broker is started with."""
        self._file(broker).write_text("\n".join(lines) + "\n", encoding="utf-8")

    def start(self, broker: int) -> None:
        """Start a broker, and do not wait for it."""
        self._processes.start(name_of(broker), "kafka.Kafka", str(self._file(broker)))

    def require(self, broker: int) -> None:
        """Raise `BrokerFailed`, with its last lines, where it has ended by itself."""
        self._processes.require(name_of(broker))

    def last_lines(self, broker: int) -> str:
        """The end of its log, in a line."""
        return self._processes.last_lines(name_of(broker))

    def await_serving(self, broker: int) -> None:
        """Wait until the broker answers requests. Raises `BrokerFailed`."""

        def serves() -> bool:
            self.require(broker)
            try:
                call(self.ports[broker], API_VERSIONS, 0, {}, seconds=_ASK_SECONDS)
            except NoAnswer:
                return False
            return True

        if not wait_until(serves, START_SECONDS_MAX):
            raise BrokerFailed(
                f"r{broker} did not serve within {START_SECONDS_MAX:.0f} s; "
                f"{self.last_lines(broker)}"
            )

    def is_up(self, broker: int) -> bool:
        """True if its process runs."""
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

    def directories(self, broker: int) -> list[Path]:
        """The broker's log directories."""
        first = self._folder / f"data-{broker}"
        every = [first, *(Path(f"{first}-{each}") for each in range(1, self._directories))]
        return [each for each in every if each != self.taken.get(broker)]

    def take_directory(self, broker: int) -> None:
        """Take the directory of the log out of the log.dirs of a broker that is down."""
        before = _log_dirs(self.directories(broker))
        self.taken[broker] = self.data(broker)
        lines = self._file(broker).read_text(encoding="utf-8").splitlines()
        after = _log_dirs(self.directories(broker))
        self.configure(broker, [after if line == before else line for line in lines])

    def data(self, broker: int) -> Path:
        """The log directory that has the partition; the first where none has."""
        every = self.directories(broker)
        return next((each for each in every if self.log_in(each).is_dir()), every[0])

    def log_in(self, directory: Path) -> Path:
        """The folder of the partition's log, if this log directory has it."""
        return directory / f"{self.topic}-0"

    def partition(self, broker: int) -> Path:
        """The folder of the partition's log."""
        return self.log_in(self.data(broker))

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
        """Return the file with the broker's high watermarks."""
        return self.data(broker) / _CHECKPOINT

    def checkpoint_files(self, broker: int) -> list[Path]:
        """Return that file for each log directory."""
        return [each / _CHECKPOINT for each in self.directories(broker)]

    def _file(self, broker: int) -> Path:
        return self._folder / f"{name_of(broker)}.properties"


def name_of(broker: int) -> str:
    """The name of a broker's process."""
    return f"r{broker}"


def free_ports(number: int) -> list[int]:
    """Return `number` free ports of this machine."""
    servers = [socket.create_server((HOST, 0)) for _ in range(number)]
    ports: list[int] = [server.getsockname()[1] for server in servers]
    for server in servers:
        server.close()
    return ports


def _log_dirs(directories: Sequence[Path]) -> str:
    return f"log.dirs={','.join(map(str, directories))}"


def shared_lines(settings: BrokerSettings, directories: Sequence[Path]) -> list[str]:
    """Settings of every broker, with ZooKeeper or KRaft."""
    return [
        _log_dirs(directories),
        "num.network.threads=2",
        f"socket.send.buffer.bytes={SEND_BYTES}",
        "num.io.threads=4",
        "background.threads=2",
        "log.cleaner.enable=false",
        "log.retention.ms=-1",
        "auto.create.topics.enable=false",
        f"min.insync.replicas={settings.min_insync_replicas}",
        f"replica.lag.time.max.ms={settings.lag_ms}",
        f"replica.high.watermark.checkpoint.interval.ms={OUT_OF_REACH_MS}",
        f"replica.socket.timeout.ms={OUT_OF_REACH_MS}",
        f"replica.fetch.wait.max.ms={settings.fetch_wait_ms}",
        "replica.fetch.backoff.ms=100",
    ]
