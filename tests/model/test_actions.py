"""What producing and fetching change, and that nothing else changes; and that states are values.

A change is read as {"leo[0]": (before, after)}; None stands for what has no meaning in that role.
The other half of the actions is in `test_failover_actions`.
"""

from __future__ import annotations

import pytest

from tests.support.states import Changes, after, bound, changed_by, edited, model_of
from waterline.model.core.state import OutOfRange, State
from waterline.model.core.transition_system import Model
from waterline.model.message.contents import ACTIONS
from waterline.model.message.terms import (
    ANSWERED,
    FETCHING,
    IDLE,
    NO_ROLE,
    OUT_OF_RANGE,
    PARKED,
    REQUESTED,
    UNKNOWN_OFFSET,
)

MODEL = model_of("epoch", moves=1)
START = MODEL.initial[0]


def done(step: str, state: State, model: Model = MODEL) -> Changes:
    return changed_by(model, state, step)


def one_record(slot: int = IDLE, **fields: object) -> State:
    """r0 leads with m1 at offset 0, unanswered; r1 does not have it."""
    fields = {"leo": [1], "log": [[1]], "produced": 1, "unanswered": {0: 1}} | fields
    return edited(START, fetch={1: slot}, **fields)


FOLLOWED = {
    "role[1]": (FETCHING, NO_ROLE),
}
"""What r1 forgets when it stops following r0 with nothing in flight."""


def test_produce_appends_and_waits_for_the_isr() -> None:
    state = edited(START, epoch=1, known_epoch=[1, 1])

    assert done("Produce leader=0", state) == {
        "leo[0]": (0, 1),
        "log[0][0]": (0, 1),
        "produced": (0, 1),
        "record_epoch[0]": (0, 1),
        "unanswered[0]": (0, 1),
    }


@pytest.mark.parametrize(("acks", "acked"), [("1", {"acked": (0, 1)}), ("0", {})])
def test_produce_waits_for_nobody_without_acks_all(acks: str, acked: Changes) -> None:
    assert done("Produce leader=0", START, model_of("hw", acks=acks)) == {
        "leo[0]": (0, 1),
        "log[0][0]": (0, 1),
        "produced": (0, 1),
        **acked,
    }


def test_produce_commits_at_once_where_the_leader_is_alone_in_sync() -> None:
    alone = edited(START, isr=0b01, known_isr={0: 0b01})

    assert done("Produce leader=0", alone) == {
        "leo[0]": (0, 1),
        "log[0][0]": (0, 1),
        "produced": (0, 1),
        "hw[0]": (0, 1),
        "exposed_end": (0, 1),
        "exposed[0]": (0, 1),
        "acked": (0, 1),
    }


def test_send_fetch_puts_a_request_in_flight() -> None:
    assert done("SendFetch follower=1", START) == {"fetch[1]": (IDLE, REQUESTED)}


def test_leader_fetch_answers_with_the_records_from_the_fetch_offset() -> None:
    state = one_record(REQUESTED, remote_leo={(0, 1): UNKNOWN_OFFSET})

    assert done("LeaderFetch follower=1", state) == {
        "remote_leo[0][1]": (UNKNOWN_OFFSET, 0),
        "fetch[1]": (REQUESTED, ANSWERED),
        "answer_log[1][0]": (0, 1),
    }


def caught_up(**fields: object) -> State:
    """r1 has m1 too, and its next fetch says so."""
    return one_record(REQUESTED, **{"leo": [1, 1], "log": [[1], [1]], **fields})


COMMITTED: Changes = {
    "remote_leo[0][1]": (0, 1),
    "hw[0]": (0, 1),
    "exposed_end": (0, 1),
    "exposed[0]": (0, 1),
    "unanswered[0]": (1, 0),
    "acked": (0, 1),
}
"""What a leader does with the fetch that says that the last member of the ISR has m1."""


@pytest.mark.parametrize(("when", "high_watermark"), [("post", 1), ("pre", 0)])
def test_leader_fetch_commits_and_answers_with_one_of_two_high_watermarks(
    when: str, high_watermark: int
) -> None:
    changed = done("LeaderFetch follower=1", caught_up(), model_of("hw", hw_in_response=when))
    answered = {"answer_offset[1]": (0, 1)} if high_watermark else {}

    assert changed == COMMITTED | {"fetch[1]": (REQUESTED, ANSWERED)} | answered


