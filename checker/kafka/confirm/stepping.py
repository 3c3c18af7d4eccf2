"""One step on real brokers: acted, observed, compared with the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from waterline.checker.kafka.confirm.errors import NoAnswer
from waterline.checker.kafka.confirm.facts import ISR, NO_ANSWER, Difference, Facts, of, of_model
from waterline.checker.kafka.confirm.kraft.mapping import KRAFT_ROWS
from waterline.checker.kafka.confirm.mapping import TABLE, Act, Row, keep_in_sync
from waterline.checker.kafka.confirm.observing import (
    ANSWER_SECONDS,
    SETTLE_SECONDS,
    compare,
    observe,
)
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stage import NotHeld, Stage, StepFailed
from waterline.counterexamples import Moment
from waterline.model.core.transition_system import Model

SHRINK = "ShrinkIsr"
SHRINK_TOGETHER = "ShrinkTogether"
SHRINKS = frozenset({SHRINK, SHRINK_TOGETHER})
"""Actions that a leader takes by itself if replica.lag.time.max.ms is short."""
NEEDS_LAG = SHRINKS | {"LagTimePasses"}
"""Actions that depend on replica.lag.time.max.ms."""
LAG_MS = 6_000
"""replica.lag.time.max.ms where it is to pass."""
NO_LAG_MS = 86_400_000
FETCH_WAIT_MS = 100
"""A fetch with nothing to bring waits so long, and then tells the high watermark of after it."""


@dataclass(slots=True)
class StepSeen:
    """Step as it was taken: the facts of the model and of the brokers after it."""

    number: int
    call: str
    sentence: str
    model: Facts
    kafka: Facts
    differences: list[Difference] = field(default_factory=list)
    problem: str = ""
    """Why brokers did not take it, "" if they did."""
    stray_epoch: int | None = None
    """The leader epoch in a fetch that has outlived its sender's interest, of a step with one."""

    @property
    def complaint(self) -> str:
        """Describe how brokers differ from the model, "" if they agree."""
        return self.problem or "; ".join(map(str, self.differences))


def begin_step(moment: Moment, model: Model, release: KafkaRelease) -> StepSeen:
    """A step that is to be taken, with the model's facts after it."""
    sentence = moment.sentence(model.narration)
    facts = of_model(moment.after, model.settings, release)
    seen = StepSeen(moment.number, str(moment), sentence, facts, {})
    if moment.action == "StrayFetch":
        seen.stray_epoch = moment.before.stray_epoch
    return seen


def act_of(moment: Moment, model: Model, lag_ms: int) -> Act:
    """A step as the table of steps takes it."""
    return Act(
        arguments=dict(moment.arguments),
        before=moment.before,
        after=moment.after,
        settings=model.settings,
        acks=str(model.options["acks"]),
        lag_ms=lag_ms,
    )


def take(
    stage: Stage,
    moment: Moment,
    model: Model,
    lag_ms: int,
    seen: StepSeen,
    *,
    settle_seconds: float = SETTLE_SECONDS,
) -> None:
    """Take a step that has begun, and look. Raises `NotHeld` where it could not be caused."""
    act = act_of(moment, model, lag_ms)
    row = row_of(moment.action, stage.release)
    if row.unless is not None and (reason := row.unless(moment.before, act.arguments)):
        raise NotHeld(reason)
    assert row.does is not None  # Who chose the step has seen to it.
    try:
        row.does(stage, act)
        if lag_ms == LAG_MS:
            keep_in_sync(stage, moment.after)
    except (StepFailed, NoAnswer) as problem:
        seen.problem = str(problem)
        seen.kafka = observe(stage)
    else:
        look_again(stage, seen, seconds=settle_seconds)


def look_again(stage: Stage, seen: StepSeen, *, seconds: float = SETTLE_SECONDS) -> None:
    """Compare once more what brokers show, waiting so long for them to agree."""
    seen.kafka, seen.differences = compare(stage, seen.model, seconds=seconds)


def require_held(seen: StepSeen, replicas: Sequence[int], lag_ms: int) -> None:
    """Raise `NotHeld` where a difference is the harness's: what it could not hold back, or see."""
    silent = [each for each in seen.differences if each.kafka == NO_ANSWER]
    if silent and silent == seen.differences:
        who = silent[0].subject.partition(" ")[0]
        raise NotHeld(f"{who} gave no answer for {ANSWER_SECONDS:.0f} s")
    for each in seen.differences:
        fewer = set(each.kafka.split()) < set(each.model.split())
        if each.subject == ISR and lag_ms == LAG_MS and fewer:
            raise NotHeld(
                f"{each}: a follower left the ISR before its step, replica.lag.time.max.ms "
                f"being {LAG_MS}"
            )
        for broker in replicas:
            mark = seen.model.get(of(broker, "HW"))
            if each.subject == of(broker, "checkpoint") and each.kafka == mark:
                raise NotHeld(
                    f"{each}: a broker checkpoints its high watermark after its first decision"
                )


KRAFT_TABLE: Mapping[str, Row] = {**TABLE, **KRAFT_ROWS}


def row_of(action: str, release: KafkaRelease) -> Row:
    """The row of an action on brokers of this release."""
    return (KRAFT_TABLE if release.is_kraft else TABLE)[action]
