"""Where a follower truncates: ReplicaFetcherThreadTest, AbstractFetcherThreadTest, PartitionTest.

Replica 0 leads, replica 1 follows. What Kafka's tests mock, a follower's own log is here given
such an epoch cache that it says what the mock says.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.kafka_vectors import (
    UNDEFINED,
    Cache,
    Vector,
    calls,
    do_work,
    epochs_of,
    is_enabled,
    partition,
    rules_at,
    take,
    write,
)
from waterline.model.message.environment import Environment
from waterline.model.message.fetch import is_out_of_range
from waterline.model.message.settings import settings_of
from waterline.model.message.terms import DIVERGING, FETCHING, LEADER, REQUESTED, TRUNCATING
from waterline.model.message.truncation import (
    carried_epoch,
    diverges,
    end_offset_for,
    to_high_watermark,
    truncation_point,
)
from waterline.model.message.versions import version_of

KIP_101 = ("0.11.0.2",)
BY_EPOCHS = ("2.0.0", "2.0.1", "2.4.0", "2.7.0")
ON_FETCH = ("2.8.1", "3.3.0", "3.8.0")
FETCHER, ABSTRACT = "ReplicaFetcherThreadTest", "AbstractFetcherThreadTest"
SINCE_2_1 = ("2.1.0", "2.4.0", "2.7.0", "2.8.1", "3.8.0")
DONE, ASKS_AGAIN = 1, 0


def cuts(
    method: str,
    tags: tuple[str, ...],
    own: tuple[Cache, int, int],
    answer: tuple[int, int],
    says: tuple[int, int],
) -> Vector:
    return Vector(test=f"{FETCHER}.{method}", tags=tags, given=(own, answer), says=says)


SPECIFIED = "shouldTruncateToOffsetSpecifiedInEpochOffsetResponse"
NO_MORE = f"{SPECIFIED}IfFollowerHasNoMoreEpochs"
SECOND_TIME = "shouldFetchLeaderEpochSecondTimeIfLeaderRepliesWithEpochNotKnownToFollower"
NOT_KNOWN = "shouldTruncateIfLeaderRepliesWithDivergingEpochNotKnownToFollower"
INITIAL = "shouldTruncateToInitialFetchOffsetIfLeaderReturnsUndefinedOffset"
TO_HW = "shouldTruncateToHighWatermarkIfLeaderReturnsUndefinedOffset"
ANY_EXCEPTION = "shouldPollIndefinitelyIfLeaderReturnsAnyException"
MADE_LEADER = "shouldFilterPartitionsMadeLeaderDuringLeaderEpochRequest"
LATER = (*BY_EPOCHS[1:], *ON_FETCH)
EVERY = (*KIP_101, *BY_EPOCHS, *ON_FETCH)

OF_5 = ([(5, 0)], 200, 199)
OF_3_AND_5 = ([(3, 0), (5, 120)], 200, 198)

POINTS = [
    cuts(SPECIFIED, EVERY, OF_5, (5, 156), (156, DONE)),
    cuts(SPECIFIED, EVERY, OF_5, (5, 172), (172, DONE)),
    # In 2.0.0 a log has no end for an epoch before its first; later none for one after its last.
    cuts(NO_MORE, BY_EPOCHS[:1], OF_5, (4, 156), (156, DONE)),
    cuts(NO_MORE, BY_EPOCHS[:1], OF_5, (4, 202), (200, DONE)),
    cuts(NO_MORE, LATER, ([], 200, 197), (4, 156), (156, DONE)),
    cuts(NO_MORE, LATER, ([], 200, 197), (4, 202), (200, DONE)),
    cuts(SECOND_TIME, (*BY_EPOCHS, *ON_FETCH), OF_3_AND_5, (4, 155), (120, ASKS_AGAIN)),
    cuts(SECOND_TIME, (*BY_EPOCHS, *ON_FETCH), OF_3_AND_5, (4, 143), (120, ASKS_AGAIN)),
    cuts(SECOND_TIME, (*BY_EPOCHS, *ON_FETCH), ([(3, 0)], 120, 120), (3, 101), (101, DONE)),
    cuts(SECOND_TIME, (*BY_EPOCHS, *ON_FETCH), ([(3, 0)], 120, 120), (3, 102), (102, DONE)),
    cuts(NOT_KNOWN, ON_FETCH, ([(4, 0), (5, 149)], 200, 115), (4, 140), (140, DONE)),
    cuts(NOT_KNOWN, ON_FETCH, ([(4, 0), (5, 149)], 200, 115), (4, 141), (141, DONE)),
    cuts(NOT_KNOWN, ON_FETCH, ([(2, 0), (4, 129)], 140, 115), (3, 130), (129, ASKS_AGAIN)),
    cuts(NOT_KNOWN, ON_FETCH, ([(2, 0), (4, 129)], 141, 115), (3, 131), (129, ASKS_AGAIN)),
    cuts(NOT_KNOWN, ON_FETCH, ([(1, 0), (4, 119)], 129, 115), (2, 120), (119, ASKS_AGAIN)),
    cuts(NOT_KNOWN, ON_FETCH, ([(1, 0), (4, 119)], 129, 115), (2, 121), (119, ASKS_AGAIN)),
    cuts(TO_HW, KIP_101, ([(5, 0)], 300, 100), UNDEFINED, (100, DONE)),
    cuts(INITIAL, (*BY_EPOCHS, *ON_FETCH), ([(5, 0)], 300, 100), UNDEFINED, (100, DONE)),
    cuts(ANY_EXCEPTION, EVERY, ([(5, 0)], 300, 100), (5, 156), (156, DONE)),
    cuts(MADE_LEADER, EVERY, ([(5, 0)], 100, 98), (5, 49), (49, DONE)),
    Vector(
        test=f"{ABSTRACT}.testTruncationOnFetchSkippedIfPartitionRemoved",
        tags=("2.8.1", "3.8.0"),
        given=(([(0, 0), (2, 1), (4, 2)], 3, 2), (4, 3)),
        says=(3, DONE),
    ),
    Vector(
        test=f"{ABSTRACT}.testTruncateToHighWatermarkIfLeaderEpochInfoNotAvailable",
        tags=("2.4.0", "2.7.0"),
        given=(([], 3, 2), UNDEFINED),
        says=(2, DONE),
    ),
]


@pytest.mark.parametrize(("vector", "tag"), calls(POINTS))
def test_where_a_follower_cuts_on_hearing_where_an_epoch_ends(vector: Vector, tag: str) -> None:
    """Given its own cache, LEO and HW, and the answer; told is whether that was the last cut."""
    (cache, end, high_watermark), answer = vector.given
    s = write(partition(hw={1: high_watermark}), 1, cache, end)

    assert truncation_point(s, rules_at(tag), 1, *answer) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{ABSTRACT}.testTruncateToHighWatermarkIfLeaderEpochRequestNotSupported",
                tags=("2.4.0", "2.7.0", "3.8.0"),
                given=3,
                says=2,
            )
        ]
    ),
)
def test_brokers_that_know_no_epoch_question_truncate_to_the_high_watermark(
    vector: Vector, tag: str
) -> None:
    """Which is how they speak to each other below inter.broker.protocol.version 0.11."""
    c = settings_of(Environment(), version_of("hw"))
    s = write(partition(hw={1: 2}), 1, [(0, 0), (2, 1), (4, 2)], vector.given)
    to_high_watermark(s, c, 1)

    assert s.leo[1] == vector.says
    assert not is_enabled(s, c, "OffsetForLeaderEpoch 1")


FIRST_FETCH_ONLY = "shouldFetchLeaderEpochOnFirstFetchOnly"
KNOWN_TO_BOTH = f"{FIRST_FETCH_ONLY}IfLeaderEpochKnownToBoth"
NOT_WITH_FETCH = "shouldNotFetchLeaderEpochOnFirstFetchWithTruncateOnFetch"


def rounds(method: str, tags: tuple[str, ...], says: list[int]) -> list[Vector]:
    """What the test counts after each of three rounds: the questions sent so far."""
    return [
        Vector(
            test=f"{FETCHER}.{method}",
            tags=tags,
            given=number,
            says=(questions, number),
        )
        for number, questions in enumerate(says, start=1)
    ]


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            *rounds(FIRST_FETCH_ONLY, KIP_101, [1, 1, 1]),
            *rounds(KNOWN_TO_BOTH, BY_EPOCHS, [1, 1, 1]),
            *rounds(NOT_WITH_FETCH, ON_FETCH, [0, 0, 0]),
        ]
    ),
)
def test_how_often_a_follower_asks_before_it_fetches(vector: Vector, tag: str) -> None:
    c = rules_at(tag)
    s = partition(epoch=5, known_epoch=[5, 5], role=[LEADER, TRUNCATING])
    write(s, 0, [(5, 0)], 1)
    write(s, 1, [(5, 0)], 1)
    sent = [do_work(s, c) for _ in range(vector.given)]

    assert tuple(map(sum, zip(*sent, strict=True))) == vector.says


LEAVES = "shouldMovePartitionsOutOfTruncatingLogState"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=f"{FETCHER}.{LEAVES}", tags=(*KIP_101, *BY_EPOCHS), given=1, says=says)
            for says in (TRUNCATING, FETCHING)
        ]
    ),
)
def test_a_follower_truncates_until_its_question_is_answered(vector: Vector, tag: str) -> None:
    """Its state before the question, and after; before it does not fetch."""
    c = rules_at(tag)
    s = partition(epoch=4, known_epoch=[4, 4], role=[LEADER, TRUNCATING])
    write(s, 0, [(4, 0)], vector.given)
    fetches = is_enabled(s, c, "SendFetch 1")
    if vector.says == FETCHING:
        take(s, c, "OffsetForLeaderEpoch 1")
        fetches = not is_enabled(s, c, "SendFetch 1")

    assert s.role[1] == vector.says
    assert not fetches


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [Vector(test=f"{FETCHER}.{ANY_EXCEPTION}", tags=(*KIP_101, *BY_EPOCHS), given=4, says=300)]
    ),
)
def test_nothing_is_cut_while_nobody_answers(vector: Vector, tag: str) -> None:
    """The broker that it follows does not lead: four rounds, and then one in which it does."""
    c = rules_at(tag)
    s = partition(epoch=5, known_epoch=[5, 5], role=[FETCHING, TRUNCATING], hw={1: 100})
    write(s, 0, [(5, 0)], 156)
    write(s, 1, [(5, 0)], vector.says)
    sent = [do_work(s, c) for _ in range(vector.given)]
    before = s.leo[1]
    s.role[0] = LEADER
    take(s, c, "OffsetForLeaderEpoch 1")

    assert sent == [(0, 0)] * vector.given
    assert before == vector.says
    assert s.leo[1] == 156


ODD, EVEN = [(1, 0), (3, 1), (5, 2)], [(0, 0), (2, 1), (4, 2)]


def reconciled(s: Any, c: Any) -> int:
    """Rounds until the follower has what the leader has, and knows how much is committed."""
    for number in range(1, 12):
        do_work(s, c)
        if epochs_of(s, 1) == epochs_of(s, 0) and s.hw[1] == s.hw[0]:
            return number
    raise AssertionError("the logs never agreed")


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{ABSTRACT}.testTruncation",
                tags=SINCE_2_1,
                given=(ODD, EVEN),
                says=[1, 3, 5],
            )
        ]
    ),
)
def test_logs_that_have_no_epoch_in_common_are_reconciled(vector: Vector, tag: str) -> None:
    """Given the leader's cache and the follower's, three records each."""
    leads, follows = vector.given
    s = partition(epoch=5, known_epoch=[5, 5], role=[LEADER, TRUNCATING])
    write(s, 0, leads, 3)
    write(s, 1, follows, 3)
    reconciled(s, rules_at(tag))

    assert epochs_of(s, 1) == vector.says
    assert s.hw[1] == s.hw[0]


VALIDATION = "PartitionTest.testLastFetchedOffsetValidation"
LEADERS = [(0, 0), (3, 2), (4, 8), (7, 13), (9, 14)]
OUT_OF_RANGE = "out of range"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=VALIDATION, tags=ON_FETCH, given=(last, offset), says=says)
            for last, offset, says in (
                (2, 5, (0, 2)),
                (0, 4, (0, 2)),
                (6, 6, (4, 13)),
                (5, 9, (4, 13)),
                (10, 18, (10, 17)),
                (0, 2, None),
                (7, 14, None),
                (9, 17, None),
                (10, 17, None),
                (11, 5, OUT_OF_RANGE),
            )
        ]
    ),
)
def test_where_a_leader_sees_that_a_fetch_diverges(vector: Vector, tag: str) -> None:
    """Given the last epoch and the offset of a fetch; told is where the logs part, if they do."""
    last, offset = vector.given
    c = rules_at(tag)
    s = write(partition(known_epoch=[10], epoch=10), 0, LEADERS, 17)
    found: Any = None
    if diverges(s, c, 0, offset, last):
        found = end_offset_for(s, c, 0, last)
    elif is_out_of_range(s, c, 0, offset, last):
        found = OUT_OF_RANGE

    assert found == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{FETCHER}.testTruncateOnFetchDoesNotUpdateHighWatermark",
                tags=("3.8.0",),
                given=(150, 140, 130),
                says=(140, 130),
            )
        ]
    ),
)
def test_truncation_on_fetch_leaves_the_high_watermark(vector: Vector, tag: str) -> None:
    end, cut, high_watermark = vector.given
    c = rules_at(tag)
    s = partition(epoch=6, known_epoch=[6, 6], hw=[150, high_watermark], role=[LEADER, FETCHING])
    write(s, 0, [(4, 0)], cut)
    write(s, 1, [(4, 0), (5, 149)], end)
    take(s, c, "SendFetch 1", "LeaderFetch 1")
    told = s.fetch[1]
    take(s, c, "RecvDiverging 1")

    assert told == DIVERGING
    assert (s.leo[1], s.hw[1]) == vector.says


OUT_OF_RANGE_HIGH = f"{ABSTRACT}.testFollowerFetchOutOfRangeHigh"
KEEPS_HW = (
    "the log that Kafka's test makes for itself lowers the high watermark when it is cut; a "
    "broker's did not before 2.4 (KAFKA-8457, pull request 7055)"
)


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=OUT_OF_RANGE_HIGH, tags=tags, given=3, says=(0, 0), unlike=unlike)
            for tags, unlike in ((SINCE_2_1[:1], KEEPS_HW), (SINCE_2_1[1:], ""))
        ]
    ),
)
def test_a_follower_beyond_its_leaders_log_is_cut_to_it(vector: Vector, tag: str) -> None:
    """The leader has lost everything; told are the follower's LEO and HW."""
    c = rules_at(tag)
    s = partition(epoch=4, known_epoch=[4, 4], hw={1: 2}, role=[LEADER, FETCHING])
    write(s, 1, EVEN, vector.given)
    do_work(s, c)

    assert (s.leo[1], s.hw[1]) == vector.says
    assert s.fetch[1] != REQUESTED


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{ABSTRACT}.testDivergingEpochs",
                tags=("2.8.1", "3.8.0"),
                given=moment,
                says=last_epoch,
            )
            for moment, last_epoch in (("before", 4), ("after a round", 2), ("reconciled", 5))
        ]
    ),
)
def test_the_last_epoch_that_a_follower_has_fetched(vector: Vector, tag: str) -> None:
    c = rules_at(tag)
    s = partition(epoch=5, known_epoch=[5, 5], role=[LEADER, FETCHING])
    write(s, 0, [(0, 0), (2, 1), (5, 2)], 3)
    write(s, 1, EVEN, 3)
    if vector.given == "after a round":
        do_work(s, c)
    elif vector.given == "reconciled":
        reconciled(s, c)

    assert carried_epoch(s, c, 1) == vector.says
