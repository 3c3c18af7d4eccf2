"""Conformance walks on started clusters: by chance, aimed, along a trace.

Walks in the same circumstances share a cluster, with a new topic each. After a walk that ended
before its time the cluster is started anew.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, groupby

from lab.conform.aiming import Aiming
from lab.conform.circumstances import Circumstances
from lab.conform.conformance import Conformance, Disagreement, Planned, Tallied
from lab.conform.kept_walks import AIMED, ALONG, CHANCE, KeptWalk, Question
from lab.conform.shortening import shorten
from lab.conform.steerable import Steerable
from lab.conform.walking import Choose, Walked, by_chance, following, walk
from waterline.checker.kafka.confirm.brokers import BrokerSettings
from waterline.checker.kafka.confirm.jars import Site, Tell
from waterline.checker.kafka.confirm.stage import Stage
from waterline.checker.kafka.confirm.staging import start_stage
from waterline.checker.kafka.confirm.stepping import LAG_MS, NEEDS_LAG, NO_LAG_MS
from waterline.counterexamples import Moment, Trace, TraceStep
from waterline.model.core.transition_system import Model

LAG_EVERY = 5
"""Every so many rounds of the circumstances replica.lag.time.max.ms is short."""
AIMED_STEPS_MAX = 200
"""The most steps of a walk that goes from outcome to outcome."""
SHORTENING_MAX = 40
CLAIM = "agrees_with_kafka"
"""Claim that the trace of a disagreement breaks, in place of an invariant."""


class Grounds:
    """Clusters for walks, one at a time, started on demand."""

    def __init__(self, site: Site) -> None:
        self.release = site.release
        self._site = site
        self._report = site.report
        self._clusters = 0
        self._topics = 0

    @contextmanager
    def cluster(self, replicas: int, lag_ms: int) -> Iterator[Stage]:
        """A cluster with so many brokers. Raises `CannotConfirm`."""
        self._clusters += 1
        folder = self._site.folder / f"cluster-{self._clusters}"
        folder.mkdir()
        settings = BrokerSettings(
            min_insync_replicas=1, unclean_leader_election=False, lag_ms=lag_ms, fetch_wait_ms=0
        )
        with start_stage(
            self.release,
            self._site.jars,
            replicas=replicas,
            settings=settings,
            folder=folder,
            announce=self._site.announce,
        ) as stage:
            yield stage

    def walk(
        self, stage: Stage, planned: Planned, model: Model, choose: Choose, steps_max: int
    ) -> Walked:
        """A walk on a new topic."""
        self._topics += 1
        return walk(
            stage,
            model,
            choose,
            topic=f"walk-{planned.number}-{self._topics}",
            topic_settings=planned.circumstances.topic_settings,
            steps_max=steps_max,
            lag_ms=planned.lag_ms,
            report=self._report,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Walks one after the other: the most steps of one, how they are written down and announced.

    `is_over` says that time is up: then no step more is taken.
    """

    steps_max: int
    seed: int
    announce: Tell
    keep: Callable[[Question, KeptWalk], None]
    is_over: Callable[[], bool]

    def chance(self, planned: Planned) -> random.Random:
        """Return the random generator of a walk; only the seed and the walk's number matter."""
        return random.Random(f"{self.seed} {planned.number}")


def plan(circumstances: Sequence[Circumstances], walks: int) -> list[Planned]:
    """The walks by chance in their order: those that share a cluster together."""
    found = []
    for number in range(walks):
        rounds, at = divmod(number, len(circumstances))
        lag_ms = LAG_MS if rounds % LAG_EVERY == LAG_EVERY - 1 else NO_LAG_MS
        found.append(Planned(number + 1, circumstances[at], lag_ms, CHANCE))
    return sorted(found, key=lambda each: (-each.lag_ms, each.cluster, each.number))


def walk_by_chance(grounds: Grounds, found: Conformance, walks: int, how: Round) -> None:
    """Walk so many times, those that were kept included.

    Which steps are chosen depends on the seed and on what was compared before.
    """
    done = {(each.seed, each.number) for each in found.walks if each.kind == CHANCE}
    tallied = {each.circumstances.name: each for each in found.tallied}
    left = [
        each
        for each in plan([each.circumstances for each in found.tallied], walks)
        if (how.seed, each.number) not in done
    ]

    def choose_for(planned: Planned) -> Choose:
        tally = tallied[planned.circumstances.name]
        return by_chance(how.chance(planned), tally.model, tally.tried)

    for _, shared in groupby(left, lambda each: each.cluster):
        _walk_all(grounds, found, iter(list(shared)), choose_for, how)


def walk_along(
    grounds: Grounds, found: Conformance, steps: Sequence[TraceStep], how: Round
) -> None:
    """Take these steps, in the only circumstances there are."""
    [tally] = found.tallied
    needs_lag = any(step.action in NEEDS_LAG for step in steps)
    lag_ms = LAG_MS if needs_lag else NO_LAG_MS
    planned = Planned(1, tally.circumstances, lag_ms, ALONG)
    _walk_all(grounds, found, iter([planned]), lambda _: following(steps), how)


