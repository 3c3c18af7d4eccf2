"""When each action can happen: one case for it, and one against it for every part of its guard."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import bound, edited, is_enabled, model_of
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.contents import ACTIONS
from waterline.model.message.terms import (
    ANSWERED,
    FETCHING,
    NO_REPLICA,
    NO_ROLE,
    OUT_OF_RANGE,
    PARKED,
    REQUESTED,
    TRUNCATING,
)

MODEL = model_of("epoch", moves=1)
ELSEWHERE = {
    "RecvDiverging",
    "StrayFetch",
    "LoseStray",
    "AlterPartition",
    "PowerLoss",
    "DiskLoss",
    "CheckpointLoss",
    "BeginShutdown",
    "Stop",
    "SessionExpiry",
    "Register",
    "LearnLate",
    "Consume",
}
"""What came with the later versions and the rarer faults: `test_family_guards.py`."""
OF_TICKETS = {"ReadLate", "HearAnswer", "MarkClean"}
"""What is there for single tickets: `test_ticket_rules.py`."""
BOOKED_LATE = {"CheckFetch", "BookFetch"}
"""A fetch in two steps at its leader: `test_late_booking.py`."""

OF_REPLAY = {"Replay"}
"""`test_replay.py`."""
OF_DIRECTORIES = {"DirectoryMove"}
"""`test_directory_moves.py`."""
OF_FUTURE_LOGS = {
    *("StartFutureLog", "CopyFutureLog", "TruncateFutureLog", "AssignDirectory"),
    *("PromoteFutureLog", "DirectoryFailure", "WriteMinIsr"),
}
"""`test_future_log.py`."""
OF_REASSIGNMENTS = {
    "AlterAndElect",
    "DirectoryTaken",
    "Reassign",
    "ReassignAndElect",
    "CancelReassignment",
    "CancelAndElect",
    "CompleteReassignment",
}
"""`test_reassignment.py` has theirs."""

START = MODEL.initial[0]
"""r0 leads in epoch 0, r1 fetches from it, both are in sync."""

DOWN = edited(START, up={1: 0}, role={1: NO_ROLE}, known_epoch={1: -1})
"""The same with r1 down, which the controller has not noticed."""


def fetch(slot: int, role: int = FETCHING) -> State:
    return edited(START, role={1: role}, fetch={1: slot})


CASES: list[tuple[str, str, State, bool]] = [
    ("a leader takes a record", "Produce leader=0", START, True),
    ("a follower takes no record", "Produce leader=1", START, False),
    ("a stale leader takes a record", "Produce leader=0", edited(START, leader=1, epoch=1), True),
    ("an idle follower fetches", "SendFetch follower=1", START, True),
    ("a leader does not fetch", "SendFetch follower=0", START, False),
    ("one still truncating does not", "SendFetch follower=1", fetch(0, TRUNCATING), False),
    ("one fetch is outstanding", "SendFetch follower=1", fetch(REQUESTED), False),
    ("a parked fetch is outstanding", "SendFetch follower=1", fetch(PARKED), False),
    ("a request is handled", "LeaderFetch follower=1", fetch(REQUESTED), True),
    ("there is no request", "LeaderFetch follower=1", START, False),
    ("an answer is not handled again", "LeaderFetch follower=1", fetch(ANSWERED), False),
    ("a leader sends no request", "LeaderFetch follower=0", START, False),
    ("nor one truncating", "LeaderFetch follower=1", fetch(REQUESTED, TRUNCATING), False),
    ("a parked fetch is completed", "WakeParked follower=1", fetch(PARKED), True),
    ("a fetch not parked is not", "WakeParked follower=1", fetch(REQUESTED), False),
    ("a leader's is not", "WakeParked follower=0", START, False),
    ("nor one truncating's", "WakeParked follower=1", fetch(PARKED, TRUNCATING), False),
    ("an answer is received", "RecvFetch follower=1", fetch(ANSWERED), True),
    ("a request is not", "RecvFetch follower=1", fetch(REQUESTED), False),
    ("an error is not", "RecvFetch follower=1", fetch(OUT_OF_RANGE), False),
    ("not while truncating", "RecvFetch follower=1", fetch(ANSWERED, TRUNCATING), False),
    ("nor as leader", "RecvFetch follower=0", START, False),
    ("out of range is received", "RecvOutOfRange follower=1", fetch(OUT_OF_RANGE), True),
    ("an answer is no error", "RecvOutOfRange follower=1", fetch(ANSWERED), False),
    ("as leader it is not", "RecvOutOfRange follower=0", START, False),
    ("nor truncating", "RecvOutOfRange follower=1", fetch(OUT_OF_RANGE, TRUNCATING), False),
    ("a running broker crashes", "Crash replica=0", START, True),
    ("one that is down does not", "Crash replica=1", DOWN, False),
    ("a new high watermark is written", "Checkpoint replica=0", edited(START, hw=[1]), True),
    ("a lower one too", "Checkpoint replica=0", edited(START, checkpoint=[1]), True),
    ("a known one is not", "Checkpoint replica=0", START, False),
    ("one that is down writes none", "Checkpoint replica=1", edited(DOWN, hw={1: 1}), False),
    ("a dead broker is noticed", "Fence replica=1", DOWN, True),
    ("a running one is not", "Fence replica=1", START, False),
    ("one noticed is not again", "Fence replica=1", edited(DOWN, fenced=0b10), False),
    ("leadership moves in the ISR", "Move replica=1", START, True),
    ("not to the leader", "Move replica=0", START, False),
    ("not where none leads", "Move replica=1", edited(START, leader=NO_REPLICA), False),
    ("not outside the ISR", "Move replica=1", edited(START, isr=0b01), False),
    ("not to one known to be down", "Move replica=1", edited(START, fenced=0b10), False),
    ("to one not known to be down", "Move replica=1", DOWN, True),
    ("a new epoch is learned", "Learn replica=1", edited(START, epoch=1), True),
    ("by the leader too", "Learn replica=0", edited(START, epoch=1), True),
    ("a known one is not", "Learn replica=1", START, False),
    ("not by one that is down", "Learn replica=1", edited(DOWN, epoch=1), False),
    ("not without a leader", "Learn replica=1", edited(START, epoch=1, leader=NO_REPLICA), False),
    (
        "a truncating follower asks",
        "OffsetForLeaderEpoch follower=1",
        edited(START, role={1: TRUNCATING}),
        True,
    ),
    ("a fetching one does not", "OffsetForLeaderEpoch follower=1", START, False),
    (
        "who does not lead is not asked",
        "OffsetForLeaderEpoch follower=1",
        edited(START, role=[NO_ROLE, TRUNCATING]),
        False,
    ),
]


BEHIND = edited(START, leo=[1], log=[[1]], produced=1)
"""r0 has a record that it does not know r1 to have."""

SHRINKS: list[tuple[str, str, State, bool]] = [
    ("one behind leaves", "0 1", BEHIND, True),
    ("one never heard of leaves", "0 1", edited(START, remote_leo={(0, 1): -1}), True),
    ("one that is down leaves", "0 1", DOWN, True),
    ("one caught up may too, until KAFKA-7152", "0 1", START, True),
    ("the leader itself stays", "0 0", BEHIND, False),
    ("a follower removes nobody", "1 0", BEHIND, False),
    ("one outside cannot leave", "0 1", edited(BEHIND, known_isr={0: 1}), False),
    ("not by a deposed leader", "0 1", edited(BEHIND, leader=1), False),
    ("not in an older epoch", "0 1", edited(BEHIND, epoch=1), False),
]
CASES += [
    (case, "ShrinkIsr leader={} follower={}".format(*who.split()), state, enabled)
    for case, who, state, enabled in SHRINKS
]


@pytest.mark.parametrize(
    ("step", "state", "enabled"),
    [pytest.param(*case[1:], id=f"{case[1].split()[0]}: {case[0]}") for case in CASES],
)
def test_a_step_is_enabled_exactly_when(step: str, state: State, enabled: bool) -> None:
    assert is_enabled(MODEL, state, step) is enabled


@pytest.mark.parametrize(
    ("acks", "min_insync_replicas", "in_sync", "enabled"),
    [
        ("all", 2, 0b11, True),
        ("all", 2, 0b01, False),
        ("all", 1, 0b01, True),
        ("1", 2, 0b01, True),
        ("0", 2, 0b01, True),
    ],
)
def test_min_insync_replicas_refuses_records_under_acks_all_only(
    acks: str, min_insync_replicas: int, in_sync: int, enabled: bool
) -> None:
    model = model_of("hw", acks=acks, min_insync_replicas=min_insync_replicas)
    state = edited(model.initial[0], known_isr={0: in_sync})

    assert is_enabled(model, state, "Produce leader=0") is enabled


LEADER_DOWN = edited(START, up={0: 0}, role={0: NO_ROLE}, known_epoch={0: -1})


@pytest.mark.parametrize(
    ("detection", "who", "state", "enabled"),
    [
        ("none", 1, DOWN, False),
        ("none", 1, edited(DOWN, fenced=0b10), True),
        ("none", 0, LEADER_DOWN, False),
        ("follower", 1, DOWN, True),
        ("follower", 0, LEADER_DOWN, False),
        ("follower", 0, edited(LEADER_DOWN, fenced=0b01), True),
        ("follower", 0, edited(LEADER_DOWN, leader=1, epoch=1), True),
        ("any", 0, LEADER_DOWN, True),
        ("any", 1, START, False),
        ("follower", 1, START, False),
        ("none", 1, edited(START, fenced=0b10), False),
    ],
)
def test_a_broker_restarts_once_noticed_or_where_it_may_go_unnoticed(
    detection: str, who: int, state: State, enabled: bool
) -> None:
    model = model_of("epoch", restart_detection=detection)

    assert is_enabled(model, state, f"Restart replica={who}") is enabled


NOBODY_LEADS = edited(
    LEADER_DOWN, leader=NO_REPLICA, isr=0b01, fenced=0b11, up={1: 0}, role={1: NO_ROLE}, epoch=2
)
LIMITS: list[tuple[str, State, dict[str, Any], str]] = [
    ("Produce leader=0", edited(START, produced=1), {}, "within"),
    ("Produce leader=0", edited(START, produced=2), {}, "records"),
    ("Crash replica=0", edited(START, restarts_used=1), {}, "within"),
    ("Crash replica=0", edited(START, restarts_used=2), {}, "restarts"),
    ("Move replica=1", START, {"moves": 1}, "within"),
    ("Move replica=1", edited(START, moves_used=1), {"moves": 1}, "moves"),
    ("Move replica=1", edited(START, epoch=2), {"moves": 1}, "epochs"),
    ("Fence replica=1", edited(DOWN, epoch=1), {}, "within"),
    ("Fence replica=1", edited(DOWN, epoch=2), {}, "epochs"),
    ("Fence replica=1", edited(DOWN, epoch=2, isr=0b01), {}, "within"),
    ("Restart replica=0", edited(NOBODY_LEADS, epoch=1), {}, "within"),
    ("Restart replica=0", NOBODY_LEADS, {}, "epochs"),
    ("Restart replica=1", NOBODY_LEADS, {}, "within"),
    ("Restart replica=1", NOBODY_LEADS, {"unclean_leader_election": True}, "epochs"),
    ("Restart replica=0", edited(NOBODY_LEADS, leader=1), {}, "within"),
]


@pytest.mark.parametrize(("step", "state", "options", "limit"), LIMITS)
def test_a_bound_or_budget_cuts_a_step(
    step: str, state: State, options: dict[str, Any], limit: str
) -> None:
    model = model_of("epoch", **options)

    assert is_enabled(model, state, step)
    assert model.limits[model.exceeded_limit(state, *bound(model, step))] == limit


def successors(model: Model, state: State) -> set[str]:
    return {str(step) for step in model.successors(state)}


def test_what_a_bound_cuts_is_no_successor() -> None:
    spent = edited(START, restarts_used=2)

    assert "Crash(replica=0)" in successors(MODEL, START)
    assert "Crash(replica=0)" not in successors(MODEL, spent)


def test_only_a_version_with_epochs_asks_for_the_end_of_one() -> None:
    truncating = edited(START, role={1: TRUNCATING})

    assert "OffsetForLeaderEpoch(follower=1)" in successors(model_of("epoch"), truncating)
    assert successors(model_of("hw"), truncating) == successors(model_of("epoch"), truncating) - {
        "OffsetForLeaderEpoch(follower=1)"
    }


def test_every_action_has_a_case_for_it_and_one_against_it() -> None:
    """Those that came with the family have theirs in `test_family_guards.py`.

    What a leader asks the controller for is in `test_asking_for_the_isr.py`.
    """
    named = {(step.split()[0], enabled) for _, step, _, enabled in CASES}
    asking = (
        {"ShrinkTogether", "LagTimePasses", "LearnBrokers"}
        | OF_REPLAY
        | OF_DIRECTORIES
        | OF_FUTURE_LOGS
    )
    elsewhere = (
        {"Restart", "FenceAndElect"}
        | ELSEWHERE
        | OF_TICKETS
        | BOOKED_LATE
        | OF_REPLAY
        | OF_DIRECTORIES
        | OF_FUTURE_LOGS
        | OF_REASSIGNMENTS
    )

    assert {name for name, _ in named} | elsewhere | asking == {action.name for action in ACTIONS}
    assert named == {(name, enabled) for name, _ in named for enabled in (True, False)}


def test_steps_come_in_the_order_of_the_table_of_contents() -> None:
    order = [step.action.name for step in MODEL.successors(START)]

    assert order == sorted(order, key=MODEL.contents.index)
