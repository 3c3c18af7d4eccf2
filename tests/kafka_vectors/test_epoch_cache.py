"""The epoch cache: LeaderEpochFileCacheTest, LeaderEpochIntegrationTest, LogTest.

The model has no cache but a log. An assignment is here a record of that epoch at that offset, or,
at the end of the log, a leader of that epoch that has written nothing. Kafka's test sets the log
end offset apart from the assignments, in places before the last of them; here a log ends behind it.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.kafka_vectors import (
    UNDEFINED,
    Cache,
    Vector,
    cache_of,
    calls,
    epochs_of,
    partition,
    rules_at,
    take,
    write,
)
from waterline.model.message.epochs import epoch_at, latest_epoch
from waterline.model.message.metadata import take_up
from waterline.model.message.terms import FETCHING, LEADER, NO_EPOCH, NO_ROLE, UNKNOWN_OFFSET
from waterline.model.message.truncation import end_offset_for, truncate

KIP_101, KIP_279 = ("0.11.0.2",), ("2.0.0",)
OLD = KIP_101 + KIP_279
NEW = ("2.0.1", "2.7.0", "3.8.0")
EVERY = OLD + NEW


def of(method: str, test: str = "LeaderEpochFileCacheTest") -> str:
    return f"{test}.{method}"


def answers(
    method: str, tags: tuple[str, ...], cache: Cache, end: int, asked: int, says: tuple[int, int]
) -> Vector:
    return Vector(test=of(method), tags=tags, given=(cache, end, asked), says=says)


THREE = [(1, 11), (2, 13), (3, 15)]
GAPS = [(0, 10), (2, 13), (4, 17)]
FROM_FIVE = [(5, 11), (6, 12), (7, 13)]
RECEIVED = [(0, 0), (1, 3), (2, 6)]
TRACKS = "shouldIncreaseAndTrackEpochsAsFollowerReceivesManyMessages"
LESS = "shouldReturnUnsupportedIfRequestedEpochLessThanFirstEpoch"
NEXT = "shouldReturnNextAvailableEpochIfThereIsNoExactEpochForTheOneRequested"
NOT_TRACKED = "shouldReturnInvalidOffsetIfEpochIsRequestedWhichIsNotCurrentlyTracked"
OF_NO_EPOCH = "shouldReturnUnsupportedIfNoEpochRecordedAndUndefinedEpochRequested"
BEFORE = "shouldTruncateIfMatchingEpochButEarlierStartingOffset"

ENDS = [
    answers("shouldAddEpochAndMessageOffsetToCache", EVERY, [(2, 10)], 11, 2, (2, 11)),
    answers("shouldReturnLogEndOffsetIfLatestEpochRequested", EVERY, [(2, 11)], 14, 2, (2, 14)),
    answers(
        "shouldReturnUndefinedOffsetIfUndefinedEpochRequested",
        EVERY,
        [(2, 11), (3, 12)],
        13,
        NO_EPOCH,
        UNDEFINED,
    ),
    answers("shouldReturnUnsupportedIfNoEpochRecorded", EVERY, [], 0, 0, UNDEFINED),
    answers(OF_NO_EPOCH, KIP_279 + NEW, [], 73, NO_EPOCH, UNDEFINED),
    answers(LESS, OLD, FROM_FIVE, 14, 4, UNDEFINED),
    answers(
        "shouldReturnFirstEpochIfRequestedEpochLessThanFirstEpoch", NEW, FROM_FIVE, 14, 4, (4, 11)
    ),
    # What is left in the cache once epoch 7 has been given an earlier start.
    answers(BEFORE, NEW, [(5, 11), (7, 12)], 13, 5, (5, 12)),
    answers(BEFORE, NEW, [(5, 11), (7, 12)], 13, 6, (5, 12)),
    answers(
        "shouldGetFirstOffsetOfSubsequentEpochWhenOffsetRequestedForPreviousEpoch",
        EVERY,
        THREE,
        17,
        2,
        (2, 15),
    ),
    answers(NEXT, EVERY, GAPS, 18, 1, (0, 13)),
    answers(NEXT, EVERY, GAPS, 18, 2, (2, 17)),
    answers(NEXT, KIP_279 + NEW, GAPS, 18, 3, (2, 17)),
    answers(NOT_TRACKED, EVERY, [(2, 100)], 101, 3, UNDEFINED),
    answers("shouldSupportEpochsThatDoNotStartFromZero", EVERY, [(2, 6)], 7, 2, (2, 7)),
    answers(TRACKS, EVERY, [(0, 0)], 3, 0, (0, 3)),
    answers(TRACKS, EVERY, RECEIVED[:2], 6, 1, (1, 6)),
    answers(TRACKS, EVERY, RECEIVED, 9, 2, (2, 9)),
    answers(TRACKS, EVERY, RECEIVED, 9, 0, (0, 3)),
    answers(TRACKS, EVERY, RECEIVED, 9, 1, (1, 6)),
    answers("shouldFetchEndOffsetOfEmptyCache", EVERY, [], 0, 7, UNDEFINED),
]

BOUNCED = "shouldIncreaseLeaderEpochBetweenLeaderRestarts"
INTEGRATION = "LeaderEpochIntegrationTest"


def bounced(cache: Cache, end: int, asked: int, says: tuple[int, int]) -> Vector:
    return Vector(test=of(BOUNCED, INTEGRATION), tags=EVERY, given=(cache, end, asked), says=says)


TWICE = [(0, 0), (2, 1), (4, 2)]
ENDS += [
    Vector(
        test=of("shouldSendLeaderEpochRequestAndGetAResponse", INTEGRATION),
        tags=EVERY,
        given=([(0, 0)], records, 0),
        says=(0, records),
    )
    for records in (10, 30, 20)
]
ENDS += [
    bounced([(0, 0)], 1, 0, (0, 1)),
    bounced(TWICE[:2], 2, 0, (0, 1)),
    bounced(TWICE[:2], 2, 2, (2, 2)),
    bounced(TWICE, 3, 0, (0, 1)),
    bounced(TWICE, 3, 2, (2, 2)),
    bounced(TWICE, 3, 4, (4, 3)),
    # Appended there to the same test: shouldSupportRequestsForEpochsNotOnTheLeader.
    bounced(TWICE, 3, 1, (0, 1)),
    bounced(TWICE, 3, 3, (2, 2)),
    bounced(TWICE, 3, 5, UNDEFINED),
]


@pytest.mark.parametrize(("vector", "tag"), calls(ENDS))
def test_where_an_epoch_ends(vector: Vector, tag: str) -> None:
    """Given a cache, the log's end and the epoch asked for; 0.11 answers with the offset alone."""
    cache, end, asked = vector.given
    s = write(partition(role=[NO_ROLE]), 0, cache, end)
    answer = end_offset_for(s, rules_at(tag), 0, asked)

    assert answer[1] == vector.says[1]
    assert tag in KIP_101 or answer == vector.says


