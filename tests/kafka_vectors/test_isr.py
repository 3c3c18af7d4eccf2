"""Who is in sync, and what that commits: IsrExpirationTest, PartitionTest, and a few more.

Replica 0 leads. Time is not modelled: what Kafka finds lagging once replica.lag.time.max.ms is over
may be found lagging at any time, and that it is not before has no counterpart.
"""

from __future__ import annotations

import pytest

from tests.support.kafka_vectors import (
    Cache,
    Vector,
    calls,
    is_enabled,
    members,
    partition,
    rules_at,
    take,
    write,
)
from waterline.model.message.fetch import observe_fetch
from waterline.model.message.high_watermark import counted_isr
from waterline.model.message.isr import can_shrink_isr
from waterline.model.message.metadata import take_up
from waterline.model.message.terms import FETCHING, UNKNOWN_OFFSET

DIRECT = ("2.4.0",)
"""The leader writes the ISR; from 2.7 on it asks for it."""
ASKED = ("2.7.0", "2.8.1", "3.3.0", "3.8.0")
BOTH = (*DIRECT, *ASKED)
TEN: Cache = [(4, 0)]


# Who is taken out.


def lagging(
    method: str,
    tags: tuple[str, ...],
    given: tuple[int, int, int],
    says: bool,
    test: str = "IsrExpirationTest",
) -> Vector:
    return Vector(test=f"{test}.{method}", tags=tags, given=given, says=says)


UP, DOWN = 1, 0
OLD, SINCE_2_1 = ("0.9.0.0", "0.11.0.2", "2.0.1"), ("2.1.0", "2.4.0", "2.7.0", "3.8.0")
STUCK, SLOW = "testIsrExpirationForStuckFollowers", "testIsrExpirationForSlowFollowers"
NO_FETCH, CAUGHT_UP = (
    "testIsrExpirationIfNoFetchRequestMade",
    "testIsrExpirationForCaughtUpFollowers",
)
TO_LOG_END = "testShouldNotShrinkIsrIfFollowerCaughtUpToLogEnd"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            lagging(STUCK, OLD, (15, 15, UP), True),
            lagging(STUCK, OLD, (15, 15, DOWN), True),
            lagging(STUCK, SINCE_2_1, (20, 19, UP), True),
            lagging(NO_FETCH, OLD, (15, 0, UP), True),
            lagging(NO_FETCH, SINCE_2_1, (20, 0, UP), True),
            lagging(SLOW, OLD, (15, 11, UP), True),
            lagging(SLOW, SINCE_2_1, (20, 19, UP), True),
            lagging(SLOW, SINCE_2_1, (20, 20, UP), False),
            lagging(CAUGHT_UP, SINCE_2_1, (20, 20, UP), False),
            lagging(CAUGHT_UP, SINCE_2_1, (20, 20, DOWN), False),
            lagging(TO_LOG_END, BOTH, (10, 10, UP), False, test="PartitionTest"),
        ]
    ),
)
def test_who_may_be_found_lagging(vector: Vector, tag: str) -> None:
    """Given the leader's LEO, what it takes for the follower's, and whether the follower runs.

    Kafka's test does not tell whether it runs: it has sent no fetch, which is all that is known.
    """
    end, reached, up = vector.given
    s = partition(up={1: up}, remote_leo={(0, 1): reached})
    write(s, 0, TEN, end)

    assert can_shrink_isr(s, rules_at(tag), 0, 1) == vector.says


def on_shrinking(
    method: str, tags: tuple[str, ...], **says: tuple[set[int], set[int], int]
) -> list[Vector]:
    """ISR, maximal ISR and HW at each moment that is told."""
    return [
        Vector(test=f"PartitionTest.{method}", tags=tags, given=moment, says=expected)
        for moment, expected in says.items()
    ]


SHRINKS, FAILS = "testMaybeShrinkIsr", "testIsrNotShrunkIfUpdateFails"
ALONE, TWO = {0}, {0, 1}


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            *on_shrinking(SHRINKS, DIRECT, before=(TWO, TWO, 0), shrunk=(ALONE, ALONE, 10)),
            *on_shrinking(SHRINKS, ("2.7.0", "2.8.1"), before=(TWO, TWO, 0), shrunk=(TWO, TWO, 0)),
            *on_shrinking(
                "testRetryShrinkIsr",
                ("3.8.0",),
                before=(TWO, TWO, 0),
                shrunk=(TWO, TWO, 0),
                answered=(ALONE, ALONE, 10),
            ),
            *on_shrinking(FAILS, DIRECT, before=(TWO, TWO, 0), outdated=(TWO, TWO, 0)),
            *on_shrinking(
                FAILS, ASKED, before=(TWO, TWO, 0), shrunk=(TWO, TWO, 0), refused=(TWO, TWO, 0)
            ),
        ]
    ),
)
def test_a_follower_that_never_fetched_leaves_the_isr(vector: Vector, tag: str) -> None:
    """The leader has ten records, and has heard nothing of replica 1.

    Refused is a change by a leader that does not know the newest partition state.
    """
    c = rules_at(tag)
    s = partition(epoch=5, known_epoch=[5, 5])
    write(s, 0, TEN, 10)
    take_up(s, c, 0, 0, 5, 0b11)
    if vector.given == "outdated":
        s.outdated[0] = 1
        assert not is_enabled(s, c, "ShrinkIsr 0 1")
    elif vector.given != "before":
        take(s, c, "ShrinkIsr 0 1")
    if vector.given == "answered":
        take(s, c, "AlterPartition 0")
    elif vector.given == "refused":
        s.outdated[0] = 1
        assert not is_enabled(s, c, "AlterPartition 0")
    isr, maximal, high_watermark = vector.says

    assert members(s.known_isr[0]) == isr
    assert members(counted_isr(s, c, 0)) == maximal
    assert s.hw[0] == high_watermark


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"PartitionTest.{SHRINKS}",
                tags=("3.8.0",),
                kraft=True,
                given=moment,
                says=says,
            )
            for moment, says in (
                ("asked", ({0, 1, 2}, {0, 1, 2}, 0)),
                ("answered", (TWO, TWO, 10)),
            )
        ]
    ),
)
def test_of_two_followers_the_one_that_lags_leaves(vector: Vector, tag: str) -> None:
    """Replica 1 has fetched up to the end of ten records, replica 2 never."""
    c = rules_at(tag, vector)
    s = partition(3, epoch=5, known_epoch=[5, 5, 5])
    write(s, 0, TEN, 10)
    take_up(s, c, 0, 0, 5, 0b111)
    observe_fetch(s, c, 0, 1, 10, 0)
    equal_may_leave = is_enabled(s, c, "ShrinkIsr 0 1")
    take(s, c, "ShrinkIsr 0 2")
    if vector.given == "answered":
        take(s, c, "AlterPartition 0")
    isr, maximal, high_watermark = vector.says

    assert not equal_may_leave
    assert members(s.known_isr[0]) == isr
    assert members(counted_isr(s, c, 0)) == maximal
    assert s.hw[0] == high_watermark


