"""A directory move step by step: what a future log keeps, and what takes the log's place.

The stories are those of entries C61 and C62; the truncation of a future log is compared with
AbstractFetcherThread.getOffsetTruncationState and LeaderEpochFileCache.endOffsetFor, over lists.
"""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.states import changed_by, edited, exchange, is_enabled, model_of, run
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.directories import future_truncation_point
from waterline.model.message.environment import Environment
from waterline.model.message.terms import (
    COPIES,
    FETCHING,
    LEADER,
    NO_EPOCH,
    NO_FUTURE_LOG,
    REQUESTED,
    TRUNCATE_BY_EPOCH,
    TRUNCATE_ON_FETCH,
    TRUNCATES,
)

SIZES: dict[str, Any] = {"records": 3, "epochs": 4, "directory_moves": 1, "future_log": True}
MOVES = model_of("kip903", moves=4, restarts=1, **SIZES)
MARKS = model_of("kip903-with-truncation-marks-future-log", moves=4, **SIZES)
COMPARES = model_of("kip903-with-promotion-compares-epochs", moves=4, **SIZES)
RECOVERS = model_of("kip903-with-recovers-future-log", restarts=1, **SIZES)
CAREFUL = model_of(
    "kip903-with-recovers-future-log-with-recovery-compares-ends", restarts=1, **SIZES
)
ELR = model_of("elr-with-last-known-leader", min_isr_writes=1, restarts=1, min_insync_replicas=2)
FAILS = model_of("elr", failed_directories=1, taken_directories=1, min_insync_replicas=2)
START = MOVES.initial[0]
"""r0 leads in epoch 0 and has written nothing, r1 fetches from it, both are in sync."""

M1, M2, M3 = 1, 2, 3
DIVERGED: dict[str, Any] = {
    "leader": 1,
    "epoch": 3,
    "produced": 3,
    "record_epoch": [0, 1, 2],
    "leo": [2, 2],
    "log": [[M1, M3], [M1, M2]],
    "role": [FETCHING, LEADER],
    "known_epoch": [3, 3],
    "known_isr": {1: 3},
    "known_leader": {0: 1},
}
"""r1 leads in epoch 3 and has m2 of epoch 1, which it wrote as it led before; r0 has m3 of epoch 2,
in which it led, at the same offset."""
MOVING = ("StartFutureLog replica=0", "CopyFutureLog replica=0", "CopyFutureLog replica=0")


def future_of(state: State, replica: int = 0) -> list[int]:
    return [state.future_log[replica, o] for o in range(state.future_leo[replica])]


def log_of(state: State, replica: int) -> list[int]:
    return [state.log[replica, o] for o in range(state.leo[replica])]


def cut_and_refilled(model: Model) -> State:
    """r0 has a copy of its log, cuts it as its fetch tells, and fetches what r1 has."""
    return run(
        model,
        *MOVING,
        *("SendFetch follower=0", "LeaderFetch follower=0", "RecvDiverging follower=0"),
        *exchange(0),
        start=edited(model.initial[0], **DIVERGED),
    )


# --- C61: the copy keeps what the log has cut ----------------------------------------------------


def test_a_future_log_keeps_a_record_that_the_log_has_cut_for_the_time_being() -> None:
    state = cut_and_refilled(MOVES)

    assert log_of(state, 0) == [M1, M2]
    assert future_of(state) == [M1, M3]
    assert state.future[0] == COPIES


def test_it_takes_the_log_s_place_and_the_leader_does_not_see_it() -> None:
    state = run(MOVES, "PromoteFutureLog replica=0", start=cut_and_refilled(MOVES))
    assert log_of(state, 0) == [M1, M3]
    assert state.future[0] == NO_FUTURE_LOG
    assert state.fetched_epoch[0] == 1

    state = run(MOVES, *exchange(0), start=state)

    assert log_of(state, 1) == [M1, M2]
    assert state.hw[1] == 2, "m2 is committed by a fetch of who does not have it"
    assert state.remote_leo[1, 0] == 2