BACKWARDS, FORWARDS = (
    "shouldNotLetEpochGoBackwardsEvenIfMessageEpochsDo",
    "shouldEnforceMonotonicallyIncreasingEpochs",
)
AGAIN = [(1, 5), (2, 6), (1, 7)]


def again(method: str, tags: tuple[str, ...], what: str, says: Any) -> Vector:
    return Vector(test=of(method), tags=tags, given=what, says=says)


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            again(BACKWARDS, OLD, "latest", 2),
            again(BACKWARDS, OLD, "end of 1", 6),
            again(BACKWARDS, OLD, "end of 2", 8),
            again(BACKWARDS, OLD, "entries", [(1, 5), (2, 6)]),
            again(FORWARDS, NEW, "latest", 1),
            again(FORWARDS, NEW, "end of 1", 8),
            again(FORWARDS, NEW, "end of 2", UNKNOWN_OFFSET),
            again(FORWARDS, NEW, "entries", [(1, 7)]),
        ]
    ),
)
def test_an_epoch_that_comes_back_after_a_later_one(vector: Vector, tag: str) -> None:
    """A record of epoch 1 at 5, of epoch 2 at 6, and of epoch 1 at 7."""
    c = rules_at(tag)
    s = write(partition(role=[NO_ROLE]), 0, AGAIN, 8)
    found = {
        "latest": latest_epoch(s, c, 0),
        "end of 1": end_offset_for(s, c, 0, 1)[1],
        "end of 2": end_offset_for(s, c, 0, 2)[1],
        "entries": cache_of(s, c, 0),
    }

    assert found[vector.given] == vector.says


CUT = [(2, 6), (3, 8), (4, 11)]


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=of(method), tags=EVERY, given=at, says=left)
            for method, at, left in (
                ("shouldDropEntriesOnEpochBoundaryWhenRemovingLatestEntries", 8, CUT[:1]),
                ("shouldDropEntriesBetweenEpochBoundaryWhenRemovingNewest", 9, CUT[:2]),
                ("shouldClearAllEntries", 0, []),
            )
        ]
    ),
)
def test_what_a_truncation_leaves_in_the_cache(vector: Vector, tag: str) -> None:
    c = rules_at(tag)
    s = write(partition(role=[LEADER, FETCHING]), 1, CUT, 12)
    truncate(s, c, 1, vector.given)

    assert cache_of(s, c, 1) == vector.says
    assert latest_epoch(s, c, 1) == (vector.says[-1][0] if vector.says else NO_EPOCH)


