"""Parallel exploration of cells, in threads or on Spark.

Either way a cell is explored by one thread in memory, and cells of one shape share what is
compiled.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager

from waterline.checker.compiler.kernel import is_compiled, recipes_of
from waterline.checker.kafka.matrix.answering import (
    Answer,
    Question,
    answer,
    problem_of,
    unexplored_answer,
)
from waterline.checker.search.engines.choice import EngineChoice, threads_of
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import INTERRUPTED

_LOOK_SECONDS = 1.0
_LONG_SECONDS = 1.5
"""Seconds of work in unoptimised rules of Kafka before optimising them pays off."""

Watch = Callable[[int, Collection[int] | None], None]
"""Receives how many questions are answered, and which are under way, where that is known."""

Explorer = Callable[[Sequence[Question], Watch], list[Answer]]
"""Answers questions, in their order."""


Found = Callable[[Question, Answer], None]
"""Receives each answer as it comes, in one thread."""


def unfound(question: Question, answer: Answer) -> None:
    """Ignore single answers."""


def ignore_progress(done: int, under_way: Collection[int] | None) -> None:
    """Ignore progress."""


@contextmanager
def exploring(
    choice: EngineChoice,
    *,
    announce: Callable[[str], None] = lambda message: None,
    found: Found = unfound,
) -> Iterator[Explorer]:
    """An explorer of cells, on an engine that is started once. Spark finds all of a job at once."""
    if choice.name == "local":
        threads = threads_of(choice.threads)

        def answers(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            return answers_here(questions, watch, threads=threads, found=found)

        yield _prepare(answers, announce)
    else:
        with _spark(choice, announce) as explorer:
            yield _prepare(explorer, announce)


def _prepare(explorer: Explorer, announce: Callable[[str], None]) -> Explorer:
    """Return an explorer that compiles what the questions need before it starts them.

    Most share the compiled code. Ctrl-C meanwhile leaves all of them unexplored. Rules are
    optimised immediately if the questions of a call would run them long enough, judged by the
    average of earlier questions; the first call has none, and its answer comes sooner.
    """
    answered, worked_seconds = 0, 0.0

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        nonlocal answered, worked_seconds
        expected_seconds = worked_seconds / max(answered, 1)
        try:
            problems = [problem_of(question) for question in questions]
            sharing = Counter(map(recipes_of, problems))
            for problem in problems:
                if not is_compiled(problem):
                    work_seconds = expected_seconds * sharing[recipes_of(problem)]
                    optimised = work_seconds >= _LONG_SECONDS
                    prepare(problem, optimised=optimised, announce=announce)
        except KeyboardInterrupt:
            return [unexplored_answer(question, INTERRUPTED) for question in questions]
        answers = explorer(questions, watch)
        answered += len(answers)
        worked_seconds += sum(answer.seconds for answer in answers)
        return answers

    return explore


def answers_here(
    questions: Sequence[Question], watch: Watch, *, threads: int, found: Found = unfound
) -> list[Answer]:
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
                    found(questions[jobs.index(job)], job.result())
                running = [place for place, job in enumerate(jobs) if job.running()]
                watch(len(jobs) - len(left), running)
        except BaseException as ended:
            stop.set()
            for job in jobs:
                job.cancel()
            if not isinstance(ended, KeyboardInterrupt):
                raise
    return [
        unexplored_answer(question, INTERRUPTED) if job.cancelled() else job.result()
        for question, job in zip(questions, jobs, strict=True)
    ]


@contextmanager
def _spark(choice: EngineChoice, announce: Callable[[str], None]) -> Iterator[Explorer]:
    """Run one job on Spark for all questions of a call, a task for each. Raises `EngineFailed`."""
    from waterline.checker.search.engines.spark_side import SparkSide  # noqa: PLC0415 - the local engine needs none

    spark = SparkSide(choice, announce)
    # Whatever talks to the JVM does so beside this thread, which Ctrl-C then finds waiting.
    beside = ThreadPoolExecutor(1, thread_name_prefix="spark-side")
    try:
        spark.start()
        spark.wait()

        def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            if not questions:
                return []

            def look() -> bool:
                watch(beside.submit(spark.finished_tasks).result(), None)
                return False

            try:
                answers: list[Answer] = spark.each(
                    "at the cells", questions, len(questions), answer, until=look
                )
            except KeyboardInterrupt:
                spark.cancel()
                return [unexplored_answer(question, INTERRUPTED) for question in questions]
            return answers

        yield explore
    finally:
        beside.shutdown(wait=True)
        spark.close()
