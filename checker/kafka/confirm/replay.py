"""Replay loop on real brokers: step, observe, compare, judge.

Brokers are compared with the model of their own release's rules (`checker.kafka.confirm.course`).
The first step with another outcome refutes the model. At the end an outside observer looks: a
consumer reads, and segments are compared.
"""

from __future__ import annotations

import enum
import functools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from waterline.checker.kafka.confirm.brokers import BrokerSettings
from waterline.checker.kafka.confirm.counterexample import moves_with_records
from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.evidence import Evidence, committed_in, gather_evidence
from waterline.checker.kafka.confirm.jars import Site, Tell
from waterline.checker.kafka.confirm.kraft.stage import KraftStage
from waterline.checker.kafka.confirm.observing import observe
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.silence import Silence
from waterline.checker.kafka.confirm.stage import NotHeld, Stage
from waterline.checker.kafka.confirm.staging import start_stage
from waterline.checker.kafka.confirm.stepping import (
    FETCH_WAIT_MS,
    LAG_MS,
    NEEDS_LAG,
    NO_LAG_MS,
    SHRINK,
    SHRINK_TOGETHER,
    StepSeen,
    act_of,
    begin_step,
    known_difference,
    require_held,
    row_of,
    take,
)
from waterline.checker.kafka.confirm.waiting import EndBy, Looked, ending_of, watch_for
from waterline.counterexamples import Moment, TraceStep
from waterline.model.core.claim import Behaviour
from waterline.model.core.transition_system import Model
from waterline.model.message.releases import release_named
from waterline.model.message.terms import IDLE, NO_REPLICA


