"""Workers of a simulation: threads or Spark tasks, with the same walks in either.

Batches are numbered and merged in the order of their numbers. So the report is about the first so
many walks, however fast each worker was, also where the time is up or a violation ends the
simulation.
"""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from waterline.checker.analysis.simulate.coverage import Coverage, nothing_seen
from waterline.checker.analysis.simulate.walker import BATCH, Plan, Walker, recipe_of
from waterline.checker.compiler.program import load_program
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice, Interrupted, threads_of
from waterline.checker.search.engines.prepare import prepare

_LOOK_SECONDS = 0.2
_WAVE_SECONDS = 2.0
"""How long the tasks of a wave should take on Spark, if there are walks enough."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkQuota:
    """Request for walks: how many, None for as many as there is time for; and whether to end after
    the first batch that breaks a claim.
    """

    problem: Problem
    plan: Plan
    walks: int | None
    stop_at_first: bool = False

    def size(self, batch: int) -> int:
        """How many walks a batch has; 0 for none."""
        left = BATCH if self.walks is None else self.walks - batch * BATCH
        return max(0, min(BATCH, left))

    def ends(self, seen: Coverage) -> bool:
        """True if no further walk is wanted after what was seen."""
        return seen.fault is not None or (self.stop_at_first and bool(seen.sightings))


class InOrder:
    """Sum of the coverage of batches in their order, however they arrive."""

    def __init__(self, asked: WalkQuota) -> None:
        self.total = nothing_seen(asked.problem, asked.plan.depth)
        self.is_over = False
        self._asked = asked
        self._next = 0
        self._waiting: dict[int, Coverage] = {}

    def offer(self, number: int, seen: Coverage) -> None:
        """Add the coverage of a batch, or of a row of them; the numbers end up without a gap."""
        self._waiting[number] = seen
        while not self.is_over and self._next in self._waiting:
            found = self._waiting.pop(self._next)
            self.total.add(found)
            self.is_over = self._asked.ends(found)
            self._next += 1


Late = Callable[[], bool]
Watch = Callable[[Coverage], None]


def on_threads(asked: WalkQuota, threads: int, late: Late, watch: Watch) -> Coverage:
    """Walk on so many threads, 0 for one a core, until all is done or it is `late`.

    A batch that was begun is finished. `watch` receives now and then what has been seen.
    """
    numbers, order, one_by_one = itertools.count(), InOrder(asked), threading.Lock()
    failed = threading.Event()

    def take() -> None:
        try:
            walker = Walker(asked.problem, asked.plan)
            while not (late() or order.is_over or failed.is_set()):
                number = next(numbers)
                size = asked.size(number)
                if not size:
                    return
                seen = walker.batch(number * BATCH, size)
                with one_by_one:
                    order.offer(number, seen)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(threads_of(threads), thread_name_prefix="walks") as pool:
        walking = [pool.submit(take) for _ in range(threads_of(threads))]
        try:
            while not all(each.done() for each in walking):
                wait(walking, timeout=_LOOK_SECONDS)
                with one_by_one:
                    watch(order.total)
        except BaseException:
            failed.set()
            raise
        for each in walking:
            each.result()
    return order.total


@dataclass(frozen=True, slots=True)
class _Stretch:
    """A task on Spark: batches, one after the other."""

    asked: WalkQuota

    def __call__(self, batches: tuple[int, int]) -> Coverage:
        asked = self.asked
        prepare(asked.problem, optimised=True)
        load_program(recipe_of(asked.problem.model.layout.words))
        walker = Walker(asked.problem, asked.plan)
        total = nothing_seen(asked.problem, asked.plan.depth)
        for number in range(*batches):
            seen = walker.batch(number * BATCH, asked.size(number))
            total.add(seen)
            if asked.ends(seen):
                break
        return total


def on_spark(
    asked: WalkQuota,
    choice: EngineChoice,
    late: Late,
    watch: Watch,
    announce: Callable[[str], None],
) -> Coverage:
    """Walk in tasks on Spark, wave by wave; a wave that is under way when it is `late` is dropped.

    Raises what starting Spark raises, and `EngineFailed`.
    """
    from waterline.checker.search.engines.spark_side import SparkSide  # noqa: PLC0415 - threads need no Spark

    order, spark = InOrder(asked), SparkSide(choice, announce)
    try:
        spark.start()
        spark.wait()
        batches, share, number = 0, 1, itertools.count()
        while not (late() or order.is_over) and asked.size(batches):
            tasks = _stretches(asked, batches, 2 * spark.cores, share)
            began = time.monotonic()
            try:
                found = spark.each("while walking", tasks, len(tasks), _Stretch(asked), until=late)
            except Interrupted:
                break
            for seen in found:
                order.offer(next(number), seen)
            watch(order.total)
            batches = tasks[-1][1]
            if time.monotonic() - began < _WAVE_SECONDS:
                share *= 2
    finally:
        spark.close()
    return order.total


def _stretches(asked: WalkQuota, first: int, tasks: int, share: int) -> Sequence[tuple[int, int]]:
    """Rows of batches from `first` on, each from one number to before another."""
    rows = []
    for task in range(tasks):
        start = first + task * share
        sizes = [asked.size(number) for number in range(start, start + share)]
        if wanted := sum(1 for size in sizes if size):
            rows.append((start, start + wanted))
    return rows
