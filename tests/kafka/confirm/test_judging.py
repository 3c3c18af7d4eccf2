"""What a replay amounts to, on a stage that only pretends: every verdict, and what leads to it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support import states
from waterline.checker.kafka.confirm import observing, stepping
from waterline.checker.kafka.confirm import replay as replaying
from waterline.checker.kafka.confirm.carrying_out import with_control
from waterline.checker.kafka.confirm.counterexample import search
from waterline.checker.kafka.confirm.course import Course, course_of
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.evidence import Evidence
from waterline.checker.kafka.confirm.facts import ISR, NO_ANSWER, differences
from waterline.checker.kafka.confirm.mapping import Act, Row
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.checker.kafka.confirm.replay import Confirmation, Judgement, Run, unsteerable
from waterline.checker.kafka.confirm.stage import NotHeld, StepFailed
from waterline.checker.kafka.confirm.stepping import LAG_MS, NO_LAG_MS
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.counterexamples import read_trace, replay, trace_of
from waterline.invariants import ALL
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

TRACES = Path(__file__).parents[3] / "examples" / "traces" / "scenarios"
LOST = Evidence(("m1 is gone.",), ("m1",), False, True)
KEPT = Evidence(("m1 is there.",), (), False, True)
UNREAD = Evidence(("Nobody leads.",), (), False, False)
OLD, REPAIRED = kafka_release("0.10.2.2"), kafka_release("0.11.0.3")
FENCED = kafka_release("2.1.1")


def course(name: str, release: KafkaRelease, *, control: bool = False) -> Course:
    trace = read_trace(TRACES / f"{name}.json")
    model = message_model(trace.version, Environment.from_options(dict(trace.environment)))
    claim = next(each for each in ALL if each.name == trace.invariant)
    replayed = with_control(name, trace, model) if control else replay(trace, model)
    return course_of(replayed, model, claim, release)


class Pretended:
    """Brokers that do what the model says, but for what is wrong at one step."""

    replicas = range(2)

    release = OLD

    def __init__(self, wrong: dict[int, dict[str, str]], evidence: Evidence) -> None:
        self.wrong = wrong
        self.evidence = evidence
        self.step = 0


@pytest.fixture
def carry_out(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A course on pretended brokers; `wrong` is what they show at a step other than the model."""

    def carried_out(
        course: Course,
        release: KafkaRelease,
        *,
        wrong: dict[int, dict[str, str]] | None = None,
        evidence: Evidence = LOST,
        fails: dict[int, Exception] | None = None,
        lag_ms: int = NO_LAG_MS,
    ) -> Confirmation:
        stage = Pretended(wrong or {}, evidence)

        def taken(of: Pretended, act: Act) -> None:
            of.step += 1
            if of.step in (fails or {}):
                raise (fails or {})[of.step]

        def compared(of: Pretended, model: dict[str, str], *, seconds: float) -> Any:
            facts = model | of.wrong.get(of.step, {})
            return facts, differences(model, facts)

        def gathered(of: Pretended, facts: Any, committed: Any, leader: int) -> Evidence:
            return of.evidence if leader >= 0 else UNREAD

        monkeypatch.setattr(stepping, "row_of", lambda action, release: Row("taken.", taken))
        monkeypatch.setattr(stepping, "compare", compared)
        monkeypatch.setattr(stepping, "observe", lambda of: {})
        monkeypatch.setattr(replaying, "observe", lambda of: {})
        monkeypatch.setattr(replaying, "committed_in", lambda of, facts: set())
        monkeypatch.setattr(replaying, "gather_evidence", gathered)
        monkeypatch.setattr(stepping, "keep_in_sync", lambda of, state: None)
        run = Run(course, release, lag_ms, lambda line: None)
        return run.carried_out(stage)  # type: ignore[arg-type]

    return carried_out


def told(found: Confirmation) -> tuple[Judgement, int]:
    return found.judgement, found.step


