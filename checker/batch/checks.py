"""Whole checks: in this process one after the other, or in processes side by side."""

from __future__ import annotations

import math
import time
import traceback
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from waterline.checker.batch.processes import (
    BYTES_A_PROCESS,
    Processes,
    free_bytes,
    processes_wanted,
)
from waterline.checker.batch.question import (
    Answer,
    Explorer,
    Question,
    Trouble,
    Watch,
    answer_of,
    compiled_together,
    unexplored_answer,
)
from waterline.checker.checking.run import Run, run
from waterline.checker.compiler.lookup_record import Record
from waterline.checker.compiler.problem_digest import reads_the_same, what_it_read
from waterline.checker.compiler.source import NotCompilable
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.problem import Shared, sharing_by_shape
from waterline.checker.problem.program_digest import program_digest
from waterline.checker.search.engines.engine import EngineFailed, threads_of
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.rule_errors import Raised
from waterline.checker.search.search import Snapshot
from waterline.checker.traces.violating_states import Path
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.layout import Layout

_REFUSED = (Refused, BadEnvironment, NotCompilable)


def checking(
    *,
    processes: int | None = None,
    begin: Callable[[str], None] = lambda name: None,
    snapshot: Callable[[Snapshot], None] = lambda snapshot: None,
    announce: Callable[[str], None] = lambda message: None,
) -> Explorer:
    """Return an explorer that runs a whole check for each question; a trouble is an answer.

    `processes` side by side, None for as many as the machine has room for, explore what the local
    engine is chosen for. `begin` receives the names of what begins, `snapshot` and `announce` how a
    check in this process comes on.
    """

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        together = compiled_together(questions)
        answers: dict[int, Answer] = {}

        def report(place: int, answer: Answer) -> None:
            answers[place] = answer
            watch.found(place, answer)

        local = [place for place, each in enumerate(together) if each.choice.name == "local"]
        wanted = processes_wanted(len(local), processes)
        with suppress(KeyboardInterrupt):
            if wanted > 1:
                with Processes(wanted, _check_elsewhere) as started:
                    _side_by_side({n: together[n] for n in local}, started, begin, report)
            for place, question in enumerate(together):
                if place not in answers:
                    begin(question.name)
                    report(place, check(question, snapshot=snapshot, announce=announce))
        return [answers.get(n) or unexplored_answer(each) for n, each in enumerate(questions)]

    return explore


def _side_by_side(
    questions: Mapping[int, Question],
    started: Processes,
    begin: Callable[[str], None],
    found: Callable[[int, Answer], None],
) -> None:
    """Check side by side; of those that share machine code, one compiles it for the others.

    The largest begin first, so that no process is idle for long in the end.
    """
    share = max(BYTES_A_PROCESS, free_bytes() // started.number)
    waiting = sorted(questions, key=lambda place: -questions[place].size)
    under_way = 0
    compiling: set[Hashable] = set()
    compiled: set[Hashable] = set()
    while waiting or under_way:
        for place in list(waiting):
            question = questions[place]
            shape = question.shape
            if not started.has_room:
                break
            is_alone = question.problem.shared is None
            if is_alone or shape in compiled or shape not in compiling:
                compiling.add(shape)
                waiting.remove(place)
                under_way += 1
                begin(question.name)
                started.give(place, _with_its_share(question, share))
        for place, answer in started.answers():
            under_way -= 1
            compiled.add(questions[place].shape)
            found(place, _answer_from_elsewhere(questions[place], answer))


def _with_its_share(question: Question, share: int) -> Question:
    """The question for one of several processes: one thread, and its share of the memory."""
    choice, budgets = question.choice, question.budgets
    if choice.threads == 0:
        choice = replace(choice, threads=1)
    if budgets.memory_bytes is None:
        budgets = replace(budgets, memory_bytes=share)
    return replace(question, choice=choice, budgets=budgets)


def _check_elsewhere(question: Question) -> tuple[Answer, str, Record]:
    """The answer of another process, with the program and the values of its rules."""
    answer = check(question)
    return answer, program_digest(), [] if answer.trouble else what_it_read(question.problem)


def _answer_from_elsewhere(
    question: Question, answer: tuple[Answer, str, Record] | Exception
) -> Answer:
    if isinstance(answer, Exception):
        return Answer(trouble=Trouble("failed", str(answer)))
    found, program, read = answer
    if found.trouble is not None:
        return found
    is_ours = program == program_digest() and reads_the_same(question.problem, read)
    return replace(found, is_ours=is_ours)


def check(
    question: Question,
    *,
    snapshot: Callable[[Snapshot], None] = lambda snapshot: None,
    announce: Callable[[str], None] = lambda message: None,
) -> Answer:
    """Check in this process. Raises `KeyboardInterrupt` where the user has ended it."""
    try:
        done = run(
            question.problem,
            question.choice,
            budgets=question.budgets,
            watch=snapshot,
            announce=announce,
        )
    except Raised as raised:
        return _trouble("raised", f"{raised} in {raised.describe_state}")
    except _REFUSED as refused:
        return _trouble("refused", str(refused))
    except (EngineFailed, MemoryError) as failed:
        return _trouble("failed", str(failed) or "out of memory")
    except Exception:
        # A mistake of ours: of all questions only this one is without an answer.
        return _trouble("failed", traceback.format_exc())
    if done.result.interrupted:
        raise KeyboardInterrupt
    return answer_of_run(done)


def _trouble(kind: str, message: str) -> Answer:
    return Answer(trouble=Trouble(kind, message))


def answer_of_run(done: Run) -> Answer:
    """The answer that a run in this process is."""
    paths: dict[str, Path] = {}
    cycles: dict[str, int] = {}
    for finding in done.findings:
        trace = finding.replayed.trace
        calls = tuple((s.action, tuple(value for _, value in s.arguments)) for s in trace.steps)
        paths[finding.invariant] = Path(trace.initial, calls)
        if trace.cycle is not None:
            cycles[finding.invariant] = trace.cycle
    return answer_of(done.result, paths, cycles)


def run_batch(
    questions: Sequence[Question],
    *,
    threads: int,
    shared: Mapping[Layout, Shared] | None = None,
    seconds_max: float = math.inf,
    announce: Callable[[str], None] = lambda message: None,
    watch: Callable[[int, int], None] = lambda done, of: None,
) -> list[Run]:
    """The runs of the first ones: of all, unless Ctrl-C or the seconds for all of them end it.

    `shared` says by shape what kernels are made for, None for what these problems have between
    them. What is compiled for the first one does not count as its time. `watch` receives how many
    are done, of how many. Raises as `run` does.
    """
    if shared is None:
        shared = sharing_by_shape(question.problem for question in questions)
    ends = math.inf
    runs: list[Run] = []
    with suppress(KeyboardInterrupt):
        for number, question in enumerate(questions):
            watch(number, len(questions))
            problem = replace(question.problem, shared=shared[question.problem.model.layout])
            prepare(problem, threads=threads_of(threads), announce=announce)
            if number == 0:
                ends = time.monotonic() + seconds_max
            left = ends - time.monotonic()
            if left <= 0:
                break
            within = question.budgets
            if left < math.inf:
                within = replace(within, max_seconds=left)
            choice = replace(question.choice, threads=threads)
            done = run(problem, choice, budgets=within, announce=announce)
            if done.result.interrupted:
                break
            runs.append(done)
    watch(len(runs), len(questions))
    return runs
