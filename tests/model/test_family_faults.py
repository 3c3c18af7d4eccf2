"""What the rarer faults change, what the controller makes of them, and that nothing else changes.

Strays, lost data, shutdowns, expired sessions and late metadata.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import Changes, after, changed_by, edited, model_of, run
from waterline.model.core.transition_system import Model
from waterline.model.message.terms import (
    ANSWERED,
    DIVERGING,
    FETCHING,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_REPLICA,
    NO_ROLE,
    OUT_OF_RANGE,
    PARKED,
    REQUESTED,
    TRUNCATING,
)

ZOOKEEPER = model_of("kip320", restarts=2, session_expiries=1, shutdowns=2, moves=1)
KRAFT = model_of("kip903", restarts=2, session_expiries=1, shutdowns=2, moves=1)
START = ZOOKEEPER.initial[0]
"""r0 leads in epoch 0, r1 fetches from it, both are in sync. The same in every version."""
AGREED = edited(
    START, leo=[2, 2], log=[[1, 2], [1, 2]], produced=2, hw=[2, 1], remote_leo={(0, 1): 2}
)
"""Two records of epoch 0 on both; the follower's high watermark lags."""


def gone(replica: int, **had: Any) -> Changes:
    """What a broker with nothing in flight and no role worth mentioning loses when it goes."""
    changed: Changes = {f"up[{replica}]": (1, 0), f"known_epoch[{replica}]": (0, NO_EPOCH)}
    return changed | {f"{name}[{replica}]": pair for name, pair in had.items()}


FOLLOWER_GONE = gone(1, role=(FETCHING, NO_ROLE), hw=(1, 0))
LEADER_GONE = gone(0, role=(LEADER, NO_ROLE), hw=(2, 0), known_isr=(0b11, None)) | {
    "remote_leo[0][1]": (2, None),
}


# Fetches that outlive their sender.

SURVIVES = model_of("kip903", requests_survive=True, restarts=2, moves=1)
ASKED = edited(AGREED, fetch={1: REQUESTED}, leo={1: 1}, log={(1, 1): 0}, remote_leo={(0, 1): 1})
"""r1 has one record and has asked for the next."""
STRAY: Changes = {
    "stray_from": (-1, 1),
    "stray_to": (-1, 0),
    "stray_offset": (0, 1),
    "stray_last_epoch": (NO_EPOCH, 0),
}


def test_a_request_outlives_the_crash_of_its_sender() -> None:
    assert changed_by(SURVIVES, ASKED, "Crash replica=1") == FOLLOWER_GONE | STRAY | {
        "restarts_used": (0, 1),
        "fetch[1]": (REQUESTED, None),
    }


def test_a_request_outlives_its_senders_change_of_leader_with_the_epoch_of_before() -> None:
    state = edited(ASKED, epoch=2, leader=1, known_epoch=[1, 1])

    assert changed_by(SURVIVES, state, "Learn replica=1") == STRAY | {
        "stray_epoch": (0, 1),
        "fetch[1]": (REQUESTED, None),
        "role[1]": (FETCHING, LEADER),
        "known_epoch[1]": (1, 2),
        "known_isr[1]": (None, 0b11),
    }


@pytest.mark.parametrize("slot", [IDLE, ANSWERED, OUT_OF_RANGE, PARKED, DIVERGING])
def test_only_a_request_on_its_way_outlives_anything(slot: int) -> None:
    crashed = after(SURVIVES, edited(ASKED, fetch={1: slot}), "Crash replica=1")

    assert crashed.stray_from == -1


@pytest.mark.parametrize(
    ("model", "fields"),
    [
        (KRAFT, {}),
        (SURVIVES, {"up": {0: 0}, "role": {0: NO_ROLE}}),
    ],
    ids=["not where requests do not survive", "not one to a broker that is down"],
)
def test_a_request_that_is_lost_with_its_sender(model: Model, fields: dict[str, Any]) -> None:
    assert after(model, edited(ASKED, **fields), "Crash replica=1").stray_from == -1


