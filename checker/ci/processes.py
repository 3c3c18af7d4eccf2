"""Pool of search processes, which survives the death of a worker.

They end with the block that started them, however it ends. One that dies, because memory ran out
say, costs its search alone.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection, wait
from pathlib import Path
from types import TracebackType
from typing import Any

from waterline.checker.ci.searches import Search
from waterline.checker.search.engines.child_processes import Child, end, spawn

BYTES_A_PROCESS = 1 << 30
"""Memory that a process should have for its states; beyond its share they go to disk."""

Work = Callable[[Search], tuple[str, Any]]
"""A search run in a process; returns plain values. The process finds it by its name."""


def processes_wanted(searches: int, asked: int | None = None) -> int:
    """How many processes are worth their start: within cores, memory and what there is to do."""
    if asked is not None:
        return min(asked, max(searches, 1))
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return max(1, min(cores or 1, free_bytes() // BYTES_A_PROCESS, searches))


def free_bytes() -> int:
    """Return the memory that is free or can be freed; half of all if that is unknown."""
    with suppress(OSError, ValueError, StopIteration):
        lines = Path("/proc/meminfo").read_text().splitlines()
        text = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(text.split()[1]) * 1024
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2


@dataclass(slots=True)
class _Worker:
    child: Child
    busy: int | None = None


@dataclass(slots=True)
class Processes:
    """A number of processes, each with one thread and its share of the memory."""

    number: int
    work: Work
    _workers: list[_Worker] = field(default_factory=list)
    _share: int = field(init=False)

    def __post_init__(self) -> None:
        self._share = max(BYTES_A_PROCESS, free_bytes() // self.number)

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
        """Whether another search can be given out."""
        return sum(worker.busy is not None for worker in self._workers) < self.number

    def give(self, number: int, search: Search) -> None:
        """Begin a search; `number` is what its answer will be reported by."""
        worker = next((w for w in self._workers if w.busy is None), None) or self._start()
        worker.busy = number
        worker.child.pipe.send(self._with_its_share(search))

    def answers(self) -> Sequence[tuple[int, tuple[str, Any]]]:
        """Wait until something is answered; what was, by number.

        A process that died has ("failed", why) for an answer.
        """
        busy = {worker.child.pipe: worker for worker in self._workers if worker.busy is not None}
        found: list[tuple[int, tuple[str, Any]]] = []
        for pipe in wait(list(busy)):
            worker = busy[pipe]  # type: ignore[index]  # of the connections given
            number = worker.busy
            assert number is not None
            try:
                found.append((number, worker.child.pipe.recv()))
                worker.busy = None
            except EOFError:
                code = worker.child.exit_code()
                text = f"its process ended with code {code}"
                if code is not None and code < 0:
                    text = f"its process was ended by {signal.Signals(-code).name}; out of memory?"
                found.append((number, ("failed", text)))
                worker.child.pipe.close()
                self._workers.remove(worker)
        return found

    def _start(self) -> _Worker:
        worker = _Worker(spawn(_serve, self.work))
        self._workers.append(worker)
        return worker

    def _with_its_share(self, search: Search) -> Search:
        choice, budgets = search.choice, search.budgets
        if choice.threads == 0:
            choice = replace(choice, threads=1)
        if budgets.memory_bytes is None:
            budgets = replace(budgets, memory_bytes=self._share)
        return replace(search, choice=choice, budgets=budgets)


def _serve(pipe: Connection, work: Work) -> None:
    while True:
        pipe.send(work(pipe.recv()))
