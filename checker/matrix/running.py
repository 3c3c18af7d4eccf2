"""Cells explored as one job: side by side in threads, or as tasks on Spark.

Either way a cell is explored by one thread in memory, and cells of one shape share what is
compiled.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from os import cpu_count
from pathlib import Path
from typing import Any
from uuid import uuid4

from checker.compiled.kernel import is_compiled
from checker.engine import EngineFailed
from checker.engines.choice import EngineChoice
from checker.engines.workers import WorkersLost
from checker.matrix.answering import Answer, Question, answer, problem_of, unexplored
from checker.prepare import prepare
from checker.result import INTERRUPTED

_LOOK_SECONDS = 1.0

Watch = Callable[[int, Collection[int] | None], None]
"""Is told how many questions are answered, and which are under way, where that is known."""

Explorer = Callable[[Sequence[Question], Watch], list[Answer]]
"""Answers questions, in their order."""


def unwatched(done: int, under_way: Collection[int] | None) -> None:
    """Where nobody watches."""


@contextmanager
def exploring(
    choice: EngineChoice, *, announce: Callable[[str], None] = lambda message: None
) -> Iterator[Explorer]:
    """Whoever explores cells, on an engine that is started once."""
    if choice.name == "local":
        threads = choice.threads or cpu_count() or 1

        def answers(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            return answers_here(questions, watch, threads=threads)

        yield _prepared(answers, announce)
    else:
        with _spark(choice, announce) as explorer:
            yield _prepared(explorer, announce)


def _prepared(explorer: Explorer, announce: Callable[[str], None]) -> Explorer:
    """The same, with what the questions need compiled before any of them is asked.

    Most share what is compiled. Ctrl-C meanwhile leaves all of them unexplored.
    """

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        try:
            for question in questions:
                problem = problem_of(question)
                if not is_compiled(problem):
                    prepare(problem, announce=announce)
        except KeyboardInterrupt:
            return [unexplored(question, INTERRUPTED) for question in questions]
        return explorer(questions, watch)

    return explore


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
            left = set(jobs)
            while left:
                done, left = wait(left, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for job in done:
                    job.result()
                running = [place for place, job in enumerate(jobs) if job.running()]
                watch(len(jobs) - len(left), running)
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
                watch(beside.submit(_finished, context, group).result(), None)
                return False

            try:
                answers: list[Answer] = jobs.run(context, "at the cells", cells.collect, until=look)
            except KeyboardInterrupt:
                jobs.cancel(context)
                return [unexplored(question, INTERRUPTED) for question in questions]
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
