"""What crash and restart, the controller, and learning of it change, and that nothing else changes.

The other half is in `test_actions`.
"""

from __future__ import annotations

import pytest

from tests.support.states import Changes, after, changed_by, edited, hand_made, model_of
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message import terms
from waterline.model.message.terms import (
    ANSWERED,
    FETCHING,
    IDLE,
    LEADER,
    NO_ROLE,
    REQUESTED,
    TRUNCATING,
)

MODEL = model_of("epoch", moves=1)
START = MODEL.initial[0]


def done(step: str, state: State, model: Model = MODEL) -> Changes:
    return changed_by(model, state, step)


def one_record(slot: int = IDLE, **fields: object) -> State:
    """r0 leads with m1 at offset 0, unanswered; r1 does not have it."""
    fields = {"leo": [1], "log": [[1]], "produced": 1, "unanswered": {0: 1}} | fields
    return edited(START, fetch={1: slot}, **fields)


LED = {"role[0]": (LEADER, NO_ROLE), "known_isr[0]": (0b11, None), "unanswered[0]": (1, None)}
"""What r0 forgets when it stops leading in `one_record`."""
REMOTE = {"remote_leo[0][1]": (0, None)}

FOLLOWED = {
    "role[1]": (FETCHING, NO_ROLE),
}
"""What r1 forgets when it stops following r0 with nothing in flight."""


def test_checkpoint_writes_the_high_watermark_to_disk() -> None:
    state = edited(START, hw=[2, 1], checkpoint=[0, 2])

    assert done("Checkpoint replica=1", state) == {"checkpoint[1]": (2, 1)}


def test_a_leaders_crash_takes_its_memory_and_the_fetches_to_it() -> None:
    state = one_record(ANSWERED, hw=[1], checkpoint=[1], answer_log={(1, 0): 1})

    assert done("Crash replica=0", state) == {
        "restarts_used": (0, 1),
        "up[0]": (1, 0),
        "hw[0]": (1, 0),
        "known_epoch[0]": (0, -1),
        **LED,
        **REMOTE,
        "fetch[1]": (ANSWERED, IDLE),
        "answer_log[1][0]": (1, 0),
    }


def test_a_followers_crash_takes_its_own_fetch_and_an_answered_records_epoch() -> None:
    state = edited(START, produced=1, record_epoch=[1], fetch={1: ANSWERED}, answer_log={(1, 0): 1})

    assert done("Crash replica=1", state) == FOLLOWED | {
        "restarts_used": (0, 1),
        "up[1]": (1, 0),
        "known_epoch[1]": (0, -1),
        "fetch[1]": (ANSWERED, None),
        "answer_log[1][0]": (1, None),
        "record_epoch[0]": (1, 0),
    }


DOWN = edited(START, up={1: 0}, role={1: NO_ROLE}, known_epoch={1: -1}, leo={1: 1}, log={(1, 0): 1})


@pytest.mark.parametrize(("checkpoint", "high_watermark"), [(0, 0), (1, 1), (2, 1)])
def test_restart_takes_the_checkpointed_high_watermark_up_to_its_leo(
    checkpoint: int, high_watermark: int
) -> None:
    changed = done("Restart replica=1", edited(DOWN, checkpoint={1: checkpoint}))

    assert changed == {"up[1]": (0, 1)} | ({"hw[1]": (0, 1)} if high_watermark else {})


def test_restart_of_the_last_in_sync_makes_it_leader() -> None:
    state = edited(DOWN, leader=-1, isr=0b10, fenced=0b11, up=[0, 0], role=[NO_ROLE, NO_ROLE])

    assert done("Restart replica=1", state) == {
        "up[1]": (0, 1),
        "fenced": (0b11, 0b01),
        "leader": (-1, 1),
        "epoch": (0, 1),
    }
    assert done("Restart replica=0", state) == {"up[0]": (0, 1), "fenced": (0b11, 0b10)}


def test_restart_outside_the_isr_makes_it_leader_where_unclean_election_is_on() -> None:
    model = model_of("epoch", unclean_leader_election=True)
    state = edited(DOWN, leader=-1, isr=0b10, fenced=0b11, up=[0, 0], role=[NO_ROLE, NO_ROLE])

    assert done("Restart replica=0", state, model) == {
        "up[0]": (0, 1),
        "fenced": (0b11, 0b10),
        "leader": (-1, 0),
        "epoch": (0, 1),
        "isr": (0b10, 0b01),
    }


