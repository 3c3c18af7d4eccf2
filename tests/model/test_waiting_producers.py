"""Producers that wait at a broker which stops leading: up to 0.9 they wait on (KAFKA-2960)."""

from __future__ import annotations

import pytest

from tests.support.states import after, changed_by, edited, model_of, run
from waterline.model.core.state import State
from waterline.model.message.terms import FETCHING, LEADER, NO_ROLE, REQUESTED

KEEPS = model_of("hw-with-keeps-waiting-producers", restarts=1, moves=2)
ANSWERS = model_of("hw", restarts=1, moves=2)
M1, M2 = 0b01, 0b10

STEPS_DOWN = ("Produce leader=0", "Move replica=1", "Learn replica=0")
"""r0 appends m1, which r1 does not have, and becomes a follower: m1 is truncated."""
LEADS_AGAIN = ("Move replica=0", "Learn replica=0", "ShrinkIsr leader=0 follower=1")
"""r0 leads once more, alone in the ISR."""

FOLLOWS = run(KEEPS, *STEPS_DOWN)
"""r0 follows r1, with an empty log; the producer of m1 waits at r0."""
LEADS = run(KEEPS, *LEADS_AGAIN, start=FOLLOWS)


def waiting(state: State, replica: int = 0) -> list[int]:
    return [state.still_waiting[replica, offset] for offset in range(state.records)]


def test_a_record_that_was_truncated_is_acknowledged_by_another_in_its_place() -> None:
    state = after(KEEPS, LEADS, "Produce leader=0")

    assert (state.log[0, 0], state.leo[0], state.acked) == (2, 1, M1 | M2)
    assert waiting(state) == [0, 0]


def test_since_0_10_who_stops_leading_answers_with_an_error() -> None:
    state = run(ANSWERS, *STEPS_DOWN, *LEADS_AGAIN, "Produce leader=0")

    assert state.acked == M2


def test_a_request_waits_for_the_offset_at_which_its_record_was() -> None:
    assert waiting(run(KEEPS, "Produce leader=0", *STEPS_DOWN)) == [M1, M2]


def test_one_that_waits_for_more_waits_on() -> None:
    model = model_of("hw-with-keeps-waiting-producers", records=3, moves=2)
    alone = {"epoch": 2, "known_epoch": [2], "isr": 0b01, "known_isr": [0b01]}
    state = edited(model.initial[0], **alone, produced=2, still_waiting=[[M1, M2]])

    grown = after(model, state, "Produce leader=0")
    assert (waiting(grown), grown.acked) == ([0, M2, 0], M1 | 0b100)


@pytest.mark.parametrize(("minimum", "acked"), [(1, M1 | M2), (2, 0)])
def test_below_min_insync_replicas_it_is_answered_with_an_error(minimum: int, acked: int) -> None:
    """NOT_ENOUGH_REPLICAS_AFTER_APPEND is the end of the request."""
    model = model_of("hw-with-keeps-waiting-producers", moves=2, min_insync_replicas=minimum)
    written = edited(LEADS, log=[[2]], leo=[1], produced=2, unanswered={0: M2}, isr=0b11)
    known = edited(written, known_isr={0: 0b11}, remote_leo={(0, 1): 0})

    shrunk = after(model, known, "ShrinkIsr leader=0 follower=1")
    assert (shrunk.acked, waiting(shrunk)) == (acked, [0, 0])


def test_a_fetch_of_a_follower_has_one_that_leads_no_more_answer_with_an_error() -> None:
    """updateFollowerLogReadResults looks at the purgatory, also where the read failed."""
    behind = edited(FOLLOWS, fetch={1: REQUESTED})

    assert waiting(behind) == [M1, 0]
    assert changed_by(KEEPS, behind, "LeaderFetch follower=1") == {
        "fetch[1]": (REQUESTED, 0),
        "still_waiting[0][0]": (M1, 0),
    }


def test_a_leader_answers_at_the_next_fetch_where_its_high_watermark_is_there_already() -> None:
    """As a follower it was told a high watermark that the request needs."""
    ahead = edited(
        LEADS, log=[[2], [2]], leo=[1, 1], hw=[1, 1], produced=2, exposed_end=1, exposed=[2]
    )
    asked = edited(
        ahead, role={1: FETCHING}, known_leader={1: 0}, known_epoch={1: 2}, fetch={1: REQUESTED}
    )

    assert waiting(asked) == [M1, 0]
    handled = after(KEEPS, asked, "LeaderFetch follower=1")
    assert (handled.acked, waiting(handled)) == (M1, [0, 0])


def test_a_crash_ends_the_requests() -> None:
    down = after(KEEPS, FOLLOWS, "Crash replica=0")

    assert (down.role[0], waiting(down)) == (NO_ROLE, [0, 0])


def test_one_that_leads_on_keeps_what_waits() -> None:
    """A leader that is told another epoch of its own has not stopped leading."""
    state = run(KEEPS, "Produce leader=0", "Move replica=1", "Move replica=0", "Learn replica=0")

    assert (state.role[0], state.unanswered[0], waiting(state)) == (LEADER, M1, [0, 0])


def test_the_layout_of_all_others_has_no_room_for_it() -> None:
    assert ANSWERS.layout.bits < KEEPS.layout.bits
    assert ANSWERS.initial[0].still_waiting[0, 0] == 0


def test_without_bounds_a_request_whose_record_is_nowhere_is_kept_by_its_offset() -> None:
    model = model_of("hw-with-keeps-waiting-producers", moves=1, unbounded=True)
    nowhere = 1 << model.layout.sizes["ids"]
    state = run(model, *STEPS_DOWN)

    assert (state.produced, waiting(state)) == (0, [nowhere, 0])
    assert run(model, *LEADS_AGAIN, "Produce leader=0", start=state).acked == nowhere | M1


SENTENCES = [
    (
        run(KEEPS, *STEPS_DOWN[:2]),
        "Learn replica=0",
        "removing m1; the producer waits on for m1.",
    ),
    (
        edited(FOLLOWS, fetch={1: REQUESTED}),
        "LeaderFetch follower=1",
        "NOT_LEADER_FOR_PARTITION; m1 will never be acknowledged.",
    ),
    (FOLLOWS, "Crash replica=0", "m1 will never be acknowledged."),
    (LEADS, "Produce leader=0", "m2 is committed; m1 m2 are acknowledged."),
]


@pytest.mark.parametrize(("state", "step", "words"), SENTENCES)
def test_a_report_says_who_waits_and_who_has_an_answer(state: State, step: str, words: str) -> None:
    name, argument = step.split()
    arguments = (int(argument.split("=")[1]),)
    told = KEEPS.narration.sentence(name, arguments, state, after(KEEPS, state, step))

    assert told.endswith(words)


def test_a_table_shows_the_producers_that_wait_at_a_follower() -> None:
    row = KEEPS.narration.rows(FOLLOWS)[1]

    assert row[-1] == "ack due: m1"
