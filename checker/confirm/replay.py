"""The loop: take a step on real brokers, look, compare with the model; then say what it amounts to.

A trace of the release's own rules is judged: it is confirmed, or refuted at the first step whose
outcome differs. One of other rules is carried through to its end as far as it goes: at which step
the two part is said, and what a consumer reads then.
"""

from __future__ import annotations

import enum
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from checker.confirm.brokers import BrokerSettings
from checker.confirm.errors import NoAnswer
from checker.confirm.evidence import Evidence, committed_in, gathered
from checker.confirm.facts import ISR, Difference, Facts, of, of_model
from checker.confirm.mapping import TABLE, Act
from checker.confirm.observing import compared, observed
from checker.confirm.releases import KafkaRelease
from checker.confirm.stage import Stage, StepFailed, staged
from counterexamples import Moment, Replayed
from model.releases import release_followed
from model.transition_system import Model
from model.versions import version_of

LAG_MS = 6_000
"""replica.lag.time.max.ms of a trace in which the ISR shrinks."""
NO_LAG_MS = 3_600_000
FETCH_WAIT_MS = 100
"""A fetch with nothing to bring waits so long, and then tells the high watermark of after it."""


class Judgement(enum.Enum):
    """What a replay on real brokers amounts to."""

    CONFIRMED = "CONFIRMED"
    """Every step was taken, every observation agreed, and the claim's end shows outside."""
    HELD = "HELD"
    """The claim is not broken on these brokers: the trace is of other rules, or a control."""
    REFUTED = "REFUTED"
    """Brokers did something else than the model says of them."""
    NOT_STEERABLE = "NOT STEERABLE"
    """This harness cannot cause, or hold, a step."""