def test_one_request_outlives_its_sender_at_a_time() -> None:
    other = edited(ASKED, stray_from=1, stray_to=0, stray_offset=2, stray_epoch=1)

    assert changed_by(SURVIVES, other, "Crash replica=1") == FOLLOWER_GONE | {
        "restarts_used": (0, 1),
        "fetch[1]": (REQUESTED, None),
    }


def test_a_stray_request_does_not_outlive_its_receiver() -> None:
    state = edited(ASKED, fetch={1: IDLE}, stray_from=1, stray_to=0, stray_offset=1)
    crashed = after(SURVIVES, state, "Crash replica=0")

    assert (crashed.stray_from, crashed.stray_to, crashed.stray_offset) == (-1, -1, 0)


ON_ITS_WAY = edited(
    AGREED, hw=[1, 0], remote_leo={(0, 1): 1}, stray_from=1, stray_to=0, stray_offset=2
)
ARRIVED: Changes = {"stray_from": (1, -1), "stray_to": (0, -1), "stray_offset": (2, 0)}


def test_a_stray_request_counts_as_what_the_follower_has_and_is_answered_to_nobody() -> None:
    state = edited(ON_ITS_WAY, leo={1: 0}, log={(1, 0): 0, (1, 1): 0}, exposed=[1], exposed_end=1)

    assert changed_by(SURVIVES, state, "StrayFetch follower=1") == ARRIVED | {
        "remote_leo[0][1]": (1, 2),
        "hw[0]": (1, 2),
        "exposed_end": (1, 2),
        "exposed[1]": (0, 2),
    }


def test_a_stray_request_that_is_lost_changes_nothing_else() -> None:
    assert changed_by(SURVIVES, ON_ITS_WAY, "LoseStray") == ARRIVED


@pytest.mark.parametrize("stale", [0, 1])
def test_a_stray_request_proposes_its_sender_with_the_broker_epoch_that_it_carries(
    stale: int,
) -> None:
    state = edited(ON_ITS_WAY, isr=0b01, known_isr={0: 0b01}, hw=[2], stray_stale=stale)
    proposed: Changes = {"remote_leo[0][1]": (1, 2), "pending_isr[0]": (0, 0b11)}
    carried: Changes = {"stray_stale": (1, 0), "pending_stale[0]": (0, 1)} if stale else {}

    changed = changed_by(SURVIVES, state, "StrayFetch follower=1")
    answered = run(SURVIVES, "StrayFetch follower=1", "AlterPartition leader=0", start=state)

    assert changed == ARRIVED | proposed | carried
    assert answered.isr == (0b01 if stale else 0b11)


@pytest.mark.parametrize(("version", "stale"), [("kip903", 1), ("kraft", 0)])
def test_a_broker_that_registers_anew_makes_what_it_asked_for_stale(
    version: str, stale: int
) -> None:
    model = model_of(version, requests_survive=True)
    state = edited(
        ON_ITS_WAY,
        up={1: 0},
        role={1: NO_ROLE},
        fenced=0b10,
        isr=0b01,
        known_isr={0: 0b01},
        pending_isr={0: 0b11},
    )
    restarted = after(model, state, "Restart replica=1")

    assert (restarted.stray_stale, restarted.pending_stale[0]) == (stale, stale)


def test_a_restart_makes_nothing_stale_that_is_not_about_it() -> None:
    down = {"up": {1: 0}, "role": {1: NO_ROLE}, "fenced": 0b10}
    shrinks = edited(ON_ITS_WAY, pending_isr={0: 0b01}, stray_from=0, stray_to=1, **down)
    member = edited(ON_ITS_WAY, pending_isr={0: 0b11}, **down)

    assert after(SURVIVES, shrinks, "Restart replica=1").pending_stale[0] == 0
    assert after(SURVIVES, shrinks, "Restart replica=1").stray_stale == 0
    assert after(SURVIVES, member, "Restart replica=1").pending_stale[0] == 0