def test_a_loss_that_shows_outside_is_confirmed(carry_out: Any) -> None:
    found = carry_out(course("kip-101-loss", OLD), OLD)

    assert told(found) == (Judgement.CONFIRMED, 0)
    assert len(found.steps) == 12


def test_a_loss_that_nobody_sees_is_refuted(carry_out: Any) -> None:
    found = carry_out(course("kip-101-loss", OLD), OLD, evidence=KEPT)

    assert told(found) == (Judgement.REFUTED, 12)


def test_who_is_down_is_not_read_from_where_the_model_has_still_to_elect(carry_out: Any) -> None:
    found = carry_out(course("unfenced-registration", OLD), OLD, evidence=LOST)

    assert found.judgement is Judgement.HELD
    assert found.evidence is UNREAD


def test_a_known_difference_refutes_nothing(carry_out: Any) -> None:
    of_session = course("unfenced-sessions", FENCED)
    fenced = {"r1 on its way": "answer fenced_leader_epoch"}
    found = carry_out(of_session, FENCED, wrong={6: fenced})

    assert told(found) == (Judgement.NOT_STEERABLE, 6)
    assert "KAFKA-9338" in found.reason


def test_one_wrong_value_refutes_at_its_step(carry_out: Any) -> None:
    wrong = {10: {"r1 log": "m1"}}
    found = carry_out(course("kip-101-loss", OLD), OLD, wrong=wrong)

    assert told(found) == (Judgement.REFUTED, 10)
    assert found.reason == "r1 log: empty in the model, m1 in Kafka"
    assert len(found.steps) == 10


def test_a_step_that_brokers_do_not_take_refutes(carry_out: Any) -> None:
    fails = {3: StepFailed("r0 answers r1's fetch", "no answer")}
    found = carry_out(course("kip-101-loss", OLD), OLD, fails=fails)

    assert told(found) == (Judgement.REFUTED, 3)
    assert found.reason == "r0 answers r1's fetch; found: no answer"


def test_what_the_harness_cannot_hold_refutes_nothing(carry_out: Any) -> None:
    found = carry_out(course("kip-101-loss", OLD), OLD, fails={5: NotHeld("it did not wait")})

    assert told(found) == (Judgement.NOT_STEERABLE, 5)
    assert found.reason == "it did not wait"


def test_a_broker_that_gives_no_answer_refutes_nothing_and_what_a_disk_shows_does(
    carry_out: Any,
) -> None:
    silent = {"r1 leads": NO_ANSWER}
    alone = carry_out(course("kip-101-loss", OLD), OLD, wrong={10: silent})
    beside = carry_out(course("kip-101-loss", OLD), OLD, wrong={10: {"r1 log": "m1", **silent}})

    assert told(alone) == (Judgement.NOT_STEERABLE, 10)
    assert alone.reason == "r1 gave no answer for 30 s"
    assert told(beside) == (Judgement.REFUTED, 10)


def test_a_broker_that_answers_late_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, shown = [0.0], [NO_ANSWER, NO_ANSWER, "no"]
    given = {"r2 leads": "no"}

    def observed(stage: Any) -> dict[str, str]:
        clock[0] += 5.0  # As long as a request waits.
        return {"r2 leads": shown.pop(0)}

    monkeypatch.setattr(observing, "observe", observed)
    still = SimpleNamespace(monotonic=lambda: clock[0], sleep=lambda seconds: None)
    monkeypatch.setattr(observing, "time", still)
    stage: Any = None

    assert observing.compare(stage, given) == (given, [])
    shown[:] = ["yes", "no"]
    assert observing.compare(stage, given)[0] == {"r2 leads": "yes"}
    assert shown == ["no"]
    shown[:] = [*[NO_ANSWER] * 6, "no"]
    assert observing.compare(stage, given)[0] == {"r2 leads": NO_ANSWER}
    assert shown == ["no"]