class Judgement(enum.Enum):
    """Verdict of a replay on real brokers."""

    CONFIRMED = "CONFIRMED"
    """Every step was taken, every observation agreed, and the claim's end shows outside."""
    HELD = "HELD"
    """The claim is not broken, as the model of these brokers says: they have other rules than the
    trace's, or the trace is a control."""
    REFUTED = "REFUTED"
    """Brokers did something else than the model says of them."""
    NOT_STEERABLE = "NOT STEERABLE"
    """The harness cannot cause, or hold, a step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmation:
    """Result of a replay: the judgement, its step (0: none in particular), and its reason.

    For a liveness claim that broke, `waited` is the number of seconds without the awaited event,
    and `ended_by` names the steps that brought it.
    """

    judgement: Judgement
    step: int
    reason: str
    steps: tuple[StepSeen, ...]
    evidence: Evidence | None
    seconds: float
    waited: float | None = None
    ended_by: str = ""


def unsteerable(course: Course, release: KafkaRelease) -> Confirmation | None:
    """The answer where a step cannot be taken by this harness, before anything starts."""
    for moment in course.replayed.moments:
        reason = _why_not(moment, course, release)
        if reason:
            return Confirmation(
                judgement=Judgement.NOT_STEERABLE,
                step=moment.number,
                reason=f"{moment}: {reason}",
                steps=(),
                evidence=None,
                seconds=0.0,
            )
    return None


def _why_not(moment: Moment, course: Course, release: KafkaRelease) -> str:
    row = row_of(moment.action, release)
    if row.does is None:
        return row.description.removesuffix(".")
    if assigned_of(course.model) and not release.is_kraft:
        return "with ZooKeeper every broker has a replica from the start"
    if isinstance(course.claim, Behaviour) and course.model.settings.reassignments:
        return "while it waits for what is to come the harness completes no reassignment"
    if course.model.settings.high_watermark_before_fetch or not moves_with_records(moment):
        return ""
    _, answered_with = release_named(f"{release.version}:{release.manner}")
    if answered_with == "post":
        return ""
    return (
        "the code answers a fetch that brings records with the high watermark of before it; "
        "search with --hw-in-response pre"
    )


def confirm_on(course: Course, site: Site) -> Confirmation:
    """Replay a steerable course (see `unsteerable`) on brokers of its own.

    Raises `CannotConfirm` if no cluster can be set up for it.
    """
    run = run_of(course, site)
    with start_stage(
        site.release,
        site.jars,
        replicas=kind_of(course).replicas,
        settings=settings_of(course),
        folder=site.folder,
        announce=site.announce,
        assigned=assigned_of(course.model),
    ) as stage:
        return run.carried_out(stage)


def run_of(course: Course, site: Site) -> Run:
    """The replay of a course, to be carried out on a stage."""
    return Run(course, site.release, kind_of(course).lag_ms, site.report)


@dataclass(slots=True)
class Run:
    """One replay in progress."""

    course: Course
    release: KafkaRelease
    lag_ms: int
    report: Tell
    steps: list[StepSeen] = field(default_factory=list)
    committed: set[str] = field(default_factory=set)
    vain: int | None = None
    """A follower that asks in vain just now."""
    silence: Silence = field(init=False)
    silent: int = 0
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        """Start with no broker fenced."""
        self.silence = Silence(self.course.model, self.release)

    def carried_out(self, stage: Stage) -> Confirmation:
        """Every step, then the end."""
        replayed = self.course.replayed
        passed_over = dict(self.course.passed_over)
        prepare_late_reads(stage, replayed.moments)
        for number, step in enumerate(replayed.trace.steps, start=1):
            self.report(f"step {number} of {len(replayed.trace.steps)}: {step}")
            if number in passed_over:
                self.steps.append(self._passed_over(number, step))
                continue
            moment = next(m for m in replayed.moments if m.number == number)
            if self._goes_with_the_next(moment) or self._is_in_vain(moment):
                self.steps.append(begin_step(moment, self.course.model, self.release))
                continue
            try:
                seen = self._take(stage, moment)
            except NotHeld as problem:
                return self._end(Judgement.NOT_STEERABLE, number, str(problem), None)
            if seen.complaint:
                known = known_difference(seen, self.release)
                if known is not None:
                    reason = f"{seen.complaint}, as is known: {known.description}"
                    reason = reason.removesuffix(".")
                    return self._end(Judgement.NOT_STEERABLE, number, reason, None)
                return self._end(Judgement.REFUTED, number, seen.complaint, None)
        self.report("looking at the end")
        if isinstance(self.course.claim, Behaviour):
            found = watch_for(stage, self.course.claim, self._end_by(stage))
            return self._judged_behaviour(found)
        evidence = gather_evidence(stage, observe(stage), self.committed, self._leader())
        return self._judge(evidence)

    def _end_by(self, stage: Stage) -> EndBy:
        """Return the steps that end the wait in the model."""
        ending = ending_of(self.course)
        if ending is None:
            return ()

        def take(moment: Moment) -> None:
            is_up = moment.action == "Restart" and stage.brokers.is_up(moment.values[0])
            # It was started while it was waited: what is left is what the controller decides.
            does = row_of("Register" if is_up else moment.action, self.release).does
            assert does is not None
            does(stage, act_of(moment, ending.model, self.lag_ms))

        return [(str(each), functools.partial(take, each)) for each in ending.moments]

    def _leader(self) -> int:
        """Return the replica to read from at the end, NO_REPLICA for none.

        If the claim holds and the leader is down, the model has not yet elected the next leader.
        """
        last = self.course.replayed.states[-1]
        is_gone = last.leader != NO_REPLICA and last.up[last.leader] == 0
        return NO_REPLICA if is_gone and not self.course.breaks else last.leader

    def _goes_with_the_next(self, moment: Moment) -> bool:
        """True if the same leader takes out one more follower next: Kafka does both in one write.

        Followers that lag leave the ISR together; brokers are looked at after the last.
        """
        following = next(
            (m for m in self.course.replayed.moments if m.number > moment.number), None
        )
        if following is None or (moment.action, following.action) != (SHRINK, SHRINK):
            return False
        return dict(moment.arguments)["leader"] == dict(following.arguments)["leader"]

    def _is_in_vain(self, moment: Moment) -> bool:
        """True if a fenced follower asks, only to be refused again: a real one asks no more.

        It waits for another epoch (KIP-320). Question and refusal change nothing, so that brokers
        are where the model is after both.
        """
        follower = dict(moment.arguments).get("follower")
        if moment.action == "LeaderFetch" and self.vain == follower:
            self.vain = None
            return True
        if moment.action != "SendFetch" or follower is None or not self.silent >> follower & 1:
            return False
        following = next(
            (m for m in self.course.replayed.moments if m.number > moment.number), None
        )
        if following is None or following.action != "LeaderFetch":
            return False
        is_refused = following.after.fetch[follower] == IDLE
        if dict(following.arguments)["follower"] == follower and is_refused:
            self.vain = follower
        return self.vain is not None

    def _passed_over(self, number: int, step: TraceStep) -> StepSeen:
        text = f"{step}: not offered under {self.course.model.version}."
        return StepSeen(number, str(step), text, {}, {})

    def _take(self, stage: Stage, moment: Moment) -> StepSeen:
        seen = begin_step(moment, self.course.model, self.release)
        self.steps.append(seen)
        later = [m for m in self.course.replayed.moments if m.number > moment.number]
        if self.release.is_kraft and self.lag_ms == LAG_MS:
            part_followers(stage, moment, later)
        leave_unread(stage, moment, later)
        take(stage, moment, self.course.model, self.lag_ms, seen)
        require_held(seen, stage.replicas, self.lag_ms)
        self.committed |= committed_in(stage, seen.kafka)
        self.silent = self.silence.silent_after(moment, self.silent)
        return seen

    def _judge(self, evidence: Evidence) -> Confirmation:
        claim = self.course.trace.invariant
        shows = evidence.shows(self.course.claim)
        if not self.course.breaks:
            if shows:
                reason = f"{claim} holds in the model of these brokers, and is broken to who looks"
                return self._end(Judgement.REFUTED, len(self.steps), reason, evidence)
            return self._end(Judgement.HELD, self.course.parted_at, self._reason(), evidence)
        if shows is False:
            reason = f"what was seen agreed, but to who looks from outside {claim} is not broken"
            return self._end(Judgement.REFUTED, len(self.steps), reason, evidence)
        reason = f"{claim} is broken: all steps were taken, and what was seen agreed"
        if shows is None:
            reason += "; the claim itself is not to be seen from outside"
        return self._end(Judgement.CONFIRMED, 0, reason, evidence)

    def _judged_behaviour(self, found: Looked) -> Confirmation:
        """Judge a liveness claim by what the brokers showed while they were observed."""
        claim, evidence, last = self.course.trace.invariant, found.evidence, len(self.steps)
        if self.lag_ms == NO_LAG_MS:
            kept = "Nobody could be found lagging: replica.lag.time.max.ms was out of reach."
            evidence = replace(evidence, lines=(*evidence.lines, kept))
        came = found.came_after is not None
        if self.course.breaks and came:
            reason = (
                f"what {claim} says comes has come, {found.came_after:.0f} s after the last step"
            )
            return self._end(Judgement.REFUTED, last, reason, evidence)
        if self.course.breaks:
            reason = (
                f"all steps were taken, what was seen agreed, and what {claim} says comes did not "
                f"come in {found.seconds:.0f} s; that it never does is the model's word"
            )
            confirmed = self._end(Judgement.CONFIRMED, 0, reason, evidence)
            return replace(confirmed, waited=found.seconds, ended_by=found.ended_by)
        if came or found.ended_by:
            return self._end(Judgement.HELD, self.course.parted_at, self._reason(), evidence)
        reason = (
            f"what {claim} says comes did not come in {found.seconds:.0f} s, though it does in the "
            "model of these brokers; timeouts being out of reach, that says nothing of Kafka"
        )
        return self._end(Judgement.NOT_STEERABLE, last, reason, evidence)

    def _reason(self) -> str:
        text = "what was seen agreed with the model of these brokers, in which nothing breaks"
        if not self.course.parted_at:
            return text
        return (
            f"{self.course.trace.version} and {self.course.model.version} part at step "
            f"{self.course.parted_at}: {self.course.parting}; {text}"
        )

    def _end(
        self,
        judgement: Judgement,
        step: int,
        reason: str,
        evidence: Evidence | None,
    ) -> Confirmation:
        return Confirmation(
            judgement=judgement,
            step=step,
            reason=reason,
            steps=tuple(self.steps),
            evidence=evidence,
            seconds=time.monotonic() - self.began,
        )


_MOVES_LOGS = frozenset({"DirectoryMove", "DirectoryTaken"})
"""Steps for which a broker has a second log directory."""


@dataclass(frozen=True, slots=True, order=True)
class ClusterKind:
    """Parameters that require a new cluster when they change. Times are in milliseconds."""

    replicas: int
    lag_ms: int
    fetch_wait_ms: int
    log_directories: int


def kind_of(course: Course) -> ClusterKind:
    """The cluster that a course needs."""
    needs_lag = any(moment.action in NEEDS_LAG for moment in course.replayed.moments)
    moves_logs = any(moment.action in _MOVES_LOGS for moment in course.replayed.moments)
    return ClusterKind(
        replicas=course.model.layout.sizes["replicas"],
        lag_ms=LAG_MS if needs_lag else NO_LAG_MS,
        fetch_wait_ms=0 if course.model.settings.high_watermark_before_fetch else FETCH_WAIT_MS,
        log_directories=2 if moves_logs else 1,
    )


def settings_of(course: Course) -> BrokerSettings:
    """Return the broker settings for one course alone."""
    kind, rules = kind_of(course), course.model.settings
    return BrokerSettings(
        min_insync_replicas=rules.min_insync_replicas,
        unclean_leader_election=rules.unclean_leader_election == 1,
        lag_ms=kind.lag_ms,
        fetch_wait_ms=kind.fetch_wait_ms,
        log_directories=kind.log_directories,
    )


def assigned_of(model: Model) -> int:
    """Return how many brokers have a replica at the start, 0 for all."""
    return int(str(model.options["assigned"]))


READ_LATE = "ReadLate"
_OF_THE_ANSWER = frozenset({READ_LATE, "RecvFetch", "LeaderFetch"})
"""Steps of a follower that say whether its answer was read late."""


def prepare_late_reads(stage: Stage, moments: Sequence[Moment]) -> None:
    """Before the first step: see that an answer can be left unread, if one is to be (KRaft)."""
    if any(moment.action == READ_LATE for moment in moments):
        assert isinstance(stage, KraftStage)
        stage.prepare_late_reads()


def leave_unread(stage: Stage, moment: Moment, later: Sequence[Moment]) -> None:
    """Before a fetch reaches its leader: leave its answer unread, if it is to be read late."""
    if moment.action != "LeaderFetch":
        return
    [follower] = moment.values
    following = (m for m in later if m.action in _OF_THE_ANSWER and m.values == (follower,))
    answered = next(following, None)
    if answered is not None and answered.action == READ_LATE:
        assert isinstance(stage, KraftStage)
        stage.leave_unread(follower, moment.before.known_leader[follower])


APART_SECONDS = LAG_MS / 1000
"""Delay between the lags of two followers: two of a leader's looks for lagging followers, which
come every half of replica.lag.time.max.ms. No follower lags before it misses a record."""
_EVERY_SECONDS = 0.5


def part_followers(stage: Stage, moment: Moment, later: Sequence[Moment]) -> None:
    """Make followers lag in the order of their leaving, before a record is appended.

    Under KRaft a leader removes all lagging followers in one request (Partition.maybeShrinkIsr):
    those that leave later must have fetched later, so their last fetch is repeated for a while.
    `later` are the steps after the record. A follower that has not caught up cannot be kept in
    sync.
    """
    if moment.action != "Produce":
        return
    s, leader = moment.before, dict(moment.arguments)["leader"]
    leaving = list(dict.fromkeys(_leaving(leader, later)))
    for number in range(1, len(leaving)):
        kept = [each for each in leaving[number:] if s.remote_leo[leader, each] == s.leo[leader]]
        end = time.monotonic() + APART_SECONDS
        while kept and time.monotonic() < end:
            for follower in kept:
                stage.repeat_fetch(follower, leader, s.leo[leader], s.known_epoch[leader])
            time.sleep(_EVERY_SECONDS)


def _leaving(leader: int, later: Sequence[Moment]) -> list[int]:
    """The followers that this leader takes out before the next record, in order."""
    found = []
    for moment in later:
        arguments = dict(moment.arguments)
        if moment.action == "Produce":
            break
        if moment.action == SHRINK and arguments["leader"] == leader:
            found.append(arguments["follower"])
        if moment.action == SHRINK_TOGETHER and arguments["leader"] == leader:
            break
    return found
