"""Places where attempts explore on Spark: most outlive the attempts, as a cluster does.

A JVM takes seconds to start, which says nothing here. So a place is started once, for the first
attempt on it, and again once an attempt has killed it.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import tempfile
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from tests.support.class_archive import use_class_archive
from tests.support.standalone import Standalone, connect_server, standalone

EXECUTOR_SETTINGS = {
    "spark.executor.memory": "512m",
    # A server and a session have two cores each.
    "spark.cores.max": "2",
    "spark.speculation": "true",
    "spark.speculation.multiplier": "1.5",
}
STRIKES = (*("worker", "workers", "candidates") * 4, "executor", "executor", "Spark")
_END_SECONDS = 60
_HOLDER = """
import sys
from pathlib import Path
from waterline.checker.search.engines.spark_session import start_context
master, log, *settings = sys.argv[1:]
pairs = [tuple(setting.split("=", 1)) for setting in settings]
gateway = start_context(master, settings=pairs, log=Path(log))._gateway
parameters = gateway.gateway_parameters
print(parameters.port, parameters.auth_token, gateway.proc.pid, flush=True)
gateway.proc.wait()
"""


@dataclass(frozen=True, slots=True)
class Strike:
    """A process or file to hit, so long after the nth change to the disk; `seed` chooses."""

    what: str
    at: int
    after_seconds: float
    seed: int

    def __str__(self) -> str:
        return f"{self.what} hit {self.after_seconds:.3f} s after call {self.at}"


class Place:
    """A JVM of each attempt's own. `weight` of all attempts on Spark are there.

    `signal_seconds`: a signal comes within so many seconds.
    """

    name = "local[2]"
    weight = 1
    signal_seconds = 12.0

    def arguments(self) -> tuple[str, ...]:
        """Options of `check` to explore here; starts what is not up."""
        return ("--master", "local[2]")

    def enter(self) -> None:
        """Make a forked process one that explores here."""

    def jvm(self) -> list[int]:
        """The process without which a run ends."""
        children = psutil.Process().children(recursive=True)
        return [child.pid for child in children if child.name() == "java"][:1]

    def executors(self) -> list[int]:
        """Processes that Spark starts again."""
        return []

    def kept(self) -> list[int]:
        """Processes that outlive attempts; what they start does, too."""
        return []

    def await_end(self) -> None:
        """Wait until Spark, which has been hit, is seen to have ended: a signal takes its time."""

    def hit(self, strike: Strike, run: Path) -> bool:
        """Do what a strike says; false if there was nothing to hit."""
        drawn = random.Random(strike.seed)
        if strike.what == "candidates":
            return _damaged_candidates(run, drawn)
        if strike.what == "Spark":
            victims = self.jvm()
        elif strike.what == "executor":
            victims = self.executors()[:1]
        else:
            victims = _python_workers(self.executors() or self.jvm())
            victims = victims if strike.what == "workers" else victims[:1]
        for victim in victims:
            with suppress(ProcessLookupError):
                os.kill(victim, signal.SIGKILL)
        return bool(victims)


class Session(Place):
    """A classic session that others use too, which an attempt finds and leaves running."""

    signal_seconds = 2.0

    def __init__(self, folder: Path, cluster: Callable[[], Standalone] | None = None) -> None:
        self.name = "a session of a cluster" if cluster else "a session of this machine"
        self.weight = 8 if cluster else 30
        self._folder = folder
        self._cluster = cluster
        self._holder: subprocess.Popen[str] | None = None
        self._port, self._token, self._jvm = "", "", 0

    def arguments(self) -> tuple[str, ...]:
        """It is found as spark-submit's is."""
        if self._holder is None or self._holder.poll() is not None:
            settings, master = (), "local[2]"
            if self._cluster:
                settings = tuple(f"{name}={value}" for name, value in EXECUTOR_SETTINGS.items())
                master = self._cluster().url
            log = self._folder / f"session-{uuid.uuid4()}.log"
            command = [sys.executable, "-c", _HOLDER, master, log, *settings]
            self._holder = subprocess.Popen(
                command, stdout=subprocess.PIPE, text=True, start_new_session=True
            )
            assert self._holder.stdout is not None
            self._port, self._token, jvm = self._holder.stdout.readline().split()
            self._jvm = int(jvm)
        return ("--engine", "spark")

    def enter(self) -> None:
        """Attach to its JVM, and only detach at the end."""
        os.environ["PYSPARK_GATEWAY_PORT"] = self._port
        os.environ["PYSPARK_GATEWAY_SECRET"] = self._token
        from waterline.checker.search.engines.session import Session as Context  # noqa: PLC0415

        def attach(context: Any, conf: Any) -> Any:
            java = context._jvm
            return java.JavaSparkContext(java.org.apache.spark.SparkContext.getOrCreate())

        stop = Context.stop

        def detach(context: Any) -> None:
            context._jsc = None
            stop(context)

        Context._initialize_context = attach  # type: ignore[method-assign, assignment]
        Context.stop = detach  # type: ignore[method-assign]

    def jvm(self) -> list[int]:
        """The driver's."""
        return [self._jvm]

    def executors(self) -> list[int]:
        """Those of the cluster."""
        return self._cluster().executors() if self._cluster else []

    def await_end(self) -> None:
        """The process that has started the JVM ends with it."""
        if self._holder is not None:
            self._holder.wait(_END_SECONDS)

    def kept(self) -> list[int]:
        """The process that has started the JVM."""
        return [self._holder.pid] if self._holder else []

    def close(self) -> None:
        """End the JVM."""
        if self._holder is not None:
            self._holder.terminate()
            self._holder.wait()


