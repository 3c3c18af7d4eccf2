"""C43 under KRaft: a leader asks to add a follower, the follower dies, and the controller refuses.

Brokers, controller and every timeout are as released. Beside starting, stopping and killing
processes one thing is steered: AlterPartition waits at a gate, as behind a slow controller. Four
moments of the model's counterexample are compared with the brokers. Then nothing is held any more,
and for a while somebody looks whether the record is acknowledged.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lab.experiments.command import run
from lab.experiments.real_controller import KraftCluster, started_behind_gate
from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.errors import BrokerFailed, NoAnswer
from waterline.checker.kafka.confirm.evidence import Evidence
from waterline.checker.kafka.confirm.facts import (
    ACKNOWLEDGED,
    ISR,
    WAITING,
    Difference,
    Facts,
    differences,
    names_text,
    of,
    of_model,
    records_text,
)
from waterline.checker.kafka.confirm.jars import Site
from waterline.checker.kafka.confirm.proxy import Exchange, Link, wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.replay import Confirmation, Judgement
from waterline.checker.kafka.confirm.stage import PRODUCE_SECONDS_MAX, describe_answer
from waterline.checker.kafka.confirm.stepping import StepSeen
from waterline.checker.kafka.confirm.wire import Pending, error_name
from waterline.model.core.state import State
from waterline.model.message.terms import contains

STEP_SECONDS_MAX = 60.0
"""How long brokers and controller may take for a part; a session of 9 s is in some."""
FETCH_WAIT_SECONDS = 1.0
"""A fetch that waits in a leader's purgatory (replica.fetch.wait.max.ms, 500) is over by then."""
WATCH_SECONDS = 20.0
"""Longer than leaders look at the ISR once (half of replica.lag.time.max.ms, 15 s)."""
WATCH_EVERY_SECONDS = 0.5
REPEAT_SECONDS = 10.0
REFUSED = "ineligible_replica"
ASKS = "ISR asked for"
FOLLOWER, LEADER = 0, 1
_PRODUCER = 7
_ACTIONS = (
    ("Crash", "Fence", "Restart", "Learn", "Learn", "SendFetch", "LeaderFetch"),
    ("Produce",),
    ("Crash", "Fence"),
    ("AlterPartition",),
)
"""The parts of the counterexample, and the steps of the model in each."""


@dataclass(slots=True)
class Refusal:
    """What is done to the cluster. r0 dies twice, r1 leads, all others stay in sync.

    The producer of m1 waits so long for its answer: `timeout_seconds`.
    """

    cluster: KraftCluster
    gate: Link
    timeout_seconds: float = PRODUCE_SECONDS_MAX
    pending: Pending | None = None
    repeated: Pending | None = None

    def begin(self, min_insync_replicas: int) -> None:
        """r0 leads, and everybody is in sync."""
        self.cluster.create_topic(list(self.cluster.replicas), min_insync_replicas)

    def ask_for_follower(self) -> None:
        """r0 is killed; r1 leads without it; r0 starts again, and r1 asks for it at the gate."""
        others = [broker for broker in self.cluster.replicas if broker != FOLLOWER]
        self.cluster.kill(FOLLOWER)
        self._await(lambda: self.led_by() == (LEADER, others), "r1 leads, and r0 is not in the ISR")
        self.cluster.start_again(FOLLOWER)
        if not self.gate.wait_for(lambda now: now is not None, STEP_SECONDS_MAX):
            raise BrokerFailed("r1 did not ask the controller for r0, which has started again")

    def produce(self) -> None:
        """r0 stands still, so that it fetches no more; m1 is appended, others in sync fetch it."""
        self.cluster.pause(FOLLOWER)
        time.sleep(FETCH_WAIT_SECONDS)
        self.pending = self.cluster.produce(
            LEADER, b"m1", producer=_PRODUCER, timeout_seconds=self.timeout_seconds
        )
        others = [broker for broker in self.cluster.replicas if broker != FOLLOWER]
        self._await(lambda: all(map(self.cluster.log, others)), "every replica in sync has m1")
        time.sleep(FETCH_WAIT_SECONDS)  # They fetch again, so that r1 knows that they have it.

    def fence_follower(self) -> None:
        """r0 is killed where it stands, and its session ends."""
        self.cluster.kill(FOLLOWER)
        self._await(lambda: not self.cluster.lives(LEADER, FOLLOWER), "the controller fences r0")

    def answer(self) -> str:
        """The controller hears what r1 asks, and r1 its answer: the partition's error code."""

        def is_answered(now: Exchange | None) -> bool:
            return now is None or now.answer is not None

        self.gate.let_ask()
        asked = self.gate.current
        if not self.gate.wait_for(is_answered, STEP_SECONDS_MAX) or asked is None:
            raise BrokerFailed("the controller did not answer r1's AlterPartition")
        if asked.answer is None:
            raise BrokerFailed("the connection to the controller broke")
        self.gate.open()
        [partition] = asked.answer.topics[0].partitions
        return error_name(partition.error_code)

    def repeat(self) -> None:
        """m1 is sent once more, as an idempotent producer does after request.timeout.ms."""
        self.repeated = self.cluster.produce(LEADER, b"m1", producer=_PRODUCER)
        self.repeated.is_over(REPEAT_SECONDS)
        assert self.pending is not None
        self.pending.is_over(REPEAT_SECONDS)

    def led_by(self) -> tuple[int, list[int]]:
        """The leader and the ISR, as r1 has heard of them. Raises `NoAnswer`."""
        leader, isr = self.cluster.leader_and_isr(LEADER)
        return leader, sorted(isr)

    def _await(self, true: Callable[[], bool], what: str) -> None:
        def is_true() -> bool:
            with contextlib.suppress(NoAnswer):
                return true()
            return False

        if not wait_until(is_true, STEP_SECONDS_MAX, every=0.1):
            raise BrokerFailed(f"{what}: it did not happen in {STEP_SECONDS_MAX:.0f} s")

    def asks(self) -> str:
        """The ISR that waits at the gate."""
        now = self.gate.current
        if now is None:
            return names_text([])
        [partition] = now.request.body.topics[0].partitions
        with_epochs = getattr(partition, "new_isr_with_epochs", ())
        members = [each.broker_id for each in with_epochs] or list(partition.new_isr)
        return names_text(f"r{member}" for member in sorted(members))

    @property
    def outcome(self) -> str:
        """What the producer of m1 was answered."""
        return describe_answer(self.pending)