def test_an_append_ends_what_the_fetcher_remembers() -> None:
    state = run(MOVES, "PromoteFutureLog replica=0", start=cut_and_refilled(MOVES))
    state = edited(state, produced=3, leo={1: 3}, log={1: [M1, M2, M2]})

    assert run(MOVES, *exchange(0), start=state).fetched_epoch[0] == NO_EPOCH


def test_by_the_first_repair_each_truncation_marks_the_future_log() -> None:
    state = cut_and_refilled(MARKS)
    assert (state.future[0], state.future_cut[0]) == (TRUNCATES, 1)
    assert not is_enabled(MARKS, state, "PromoteFutureLog replica=0")

    state = run(MARKS, "TruncateFutureLog replica=0", "CopyFutureLog replica=0", start=state)

    assert future_of(state) == [M1, M2]


def test_by_the_second_one_that_ends_in_another_epoch_does_not_take_the_place() -> None:
    state = run(COMPARES, "PromoteFutureLog replica=0", start=cut_and_refilled(COMPARES))
    assert log_of(state, 0) == [M1, M2]
    assert state.future[0] == TRUNCATES

    state = run(COMPARES, "TruncateFutureLog replica=0", start=state)

    assert future_of(state) == []


def test_a_last_truncation_marks_it() -> None:
    """r0 knows the epoch that the leader names."""
    state = edited(START, **DIVERGED | {"record_epoch": [1, 1, 2]})
    state = run(
        MOVES,
        *MOVING,
        *("SendFetch follower=0", "LeaderFetch follower=0", "RecvDiverging follower=0"),
        start=state,
    )

    assert log_of(state, 0) == [M1]
    assert (state.future[0], state.future_cut[0]) == (TRUNCATES, 1)


def test_a_record_that_is_in_a_future_log_alone_keeps_its_epoch() -> None:
    state = cut_and_refilled(MOVES)

    assert M3 not in log_of(state, 0) + log_of(state, 1)
    assert state.record_epoch[M3 - 1] == 2


# --- C62: a shorter copy takes the log's place at a start ----------------------------------------


def crashed_while_moving(model: Model) -> State:
    """The controller has the new directory, then r0 writes m1 and crashes."""
    return run(
        model,
        "StartFutureLog replica=0",
        "AssignDirectory replica=0",
        "Learn replica=0",
        "Produce leader=0",
        *("ShrinkIsr leader=0 follower=1", "AlterPartition leader=0", "Learn replica=0"),
        *("Crash replica=0", "Fence replica=0"),
    )


def test_a_shorter_future_log_takes_the_log_s_place_as_its_broker_starts() -> None:
    before = crashed_while_moving(RECOVERS)
    assert (log_of(before, 0), before.exposed_end) == ([M1], 1)

    state = run(RECOVERS, "Restart replica=0", start=before)

    assert log_of(state, 0) == []
    assert (state.leader, state.future[0], state.future_assigned[0]) == (0, NO_FUTURE_LOG, 0)


def test_by_the_repair_it_does_not() -> None:
    state = run(CAREFUL, "Restart replica=0", start=crashed_while_moving(CAREFUL))

    assert log_of(state, 0) == [M1]
    assert (state.future[0], state.future_assigned[0]) == (TRUNCATES, 0)


def test_nor_where_metadata_has_the_former_directory() -> None:
    state = edited(crashed_while_moving(RECOVERS), future_assigned=[0, 0])

    assert log_of(run(RECOVERS, "Restart replica=0", start=state), 0) == [M1]


def test_a_future_log_takes_the_log_s_place_once_the_controller_has_its_directory() -> None:
    state = run(RECOVERS, "StartFutureLog replica=0")
    assert not is_enabled(RECOVERS, state, "PromoteFutureLog replica=0")

    state = run(RECOVERS, "AssignDirectory replica=0", start=state)

    assert is_enabled(RECOVERS, state, "PromoteFutureLog replica=0")


def test_nor_is_a_directory_assigned_before_3_7() -> None:
    state = run(MOVES, "StartFutureLog replica=0")

    assert not is_enabled(MOVES, state, "AssignDirectory replica=0")


