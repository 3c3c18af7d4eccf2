"""Where each version cuts a log, and how a follower comes to know: by questions, or by fetches."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import Changes, after, changed_by, edited, hand_made, model_of
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.terms import (
    ANSWERED,
    DIVERGING,
    FETCHING,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_ROLE,
    OUT_OF_RANGE,
    REQUESTED,
    TRUNCATING,
    UNKNOWN_OFFSET,
)
from waterline.model.message.truncation import truncation_point

START = model_of("kraft").initial[0]
"""r0 leads in epoch 0, r1 fetches from it, both are in sync. The same in every version."""

# Where to truncate.

LONG = {"records": 5, "epochs": 3}
ONE_QUESTION, AS_WRITTEN, AS_RELEASED = "epoch", "kip279", "kip279-code"
Points = dict[str, tuple[int, int]]


def all_of(point: tuple[int, int]) -> Points:
    return dict.fromkeys((ONE_QUESTION, AS_WRITTEN, AS_RELEASED), point)


POINTS: list[tuple[str, list[int], tuple[int, int], Points]] = [
    ("both know it, the leader has less", [1, 1, 1, 1], (1, 2), all_of((2, 1))),
    ("both know it, the follower has less", [1, 1], (1, 4), all_of((2, 1))),
    (
        "both know it, and the follower has other records after it",
        [1, 1, 2, 2],
        (1, 4),
        all_of((2, 1)) | {ONE_QUESTION: (4, 1)},
    ),
    (
        "the follower does not know it: it has an older one",
        [1, 3, 3, 3],
        (2, 3),
        all_of((1, 0)) | {ONE_QUESTION: (3, 1)},
    ),
    (
        "the follower has nothing as old",
        [2, 2],
        (1, 1),
        {ONE_QUESTION: (1, 1), AS_WRITTEN: (0, 1), AS_RELEASED: (1, 1)},
    ),
    ("nor has the leader", [2, 2], (1, 0), all_of((0, 1))),
    ("undefined: the high watermark", [1, 1], (NO_EPOCH, UNKNOWN_OFFSET), all_of((1, 1))),
]


@pytest.mark.parametrize(
    ("own", "answer", "points"), [pytest.param(*case[1:], id=case[0]) for case in POINTS]
)
@pytest.mark.parametrize(
    ("version", "way"),
    [
        ("epoch", ONE_QUESTION),
        ("kip279", AS_WRITTEN),
        ("kip279-code", AS_RELEASED),
        ("kip320", AS_WRITTEN),
        ("truncate-on-fetch", AS_WRITTEN),
    ],
)
def test_a_follower_cuts_at_and_is_done_or_asks_again(
    version: str, way: str, own: list[int], answer: tuple[int, int], points: Points
) -> None:
    """KIP-101, KIP-279, and its release in 2.0.0; r1 has records of these epochs, HW 1."""
    model = model_of(version, **LONG)
    state = hand_made(
        model,
        role={1: TRUNCATING},
        leo={1: len(own)},
        hw={1: 1},
        log={(1, o): o + 1 for o in range(len(own))},
        record_epoch=own,
        produced=len(own),
    )

    assert truncation_point(state, model.settings, 1, *answer) == points[way]


def parted(version: str, **fields: Any) -> tuple[Model, State]:
    """KIP-279's clean case: r0 has m1 of epoch 0 and m3 of epoch 2, r1 has m2 of epoch 1."""
    model = model_of(version, **LONG)
    state = hand_made(
        model,
        **{
            "role": [LEADER, TRUNCATING],
            "up": [1, 1],
            "known_epoch": [2, 2],
            "epoch": 2,
            "leo": [2, 1],
            "log": [[1, 3], [2]],
            "record_epoch": [0, 1, 2],
            "produced": 3,
            "known_isr": {0: 0b11},
        }
        | fields,
    )
    return model, state


@pytest.mark.parametrize(
    ("version", "kept"), [("epoch", 1), ("kip279-code", 1), ("kip279", 0), ("kip320", 0)]
)
def test_logs_with_no_epoch_in_common_are_cut_to_nothing_by_kip_279_as_written(
    version: str, kept: int
) -> None:
    model, state = parted(version)

    cut: Changes = {"leo[1]": (1, 0), "log[1][0]": (2, 0), "record_epoch[1]": (1, 0)}
    assert changed_by(model, state, "OffsetForLeaderEpoch follower=1") == {
        "role[1]": (TRUNCATING, FETCHING),
        **({} if kept else cut),
    }


def test_a_follower_that_does_not_know_the_epoch_answered_cuts_and_asks_again() -> None:
    """After m1 of epoch 0 the leader has records of epoch 2, the follower of epochs 1 and 3."""
    fields = {
        "known_epoch": [3, 3],
        "leo": [3, 3],
        "log": [[1, 4, 5], [1, 2, 3]],
        "record_epoch": [0, 2, 2, 1, 3],
        "produced": 5,
        "epoch": 3,
    }
    model, state = parted("kip279", **fields)
    asked = after(model, state, "OffsetForLeaderEpoch follower=1")
    again = after(model, asked, "OffsetForLeaderEpoch follower=1")

    assert (asked.leo[1], asked.role[1]) == (1, TRUNCATING)
    assert (again.leo[1], again.role[1]) == (1, FETCHING)


