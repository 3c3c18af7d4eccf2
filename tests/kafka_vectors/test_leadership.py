"""Brokers that hear of the partition again: PartitionTest, ReplicaManagerTest."""

from __future__ import annotations

import pytest

from tests.support.kafka_vectors import (
    Cache,
    Vector,
    calls,
    is_enabled,
    partition,
    rules_at,
    take,
    write,
)
from waterline.model.message.epochs import epoch_start
from waterline.model.message.fetch import observe_fetch
from waterline.model.message.metadata import take_up
from waterline.model.message.terms import FETCHING, TRUNCATING

TEN: Cache = [(4, 0)]
BOTH = ("2.4.0", "2.7.0", "2.8.1", "3.3.0", "3.8.0")

SINCE_3_3 = ("3.3.0", "3.8.0")
WAITS = "the model's high watermark waits for the ISR alone: docs/model.md, what it leaves out"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test="PartitionTest.testHighWatermarkIncreasesWithFencedOrShutdownFollower",
                tags=("3.8.0",),
                kraft=True,
                given=given,
                says=says,
                unlike=unlike,
            )
            for given, says, unlike in (
                ("fenced", 20, ""),
                ("stopping", 20, ""),
                ("", 10, WAITS),
            )
        ]
    ),
)
def test_who_has_left_the_isr_no_longer_holds_the_high_watermark(vector: Vector, tag: str) -> None:
    """Ten records on both, ten more on the leader; then the controller shrinks the ISR."""
    c = rules_at(tag, vector)
    s = partition(epoch=5, known_epoch=[5, 5])
    write(s, 0, TEN, 10)
    take_up(s, c, 0, 0, 5, 0b11)
    observe_fetch(s, c, 0, 1, 10, 0)
    before = s.hw[0]
    take(s, c, *["Produce 0"] * 10)
    if vector.given:
        setattr(s, vector.given, 0b10)
    s.isr, s.outdated[0] = 0b01, 1
    take(s, c, "Learn 0")

    assert before == 10
    assert s.hw[0] == vector.says


NOT_RESET = "PartitionTest.testDoNotResetReplicaStateIfLeaderEpochIsNotBumped"
SAME_START = "PartitionTest.testDoNotUpdateEpochStartOffsetIfLeaderEpochIsNotBumped"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=NOT_RESET, tags=SINCE_3_3, kraft=True, given="made leader", says=-1),
            Vector(test=NOT_RESET, tags=SINCE_3_3, kraft=True, given="fetched", says=0),
            Vector(test=NOT_RESET, tags=SINCE_3_3, kraft=True, given="told again", says=0),
        ]
    ),
)
def test_a_change_within_the_epoch_leaves_what_the_leader_knows(vector: Vector, tag: str) -> None:
    """Commands is what it takes for the follower's log end."""
    c = rules_at(tag, vector)
    s = partition(role=[FETCHING], epoch=8, known_epoch=[7], isr=0b01)
    take_up(s, c, 0, 0, 8, 0b01)
    if vector.given != "made leader":
        observe_fetch(s, c, 0, 1, 0, 0)
    if vector.given == "told again":
        s.outdated[0] = 1
        take(s, c, "Learn 0")

    assert s.remote_leo[0, 1] == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls([Vector(test=SAME_START, tags=SINCE_3_3, kraft=True, given=2, says=0)]),
)
def test_a_change_within_the_epoch_leaves_its_start(vector: Vector, tag: str) -> None:
    c = rules_at(tag, vector)
    s = partition(role=[FETCHING], epoch=8, known_epoch=[7], isr=0b01)
    take_up(s, c, 0, 0, 8, 0b01)
    first = epoch_start(s, 0)
    take(s, c, *["Produce 0"] * vector.given)
    s.outdated[0] = 1
    take(s, c, "Learn 0")

    assert first == vector.says
    assert epoch_start(s, 0) == vector.says


NO_CHANGE = "PartitionTest.testMakeFollowerWithNoLeaderIdChange"
MISSED = "ReplicaManagerTest.testBecomeFollowerWhenLeaderIsUnchangedButMissedLeaderUpdate"
LATER = ("2.1.0", *BOTH)


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=NO_CHANGE, tags=("2.0.1",), given=(1, 3), says=True),
            Vector(test=NO_CHANGE, tags=("2.0.1",), given=(3, 4), says=False),
            Vector(test=NO_CHANGE, tags=("2.0.1",), given=(4, 4), says=False),
            Vector(test=NO_CHANGE, tags=LATER, given=(1, 4), says=True),
            Vector(test=NO_CHANGE, tags=LATER, given=(4, 4), says=False),
            Vector(test=MISSED, tags=("2.0.1", "2.4.0"), given=(1, 3), says=True),
        ]
    ),
)
def test_when_a_follower_of_the_same_leader_truncates(vector: Vector, tag: str) -> None:
    """Given the leader epoch that it knows, and the one that it is told."""
    known, told = vector.given
    c = rules_at(tag)
    s = partition(epoch=told, known_epoch=[told, known])
    if is_enabled(s, c, "Learn 1"):
        take(s, c, "Learn 1")

    assert (s.role[1] == TRUNCATING) == vector.says
    assert s.known_epoch[1] == told
