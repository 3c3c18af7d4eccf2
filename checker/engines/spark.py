"""The Spark engine: the same search, each level one Python stage.

The driver explores the first levels itself while the session boots. Once the frontier outgrows it,
every owner's share is a partition: a task absorbs the candidates that were sent to its owner,
checks what is new, expands it, and sends candidates on. Only candidates are shuffled, as blocks of
bytes. What has been visited stays in immutable sorted runs on storage that every executor sees.
"""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checker.compiled.expander import Findings, Tally
from checker.engine import Arrivals, EngineFailed, Expansion, Interrupted, ModelFault
from checker.engines.memory import MemoryEngine, merge_findings
from checker.engines.spark_session import start_context
from checker.engines.task import LevelPlan, OwnerPlan, Report, explore, split_by_owner
from checker.problem import Problem
from checker.store.blocks import Rows
from checker.store.runs import read_run, sort_unique, warm_up, write_run

BOOT_FRONTIER = 5_000
"""Frontier at which the session is started, so that it is up when it is needed."""
HAND_OVER_FRONTIER = 50_000
"""Frontier at which the driver hands over to Spark, unless it is told a number of levels."""


_DEADLINE_SECONDS = 0.5


class _Owned:
    """The runs of one owner, oldest and largest first, as (path, rows)."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, int]] = []

    def plan(self, merged: str) -> OwnerPlan:
        """Which runs to merge before the next level, so that there are few and merging stays cheap.

        Runs are merged while one is less than twice as large as all that came after it: each state
        is then rewritten about as often as the logarithm of their number.
        """
        keep = len(self.runs)
        tail = 0
        while keep > 0 and (tail == 0 or self.runs[keep - 1][1] < 2 * tail):
            keep -= 1
            tail += self.runs[keep][1]
        tiers = self.runs[keep:]
        if len(tiers) < 2:
            return OwnerPlan(runs=tuple(path for path, _ in self.runs))
        self.runs[keep:] = [(merged, tail)]
        return OwnerPlan(
            runs=tuple(path for path, _ in self.runs[:keep]),
            merge=tuple(path for path, _ in tiers),
            merged=merged,
        )


class SparkEngine:
    """Breadth-first search on Spark.

    `partitions` is the number of owners. `driver_levels` is how many levels the driver explores
    before it hands over, None to let the frontier decide, 0 for none. `directory` must be a path
    that all executors see; without one a temporary directory is used and removed.
    """

    name = "spark"

    def __init__(
        self,
        problem: Problem,
        *,
        master: str = "local[*]",
        partitions: int | None = None,
        driver_levels: int | None = None,
        threads: int = 0,
        directory: Path | None = None,
        context: Any = None,
        on_wait: Callable[[str], None] = lambda reason: None,
        deadline: Callable[[], bool] | None = None,
    ) -> None:
        self.problem = problem
        self.words = problem.model.layout.words
        self.width = (0,) * self.words
        self.depth = -1
        self.master = master
        self._partitions = partitions
        self._driver_levels = driver_levels
        self._driver: MemoryEngine | None = MemoryEngine(
            problem, threads=threads, deadline=deadline
        )
        self._own_directory = directory is None
        self.directory = directory or Path(tempfile.mkdtemp(prefix="waterline-"))
        self._context = context
        self._own_context = context is None
        self._boot: threading.Thread | None = None
        self._boot_error: BaseException | None = None
        self._on_wait = on_wait
        self._owned: list[_Owned] = []
        self._candidates: Any = None
        self._held: list[Report] = []
        self._late = deadline or (lambda: False)
        self._jobs = ThreadPoolExecutor(1, thread_name_prefix="spark-job")
        self._job: Future[Any] | None = None

    def close(self) -> None:
        """Stop the session if it is ours, and remove what is temporary."""
        if self._driver is not None:
            self._driver.close()
        if self._boot is not None:
            self._boot.join()
        if self._context is not None:
            if self._job is not None and not self._job.done():
                self._context.cancelAllJobs()
            self._jobs.shutdown(wait=True)
            if self._own_context:
                self._context.stop()
        self._context = None
        if self._own_directory:
            shutil.rmtree(self.directory, ignore_errors=True)

    def absorb(self) -> Arrivals:
        """The next level, from the driver or from one Spark job."""
        if self._driver is not None and self._driver_levels == 0:
            self._hand_over()
        if self._driver is not None:
            arrivals = self._driver.absorb()
            self.depth = arrivals.depth
            return Arrivals(
                depth=arrivals.depth, new=arrivals.new, broken=arrivals.broken, on="driver"
            )
        self.depth += 1
        self._held = self._run_level()
        findings = Findings(self.problem)
        for report in self._held:
            part = Findings(self.problem)
            for number, words in report.broken.items():
                part.broken[number] = True
                part.least[number] = words
            part.faults = report.faults
            merge_findings(findings, part)
        if findings.faults:
            raise ModelFault(min(findings.faults))
        return Arrivals(
            depth=self.depth,
            new=sum(report.new for report in self._held),
            broken=findings.as_dict(),
            on="spark",
        )

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """What the level's tasks found when they expanded it; or expand it in the driver."""
        if self._driver is not None:
            expansion = self._driver.expand(happened)
            self._consider_hand_over()
            return expansion
        total = Tally(self.problem, happened)
        for report in self._held:
            part = Tally(self.problem)
            part.fired += report.fired
            part.cut += report.cut
            part.happened |= report.happened
            part.deadlock = report.deadlock
            part.faults = report.expansion_faults
            total.add(part)
        if total.faults:
            raise ModelFault(min(total.faults))
        return Expansion(
            fired=total.fired, cut=total.cut, happened=total.happened, deadlock=total.deadlock
        )

    def level(self, depth: int) -> Iterator[Rows]:
        """A level, from the driver's memory or from its files."""
        if self._driver is not None:
            yield from self._driver.level(depth)
            return
        for path in sorted(self._level_directory(depth).glob("*.npy")):
            yield read_run(path)

    def _level_directory(self, depth: int) -> Path:
        return self.directory / f"level-{depth:05d}"

    def _consider_hand_over(self) -> None:
        assert self._driver is not None
        waiting = self._driver.pending
        if waiting == 0:
            return
        if self._driver_levels is not None:
            if self.depth + 1 >= self._driver_levels:
                self._hand_over()
            elif self.depth + 2 >= self._driver_levels:
                self._start_booting()
            return
        if waiting >= BOOT_FRONTIER:
            self._start_booting()
        if waiting >= HAND_OVER_FRONTIER and self._boot is not None and not self._boot.is_alive():
            self._hand_over()

    def _start_booting(self) -> None:
        if self._context is not None or self._boot is not None:
            return

        def boot() -> None:
            try:
                self._context = start_context(self.master, log=self.directory / "spark.log")
            except BaseException as problem:
                self._boot_error = problem

        self._boot = threading.Thread(target=boot, name="spark-session", daemon=True)
        self._boot.start()

    def _wait_for_context(self) -> Any:
        self._start_booting()
        warm_up(self.width)
        if self._boot is not None:
            if self._boot.is_alive():
                self._on_wait("starting Spark")
            self._boot.join()
        if self._boot_error is not None:
            raise self._boot_error
        return self._context

    def _hand_over(self) -> None:
        """Write what the driver has visited, and make its pending states the first candidates."""
        assert self._driver is not None
        driver = self._driver
        context = self._wait_for_context()
        owners = self._partitions or max(2, context.defaultParallelism)
        self._owned = [_Owned() for _ in range(owners)]
        if driver.depth < 0:
            driver.begin()
        for depth in range(driver.depth + 1):
            rows = np.concatenate([*driver.level(depth)])
            write_run(self._level_directory(depth) / "driver.npy", sort_unique(self.width, rows))
        self._write_visited(
            [read_run(p) for p in sorted(self.directory.glob("level-*/driver.npy"))]
        )
        pending = np.concatenate([*driver.level(driver.depth + 1)])
        blocks = [
            [(owner, rows.tobytes())] if len(rows) else []
            for owner, rows in enumerate(split_by_owner(self.words, pending, owners))
        ]
        self._candidates = context.parallelize([*blocks, []], owners + 1).flatMap(_itself)
        driver.close()
        self._driver = None

    def _write_visited(self, levels: list[Rows]) -> None:
        if not levels:
            return
        owners = len(self._owned)
        for owner, rows in enumerate(split_by_owner(self.words, np.concatenate(levels), owners)):
            if len(rows):
                path = self.directory / "visited" / f"driver-{owner:05d}.npy"
                write_run(path, sort_unique(self.width, rows))
                self._owned[owner].runs.append((str(path), len(rows)))

    def _run_level(self) -> list[Report]:
        """One job: a stage of a task for each owner, and a small task that gathers reports."""
        owners = len(self._owned)
        merged = self.directory / "visited" / f"to-{self.depth:05d}"
        plan = LevelPlan(
            problem=self.problem,
            owners=tuple(
                owned.plan(f"{merged}-{number:05d}.npy") for number, owned in enumerate(self._owned)
            ),
            arrivals=f"{self._level_directory(self.depth)}/part-{{owner:05d}}.npy",
            happened=(False,) * len(self.problem.reachable),
        )
        explored = self._candidates.mapPartitionsWithIndex(_Task(plan), preservesPartitioning=False)
        sent = explored.partitionBy(owners + 1, _itself)
        reports = self._await(lambda: self._context.runJob(sent, _values, [owners]))
        self._candidates = sent
        for report in reports:
            if report.new:
                path = plan.arrivals.format(owner=report.owner)
                self._owned[report.owner].runs.append((path, report.new))
        return sorted(reports, key=lambda report: report.owner)

    def _await(self, job: Callable[[], Any]) -> Any:
        """Run a job in a thread of its own, so that Ctrl-C and deadlines reach this one."""
        self._job = self._jobs.submit(job)
        while not self._job.done():
            wait([self._job], timeout=_DEADLINE_SECONDS)
            if self._late():
                raise Interrupted
        try:
            return self._job.result()
        except Exception as problem:
            cause = str(getattr(problem, "java_exception", problem)).strip().splitlines()
            # Of a Python traceback the last line before the JVM's own trace says what it was.
            told = [line for line in cause if line and not line.startswith((" ", "\t"))]
            ends = " ... ".join(dict.fromkeys([*told[:1], *told[-1:]]))
            raise EngineFailed(f"Spark failed at level {self.depth}: {ends}") from problem


class _Task:
    """`explore` with its plan, as Spark wants it."""

    def __init__(self, plan: LevelPlan) -> None:
        self.plan = plan

    def __call__(
        self, owner: int, blocks: Iterator[tuple[int, bytes]]
    ) -> Iterator[tuple[int, Any]]:
        return explore(self.plan, owner, blocks)


def _itself(value: Any) -> Any:
    return value


def _values(pairs: Iterator[tuple[int, Any]]) -> Iterator[Any]:
    return (value for _, value in pairs)