AT_THE_END = ("2.7.0", "2.8.1"), "LogTest"
AT_THE_END_SINCE_3 = ("3.8.0",), "UnifiedLogTest"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=of("testTruncateToEndOffsetClearsEpochCache", test),
                tags=tags,
                given=given,
                says=[(19, 27)],
            )
            for tags, test in (AT_THE_END, AT_THE_END_SINCE_3)
            for given in ((20, 29), (24, 30))
        ]
    ),
)
def test_a_truncation_that_cuts_nothing_removes_an_epoch_that_has_no_record(
    vector: Vector, tag: str
) -> None:
    """KAFKA-10706. Two records of epoch 19 from 27 on; it has led in a later epoch, unwritten."""
    led_in, at = vector.given
    c = rules_at(tag)
    s = write(partition(cached_epoch={1: led_in}), 1, [(19, 27)], 29)
    before = cache_of(s, c, 1)
    truncate(s, c, 1, at)

    assert before == [(19, 27), (led_in, 29)]
    assert cache_of(s, c, 1) == vector.says
    assert s.leo[1] == 29


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=of("shouldFetchEpochForGivenOffset"), tags=("3.8.0",), given=at, says=epoch)
            for at, epoch in ((25, 1), (20, 1), (30, 5), (50, 5), (5, NO_EPOCH))
        ]
    ),
)
def test_the_epoch_of_a_record(vector: Vector, tag: str) -> None:
    s = write(partition(), 0, [(0, 10), (1, 20), (5, 30)], 51)

    assert epoch_at(s, 0, vector.given) == vector.says


MANY = "shouldIncreaseAndTrackEpochsAsLeadersChangeManyTimes"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            *(
                Vector(test=of(MANY), tags=NEW, given=(moment, asked), says=says)
                for moment, asked, says in (
                    ("leads in 1", 1, (1, 0)),
                    ("leads in 1", 0, (0, 0)),
                    ("has written 5", 0, (0, 0)),
                    ("has written 10", 0, (0, 0)),
                )
            ),
            *(
                Vector(test=of(MANY), tags=EVERY, given=(moment, asked), says=says)
                for moment, asked, says in (
                    ("has written 5", 1, (1, 5)),
                    ("has written 10", 2, (2, 10)),
                    ("has written 10", 1, (1, 5)),
                )
            ),
        ]
    ),
)
def test_a_leader_through_several_epochs(vector: Vector, tag: str) -> None:
    """It leads in epochs 0 and 1 before it writes; up to 2.0.0 such epochs have no entry here."""
    c = rules_at(tag)
    moment, asked = vector.given
    s = partition(replicas=1)
    take_up(s, c, 0, 0, 1, 0b1)
    if moment != "leads in 1":
        take(s, c, *["Produce 0"] * 5)
    if moment == "has written 10":
        take_up(s, c, 0, 0, 2, 0b1)
        take(s, c, *["Produce 0"] * 5)
    answer = end_offset_for(s, c, 0, asked)

    assert answer[1] == vector.says[1]
    assert tag in KIP_101 or answer == vector.says


MAKES_LEADER = "testMakeLeaderUpdatesEpochCache"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=of(MAKES_LEADER, "PartitionTest"),
                tags=("2.1.0", "2.4.0", "2.7.0", "3.8.0"),
                given=([(0, 0), (5, 2)], 4, 8),
                says=(8, 4),
            ),
            Vector(
                test=of("shouldEnforceMonotonicallyIncreasingStartOffsets"),
                tags=NEW,
                given=([], 9, 3),
                says=(3, 9),
            ),
        ]
    ),
)
def test_a_new_leader_has_an_entry_at_the_end_of_its_log(vector: Vector, tag: str) -> None:
    """Given a cache, the log's end and the epoch in which the replica becomes leader.

    In the second it led in the epoch before, and had written nothing in that.
    """
    cache, end, epoch = vector.given
    c = rules_at(tag)
    s = write(partition(known_epoch=[epoch - 1]), 0, cache, end)
    before = cache_of(s, c, 0)
    take_up(s, c, 0, 0, epoch, 0b11)

    assert before == [*cache, (epoch - 1, end)]
    assert cache_of(s, c, 0) == [*cache, vector.says]
    assert end_offset_for(s, c, 0, epoch) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=of("shouldApplyEpochToMessageOnAppendIfLeader", "LogTest"),
                tags=("0.11.0.2", "2.0.1", "2.8.1"),
                given=(50, 72),
                says=72,
            ),
            Vector(
                test=of(
                    "shouldAddCurrentLeaderEpochToMessagesAsTheyAreWrittenToLeader", INTEGRATION
                ),
                tags=("0.11.0.2", "2.0.1", "3.8.0"),
                given=(4, 1),
                says=1,
            ),
        ]
    ),
)
def test_a_leader_writes_its_epoch_into_records(vector: Vector, tag: str) -> None:
    records, epoch = vector.given
    s = partition(replicas=1, known_epoch=[epoch])
    take(s, rules_at(tag), *["Produce 0"] * records)

    assert epochs_of(s, 0) == [vector.says] * records
