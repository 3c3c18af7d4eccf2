"""Pool of processes that do one piece of work after the other; it survives the death of one.

They end with the block that started them, however it ends. One that dies, because memory ran out
say, costs its piece alone.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from waterline.checker.search.engines.engine import EngineFailed
from waterline.checker.search.engines.processes import Child, end, spawn

_Item = TypeVar("_Item")
_Answer = TypeVar("_Answer")

BYTES_A_PROCESS = 1 << 30
"""Memory that a process should have for its states; beyond its share they go to disk."""


def processes_wanted(pieces: int, asked: int | None = None) -> int:
    """How many processes are worth their start: within cores, memory and what there is to do."""
    if asked is not None:
        return min(asked, max(pieces, 1))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, free_bytes() // BYTES_A_PROCESS, pieces))


def free_bytes() -> int:
    """Return the memory that is free or can be freed; half of all if that is unknown."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        text = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(text.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


class ProcessEnded(EngineFailed):
    """A process ended before it answered."""


@dataclass(slots=True)
class _Worker:
    child: Child
    busy: int | None = None


@dataclass(slots=True)
class Processes:
    """A number of processes, started as they are needed, which find `work` by its name."""

    number: int
    work: Callable[[Any], Any]
    _workers: list[_Worker] = field(default_factory=list)

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End them all."""
        end(worker.child for worker in self._workers)
        self._workers.clear()

    @property
    def has_room(self) -> bool:
        """True if another piece can be given out."""
        return sum(worker.busy is not None for worker in self._workers) < self.number

    def give(self, number: int, item: Any) -> None:
        """Begin a piece; `number` is what its answer will be reported by."""
        worker = next((w for w in self._workers if w.busy is None), None)
        if worker is None:
            worker = _Worker(spawn(_serve, self.work))
            self._workers.append(worker)
        worker.busy = number
        worker.child.pipe.send(item)

    def answers(self) -> Sequence[tuple[int, Any]]:
        """Wait until something is answered; what was, by number.

        The answer of a process that died is a `ProcessEnded`, that of work which raised the error.
        """
        busy = {worker.child.pipe: worker for worker in self._workers if worker.busy is not None}
        found: list[tuple[int, Any]] = []
        for pipe in wait(list(busy)):
            worker = busy[pipe]  # type: ignore[index]  # of the connections given
            number = worker.busy
            assert number is not None
            try:
                found.append((number, worker.child.pipe.recv()))
                worker.busy = None
            except (EOFError, OSError):
                code = worker.child.exit_code()
                text = f"its process ended with code {code}"
                if code is not None and code < 0:
                    text = f"its process was ended by {signal.Signals(-code).name}; out of memory?"
                found.append((number, ProcessEnded(text)))
                worker.child.pipe.close()
                self._workers.remove(worker)
        return found


def _serve(pipe: Connection, work: Callable[[Any], Any]) -> None:
    while True:
        item = pipe.recv()
        try:
            answer = work(item)
        except Exception as error:
            answer = error
        pipe.send(answer)


def in_order(
    work: Callable[[_Item], _Answer], items: Sequence[_Item], processes: int, *, what: str
) -> Iterator[_Answer]:
    """Yield `work(item)` for each item, in order; with one process, in this one.

    Raises what `work` raises, and `EngineFailed` if a process, `what` it is, was killed.
    """
    wanted = min(processes, len(items))
    if wanted <= 1:
        yield from map(work, items)
        return
    with Processes(wanted, work) as started:
        answers: dict[int, Any] = {}
        left = iter(range(len(items)))
        for number in range(len(items)):
            while number not in answers:
                while started.has_room and (given := next(left, None)) is not None:
                    started.give(given, items[given])
                answers.update(started.answers())
            answer = answers.pop(number)
            if isinstance(answer, ProcessEnded):
                raise EngineFailed(f"{what} was ended; out of memory?")
            if isinstance(answer, Exception):
                raise answer
            yield answer
