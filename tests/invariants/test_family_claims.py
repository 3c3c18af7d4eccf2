"""The claims that came with the later versions: states and steps for and against each, told why."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tests.support.states import after, agreed, edited, model_of
from waterline.invariants import (
    ALL,
    PROPERTIES,
    candidates_complete,
    consumer_in_order,
    hw_covers_committed,
    leader_isr_complete,
    no_endless_question,
    no_forced_exit,
    remote_leo_honest,
    replication_quorum,
    valid_isr,
    visible_hw,
)
from waterline.model.core.claim import Invariant
from waterline.model.core.state import State
from waterline.model.message.environment import DECLARED, FAULTS
from waterline.model.message.terms import NO_REPLICA, NO_ROLE, OUT_OF_RANGE, TRUNCATING

MODEL = model_of("elr", min_insync_replicas=2, consumer=True)
AGREED = agreed(MODEL, consumed=2, last_consumed=2)
"""Two records on two brokers, committed, acknowledged, below both high watermarks, and read."""
GONE = {"leo": {1: 1}, "log": {(1, 1): 0}, "hw": {1: 1}}
"""r1 does not have m2."""
OTHER = {"log": {(1, 0): 2, (1, 1): 1}}
"""r1 has the two in the other order."""
DOWN = {"up": {1: 0}, "role": {1: NO_ROLE}, "known_epoch": {1: -1}}


def holds(claim: Invariant, state: State, model: Any = MODEL) -> bool:
    return claim.holds(state, model.settings)


def breach(claim: Invariant, state: State, model: Any = MODEL) -> str:
    """The explanation of a state that must break the claim."""
    assert not claim.holds(state, model.settings)
    return claim.explain(state, model.settings)


def missing(told: str, *names: str) -> list[str]:
    """Which of the brokers, offsets and records the explanation does not name."""
    return [name for name in names if not re.search(rf"\b{name}\b", told)]


@pytest.mark.parametrize("claim", ALL, ids=lambda claim: claim.name)
@pytest.mark.parametrize("state", [MODEL.initial[0], AGREED], ids=["initial", "agreed"])
def test_a_cluster_in_agreement_breaks_no_claim(claim: Invariant, state: State) -> None:
    assert claim.applies(MODEL.settings) is (claim is not no_endless_question.CLAIM)
    assert holds(claim, state)
    assert not re.search(r"\br[01]\b", claim.explain(state, MODEL.settings)) or (
        claim is consumer_in_order.CLAIM
    )


# Who may be elected, and who counts as in sync, is complete.

COMPLETENESS = [candidates_complete.CLAIM, leader_isr_complete.CLAIM]


@pytest.mark.parametrize("claim", COMPLETENESS, ids=lambda claim: claim.name)
def test_a_member_of_the_isr_that_lacks_a_committed_record_is_named(claim: Invariant) -> None:
    shorter, other = (breach(claim, edited(AGREED, **fields)) for fields in (GONE, OTHER))

    assert not missing(shorter, "r1", "m2", "offset 1", "LEO is 1")
    assert not missing(other, "r1", "m1", "offset 0", "m2 there")


@pytest.mark.parametrize("claim", COMPLETENESS, ids=lambda claim: claim.name)
@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(DOWN, id="it is down"),
        pytest.param({"isr": 0b01, "known_isr": {0: 0b01}}, id="it is in no ISR"),
        pytest.param({"exposed_end": 1, "exposed": {1: 0}}, id="it was not committed"),
    ],
)
def test_who_may_lack_a_record(claim: Invariant, fields: dict[str, Any]) -> None:
    assert holds(claim, edited(AGREED, **{**GONE, **fields}))


def test_the_leader_itself_counts() -> None:
    shorter = edited(AGREED, leo={0: 1}, log={(0, 1): 0}, hw={0: 1})

    assert not missing(breach(candidates_complete.CLAIM, shorter), "r0", "m2", "offset 1")
    assert not missing(breach(leader_isr_complete.CLAIM, shorter), "r0", "m2", "offset 1")


def test_a_candidate_is_whom_the_controller_may_elect() -> None:
    eligible = edited(AGREED, isr=0b01, elr=0b10, **GONE)
    known = edited(AGREED, isr=0b01, **GONE)

    assert not missing(breach(candidates_complete.CLAIM, eligible), "r1", "m2")
    assert holds(candidates_complete.CLAIM, known)
    assert not missing(breach(candidates_complete.CLAIM, edited(AGREED, epoch=2, **GONE)), "r1")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"isr": 0b11, "known_isr": {0: 0b01}}, id="the controller's ISR alone"),
        pytest.param({"outdated": {0: 1}}, id="the leader is out of date"),
        pytest.param({"epoch": 2}, id="it is of an older epoch"),
        pytest.param({"leader": 1}, id="another leads"),
        pytest.param({"leader": -1}, id="nobody leads"),
        pytest.param({"isr": 0b01, "elr": 0b10, "known_isr": {0: 0b01}}, id="only eligible"),
    ],
)
def test_only_a_leader_up_to_date_counts_whom_it_waits_for(fields: dict[str, Any]) -> None:
    assert holds(leader_isr_complete.CLAIM, edited(AGREED, **GONE, **fields))


def test_a_leader_counts_its_own_isr_whatever_the_controllers() -> None:
    told = breach(leader_isr_complete.CLAIM, edited(AGREED, isr=0b01, **GONE))

    assert not missing(told, "r0", "r1", "m2", "offset 1")


# A consumer, and what it is shown.


def test_a_consumer_that_read_on_is_told_where() -> None:
    told = breach(consumer_in_order.CLAIM, edited(AGREED, misread=1))

    assert not missing(told, "m2", "offset 1", "at 2")


def test_only_where_there_is_a_consumer_is_it_in_order() -> None:
    assert consumer_in_order.applies(MODEL.settings)
    assert not consumer_in_order.applies(model_of("elr").settings)


WATERMARKS = [hw_covers_committed.CLAIM, visible_hw.CLAIM]


@pytest.mark.parametrize("claim", WATERMARKS, ids=lambda claim: claim.name)
def test_a_leader_that_shows_less_than_was_shown_is_named(claim: Invariant) -> None:
    told = breach(claim, edited(AGREED, hw={0: 1}))

    assert not missing(told, "r0", "epoch 1", "HW 1", "2")


@pytest.mark.parametrize("claim", WATERMARKS, ids=lambda claim: claim.name)
@pytest.mark.parametrize(
    "fields",
    [
        {"hw": {0: 1}, "epoch": 2},
        {"hw": {0: 1}, "leader": 1},
        {"hw": {0: 1}, "leader": -1},
        {"hw": {0: 1}, "exposed_end": 1, "exposed": {1: 0}},
        {"hw": {1: 0}},
    ],
    ids=["an older epoch", "another leads", "nobody leads", "not committed", "a follower"],
)
def test_who_shows_a_high_watermark_and_of_what(claim: Invariant, fields: dict[str, Any]) -> None:
    assert holds(claim, edited(AGREED, **fields))


def test_below_the_start_of_its_epoch_a_leader_shows_nothing() -> None:
    """m2 is of epoch 1, which begins at offset 1; in epoch 2 nothing is written yet."""
    below = edited(AGREED, hw={0: 0})
    unwritten = edited(AGREED, hw={0: 1}, epoch=2, known_epoch={0: 2})

    assert holds(visible_hw.CLAIM, below)
    assert holds(visible_hw.CLAIM, unwritten)
    assert not missing(breach(hw_covers_committed.CLAIM, below), "r0", "HW 0", "2")
    assert not missing(breach(visible_hw.CLAIM, edited(AGREED, hw={0: 1})), "begins at 1")


def test_a_high_watermark_is_to_cover_all_only_where_that_is_asked() -> None:
    asked = {claim.name for claim in (*ALL, *PROPERTIES) if not claim.default}

    assert asked == {"hw_covers_committed", "leader_possible", "no_forced_exit"}


# What the leader takes a follower to have.


def test_a_remote_leo_above_what_the_follower_has_is_not_honest() -> None:
    told = breach(remote_leo_honest.CLAIM, edited(AGREED, **GONE))

    assert not missing(told, "r0 takes r1", "below 2", "offset 1", "m2", "nothing")


def test_a_remote_leo_above_another_record_is_not_honest() -> None:
    told = breach(remote_leo_honest.CLAIM, edited(AGREED, **OTHER))

    assert not missing(told, "r0 takes r1", "offset 0", "m1", "r1 has m2")


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"remote_leo": {(0, 1): 1}}, id="the leader takes it to have less"),
        pytest.param({"remote_leo": {(0, 1): -1}}, id="the leader has not heard of it"),
        pytest.param(DOWN, id="it is down"),
        pytest.param({"role": {1: TRUNCATING}}, id="it is in doubt"),
        pytest.param({"known_epoch": {1: 0}}, id="it is of another epoch"),
        pytest.param({"known_leader": {1: 1}}, id="it follows another"),
        pytest.param({"epoch": 2}, id="the leader is not the current one"),
        pytest.param({"leader": -1}, id="nobody leads"),
    ],
)
def test_of_whom_a_remote_leo_is_no_claim(fields: dict[str, Any]) -> None:
    assert holds(remote_leo_honest.CLAIM, edited(AGREED, **{**GONE, **fields}))


def test_above_its_own_log_a_leader_can_take_nobody_to_have_anything() -> None:
    shorter = edited(AGREED, leo=[1, 1], log={(0, 1): 0, (1, 1): 0}, hw=[1, 1])

    assert holds(remote_leo_honest.CLAIM, shorter)


# For whom the leader waits.


def test_a_candidate_that_the_leader_does_not_wait_for_is_named() -> None:
    one = model_of("elr", min_insync_replicas=1)
    alone = edited(AGREED, known_isr={0: 0b01})
    eligible = edited(alone, isr=0b01, elr=0b10)

    for state in (alone, eligible):
        told = breach(replication_quorum.CLAIM, state, one)
        assert not missing(told, "r1 may be elected", "leader r0")


@pytest.mark.parametrize(
    ("version", "min_insync_replicas", "fields", "kept"),
    [
        ("elr", 1, {"pending_isr": {0: 0b11}}, True),
        ("kip320-with-alter-partition", 1, {"pending_isr": {0: 0b11}}, False),
        ("elr", 1, {"isr": 0b01}, True),
        ("elr", 2, {}, True),
        ("elr", 1, {"epoch": 2}, True),
        ("elr", 1, {"leader": 1}, True),
        ("elr", 1, {"leader": -1}, True),
        ("elr", 1, {"fenced": 0b10}, False),
    ],
    ids=[
        "whom it has asked to add counts",
        "but without the maximal ISR",
        "nobody else may be elected",
        "too few are in sync",
        "an older epoch",
        "another leads",
        "nobody leads",
        "a fenced one may be back",
    ],
)
def test_for_whom_a_leader_waits(
    version: str, min_insync_replicas: int, fields: dict[str, Any], kept: bool
) -> None:
    model = model_of(version, min_insync_replicas=min_insync_replicas)
    alone = edited(AGREED, known_isr={0: 0b01}, **fields)

    assert holds(replication_quorum.CLAIM, alone, model) is kept


# ISR and ELR.

IN_BOTH = "A broker is in the ISR and in the ELR."
NOT_NEEDED = "The ISR has min.insync.replicas members and the ELR is not empty."
FENCED = "A fenced broker is in the ISR."


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"isr": 0b01, "elr": 0b01}, IN_BOTH),
        ({"isr": 0b01, "elr": 0b10}, None),
        ({"isr": 0, "elr": 0b11, "leader": -1}, None),
        ({"fenced": 0b10}, FENCED),
        ({"fenced": 0b10, "isr": 0b01}, None),
        ({"fenced": 0b01, "isr": 0b01}, FENCED),
        ({"fenced": 0b01, "isr": 0b01, "leader": -1}, None),
        ({"fenced": 0b01, "leader": -1}, FENCED),
        ({"stopping": 0b10}, None),
    ],
)
def test_an_isr_and_an_elr_are_valid_or_it_is_told_why_not(
    fields: dict[str, Any], told: str | None
) -> None:
    state = edited(AGREED, **fields)

    assert (None if holds(valid_isr.CLAIM, state) else breach(valid_isr.CLAIM, state)) == told


def test_an_elr_is_empty_once_the_isr_is_large_enough() -> None:
    wide = model_of("elr", replicas=3, min_insync_replicas=2)
    needed = edited(wide.initial[0], isr=0b001, elr=0b110)
    not_needed = edited(needed, isr=0b011, elr=0b100)

    assert holds(valid_isr.CLAIM, needed, wide)
    assert breach(valid_isr.CLAIM, not_needed, wide) == NOT_NEEDED


@pytest.mark.parametrize(
    ("version", "applies"),
    [("kip320", False), ("truncate-on-fetch", False), ("kraft", True), ("elr", True)],
)
def test_only_the_controller_of_kraft_keeps_the_isr_valid(version: str, applies: bool) -> None:
    assert valid_isr.applies(model_of(version).settings) is applies


def test_every_other_new_claim_is_of_every_version() -> None:
    narrow = {
        "consumer_in_order",
        "valid_isr",
        "epoch_cache_monotone",
        "log_matching_by_epoch",
        "no_endless_question",
    }
    wide = [claim for claim in (*ALL, *PROPERTIES) if claim.name not in narrow]

    assert all(
        claim.applies(model_of(version, acks="0").settings)
        for claim in wide
        for version in ("hw", "kip279", "kip320", "truncate-on-fetch", "elr")
    )


# A broker that ends its process.

EXITS = model_of("hw", records=3, shutdowns=1, power_losses=1, lost_disks=1, failed_directories=1)
BEYOND = edited(
    EXITS.initial[0],
    leo=[1, 2],
    log=[[1], [1, 2]],
    produced=2,
    fetch={1: OUT_OF_RANGE},
    answer_offset={1: 1},
)
"""r1 has two records, its leader r0 has answered that it has one."""


def keeps(step: str, model: Any = EXITS, before: State = BEYOND) -> bool:
    return no_forced_exit.keeps(before, after(model, before, step), model.settings)


def test_a_broker_that_exits_is_named_with_both_ends() -> None:
    gone = after(EXITS, BEYOND, "RecvOutOfRange follower=1")
    told = no_forced_exit.explain(BEYOND, gone, EXITS.settings)

    assert not keeps("RecvOutOfRange follower=1")
    assert not missing(told, "r1 has 2 records", "leader r0", "ends at 1", "r1 ends")


@pytest.mark.parametrize(
    "step",
    ["Crash replica=1", "PowerLoss replica=1 end=1", "DiskLoss replica=1", "Crash replica=0"],
)
def test_a_broker_that_a_fault_ends_does_not_exit(step: str) -> None:
    gone = after(EXITS, BEYOND, step)

    assert keeps(step)
    assert no_forced_exit.explain(BEYOND, gone, EXITS.settings) == "No broker exits."


@pytest.mark.parametrize(
    "fault", [n for n, f in FAULTS.items() if f.takes_down and len(DECLARED[n].steps) == 1]
)
def test_no_fault_that_ends_a_process_in_one_step_is_taken_for_an_exit(fault: str) -> None:
    """Each is told from an exit by its count: one that is new is to be added to the claim."""
    exited = after(EXITS, BEYOND, "RecvOutOfRange follower=1")
    by_fault = edited(exited, **{f"{fault}_used": 1})

    assert no_forced_exit.first_exit(BEYOND, exited) == 1
    assert no_forced_exit.first_exit(BEYOND, by_fault) == NO_REPLICA


@pytest.mark.parametrize(
    ("version", "options"),
    [("hw", {"unclean_leader_election": True}), ("hw-with-truncate-out-of-range", {})],
)
def test_a_broker_that_truncates_does_not_exit(version: str, options: dict[str, Any]) -> None:
    assert keeps("RecvOutOfRange follower=1", model_of(version, records=3, **options))


def test_a_broker_that_stops_does_not_exit() -> None:
    assert keeps("Stop replica=1", before=edited(BEYOND, stopping=0b10, shutdowns_used=1))


def test_a_broker_in_doubt_that_exits_is_found_too() -> None:
    model = model_of("truncate-on-fetch-without-truncate-out-of-range", records=3)

    assert not keeps("RecvOutOfRange follower=1", model, edited(BEYOND, role={1: TRUNCATING}))