def test_until_4_2_an_assignment_empties_the_elr_and_a_leader_has_to_hear_of_it() -> None:
    model = model_of("elr", min_insync_replicas=2, **SIZES)
    state = run(model, "StartFutureLog replica=0", start=edited(model.initial[0], elr=2, isr=1))
    state = run(model, "AssignDirectory replica=0", start=state)
    assert (state.elr, state.outdated[0]) == (0, 1)

    later = model_of("elr-without-new-directory-empties-elr", min_insync_replicas=2, **SIZES)
    state = run(later, "StartFutureLog replica=0", start=edited(later.initial[0], elr=2, isr=1))
    assert run(later, "AssignDirectory replica=0", start=state).elr == 2


# --- one step at a time --------------------------------------------------------------------------

ONE = edited(START, leo=[1, 0], log=[[M1]], produced=1)
COPYING = edited(ONE, future=[COPIES, 0])
COPIED = edited(COPYING, future_leo=[1, 0], future_log=[[M1]])
LONGER = edited(START, future=[COPIES, 0], future_leo=[1, 0], future_log=[[M1]], produced=1)
ASKS = edited(START, future=[0, COPIES], fetch={1: REQUESTED})

GUARDS: list[tuple[str, str, State, bool]] = [
    ("a log without a copy", "StartFutureLog replica=0", START, True),
    ("one copy at a time", "StartFutureLog replica=0", COPYING, False),
    ("something to copy", "CopyFutureLog replica=0", COPYING, True),
    ("nothing to copy", "CopyFutureLog replica=0", COPIED, False),
    ("a high watermark to copy", "CopyFutureLog replica=0", edited(COPIED, hw=[1, 0]), True),
    ("out of range", "CopyFutureLog replica=0", LONGER, True),
    ("shorter than the log", "PromoteFutureLog replica=0", COPYING, False),
    ("as long as the log", "PromoteFutureLog replica=0", COPIED, True),
    ("its fetch is on its way", "PromoteFutureLog replica=1", ASKS, False),
    ("no truncation to find out", "TruncateFutureLog replica=0", COPIED, False),
    ("not of a broker that is down", "CopyFutureLog replica=0", edited(COPYING, up={0: 0}), False),
]


@pytest.mark.parametrize(
    ("step", "state", "wanted"), [g[1:] for g in GUARDS], ids=[g[0] for g in GUARDS]
)
def test_when_a_future_log_s_thread_can_do_what(step: str, state: State, wanted: bool) -> None:
    assert is_enabled(MOVES, state, step) == wanted


def test_a_copy_beyond_the_log_s_end_is_cut_there() -> None:
    assert changed_by(MOVES, LONGER, "CopyFutureLog replica=0") == {
        "future_leo[0]": (1, 0),
        "future_log[0][0]": (M1, 0),
    }


def test_a_new_epoch_has_it_truncated_anew_to_its_own_high_watermark_if_the_log_cannot_say() -> (
    None
):
    state = edited(COPIED, hw=[1, 0], epoch=1, leader=1)

    assert changed_by(MOVES, state, "Learn replica=0")["future[0]"] == (COPIES, TRUNCATES)
    assert run(MOVES, "Learn replica=0", start=state).future_cut[0] == 0


def test_a_removed_replica_takes_its_future_log_along() -> None:
    model = model_of(
        "elr", replicas=3, reassignments=1, assigned=2, directory_moves=1, future_log=True
    )
    state = run(model, "StartFutureLog replica=1", f"Reassign targets={0b001}", "Learn replica=1")

    assert state.future[1] == NO_FUTURE_LOG


# --- the truncation point, against lists ---------------------------------------------------------