class Server(Place):
    """A server of Spark Connect on the cluster: each attempt has a session of its own."""

    name = "Spark Connect"
    weight = 1
    signal_seconds = 6.0

    def __init__(self, folder: Path, cluster: Callable[[], Standalone]) -> None:
        self._folder = folder
        self._cluster = cluster
        self._stack = ExitStack()
        self._process: subprocess.Popen[bytes] | None = None
        self.url = ""
        self.session = uuid.uuid4()

    def arguments(self) -> tuple[str, ...]:
        """Its address."""
        if self._process is None or self._process.poll() is not None:
            self._stack.close()
            server = connect_server(self._folder, self._cluster().url, EXECUTOR_SETTINGS)
            self.url, self._process = self._stack.enter_context(server)
        return ("--master", self.url)

    def jvm(self) -> list[int]:
        """The server."""
        return self.kept()

    def executors(self) -> list[int]:
        """Those of the cluster."""
        return self._cluster().executors()

    def await_end(self) -> None:
        """The server's."""
        if self._process is not None:
            self._process.wait(_END_SECONDS)

    def kept(self) -> list[int]:
        """The server."""
        return [self._process.pid] if self._process else []

    def close(self) -> None:
        """End it."""
        self._stack.close()


class OneSession(Server):
    """The same server, with one session that all attempts use and leave running."""

    name = "one session of Spark Connect"
    weight = 16
    signal_seconds = 2.0

    def __init__(self, server: Server) -> None:
        self._server = server
        self._session = uuid.uuid4()
        self._url = ""

    def arguments(self) -> tuple[str, ...]:
        """The address, with the number of the session."""
        _, url = self._server.arguments()
        if url != self._url:
            self._url, self._session = url, uuid.uuid4()
        return ("--master", f"{url}/;session_id={self._session}")

    def enter(self) -> None:
        """Leave the session running."""
        from waterline.checker.search.engines.spark_connect import Connect  # noqa: PLC0415

        opened = Connect._open

        def open_kept(platform: Connect) -> Any:
            session = opened(platform)
            session.release_session_on_close = False
            return session

        Connect._open = open_kept  # type: ignore[method-assign]

    def jvm(self) -> list[int]:
        """The server."""
        return self._server.jvm()

    def executors(self) -> list[int]:
        """Those of the cluster."""
        return self._server.executors()

    def await_end(self) -> None:
        """The server's."""
        self._server.await_end()

    def kept(self) -> list[int]:
        """The server is the other place's."""
        return []

    def close(self) -> None:
        """The server is the other place's."""


@contextmanager
def all_places() -> Iterator[tuple[Sequence[Place], Callable[[], set[psutil.Process]]]]:
    """All of them, and the processes that belong to them now."""
    with tempfile.TemporaryDirectory(prefix="places-") as name, ExitStack() as stack:
        folder = Path(name)
        use_class_archive(folder)
        running: list[Standalone] = []

        def cluster() -> Standalone:
            if not running:
                running.append(stack.enter_context(standalone(folder, cores=2)))
            return running[0]

        server = Server(folder, cluster)
        sessions = Session(folder), Session(folder, cluster)
        for place in (server, *sessions):
            stack.callback(place.close)
        places = (Place(), *sessions, server, OneSession(server))

        def kept() -> set[psutil.Process]:
            pids = [pid for place in places for pid in place.kept()]
            pids += [process.pid for each in running for process in each.processes]
            found: set[psutil.Process] = set()
            for pid in pids:
                with suppress(psutil.NoSuchProcess):
                    process = psutil.Process(pid)
                    found |= {process, *process.children(recursive=True)}
            return found

        yield places, kept


def _python_workers(roots: Sequence[int]) -> list[int]:
    """Python workers that these have, without the daemons that fork them."""
    found: list[psutil.Process] = []
    for root in roots:
        with suppress(psutil.Error):
            children = psutil.Process(root).children(recursive=True)
            found += [child for child in children if "pyspark.daemon" in child.cmdline()]
    daemons = {child.ppid() for child in found}
    return [child.pid for child in found if child.pid not in daemons]


def _damaged_candidates(run: Path, drawn: random.Random) -> bool:
    """A file of candidates is gone, cut short or changed."""
    files = sorted(run.glob("work-*/exchange/*/*.candidates"))
    if not files:
        return False
    file = drawn.choice(files)
    with suppress(FileNotFoundError):
        data = bytearray(file.read_bytes())
        how = drawn.choice(("remove", "cut", "change"))
        if how == "remove":
            file.unlink()
        elif how == "cut":
            file.write_bytes(data[: drawn.randrange(len(data))])
        else:
            data[drawn.randrange(len(data))] ^= 1 << drawn.randrange(8)
            file.write_bytes(data)
    return True
