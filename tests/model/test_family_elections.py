"""Who is elected once the ISR may be empty, who no longer may be, what a consumer is told."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import Changes, after, changed_by, edited, model_of
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.terms import (
    NO_EPOCH,
    NO_ROLE,
)

# Elections from the ELR.

ELR = model_of("elr", replicas=3, min_insync_replicas=2, session_expiries=1)
TRIO = ELR.initial[0]


def down(*replicas: int, start: State = TRIO, **fields: Any) -> State:
    """These brokers are down, which the controller has not noticed."""
    return edited(
        start,
        up=dict.fromkeys(replicas, 0),
        role=dict.fromkeys(replicas, NO_ROLE),
        known_epoch=dict.fromkeys(replicas, NO_EPOCH),
        **fields,
    )


@pytest.mark.parametrize(
    ("isr", "elr", "left_isr", "left_elr"),
    [
        pytest.param(0b111, 0, 0b011, 0, id="enough are left"),
        pytest.param(0b101, 0, 0b001, 0b100, id="too few are left"),
        pytest.param(0b101, 0b010, 0b001, 0b110, id="another was eligible before"),
    ],
)
def test_who_leaves_an_isr_that_is_too_small_stays_eligible(
    isr: int, elr: int, left_isr: int, left_elr: int
) -> None:
    changed = changed_by(ELR, down(2, isr=isr, elr=elr), "Fence replica=2")
    eligible: Changes = {"elr": (elr, left_elr)} if elr != left_elr else {}

    assert changed == eligible | {
        "fenced": (0, 0b100),
        "isr": (isr, left_isr),
        "outdated[0]": (0, 1),
    }


def test_an_isr_that_is_large_enough_again_empties_the_elr() -> None:
    state = edited(TRIO, isr=0b001, elr=0b110, known_isr={0: 0b001}, pending_isr={0: 0b011})
    grown = after(ELR, state, "AlterPartition leader=0")

    assert (grown.isr, grown.elr) == (0b011, 0)


def test_an_isr_that_grows_and_is_still_too_small_keeps_the_others_eligible() -> None:
    model = model_of("elr", replicas=3, min_insync_replicas=3)
    state = edited(TRIO, isr=0b001, elr=0b110, known_isr={0: 0b001}, pending_isr={0: 0b011})
    grown = after(model, state, "AlterPartition leader=0")

    assert (grown.isr, grown.elr) == (0b011, 0b100)


def test_the_first_eligible_is_elected_where_the_isr_is_empty_and_is_all_of_it() -> None:
    assert changed_by(ELR, down(0, isr=0b001, elr=0b110), "Fence replica=0") == {
        "fenced": (0, 0b001),
        "isr": (0b001, 0b010),
        "elr": (0b110, 0b101),
        "leader": (0, 1),
        "epoch": (0, 1),
    }


def test_nobody_is_elected_from_the_elr_while_the_isr_has_a_member() -> None:
    """Under KRaft without a member that may lead; here one that is fenced and not yet taken out."""
    state = edited(TRIO, leader=-1, isr=0b001, elr=0b010, fenced=0b101)

    assert after(ELR, state, "Register replica=2").leader == -1


def test_where_nobody_eligible_is_up_nobody_leads_and_the_isr_is_empty() -> None:
    assert changed_by(ELR, down(0, isr=0b001, elr=0b010, fenced=0b010), "Fence replica=0") == {
        "fenced": (0b010, 0b011),
        "isr": (0b001, 0),
        "elr": (0b010, 0b011),
        "leader": (0, -1),
        "epoch": (0, 1),
    }


def test_an_unclean_election_is_of_the_first_that_is_up_and_empties_the_elr() -> None:
    model = model_of("elr", replicas=3, min_insync_replicas=2, unclean_leader_election=True)

    assert changed_by(model, down(0, isr=0b001, elr=0b010, fenced=0b010), "Fence replica=0") == {
        "fenced": (0b010, 0b011),
        "isr": (0b001, 0b100),
        "elr": (0b010, 0),
        "leader": (0, 2),
        "epoch": (0, 1),
    }


NOBODY = down(0, 1, 2, isr=0, elr=0b011, fenced=0b111, leader=-1)


def test_an_eligible_broker_that_shut_down_properly_leads_when_it_comes_back() -> None:
    assert changed_by(ELR, NOBODY, "Restart replica=1") == {
        "up[1]": (0, 1),
        "fenced": (0b111, 0b101),
        "isr": (0, 0b010),
        "elr": (0b011, 0b001),
        "leader": (-1, 1),
        "epoch": (0, 1),
    }


def test_an_eligible_broker_that_crashed_is_eligible_no_more() -> None:
    assert changed_by(ELR, edited(NOBODY, unclean={1: 1}), "Restart replica=1") == {
        "up[1]": (0, 1),
        "fenced": (0b111, 0b101),
        "elr": (0b011, 0b001),
        "unclean[1]": (1, 0),
    }


def test_a_broker_that_was_not_eligible_is_not_when_it_comes_back() -> None:
    assert changed_by(ELR, NOBODY, "Restart replica=2") == {
        "up[2]": (0, 1),
        "fenced": (0b111, 0b011),
    }


# Elections of the last known leader.

KAFKA_4 = model_of("elr-with-last-known-leader", replicas=3, min_insync_replicas=2)
CRASHED = edited(NOBODY, elr=0b001, unclean={0: 1, 1: 1, 2: 1}, last_leader=0)
"""r0 led last; all have crashed."""


def test_who_led_is_remembered_as_the_isr_becomes_empty() -> None:
    alone = down(0, isr=0b001, elr=0b010, fenced=0b010)

    assert changed_by(KAFKA_4, alone, "Fence replica=0")["last_leader"] == (-1, 0)
    assert "last_leader" not in changed_by(ELR, alone, "Fence replica=0")


def test_who_led_is_forgotten_where_somebody_is_elected_in_the_same_step() -> None:
    elected = after(KAFKA_4, down(0, isr=0b001, elr=0b110), "Fence replica=0")

    assert (elected.leader, elected.last_leader) == (1, -1)


def test_the_last_known_leader_is_elected_once_isr_and_elr_are_empty() -> None:
    assert changed_by(KAFKA_4, CRASHED, "Restart replica=0") == {
        "up[0]": (0, 1),
        "fenced": (0b111, 0b110),
        "isr": (0, 0b001),
        "elr": (0b001, 0),
        "unclean[0]": (1, 0),
        "leader": (-1, 0),
        "last_leader": (0, -1),
        "epoch": (0, 1),
    }


@pytest.mark.parametrize(
    ("step", "fields"),
    [
        pytest.param("Restart replica=0", {"elr": 0b011}, id="somebody is eligible still"),
        pytest.param("Restart replica=1", {"elr": 0}, id="another comes back"),
        pytest.param("Restart replica=0", {"elr": 0, "last_leader": 1}, id="another led last"),
    ],
)
def test_the_last_known_leader_is_not_elected_while(step: str, fields: dict[str, Any]) -> None:
    kept = after(KAFKA_4, edited(CRASHED, **fields), step)

    assert kept.leader == -1
    assert kept.last_leader == fields.get("last_leader", 0)


def test_the_last_known_leader_that_is_up_is_elected_as_the_elr_becomes_empty() -> None:
    waiting = edited(CRASHED, elr=0b010, fenced=0b110, up={0: 1}, unclean={0: 0})

    assert after(KAFKA_4, waiting, "Restart replica=1").leader == 0


def test_the_last_known_leader_comes_before_an_unclean_election() -> None:
    options = {"replicas": 3, "min_insync_replicas": 2, "unclean_leader_election": True}
    unclean = model_of("elr-with-last-known-leader", **options)
    last = edited(CRASHED, last_leader=2, fenced=0b111, elr=0)

    assert after(unclean, last, "Restart replica=0").leader == 0
    waiting = edited(last, up={0: 1, 2: 1}, unclean={0: 0, 2: 0}, fenced=0b111)
    registered = after(
        model_of("elr-with-last-known-leader", **options, session_expiries=1),
        edited(waiting, fenced=0b110),
        "Register replica=2",
    )
    assert registered.leader == 2


def test_the_longest_log_wins_an_unclean_election_where_that_is_asked() -> None:
    options = {"replicas": 3, "unclean_leader_election": True}
    state = down(0, isr=0b001, leo={1: 0, 2: 1}, log={(2, 0): 1}, produced=1)

    assert after(model_of("kip320", **options), state, "Fence replica=0").leader == 1
    longest = model_of("kip320-with-longest-log", **options)
    assert after(longest, state, "Fence replica=0").leader == 2
    assert after(longest, edited(state, leo={1: 1}, log={(1, 0): 1}), "Fence replica=0").leader == 1


# A consumer.

READS = model_of("kip320", consumer=True, records=3)
BLIND = model_of("kip320-without-consumer-validation", consumer=True, records=3)
READ = edited(
    READS.initial[0], leo=[2], log=[[1, 2]], produced=3, hw=[2], consumed=1, last_consumed=1
)


@pytest.mark.parametrize("model", [READS, BLIND], ids=["validates", "goes by the offset"])
def test_a_consumer_reads_the_record_at_its_offset(model: Model) -> None:
    first = edited(READ, consumed=0, last_consumed=0)

    assert changed_by(model, READ, "Consume leader=0") == {
        "consumed": (1, 2),
        "last_consumed": (1, 2),
    }
    assert changed_by(model, first, "Consume leader=0") == {
        "consumed": (0, 1),
        "last_consumed": (0, 1),
    }


PARTED = edited(READ, log=[[3, 2]])
"""What the consumer read last is not in this leader's log."""


