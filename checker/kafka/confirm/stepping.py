"""One step on real brokers: acted, observed, compared with the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from waterline.checker.kafka.confirm.brokers import name_of
from waterline.checker.kafka.confirm.errors import NoAnswer
from waterline.checker.kafka.confirm.facts import (
    ACKNOWLEDGED,
    EPOCH_CACHE,
    ISR,
    NO_ANSWER,
    WAITING,
    Difference,
    Facts,
    of,
    of_model,
    read_epochs_text,
)
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
from waterline.model.message.environment import REPLICAS_MAX

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


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """Known difference between the code and the model; `description` says where Kafka decides it.

    `shows` tells if a step that disagreed on brokers of a release is this difference.
    """

    name: str
    description: str
    shows: Callable[[StepSeen, KafkaRelease], bool]


def _fences_first_fetch(seen: StepSeen, release: KafkaRelease) -> bool:
    """The leader of another epoch answers with an error where the model has an answer."""
    if not release.at_least(2, 1) or release.at_least(2, 5):
        return False
    carried = (
        seen.model.get(of(int(fetched[1]), "epoch")) if (fetched := _FETCH(seen.call)) else None
    )
    if seen.stray_epoch is not None:
        carried = str(seen.stray_epoch)
    leading = {
        seen.model.get(of(replica, "epoch"))
        for replica in range(REPLICAS_MAX)
        if seen.model.get(of(replica, "leads")) == "yes"
    }
    return carried is not None and bool(leading) and carried not in leading


_FETCH = re.compile(r"LeaderFetch\(follower=(\d+)\)").fullmatch


def _forgets_entry_of_epoch(seen: StepSeen, release: KafkaRelease) -> bool:
    """The last entry of an epoch cache starts later than the model's, and nothing else differs."""
    if not release.at_least(2, 0, 1) or release.at_least(2, 6, 1) or seen.problem:
        return False
    if (received := re.fullmatch(r"RecvFetch\(follower=(\d+)\)", seen.call)) is None:
        return False
    cache = of(int(received[1]), EPOCH_CACHE)
    if [each.subject for each in seen.differences] != [cache]:
        return False
    said, shown = read_epochs_text(seen.model[cache]), read_epochs_text(seen.kafka[cache])
    return (
        bool(said and shown)
        and shown[:-1] == said[:-1]
        and shown[-1][0] == said[-1][0]
        and shown[-1][1] > said[-1][1]
    )


def _waits_for_who_caught_up(seen: StepSeen, release: KafkaRelease) -> bool:
    """A leader's high watermark is behind, and a broker outside the ISR runs that may be why."""
    if seen.problem or not seen.differences:
        return False
    running = {r for r in range(REPLICAS_MAX) if seen.model.get(of(r, "is")) == "up"}
    in_sync = seen.model.get(ISR, "").split()
    if all(name_of(replica) in in_sync for replica in running):
        return False
    behind = {
        of(r, "HW") for r in running if _is_less(seen.kafka.get(of(r, "HW")), seen, of(r, "HW"))
    }
    follows_from_it = {ACKNOWLEDGED, WAITING, *(of(r, "on its way") for r in running)}
    return bool(behind) and all(
        each.subject in behind or each.subject in follows_from_it for each in seen.differences
    )


def _is_less(shown: str | None, seen: StepSeen, subject: str) -> bool:
    said = seen.model.get(subject)
    return shown is not None and said is not None and int(shown) < int(said)


KNOWN = (
    KnownDifference(
        "waits-for-who-caught-up",
        "A leader's high watermark waits also for a replica outside the ISR that caught up within "
        "replica.lag.time.max.ms and is not fenced (Partition.maybeIncrementLeaderHW); here it "
        "does not.",
        _waits_for_who_caught_up,
    ),
    KnownDifference(
        "first-fetch-is-fenced",
        "From 2.1 to 2.4 the first fetch of a session carries the leader epoch and is fenced; "
        "here all count as later ones, which carry none (KAFKA-9338).",
        _fences_first_fetch,
    ),
    KnownDifference(
        "forgets-entry-of-epoch",
        "From 2.0.1 to 2.6.0 a follower that led an epoch without a record, and appends a record "
        "of an older epoch, replaces the entry of that older epoch too, so that it starts at this "
        "record (LeaderEpochFileCache.truncateAndAppend); here it starts at its first record.",
        _forgets_entry_of_epoch,
    ),
)


def known_difference(seen: StepSeen, release: KafkaRelease) -> KnownDifference | None:
    """Return the known difference that a step shows, None if it is a new one."""
    return next((each for each in KNOWN if each.shows(seen, release)), None)