def test_fencing_a_follower_in_sync_raises_the_epoch_under_the_same_leader() -> None:
    assert done("Fence replica=1", DOWN) == {
        "fenced": (0, 0b10),
        "isr": (0b11, 0b01),
        "epoch": (0, 1),
    }


def test_fencing_one_outside_the_isr_is_only_noted() -> None:
    assert done("Fence replica=1", edited(DOWN, isr=0b01)) == {"fenced": (0, 0b10)}


LEADER_DOWN = edited(START, up={0: 0}, role={0: NO_ROLE}, known_epoch={0: -1})


def test_fencing_the_leader_elects_another_in_sync() -> None:
    assert done("Fence replica=0", LEADER_DOWN) == {
        "fenced": (0, 0b01),
        "isr": (0b11, 0b10),
        "leader": (0, 1),
        "epoch": (0, 1),
    }


def test_the_first_replica_in_sync_and_not_fenced_is_elected() -> None:
    model = model_of("hw", replicas=4)
    state = edited(model.initial[0], isr=0b1101, up={0: 0}, role={0: NO_ROLE}, known_epoch={0: -1})

    assert after(model, state, "Fence replica=0").leader == 2
    assert after(model, edited(state, fenced=0b0100), "Fence replica=0").leader == 3


def test_fencing_the_last_in_sync_keeps_it_there_and_leaves_no_leader() -> None:
    assert done("Fence replica=0", edited(LEADER_DOWN, isr=0b01)) == {
        "fenced": (0, 0b01),
        "leader": (0, -1),
        "epoch": (0, 1),
    }


def test_fencing_the_last_in_sync_elects_from_outside_where_unclean_election_is_on() -> None:
    model = model_of("hw", unclean_leader_election=True)

    assert done("Fence replica=0", edited(LEADER_DOWN, isr=0b01), model) == {
        "fenced": (0, 0b01),
        "leader": (0, 1),
        "epoch": (0, 1),
        "isr": (0b01, 0b10),
    }


def test_move_makes_another_leader_of_the_same_isr() -> None:
    assert done("Move replica=1", START) == {
        "moves_used": (0, 1),
        "epoch": (0, 1),
        "leader": (0, 1),
    }


def test_a_follower_that_learns_it_leads_knows_no_remote_leo() -> None:
    answer = {"fetch": {1: ANSWERED}, "answer_offset": {1: 1}, "answer_log": {(1, 0): 1}}
    state = edited(START, leader=1, epoch=1, leo=[1], log=[[1]], produced=1, **answer)

    assert done("Learn replica=1", state) == FOLLOWED | {
        "role[1]": (FETCHING, LEADER),
        "fetch[1]": (ANSWERED, None),
        "answer_offset[1]": (1, None),
        "answer_log[1][0]": (1, None),
        "known_epoch[1]": (0, 1),
        "known_isr[1]": (None, 0b11),
    }


def test_a_leader_that_learns_it_still_leads_keeps_what_it_knows() -> None:
    state = one_record(epoch=1, isr=0b01)

    assert done("Learn replica=0", state) == {
        "known_epoch[0]": (0, 1),
        "known_isr[0]": (0b11, 0b01),
        "hw[0]": (0, 1),
        "exposed_end": (0, 1),
        "exposed[0]": (0, 1),
        "unanswered[0]": (1, 0),
        "acked": (0, 1),
    }


def test_a_new_leader_alone_in_sync_commits_its_whole_log() -> None:
    state = edited(DOWN, up={1: 1}, leader=1, epoch=1, isr=0b10, produced=1)

    assert done("Learn replica=1", state) == {
        "role[1]": (NO_ROLE, LEADER),
        "known_epoch[1]": (-1, 1),
        "known_isr[1]": (None, 0b10),
        "hw[1]": (0, 1),
        "exposed_end": (0, 1),
        "exposed[0]": (0, 1),
    }


@pytest.mark.parametrize("role", [FETCHING, TRUNCATING])
def test_a_follower_of_the_same_leader_learns_only_the_epoch(role: int) -> None:
    state = edited(START, role={1: role}, epoch=2, fetch={1: REQUESTED})

    assert done("Learn replica=1", state) == {"known_epoch[1]": (0, 2)}


def deposed() -> State:
    """r0 led in epoch 0 and has m1 above its high watermark and unanswered; r1 leads in epoch 1."""
    return one_record(leader=1, epoch=1)


NOW_FOLLOWS: Changes = {
    "known_epoch[0]": (0, 1),
    "known_leader[0]": (None, 1),
}


