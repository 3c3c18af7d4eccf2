"""Each claim on states made by hand: ones that satisfy it, and ones that break it, told why."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.states import after, agreed, edited, model_of, run
from waterline.invariants import (
    ALL,
    acknowledged_durable,
    consistent_read,
    epoch_cache_monotone,
    hw_monotone,
    no_committed_loss,
    no_divergence_below_hw,
    reachable,
    sane,
)
from waterline.model.core.claim import Invariant
from waterline.model.core.state import State
from waterline.model.message.terms import FETCHING, LEADER, NO_ROLE, TRUNCATING

MODEL = model_of("epoch")
HW = model_of("hw")
START = MODEL.initial[0]

AGREED = agreed(MODEL)


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.name)
@pytest.mark.parametrize("state", [START, AGREED], ids=["initial", "agreed"])
def test_a_cluster_in_agreement_breaks_no_claim(claim: Invariant, state: State) -> None:
    assert claim.holds(state, MODEL.settings)


def breach(claim: Invariant, state: State, **options: Any) -> str:
    """The explanation of a state that must break the claim."""
    settings = model_of("epoch", **options).settings
    assert not claim.holds(state, settings)
    return claim.explain(state, settings)


def missing(told: str, *names: str) -> list[str]:
    """Which of the brokers, offsets and records the explanation does not name."""
    return [name for name in names if not re.search(rf"\b{name}\b", told)]


def test_a_committed_record_missing_at_the_leader_is_lost() -> None:
    shorter = edited(AGREED, leo={0: 1}, log={(0, 1): 0})

    told = breach(no_committed_loss.CLAIM, shorter)

    assert not missing(
        told, "m2 was committed at offset 1", "log of leader r0", "epoch 1", "m2 is lost"
    )


def test_a_committed_record_in_whose_place_the_leader_has_another_is_lost() -> None:
    other = edited(AGREED, log={(0, 0): 2})

    told = breach(no_committed_loss.CLAIM, other)

    assert not missing(
        told, "m1 was committed at offset 0", "log of leader r0", "epoch 1", "has m2 there"
    )


NOT_CURRENT = {
    "there is no leader": {"leader": -1},
    "it is down": {"role": {0: NO_ROLE}, "up": {0: 0}},
    "it has not heard of the epoch": {"epoch": 2},
    "another is elected": {"leader": 1},
}


@pytest.mark.parametrize("fields", NOT_CURRENT.values(), ids=list(NOT_CURRENT))
def test_who_does_not_lead_now_loses_nothing(fields: dict[str, Any]) -> None:
    gone = edited(AGREED, leo={0: 0}, log={(0, 0): 0, (0, 1): 0}, **fields)

    assert no_committed_loss.holds(gone, MODEL.settings)
    assert acknowledged_durable.holds(gone, MODEL.settings)


def test_a_record_beyond_all_that_was_committed_may_go() -> None:
    uncommitted = edited(AGREED, exposed_end=1, exposed={1: 0}, leo={0: 1}, log={(0, 1): 0})

    assert no_committed_loss.holds(uncommitted, MODEL.settings)


GONE = edited(AGREED, leo={0: 1}, log={(0, 1): 0}, exposed_end=1, exposed={1: 0})
"""The leader lacks m2, which was acknowledged."""


def test_an_acknowledged_record_missing_at_the_leader_is_not_durable() -> None:
    told = breach(acknowledged_durable.CLAIM, GONE)

    assert not missing(told, "m2 was acknowledged", "log of leader r0", "epoch 1")
    assert "acks=1" not in told


def test_losing_an_acknowledged_record_is_within_the_contract_of_acks_1() -> None:
    told = breach(acknowledged_durable.CLAIM, GONE, acks="1")

    assert not missing(told, "m2 was acknowledged", "log of leader r0", "epoch 1", "acks=1")


def test_an_acknowledged_record_is_durable_at_any_offset() -> None:
    assert acknowledged_durable.holds(edited(AGREED, log={0: [2, 1]}), MODEL.settings)
    assert acknowledged_durable.holds(edited(GONE, acked=0b01), MODEL.settings)


DIVERGED = edited(AGREED, log={(1, 1): 1})


def test_other_records_below_both_high_watermarks_are_a_divergence() -> None:
    told = breach(no_divergence_below_hw.CLAIM, DIVERGED)

    assert not missing(told, "offset 1", "leader r0 has m2", "follower r1 has m1", "2 and 2")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"hw": {0: 1}}, id="above the leader's high watermark"),
        pytest.param({"hw": {1: 1}}, id="above the follower's high watermark"),
        pytest.param({"role": {1: TRUNCATING}}, id="it has not truncated yet"),
        pytest.param({"role": {1: NO_ROLE}, "up": {1: 0}}, id="it is down"),
        pytest.param({"known_epoch": {1: 0}}, id="it fetches in another epoch"),
        pytest.param({"epoch": 2}, id="the leader is not the current one"),
    ],
)
def test_other_records_elsewhere_are_no_divergence(fields: dict[str, Any]) -> None:
    assert no_divergence_below_hw.holds(edited(DIVERGED, **fields), MODEL.settings)


def test_a_leader_that_serves_another_record_than_committed_is_inconsistent() -> None:
    told = breach(consistent_read.CLAIM, edited(AGREED, log={(0, 1): 1}))

    assert not missing(told, "r0", "epoch 1", "serves m1 at offset 1", "m2 had been committed")


def test_a_stale_leader_must_read_consistently_too_and_a_follower_need_not() -> None:
    stale = edited(AGREED, log={(0, 0): 2}, leader=1, epoch=2)
    follower = edited(AGREED, log={(1, 0): 2})
    above = edited(AGREED, log={(0, 1): 1}, hw={0: 1})

    assert not missing(breach(consistent_read.CLAIM, stale), "r0", "m2 at offset 0", "m1")
    assert consistent_read.holds(follower, MODEL.settings)
    assert consistent_read.holds(above, MODEL.settings)


NOT_SANE: dict[str, dict[str, Any]] = {
    "r0 has its high watermark above its log end offset.": {
        "leo": {0: 1},
        "log": {(0, 1): 0},
        "remote_leo": {(0, 1): 1},
    },
    "r0 leads in an epoch in which another broker leads too.": {"role": {1: LEADER}},
    "The controller's leader is not in its ISR.": {"isr": 0b10},
    "The ISR is empty.": {"isr": 0},
    "r0 believes that a follower has more than it has itself.": {
        "leo": {0: 1},
        "hw": {0: 1},
        "log": {(0, 1): 0},
    },
    "r1 knows an epoch that the controller has not reached.": {"known_epoch": {1: 2}},
    "r1 has a hole in its log, or a record that was never produced.": {"log": {(1, 0): 0}},
}


@pytest.mark.parametrize(("told", "fields"), NOT_SANE.items(), ids=list(NOT_SANE))
def test_what_cannot_be_true_of_a_cluster_is_not_sane(told: str, fields: dict[str, Any]) -> None:
    assert breach(sane.CLAIM, edited(AGREED, **fields)) == told


def test_a_follower_keeps_its_high_watermark_above_its_log_only_until_2_4() -> None:
    cut = edited(AGREED, leo={1: 1}, log={(1, 1): 0})
    lowers = model_of("epoch-with-truncation-lowers-hw").settings

    assert sane.CLAIM.holds(cut, MODEL.settings)
    assert not sane.CLAIM.holds(cut, lowers)
    assert not missing(sane.CLAIM.explain(cut, lowers), "r1 has its high watermark above")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"produced": 1}, id="a record in a log"),
        pytest.param({"produced": 1, "log": [[1, 1], [1, 1]]}, id="a committed record"),
        pytest.param(
            {"produced": 1, "log": [[1, 1], [1, 1]], "exposed_end": 1}, id="an acknowledged record"
        ),
        pytest.param({"leo": {1: 1}, "hw": {1: 1}}, id="a record above the log end offset"),
    ],
)
def test_what_is_counted_must_add_up(fields: dict[str, Any]) -> None:
    assert breach(sane.CLAIM, edited(AGREED, **fields)).endswith(
        ("never produced.", "than was produced.")
    )


def test_leaders_of_different_epochs_are_sane() -> None:
    zombie = edited(AGREED, role={1: LEADER}, known_epoch={1: 0})

    assert sane.holds(zombie, MODEL.settings)


DECREASING = edited(AGREED, record_epoch=[1, 0])


def test_an_epoch_that_decreases_along_a_log_breaks_the_cache() -> None:
    told = breach(epoch_cache_monotone.CLAIM, DECREASING)

    assert not missing(told, "r0", "offset 1", "epoch 0", "epoch 1")


def test_any_log_counts_even_of_a_broker_that_is_down() -> None:
    down = edited(DECREASING, log={0: [2, 1]}, role={1: NO_ROLE}, up={1: 0})

    assert not missing(breach(epoch_cache_monotone.CLAIM, down), "r1", "offset 1")


def test_the_epoch_cache_is_claimed_only_of_a_version_that_has_one() -> None:
    assert epoch_cache_monotone.applies(MODEL.settings)
    assert not epoch_cache_monotone.applies(HW.settings)


def test_every_other_claim_is_of_both_versions_but_for_a_consumer_and_kraft() -> None:
    narrow = (
        "epoch_cache_monotone",
        "log_matching_by_epoch",
        "no_endless_question",
        "consumer_in_order",
        "valid_isr",
    )
    others = [claim for claim in ALL if claim.name not in narrow]

    assert all(claim.applies(model.settings) for claim in others for model in (MODEL, HW))


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.name)
def test_a_claim_that_holds_is_not_explained_away(claim: Invariant) -> None:
    told = claim.explain(AGREED, MODEL.settings)

    assert not any(f"r{replica}" in told.split() for replica in range(2))
    assert told.endswith(".")


def fallen(before: State, after: State) -> str:
    """The explanation of a step that must break `hw_monotone`."""
    assert not hw_monotone.keeps(before, after, MODEL.settings)
    return hw_monotone.explain(before, after, MODEL.settings)


def test_a_leader_whose_high_watermark_falls_is_named_with_both_offsets() -> None:
    behind = edited(AGREED, role={1: LEADER}, hw={1: 0})

    assert not missing(fallen(AGREED, edited(AGREED, hw={0: 1})), "r0", "epoch 1", "from 2 to 1")
    assert not missing(fallen(edited(behind, hw={1: 1}), behind), "r1", "from 1 to 0")


def test_a_high_watermark_falls_neither_from_one_epoch_to_the_next_nor_on_leading() -> None:
    lower = edited(AGREED, hw={0: 1})
    anew = edited(AGREED, known_epoch={0: 2}, hw={0: 0})
    following = edited(AGREED, role={0: FETCHING})

    assert not missing(fallen(AGREED, anew), "r0", "stays leader of epoch 2", "from 2 to 0")
    assert not missing(fallen(following, lower), "r0", "begins to lead", "from 2 to 1")


@pytest.mark.parametrize(
    "after",
    [
        AGREED,
        edited(AGREED, hw={1: 0}),
        edited(AGREED, role={0: FETCHING}, hw={0: 0}),
        edited(AGREED, role={0: NO_ROLE}, up={0: 0}, hw={0: 0}),
    ],
    ids=["nothing falls", "a follower's", "it steps down", "it crashes"],
)
def test_a_high_watermark_may_fall_where_nobody_leads_afterwards(after: State) -> None:
    assert hw_monotone.keeps(AGREED, after, MODEL.settings)
    assert hw_monotone.explain(AGREED, after, MODEL.settings) == (
        "No leader's high watermark falls."
    )


def test_a_high_watermark_that_rises_and_one_that_was_lower_are_fine() -> None:
    lower = edited(AGREED, hw={0: 1})

    assert hw_monotone.keeps(lower, AGREED, MODEL.settings)
    assert hw_monotone.keeps(edited(lower, role={0: FETCHING}, hw={0: 0}), lower, MODEL.settings)


def happened(claim: str, start: State, step: str) -> bool:
    found = next(each for each in reachable.ALL if each.name == claim)
    return found.happens(start, after(MODEL, start, step), MODEL.settings)


def test_a_record_commits_when_a_leaders_high_watermark_passes_it() -> None:
    produced = run(MODEL, "Produce leader=0")

    assert not happened("record_commits", START, "Produce leader=0")
    assert happened("record_commits", produced, "ShrinkIsr leader=0 follower=1")


def test_a_leader_fails_over_when_another_takes_up_leadership() -> None:
    elected = run(MODEL, "Crash replica=0", "Fence replica=0")
    stays = run(MODEL, "Crash replica=1", "Fence replica=1")

    assert happened("leader_fails_over", elected, "Learn replica=1")
    assert not happened("leader_fails_over", stays, "Learn replica=0")
    assert not happened("leader_fails_over", run(MODEL, "Crash replica=0"), "Fence replica=0")


def test_taking_up_the_first_epoch_is_no_failover() -> None:
    before = edited(START, role={0: NO_ROLE}, known_epoch={0: -1})
    happens = reachable.leader_fails_over

    assert not happens(before, START, MODEL.settings)


def test_the_isr_grows_back_when_a_member_returns() -> None:
    left = run(MODEL, "Produce leader=0", "ShrinkIsr leader=0 follower=1")
    back = run(
        MODEL, "SendFetch follower=1", "LeaderFetch follower=1", "RecvFetch follower=1", start=left
    )
    asked = after(MODEL, back, "SendFetch follower=1")
    replaced = edited(START, isr=0b01)

    assert not happened("isr_grows_back", START, "Produce leader=0")
    assert not happened("isr_grows_back", left, "SendFetch follower=1")
    assert happened("isr_grows_back", asked, "LeaderFetch follower=1")
    assert not reachable.isr_grows_back(replaced, edited(START, isr=0b10), MODEL.settings)
    assert not reachable.isr_grows_back(START, replaced, MODEL.settings)


def test_a_truncation_removes_a_record_when_a_log_gets_shorter() -> None:
    asking = edited(AGREED, role={1: TRUNCATING}, record_epoch=[1, 1])
    one_behind = edited(asking, leo={0: 1}, log={(0, 1): 0}, hw={0: 1})
    step = "OffsetForLeaderEpoch follower=1"

    assert happened("truncation_removes_record", one_behind, step)
    assert not happened("truncation_removes_record", asking, step)
