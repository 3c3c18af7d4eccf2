"""Child processes of this one.

When this process is killed, their pipes have no other end. It gets the interrupt of a terminal: a
child ignores SIGINT. Python begins `sys.path` with the working folder for a process that runs
`-c` or `-m`, and would run a file that lies there in place of a library: no child does so.
"""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import Any

END_SECONDS = 5.0
SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""Environment of a Python that does not look for modules in its working folder first: -P."""
_BEGIN = (
    "import sys; pipe, *sys.path = sys.argv[1:]; "
    "from waterline.checker.search.engines.processes import serve; serve(int(pipe))"
)


@dataclass(frozen=True, slots=True)
class Child:
    """A process, and our end of its pipe."""

    process: subprocess.Popen[bytes]
    pipe: Connection

    def exit_code(self) -> int | None:
        """How it has ended; None if it has not within 5 s."""
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(END_SECONDS)
        return self.process.returncode


def search_path() -> list[str]:
    """Where a child looks for modules: as this process, but in the working folder last.

    Unless our own packages are there, which must be the same in both.
    """
    ours, here = Path(__file__).parents[4], Path.cwd()
    # What is no file is the name of an import hook.
    places = [str(Path(e).absolute()) if Path(e).exists() else e for e in sys.path]
    return sorted(places, key=lambda place: Path(place).resolve() == here != ours.resolve())


def program(*arguments: str) -> list[str]:
    """The command line of `waterline` with these arguments, as this Python runs it."""
    begin = "from waterline.checker.cli.cli import main; main()"
    return [sys.executable, "-P", "-c", begin, *arguments]


def spawn(serve: Callable[..., None], *given: Any) -> Child:
    """A process that calls `serve(pipe, *given)`, which is found by its name there."""
    ours, theirs = Pipe()
    flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]  # as multiprocessing does
    command = [sys.executable, "-P", *flags, "-c", _BEGIN, str(theirs.fileno()), *search_path()]
    # It inherits what is blocked: a Ctrl-C while it is still importing is ours, not its own.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    theirs.close()
    ours.send((serve, given))
    return Child(process, ours)


def end(children: Iterable[Child]) -> None:
    """Terminate them all, and kill what does not end in 5 s."""
    ending = list(children)
    for child in ending:
        child.pipe.close()
        child.process.terminate()
    for child in ending:
        if child.exit_code() is None:
            child.process.kill()
            child.process.wait()


def serve(number: int) -> None:
    """In the child, of the pipe with this number: serve until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    pipe = Connection(number)
    with suppress(EOFError, OSError):
        work, given = pipe.recv()
        work(pipe, *given)


_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def anonymous_bytes() -> int:
    """Bytes held now that could not be read again from a file.

    Pages of mapped files are left out: the system drops them when memory is short. Where the system
    does not report them, the peak stands in.
    """
    resident, shared = _pages()
    return (resident - shared) * _PAGE_BYTES if resident else peak_resident_bytes()


def resident_bytes() -> int:
    """Bytes resident now, mapped files included; 0 where the system does not report them."""
    return _pages()[0] * _PAGE_BYTES


def _pages() -> tuple[int, int]:
    """Return resident pages, and how many of them are of files; zeros if unknown."""
    try:
        _, resident, shared = Path("/proc/self/statm").read_text().split()[:3]
    except OSError:
        return 0, 0
    return int(resident), int(shared)


def peak_resident_bytes() -> int:
    """The most that was ever resident, mapped files included."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def memory_a_core() -> int:
    """This machine's memory, by its number of cores."""
    return os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES // (os.cpu_count() or 1)
