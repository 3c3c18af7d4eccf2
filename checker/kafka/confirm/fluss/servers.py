"""Tablet servers as processes that answer line by line, and the ZooKeeper that they read.

The Java code in this folder is compiled against the release's jar. A process ends when its standard
input closes, so none outlives the harness.
"""

from __future__ import annotations

import selectors
import shutil
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm
from waterline.checker.kafka.confirm.processes import JVM_OPTIONS, find_java

SOURCE = Path(__file__).with_name("SteeredTabletServer.java")
COMPILE_SECONDS_MAX = 120
ANSWER_SECONDS_MAX = 90
_MAIN = "SteeredTabletServer"


def compile_server(folder: Path, class_path: list[Path]) -> list[Path]:
    """The class path with the steered server on it. Raises `CannotConfirm`."""
    beside = find_java().with_name("javac")
    compiler = str(beside) if beside.exists() else shutil.which("javac")
    if compiler is None:
        raise CannotConfirm(
            "steering Fluss needs javac, and there is none beside java or on the PATH; "
            "install a JDK, 17 or later"
        )
    folder.mkdir()
    done = subprocess.run(
        [compiler, "-proc:none", "-nowarn", "-cp", _join(class_path), "-d", folder, SOURCE],
        capture_output=True,
        text=True,
        timeout=COMPILE_SECONDS_MAX,
        check=False,
    )
    if done.returncode != 0:
        first = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise CannotConfirm(f"{SOURCE.name} does not compile against this release: {first}")
    return [folder, *class_path]


def _join(class_path: list[Path]) -> str:
    return ":".join(map(str, class_path))


@dataclass(slots=True)
class HeldRequest:
    """A request that has left a tablet server and waits in the harness's network."""

    number: int
    target: int
    kind: str
    body: str


@dataclass(slots=True)
class Process:
    """A JVM that answers lines. Raises `BrokerFailed` where it does not."""

    name: str
    log: Path
    _running: subprocess.Popen[str] = field(repr=False)

    @classmethod
    def start(cls, name: str, folder: Path, class_path: list[Path], *words: str) -> Process:
        """Run it, its own messages in a file of its name."""
        log = folder / f"{name}.log"
        command = [
            str(find_java()),
            *JVM_OPTIONS,
            "--add-opens=java.base/java.nio=ALL-UNNAMED",
            "-cp",
            _join(class_path),
            _MAIN,
            *words,
        ]
        with log.open("ab") as said:
            running = subprocess.Popen(
                command,
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                text=True,
                start_new_session=True,
            )
        return cls(name, log, running)

    def heard(self) -> str:
        """The next line, without its `ok`."""
        out = self._running.stdout
        assert out is not None
        with selectors.DefaultSelector() as ready:
            ready.register(out, selectors.EVENT_READ)
            line = out.readline() if ready.select(ANSWER_SECONDS_MAX) else ""
        word, _, rest = line.strip().partition(" ")
        if word != "ok":
            why = rest if word == "error" else f"it ended, or is silent; see {self.log}"
            raise BrokerFailed(f"{self.name}: {why}")
        return rest

    def ask(self, *words: object) -> str:
        """Give a command; its answer."""
        into = self._running.stdin
        assert into is not None
        try:
            into.write(" ".join(map(str, words)) + "\n")
            into.flush()
        except OSError as problem:
            raise BrokerFailed(f"{self.name} takes no command: {problem}") from None
        return self.heard()

    def take(self, kind: str, milliseconds: int) -> HeldRequest | None:
        """The next request of that kind, or of `ANY`, that has left it and was not taken yet."""
        said = self.ask("take", kind, milliseconds)
        if said == "none":
            return None
        number, target, api, body = said.split(" ")
        return HeldRequest(int(number), int(target), api, body)

    def kill(self) -> None:
        """Kill -9, and wait until it is gone."""
        self._running.kill()
        self._running.wait()
        for pipe in (self._running.stdin, self._running.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    continue  # What was not written any more is of no use.


@dataclass(frozen=True, slots=True)
class Shown:
    """State of the bucket that a tablet server shows; `leader` is -1 for none."""

    leads: bool
    epoch: int
    leo: int
    hw: int
    isr: tuple[int, ...]
    log: tuple[int, ...]
    acked: frozenset[int]

    @classmethod
    def read(cls, said: str) -> Shown:
        """Parse `leads=true leader=0 epoch=0 ...`."""
        facts = dict(word.split("=", 1) for word in said.split(" "))
        return cls(
            facts["leads"] == "true",
            int(facts["epoch"]),
            int(facts["leo"]),
            int(facts["hw"]),
            tuple(sorted(_numbers(facts["isr"]))),
            _numbers(facts["log"]),
            frozenset(_numbers(facts["acked"])),
        )


def _numbers(commas: str) -> tuple[int, ...]:
    return tuple(map(int, filter(None, commas.split(","))))


class Cluster:
    """Tablet servers by number, all ended with the context."""

    def __init__(
        self, folder: Path, class_path: list[Path], *, servers: int, min_insync_replicas: int
    ) -> None:
        self.folder = folder
        self.size = servers
        self._class_path = class_path
        self._min_insync = min_insync_replicas
        self._running: dict[int, Process] = {}
        self._zookeeper: Process | None = None
        self._address = ""

    def __enter__(self) -> Cluster:
        try:
            self._class_path = compile_server(self.folder / "classes", self._class_path)
            data = self.folder / "zookeeper"
            data.mkdir()
            self._zookeeper = Process.start(
                "zookeeper-of-fluss", self.folder, self._class_path, "zookeeper", str(data)
            )
            self._address = self._zookeeper.heard()
            for server in range(self.size):
                self._launch(server)
            for server in range(self.size):
                self._running[server].heard()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self._running.values(), *filter(None, [self._zookeeper])]:
            process.kill()
        self._running.clear()

    def _launch(self, server: int) -> None:
        data = self.folder / f"data-{server}"
        words = (server, self._address, data, self._min_insync, self.size)
        self._running[server] = Process.start(
            f"tablet-server-{server}",
            self.folder,
            self._class_path,
            "server",
            *map(str, words),
        )

    def start(self, server: int) -> None:
        """Start it again, on the disk that it had."""
        self._launch(server)
        self._running[server].heard()

    def crash(self, server: int) -> None:
        """Kill -9."""
        self._running.pop(server).kill()

    def runs(self, server: int) -> bool:
        """True if its process was started and not killed."""
        return server in self._running

    def of(self, server: int) -> Process:
        """Return the process of a server, which must run."""
        return self._running[server]

    def show(self, server: int) -> Shown:
        """Return the state that the server shows now."""
        return Shown.read(self.of(server).ask("state"))