# Data that is lost.

LOSES = model_of("elr", power_losses=1, lost_disks=1, lost_checkpoints=1)


@pytest.mark.parametrize("end", [0, 1])
def test_a_power_loss_takes_any_suffix_and_what_is_left_has_survived(end: int) -> None:
    lost: Changes = {"leo[1]": (2, end), "log[1][1]": (2, 0)}
    if end == 0:
        lost["log[1][0]"] = (1, 0)
    durable: Changes = {"durable[1]": (0, 1)} if end else {}

    assert changed_by(LOSES, AGREED, f"PowerLoss replica=1 end={end}") == FOLLOWER_GONE | lost | {
        "power_losses_used": (0, 1),
        "unclean[1]": (None, 1),
        **durable,
    }


def test_a_power_loss_leaves_the_checkpoint_even_above_the_log() -> None:
    lost = after(LOSES, edited(AGREED, checkpoint={1: 2}), "PowerLoss replica=1 end=0")
    back = after(LOSES, edited(lost, fenced=0b10), "Restart replica=1")

    assert (lost.checkpoint[1], back.hw[1]) == (2, 0)


def test_truncating_leaves_no_more_to_have_survived_than_there_is() -> None:
    state = edited(AGREED, durable={1: 2}, fetch={1: DIVERGING}, answer_offset={1: 1})

    assert after(LOSES, state, "RecvDiverging follower=1").durable[1] == 1


def test_a_lost_disk_takes_log_checkpoint_and_all_that_had_survived() -> None:
    state = edited(AGREED, checkpoint={1: 1}, durable={1: 2})

    assert changed_by(LOSES, state, "DiskLoss replica=1") == FOLLOWER_GONE | {
        "lost_disks_used": (0, 1),
        "leo[1]": (2, 0),
        "log[1][0]": (1, 0),
        "log[1][1]": (2, 0),
        "checkpoint[1]": (1, 0),
        "durable[1]": (2, 0),
        "unclean[1]": (None, 1),
    }


@pytest.mark.parametrize("step", ["PowerLoss replica=1 end=0", "DiskLoss replica=1"])
def test_the_epoch_of_a_record_that_was_lost_from_the_last_log_is_forgotten(step: str) -> None:
    alone = edited(START, leo={1: 1}, log={(1, 0): 1}, produced=2, record_epoch=[1, 0])
    both = edited(alone, leo={0: 1}, log={(0, 0): 1})

    assert after(LOSES, alone, step).record_epoch[0] == 0
    assert after(LOSES, both, step).record_epoch[0] == 1


def test_a_lost_checkpoint_is_all_that_is_lost() -> None:
    down = edited(AGREED, up={1: 0}, role={1: NO_ROLE}, checkpoint={1: 1})

    assert changed_by(LOSES, down, "CheckpointLoss replica=1") == {
        "checkpoint[1]": (1, 0),
        "lost_checkpoints_used": (0, 1),
    }


@pytest.mark.parametrize("step", ["Crash replica=1", "PowerLoss replica=1 end=1"])
@pytest.mark.parametrize(("version", "unclean"), [("elr", 1), ("kip903", 0)])
def test_only_under_elr_is_it_kept_that_a_broker_did_not_shut_down(
    version: str, unclean: int, step: str
) -> None:
    model = model_of(version, power_losses=1)

    assert after(model, AGREED, step).unclean[1] == unclean


# Controlled shutdown.


def test_a_follower_that_shuts_down_leaves_the_isr_and_raises_the_epoch() -> None:
    for model in (ZOOKEEPER, KRAFT):
        assert changed_by(model, AGREED, "BeginShutdown replica=1") == {
            "shutdowns_used": (0, 1),
            "stopping": (0, 0b10),
            "isr": (0b11, 0b01),
            "epoch": (0, 1),
        }


