"""A log that is moved to another directory of its broker: KAFKA-20961, and what comes of it.

Its copy has the records and their epochs, and no entry of an epoch that has no record.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import after, changed_by, edited, is_enabled, model_of, run
from waterline.model.core.state import State
from waterline.model.message.cluster import layout
from waterline.model.message.environment import Environment
from waterline.model.message.terms import (
    DIVERGING,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_ROLE,
    OUT_OF_RANGE,
    REQUESTED,
    TRUNCATING,
)

MODEL = model_of("truncate-on-fetch", directory_moves=2, moves=2)
BY_QUESTION = model_of("kip320", directory_moves=1, moves=3, epochs=3)
KEEPS = model_of("truncate-on-fetch-with-moved-log-keeps-epochs", directory_moves=1)
CODE_2_0 = model_of("kip279", directory_moves=1)
"""Leaders make no entry before they write."""

START = MODEL.initial[0]
"""r0 leads in epoch 0 and has written nothing, r1 fetches from it, both are in sync."""
WRITTEN = edited(START, leo=[1], log=[[1]], produced=1)
LED = edited(START, cached_epoch={1: 0}, epoch=1, known_epoch=[1, 1])
"""r1 led in epoch 0 and wrote nothing; now r0 leads in epoch 1."""
NEWER = edited(
    START,
    leo=[1, 1],
    log=[[1], [1]],
    produced=1,
    cached_epoch={1: 1},
    epoch=2,
    known_epoch=[2, 2],
    fetch={1: REQUESTED},
)
"""Both have m1. r1 led in epoch 1 and wrote nothing; it asks r0, which leads in epoch 2."""
LOST = edited(START, entry_lost={0: 1})
ASKING = edited(LED, fetch={1: REQUESTED})
FLUSHED = edited(WRITTEN, durable={0: 1})
DOWN = edited(START, up={1: 0}, role={1: NO_ROLE}, known_epoch={1: NO_EPOCH}, durable={1: 1})

GUARDS: list[tuple[str, str, Any, State, bool]] = [
    ("a leader that has written nothing", "DirectoryMove replica=0", MODEL, START, True),
    ("one that has written lacks nothing", "DirectoryMove replica=0", MODEL, WRITTEN, False),
    ("it has lost it already", "DirectoryMove replica=0", MODEL, LOST, False),
    ("a follower that led", "DirectoryMove replica=1", MODEL, LED, True),
    ("one that never led", "DirectoryMove replica=1", MODEL, START, False),
    ("not while its fetch is on its way", "DirectoryMove replica=1", MODEL, ASKING, False),
    ("a log that is on disk", "DirectoryMove replica=0", MODEL, FLUSHED, True),
    ("not of a broker that is down", "DirectoryMove replica=1", MODEL, DOWN, False),
    ("the copy has the entry", "DirectoryMove replica=0", KEEPS, START, False),
    ("until 2.0 there is none", "DirectoryMove replica=0", CODE_2_0, START, False),
]


@pytest.mark.parametrize(
    ("step", "model", "state", "enabled"),
    [case[1:] for case in GUARDS],
    ids=[case[0] for case in GUARDS],
)
def test_a_log_is_moved_where_its_copy_lacks_something(
    step: str, model: Any, state: State, enabled: bool
) -> None:
    assert is_enabled(model, state, step) is enabled


def test_all_that_a_leader_loses_is_the_entry_of_its_epoch_and_what_is_flushed() -> None:
    shut_down = edited(START, leo=[1], log=[[1]], produced=1, durable={0: 1}, epoch=1)
    leads = edited(shut_down, known_epoch=[1, 1])

    assert changed_by(MODEL, leads, "DirectoryMove replica=0") == {
        "entry_lost[0]": (0, 1),
        "durable[0]": (1, 0),
        "directory_moves_used": (0, 1),
    }


def test_all_that_a_follower_loses_is_the_epoch_in_which_it_led() -> None:
    assert changed_by(MODEL, LED, "DirectoryMove replica=1") == {
        "cached_epoch[1]": (0, NO_EPOCH),
        "directory_moves_used": (0, 1),
    }


def test_a_leader_without_its_entry_cannot_place_an_epoch_that_it_does_not_know() -> None:
    """Endless: the follower truncates nothing, and asks the same again."""
    moved = run(MODEL, "DirectoryMove replica=0", start=NEWER)
    refused = after(MODEL, moved, "LeaderFetch follower=1")
    back = run(MODEL, "RecvOutOfRange follower=1", "SendFetch follower=1", start=refused)

    assert after(MODEL, NEWER, "LeaderFetch follower=1").fetch[1] == DIVERGING
    assert refused.fetch[1] == OUT_OF_RANGE
    assert back == moved


def test_a_record_of_the_epoch_brings_the_entry_back() -> None:
    written = run(MODEL, "DirectoryMove replica=0", "Produce leader=0", start=NEWER)

    assert written.entry_lost[0] == 0
    assert after(MODEL, written, "LeaderFetch follower=1").fetch[1] == DIVERGING


def test_so_does_a_new_epoch_and_the_role_goes_with_it() -> None:
    moved = run(MODEL, "DirectoryMove replica=0", "Move replica=1")

    later = run(MODEL, "Learn replica=1", "Move replica=0", "Learn replica=0", start=moved)
    assert (later.role[0], later.entry_lost[0]) == (LEADER, 0)
    # It leaves no entry behind that it has lost.
    assert after(MODEL, moved, "Learn replica=0").cached_epoch[0] == NO_EPOCH


COMMITTED = (
    "Produce leader=0",
    "SendFetch follower=1",
    "LeaderFetch follower=1",
    "RecvFetch follower=1",
    "SendFetch follower=1",
    "LeaderFetch follower=1",
)
ASKS_AFTER_A_MOVE = (
    "Move replica=1",
    "Learn replica=1",
    "Move replica=0",
    "Learn replica=0",
    "DirectoryMove replica=0",
    "Learn replica=1",
)


def test_a_follower_that_asks_is_told_nothing_and_truncates_to_its_high_watermark() -> None:
    """2.0.1 to 2.7: m1 is acknowledged, and r1, in sync and next to lead, removes it."""
    lost = run(BY_QUESTION, *COMMITTED, *ASKS_AFTER_A_MOVE, "OffsetForLeaderEpoch follower=1")

    assert (lost.acked, lost.isr, lost.leo[1]) == (0b1, 0b11, 0)


def test_a_follower_that_is_told_by_fetching_keeps_its_log() -> None:
    model = model_of("truncate-on-fetch", directory_moves=1, moves=3, epochs=3)
    kept = run(model, *COMMITTED, *ASKS_AFTER_A_MOVE, "SendFetch follower=1")
    kept = run(model, "LeaderFetch follower=1", "RecvOutOfRange follower=1", start=kept)

    assert (kept.acked, kept.isr, kept.leo[1]) == (0b1, 0b11, 1)
    assert (kept.role[1], kept.fetch[1]) == (TRUNCATING, IDLE)


def test_without_directory_moves_a_state_has_no_room_for_them() -> None:
    without, with_them = Environment(), Environment(directory_moves=1)
    places = layout(without.bounds).places

    assert places["entry_lost"].width == places["directory_moves_used"].width == 0
    assert layout(with_them.bounds).places["directory_moves_used"].width == 2
    assert not without.is_cut


@pytest.mark.parametrize(
    ("options", "cut"),
    [({}, True), ({"power_losses": 1}, True), ({"power_losses": 1, "directory_moves": 1}, False)],
)
def test_a_power_loss_after_a_move_may_take_what_had_settled(
    options: dict[str, Any], cut: bool
) -> None:
    assert Environment(unbounded=True, **options).is_cut is cut
