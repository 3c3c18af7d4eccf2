"""The cells of a grid, explored as one job: side by side in threads, or as tasks on Spark.

Either way a cell is explored by one thread in memory, and all share one compiled kernel. The driver
replays every counterexample that it shows.
"""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from os import cpu_count
from pathlib import Path
from typing import Any
from uuid import uuid4

from checker.compiled.prepare import prepare
from checker.engine import EngineFailed
from checker.engines.choice import EngineChoice
from checker.engines.partitioned import WorkersLost
from checker.matrix.answering import Answer, Question, answer, question_of, unexplored
from checker.matrix.grid import Cell, Grid
from checker.matrix.outcome import Outcome, Standing, judged

INTERRUPTED = "interrupt (Ctrl-C)"

Watch = Callable[[int], None]
"""Is told how many cells are explored."""

Explorer = Callable[[Sequence[Question], Watch], list[Answer]]
"""Answers questions, in their order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A grid and what came out, cell by cell."""

    grid: Grid
    outcomes: tuple[Outcome, ...]
    engine: str
    seconds: float

    @property
    def complete(self) -> bool:
        """Whether every cell was explored in full."""
        return all(outcome.answer.complete for outcome in self.outcomes)

    @property
    def interrupted(self) -> bool:
        """Whether the user ended it."""
        return any(outcome.answer.stopped_by == INTERRUPTED for outcome in self.outcomes)

    @property
    def distinct(self) -> int:
        """States of all cells together."""
        return sum(outcome.answer.distinct for outcome in self.outcomes)

    def count(self, standing: Standing) -> int:
        """How many cells stand so."""
        return sum(outcome.standing is standing for outcome in self.outcomes)


def explore_grid(
    grid: Grid, explorer: Explorer, *, engine: str, watch: Watch = lambda done: None
) -> Matrix:
    """Explore every cell of a grid."""
    started = time.monotonic()
    cells = list(grid.cells())
    outcomes = explore_cells(grid, cells, explorer, watch=watch)
    seconds = time.monotonic() - started
    return Matrix(grid=grid, outcomes=tuple(outcomes), engine=engine, seconds=seconds)


def explore_cells(
    grid: Grid,
    cells: Sequence[Cell],
    explorer: Explorer,
    *,
    watch: Watch = lambda done: None,
    stop_at_first: bool = False,
) -> list[Outcome]:
    """Explore these cells of a grid; with `stop_at_first` only whether all claims hold matters.

    Raises `Raised` when an action or an invariant raises, and `TraceError` when a counterexample
    does not replay.
    """
    questions = [question_of(cell, grid, stop_at_first=stop_at_first) for cell in cells]
    answers = explorer(questions, watch)
    return judged(grid, cells, answers)


@contextmanager
def exploring(
    grid: Grid, choice: EngineChoice, *, announce: Callable[[str], None] = lambda message: None
) -> Iterator[Explorer]:
    """Whoever explores the cells of this grid's shape, compiled and started once."""
    prepare(next(grid.cells()).problem(grid.invariants), announce=announce)
    if choice.name == "local":
        threads = choice.threads or cpu_count() or 1
        yield lambda questions, watch: answers_here(questions, watch, threads=threads)
    else:
        with _spark(choice, announce) as explorer:
            yield explorer


def answers_here(questions: Sequence[Question], watch: Watch, *, threads: int) -> list[Answer]:
    """Explore in threads of this process. Ctrl-C leaves what was not finished incomplete."""
    stop = threading.Event()

    def late() -> bool:
        if stop.is_set():
            raise KeyboardInterrupt
        return False

    with ThreadPoolExecutor(threads, thread_name_prefix="cell") as pool:
        jobs = [pool.submit(answer, question, late) for question in questions]
        try:
            for done, job in enumerate(as_completed(jobs), start=1):
                job.result()
                watch(done)
        except BaseException as ended:
            stop.set()
            for job in jobs:
                job.cancel()
            if not isinstance(ended, KeyboardInterrupt):
                raise
    return [
        unexplored(question, INTERRUPTED) if job.cancelled() else job.result()
        for question, job in zip(questions, jobs, strict=True)
    ]


@contextmanager
def _spark(choice: EngineChoice, announce: Callable[[str], None]) -> Iterator[Explorer]:
    """One job on Spark for all questions of a call, a task for each. Raises `EngineFailed`."""
    from checker.engines.shipping import Shipped  # noqa: PLC0415 - the local engine needs none
    from checker.engines.spark_job import SparkJobs  # noqa: PLC0415
    from checker.engines.spark_session import (  # noqa: PLC0415
        start_context,
        wait_for_executors,
    )

    group = f"waterline-{uuid4()}"
    log = Path(tempfile.gettempdir()) / f"{group}.log"
    context: Any = getattr(choice.session, "sparkContext", choice.session)
    jobs = SparkJobs(group, announce)

    def start() -> Callable[[Iterator[Any]], Iterator[Any]]:
        nonlocal context
        if context is None:
            announce("starting Spark")
            context = start_context(choice.master, settings=choice.settings, log=log)
        wait_for_executors(context)
        return Shipped(context, describe=announce).each(answer)

    # Whatever talks to the JVM does so beside this thread, which Ctrl-C then finds waiting.
    beside = ThreadPoolExecutor(1, thread_name_prefix="spark-side")
    try:
        each = beside.submit(start).result()

        def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            if not questions:
                return []
            cells = context.parallelize(list(questions), len(questions)).mapPartitions(each)

            def look() -> bool:
                watch(beside.submit(_finished, context, group).result())
                return False

            try:
                answers: list[Answer] = jobs.run(context, "at the cells", cells.collect, until=look)
            except WorkersLost as lost:
                raise EngineFailed(str(lost)) from lost  # Spark has tried these tasks again
            return answers

        yield explore
    finally:
        beside.shutdown(wait=True)
        if context is not None:
            jobs.close(context)
            if choice.session is None:
                context.stop()
        log.unlink(missing_ok=True)


def _finished(context: Any, group: str) -> int:
    """How many tasks of the group's last job have ended."""
    tracker = context.statusTracker()
    job = tracker.getJobInfo(max(tracker.getJobIdsForGroup(group), default=-1))
    stages = [tracker.getStageInfo(stage) for stage in job.stageIds] if job else []
    return sum(stage.numCompletedTasks for stage in stages if stage)
