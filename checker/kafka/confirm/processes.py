"""JVM processes: started, paused, killed, and ended in every case.

Each is in a session of its own, so that Ctrl-C reaches the harness alone, which then ends them;
where the harness itself is killed the kernel does (Linux).
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm

LAST_LINES = 5
"""Number of log lines shown of a failed process."""
END_SECONDS_MAX = 30
RUN_SECONDS_MAX = 60
_SET_PARENT_DEATH_SIGNAL = 1
JVM_OPTIONS = ("-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
"""Options of a small JVM that starts fast."""
_LOG4J_1 = """\
log4j.rootLogger=INFO, out
log4j.appender.out=org.apache.log4j.ConsoleAppender
log4j.appender.out.layout=org.apache.log4j.PatternLayout
log4j.appender.out.layout.ConversionPattern=[%d] %p %m (%c)%n
"""
_LOG4J_2 = """\
<Configuration><Appenders><Console name="out"><PatternLayout pattern="[%d] %p %m (%c)%n"/></Console>
</Appenders><Loggers><Root level="INFO"><AppenderRef ref="out"/></Root></Loggers></Configuration>
"""


def find_java() -> Path:
    """The Java that brokers run on: JAVA_HOME's, or the PATH's. Raises `CannotConfirm`."""
    home = os.environ.get("JAVA_HOME")
    if home and os.access(Path(home, "bin", "java"), os.X_OK):
        return Path(home, "bin", "java")
    found = shutil.which("java")
    if found is None:
        raise CannotConfirm(
            "brokers need Java, and there is none in JAVA_HOME or on the PATH; "
            "install Java 17 (Kafka before 4.0 does not run on 24 and later)"
        )
    return Path(found)


class Processes:
    """The JVMs of one cluster, by name, with a log file each in `folder`.

    A context manager. An interrupt is raised when it comes; where Python drops it, as it does in a
    weak reference's callback, it is raised again at the next look at a process, or at the end.
    """

    def __init__(self, folder: Path, class_path: Iterable[Path]) -> None:
        self._folder = folder
        self._java = find_java()
        self._class_path = os.pathsep.join(map(str, class_path))
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._handlers: dict[int, Callable[[int, FrameType | None], Any]] = {}
        self._interrupted = False
        (folder / "log4j.properties").write_text(_LOG4J_1, encoding="utf-8")
        (folder / "log4j2.xml").write_text(_LOG4J_2, encoding="utf-8")

    def __enter__(self) -> Processes:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                handler = signal.getsignal(number)
                if callable(handler):
                    self._handlers[number] = handler
                    signal.signal(number, self._note)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.end_all()
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        if kind is not KeyboardInterrupt:
            self._heed()  # What fails after an interrupt fails for it.

    def _note_interrupt(self) -> None:
        self._interrupted = True

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._note_interrupt()
        self._handlers[number](number, frame)

    def _heed(self) -> None:
        if self._interrupted:
            raise KeyboardInterrupt

    def start(self, name: str, main: str, *arguments: str) -> None:
        """Run the class `main` as `name`, which must not be running."""
        self._heed()
        if self.runs(name):
            raise ValueError(f"{name} is running already")
        with self.log_of(name).open("ab") as log, _interrupts_wait(self._note_interrupt):
            self._running[name] = subprocess.Popen(
                [*self._command(), main, *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_dies_with_parent(),  # noqa: PLW1509 - a system call and nothing else
            )

    def run(self, main: str, *arguments: str) -> str:
        """Run the class `main` to its end; what it printed. Raises `BrokerFailed`."""
        try:
            done = subprocess.run(
                [*self._command(), main, *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=RUN_SECONDS_MAX,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise BrokerFailed(f"{main} did not end within {RUN_SECONDS_MAX} s") from None
        if done.returncode != 0:
            raise BrokerFailed(f"{main} failed: {_end_of((done.stdout + done.stderr).strip())}")
        return done.stdout

    def _command(self) -> list[str]:
        return [
            str(self._java),
            *JVM_OPTIONS,
            # ZooKeeper asks for a part of log4j that its replacement does not have.
            "-Dzookeeper.jmx.log4j.disable=true",
            # Nobody pulls the plug on it, and a busy disk is not to end a session.
            "-Dzookeeper.forceSync=no",
            f"-Dlog4j.configuration=file:{self._folder}/log4j.properties",
            f"-Dlog4j2.configurationFile={self._folder}/log4j2.xml",
            "-cp",
            self._class_path,
        ]

    def runs(self, name: str) -> bool:
        """True if the process is there; one that is stopped for a while is."""
        process = self._running.get(name)
        return process is not None and process.poll() is None

    def identity(self, name: str) -> int:
        """The number of the process."""
        return self._running[name].pid

    def kill(self, name: str) -> None:
        """End it by kill -9, and wait until it is gone."""
        process = self._running.pop(name)
        process.kill()
        process.wait()

    def terminate(self, name: str) -> None:
        """Ask it to shut down, and wait. Raises `BrokerFailed` where it does not."""
        process = self._running[name]
        process.terminate()
        try:
            process.wait(END_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            raise BrokerFailed(
                f"{name} did not shut down in {END_SECONDS_MAX} s; {self.last_lines(name)}"
            ) from None
        del self._running[name]

    def ask_to_end(self, name: str) -> None:
        """SIGTERM, and no waiting."""
        self._running[name].terminate()

    def pause(self, name: str) -> None:
        """SIGSTOP: the process stands still, and its connections stay."""
        self._running[name].send_signal(signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """SIGCONT."""
        self._running[name].send_signal(signal.SIGCONT)

    def require(self, name: str) -> None:
        """Raise `BrokerFailed`, with its last lines, where the process has ended by itself."""
        self._heed()
        if not self.runs(name):
            raise BrokerFailed(f"{name} has ended by itself; {self.last_lines(name)}")

    def log_of(self, name: str) -> Path:
        """Return the file that a process prints to."""
        return self._folder / f"{name}.log"

    def output(self, name: str) -> str:
        """All that it has printed."""
        try:
            return self.log_of(name).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return ""

    def last_lines(self, name: str) -> str:
        """The end of its log, in a line."""
        text = self.output(name)
        return f"its log ends: {_end_of(text)}" if text else "it has no log"

    def end_all(self) -> None:
        """Kill whatever runs, stopped processes as well."""
        for process in self._running.values():
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        for process in self._running.values():
            process.wait()
        self._running.clear()


@contextlib.contextmanager
def _interrupts_wait(note: Callable[[], None]) -> Iterator[None]:
    """Delay interrupts within the block until the block is over; `note` is called then.

    An interrupt while a process starts could get lost in Python's fork hooks, or leave an unknown
    process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        if callable(signal.getsignal(number)):
            before[number] = signal.signal(number, lambda which, frame: came.append(which))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if came:
            note()
            # Also where the block failed: an interrupt that came is never dropped.
            raise KeyboardInterrupt


def _end_of(text: str) -> str:
    return " | ".join(line.strip() for line in text.splitlines()[-LAST_LINES:])


def _dies_with_parent() -> Callable[[], None] | None:
    """Return the call that makes a child die with the harness; None if there is none.

    Look it up before the fork: nothing may be loaded after it.
    """
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None).prctl

    def ask() -> None:
        prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)

    return ask
