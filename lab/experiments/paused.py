"""C21 under KRaft: a leader that is paused across two elections.

Four moments of the model's counterexample are compared with the brokers: the record is with r0 and
r1; r1 has truncated it; r0 leads again; r1 leads. What is between them nobody holds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from lab.experiments.command import run
from lab.experiments.real_controller import KraftCluster, started
from waterline.checker.kafka.confirm.course import Course
from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.evidence import Evidence, consume
from waterline.checker.kafka.confirm.facts import (
    ACKNOWLEDGED,
    Difference,
    Facts,
    differences,
    epochs_text,
    names_text,
    of,
    of_model,
    records_text,
)
from waterline.checker.kafka.confirm.jars import Site
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.replay import Confirmation, Judgement
from waterline.checker.kafka.confirm.stage import describe_answer
from waterline.checker.kafka.confirm.stepping import StepSeen
from waterline.checker.kafka.confirm.wire import Pending
from waterline.model.message.terms import LEADER

LONG_ENOUGH_SECONDS = 2.0
"""A fetch that waits in a leader's purgatory (replica.fetch.wait.max.ms) has come back by then."""
STEP_SECONDS_MAX = 30.0
ACK_SECONDS_MAX = 15.0


@dataclass(slots=True)
class _Experiment:
    """The run while it goes on. In a control r0 is continued before the second election."""

    cluster: KraftCluster
    course: Course
    release: KafkaRelease
    is_control: bool
    report: Callable[[str], None]
    pending: Pending | None = None
    steps: list[StepSeen] = field(default_factory=list)
    _at: int = 0

    def begin(self, min_insync_replicas: int) -> None:
        """r0 leads, r2 is preferred, and the assignment has r0 before r1."""
        self.cluster.create_topic([0, 2, 1], min_insync_replicas)
        self.cluster.prefer(2, [0, 1])

    def carried_out(self) -> Iterator[Difference]:
        """Every part; what is not as the model has it."""
        cluster = self.cluster
        cluster.pause(2)
        time.sleep(LONG_ENOUGH_SECONDS)
        self.pending = cluster.produce(0, b"m1")
        self._await(lambda: len(cluster.log(1)) == 1, "r1 fetches m1")
        time.sleep(LONG_ENOUGH_SECONDS)  # It asks again, so that r0 knows that it has m1.
        yield from self._seen(
            "r2 stands still. A producer's record m1 is appended by leader r0 (epoch 0), and r1 "
            "fetches it; m1 is not committed.",
            lambda s: s.leo[1] == 1,
        )
        cluster.pause(0)
        time.sleep(LONG_ENOUGH_SECONDS)
        cluster.resume(2)
        cluster.elect_preferred(1)
        self._await(lambda: len(cluster.log(1)) == 0, "r1 truncates m1")
        yield from self._seen(
            "r0 stands still and hears of nothing. r2 is continued and elected leader of epoch 1; "
            "r1 follows it and truncates to 0, removing m1.",
            lambda s: s.leo[1] == 0 and s.epoch > 0,
        )
        if self.is_control:
            cluster.resume(0)
            self._await(lambda: self.outcome != "waiting", "r0 hears of epoch 1")
        cluster.pause(1)
        cluster.end(2)
        if not self.is_control:
            cluster.resume(0)
        self.pending.is_over(ACK_SECONDS_MAX)  # Or not: that is the question.
        before = "has been continued and heard of epoch 1" if self.is_control else "is continued"
        yield from self._seen(
            f"r0 {before}. r1 stands still. r2 shuts down, and r0 is elected leader of epoch 2.",
            lambda s: s.role[0] == LEADER and s.known_epoch[0] == 2,
        )
        cluster.end(0)
        cluster.resume(1)
        if not cluster.leads(1, 1, STEP_SECONDS_MAX):
            raise BrokerFailed("r1 did not become leader after r0 had shut down")
        yield from self._seen(
            "r0 shuts down. r1 is continued: it leads in epoch 3.",
            lambda s: s.role[1] == LEADER and s.known_epoch[1] == 3,
        )

    def _await(self, true: Callable[[], bool], what: str) -> None:
        if not wait_until(true, STEP_SECONDS_MAX):
            raise BrokerFailed(f"{what}: it did not happen in {STEP_SECONDS_MAX:.0f} s")

    def _seen(self, sentence: str, is_it: Callable[[Any], bool]) -> Iterator[Difference]:
        number = len(self.steps) + 1
        self.report(f"part {number} of 4")
        kafka = self._observed()
        model: Facts = {}
        if not self.is_control:
            # A control's r0 fetches too, which no gate holds back: no one state is the model's.
            model = self._expected(is_it)
        found = differences(model, kafka)
        self.steps.append(StepSeen(number, f"part {number}", sentence, model, kafka, found))
        yield from found

    def _expected(self, is_it: Callable[[Any], bool]) -> Facts:
        """The facts of the model's first state, from the part before on, that this is true of."""
        states = self.course.replayed.states
        self._at = next(at for at in range(self._at, len(states)) if is_it(states[at]))
        facts = of_model(states[self._at], self.course.model.settings, self.release)
        compared = [of(broker, what) for broker in self.cluster.replicas for what in ("LEO", "log")]
        # r0's alone: that it never had epoch 1 is the heart of it.
        return {each: facts[each] for each in (*compared, of(0, "epoch cache"), ACKNOWLEDGED)}

    def _observed(self) -> Facts:
        facts: Facts = {}
        for broker in self.cluster.replicas:
            log = self.cluster.log(broker)
            facts[of(broker, "LEO")] = str(log[-1].offset + 1 if log else 0)
            facts[of(broker, "log")] = records_text((r.value.decode(), r.epoch) for r in log)
            facts[of(broker, "epoch cache")] = epochs_text(self.cluster.epochs(broker))
        facts[ACKNOWLEDGED] = names_text(["m1"] if self.outcome == "acknowledged" else [])
        return facts

    @property
    def outcome(self) -> str:
        """What the producer was answered."""
        return describe_answer(self.pending)


