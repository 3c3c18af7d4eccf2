"""One conformance walk: random model steps, each compared with brokers.

When brokers do something by themselves (here: shrink the ISR), the model takes that step too, if it
offers it.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.conform.outcomes import Outcome, outcome_of
from lab.conform.steerable import Steerable, moment_of
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer
from waterline.checker.kafka.confirm.facts import differences, of_model
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.replay import assigned_of
from waterline.checker.kafka.confirm.stage import NotHeld, Stage, StepFailed
from waterline.checker.kafka.confirm.staging import begin
from waterline.checker.kafka.confirm.stepping import (
    LAG_MS,
    SHRINKS,
    StepSeen,
    begin_step,
    look_again,
    require_held,
    take,
)
from waterline.counterexamples import Moment, TraceStep
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model

_LAG_SETTLE_SECONDS = 0.6

Choose = Callable[[Sequence[Moment], int], Moment | None]
"""Choice among the offered steps, None to end the walk; it knows the silent replicas."""


@dataclass(slots=True)
class Walked:
    """A walk: the steps taken and compared, and why it ended early.

    `disagreement` is the step where brokers did not show `disagreed`, the outcome of the model.
    `not_held` says why the harness could not go on. A completed walk has neither. `steps` includes
    the step that disagreed.
    """

    steps: list[TraceStep] = field(default_factory=list)
    compared: list[Outcome] = field(default_factory=list)
    disagreed: Outcome | None = None
    disagreement: StepSeen | None = None
    not_held: str = ""
    seconds: float = 0.0

    @property
    def has_ended(self) -> bool:
        """True if brokers are where the model is, so that another walk may follow."""
        return self.disagreement is None and not self.not_held


def walk(
    stage: Stage,
    model: Model,
    choose: Choose,
    *,
    topic: str,
    topic_settings: Mapping[str, str],
    steps_max: int,
    lag_ms: int,
    report: Callable[[str], None] = lambda line: None,
) -> Walked:
    """Walk from the model's beginning, on a new topic, until nothing is chosen any more."""
    began = time.monotonic()
    walked = Walked()
    state = model.initial[0]
    steerable = Steerable(model, stage.release, lag_ms)
    silent = 0
    try:
        begin(stage, topic, topic_settings, assigned_of(model))
        while len(walked.steps) < steps_max:
            chosen = choose(steerable.offers(state, len(walked.steps) + 1, silent), silent)
            if chosen is None:
                break
            report(f"{topic}, step {chosen.number}: {chosen}")
            moments, seen = _take_step(stage, model, chosen, lag_ms)
            walked.steps += [TraceStep(each.action, each.arguments) for each in moments]
            if seen.complaint:
                walked.disagreement = seen
                walked.disagreed = _outcome(model, chosen)
                break
            for each in moments:
                walked.compared.append(_outcome(model, each))
                silent = steerable.silent_after(each, silent)
            state = moments[-1].after
    except NotHeld as problem:
        walked.not_held = str(problem)
    except (BrokerFailed, NoAnswer, StepFailed) as problem:
        walked.not_held = f"the cluster failed: {problem}"
    walked.seconds = time.monotonic() - began
    return walked


def by_chance(chance: random.Random, model: Model, known: Counter[Outcome]) -> Choose:
    """Choose at random, with a preference for outcomes compared less often.

    `known` counts how often each outcome was compared, or would have been; the walker updates it.
    """

    def choose(steps: Sequence[Moment], silent: int) -> Moment | None:
        if not steps:
            return None
        weights = [1 / (1 + known[_outcome(model, step)]) for step in steps]
        return chance.choices(steps, weights)[0]

    return choose


def following(steps: Sequence[TraceStep]) -> Choose:
    """Take these steps, but for those that are not offered when it is their turn."""
    left = list(steps)

    def choose(moments: Sequence[Moment], silent: int) -> Moment | None:
        while left:
            wanted = left.pop(0)
            for moment in moments:
                if (moment.action, moment.arguments) == (wanted.action, wanted.arguments):
                    return moment
        return None

    return choose


def _take_step(
    stage: Stage, model: Model, chosen: Moment, lag_ms: int
) -> tuple[Sequence[Moment], StepSeen]:
    """Take a step; what it and the brokers' own doing amount to in the model, and what was seen."""
    seen = begin_step(chosen, model, stage.release)
    has_lag = lag_ms == LAG_MS
    if not has_lag:
        take(stage, chosen, model, lag_ms, seen)
    else:
        take(stage, chosen, model, lag_ms, seen, settle_seconds=_LAG_SETTLE_SECONDS)
        if seen.complaint:
            for way in _ways(model, chosen):
                if _agrees(model, way[-1], seen, stage.release):
                    return way, StepSeen(chosen.number, seen.call, seen.sentence, {}, seen.kafka)
            if not seen.problem:
                look_again(stage, seen)
    require_held(seen, stage.replicas, lag_ms)
    return [chosen], seen


def _agrees(model: Model, moment: Moment, seen: StepSeen, release: KafkaRelease) -> bool:
    facts = of_model(moment.after, model.settings, release)
    return not seen.problem and not differences(facts, seen.kafka)


def _ways(model: Model, chosen: Moment) -> Iterator[list[Moment]]:
    """The step with the ISR shrunk before or after it, once or more often."""
    before: State = chosen.before
    for shrunk in _shrunk(model, before, chosen.number):
        for step in model.successors(shrunk[-1].after):
            moment = moment_of(step, chosen.number + len(shrunk), shrunk[-1].after)
            if (moment.action, moment.arguments) == (chosen.action, chosen.arguments):
                yield [*shrunk, moment]
    for shrunk in _shrunk(model, chosen.after, chosen.number + 1):
        yield [chosen, *shrunk]


def _shrunk(model: Model, state: State, number: int) -> Iterator[list[Moment]]:
    """Yield every sequence of ISR shrinks that leaders may take from this state."""
    for step in model.successors(state):
        if step.action.name in SHRINKS:
            moment = moment_of(step, number, state)
            yield [moment]
            for more in _shrunk(model, step.after, number + 1):
                yield [moment, *more]


def _outcome(model: Model, moment: Moment) -> Outcome:
    return outcome_of(model, moment.action, moment.before, moment.after)
