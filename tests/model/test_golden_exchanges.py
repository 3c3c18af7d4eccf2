"""The worked examples of five public articles on Kafka's replication, number by number.

Each is a run of the model: its own guards say that a step can be taken, its own effects take it.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.states import after, bound, changes, exchange, hand_made, model_of, run
from waterline.invariants import no_committed_loss, no_divergence_below_hw
from waterline.model.core.layout import Layout
from waterline.model.core.state import Draft, State
from waterline.model.core.transition_system import Model
from waterline.model.message.clients import produce
from waterline.model.message.environment import DOCUMENTED
from waterline.model.message.high_watermark import advance_high_watermark, in_sync_end
from waterline.model.message.model import message_model
from waterline.model.message.settings import settings_of
from waterline.model.message.terms import (
    ANSWERED,
    FETCHING,
    IDLE,
    LEADER,
    NO_ROLE,
    PARKED,
    TRUNCATING,
)
from waterline.model.message.versions import HW

LEADS, FOLLOWS = 0, 1
SETTINGS = settings_of(DOCUMENTED, HW)
Row = tuple[int, int, int, int, int]


def row(s: State) -> Row:
    """Leader LEO, remote LEO, leader HW, follower LEO, follower HW."""
    return (s.leo[LEADS], s.remote_leo[LEADS, FOLLOWS], s.hw[LEADS], s.leo[FOLLOWS], s.hw[FOLLOWS])


class WatchedDraft(Draft):
    """Notes the row after every write, so that an effect shows its sub-steps in its own order."""

    def __init__(self, layout: Layout, words: tuple[int, ...] | None = None) -> None:
        super().__init__(layout, words)
        object.__setattr__(self, "written", [])

    def _write(self, place: Any, index: Any, value: int) -> None:
        super()._write(place, index, value)
        self.written.append((place.name, row(self)))


def watched(model: Model, state: State, step: str) -> tuple[State, list[tuple[str, Row]]]:
    """The state after a step, and each field that its effect wrote with the row right after."""
    action, arguments = bound(model, step)
    draft = WatchedDraft(state.layout, state.words)
    action.effect(draft, model.settings, *arguments)
    result = after(model, state, step)
    assert draft.freeze() == result
    return result, draft.written


def record_written(written: list[tuple[str, Row]], field: str) -> Row:
    """The row right after the one write to `field`."""
    (found,) = [r for name, r in written if name == field]
    return found


@pytest.fixture(params=["hw", "epoch"])
def model(request: pytest.FixtureRequest) -> Model:
    return model_of(request.param)


def test_nine_rows_of_one_record_reaching_the_follower(model: Model) -> None:
    state, produced = watched(model, model.initial[0], "Produce leader=0")
    state = after(model, state, "SendFetch follower=1")
    state, fetched = watched(model, state, "LeaderFetch follower=1")
    state, received = watched(model, state, "RecvFetch follower=1")
    state = after(model, state, "SendFetch follower=1")
    state, fetched_again = watched(model, state, "LeaderFetch follower=1")
    state, received_again = watched(model, state, "RecvFetch follower=1")

    assert [
        ("Producer Write", record_written(produced, "leo")),
        ("Follower Fetch", record_written(fetched, "remote_leo")),
        ("Leader Update HW", record_written(fetched, "answer_offset")),
        ("Leader Response", record_written(received, "leo")),
        ("Follower Update HW", record_written(received, "hw")),
        ("Follower Fetch", record_written(fetched_again, "remote_leo")),
        ("Leader Update HW", record_written(fetched_again, "hw")),
        ("Leader Response", record_written(received_again, "leo")),
        ("Follower Update HW", record_written(received_again, "hw")),
    ] == [
        ("Producer Write", (1, 0, 0, 0, 0)),
        ("Follower Fetch", (1, 0, 0, 0, 0)),
        ("Leader Update HW", (1, 0, 0, 0, 0)),
        ("Leader Response", (1, 0, 0, 1, 0)),
        ("Follower Update HW", (1, 0, 0, 1, 0)),
        ("Follower Fetch", (1, 1, 0, 1, 0)),
        ("Leader Update HW", (1, 1, 1, 1, 0)),
        ("Leader Response", (1, 1, 1, 1, 0)),
        ("Follower Update HW", (1, 1, 1, 1, 1)),
    ]
    assert row(state) == (1, 1, 1, 1, 1)


def test_the_first_update_of_the_leaders_high_watermark_moves_nothing(model: Model) -> None:
    state = run(model, "Produce leader=0", "SendFetch follower=1")
    draft = state.draft()
    advance_high_watermark(draft, model.settings, LEADS)

    assert in_sync_end(state, SETTINGS, LEADS) == 0
    assert draft.freeze() == state


def test_a_leader_handles_a_fetch_in_kafkas_order(model: Model) -> None:
    state = run(model, "Produce leader=0", *exchange(1), "SendFetch follower=1")
    _, written = watched(model, state, "LeaderFetch follower=1")
    order = [name for name, _ in written if name in {"remote_leo", "hw", "answer_offset"}]

    assert order == ["remote_leo", "hw", "answer_offset"]


def test_a_follower_appends_before_it_moves_its_high_watermark(model: Model) -> None:
    state = run(model, "Produce leader=0", "SendFetch follower=1", "LeaderFetch follower=1")
    _, written = watched(model, state, "RecvFetch follower=1")
    order = [name for name, _ in written if name in {"log", "leo", "hw"}]

    assert order == ["log", "leo", "hw"]


def test_a_record_takes_two_exchanges_to_be_committed_on_both(model: Model) -> None:
    first = run(model, "Produce leader=0", *exchange(1))
    answered = run(model, "SendFetch follower=1", "LeaderFetch follower=1", start=first)
    second = after(model, answered, "RecvFetch follower=1")

    assert row(first) == (1, 0, 0, 1, 0)
    assert row(answered) == (1, 1, 1, 1, 0)
    assert answered.answer_offset[FOLLOWS] == 1
    assert row(second) == (1, 1, 1, 1, 1)


@pytest.mark.parametrize("version", ["hw", "epoch"])
def test_a_produce_wakes_the_fetch_parked_at_an_empty_leader(version: str) -> None:
    model = model_of(version, parked_fetches=True)
    parked = run(model, "SendFetch follower=1", "LeaderFetch follower=1")
    produced = after(model, parked, "Produce leader=0")
    woken = after(model, produced, "WakeParked follower=1")
    received = after(model, woken, "RecvFetch follower=1")
    again = run(model, "SendFetch follower=1", "LeaderFetch follower=1", start=received)
    last = run(model, "WakeParked follower=1", "RecvFetch follower=1", start=again)

    assert (row(parked), parked.fetch[FOLLOWS]) == ((0, 0, 0, 0, 0), PARKED)
    assert row(produced) == (1, 0, 0, 0, 0)
    assert (woken.fetch[FOLLOWS], woken.answer_log[FOLLOWS, 0]) == (ANSWERED, 1)
    assert woken.answer_offset[FOLLOWS] == 0
    assert row(received) == (1, 0, 0, 1, 0)
    assert (row(again), again.fetch[FOLLOWS]) == ((1, 1, 1, 1, 0), PARKED)
    assert row(last) == (1, 1, 1, 1, 1)


def test_each_answer_carries_the_least_leo_in_sync_as_high_watermark(model: Model) -> None:
    asked = run(model, "Produce leader=0", "SendFetch follower=1")
    first = after(model, asked, "LeaderFetch follower=1")
    received = after(model, first, "RecvFetch follower=1")
    second = run(model, "SendFetch follower=1", "LeaderFetch follower=1", start=received)
    last = after(model, second, "RecvFetch follower=1")

    assert (first.remote_leo[LEADS, FOLLOWS], in_sync_end(first, SETTINGS, LEADS)) == (0, 0)
    assert (first.answer_log[FOLLOWS, 0], first.answer_offset[FOLLOWS]) == (1, 0)
    assert (received.leo[FOLLOWS], received.hw[FOLLOWS]) == (1, 0)
    assert (second.remote_leo[LEADS, FOLLOWS], in_sync_end(second, SETTINGS, LEADS)) == (1, 1)
    assert (second.answer_log[FOLLOWS, 0], second.answer_offset[FOLLOWS]) == (0, 1)
    assert (last.leo[FOLLOWS], last.hw[FOLLOWS]) == (1, 1)


def test_a_record_only_the_leader_has_is_not_read_by_consumers() -> None:
    model = model_of("epoch", replicas=3, records=6, epochs=1)
    state = run(model, *["Produce leader=0"] * 5)
    state = run(model, *(exchange(1) + exchange(2)) * 2, *exchange(1), start=state)
    state = after(model, state, "Produce leader=0")
    exposed = [state.exposed[offset] for offset in range(state.exposed_end)]

    assert [state.leo[replica] for replica in range(3)] == [6, 5, 5]
    assert [state.hw[replica] for replica in range(3)] == [5, 5, 5]
    assert exposed == [1, 2, 3, 4, 5]
    assert exposed == [state.log[LEADS, offset] for offset in range(state.hw[LEADS])]


def hand_made_leader(*, leo: int, remote_leo: int) -> Any:
    """A leader with a log longer than can be packed, and one follower in sync."""
    return SimpleNamespace(
        replicas=2,
        role=[LEADER, FETCHING],
        known_epoch=[0, 0],
        entry_lost=[0, 0],
        known_isr=[0b11, 0],
        leo=[leo, remote_leo],
        hw=[0, 0],
        log={(0, offset): offset + 1 for offset in range(leo)},
        record_epoch=[0] * (leo + 1),
        produced=leo,
        remote_leo={(0, 1): remote_leo},
        unanswered=[0, 0],
        acked=0,
        exposed={},
        exposed_end=0,
    )


def test_offsets_below_the_high_watermark_are_committed_and_that_at_it_is_not() -> None:
    s = hand_made_leader(leo=15, remote_leo=8)
    settings = settings_of(DOCUMENTED, HW)
    advance_high_watermark(s, settings, LEADS)
    committed = sorted(s.exposed)
    produce(s, settings, LEADS)

    assert (s.hw[LEADS], s.exposed_end) == (8, 8)
    assert committed == list(range(8))
    assert s.log[0, 15] == 16
    assert s.leo[LEADS] == 16


def test_the_high_watermark_is_the_greater_of_itself_and_the_least_leo(model: Model) -> None:
    asked = run(model, "Produce leader=0", "SendFetch follower=1")
    first = after(model, asked, "LeaderFetch follower=1")
    received = after(model, first, "RecvFetch follower=1")
    second = run(model, "SendFetch follower=1", "LeaderFetch follower=1", start=received)
    last = after(model, second, "RecvFetch follower=1")

    assert (first.hw[LEADS], first.remote_leo[LEADS, FOLLOWS]) == (0, 0)
    assert (received.leo[FOLLOWS], received.hw[FOLLOWS]) == (1, 0)
    assert (second.hw[LEADS], second.remote_leo[LEADS, FOLLOWS]) == (1, 1)
    assert last.hw[FOLLOWS] == 1


def test_a_leaders_high_watermark_stays_when_the_least_leo_falls_below_it(model: Model) -> None:
    state = hand_made(
        model,
        role=[LEADER, FETCHING],
        leo=[2, 1],
        hw=[2, 1],
        log=[[1, 2], [1]],
        known_isr={0: 0b11},
        remote_leo={(0, 1): 1},
    )
    draft = state.draft()
    advance_high_watermark(draft, model.settings, LEADS)

    assert in_sync_end(state, SETTINGS, LEADS) == 1
    assert draft.freeze() == state


# In what follows A and B are the articles' names: B leads first, A follows.
B, A = 0, 1
TWO_COMMITTED = (
    "Produce leader=0",
    *exchange(A),
    "Produce leader=0",
    *exchange(A),
    "Checkpoint replica=1",
    "SendFetch follower=1",
    "LeaderFetch follower=1",
)


def log(s: State, replica: int) -> list[int]:
    return [s.log[replica, offset] for offset in range(s.leo[replica])]


@pytest.mark.parametrize("version", ["hw", "epoch"])
def test_before_the_loss_the_followers_high_watermark_lags_by_one(version: str) -> None:
    state = run(model_of(version, records=3), *TWO_COMMITTED)

    assert (state.leo[B], state.hw[B]) == (2, 2)
    assert (state.leo[A], state.hw[A], state.checkpoint[A]) == (2, 1, 1)
    assert (state.exposed_end, state.acked) == (2, 0b11)


def test_truncating_to_the_high_watermark_loses_a_committed_record() -> None:
    model = model_of("hw", records=3)
    state = run(model, *TWO_COMMITTED, "Crash replica=1", "Restart replica=1", "Learn replica=1")
    last = run(model, "Crash replica=0", "Fence replica=0", "Learn replica=1", start=state)

    assert (state.leo[A], state.hw[A]) == (1, 1)
    assert (last.leader, last.epoch, last.role[A]) == (A, 1, LEADER)
    assert log(last, A) == [1]
    assert not no_committed_loss.holds(last, model.settings)


def test_truncating_by_epoch_loses_nothing_on_the_same_path() -> None:
    model = model_of("epoch", records=3)
    state = run(
        model,
        *TWO_COMMITTED,
        "Crash replica=1",
        "Restart replica=1",
        "Learn replica=1",
        "OffsetForLeaderEpoch follower=1",
    )
    elected = run(model, "Crash replica=0", "Fence replica=0", "Learn replica=1", start=state)
    written = after(model, elected, "Produce leader=1")
    back = run(model, "Restart replica=0", "Learn replica=0", start=written)
    truncated = after(model, back, "OffsetForLeaderEpoch follower=0")

    assert log(state, A) == [1, 2]
    assert log(elected, A) == [1, 2]
    assert log(written, A) == [1, 2, 3]
    assert [written.record_epoch[i] for i in range(3)] == [0, 0, 1]
    assert changes(back, truncated) == {"role[0]": (TRUNCATING, FETCHING)}
    assert log(truncated, B) == [1, 2]
    assert no_committed_loss.holds(truncated, model.settings)


def after_a_power_loss(model: Model) -> State:
    """A lost m2 from its page cache and came back first, as the only one in sync; B comes back.

    The model has process crashes only, so that the state is made by hand.
    """
    return hand_made(
        model,
        role=[NO_ROLE, NO_ROLE],
        up=[1, 1],
        leader=A,
        epoch=1,
        isr=1 << A,
        leo={A: 1, B: 2},
        log={(A, 0): 1, (B, 0): 1, (B, 1): 2},
        hw={A: 1, B: 2},
        checkpoint={A: 1, B: 2},
        produced=2,
        exposed=[1],
        exposed_end=1,
    )


def test_truncating_to_the_high_watermark_lets_logs_diverge() -> None:
    model = model_of("hw", records=3)
    state = run(model, "Learn replica=1", "Produce leader=1", start=after_a_power_loss(model))
    joined = after(model, state, "Learn replica=0")
    last = run(model, *exchange(B), start=joined)

    assert (state.hw[A], log(state, A)) == (2, [1, 3])
    assert (joined.hw[B], log(joined, B)) == (2, [1, 2])
    assert (log(last, A), log(last, B)) == ([1, 3], [1, 2])
    assert (last.hw[A], last.hw[B]) == (2, 2)
    assert not no_divergence_below_hw.holds(last, model.settings)


def test_truncating_by_epoch_makes_the_logs_agree_again() -> None:
    model = model_of("epoch", records=3)
    state = run(model, "Learn replica=1", "Produce leader=1", start=after_a_power_loss(model))
    asked = run(model, "Learn replica=0", "OffsetForLeaderEpoch follower=0", start=state)
    last = run(model, *exchange(B), start=asked)

    assert log(asked, B) == [1]
    assert (log(last, A), log(last, B)) == ([1, 3], [1, 3])
    assert last.fetch[B] == IDLE
    assert no_divergence_below_hw.holds(last, model.settings)


def test_a_high_watermark_read_before_the_fetch_reaches_the_follower_one_fetch_later() -> None:
    model = model_of("hw", hw_in_response="pre")
    second = run(model, "Produce leader=0", *exchange(1), *exchange(1))
    third = run(model, *exchange(1), start=second)

    assert row(second) == (1, 1, 1, 1, 0)
    assert row(third) == (1, 1, 1, 1, 1)


def test_both_versions_start_alike() -> None:
    assert model_of("hw").initial == message_model("epoch", DOCUMENTED).initial