def confirm_by_pauses(course: Course, site: Site, *, is_control: bool) -> Confirmation:
    """C21 on real brokers. Raises `CannotConfirm`.

    If r0 is continued between the elections (`is_control`) the record is not to be lost.
    """
    began = time.monotonic()
    with started(site.folder, site.jars, site.announce) as cluster:
        experiment = _Experiment(cluster, course, site.release, is_control, site.report)
        experiment.begin(course.model.settings.min_insync_replicas)
        for difference in experiment.carried_out():
            return Confirmation(
                judgement=Judgement.REFUTED,
                step=len(experiment.steps),
                reason=str(difference),
                steps=tuple(experiment.steps),
                evidence=None,
                seconds=time.monotonic() - began,
            )
        site.report("a consumer reads")
        read = consume(cluster.ports[1])
        return _judged(experiment, read, began)


def _judged(experiment: _Experiment, read: list[str], began: float) -> Confirmation:
    is_acknowledged = experiment.outcome == "acknowledged"
    lost = ("m1",) if is_acknowledged and "m1" not in read else ()
    text = "acknowledged (acks=all)" if is_acknowledged else experiment.outcome
    lines = [
        f"The producer of m1 was answered: {text}.",
        f"r0's epoch cache: {epochs_text(experiment.cluster.epochs(0))}.",
        f"A consumer reads from leader r1: {names_text(read)}.",
    ]
    if lost:
        lines.append("m1 was acknowledged, and nobody reads it.")
    evidence = Evidence(tuple(lines), lost, diverged=False, was_read=True)
    claim = experiment.course.trace.invariant
    if bool(lost) == experiment.is_control:
        judgement = Judgement.REFUTED
        reason = "the control lost m1 as well" if lost else "m1 is not lost"
    elif lost:
        judgement = Judgement.CONFIRMED
        reason = f"{claim} is broken, with a real controller, by brokers that stood still"
    else:
        judgement = Judgement.HELD
        reason = "r0 heard of epoch 1, and nothing is lost"
    return Confirmation(
        judgement=judgement,
        step=0,
        reason=reason,
        steps=tuple(experiment.steps),
        evidence=evidence,
        seconds=time.monotonic() - began,
    )


if __name__ == "__main__":
    run("stale-remote-leo", confirm_by_pauses, "C21 by pauses, with a real controller.")
