"""Threads that answer queries, while this one makes the next.

A query is text, and is answered in a context of its own: so answers and steps are those of one
thread. How many queries are made before an answer is looked at does not depend on the machine
either, for a term is named by how many there were before.

All terms are of this thread, and no other may free one. Python collects cycles in whatever thread
it likes; meanwhile it does so here, between two queries.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Any, Generic, TypeVar

from waterline.checker.proof.obligations import Query
from waterline.checker.proof.solver import Ask, Attempt
from waterline.checker.search.engines.engine import threads_of

Item = TypeVar("Item")
_AHEAD = 32
_INTERRUPT_SECONDS = 0.02


class Solvers(Generic[Item]):
    """So many threads with a solver, 0: one for each core. They end with the block."""

    def __init__(self, threads: int = 0) -> None:
        self._threads = ThreadPoolExecutor(threads_of(threads), thread_name_prefix="solver")
        self._given: deque[tuple[Item, Future[Attempt]]] = deque()
        self._running: set[Any] = set()

    def __enter__(self) -> Solvers[Item]:
        self._collects = gc.isenabled()
        gc.disable()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """End them all: what is running is interrupted."""
        begun = [future for _, future in self._given if not future.cancel()]
        self._threads.shutdown(wait=False)
        while wait(begun, _INTERRUPT_SECONDS).not_done:
            for solver in list(self._running):
                solver.interrupt()
        if self._collects:
            gc.enable()

    def give(self, item: Item, query: tuple[Query, Ask]) -> None:
        """Have a query answered after all that were given before; `item` is what it is about."""
        gc.collect(1)
        asked, ask = query
        future = self._threads.submit(ask, asked, self._running)
        self._given.append((item, future))

    def ahead(
        self, queries: Iterable[tuple[Item, tuple[Query, Ask]]]
    ) -> Iterator[tuple[Item, Attempt]]:
        """Every item with its answer, in order, those that are given meanwhile among them."""
        for item, query in queries:
            self.give(item, query)
            if len(self._given) > _AHEAD:
                yield self._next()
        while self._given:
            yield self._next()

    def _next(self) -> tuple[Item, Attempt]:
        item, future = self._given[0]
        attempt = future.result()
        self._given.popleft()
        return item, attempt
