"""What the steps of the later versions change, and that nothing else changes.

The ISR, the high watermark, fencing, and what a change of leader leaves behind are here. Where logs
are cut is in `test_family_truncation`, faults and what the controller makes of them in
`test_family_faults` and `test_family_elections`.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import Changes, after, changed_by, edited, is_enabled, model_of
from waterline.model.message.terms import (
    ANSWERED,
    FETCHING,
    IDLE,
    NO_EPOCH,
    PARKED,
    REQUESTED,
    TRUNCATING,
    UNKNOWN_OFFSET,
)

KRAFT = model_of("kraft")
ELR = model_of("elr", min_insync_replicas=2)
START = KRAFT.initial[0]
"""r0 leads in epoch 0, r1 fetches from it, both are in sync. The same in every version."""
BEHIND = edited(START, leo=[1], log=[[1]], produced=1, unanswered={0: 1})
"""r0 has m1, unanswered, and takes r1 to have nothing."""
COMMITS: Changes = {"hw[0]": (0, 1), "exposed_end": (0, 1), "exposed[0]": (0, 1)}
ACKS: Changes = {"unanswered[0]": (1, 0), "acked": (0, 1)}


# AlterPartition.


def test_a_leader_asks_to_take_out_a_follower_and_goes_on_waiting_for_it() -> None:
    assert changed_by(KRAFT, BEHIND, "ShrinkIsr leader=0 follower=1") == {
        "pending_isr[0]": (0, 0b01)
    }


SHRINKS = edited(BEHIND, pending_isr={0: 0b01})
ASKED: Changes = {"pending_isr[0]": (0b01, 0)}


def test_a_smaller_isr_raises_the_epoch_until_3_6_and_the_leader_hears_of_it_by_metadata() -> None:
    assert changed_by(KRAFT, SHRINKS, "AlterPartition leader=0") == ASKED | {
        "isr": (0b11, 0b01),
        "epoch": (0, 1),
    }


def test_a_smaller_isr_raises_no_epoch_since_3_6_and_may_commit() -> None:
    model = model_of("kraft-without-shrink-raises-epoch")

    assert changed_by(model, SHRINKS, "AlterPartition leader=0") == ASKED | COMMITS | ACKS | {
        "isr": (0b11, 0b01),
        "known_isr[0]": (0b11, 0b01),
    }


CAUGHT_UP = edited(
    BEHIND,
    leo=[1, 1],
    log=[[1], [1]],
    isr=0b01,
    known_isr={0: 0b01},
    pending_isr={0: 0b11},
    remote_leo={(0, 1): 1},
    hw=[1],
    unanswered={0: 0},
)
"""r0 alone is in sync and has asked to add r1."""


def test_a_larger_isr_raises_no_epoch_and_the_leader_hears_it_at_once() -> None:
    assert changed_by(KRAFT, CAUGHT_UP, "AlterPartition leader=0") == {
        "pending_isr[0]": (0b11, 0),
        "isr": (0b01, 0b11),
        "known_isr[0]": (0b01, 0b11),
    }


@pytest.mark.parametrize(
    ("feature", "fields"),
    [
        pytest.param("fenced-check", {"fenced": 0b10}, id="a member is fenced"),
        pytest.param("fenced-check", {"stopping": 0b10}, id="a member is stopping"),
        pytest.param("broker-epoch", {"pending_stale": {0: 1}}, id="a member is new"),
    ],
)
def test_a_request_is_refused_and_forgotten(feature: str, fields: dict[str, Any]) -> None:
    state = edited(CAUGHT_UP, **fields)
    answered: Changes = {"pending_isr[0]": (0b11, 0)}
    if "pending_stale" in fields:
        answered["pending_stale[0]"] = (1, 0)

    assert changed_by(model_of("kip903"), state, "AlterPartition leader=0") == answered
    lax = model_of(f"kip903-without-stale-fetch-check-without-{feature}")
    assert after(lax, state, "AlterPartition leader=0").isr == 0b11


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"outdated": {0: 1}}, id="outdated"),
        pytest.param({"epoch": 1}, id="of an older epoch"),
        pytest.param({"leader": 1, "epoch": 1}, id="deposed"),
    ],
)
def test_a_leader_of_the_past_waits_for_what_it_has_asked_for(fields: dict[str, Any]) -> None:
    assert not is_enabled(KRAFT, edited(CAUGHT_UP, **fields), "AlterPartition leader=0")


def test_a_fetch_that_reaches_the_high_watermark_only_proposes_its_sender() -> None:
    state = edited(CAUGHT_UP, pending_isr={0: 0}, fetch={1: REQUESTED})

    assert changed_by(KRAFT, state, "LeaderFetch follower=1") == {
        "pending_isr[0]": (0, 0b11),
        "fetch[1]": (REQUESTED, ANSWERED),
        "answer_offset[1]": (0, 1),
    }


@pytest.mark.parametrize("fields", [{"outdated": {0: 1}}, {"epoch": 1}])
def test_a_leader_that_is_out_of_date_asks_in_vain(fields: dict[str, Any]) -> None:
    state = edited(CAUGHT_UP, pending_isr={0: 0}, fetch={1: REQUESTED}, **fields)
    asked = after(KRAFT, state, "LeaderFetch follower=1")

    assert asked.pending_isr[0] == 0b11
    assert not is_enabled(KRAFT, asked, "AlterPartition leader=0")


@pytest.mark.parametrize(("version", "joins"), [("kip320", False), ("kip279", True)])
def test_since_kafka_7128_a_follower_joins_at_the_start_of_the_epoch(
    version: str, joins: bool
) -> None:
    """The leader's own high watermark, 0, is behind the start of its epoch, 1."""
    model = model_of(version)
    state = edited(
        BEHIND, known_epoch=[1, 1], epoch=1, isr=0b01, known_isr={0: 0b01}, fetch={1: REQUESTED}
    )

    assert after(model, state, "LeaderFetch follower=1").isr == (0b11 if joins else 0b01)