@dataclass(slots=True)
class StepSeen:
    """A step as it was taken: the model's facts after it beside those of the brokers."""

    number: int
    call: str
    sentence: str
    model: Facts
    kafka: Facts
    differences: list[Difference] = field(default_factory=list)
    problem: str = ""
    """Why brokers did not take it, "" if they did."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """A trace replayed: what came of it, at which step (0: none in particular), and why."""

    judgement: Judgement
    step: int
    reason: str
    steps: tuple[StepSeen, ...]
    evidence: Evidence | None
    seconds: float


@dataclass(frozen=True, slots=True)
class _NotHeld(Exception):
    """Something happened by itself that the harness should have held back."""

    reason: str


Announce = Callable[[str], None]


def unsteerable(replayed: Replayed) -> Confirmation | None:
    """The answer for a trace with a step that this harness cannot take, before anything starts."""
    for moment in replayed.moments:
        row = TABLE[moment.action]
        if row.does is None:
            return Confirmation(
                judgement=Judgement.NOT_STEERABLE,
                step=moment.number,
                reason=f"{moment}: {row.told}",
                steps=(),
                evidence=None,
                seconds=0.0,
            )
    return None


def describes(replayed: Replayed, release: KafkaRelease) -> bool:
    """Whether the trace is of the rules that brokers of this release follow."""
    own, traced = version_of(release.rules), version_of(replayed.trace.version)
    return (own.truncation, own.features) == (traced.truncation, traced.features)


def confirm_on(
    replayed: Replayed,
    model: Model,
    release: KafkaRelease,
    *,
    jars: Sequence[Path],
    folder: Path,
    is_control: bool = False,
    announce: Announce = lambda message: None,
    tell: Announce = lambda message: None,
) -> Confirmation:
    """Replay a trace on brokers of `release`, whose files go to `folder`.

    `is_control`: the trace breaks nothing in the model, and nothing is to be broken on brokers.
    `announce` is told what is waited for, `tell` each step. Raises `CannotConfirm` where there is
    no cluster to replay it on.
    """
    refused = unsteerable(replayed)
    if refused is not None:
        return refused
    began = time.monotonic()
    lag_ms = LAG_MS if any(m.action == "ShrinkIsr" for m in replayed.moments) else NO_LAG_MS
    environment = replayed.trace.environment
    settings = BrokerSettings(
        min_insync_replicas=model.settings.min_insync_replicas,
        unclean_leader_election=model.settings.unclean_leader_election == 1,
        lag_ms=lag_ms,
        fetch_wait_ms=0 if model.settings.high_watermark_before_fetch else FETCH_WAIT_MS,
    )
    run = _Run(replayed, model, release, str(environment["acks"]), lag_ms, is_control, tell)
    with staged(
        release,
        jars,
        replicas=model.layout.sizes["replicas"],
        settings=settings,
        folder=folder,
        announce=announce,
    ) as stage:
        return run.carried_out(stage, began)


@dataclass(slots=True)
class _Run:
    """One replay while it goes on."""

    replayed: Replayed
    model: Model
    release: KafkaRelease
    acks: str
    lag_ms: int
    is_control: bool
    tell: Announce
    steps: list[StepSeen] = field(default_factory=list)
    committed: set[str] = field(default_factory=set)
    parted_at: int = 0

    def carried_out(self, stage: Stage, began: float) -> Confirmation:
        """Every step, then the end."""
        is_own = describes(self.replayed, self.release)
        try:
            for moment in self.replayed.moments:
                self.tell(f"step {moment.number} of {len(self.replayed.moments)}: {moment}")
                seen = self._taken(stage, moment)
                if not self.parted_at and (seen.differences or seen.problem):
                    self.parted_at = moment.number
                    if is_own:
                        return self._refuted(seen, began)
        except _NotHeld as problem:
            return self._ended(Judgement.NOT_STEERABLE, len(self.steps), problem.reason, None, began)
        self.tell("looking at the end")
        last = self.replayed.states[-1]
        facts = self.steps[-1].kafka if self.steps else observed(stage)
        evidence = gathered(stage, facts, self.committed, last.leader)
        return self._judged(evidence, began)

    def _taken(self, stage: Stage, moment: Moment) -> StepSeen:
        after = of_model(moment.after, self.model.settings, self.release)
        sentence = self.replayed.narration.sentence(
            moment.action, moment.values, moment.before, moment.after
        )
        seen = StepSeen(moment.number, str(moment), sentence, after, {})
        self.steps.append(seen)
        act = Act(
            arguments=dict(moment.arguments),
            before=moment.before,
            after=moment.after,
            settings=self.model.settings,
            acks=self.acks,
            lag_ms=self.lag_ms,
        )
        does = TABLE[moment.action].does
        assert does is not None  # `unsteerable` has seen to it.
        try:
            does(stage, act)
        except (StepFailed, NoAnswer) as problem:
            seen.problem = str(problem)
        if self.parted_at or seen.problem:
            seen.kafka = observed(stage)
        else:
            seen.kafka, seen.differences = compared(stage, after)
            self._require_held(stage, seen)
        self.committed |= committed_in(stage, seen.kafka)
        return seen

    def _require_held(self, stage: Stage, seen: StepSeen) -> None:
        """Raise `_NotHeld` where a difference is the harness's: what it could not hold back."""
        for each in seen.differences:
            fewer = set(each.kafka.split()) < set(each.model.split())
            if each.subject == ISR and self.lag_ms == LAG_MS and fewer:
                raise _NotHeld(
                    f"{each}: a follower left the ISR before its step, replica.lag.time.max.ms "
                    f"being {LAG_MS}"
                )
            for broker in stage.replicas:
                mark = seen.model.get(of(broker, "HW"))
                if each.subject == of(broker, "checkpoint") and each.kafka == mark:
                    raise _NotHeld(
                        f"{each}: a broker checkpoints its high watermark after its first decision"
                    )

    def _refuted(self, seen: StepSeen, began: float) -> Confirmation:
        reason = seen.problem or "; ".join(map(str, seen.differences))
        return self._ended(Judgement.REFUTED, seen.number, reason, None, began)

    def _judged(self, evidence: Evidence, began: float) -> Confirmation:
        claim = self.replayed.trace.invariant
        shows = evidence.shows(claim)
        last = len(self.replayed.moments)
        if self.is_control or self.parted_at:
            if evidence.is_harmless:
                return self._ended(Judgement.HELD, self.parted_at, self._held(), evidence, began)
            broken = "something is lost, or differs, all the same"
            if not evidence.was_read:
                broken = "what is left could not be read"
            step = self.parted_at or last
            return self._ended(Judgement.REFUTED, step, broken, evidence, began)
        if shows is False:
            reason = f"every observation agreed, but {claim} is not broken to who looks from outside"
            return self._ended(Judgement.REFUTED, last, reason, evidence, began)
        reason = f"{claim} is broken: all {last} steps were taken, and what was seen agreed"
        if shows is None:
            reason += "; what it claims is not to be seen from outside but by what was compared"
        return self._ended(Judgement.CONFIRMED, 0, reason, evidence, began)

    def _held(self) -> str:
        if not self.parted_at:
            return "all steps were taken, what was seen agreed, and nothing is lost"
        at = self.steps[self.parted_at - 1]
        how = at.problem or "; ".join(map(str, at.differences))
        own = release_followed(self.release.number[:2], is_kraft=False).base
        return (
            f"model ({self.replayed.trace.version}) and brokers ({own}) part at step "
            f"{self.parted_at}, {at.call}: {how}; nothing is lost"
        )

    def _ended(
        self,
        judgement: Judgement,
        step: int,
        reason: str,
        evidence: Evidence | None,
        began: float,
    ) -> Confirmation:
        return Confirmation(
            judgement=judgement,
            step=step,
            reason=reason,
            steps=tuple(self.steps),
            evidence=evidence,
            seconds=time.monotonic() - began,
        )
