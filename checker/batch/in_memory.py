"""Exploration of many small spaces side by side, in threads or on Spark.

Either way a space is explored by one thread in memory. Spaces of one shape share what is compiled.
An executor has neither rich nor networkx: nothing here may import what needs them.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import closing, contextmanager

from waterline.checker.batch.question import (
    UNWATCHED,
    Answer,
    Explorer,
    Question,
    Watch,
    answer_of,
    unexplored_answer,
)
from waterline.checker.compiler.kernel import is_compiled, recipes_of
from waterline.checker.search.engines.engine import EngineChoice, ModelFault, threads_of
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.search import search
from waterline.checker.traces.fewest_actors import paths_to_breaking
from waterline.checker.traces.violating_states import breaking_states

_LOOK_SECONDS = 1.0
_STATES_MANY = 5_000_000
"""From so many expected states on all cores wait until the rules are optimised, which takes up to
5 s; for fewer that happens in the background, if at all."""


def explore(question: Question, late: Callable[[], bool] = lambda: False) -> Answer:
    """Explore a space in this thread. `late` may raise `KeyboardInterrupt` to end it early."""
    problem = question.problem
    with closing(MemoryEngine(problem, threads=1, deadline=late)) as engine:
        try:
            result = search(problem, engine, budgets=question.budgets)
        except ModelFault as fault:
            return Answer(raised_in=fault.words)
        breaking = breaking_states(problem, engine, result)
        return answer_of(result, paths_to_breaking(problem, engine, breaking))


@contextmanager
def exploring(
    choice: EngineChoice, *, announce: Callable[[str], None] = lambda message: None
) -> Iterator[Explorer]:
    """An explorer on an engine that is started once. Spark finds all answers of a job at once."""
    if choice.name == "local":
        threads = threads_of(choice.threads)

        def answers(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            return explore_in_threads(questions, watch, threads=threads)

        yield _prepare(answers, announce)
    else:
        with _spark(choice, announce) as explorer:
            yield _prepare(explorer, announce)


def _prepare(explorer: Explorer, announce: Callable[[str], None]) -> Explorer:
    """Return an explorer that compiles what the questions need before it starts them.

    Most share the compiled code. Ctrl-C meanwhile leaves all of them unexplored. Rules are
    optimised immediately if the questions of a call have states enough, judged by the average of
    earlier questions; the first call has none, and its answer comes sooner.
    """
    answered = states = 0

    def explore_prepared(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        nonlocal answered, states
        expected = states / max(answered, 1)
        try:
            sharing = Counter(recipes_of(question.problem) for question in questions)
            for question in questions:
                problem = question.problem
                if not is_compiled(problem):
                    optimised = expected * sharing[recipes_of(problem)] >= _STATES_MANY
                    prepare(problem, optimised=optimised, announce=announce)
        except KeyboardInterrupt:
            return list(map(unexplored_answer, questions))
        answers = explorer(questions, watch)
        answered += len(answers)
        states += sum(answer.distinct for answer in answers)
        return answers

    return explore_prepared


def explore_in_threads(
    questions: Sequence[Question], watch: Watch = UNWATCHED, *, threads: int
) -> list[Answer]:
    """Explore in threads of this process. Ctrl-C leaves what was not finished incomplete."""
    stop = threading.Event()

    def late() -> bool:
        if stop.is_set():
            raise KeyboardInterrupt
        return False

    with ThreadPoolExecutor(threads, thread_name_prefix="space") as pool:
        jobs = [pool.submit(explore, question, late) for question in questions]
        try:
            left = set(jobs)
            while left:
                done, left = wait(left, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
                for job in done:
                    watch.found(jobs.index(job), job.result())
                running = [place for place, job in enumerate(jobs) if job.running()]
                watch.progress(len(jobs) - len(left), running)
        except BaseException as ended:
            stop.set()
            for job in jobs:
                job.cancel()
            if not isinstance(ended, KeyboardInterrupt):
                raise
    return [
        unexplored_answer(question) if job.cancelled() else job.result()
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

        def answers(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            if not questions:
                return []

            def look() -> bool:
                watch.progress(beside.submit(spark.finished_tasks).result(), None)
                return False

            try:
                found: list[Answer] = spark.each(
                    "at the cells", questions, len(questions), explore, until=look
                )
            except KeyboardInterrupt:
                spark.cancel()
                return list(map(unexplored_answer, questions))
            for place, answer in enumerate(found):
                watch.found(place, answer)
            return found

        yield answers
    finally:
        beside.shutdown(wait=True)
        spark.close()