def walk_to_outcomes(grounds: Grounds, found: Conformance, how: Round) -> None:
    """Walk to every outcome that was not compared yet, from one to the next that is near.

    First on brokers where the ISR does not shrink by itself: that takes seconds.
    """
    numbers = count(1 + max((each.number for each in found.walks if each.kind == AIMED), default=0))
    clusters = sorted(
        ((tally.circumstances.environment.replicas, -lag_ms), at)
        for at, tally in enumerate(found.tallied)
        for lag_ms in (NO_LAG_MS, LAG_MS)
    )
    for (_, negative), shared in groupby(clusters, lambda each: each[0]):
        tallied = [found.tallied[at] for _, at in shared]
        _walk_all(
            grounds,
            found,
            _aims(tallied, -negative, numbers),
            lambda planned: _aiming(grounds, found, planned),
            how,
        )


def _aims(tallied: Sequence[Tallied], lag_ms: int, numbers: Iterator[int]) -> Iterator[Planned]:
    """A walk to the nearest outcome that is left, again and again, until none is."""
    for tally in tallied:
        while wanted := tally.outcomes_wanted(lag_ms):
            yield Planned(next(numbers), tally.circumstances, lag_ms, AIMED, wanted[0])


def _aiming(grounds: Grounds, found: Conformance, planned: Planned) -> Aiming:
    tally = found.of(planned)
    assert tally.plan is not None
    assert planned.goal is not None
    return Aiming(
        tally.problem,
        Steerable(tally.model, grounds.release, planned.lag_ms),
        set(tally.outcomes_wanted(planned.lag_ms)),
        planned.goal,
        tally.plan.ways[planned.goal],
    )


def _walk_all(
    grounds: Grounds,
    found: Conformance,
    planned: Iterator[Planned],
    chosen: Callable[[Planned], Choose],
    how: Round,
) -> None:
    """Walks that share a cluster, which is started anew after one that ended before its time."""
    each = _next_of(planned, how)
    while each is not None:
        began = time.monotonic()
        with grounds.cluster(*each.cluster) as stage:
            goes_on = True
            while each is not None and goes_on:
                kept = _walk(grounds, found, stage, each, chosen(each), how, began)
                # What is known leaves brokers sound, and the next walk has another topic.
                goes_on = not kept.not_held and not kept.disagreement
                began = time.monotonic()
                each = _next_of(planned, how)


def _next_of(planned: Iterator[Planned], how: Round) -> Planned | None:
    return None if how.is_over() else next(planned, None)


def _walk(
    grounds: Grounds,
    found: Conformance,
    stage: Stage,
    planned: Planned,
    choose: Choose,
    how: Round,
    began: float,
) -> KeptWalk:
    """A walk, counted and written down."""
    tally = found.of(planned)

    def next_step(moments: Sequence[Moment], silent: int) -> Moment | None:
        return None if how.is_over() else choose(moments, silent)

    steps_max = AIMED_STEPS_MAX if planned.kind == AIMED else how.steps_max
    walked = grounds.walk(stage, planned, tally.model, next_step, steps_max)
    goal = None
    if not walked.has_ended and isinstance(choose, Aiming):
        goal = choose.goal
    elif planned.goal is not None and not how.is_over():
        # A walk that compares nothing new is not walked for ever.
        is_new = any(not tally.compared[each] for each in walked.compared)
        goal = None if is_new else planned.goal
    kept = found.count(planned, walked, goal=goal, seed=how.seed, seconds=time.monotonic() - began)
    how.keep(tally.question, kept)
    how.announce(_describe(planned, kept, found))
    return kept


def _describe(planned: Planned, kept: KeptWalk, found: Conformance) -> str:
    text = f"{kept.kind} walk {kept.number}, {planned.circumstances.name}: {kept.steps} steps"
    if kept.not_held:
        text += f", then: {kept.not_held}"
    if kept.difference:
        text += f", then as is known: {kept.difference}"
    if kept.disagreement:
        text += f", then DISAGREES: {kept.disagreement}"
    return f"{text}; {found.steps:,} in all"


def shortest(
    grounds: Grounds, disagreement: Disagreement, model: Model, *, report: Tell
) -> Disagreement:
    """Return the same disagreement with as few steps as are found."""
    planned = disagreement.planned

    def again(steps: Sequence[TraceStep]) -> Walked:
        with grounds.cluster(*planned.cluster) as stage:
            return grounds.walk(stage, planned, model, following(steps), len(steps))

    walked = shorten(
        disagreement.walked,
        Steerable(model, grounds.release, planned.lag_ms),
        again,
        tries_max=SHORTENING_MAX,
        report=report,
    )
    return Disagreement(planned, walked)


def trace_of_walk(steps: Sequence[TraceStep], model: Model) -> Trace:
    """Return a walk as a trace. The claim that it breaks is agreement with Kafka."""
    return Trace(
        model=model.name,
        version=model.version,
        environment=dict(model.options),
        invariant=CLAIM,
        initial=0,
        steps=tuple(steps),
    )