# Who joins.

EXPANDS, NOT_EXPANDED = (
    "PartitionTest.testIsrExpansion",
    "PartitionTest.testIsrNotExpandedIfUpdateFails",
)


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=EXPANDS, tags=BOTH, given=(3, ""), says=(ALONE, ALONE)),
            Vector(test=EXPANDS, tags=DIRECT, given=(10, ""), says=(TWO, TWO)),
            Vector(test=EXPANDS, tags=ASKED, given=(10, ""), says=(ALONE, TWO)),
            Vector(test=EXPANDS, tags=ASKED[1:], given=(10, "answered"), says=(TWO, TWO)),
            Vector(test=NOT_EXPANDED, tags=DIRECT, given=(10, "outdated"), says=(ALONE, ALONE)),
            Vector(test=NOT_EXPANDED, tags=ASKED, given=(10, "refused"), says=(ALONE, TWO)),
        ]
    ),
)
def test_a_follower_that_has_caught_up_joins(vector: Vector, tag: str) -> None:
    """Given a fetch offset and what becomes of the change; told are ISR and maximal ISR."""
    offset, outcome = vector.given
    c = rules_at(tag)
    s = partition(epoch=5, known_epoch=[5, 5], isr=0b01, known_isr=[0b01])
    write(s, 0, TEN, 10)
    take_up(s, c, 0, 0, 5, 0b01)
    s.outdated[0] = int(outcome == "outdated")
    observe_fetch(s, c, 0, 1, offset, 0)
    if outcome == "answered":
        take(s, c, "AlterPartition 0")
    elif outcome == "refused":
        s.outdated[0] = 1
        assert not is_enabled(s, c, "AlterPartition 0")
    isr, maximal = vector.says

    assert s.remote_leo[0, 1] == offset
    assert members(s.known_isr[0]) == isr
    assert members(counted_isr(s, c, 0)) == maximal


WITHIN = "PartitionTest.testFollowerDoesNotJoinISRUntilCaughtUpToOffsetWithinCurrentLeaderEpoch"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=WITHIN,
                tags=("2.0.1", "2.1.0", *DIRECT, "2.7.0", "3.3.0", "3.8.0"),
                given=offset,
                says=says,
            )
            for offset, says in ((0, {0, 2}), (1, {0, 2}), (5, {0, 1, 2}))
        ]
    ),
)
def test_a_follower_joins_once_it_has_reached_the_start_of_the_epoch(
    vector: Vector, tag: str
) -> None:
    """KAFKA-7128. The HW is at 1, and the epoch starts at 5; told is the maximal ISR."""
    c = rules_at(tag)
    s = partition(3, isr=0b101, epoch=8, known_epoch=[7])
    take_up(s, c, 0, 0, 8, 0b101)
    take(s, c, *["Produce 0"] * 5)
    before = s.hw[0]
    observe_fetch(s, c, 0, 2, 0, 0)
    observe_fetch(s, c, 0, 2, 1, 0)
    take_up(s, c, 0, 2, 9, 0b101)
    s.epoch = 10
    take_up(s, c, 0, 0, 10, 0b101)
    take(s, c, "Produce 0", "Produce 0")
    observe_fetch(s, c, 0, 1, vector.given, 0)

    assert (before, s.hw[0]) == (0, 1)
    assert members(counted_isr(s, c, 0)) == vector.says


FETCH_STATE = "PartitionTest.testUpdateFollowerFetchState"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=FETCH_STATE, tags=BOTH, given=given, says=says)
            for given, says in (([], UNKNOWN_OFFSET), ([3], 3), ([3, 6], 6))
        ]
    ),
)
def test_a_leader_takes_the_fetch_offset_for_the_followers_end(vector: Vector, tag: str) -> None:
    c = rules_at(tag)
    s = partition(epoch=5, known_epoch=[4, 4], role=[FETCHING])
    write(s, 0, TEN, 6)
    take_up(s, c, 0, 0, 5, 0b11)
    for offset in vector.given:
        observe_fetch(s, c, 0, 1, offset, 0)

    assert s.remote_leo[0, 1] == vector.says