# The maximal ISR, and min.insync.replicas.


@pytest.mark.parametrize(("version", "hw"), [("kraft", 0), ("kraft-without-maximal-isr", 1)])
def test_the_high_watermark_waits_for_whom_the_leader_has_asked_to_add(
    version: str, hw: int
) -> None:
    model = model_of(version)
    state = edited(START, isr=0b01, known_isr={0: 0b01}, pending_isr={0: 0b11})

    assert after(model, state, "Produce leader=0").hw[0] == hw


@pytest.mark.parametrize(("version", "acked"), [("kraft", 1), ("kraft-without-maximal-isr", 0)])
def test_whom_the_leader_has_asked_to_add_counts_for_an_acknowledgement(
    version: str, acked: int
) -> None:
    model = model_of(version, min_insync_replicas=2)
    state = edited(
        BEHIND,
        leo={1: 1},
        log={(1, 0): 1},
        isr=0b01,
        known_isr={0: 0b01},
        pending_isr={0: 0b11},
        fetch={1: REQUESTED},
    )

    assert changed_by(model, state, "LeaderFetch follower=1") == COMMITS | {
        "unanswered[0]": (1, 0),
        **({"acked": (0, 1)} if acked else {}),
        "remote_leo[0][1]": (0, 1),
        "fetch[1]": (REQUESTED, ANSWERED),
        "answer_offset[1]": (0, 1),
    }


@pytest.mark.parametrize(("version", "hw"), [("kip903", 1), ("elr", 0)])
def test_the_high_watermark_waits_for_min_insync_replicas(version: str, hw: int) -> None:
    model = model_of(version, min_insync_replicas=2)
    state = edited(BEHIND, outdated={0: 1}, isr=0b01)
    learned = after(model, state, "Learn replica=0")

    assert (learned.hw[0], learned.known_isr[0], learned.acked) == (hw, 0b01, 0)
    assert learned.unanswered[0] == (1 - hw)


def test_the_high_watermark_moves_again_once_enough_are_in_sync() -> None:
    state = edited(CAUGHT_UP, hw=[0], unanswered={0: 1}, elr=0b10)

    assert changed_by(ELR, state, "AlterPartition leader=0") == COMMITS | ACKS | {
        "pending_isr[0]": (0b11, 0),
        "isr": (0b01, 0b11),
        "elr": (0b10, 0),
        "known_isr[0]": (0b01, 0b11),
    }


# Fencing.


@pytest.mark.parametrize("epochs", [[1, 0], [0, 1]], ids=["older", "newer"])
def test_a_leader_of_another_epoch_refuses_a_fetch_since_kip_320(epochs: list[int]) -> None:
    state = edited(BEHIND, known_epoch=epochs, fetch={1: REQUESTED})
    unfenced = model_of("kip320-without-fencing")

    assert changed_by(model_of("kip320"), state, "LeaderFetch follower=1") == {
        "fetch[1]": (REQUESTED, IDLE)
    }
    assert after(unfenced, state, "LeaderFetch follower=1").fetch[1] == ANSWERED


@pytest.mark.parametrize("version", ["epoch", "kip320"])
def test_who_does_not_lead_refuses_a_fetch_in_every_version(version: str) -> None:
    state = edited(START, role={0: TRUNCATING}, fetch={1: REQUESTED})

    assert changed_by(model_of(version), state, "LeaderFetch follower=1") == {
        "fetch[1]": (REQUESTED, IDLE)
    }


def test_a_parked_fetch_of_another_epoch_is_refused_when_it_is_completed() -> None:
    model = model_of("kip320", parked_fetches=True)
    state = edited(START, known_epoch={0: 1}, fetch={1: PARKED})

    assert changed_by(model, state, "WakeParked follower=1") == {"fetch[1]": (PARKED, IDLE)}


# The unwritten entry of the epoch cache, and what a leader forgets.

