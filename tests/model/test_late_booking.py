"""A leader checks a fetch in one step and takes note of it in another (`--late-booking`).

Partition.fetchRecords and updateFollowerFetchState. What ends between the two is an epoch, a role,
or the follower's registration.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import after, bound, changed_by, edited, exchange, is_enabled, model_of
from waterline.model.core.state import State
from waterline.model.message.terms import (
    ANSWERED,
    CHECKED,
    FETCHING,
    IDLE,
    LEADER,
    NO_REPLICA,
    OUT_OF_RANGE,
    PARKED,
    REQUESTED,
    TRUNCATING,
    UNKNOWN_OFFSET,
)

BY_REPLICA = model_of("elr", late_booking="by-replica", moves=3, epochs=3)
BY_ID = model_of("kip320", late_booking="by-id", moves=3, epochs=3)
BY_EPOCH = model_of("elr", late_booking="by-epoch", moves=3, epochs=3)
FRESH = model_of("elr-with-fresh-replicas", late_booking="by-replica", moves=3, epochs=3)
FORGETS = model_of("elr-with-fresh-remote-leo", late_booking="by-replica", moves=3, epochs=3)
ALL = (BY_REPLICA, BY_ID, BY_EPOCH, FRESH, FORGETS)

CHECK, BOOK = "CheckFetch follower=1", "BookFetch follower=1"


def asking(model: Any) -> State:
    """r0 leads with m1, which r1 has; r1's fetch from offset 1 is on its way."""
    return edited(
        model.initial[0], leo=[1, 1], log=[[1], [1]], produced=1, fetch={1: REQUESTED},
        remote_leo={(0, 1): 0}, unanswered={0: 1},
    )  # fmt: skip


def checked(model: Any) -> State:
    return after(model, asking(model), CHECK)


def in_epoch_2(model: Any) -> State:
    """r0 has heard of epoch 2, in which it leads, and of no epoch between."""
    return after(model, edited(checked(model), epoch=2), "Learn replica=0")


def after_following(model: Any) -> State:
    """r0 has followed in epoch 1, and leads again in epoch 2."""
    follows = after(model, edited(checked(model), epoch=1, leader=1), "Learn replica=0")
    return after(model, edited(follows, epoch=2, leader=0), "Learn replica=0")


def named(value: Any) -> str:
    """A model by its version and when it notes a fetch; anything else as it is."""
    return (
        f"{value.version} {value.options['late-booking']}"
        if hasattr(value, "version")
        else str(value)
    )


@pytest.mark.parametrize("model", ALL, ids=named)
def test_a_check_reads_the_log_and_notes_nothing(model: Any) -> None:
    assert changed_by(model, asking(model), CHECK) == {
        "fetch[1]": (REQUESTED, CHECKED),
        "booking_from": (NO_REPLICA, 1),
        "booking_to": (NO_REPLICA, 0),
        "booking_offset": (0, 1),
    }


def test_the_answer_has_what_the_log_was_at_the_check() -> None:
    state = edited(asking(BY_REPLICA), leo=[1, 0], log=[[1], [0]], hw=[0])
    read = after(BY_REPLICA, state, CHECK)
    grown = after(BY_REPLICA, read, "Produce leader=0")
    booked = after(BY_REPLICA, grown, BOOK)

    assert [booked.answer_log[1, i] for i in range(2)] == [1, 0]
    assert booked.fetch[1] == ANSWERED


def test_nothing_is_received_before_it_is_noted() -> None:
    assert not is_enabled(BY_REPLICA, checked(BY_REPLICA), "RecvFetch follower=1")
    assert is_enabled(
        BY_REPLICA, after(BY_REPLICA, checked(BY_REPLICA), BOOK), "RecvFetch follower=1"
    )


@pytest.mark.parametrize("model", ALL, ids=named)
def test_both_steps_without_anything_between_are_the_one(model: Any) -> None:
    one = after(model, asking(model), "LeaderFetch follower=1")

    assert after(model, checked(model), BOOK) == one
    assert (one.remote_leo[0, 1], one.hw[0], one.fetch[1]) == (1, 1, ANSWERED)


@pytest.mark.parametrize(("when", "answered"), [("pre", 0), ("post", 1)])
def test_the_high_watermark_is_that_of_the_check_or_of_the_note(when: str, answered: int) -> None:
    model = model_of("elr", late_booking="by-replica", hw_in_response=when)

    assert after(model, checked(model), BOOK).answer_offset[1] == answered


