"""Conformance: random walks through the model, each taken on real brokers and compared.

Walks in the same circumstances share a started cluster, with a new topic each. After a walk that
ended before its time the cluster is started anew.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby

from checker.kafka.confirm.brokers import BrokerSettings
from checker.kafka.confirm.circumstances import Circumstances
from checker.kafka.confirm.known_differences import KnownDifference, known_difference
from checker.kafka.confirm.outcomes import Call, Outcome, Reachable
from checker.kafka.confirm.releases import KafkaRelease
from checker.kafka.confirm.shortening import shortened
from checker.kafka.confirm.site import Site, Tell
from checker.kafka.confirm.stage import Stage
from checker.kafka.confirm.staging import staged
from checker.kafka.confirm.stepping import LAG_MS, NO_LAG_MS, SHRINKS
from checker.kafka.confirm.walking import (
    Choose,
    Steerable,
    Walked,
    by_chance,
    following,
    one_after_the_other,
    walk,
)
from checker.kafka.families import MESSAGE
from checker.problem.problem import Problem
from counterexamples import Trace, TraceStep, trace_of
from model.core.transition_system import Model

LAG_EVERY = 5
"""Every so many rounds of the circumstances replica.lag.time.max.ms is short."""
TRIES_MAX = 40
CLAIM = "agrees_with_kafka"
"""What a trace of a disagreement breaks, in place of an invariant."""

_ANY_CLAIM = "valid_isr"
"""A problem is about some claim; here none is asked."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A walk that is to be: its number, and in which circumstances.

    `way` are the steps that it begins with, to come to the outcome `goal`; without one it goes by
    chance from the start.
    """

    number: int
    circumstances: Circumstances
    lag_ms: int
    goal: Outcome | None = None
    way: tuple[TraceStep, ...] = ()

    @property
    def cluster(self) -> tuple[int, int]:
        """What a cluster must be started anew for."""
        return self.circumstances.environment.replicas, self.lag_ms


@dataclass(slots=True)
class Tallied:
    """What was compared in the same circumstances.

    `compared` is how often each outcome was, and agreed; `tried` counts those too that ended in a
    disagreement, so that these are not tried again and again. `differences` are those that are
    known, by name. `ways` are all outcomes that the model can come to, with a shortest way to each,
    found in so many `states`; `complete` is whether these were all.
    """

    circumstances: Circumstances
    problem: Problem
    walks: int = 0
    compared: Counter[Outcome] = field(default_factory=Counter)
    tried: Counter[Outcome] = field(default_factory=Counter)
    differences: Counter[str] = field(default_factory=Counter)
    not_held: Counter[str] = field(default_factory=Counter)
    ways: Mapping[Outcome, Sequence[Call]] = field(default_factory=dict)
    states: int = 0
    complete: bool = False

    @property
    def model(self) -> Model:
        """The model of the release's rules in these circumstances."""
        return self.problem.model

    @property
    def by_action(self) -> Counter[str]:
        """How many steps of each action were compared and agreed."""
        found: Counter[str] = Counter()
        for (action, _), times in self.compared.items():
            found[action] += times
        return found


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A walk at whose last step brokers did something else than the model."""

    planned: Planned
    walked: Walked

    @property
    def reason(self) -> str:
        """`LeaderFetch(follower=1): r0 HW: 1 in the model, 0 in Kafka`"""
        seen = self.walked.disagreement
        assert seen is not None
        return f"{seen.call}: {seen.complaint}"


@dataclass(slots=True)
class Conformance:
    """What came of the walks on a release."""

    release: KafkaRelease
    tallied: list[Tallied]
    disagreements: list[Disagreement] = field(default_factory=list)
    seconds: float = 0.0
    interrupted: bool = False

    @property
    def steps(self) -> int:
        """How many steps were compared and agreed."""
        return sum(each.compared.total() for each in self.tallied)


class Grounds:
    """Where walks are walked: a cluster at a time, started when it is needed."""

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
        with staged(
            self.release,
            self._site.jars,
            replicas=replicas,
            settings=settings,
            folder=folder,
            announce=self._site.announce,
        ) as stage:
            yield stage

    def walked(
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


def plan(circumstances: Sequence[Circumstances], walks: int) -> list[Planned]:
    """The walks in the order in which they are walked: those that share a cluster together."""
    found = []
    for number in range(walks):
        rounds, at = divmod(number, len(circumstances))
        lag_ms = LAG_MS if rounds % LAG_EVERY == LAG_EVERY - 1 else NO_LAG_MS
        found.append(Planned(number + 1, circumstances[at], lag_ms))
    return sorted(found, key=lambda each: (-each.lag_ms, each.cluster, each.number))


def begun(release: KafkaRelease, circumstances: Sequence[Circumstances]) -> Conformance:
    """Nothing compared yet."""
    problems = [
        (each, MESSAGE.problem(release.rules, each.environment, [_ANY_CLAIM]))
        for each in circumstances
    ]
    return Conformance(release, [Tallied(each, problem) for each, problem in problems])


def walk_by_chance(
    grounds: Grounds,
    found: Conformance,
    *,
    walks: int,
    steps_max: int,
    seed: int,
    announce: Tell,
) -> None:
    """Walk so many times, of at most so many steps each.

    Which steps are chosen depends on the seed alone, as long as brokers do what the model says.
    """
    tallied = {each.circumstances.name: each for each in found.tallied}
    planned = plan([each.circumstances for each in found.tallied], walks)

    def chosen(planned: Planned) -> Choose:
        tally = tallied[planned.circumstances.name]
        return by_chance(_chance(seed, planned), tally.model, tally.tried)

    _walk_all(grounds, found, planned, chosen, steps_max, announce)


def walk_along(
    grounds: Grounds, found: Conformance, steps: Sequence[TraceStep], *, announce: Tell
) -> None:
    """Take these steps, in the only circumstances there are."""
    [tally] = found.tallied
    shrinks = any(step.action in SHRINKS for step in steps)
    planned = Planned(1, tally.circumstances, LAG_MS if shrinks else NO_LAG_MS)
    _walk_all(grounds, found, [planned], lambda _: following(steps), len(steps), announce)


def look_for_outcomes(found: Conformance, *, states_max: int, announce: Tell) -> None:
    """Find every outcome that the model can come to, in at most about so many states."""
    for tally in found.tallied:
        with Reachable(tally.problem, states_max=states_max, announce=announce) as reachable:
            tally.ways = reachable.paths(reachable.outcomes)
            tally.states, tally.complete = reachable.states, reachable.complete


def walk_to_the_rest(
    grounds: Grounds, found: Conformance, *, steps_max: int, seed: int, announce: Tell
) -> None:
    """Walk to every outcome that was not compared yet.

    On a shortest way to each, and then on by chance where the ISR does not shrink by itself.
    """
    for tally in found.tallied:
        planned = _to_goals(tally, sum(each.walks for each in found.tallied))

        def chosen(planned: Planned, tally: Tallied = tally) -> Choose | None:
            if planned.goal is None or tally.compared[planned.goal]:
                return None
            if planned.lag_ms == LAG_MS:
                return following(planned.way)  # What is slow is not done for the sake of chance.
            by_the_way = by_chance(_chance(seed, planned), tally.model, tally.tried)
            return one_after_the_other(following(planned.way), by_the_way)

        _walk_all(grounds, found, planned, chosen, steps_max, announce)


def _to_goals(tally: Tallied, walks_before: int) -> list[Planned]:
    """A walk to each outcome that is left, numbered on from those before."""
    planned = []
    left = sorted(goal for goal in tally.ways if not tally.compared[goal])
    for number, goal in enumerate(left, start=walks_before + 1):
        way = trace_of(tally.model, CLAIM, tally.ways[goal]).steps
        shrinks = any(step.action in SHRINKS for step in way)
        lag_ms = LAG_MS if shrinks else NO_LAG_MS
        planned.append(Planned(number, tally.circumstances, lag_ms, goal, way))
    return sorted(planned, key=lambda each: (-each.lag_ms, each.number))


def _chance(seed: int, planned: Planned) -> random.Random:
    return random.Random(f"{seed} {planned.number}")


def _walk_all(
    grounds: Grounds,
    found: Conformance,
    planned: Sequence[Planned],
    chosen: Callable[[Planned], Choose | None],
    steps_max: int,
    announce: Tell,
) -> None:
    """Every walk for which something is chosen, on as few clusters as it takes."""
    tallied = {each.circumstances.name: each for each in found.tallied}
    for (replicas, lag_ms), shared in groupby(planned, lambda each: each.cluster):
        left = list(shared)
        while left:
            began = time.monotonic()
            with grounds.cluster(replicas, lag_ms) as stage:
                has_ended = True
                while left and has_ended:
                    each = left.pop(0)
                    choose = chosen(each)
                    if choose is None:
                        continue
                    tally = tallied[each.circumstances.name]
                    walked = grounds.walked(stage, each, tally.model, choose, steps_max)
                    _count(found, tally, each, walked)
                    announce(_describe(each, walked, found))
                    # What is known leaves brokers sound, and the next walk has another topic.
                    has_ended = walked.has_ended or _known(walked, found) is not None
            found.seconds += time.monotonic() - began


def _count(found: Conformance, tally: Tallied, planned: Planned, walked: Walked) -> None:
    tally.walks += 1
    tally.compared.update(walked.compared)
    tally.tried.update(walked.compared)
    if walked.disagreed is not None:
        tally.tried[walked.disagreed] += 1
    if walked.not_held:
        tally.not_held[re.sub(r"\d+", "#", walked.not_held)] += 1
    known = _known(walked, found)
    if known is not None:
        tally.differences[known.name] += 1
    elif walked.disagreement is not None:
        found.disagreements.append(Disagreement(planned, walked))


def _known(walked: Walked, found: Conformance) -> KnownDifference | None:
    if walked.disagreement is None:
        return None
    return known_difference(walked.disagreement, found.release)


def _describe(planned: Planned, walked: Walked, found: Conformance) -> str:
    text = f"walk {planned.number}, {planned.circumstances.name}: {len(walked.compared)} steps"
    if walked.not_held:
        text += f", then: {walked.not_held}"
    if walked.disagreement is not None:
        known = _known(walked, found)
        reason = Disagreement(planned, walked).reason
        text += f", then {'as is known' if known else 'DISAGREES'}: {reason}"
    return f"{text}; {found.steps:,} in all"


def shortest(
    grounds: Grounds, disagreement: Disagreement, model: Model, *, report: Tell
) -> Disagreement:
    """The same disagreement with fewer steps, as few as are found."""
    planned = disagreement.planned

    def again(steps: Sequence[TraceStep]) -> Walked:
        with grounds.cluster(*planned.cluster) as stage:
            return grounds.walked(stage, planned, model, following(steps), len(steps))

    walked = shortened(
        disagreement.walked,
        lambda: Steerable(model, grounds.release, planned.lag_ms),
        again,
        tries_max=TRIES_MAX,
        report=report,
    )
    return Disagreement(planned, walked)


def trace_of_walk(steps: Sequence[TraceStep], model: Model) -> Trace:
    """A walk as a trace; what it breaks is no claim about the model, but that Kafka does as it."""
    return Trace(
        model=model.name,
        version=model.version,
        environment=dict(model.options),
        invariant=CLAIM,
        initial=0,
        steps=tuple(steps),
    )