# Diverging answers.

PARTED, PARTED_STATE = parted("truncate-on-fetch", fetch={1: REQUESTED})


def test_a_follower_is_told_where_logs_part_and_the_leader_learns_nothing() -> None:
    assert changed_by(PARTED, PARTED_STATE, "LeaderFetch follower=1") == {
        "fetch[1]": (REQUESTED, DIVERGING)
    }


def test_without_the_guard_the_leader_believes_a_fetch_that_parts() -> None:
    model = model_of("truncate-on-fetch-without-diverging-guard", **LONG)
    changed = changed_by(model, PARTED_STATE, "LeaderFetch follower=1")

    assert changed == {
        "fetch[1]": (REQUESTED, DIVERGING),
        "remote_leo[0][1]": (-1, 1),
        "hw[0]": (0, 1),
        "exposed_end": (0, 1),
        "exposed[0]": (0, 1),
    }


def test_a_follower_told_so_cuts_there_and_fetches_again() -> None:
    told = after(PARTED, PARTED_STATE, "LeaderFetch follower=1")

    assert changed_by(PARTED, told, "RecvDiverging follower=1") == {
        "fetch[1]": (DIVERGING, IDLE),
        "leo[1]": (1, 0),
        "log[1][0]": (2, 0),
        "record_epoch[1]": (1, 0),
    }


def test_a_common_part_is_kept_and_the_offset_is_sent_as_answer() -> None:
    fields = {"log": [[1, 3], [1, 2]], "leo": [2, 2], "fetch": {1: REQUESTED}}
    model, state = parted("truncate-on-fetch", **fields)
    told = after(model, state, "LeaderFetch follower=1")

    assert (told.fetch[1], told.answer_offset[1]) == (DIVERGING, 1)
    assert after(model, told, "RecvDiverging follower=1").leo[1] == 1


def test_an_answer_that_parts_nothing_ends_the_doubt() -> None:
    fields = {"log": [[1, 3], [1]], "leo": [2, 1], "fetch": {1: REQUESTED}, "hw": [1]}
    model, state = parted("truncate-on-fetch", **fields)
    answered = after(model, state, "LeaderFetch follower=1")
    received = after(model, answered, "RecvFetch follower=1")

    assert (answered.fetch[1], answered.role[1]) == (ANSWERED, TRUNCATING)
    assert (received.role[1], received.leo[1], received.hw[1]) == (FETCHING, 2, 1)


def test_a_fetch_that_ends_in_an_epoch_unknown_to_the_leader_is_out_of_range() -> None:
    fields = {"record_epoch": [0, 3, 2], "fetch": {1: REQUESTED}}
    model, state = parted("truncate-on-fetch", **fields)

    assert changed_by(model, state, "LeaderFetch follower=1") == {
        "fetch[1]": (REQUESTED, OUT_OF_RANGE),
        "answer_offset[1]": (0, 2),
    }


# Out of range.

BEYOND = edited(
    START,
    leo=[1, 2],
    log=[[1], [1, 2]],
    produced=2,
    record_epoch=[0, 1],
    hw={1: 2},
    fetch={1: OUT_OF_RANGE},
    answer_offset={1: 1},
)


@pytest.mark.parametrize(
    ("version", "options", "lowered"),
    [
        ("kip320", {}, {"hw[1]": (2, 1)}),
        ("kip320-code", {}, {}),
        ("hw", {"unclean_leader_election": True}, {}),
        ("elr", {}, {"hw[1]": (2, 1)}),
    ],
)
def test_a_follower_beyond_its_leader_truncates(
    version: str, options: dict[str, Any], lowered: Changes
) -> None:
    """Before 2.4 its high watermark stays above its LEO."""
    changed = changed_by(model_of(version, **options), BEYOND, "RecvOutOfRange follower=1")

    assert changed == lowered | {
        "leo[1]": (2, 1),
        "log[1][1]": (2, 0),
        "record_epoch[1]": (1, 0),
        "fetch[1]": (OUT_OF_RANGE, IDLE),
        "answer_offset[1]": (1, 0),
    }


def test_until_kafka_7414_a_follower_beyond_its_leader_exits_and_that_costs_no_budget() -> None:
    exits = {
        "up[1]": (1, 0),
        "role[1]": (FETCHING, NO_ROLE),
        "known_epoch[1]": (0, NO_EPOCH),
        "hw[1]": (2, 0),
        "fetch[1]": (OUT_OF_RANGE, None),
        "answer_offset[1]": (1, None),
    }
    for version in ("hw", "epoch", "kip320-without-truncate-out-of-range"):
        changed = changed_by(model_of(version), BEYOND, "RecvOutOfRange follower=1")
        assert changed == exits, version