def kafka_truncates(future: list[int], epoch: int, end: int) -> tuple[int, bool]:
    """Where AbstractFetcherThread.getOffsetTruncationState cuts a log of records of these epochs.

    The epoch cache is a list of (epoch, start offset), made append by append.
    """
    cache: list[tuple[int, int]] = []
    for offset, each in enumerate(future):
        if not cache or cache[-1][0] != each:
            cache = [entry for entry in cache if entry[0] < each and entry[1] < offset]
            cache.append((each, offset))
    if epoch > cache[-1][0]:
        return min(end, len(future)), True
    if epoch == cache[-1][0]:
        own, own_end = epoch, len(future)
    elif epoch < cache[0][0]:
        own, own_end = epoch, cache[0][1]
    else:
        own = max(each for each, _ in cache if each <= epoch)
        own_end = min(start for each, start in cache if each > epoch)
    if own != epoch:
        return min(own_end, len(future)), False
    return min(own_end, end, len(future)), True


@pytest.mark.parametrize("length", [1, 2, 3])
def test_a_future_log_is_truncated_where_kafka_truncates(length: int) -> None:
    c: Any = SimpleNamespace(truncation=TRUNCATE_ON_FETCH)
    tried = 0
    for epochs in product(range(4), repeat=length):
        future = {(0, offset): offset + 1 for offset in range(length)}
        state = SimpleNamespace(future_leo=[length], future_log=future, record_epoch=epochs)
        for epoch, end in product(range(max(epochs) + 1), range(4)):
            wanted = kafka_truncates(list(epochs), epoch, end)
            found = future_truncation_point(state, c, 0, epoch, end)
            assert found == wanted, (epochs, epoch, end)
            tried += 1
    assert tried >= 4 * 4**length


def test_until_2_0_it_is_cut_at_what_the_log_says() -> None:
    c: Any = SimpleNamespace(truncation=TRUNCATE_BY_EPOCH)
    state = SimpleNamespace(future_leo=[2], future_log={(0, 1): 1}, record_epoch=[1])

    assert future_truncation_point(state, c, 0, 0, 1) == (1, 1)
    assert future_truncation_point(state, c, 0, 0, 3) == (2, 1)


# --- beside it -----------------------------------------------------------------------------------


def test_writing_min_insync_replicas_empties_the_elr_and_forgets_who_led_last() -> None:
    state = edited(ELR.initial[0], leader=-1, isr=0, elr=3, last_leader=0, epoch=1)

    assert changed_by(ELR, state, "WriteMinIsr") == {
        "elr": (3, 0),
        "last_leader": (0, -1),
        "min_isr_writes_used": (0, 1),
    }
    assert not is_enabled(ELR, edited(state, elr=0, last_leader=-1), "WriteMinIsr")


def test_a_broker_whose_directory_failed_leaves_the_elr_if_it_comes_back_with_it() -> None:
    state = run(FAILS, "DirectoryFailure replica=1", "Fence replica=1")
    assert state.elr == 2

    assert run(FAILS, "Restart replica=1", start=state).elr == 0


def test_and_stays_in_it_if_it_comes_back_without() -> None:
    model = model_of(
        "elr-without-new-directory-empties-elr",
        failed_directories=1,
        taken_directories=1,
        min_insync_replicas=2,
    )
    start = edited(model.initial[0], leo=[1, 1], log=[[M1], [M1]], produced=1)
    steps = ("DirectoryFailure replica=1", "Fence replica=1", "DirectoryTaken replica=1")
    state = run(model, *steps, "Restart replica=1", start=start)

    assert (state.elr, log_of(state, 1)) == (2, [])


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"unbounded": True}, "unbounded"),
        ({"power_losses": 1}, "power-losses"),
        ({"taken_directories": 1}, "taken-directories"),
        ({"failed_directories": 1}, "failed-directories"),
    ],
)
def test_what_a_future_log_cannot_be_with_is_refused_in_one_line(
    other: dict[str, Any], words: str
) -> None:
    with pytest.raises(BadEnvironment, match=f"future-log cannot be with {words}: .*leave one"):
        Environment(directory_moves=1, future_log=True, **other)


def test_a_future_log_without_a_move_means_nothing() -> None:
    with pytest.raises(BadEnvironment, match="directory-moves is 0"):
        Environment(future_log=True)