@dataclass(slots=True)
class _Experiment:
    """The run beside the model. In a control the controller hears the request while r0 lives."""

    refusal: Refusal
    course: Course
    release: KafkaRelease
    is_control: bool
    report: Callable[[str], None]
    code: str = ""
    watched_seconds: float = 0.0
    steps: list[StepSeen] = field(default_factory=list)

    def carried_out(self) -> Iterator[Difference]:
        """Every part; what is not as the model has it."""
        refusal = self.refusal
        refusal.ask_for_follower()
        yield from self._seen(
            "r0 is killed (-9) and fenced; r1 is elected leader of epoch 1, ISR {r1}. r0 starts "
            "again and fetches; r1 asks the controller for ISR {r0, r1}, and the request waits at "
            "the gate."
        )
        refusal.produce()
        yield from self._seen("r0 stands still. A producer's record m1 is appended by leader r1.")
        if self.is_control:
            self.code = refusal.answer()
            self.report("part 3 of 3, a control: the controller agrees, and then r0 is killed")
            refusal.fence_follower()
            self._watch(lambda: refusal.outcome == "acknowledged")
            return
        refusal.fence_follower()
        yield from self._seen("r0 is killed (-9), and the controller fences it.")
        self.code = refusal.answer()
        yield from self._seen(f"The controller has r1's request, and answers {self.code.upper()}.")
        self.report(f"looking for {WATCH_SECONDS:.0f} s whether m1 is acknowledged")
        self._watch(lambda: refusal.outcome != "waiting" or self._mark() != "0")

    def _watch(self, is_over: Callable[[], bool]) -> None:
        began = time.monotonic()
        wait_until(is_over, WATCH_SECONDS, every=WATCH_EVERY_SECONDS)
        self.watched_seconds = time.monotonic() - began

    def _mark(self) -> str:
        return self.refusal.cluster.high_watermark(LEADER)

    def _seen(self, sentence: str) -> Iterator[Difference]:
        number = len(self.steps) + 1
        self.report(f"part {number} of {len(_ACTIONS)}")
        last = sum(map(len, _ACTIONS[:number]))
        model = self._expected(self.course.replayed.states[last])
        kafka = self._observed()
        found = differences(model, kafka)
        self.steps.append(StepSeen(number, f"part {number}", sentence, model, kafka, found))
        yield from found

    def _expected(self, state: State) -> Facts:
        facts = of_model(state, self.course.model.settings, self.release)
        brokers = self.refusal.cluster.replicas
        compared = [of(broker, what) for broker in brokers for what in ("is", "LEO", "log")]
        shown = {each: facts[each] for each in (*compared, of(LEADER, "HW"))}
        asked = state.pending_isr[LEADER]
        shown[ASKS] = names_text(f"r{each}" for each in brokers if contains(asked, each))
        return shown | {each: facts[each] for each in (ISR, ACKNOWLEDGED, WAITING)}

    def _observed(self) -> Facts:
        cluster, outcome = self.refusal.cluster, self.refusal.outcome
        facts: Facts = {}
        for broker in cluster.replicas:
            log = cluster.log(broker)
            facts[of(broker, "is")] = "up" if cluster.is_up(broker) else "down"
            facts[of(broker, "LEO")] = str(log[-1].offset + 1 if log else 0)
            facts[of(broker, "log")] = records_text((r.value.decode(), r.epoch) for r in log)
        facts[of(LEADER, "HW")] = self._mark()
        facts[ASKS] = self.refusal.asks()
        facts[ISR] = names_text(f"r{each}" for each in self.refusal.led_by()[1])
        is_sent = self.refusal.pending is not None
        facts[ACKNOWLEDGED] = names_text(["m1"] if outcome == "acknowledged" else [])
        facts[WAITING] = names_text(["m1"] if is_sent and outcome == "waiting" else [])
        return facts