def test_an_offset_keeps_the_record_first_committed_there() -> None:
    state = caught_up(produced=2, exposed=[2, 1], exposed_end=2)
    changed = done("LeaderFetch follower=1", state)

    assert {field for field in changed if field.startswith("exposed")} == set()
    assert changed["hw[0]"] == (0, 1)


def test_leader_fetch_parks_what_it_has_no_record_for() -> None:
    parking = model_of("hw", parked_fetches=True)

    assert done("LeaderFetch follower=1", caught_up(), parking) == COMMITTED | {
        "fetch[1]": (REQUESTED, PARKED)
    }
    assert after(parking, one_record(REQUESTED), "LeaderFetch follower=1").fetch[1] == ANSWERED


def test_leader_fetch_refuses_a_producer_whose_isr_has_become_too_small() -> None:
    model = model_of("hw", replicas=3, min_insync_replicas=3)
    state = edited(
        model.initial[0],
        leo=[1, 1],
        log=[[1], [1]],
        produced=1,
        unanswered={0: 1},
        isr=0b011,
        known_isr={0: 0b011},
        fetch={1: REQUESTED},
    )
    changed = done("LeaderFetch follower=1", state, model)

    assert changed == {
        **{field: change for field, change in COMMITTED.items() if field != "acked"},
        "fetch[1]": (REQUESTED, ANSWERED),
        "answer_offset[1]": (0, 1),
    }


@pytest.mark.parametrize(
    ("name", "fields", "joins"),
    [
        ("it has reached the high watermark", {}, True),
        ("it has not", {"hw": [1]}, False),
        ("the leader is deposed", {"leader": 1}, False),
        ("the leader's epoch is over", {"epoch": 1}, False),
    ],
)
def test_leader_fetch_lets_a_follower_join_the_isr_if(
    name: str, fields: dict[str, object], joins: bool
) -> None:
    outside = {"isr": 0b01, "known_isr": {0: 0b01}, "leo": [1], "log": [[1]], "unanswered": {0: 0}}
    changed = done("LeaderFetch follower=1", one_record(REQUESTED, **outside, **fields))
    joined = {field for field in ("isr", "known_isr[0]") if field in changed}

    assert joined == ({"isr", "known_isr[0]"} if joins else set())


def test_leader_fetch_beyond_the_leaders_log_is_out_of_range() -> None:
    state = one_record(REQUESTED, leo=[1, 2], log=[[1], [1, 2]], produced=2)

    assert done("LeaderFetch follower=1", state) == {
        "fetch[1]": (REQUESTED, OUT_OF_RANGE),
        "answer_offset[1]": (0, 1),
        "remote_leo[0][1]": (0, UNKNOWN_OFFSET),
    }


@pytest.mark.parametrize(("step", "slot"), [("LeaderFetch", REQUESTED), ("WakeParked", PARKED)])
def test_a_fetch_from_who_does_not_lead_comes_to_nothing(step: str, slot: int) -> None:
    state = edited(one_record(slot), role={0: NO_ROLE})

    assert done(f"{step} follower=1", state) == {"fetch[1]": (slot, IDLE)}


def test_wake_parked_reads_log_and_high_watermark_again() -> None:
    state = one_record(PARKED, leo=[2, 1], log=[[1, 2], [1]], produced=2, hw=[1])

    assert done("WakeParked follower=1", state) == {
        "fetch[1]": (PARKED, ANSWERED),
        "answer_offset[1]": (0, 1),
        "answer_log[1][0]": (0, 2),
    }


def test_wake_parked_finds_a_log_that_became_shorter_out_of_range() -> None:
    state = one_record(PARKED, leo=[1, 2], log=[[1], [1, 2]], produced=2)

    assert done("WakeParked follower=1", state) == {
        "fetch[1]": (PARKED, OUT_OF_RANGE),
        "answer_offset[1]": (0, 1),
    }


def test_recv_fetch_appends_and_takes_the_lesser_high_watermark() -> None:
    state = one_record(ANSWERED, answer_offset={1: 2}, answer_log={(1, 0): 1})

    assert done("RecvFetch follower=1", state) == {
        "fetch[1]": (ANSWERED, IDLE),
        "answer_offset[1]": (2, 0),
        "answer_log[1][0]": (1, 0),
        "log[1][0]": (0, 1),
        "leo[1]": (0, 1),
        "hw[1]": (0, 1),
    }