def test_a_new_follower_truncates_to_its_high_watermark_under_hw() -> None:
    assert done("Learn replica=0", deposed(), model_of("hw")) == LED | REMOTE | NOW_FOLLOWS | {
        "role[0]": (LEADER, FETCHING),
        "leo[0]": (1, 0),
        "log[0][0]": (1, 0),
    }


def test_a_new_follower_truncates_nothing_yet_under_epoch() -> None:
    assert done("Learn replica=0", deposed(), model_of("epoch")) == LED | REMOTE | NOW_FOLLOWS | {
        "role[0]": (LEADER, TRUNCATING)
    }


@pytest.mark.parametrize(("version", "epoch"), [("hw", 0), ("epoch", 1)])
def test_the_epoch_of_a_record_truncated_from_the_last_log_is_forgotten(
    version: str, epoch: int
) -> None:
    state = edited(deposed(), known_epoch={0: 1}, epoch=2, record_epoch=[1])

    assert after(model_of(version), state, "Learn replica=0").record_epoch[0] == epoch


def test_a_follower_that_changes_its_leader_drops_its_fetch() -> None:
    model = model_of("epoch", replicas=3)
    state = edited(model.initial[0], leader=1, epoch=1, fetch={2: REQUESTED})

    assert done("Learn replica=2", state, model) == {
        "known_epoch[2]": (0, 1),
        "role[2]": (FETCHING, TRUNCATING),
        "known_leader[2]": (0, 1),
        "fetch[2]": (REQUESTED, IDLE),
    }


ASKING = model_of("epoch", records=3)


def asking(leader_log: list[int], own_log: list[int], *, epochs: list[int], hw: int) -> State:
    """r1 is about to ask leader r0; record i was written in epochs[i-1]."""
    return hand_made(
        ASKING,
        role=[LEADER, TRUNCATING],
        leo=[len(leader_log), len(own_log)],
        log=[leader_log, own_log],
        record_epoch=epochs,
        produced=3,
        hw={1: hw},
    )


NOW_FETCHES: Changes = {"role[1]": (TRUNCATING, FETCHING)}


def test_a_follower_that_ends_in_the_leaders_last_epoch_keeps_what_the_leader_has() -> None:
    state = asking([1], [1, 2], epochs=[1, 1], hw=2)

    assert done("OffsetForLeaderEpoch follower=1", state, ASKING) == NOW_FETCHES | {
        "leo[1]": (2, 1),
        "log[1][1]": (2, 0),
        "record_epoch[1]": (1, 0),
    }


def test_a_follower_that_ends_in_an_older_epoch_keeps_what_the_leader_has_of_it() -> None:
    state = asking([1, 3], [1, 2], epochs=[1, 1, 2], hw=0)

    assert done("OffsetForLeaderEpoch follower=1", state, ASKING) == NOW_FETCHES | {
        "leo[1]": (2, 1),
        "log[1][1]": (2, 0),
        "record_epoch[1]": (1, 0),
    }


def test_a_follower_that_has_less_than_the_answer_keeps_all() -> None:
    state = asking([1, 2, 3], [1], epochs=[1, 1, 2], hw=0)

    assert done("OffsetForLeaderEpoch follower=1", state, ASKING) == NOW_FETCHES


@pytest.mark.parametrize("hw", [0, 1])
@pytest.mark.parametrize(
    ("leader_log", "epochs"),
    [
        pytest.param([1], [1, 2, 0], id="newer than all the leader has"),
        pytest.param([3], [0, 1, 2], id="older than all the leader has"),
        pytest.param([], [1, 1, 0], id="the leader has none"),
    ],
)
def test_a_follower_truncates_to_its_high_watermark_where_the_answer_is_undefined(
    leader_log: list[int], epochs: list[int], hw: int
) -> None:
    left = after(
        ASKING,
        asking(leader_log, [1, 2], epochs=epochs, hw=hw),
        "OffsetForLeaderEpoch follower=1",
    )

    assert (left.leo[1], left.hw[1]) == (hw, hw)
    assert [left.log[1, offset] for offset in range(3)] == [1, 0, 0][:hw] + [0] * (3 - hw)


@pytest.mark.parametrize("slot", ["REQUESTED", "ANSWERED", "OUT_OF_RANGE", "PARKED"])
def test_no_fetch_survives_the_crash_of_the_broker_it_was_sent_to(slot: str) -> None:
    """Nor its answer. Counts of states cannot tell: the follower may ask a dead broker again."""
    state = one_record(getattr(terms, slot))

    assert after(MODEL, state, "Crash replica=0").fetch[1] == IDLE
