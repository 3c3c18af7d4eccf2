"""Workers on Spark: each level one Python stage, a task for every owner.

Only candidates are shuffled, as blocks of bytes. Spark keeps what a level's tasks pass on until the
next level has read it; should an executor be lost with what it kept, the candidates are made anew
from the level's files, so that nothing older is ever needed.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from checker.engine import EngineFailed
from checker.engines.shipped_call import itself, values
from checker.engines.shipping import Shipped
from checker.engines.spark_job import SparkJobs
from checker.engines.spark_session import start_context, wait_for_executors
from checker.engines.task import LevelPlan, Report, load
from checker.engines.workers import WorkersLost
from checker.memory_use import memory_a_core
from checker.problem import Problem
from checker.store import programs
from checker.store.storage import Storage

BOOT_FRONTIER = 5_000
"""Frontier at which the session is started, so that it is up when it is needed."""
HAND_OVER_FRONTIER = 50_000
"""Frontier at which the driver hands over to Spark, unless it is told a number of levels."""
RENEW_LEVELS = 24
"""After so many levels candidates are made anew, and Spark can forget all that it kept."""
OWNERS_A_CORE = 2
CLUSTER_MEMORY_A_CORE = 2 << 30
"""What a core of a cluster is taken to have for Python; `--partitions` says otherwise."""
_GROWTH_EXPECTED = 16
"""How many candidates to expect, in the widest level to come, for each state of this one."""
_GATHERED_ROWS = 1 << 22


def owners_for(frontier: int, *, words: int, cores: int, memory_a_core: int) -> int:
    """How many owners there should be when a level of this size is handed over.

    Enough for every core, and so many that a task's candidates, once levels have grown, take no
    more than half of a core's memory (docs/scaling.md says how much each takes).
    """
    task_bytes = frontier * _GROWTH_EXPECTED * (32 * words + 24)
    return max(2, OWNERS_A_CORE * cores, -(-task_bytes // (memory_a_core // 2)))


class SparkWorkers:
    """Tasks on Spark. `context` is one that runs already; it is used and left alone.

    `driver_levels` is how many levels the driver explores before it hands over, None to let the
    frontier decide.
    """

    name = "spark"
    gathered_rows = _GATHERED_ROWS

    def __init__(
        self,
        *,
        problem: Problem,
        master: str | None = None,
        settings: Sequence[tuple[str, str]] = (),
        driver_levels: int | None = None,
        context: Any = None,
        on_wait: Callable[[str], None] = lambda reason: None,
        deadline: Callable[[], bool] | None = None,
    ) -> None:
        self.problem = problem
        self.master = master
        self.settings = tuple(settings)
        self._group = f"waterline-{uuid4()}"
        self._log = Path(tempfile.gettempdir()) / f"{self._group}.log"
        self._driver_levels = driver_levels
        self._context = context
        self._own_context = context is None
        self._boot: threading.Thread | None = None
        self._boot_error: BaseException | None = None
        self._on_wait = on_wait
        self._late = deadline or (lambda: False)
        self._jobs = SparkJobs(self._group, on_wait)
        self._candidates: Any = None
        self._cores = 0
        self._kept_levels = 0
        self._shipped: Shipped | None = None

    def is_wanted(self, depth: int, frontier: int) -> bool:
        """Whether the driver should hand over before it expands a level of this size."""
        if self._driver_levels is not None:
            if depth + 2 >= self._driver_levels:
                self._start_booting()
            return depth + 1 >= self._driver_levels
        if frontier >= BOOT_FRONTIER:
            self._start_booting()
        ready = self._boot is not None and not self._boot.is_alive()
        return frontier >= HAND_OVER_FRONTIER and ready

    def start(self, storage: Storage, work: str, *, frontier: int, visited: int) -> int:
        """Wait for the workers; two owners for each core, more where memory asks for it."""
        self._start_booting()
        words = self.problem.model.layout.words
        programs.make_ready(programs.over_files(words))
        assert self._boot is not None
        if self._boot.is_alive():
            self._on_wait("starting Spark")
        self._boot.join()
        if self._boot_error is not None:
            raise self._boot_error
        is_local = str(self._context.master).startswith("local")
        memory = memory_a_core() if is_local else CLUSTER_MEMORY_A_CORE
        return owners_for(frontier, words=words, cores=self._cores, memory_a_core=memory)

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Candidates of this process as an RDD: a partition for each owner and one for reports."""
        slices: list[list[tuple[int, bytes]]] = [[] for _ in range(owners + 1)]
        for owner, block in blocks:
            slices[owner].append((owner, block))

        def candidates() -> Any:
            return self._context.parallelize(slices, owners + 1).flatMap(itself)

        self._candidates = self._jobs.run(self._context, "at the first level", candidates)
        self._kept_levels = 0

    def explore(self, plan: LevelPlan) -> list[Report]:
        """One job: a stage of a task for each owner, and a small task that gathers reports."""
        owners = len(plan.owners)
        if not plan.absorbs:
            self.send([], owners)
        assert self._shipped is not None
        task = self._shipped.task(plan)

        def level() -> tuple[Any, list[Report]]:
            explored = self._candidates.mapPartitionsWithIndex(task, preservesPartitioning=False)
            sent = explored.partitionBy(owners + 1, itself)
            return sent, self._context.runJob(sent, values, [owners])

        reports: list[Report]
        self._candidates, reports = self._jobs.run(
            self._context, f"at level {plan.depth}", level, until=self._late
        )
        self._kept_levels += 1
        return reports

    def renew(self) -> bool:
        """Now and then, so that Spark's record of how candidates came to be does not grow."""
        return self._kept_levels >= RENEW_LEVELS

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """One task for each item, or a few for many."""
        if not items:
            return
        slices = min(len(items), 4 * self._cores)
        yield from self._each("while reading levels", items, slices, work)

    def _each(
        self, when: str, items: Sequence[Any], slices: int, work: Callable[[Any], Any]
    ) -> list[Any]:
        """What `work` makes of each item, in so many tasks."""
        assert self._shipped is not None
        each = self._shipped.each(work)

        def tasks() -> list[Any]:
            rdd = self._context.parallelize(list(items), slices).mapPartitions(each)
            found: list[Any] = rdd.collect()
            return found

        try:
            found: list[Any] = self._jobs.run(self._context, when, tasks)
        except WorkersLost as lost:
            # There is nothing to make anew: Spark has tried these tasks again already.
            raise EngineFailed(str(lost)) from lost
        return found

    def close(self) -> None:
        """Stop the session if it is ours."""
        if self._boot is not None:
            self._boot.join()
        if self._context is not None:
            self._jobs.close(self._context)
            if self._own_context:
                self._context.stop()
        self._context = None
        self._log.unlink(missing_ok=True)

    def _start_booting(self) -> None:
        """Start Spark and have its workers load the model, while the driver explores."""
        if self._boot is not None:
            return

        def boot() -> None:
            try:
                if self._context is None:
                    self._context = start_context(
                        self.master, settings=self.settings, log=self._log
                    )
                wait_for_executors(self._context)
                self._shipped = Shipped(self._context, describe=self._on_wait)
                self._cores = int(self._context.defaultParallelism)
                problems = [self.problem] * self._cores
                self._each("while it loads the model", problems, self._cores, load)
            except BaseException as problem:
                self._boot_error = problem

        self._boot = threading.Thread(target=boot, name="spark-session", daemon=True)
        self._boot.start()