def test_an_isr_that_shrinks_early_is_the_harness_s_and_one_that_grows_is_not(
    carry_out: Any,
) -> None:
    found = search(find_scenario("last-replica-standing"), FENCED.rules, print).finding.replayed
    model = message_model(
        found.trace.version, Environment.from_options(dict(found.trace.environment))
    )
    claim = next(each for each in ALL if each.name == found.trace.invariant)
    way = course_of(found, model, claim, FENCED)
    shrinks = [moment.action for moment in found.moments].index("ShrinkIsr") + 1
    early = carry_out(way, FENCED, wrong={shrinks - 1: {ISR: "r0"}}, lag_ms=LAG_MS)
    out_of_reach = carry_out(way, FENCED, wrong={shrinks - 1: {ISR: "r0"}})
    grown = carry_out(way, FENCED, wrong={shrinks + 1: {ISR: "r0 r1"}}, lag_ms=LAG_MS)

    assert told(early) == (Judgement.NOT_STEERABLE, shrinks - 1)
    assert told(out_of_reach) == (Judgement.REFUTED, shrinks - 1)
    assert told(grown) == (Judgement.REFUTED, shrinks + 1)


def test_a_repaired_release_holds_and_it_is_told_where_the_versions_part(carry_out: Any) -> None:
    found = carry_out(course("kip-101-loss", REPAIRED), REPAIRED, evidence=KEPT)

    assert told(found) == (Judgement.HELD, 10)
    assert found.reason.startswith("hw and epoch part at step 10: r1 LEO 1 instead of 0;")


def test_a_repaired_release_that_loses_all_the_same_refutes_its_model(carry_out: Any) -> None:
    found = carry_out(course("kip-101-loss", REPAIRED), REPAIRED, evidence=LOST)

    assert found.judgement is Judgement.REFUTED


def test_a_repaired_release_is_compared_with_its_own_rules(carry_out: Any) -> None:
    way = course("kip-101-loss", REPAIRED)
    as_hw = carry_out(way, REPAIRED, evidence=KEPT, wrong={10: {"r1 log": "empty"}})

    assert told(as_hw) == (Judgement.REFUTED, 10)
    assert as_hw.reason == "r1 log: m1@0 in the model, empty in Kafka"


def test_steps_that_other_rules_do_not_offer_are_passed_over(carry_out: Any) -> None:
    release = kafka_release("2.1.1")
    way = course("unfenced-epoch-question", release)
    found = carry_out(way, release, evidence=KEPT)

    assert way.passed_over
    assert len(found.steps) == len(way.trace.steps)
    assert found.judgement is Judgement.HELD
    assert [step.number for step in found.steps if not step.model] == [
        number for number, _ in way.passed_over
    ]


def test_a_control_holds_and_the_trace_without_it_is_confirmed(carry_out: Any) -> None:
    release = kafka_release("3.9.1")
    Pretended.replicas = range(3)
    control = carry_out(course("stale-remote-leo", release, control=True), release, evidence=KEPT)
    without = carry_out(course("stale-remote-leo", release), release)

    assert control.judgement is Judgement.HELD
    assert without.judgement is Judgement.CONFIRMED


def test_a_cancellation_prevents_the_loss_by_replication_factor() -> None:
    name, release = "replication-factor-down-and-up", kafka_release("4.4.0")

    assert course(name, release).breaks
    assert not course(name, release, control=True).breaks


def test_a_scenario_without_a_control_says_which_have_one() -> None:
    with pytest.raises(CannotConfirm, match="kip-101-loss has no control run; these have: stale"):
        course("kip-101-loss", OLD, control=True)


def test_where_nobody_can_read_what_agreed_is_confirmed_and_it_is_said(carry_out: Any) -> None:
    found = carry_out(course("kip-101-loss", OLD), OLD, evidence=UNREAD)

    assert found.judgement is Judgement.CONFIRMED
    assert found.reason.endswith("the claim itself is not to be seen from outside")