DEPOSED = edited(BEHIND, epoch=2, leader=1, known_epoch={0: 1}, unanswered={0: 0})
"""r0 led in epoch 1, where it wrote nothing; m1 is of epoch 0. r1 leads in epoch 2."""


@pytest.mark.parametrize(
    ("version", "role", "kept"),
    [
        ("kip320", TRUNCATING, 1),
        ("truncate-on-fetch", TRUNCATING, 1),
        ("kip279", TRUNCATING, NO_EPOCH),
        ("hw-with-epoch-on-leading", FETCHING, NO_EPOCH),
    ],
)
def test_a_deposed_leader_keeps_the_entry_of_an_epoch_in_which_it_wrote_nothing(
    version: str, role: int, kept: int
) -> None:
    learned = after(model_of(version), DEPOSED, "Learn replica=0")

    assert (learned.role[0], learned.cached_epoch[0]) == (role, kept)


def test_a_deposed_leader_keeps_no_entry_where_it_wrote() -> None:
    wrote = edited(DEPOSED, record_epoch=[1])

    assert after(model_of("kip320"), wrote, "Learn replica=0").cached_epoch[0] == NO_EPOCH


def test_the_unwritten_entry_is_kept_through_another_change_of_leader() -> None:
    model = model_of("kip320", replicas=3)
    state = edited(
        model.initial[0], role={1: TRUNCATING}, cached_epoch={1: 1}, known_epoch={1: 1}, epoch=2
    )

    assert after(model, edited(state, leader=2), "Learn replica=1").cached_epoch[1] == 1


def test_truncating_removes_the_unwritten_entry_even_where_it_removes_no_record() -> None:
    state = edited(
        START,
        role={1: TRUNCATING},
        leo=[1, 1],
        log=[[1], [1]],
        produced=1,
        epoch=2,
        known_epoch=[2, 2],
        cached_epoch={1: 1},
    )

    assert changed_by(model_of("kip320"), state, "OffsetForLeaderEpoch follower=1") == {
        "role[1]": (TRUNCATING, FETCHING),
        "cached_epoch[1]": (1, NO_EPOCH),
    }


KNOWS = edited(BEHIND, remote_leo={(0, 1): 0}, epoch=1, hw=[0])


@pytest.mark.parametrize("version", ["kip320", "elr"])
def test_a_leader_that_leads_on_keeps_remote_leos_unless_they_are_to_be_fresh(
    version: str,
) -> None:
    learned: Changes = {"known_epoch[0]": (0, 1)}
    fresh = model_of(f"{version}-with-fresh-remote-leo")

    assert changed_by(model_of(version), KNOWS, "Learn replica=0") == learned
    assert changed_by(fresh, KNOWS, "Learn replica=0") == learned | {
        "remote_leo[0][1]": (0, UNKNOWN_OFFSET)
    }


@pytest.mark.parametrize("version", ["kip320", "elr"])
@pytest.mark.parametrize(
    ("missed", "forgotten"),
    [(0, {}), (1, {"remote_leo[0][1]": (0, UNKNOWN_OFFSET)})],
    ids=["none missed", "one missed"],
)
def test_a_leader_may_be_told_to_forget_remote_leos_only_where_it_missed_an_epoch(
    version: str, missed: int, forgotten: Changes
) -> None:
    model = model_of(f"{version}-with-fresh-remote-leo-after-gap", epochs=2)
    state = edited(KNOWS, epoch=1 + missed)

    assert changed_by(model, state, "Learn replica=0") == (
        {"known_epoch[0]": (0, 1 + missed)} | forgotten
    )


def test_within_its_epoch_a_leader_keeps_remote_leos_in_any_case() -> None:
    fresh = model_of("elr-with-fresh-remote-leo")
    state = edited(KNOWS, epoch=0, outdated={0: 1}, isr=0b01, pending_isr={0: 0b01})

    assert changed_by(fresh, state, "Learn replica=0") == COMMITS | ACKS | {
        "outdated[0]": (1, 0),
        "pending_isr[0]": (0b01, 0),
        "known_isr[0]": (0b11, 0b01),
    }


@pytest.mark.parametrize("slot", [IDLE, REQUESTED, ANSWERED])
def test_since_kafka_7164_a_follower_doubts_its_log_in_every_epoch(slot: int) -> None:
    state = edited(START, epoch=1, fetch={1: slot})
    doubts: Changes = {"known_epoch[1]": (0, 1), "role[1]": (FETCHING, TRUNCATING)}
    dropped: Changes = {"fetch[1]": (slot, IDLE)} if slot != IDLE else {}
    lax = model_of("kip320-without-truncate-every-epoch")

    assert changed_by(model_of("kip320"), state, "Learn replica=1") == doubts | dropped
    assert changed_by(lax, state, "Learn replica=1") == {"known_epoch[1]": (0, 1)} | dropped
    assert changed_by(model_of("kip279"), state, "Learn replica=1") == {"known_epoch[1]": (0, 1)}