def test_an_answer_without_records_is_parked_only_once_it_is_noted() -> None:
    model = model_of("elr", late_booking="by-replica", parked_fetches=True)
    booked = after(model, checked(model), BOOK)

    assert (booked.fetch[1], booked.answer_offset[1]) == (PARKED, 0)
    assert booked == after(model, asking(model), "LeaderFetch follower=1")


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("there is no request", {"fetch": {1: IDLE}}),
    ("its addressee is in a later epoch", {"known_epoch": {0: 1}, "epoch": 1}),
    ("its offset is beyond the leader's log", {"leo": [0, 1], "log": {(0, 0): 0}}),
    ("another is checked and not noted", {"booking_from": 1, "booking_to": 0}),
]


@pytest.mark.parametrize(("why", "changes"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_fetch_is_not_checked_where(why: str, changes: dict[str, Any]) -> None:
    assert is_enabled(BY_ID, asking(BY_ID), CHECK)
    assert not is_enabled(BY_ID, edited(asking(BY_ID), **changes), CHECK)


def test_nor_where_its_log_parts_from_the_leaders() -> None:
    other = edited(asking(BY_REPLICA), log={(0, 0): 2}, produced=2, record_epoch=[0, 1], epoch=1)

    assert not is_enabled(BY_REPLICA, edited(other, known_epoch=[1, 1]), CHECK)


def test_only_whose_fetch_was_checked_is_noted() -> None:
    assert not is_enabled(BY_REPLICA, checked(BY_REPLICA), "BookFetch follower=0")
    assert not is_enabled(BY_REPLICA, asking(BY_REPLICA), BOOK)


@pytest.mark.parametrize(
    ("model", "noted"),
    [(BY_REPLICA, 1), (BY_ID, 1), (FORGETS, 1), (BY_EPOCH, 0), (FRESH, UNKNOWN_OFFSET)],
    ids=named,
)
def test_a_fetch_of_an_epoch_that_is_over(model: Any, noted: int) -> None:
    """Of one that leads on: no Kafka compares the epoch again, and no reset undoes what follows."""
    booked = after(model, in_epoch_2(model), BOOK)

    assert booked.remote_leo[0, 1] == noted
    assert booked.hw[0] == max(noted, 0)
    assert booked.booking_from == NO_REPLICA


@pytest.mark.parametrize(
    ("model", "noted"), [(BY_REPLICA, False), (BY_ID, True), (BY_EPOCH, False)], ids=named
)
def test_a_fetch_of_before_the_leader_followed(model: Any, noted: bool) -> None:
    """makeFollower clears the Replica objects; until 3.2 the new one is found by the id."""
    state = after_following(model)

    assert (state.role[0], state.remote_leo[0, 1]) == (LEADER, UNKNOWN_OFFSET)
    assert (after(model, state, BOOK).remote_leo[0, 1] == 1) is noted


@pytest.mark.parametrize("model", ALL, ids=named)
def test_one_that_leads_no_more_notes_nothing(model: Any) -> None:
    follows = after(model, edited(checked(model), epoch=1, leader=1), "Learn replica=0")
    booked = after(model, follows, BOOK)

    assert booked.role[0] in (TRUNCATING, FETCHING)
    assert booked.booking_to == NO_REPLICA
    assert (booked.fetch[1], booked.hw[0]) == (ANSWERED, 0)


@pytest.mark.parametrize(
    ("version", "heard", "asks"),
    [
        ("elr", True, True),
        ("elr", False, False),
        ("kip903", False, False),
        ("kraft", False, True),
    ],
)
def test_an_old_replica_object_may_still_bring_its_follower_into_the_isr(
    version: str, heard: bool, asks: bool
) -> None:
    """maybeExpandIsr goes by the object that it is given; since KIP-903 one of now had a fetch."""
    model = model_of(f"{version}-with-fresh-replicas", late_booking="by-replica", epochs=3)
    known = {"remote_leo": {(0, 1): 0}} if heard else {}
    alone = edited(in_epoch_2(model), isr=0b01, known_isr={0: 0b01}, hw={0: 1}, **known)
    booked = after(model, alone, BOOK)

    assert (booked.pending_isr[0] == 0b11) is asks
    assert booked.remote_leo[0, 1] == (0 if heard else UNKNOWN_OFFSET)


def test_so_it_may_without_the_repair_once_the_leader_has_followed() -> None:
    """makeFollower has cleared the objects; no epoch was missed."""
    state = edited(
        after_following(BY_REPLICA), isr=0b01, known_isr={0: 0b01}, remote_leo={(0, 1): 0}
    )

    assert after(BY_REPLICA, state, BOOK).pending_isr[0] == 0b11


def test_by_epoch_nobody_is_brought_into_the_isr() -> None:
    alone = edited(in_epoch_2(BY_EPOCH), isr=0b01, known_isr={0: 0b01}, remote_leo={(0, 1): 0})

    assert after(BY_EPOCH, alone, BOOK).pending_isr[0] == 0


@pytest.mark.parametrize(
    ("version", "noted"), [("kip903", 0), ("kip903-without-stale-fetch-check", 1)]
)
def test_the_broker_epoch_is_compared_as_the_fetch_is_noted(version: str, noted: int) -> None:
    """KAFKA-15221, Replica.updateFetchStateOrThrow."""
    model = model_of(version, late_booking="by-replica")
    stale = edited(checked(model), booking_stale=1)

    assert after(model, stale, BOOK).remote_leo[0, 1] == noted


def test_a_restart_makes_the_fetch_of_before_stale() -> None:
    model = model_of("kip903", late_booking="by-replica", unfenced_registration=True)
    down = after(model, checked(model), "Crash replica=1")

    assert (down.booking_from, down.booking_stale) == (1, 0)
    assert after(model, down, "Restart replica=1").booking_stale == 1


@pytest.mark.parametrize("model", ALL, ids=named)
def test_a_crash_of_the_leader_ends_it(model: Any) -> None:
    down = after(model, checked(model), "Crash replica=0")

    assert (down.booking_from, down.booking_to, down.booking_offset) == (NO_REPLICA, NO_REPLICA, 0)
    assert down.fetch[1] == IDLE


def test_who_has_asked_again_gets_no_second_answer() -> None:
    """The follower has heard of another epoch: the note is taken, its new fetch waits."""
    waits = after(BY_REPLICA, edited(checked(BY_REPLICA), epoch=1), "Learn replica=1")
    again = after(BY_REPLICA, waits, "SendFetch follower=1")

    assert after(BY_REPLICA, again, BOOK).fetch[1] == REQUESTED


@pytest.mark.parametrize("slot", [ANSWERED, OUT_OF_RANGE, PARKED])
def test_only_the_fetch_that_was_checked_is_answered(slot: int) -> None:
    state = edited(checked(BY_REPLICA), fetch={1: slot})

    assert after(BY_REPLICA, state, BOOK).fetch[1] == slot


def test_c21_with_the_repair_comes_about_by_a_late_note() -> None:
    """r0 forgets what r1 had, as `fresh-remote-leo` says, and is told it again."""
    reset = in_epoch_2(FORGETS)
    truncated = edited(reset, leo={1: 0}, log={(1, 0): 0})
    booked = after(FORGETS, truncated, BOOK)

    assert (reset.remote_leo[0, 1], reset.hw[0], reset.acked) == (UNKNOWN_OFFSET, 0, 0)
    assert (booked.hw[0], booked.acked) == (1, 1)


def test_the_layout_without_it_has_no_room_for_it() -> None:
    off = model_of("elr")

    assert off.layout.bits < model_of("elr", late_booking="by-id").layout.bits
    assert off.initial[0].booking_from == NO_REPLICA
    assert not {"CheckFetch", "BookFetch"} & set(off.contents)


SENTENCES = [
    (BY_REPLICA, asking(BY_REPLICA), CHECK, "it has not taken note of the offset yet."),
    (
        BY_REPLICA,
        in_epoch_2(BY_REPLICA),
        BOOK,
        "remote LEO 1, in epoch 2; HW 0 -> 1; m1 is committed and acknowledged; it answers no "
        "record, HW 1.",
    ),
    (FRESH, in_epoch_2(FRESH), BOOK, "checked before: the Replica object has been replaced; "),
    (BY_EPOCH, in_epoch_2(BY_EPOCH), BOOK, "its epoch is over, and it notes nothing; "),
]


@pytest.mark.parametrize(("model", "state", "step", "words"), SENTENCES)
def test_a_step_is_a_sentence(model: Any, state: State, step: str, words: str) -> None:
    action, arguments = bound(model, step)

    assert words in model.narration.sentence(
        action.name, arguments, state, after(model, state, step)
    )


def test_a_summary_shows_what_is_checked_and_not_noted() -> None:
    assert ("Checked by r0", "r1's fetch from offset 1, out of date") in FRESH.narration.summary(
        in_epoch_2(FRESH)
    )
    assert BY_REPLICA.narration.rows(checked(BY_REPLICA))[2][-1] == "checked, answer, HW 0"


def test_an_exchange_at_once_is_still_possible() -> None:
    state = BY_REPLICA.initial[0]
    for step in exchange(1):
        state = after(BY_REPLICA, state, step)

    assert state.booking_from == NO_REPLICA


@pytest.mark.parametrize("model", ALL, ids=named)
def test_a_fetch_is_noted_also_where_its_sender_leads_by_then(model: Any) -> None:
    leads = after(model, edited(checked(model), epoch=1, leader=1), "Learn replica=1")
    booked = after(model, leads, BOOK)

    assert (booked.role[1], booked.known_isr[1]) == (LEADER, leads.known_isr[1])
    assert (booked.remote_leo[0, 1], booked.booking_from) == (1, NO_REPLICA)