def test_recv_fetch_may_lower_the_high_watermark() -> None:
    state = one_record(ANSWERED, leo=[1, 1], log=[[1], [1]], hw=[0, 1])

    assert done("RecvFetch follower=1", state) == {"fetch[1]": (ANSWERED, IDLE), "hw[1]": (1, 0)}


def out_of_range(model: Model) -> State:
    """r1 has m1 of epoch 1, above an empty leader."""
    return edited(
        model.initial[0],
        leo={1: 1},
        log={(1, 0): 1},
        hw={1: 1},
        checkpoint={1: 1},
        produced=1,
        record_epoch=[1],
        fetch={1: OUT_OF_RANGE},
    )


def test_recv_out_of_range_truncates_where_unclean_election_is_on() -> None:
    model = model_of("hw", unclean_leader_election=True)
    lowers = model_of("hw-with-truncation-lowers-hw", unclean_leader_election=True)
    cut = {
        "fetch[1]": (OUT_OF_RANGE, IDLE),
        "leo[1]": (1, 0),
        "log[1][0]": (1, 0),
        "record_epoch[0]": (1, 0),
    }

    assert done("RecvOutOfRange follower=1", out_of_range(model), model) == cut
    assert done("RecvOutOfRange follower=1", out_of_range(lowers), lowers) == cut | {
        "hw[1]": (1, 0)
    }


def test_recv_out_of_range_ends_the_process_where_it_is_off() -> None:
    changed = done("RecvOutOfRange follower=1", out_of_range(MODEL))

    assert changed == FOLLOWED | {
        "fetch[1]": (OUT_OF_RANGE, None),
        "up[1]": (1, 0),
        "known_epoch[1]": (0, -1),
        "hw[1]": (1, 0),
    }


def test_shrink_isr_may_let_the_high_watermark_advance() -> None:
    assert done("ShrinkIsr leader=0 follower=1", one_record()) == {
        "isr": (0b11, 0b01),
        "known_isr[0]": (0b11, 0b01),
        **{field: change for field, change in COMMITTED.items() if field != "remote_leo[0][1]"},
    }


@pytest.mark.parametrize("step", ["Produce leader=0", "Crash replica=0", "SendFetch follower=1"])
def test_an_effect_leaves_the_state_it_starts_from_alone(step: str) -> None:
    words = START.words
    draft = START.draft()
    action, arguments = bound(MODEL, step)
    action.effect(draft, MODEL.settings, *arguments)

    assert draft.words != words
    assert START.words == words
    assert MODEL.apply(START, action, arguments) == after(MODEL, START, step)
    assert START.words == words


def test_a_finished_state_does_not_follow_its_draft() -> None:
    draft = START.draft()
    finished = draft.freeze()
    draft.epoch = 1

    assert finished.epoch == 0


def test_a_state_cannot_be_written() -> None:
    with pytest.raises(AttributeError, match="epoch cannot be set"):
        START.epoch = 1
    with pytest.raises(AttributeError, match="hw cannot be set"):
        START.hw[0] = 1
    with pytest.raises(AttributeError, match="no number 'hw'"):
        START.draft().hw = 1
    with pytest.raises(AttributeError, match="no number 'offset'"):
        START.draft().offset = 1


def test_an_effect_that_leaves_a_declared_range_is_an_error() -> None:
    action, arguments = bound(MODEL, "Produce leader=0")
    full = edited(START, leo=[2], produced=1)

    with pytest.raises(OutOfRange, match=r"log\[0, 2\]"):
        MODEL.apply(full, action, arguments)


def test_the_actions_are_those_of_the_table_of_contents() -> None:
    assert len(ACTIONS) == 52
    assert tuple(action.name for action in MODEL.enabled_actions) == (
        "Produce",
        "SendFetch",
        "LeaderFetch",
        "RecvFetch",
        "RecvOutOfRange",
        "ShrinkIsr",
        "Checkpoint",
        "Crash",
        "Restart",
        "Fence",
        "Move",
        "Learn",
        "OffsetForLeaderEpoch",
    )
