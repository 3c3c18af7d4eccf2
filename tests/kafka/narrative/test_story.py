"""What is told of traces on record: fates, partings, actors, faults, and why a step matters."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.stories import C21, KIP_279, LOSS, TRACES, story, story_of_trace
from waterline import invariants
from waterline.checker.kafka.narrative.fates import Copy, End, Ending, Parting, fates
from waterline.checker.kafka.narrative.story import breaking
from waterline.checker.kafka.narrative.why import RULES, why
from waterline.counterexamples import Trace, TraceStep
from waterline.invariants import atomic as atomic_invariants
from waterline.invariants.breaking import Breaking
from waterline.model.core.claim import Invariant
from waterline.model.message.environment import ENVIRONMENTS

RECORDED = sorted(TRACES.rglob("*.json"))


def test_the_loss_is_the_fate_of_one_record() -> None:
    (m1,) = story(LOSS).fates

    assert (m1.record, m1.offset, m1.written, m1.committed, m1.acknowledged) == (1, 0, 2, 6, 6)
    assert m1.copies == (Copy(0, 0, 2), Copy(1, 0, 4, 10))
    assert m1.ending is Ending.LOST
    assert m1.doomed_from == 6


def test_a_record_that_nobody_was_promised_is_not_lost() -> None:
    fate = next(
        f for f in story(TRACES / "scenarios" / "undefined-epoch.json").fates if f.record == 2
    )

    assert fate.ending is Ending.NEVER_PROMISED
    assert fate.doomed_from is None


def test_a_record_that_is_in_no_log_is_destroyed() -> None:
    (m1,) = story(TRACES / "scenarios" / "only-copy-lost.json").fates

    assert m1.ending is Ending.DESTROYED


def test_a_record_that_comes_back_is_not_gone() -> None:
    told = story(LOSS)
    there = told.holdings[6]
    gone = told.holdings[10]
    (fate,) = fates([there, gone, there], End(0, (0, 1), (0, 1)))

    assert fate.copies == (Copy(0, 0, 0), Copy(1, 0, 0, 1), Copy(1, 0, 2))
    assert fate.ending is Ending.KEPT


def test_a_lane_remembers_what_vanished_from_it() -> None:
    told = story(LOSS)

    assert [len(told.vanished_records(state)) for state in (9, 10, 12)] == [0, 1, 1]
    assert told.vanished_records(10)[0].copy.replica == 1


def test_logs_part_where_two_records_first_share_an_offset() -> None:
    assert story(KIP_279).partings == (Parting(7, (0, 1), 0, (1, 3)),)
    assert story(LOSS).partings == ()


def test_a_step_has_an_actor_and_may_be_a_fault() -> None:
    told = story(C21)

    assert [told.actor(step) for step in (1, 2, 3, 4, 5, 10, 11, 12)] == [
        "r0",
        "r1",
        "r0",
        "r1",
        "controller",
        "r1",
        "r2",
        "controller",
    ]
    assert [step for step in range(1, told.steps + 1) if told.is_fault(step)] == [5, 11, 14]


def test_the_loss_is_explained_where_it_matters_and_nowhere_else() -> None:
    told = {step: story(LOSS).why(step) for step in range(1, 13) if story(LOSS).why(step)}

    assert list(told) == [6, 8, 9, 10, 11, 12]
    assert told[6] == (
        "m1 is acknowledged now; r1 has it too, and does not know it is committed: "
        "its HW is still 0."
    )
    assert told[10] == (
        "r1 truncates to its high watermark 0: m1 at offset 0, already acknowledged, is gone "
        "from r1; only r0 still has it, and is down."
    )
    assert told[12] == story(LOSS).explanation


def test_c21_is_explained_by_the_remote_leo_of_the_past() -> None:
    assert story(C21).why(10) == (
        "From here on r0 is wrong to take r1 to have m1: its remote LEO for r1 is 1."
    )
    assert story(C21).why(13) == (
        "m1 counts as acknowledged although r1, whom r0 waits for, does not have it: r0 goes by a "
        "remote LEO that is not true."
    )


def test_kip_279_is_explained_by_what_truncation_left() -> None:
    assert story(KIP_279).why(9) == (
        "r1 goes on with m3 at offset 0, where its leader r0 has m1: truncation has not removed it."
    )


@pytest.mark.parametrize(
    "path", RECORDED, ids=lambda path: str(path.relative_to(TRACES).with_suffix(""))
)
def test_every_recorded_trace_has_a_story(path: Path) -> None:
    told = story(path)
    reasons = [told.why(step) for step in range(1, told.steps + 1)]

    assert reasons[-1] == told.explanation
    assert all(reason == "" or reason.endswith(".") for reason in reasons)
    # One of one step apart, a counterexample has a step before its last that matters.
    assert told.claim in ("leader_possible", "leader_again", "reassignment_ends") or any(
        reasons[:-1]
    )
    for state in range(told.steps + 1):
        cluster = told.cluster(state)
        assert cluster is not None
        assert tuple(tuple(c.record for c in lane.log) for lane in cluster.lanes) == (
            told.holdings[state].logs
        )


def test_a_claim_without_a_place_is_looked_up_in_its_words() -> None:
    state = story(LOSS).replayed.initial
    told = "At offset 0 r2 has m1 and r0 has m3; r2 is wrong."
    claim = Invariant(
        name="new", sentence="It.", holds=lambda s, c: True, explain=lambda s, c: told
    )

    for named in (claim, None):
        assert breaking(named, state, state, None, told) == Breaking((2, 0), (0,), (1, 3))


def test_a_claim_without_reasons_is_told_by_the_usual_ones() -> None:
    plain = replace(story(LOSS).turn(10), reasons=())

    assert why(plain).startswith("r1 truncates to its high watermark 0")
    assert why(replace(plain, reasons=("vanishes",))) == why(plain)


def test_every_reason_that_a_claim_names_first_is_a_rule() -> None:
    rules = {rule.__name__ for rule in RULES}
    claims = (*invariants.ALL, *invariants.PROPERTIES, *atomic_invariants.ALL)

    assert {reason for claim in claims for reason in claim.reasons} <= rules


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("hw-no_committed_loss-2r2n2e", Breaking((1,), (0,), (1,))),
        ("scenarios/acks-1", Breaking((1,), (), (1,))),
        ("scenarios/only-copy-lost", Breaking((), (0,), (1,))),
        ("scenarios/kip-279", Breaking((0, 1), (0,), (1, 3))),
        ("scenarios/consumer-misreads", Breaking((), (0,), (1,))),
        ("scenarios/hw-regression", Breaking((1,), (0,), (1,))),
        ("scenarios/out-of-range-exit", Breaking((1,), (0,), (1,))),
        ("scenarios/unfenced-truncate-on-fetch", Breaking((1,), (0,), (1,))),
        ("scenarios/nobody-left-to-lead", Breaking()),
    ],
)
def test_where_a_claim_breaks(name: str, expected: Breaking) -> None:
    assert story(TRACES / f"{name}.json").breaking == expected


LATE_LEADER = Trace(
    model="kafka-message",
    version="epoch",
    environment=dict(ENVIRONMENTS["adversarial"].options()),
    invariant="epoch_cache_monotone",
    initial=0,
    steps=(
        TraceStep("SendFetch", (("follower", 1),)),
        TraceStep("Move", (("replica", 1),)),
        TraceStep("Move", (("replica", 0),)),
        TraceStep("Learn", (("replica", 0),)),
        TraceStep("Produce", (("leader", 0),)),
        TraceStep("LeaderFetch", (("follower", 1),)),
        TraceStep("RecvFetch", (("follower", 1),)),
        TraceStep("LearnLate", (("replica", 1), ("epoch", 1))),
        TraceStep("Produce", (("leader", 1),)),
    ),
)


def test_leadership_of_the_past_is_explained() -> None:
    told = story_of_trace(LATE_LEADER)

    assert told.why(8) == "r1 begins to lead in epoch 1, and epoch 2 has begun."
    assert told.breaking == Breaking((1,), (1,), (2,))


def test_every_rule_has_something_to_say() -> None:
    """Of some step on record; one that is never heard would be there for nothing."""
    stories = [*map(story, RECORDED), story_of_trace(LATE_LEADER), story_of_trace(ATOMIC_STRONG)]
    turns = [told.turn(step) for told in stories for step in range(1, told.steps + 1)]
    silent = [rule.__name__ for rule in RULES if not any(rule(turn) for turn in turns)]

    assert silent == []


ATOMIC_STRONG = Trace(
    model="kafka-atomic",
    version="hw",
    environment={"epochs": 2, "log-size": 2, "records": 2, "replicas": 2},
    invariant="strong_isr",
    initial=0,
    steps=tuple(
        TraceStep(action, tuple(arguments.items()))
        for action, arguments in (
            ("ElectLeader", {"replica": 0}),
            ("BecomeFollower", {"replica": 1, "epoch": 0}),
            ("RemoveFromIsr", {"replica": 1}),
            ("BecomeLeader", {"epoch": 1}),
            ("Produce", {"leader": 0}),
            ("Fetch", {"follower": 1}),
            ("AdvanceHighWatermark", {"leader": 0}),
            ("ExpandIsr", {"leader": 0, "follower": 1}),
            ("BecomeFollower", {"replica": 1, "epoch": 1}),
        )
    ),
)


def test_the_atomic_grain_is_told_likewise() -> None:
    told = story_of_trace(ATOMIC_STRONG)

    assert told.breaking == Breaking((0, 1), (0,), (1,))
    assert [told.actor(step) for step in (1, 2, 4, 8)] == ["controller", "r1", "r0", "r0"]
    assert told.is_fault(3)
    assert told.why(7).startswith("m1 is committed now; r1 has it too")
    assert told.fates[0].copies == (Copy(0, 0, 5), Copy(1, 0, 6, 9))


def test_a_trace_of_no_step_has_no_reason() -> None:
    told = story_of_trace(
        Trace(
            model="kafka-atomic",
            version="hw",
            environment={"epochs": 2, "log-size": 2, "records": 2, "replicas": 2},
            invariant="leader_in_isr",
            initial=0,
            steps=(),
        )
    )

    assert told.steps == 0
    assert told.fates == ()
    assert told.breaking == Breaking()