def test_since_3_6_a_follower_that_shuts_down_outdates_the_leader_instead() -> None:
    model = model_of("elr", shutdowns=1)

    assert changed_by(model, AGREED, "BeginShutdown replica=1") == {
        "shutdowns_used": (0, 1),
        "stopping": (0, 0b10),
        "isr": (0b11, 0b01),
        "outdated[0]": (0, 1),
    }


@pytest.mark.parametrize("version", ["kip320", "kip903", "elr"])
def test_a_leader_that_shuts_down_hands_over_first(version: str) -> None:
    model = model_of(version, shutdowns=1)

    assert changed_by(model, AGREED, "BeginShutdown replica=0") == {
        "shutdowns_used": (0, 1),
        "stopping": (0, 0b01),
        "isr": (0b11, 0b10),
        "leader": (0, 1),
        "epoch": (0, 1),
    }


@pytest.mark.parametrize("unclean", [False, True])
def test_the_last_in_sync_goes_without_handing_over_under_zookeeper(unclean: bool) -> None:
    model = model_of("kip320", shutdowns=1, unclean_leader_election=unclean)

    assert changed_by(model, edited(AGREED, isr=0b01), "BeginShutdown replica=0") == {
        "shutdowns_used": (0, 1),
        "stopping": (0, 0b01),
    }


@pytest.mark.parametrize(
    ("version", "unclean", "left"),
    [
        ("kip903", False, {"leader": (0, NO_REPLICA)}),
        ("kip903", True, {"leader": (0, 1), "isr": (0b01, 0b10)}),
        ("elr", False, {"leader": (0, NO_REPLICA), "isr": (0b01, 0), "elr": (0, 0b01)}),
        ("elr", True, {"leader": (0, 1), "isr": (0b01, 0b10)}),
    ],
)
def test_under_kraft_the_last_in_sync_leads_no_longer(
    version: str, unclean: bool, left: Changes
) -> None:
    """An unclean election takes another at once, and it empties the ELR."""
    model = model_of(version, shutdowns=1, unclean_leader_election=unclean)

    assert changed_by(model, edited(AGREED, isr=0b01), "BeginShutdown replica=0") == {
        "shutdowns_used": (0, 1),
        "stopping": (0, 0b01),
        "epoch": (0, 1),
        **left,
    }


def test_nobody_is_handed_over_to_who_is_going_too() -> None:
    model = model_of("kip320", replicas=3, shutdowns=2)
    one_going = edited(model.initial[0], stopping=0b010)
    both_going = edited(model.initial[0], stopping=0b110)

    assert after(model, one_going, "BeginShutdown replica=0").leader == 2
    assert after(model, both_going, "BeginShutdown replica=0").leader == 0


def test_a_broker_stops_with_everything_on_disk() -> None:
    model = model_of("elr", shutdowns=1)
    state = edited(AGREED, stopping=0b10, checkpoint={1: 2})

    assert changed_by(model, state, "Stop replica=1") == FOLLOWER_GONE | {
        "checkpoint[1]": (2, 1),
        "durable[1]": (0, 2),
    }


def test_a_leader_that_was_the_last_in_sync_stops_as_leader() -> None:
    state = edited(AGREED, stopping=0b01, isr=0b01, fetch={1: ANSWERED}, answer_offset={1: 2})

    assert changed_by(ZOOKEEPER, state, "Stop replica=0") == LEADER_GONE | {
        "checkpoint[0]": (0, 2),
        "durable[0]": (0, 2),
        "fetch[1]": (ANSWERED, IDLE),
        "answer_offset[1]": (2, 0),
    }


def test_the_controller_forgets_that_a_broker_was_stopping_when_it_sees_it_gone() -> None:
    stopped = edited(AGREED, stopping=0b10, up={1: 0}, role={1: NO_ROLE}, isr=0b01)

    assert changed_by(ZOOKEEPER, stopped, "Fence replica=1") == {
        "stopping": (0b10, 0),
        "fenced": (0, 0b10),
    }


# Sessions.


