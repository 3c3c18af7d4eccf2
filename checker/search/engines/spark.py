"""Spark workers: a level is one Python stage, with a task per owner.

Only candidates pass from one level's tasks to the next (`checker.search.engines.spark_exchange`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from waterline.checker.compiler.predicate_loop import rules_of
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.choice import EngineChoice
from waterline.checker.search.engines.process_memory import memory_a_core
from waterline.checker.search.engines.spark_exchange import Exchange, FileExchange, ShuffleExchange
from waterline.checker.search.engines.spark_side import SparkSide
from waterline.checker.search.engines.task import LevelPlan, Report, load
from waterline.checker.search.engines.workers import GROWTH_EXPECTED, SENT_ROWS_MAX
from waterline.checker.storage import programs
from waterline.checker.storage.storage import LocalStorage, Storage

BOOT_FRONTIER = 500_000
"""Size of the frontier that starts the session. On one machine that takes cores from the driver,
which may end sooner than Spark is up: 7 million states with levels of up to 406,171 did.
"""
HAND_OVER_FRONTIER = 50_000
"""Size of the frontier that the driver hands over to Spark, unless a number of levels is given."""
OWNERS_A_CORE = 1
CLUSTER_MEMORY_A_CORE = 2 << 30
"""Memory for Python assumed for each core of a cluster; `--partitions` overrides the estimate."""


def owners_for(frontier: int, *, words: int, cores: int, memory_a_core: int) -> int:
    """How many owners there should be when a level of this size is handed over.

    One for each core, so that what a worker remembers of the states that it has sent stays valid
    (`checker.search.engines.outbox`); and so many that a task's candidates, once levels have grown,
    and the new states among them, take no more than half of a core's memory.
    """
    task_bytes = frontier * GROWTH_EXPECTED * 16 * words
    return max(2, OWNERS_A_CORE * cores, -(-task_bytes // (memory_a_core // 2)))


class SparkWorkers:
    """Tasks on Spark, as `choice` says. `deadline` returns True to cut a level short."""

    name = "spark"
    sent_rows = SENT_ROWS_MAX
    parts_max = 64

    def __init__(
        self,
        problem: Problem,
        choice: EngineChoice,
        *,
        on_wait: Callable[[str], None] = lambda reason: None,
        deadline: Callable[[], bool] | None = None,
    ) -> None:
        self.problem = problem
        self._driver_levels = choice.driver_levels
        self._late = deadline or (lambda: False)
        self._spark = SparkSide(choice, on_wait)
        self._exchange: Exchange | None = None

    @functools.cached_property
    def rules(self) -> str:
        """The digest of the rules, as this process imported them."""
        return problem_digest(self.problem)

    def is_wanted(self, depth: int, frontier: int) -> bool:
        """Whether the driver should hand over before it expands a level of this size."""
        if self._driver_levels is not None:
            if depth + 2 >= self._driver_levels:
                self._start()
            return depth + 1 >= self._driver_levels
        if frontier >= BOOT_FRONTIER:
            self._start()
        return frontier >= HAND_OVER_FRONTIER and self._spark.is_up

    def start(self, storage: Storage, work: str, *, frontier: int, visited: int) -> int:
        """Wait for the workers; two owners for each core, more where memory asks for it."""
        self._start()
        words = self.problem.model.layout.words
        # All of it is compiled and optimised once here, and loaded by each worker.
        programs.make_ready((*programs.over_files(words), *rules_of(self.problem)))
        self._spark.wait()
        if self._exchange is None:
            self._exchange = self._exchange_in(storage, work)
        memory = self._memory_a_core
        return owners_for(frontier, words=words, cores=self._spark.cores, memory_a_core=memory)

    def _exchange_in(self, storage: Storage, work: str) -> Exchange:
        """Files where the storage is a folder, which all machines see, else Spark's shuffle."""
        if isinstance(storage, LocalStorage):
            return FileExchange(self._spark, storage.root / work / "exchange")
        return ShuffleExchange(self._spark)

    @property
    def tasks(self) -> int:
        """One task a core."""
        return self._spark.cores

    @property
    def task_bytes(self) -> int:
        """Half of a core's memory."""
        return self._memory_a_core // 2

    @property
    def _memory_a_core(self) -> int:
        return memory_a_core() if self._spark.is_local else CLUSTER_MEMORY_A_CORE

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Candidates of this process."""
        assert self._exchange is not None
        self._exchange.send(blocks, owners)

    def explore(self, plan: LevelPlan) -> list[Report]:
        """Run one job, with a task for each owner."""
        assert self._exchange is not None
        return self._exchange.explore(plan, self._late)

    def renew(self) -> bool:
        """Where what Spark has to remember would grow."""
        return self._exchange is not None and self._exchange.must_renew()

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Run one task for each item, or a few for many."""
        if items:
            slices = min(len(items), 4 * self._spark.cores)
            yield from self._spark.each("while reading levels", items, slices, work)

    def close(self) -> None:
        """Stop the session if it is ours."""
        self._spark.close()
        if self._exchange is not None:
            self._exchange.close()

    def _start(self) -> None:
        """Start Spark and have its workers load the model, while the driver explores."""

        def load_everywhere() -> None:
            problems = [self.problem] * self._spark.cores
            self._spark.each("while it loads the model", problems, self._spark.cores, load)

        self._spark.start(load_everywhere)
