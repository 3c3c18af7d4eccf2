"""Tallies of outcomes that conformance walks have compared on a release, by circumstances."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from lab.conform.aiming import Plan, lag_of
from lab.conform.circumstances import Circumstances
from lab.conform.kept_walks import Kept, KeptWalk, Question
from lab.conform.outcomes import Outcome, describe, outcome_named
from lab.conform.walking import Walked
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stepping import LAG_MS, known_difference
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.model.core.transition_system import Model

TRIES_MAX = 2
"""Maximum number of walks that aim at an outcome and end before it."""
_ANY_CLAIM = "valid_isr"
"""Placeholder: a problem needs a claim, and walks check none."""


@dataclass(frozen=True, slots=True)
class Planned:
    """Planned walk: its number, circumstances and kind; `goal` is the outcome that it aims at."""

    number: int
    circumstances: Circumstances
    lag_ms: int
    kind: str
    goal: Outcome | None = None

    @property
    def cluster(self) -> tuple[int, int]:
        """Parameters of the cluster; another value requires a new one."""
        return self.circumstances.environment.replicas, self.lag_ms


@dataclass(slots=True)
class Tallied:
    """Tally of the walks in one set of circumstances.

    `compared` counts the comparisons of each outcome that agreed; `tried` adds those that
    disagreed, so that walks do not repeat them for long. `missed` counts the walks that aimed at an
    outcome and ended before it; `why_missed` is the latest reason.
    """

    circumstances: Circumstances
    problem: Problem
    question: Question
    plan: Plan | None = None
    walks: list[KeptWalk] = field(default_factory=list)
    compared: Counter[Outcome] = field(default_factory=Counter)
    tried: Counter[Outcome] = field(default_factory=Counter)
    missed: Counter[Outcome] = field(default_factory=Counter)
    why_missed: dict[Outcome, str] = field(default_factory=dict)

    @property
    def model(self) -> Model:
        """The model of the release's rules in these circumstances."""
        return self.problem.model

    def outcomes_wanted(self, lag_ms: int) -> list[Outcome]:
        """Return the outcomes that walks on such brokers have still to reach, nearest first."""
        if self.plan is None:
            return []
        ways = self.plan.ways
        left = [
            goal
            for goal, way in ways.items()
            if not self.compared[goal]
            and self.missed[goal] < TRIES_MAX
            and (lag_ms == LAG_MS or lag_of(way) == lag_ms)
        ]
        return sorted(left, key=lambda goal: (len(ways[goal]), goal))

    def add(self, walk: KeptWalk) -> None:
        """Count a walk."""
        self.walks.append(walk)
        for text, times in walk.compared.items():
            self.compared[outcome_named(text)] += times
            self.tried[outcome_named(text)] += times
        if walk.goal:
            goal = outcome_named(walk.goal)
            self.missed[goal] += 1
            self.why_missed[goal] = walk.not_held or walk.disagreement or walk.difference


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
    """Results of the walks on a release. `disagreements` are those of this run."""

    release: KafkaRelease
    tallied: list[Tallied]
    disagreements: list[Disagreement] = field(default_factory=list)
    interrupted: bool = False

    @property
    def steps(self) -> int:
        """Number of steps that were compared and agreed."""
        return sum(each.compared.total() for each in self.tallied)

    @property
    def kept(self) -> list[Kept]:
        """All of it, as a file of results has it."""
        return [Kept(each.question, each.plan, each.walks) for each in self.tallied]

    @property
    def walks(self) -> Iterator[KeptWalk]:
        """All of them."""
        for each in self.tallied:
            yield from each.walks

    def of(self, planned: Planned) -> Tallied:
        """Return the tally of the circumstances of a walk."""
        return next(each for each in self.tallied if each.circumstances == planned.circumstances)

    def count(
        self, planned: Planned, walked: Walked, *, goal: Outcome | None, seed: int, seconds: float
    ) -> KeptWalk:
        """Count a walk, and note its disagreement; `goal` is what it aimed at and did not reach."""
        known = is_new = None
        if walked.disagreement is not None:
            known = known_difference(walked.disagreement, self.release)
            is_new = Disagreement(planned, walked) if known is None else None
        kept = KeptWalk(
            number=planned.number,
            kind=planned.kind,
            seed=seed,
            seconds=round(seconds, 1),
            compared=dict(Counter(map(describe, walked.compared))),
            goal=describe(goal) if goal is not None else "",
            not_held=re.sub(r"\d+", "#", walked.not_held),
            difference=known.name if known else "",
            disagreement=is_new.reason if is_new else "",
            steps_to_it=[*map(str, walked.steps)] if is_new else [],
        )
        self.of(planned).add(kept)
        if walked.disagreed is not None:
            self.of(planned).tried[walked.disagreed] += 1
        if is_new:
            self.disagreements.append(is_new)
        return kept


def begin(
    release: KafkaRelease, circumstances: Sequence[Circumstances], kept: Iterable[Kept] = ()
) -> Conformance:
    """Return a conformance that holds the results of earlier runs only."""
    found = Conformance(release, [])
    known = {each.question: each for each in kept}
    for each in circumstances:
        problem = MESSAGE.problem(release.rules, each.environment, [_ANY_CLAIM])
        question = Question(
            release=release.name,
            circumstances=each.name,
            rules=release.rules,
            digest=problem_digest(problem),
        )
        tally = Tallied(each, problem, question)
        if (earlier := known.get(question)) is not None:
            tally.plan = earlier.plan
            for walk in earlier.walks:
                tally.add(walk)
        found.tallied.append(tally)
    return found