def test_a_fenced_follower_asks_no_more_and_its_question_in_vain_is_not_waited_for(
    carry_out: Any,
) -> None:
    newest = kafka_release("4.2.0")
    found = carry_out(course("unfenced-sessions", newest), newest, evidence=KEPT)
    taken = {step.number: bool(step.kafka) for step in found.steps if "Fetch" in step.call}

    assert found.judgement is Judgement.HELD
    assert [taken[number] for number in (1, 6)] == [True, True]
    assert [taken[number] for number in (8, 9)] == [False, False]


def parked() -> Course:
    """A follower's fetch waits in the leader's purgatory, and is answered."""
    model = states.model_of("hw", parked_fetches=True)
    calls = [("SendFetch", (1,)), ("LeaderFetch", (1,)), ("WakeParked", (1,))]
    claim = next(each for each in ALL if each.name == "no_committed_loss")
    return course_of(replay(trace_of(model, claim.name, calls), model), model, claim, OLD)


def test_a_step_that_cannot_be_had_is_found_before_anything_starts() -> None:
    found = unsteerable(parked(), OLD)

    assert found is not None
    assert told(found) == (Judgement.NOT_STEERABLE, 3)
    assert found.reason.startswith("WakeParked(follower=1): A leader's purgatory")


def test_what_the_rules_of_the_release_do_not_offer_need_not_be_steered() -> None:
    assert unsteerable(course("maximal-isr", OLD), OLD) is None


def test_reassignments_are_steered_with_kraft_alone() -> None:
    release = kafka_release("4.2.0:elr")
    found = unsteerable(course("removed-replica-in-elr", OLD), OLD)

    assert unsteerable(course("removed-replica-in-elr", release), release) is None
    assert found is not None
    assert told(found) == (Judgement.NOT_STEERABLE, 1)
    assert "with ZooKeeper every broker has a replica from the start" in found.reason


@pytest.mark.parametrize("evidence", [LOST, KEPT])
def test_evidence_speaks_of_the_claim_that_it_is_about(evidence: Evidence) -> None:
    claims = {claim.name: claim for claim in ALL}

    assert evidence.shows(claims["acknowledged_durable"]) is (evidence is LOST)
    assert evidence.shows(claims["no_divergence_below_hw"]) is False
    assert evidence.shows(claims["valid_isr"]) is None


def test_followers_that_leave_one_after_the_other_leave_at_once(carry_out: Any) -> None:
    Pretended.replicas = range(3)
    release = kafka_release("2.1.1")
    way = course("longest-log", release)
    # At the step in between nothing is looked at: Kafka takes out both in one write.
    found = carry_out(way, release, lag_ms=LAG_MS, wrong={2: {}}, fails={})
    wrong_at_the_end = carry_out(way, release, lag_ms=LAG_MS, wrong={2: {ISR: "r0 r1 r2"}})

    assert found.judgement is Judgement.CONFIRMED
    assert len(found.steps) == 6
    assert [not step.kafka for step in found.steps] == [False, True, False, False, False, False]
    assert told(wrong_at_the_end) == (Judgement.REFUTED, 3)


def test_an_answer_with_the_high_watermark_of_after_it_cannot_be_had_with_records() -> None:
    calls = [
        ("Produce", (0,)),
        ("SendFetch", (1,)),
        ("LeaderFetch", (1,)),
        ("RecvFetch", (1,)),
        ("Produce", (0,)),
        ("SendFetch", (1,)),
        ("LeaderFetch", (1,)),
    ]
    claim = next(each for each in ALL if each.name == "valid_isr")

    def way(answer: str) -> Course:
        model = states.model_of("hw", hw_in_response=answer)
        trace = trace_of(model, "valid_isr", calls)
        return course_of(replay(trace, model), model, claim, OLD)

    refused = unsteerable(way("post"), OLD)

    assert refused is not None
    assert (refused.step, refused.judgement) == (7, Judgement.NOT_STEERABLE)
    assert refused.reason.endswith("search with --hw-in-response pre")
    assert unsteerable(way("pre"), OLD) is None