def test_with_kip_320_a_consumer_is_told_and_begins_again() -> None:
    assert changed_by(READS, PARTED, "Consume leader=0") == {
        "consumed": (1, 0),
        "last_consumed": (1, 0),
    }


def test_without_it_a_consumer_reads_on_over_what_it_has_never_seen() -> None:
    assert changed_by(BLIND, PARTED, "Consume leader=0") == {"misread": (0, 1)}


# What a change of the partition means to whoever leads, and to whom it means nothing.


def test_that_a_leader_is_out_of_date_says_nothing_more_once_another_epoch_has_begun() -> None:
    model = model_of("elr", replicas=3, moves=1)
    state = edited(TRIO, outdated={0: 1})

    assert changed_by(model, state, "Move replica=1") == {
        "moves_used": (0, 1),
        "epoch": (0, 1),
        "leader": (0, 1),
        "outdated[0]": (1, 0),
    }


def test_only_the_leader_of_this_epoch_is_outdated_by_a_change_within_it() -> None:
    deposed = down(2, epoch=1, leader=1)

    assert changed_by(ELR, deposed, "Fence replica=2") == {
        "fenced": (0, 0b100),
        "isr": (0b111, 0b011),
    }


def test_with_unclean_election_a_member_of_the_isr_goes_first_all_the_same() -> None:
    model = model_of("kip320", replicas=3, unclean_leader_election=True)

    assert after(model, down(0, isr=0b101), "Fence replica=0").leader == 2


def test_where_nobody_leads_the_last_in_sync_can_leave_no_isr() -> None:
    model = model_of("kraft", replicas=3)

    assert changed_by(model, down(1, leader=-1, isr=0b010, epoch=1), "Fence replica=1") == {
        "fenced": (0, 0b010)
    }


@pytest.mark.parametrize(
    "fields",
    [{"fenced": 0b100}, {"up": {2: 0}, "role": {2: NO_ROLE}}],
    ids=["taken for down", "down and not noticed"],
)
def test_the_longest_log_of_one_that_is_not_up_does_not_count(fields: dict[str, Any]) -> None:
    model = model_of("kip320-with-longest-log", replicas=3, unclean_leader_election=True)
    state = edited(down(0, isr=0b001), leo={2: 1}, log={(2, 0): 1}, produced=1, **fields)

    assert after(model, state, "Fence replica=0").leader == 1
