"""A whole simulation: walks on threads or in Spark tasks, violations replayed and shortened.

Batches are numbered and merged in the order of their numbers. So the report is about the first so
many walks, however fast each worker was, also where the time is up or a violation ends the
simulation.
"""

from __future__ import annotations

import itertools
import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass

from waterline.checker.analysis.simulate.coverage import Coverage, Sighting, nothing_seen
from waterline.checker.analysis.simulate.shortening import Shortened, with_steps_left_out
from waterline.checker.analysis.simulate.walker import BATCH, Plan, Walker, recipe_of
from waterline.checker.checking.run import run
from waterline.checker.compiler.origins import call_of
from waterline.checker.compiler.program import load_program
from waterline.checker.problem.problem import Problem
from waterline.checker.search.account import happened_at_first
from waterline.checker.search.engines.engine import (
    EngineChoice,
    Interrupted,
    ModelFault,
    threads_of,
)
from waterline.checker.search.engines.interrupts import Interrupts
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import INTERRUPTED, Budgets, Verdict
from waterline.checker.search.rule_errors import explain_fault
from waterline.checker.traces.violating_states import Path
from waterline.model.core.claim import ActionProperty, Invariant

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


NOT_SEEN = "not seen"
"""Result of a claim that no walk broke. It may be broken where no walk has been."""
WALKS = 100_000
"""How many walks there are where neither a number nor a time is given."""
SHORTEN_STATES = 1_000_000
"""How many states the search for shorter counterexamples may look at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """How much is wanted: `walks`, None for as many as `seconds` allow; after how many states the
    search for shorter counterexamples ends, 0 for none.
    """

    walks: int | None = WALKS
    seconds: float | None = None
    stop_at_first: bool = False
    shorten_states: int = SHORTEN_STATES


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """Result of the first `coverage.walks` walks, without a verdict on states outside them.

    `stopped_by` is what prevented further walks requested, None if nothing did.
    """

    problem: Problem
    plan: Plan
    engine: str
    coverage: Coverage
    found: tuple[Shortened, ...]
    stopped_by: str | None
    seconds: float
    prepare_seconds: float

    def verdict(self, claim: Invariant | ActionProperty) -> str:
        """`violated`, `not seen` or `not applicable`; nothing else is ever said."""
        if any(each.finding.invariant == claim.name for each in self.found):
            return Verdict.VIOLATED.value
        return NOT_SEEN if self.problem.is_checked(claim) else Verdict.NOT_APPLICABLE.value

    def broken_in(self, name: str) -> int:
        """In how many walks a claim broke, or would have with one more step."""
        numbers = {claim.name: number for number, claim in enumerate(self.problem.judged)}
        return self.coverage.broken_in.get(numbers[name], 0)


def simulate(
    problem: Problem,
    choice: EngineChoice,
    plan: Plan,
    wanted: Wanted,
    *,
    announce: Callable[[str], None] = lambda message: None,
    watch: Callable[[Coverage], None] = lambda coverage: None,
) -> Simulation:
    """Walk, and show each claim that broke by a counterexample that was replayed.

    Raises `Raised` when an action or a claim raises, and what starting Spark raises.
    """
    prepared = prepare(
        problem, threads=threads_of(choice.threads), optimised=True, announce=announce
    )
    load_program(recipe_of(problem.model.layout.words))
    began, interrupts = time.monotonic(), Interrupts()
    ends = began + (wanted.seconds or math.inf)
    asked = WalkQuota(
        problem=problem, plan=plan, walks=wanted.walks, stop_at_first=wanted.stop_at_first
    )

    def late() -> bool:
        return interrupts.noticed or time.monotonic() > ends

    try:
        begun = happened_at_first(problem)
    except ModelFault as fault:
        raise explain_fault(problem, fault) from None
    with interrupts.listen():
        if choice.name == "local":
            coverage = on_threads(asked, choice.threads, late, watch)
        else:
            coverage = on_spark(asked, choice, late, watch, announce)
    seconds = time.monotonic() - began
    if coverage.fault is not None:
        raise explain_fault(problem, ModelFault(coverage.fault))
    if coverage.walks:
        coverage.happened |= begun
    found: tuple[Shortened, ...] = ()
    if coverage.sightings:
        announce("finding shorter counterexamples")
        found = tuple(_shorten_each(problem, choice, plan, coverage, wanted.shorten_states))
    return Simulation(
        problem=problem,
        plan=plan,
        engine=choice.name,
        coverage=coverage,
        found=found,
        stopped_by=_stopped_by(wanted, coverage, interrupted=interrupts.noticed),
        seconds=seconds,
        prepare_seconds=prepared,
    )


def _stopped_by(wanted: Wanted, coverage: Coverage, *, interrupted: bool) -> str | None:
    if interrupted:
        return INTERRUPTED
    if wanted.walks is None or coverage.walks >= wanted.walks:
        return None
    if wanted.stop_at_first and coverage.sightings:
        return None
    return "--max-time"


def _shorten_each(
    problem: Problem, choice: EngineChoice, plan: Plan, coverage: Coverage, states_max: int
) -> Iterator[Shortened]:
    """Each claim that broke, in the order of the report."""
    walker = Walker(problem, plan)
    met = {
        claim.name: with_steps_left_out(problem, claim, _path(walker, claim, sighting))
        for number, claim in enumerate(problem.judged)
        if (sighting := coverage.sightings.get(number)) is not None
    }
    longest = max(len(finding.replayed.moments) for finding in met.values())
    least, searched = 1, {}
    if states_max and longest:
        done = run(
            problem,
            EngineChoice(name="local", threads=choice.threads),
            budgets=Budgets(max_depth=max(0, longest - 1), max_states=states_max),
        )
        searched = {finding.invariant: finding for finding in done.findings}
        least = done.result.depth + 1
    for number, claim in enumerate(problem.judged):
        sighting = coverage.sightings.get(number)
        walked = sighting.depth if sighting is not None else None
        if claim.name in searched:
            finding = searched[claim.name]
            steps = len(finding.replayed.moments)
            yield Shortened(finding=finding, walked=walked, at_least=steps)
        elif claim.name in met:
            yield Shortened(finding=met[claim.name], walked=walked, at_least=least)


def _path(walker: Walker, claim: Invariant | ActionProperty, sighting: Sighting) -> Path:
    """The walk as far as it is needed; of a property without the step that breaks it."""
    model = walker.problem.model
    initial, steps = walker.steps(sighting.walk, max(0, sighting.depth - 1))
    if isinstance(claim, Invariant) and sighting.depth > 0:
        steps = [*steps, sighting.step]
    first = [state.words for state in model.initial].index(initial)
    return Path(first, tuple(call_of(model, step) for step in steps))