@pytest.mark.parametrize("model", [ZOOKEEPER, KRAFT], ids=["ZooKeeper", "KRaft"])
def test_when_a_followers_session_expires_it_leaves_the_isr_and_notices_nothing(
    model: Model,
) -> None:
    assert changed_by(model, AGREED, "SessionExpiry replica=1") == {
        "session_expiries_used": (0, 1),
        "fenced": (0, 0b10),
        "isr": (0b11, 0b01),
        "epoch": (0, 1),
    }


def test_since_3_6_a_followers_session_raises_no_epoch() -> None:
    assert changed_by(model_of("elr", session_expiries=1), AGREED, "SessionExpiry replica=1") == {
        "session_expiries_used": (0, 1),
        "fenced": (0, 0b10),
        "isr": (0b11, 0b01),
        "outdated[0]": (0, 1),
    }


@pytest.mark.parametrize("model", [ZOOKEEPER, KRAFT], ids=["ZooKeeper", "KRaft"])
def test_when_a_leaders_session_expires_another_is_elected_and_it_goes_on(model: Model) -> None:
    expired = after(model, AGREED, "SessionExpiry replica=0")

    assert changed_by(model, AGREED, "SessionExpiry replica=0") == {
        "session_expiries_used": (0, 1),
        "fenced": (0, 0b01),
        "isr": (0b11, 0b10),
        "leader": (0, 1),
        "epoch": (0, 1),
    }
    assert (expired.role[0], expired.known_epoch[0], expired.known_isr[0]) == (LEADER, 0, 0b11)


@pytest.mark.parametrize("model", [ZOOKEEPER, KRAFT], ids=["ZooKeeper", "KRaft"])
def test_the_last_in_sync_stays_it_and_leads_again_once_it_registers(model: Model) -> None:
    alone = edited(AGREED, isr=0b01)
    expired = after(model, alone, "SessionExpiry replica=0")

    assert changed_by(model, alone, "SessionExpiry replica=0") == {
        "session_expiries_used": (0, 1),
        "fenced": (0, 0b01),
        "leader": (0, -1),
        "epoch": (0, 1),
    }
    assert changed_by(model, expired, "Register replica=0") == {
        "fenced": (0b01, 0),
        "leader": (-1, 0),
        "epoch": (1, 2),
    }


def test_a_broker_that_registers_where_somebody_leads_is_only_noted() -> None:
    state = edited(AGREED, fenced=0b10, isr=0b01, stray_from=1, stray_to=0)

    assert changed_by(KRAFT, state, "Register replica=1") == {"fenced": (0b10, 0)}


# Late metadata.

LATE = model_of("kip320", moves=2, late_metadata=True)


def test_a_decision_is_kept_for_whoever_learns_of_it_late() -> None:
    assert changed_by(LATE, AGREED, "Move replica=1") == {
        "moves_used": (0, 1),
        "leader": (0, 1),
        "epoch": (0, 1),
        "decided_leader[0]": (-1, 0),
        "decided_isr[0]": (0, 0b11),
    }
    assert after(ZOOKEEPER, AGREED, "Move replica=1").decided_leader[0] == -1


def test_an_old_decision_is_acted_on_as_if_it_were_the_latest() -> None:
    twice = run(LATE, "Move replica=1", "Move replica=0", start=AGREED)
    follows = after(LATE, twice, "LearnLate replica=0 epoch=1")

    assert changed_by(LATE, twice, "LearnLate replica=1 epoch=1") == {
        "role[1]": (FETCHING, LEADER),
        "known_epoch[1]": (0, 1),
        "known_isr[1]": (None, 0b11),
    }
    assert (follows.role[0], follows.known_leader[0], follows.known_epoch[0]) == (TRUNCATING, 1, 1)


def test_who_leads_by_an_old_decision_can_change_no_isr() -> None:
    twice = run(LATE, "Move replica=1", "Move replica=0", start=AGREED)
    stale = after(LATE, twice, "LearnLate replica=1 epoch=1")

    assert "ShrinkIsr(leader=1, follower=0)" not in {str(s) for s in LATE.successors(stale)}