def confirm_by_gate(course: Course, site: Site, *, is_control: bool) -> Confirmation:
    """C43 on real brokers. Raises `CannotConfirm`.

    If the controller agrees (`is_control`) the record is to be acknowledged.
    """
    actions = tuple(step.action for step in course.trace.steps)
    assert actions == sum(_ACTIONS, ()), f"another counterexample than the parts are of: {actions}"
    began = time.monotonic()
    brokers = course.model.layout.sizes["replicas"]
    with started_behind_gate(
        site.folder, site.release, site.jars, site.announce, brokers=brokers, timeouts={}
    ) as (cluster, gate):
        refusal = Refusal(cluster, gate)
        refusal.begin(course.model.settings.min_insync_replicas)
        experiment = _Experiment(refusal, course, site.release, is_control, site.report)
        difference = next(experiment.carried_out(), None)
        steps = tuple(experiment.steps)
        if difference is not None:
            judged = Judgement.REFUTED, len(steps), str(difference)
            evidence = None
        elif is_control:
            judged, evidence = _judged_control(experiment), None
        else:
            judged, evidence = _judged(experiment)
    judgement, step, reason = judged
    return Confirmation(
        judgement=judgement,
        step=step,
        reason=reason,
        steps=steps,
        evidence=evidence,
        seconds=time.monotonic() - began,
    )


_Verdict = tuple[Judgement, int, str]


def _judged_control(experiment: _Experiment) -> _Verdict:
    if experiment.code == REFUSED:
        return Judgement.NOT_STEERABLE, 11, "r0's session ended before the controller heard r1"
    if experiment.refusal.outcome != "acknowledged":
        text = f"the controller agreed, and yet m1 is {experiment.refusal.outcome}"
        return Judgement.REFUTED, 11, text
    return (
        Judgement.HELD,
        0,
        "the controller agreed; when r0 had left the ISR again m1 was acknowledged, "
        f"{experiment.watched_seconds:.0f} s after r0 was found dead, by nothing else",
    )


def _judged(experiment: _Experiment) -> tuple[_Verdict, Evidence]:
    refusal, claim = experiment.refusal, experiment.course.trace.invariant
    before, mark = refusal.outcome, refusal.cluster.high_watermark(LEADER)
    _, isr = refusal.led_by()
    members = " ".join(f"r{member}" for member in isr)
    lines = [
        f"The controller answered r1's AlterPartition: {experiment.code.upper()}.",
        f"For {experiment.watched_seconds:.0f} s after that nothing was held back. ISR: {members}; "
        f"r1's log end: {len(refusal.cluster.log(LEADER))}; its high watermark: {mark}; "
        f"m1: {before}.",
    ]
    refusal.repeat()
    lines.append(
        "Then the producer sent m1 once more (idempotent, the same sequence number). r1's log end: "
        f"{len(refusal.cluster.log(LEADER))}; its high watermark: "
        f"{refusal.cluster.high_watermark(LEADER)}; m1: {refusal.outcome}; sent again: "
        f"{describe_answer(refusal.repeated)}."
    )
    evidence = Evidence(tuple(lines), (), diverged=False, was_read=False)
    if before != "waiting" or mark != "0":
        return (Judgement.REFUTED, 0, f"m1 was {before}, high watermark {mark}"), evidence
    text = (
        f"{claim} is broken as long as anybody looked, {experiment.watched_seconds:.0f} s; that it "
        "is for ever is the model's word"
    )
    return (Judgement.CONFIRMED, 0, text), evidence


if __name__ == "__main__":
    run("refused-expansion", confirm_by_gate, "C43 behind a gate, with a real controller.")
