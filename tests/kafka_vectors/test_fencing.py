"""Requests of another leader epoch: PartitionTest, AbstractFetcherThreadTest, ReplicaManagerTest.

Replica 0 is asked, replica 1 asks. A request without any epoch, which Kafka takes, is one of an
older protocol and has no counterpart.
"""

from __future__ import annotations

import pytest

from tests.support.kafka_vectors import (
    Vector,
    calls,
    do_work,
    is_enabled,
    partition,
    rules_at,
    take,
    write,
)
from waterline.model.message.fetch import takes_fetch
from waterline.model.message.terms import (
    ANSWERED,
    FETCHING,
    IDLE,
    LEADER,
    PARKED,
    TRUNCATING,
    UNKNOWN_OFFSET,
)
from waterline.model.message.truncation import can_offset_for_leader_epoch

OLDER, SAME, NEWER = 4, 5, 6
"""The epoch of the request, where the leader's is 5."""
SINCE_2_1 = ("2.1.0", "2.4.0", "2.8.1")
ALWAYS = (*SINCE_2_1, "3.3.0", "3.8.0")
SINCE_3 = ("3.3.0", "3.8.0")
PARTITION, ABSTRACT = "PartitionTest", "AbstractFetcherThreadTest"


WITHIN_A_SESSION = (
    "until 2.5 a fetch within a session, which all but the first are, has lost the leader epoch "
    "that Kafka's test gives it (KAFKA-9338); in the model every fetch is one of these"
)
IN_SESSIONS, FENCED = SINCE_2_1[:2], SINCE_2_1[2:]


def epochs(
    method: str, tags: tuple[str, ...], role: int, *, unfenced: bool = False
) -> list[Vector]:
    """Fenced, no error, unknown leader epoch; one that does not lead is no leader for the same."""
    return [
        Vector(
            test=f"{PARTITION}.{method}",
            tags=tags,
            given=(role, epoch),
            says=role == LEADER and epoch == SAME,
            unlike=WITHIN_A_SESSION if unfenced and epoch != SAME else "",
        )
        for epoch in (OLDER, SAME, NEWER)
    ]


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            *epochs("testReadRecordEpochValidationForLeader", IN_SESSIONS, LEADER, unfenced=True),
            *epochs("testReadRecordEpochValidationForLeader", FENCED, LEADER),
            *epochs("testReadRecordEpochValidationForFollower", SINCE_2_1, FETCHING),
            *epochs("testLeaderEpochValidationOnLeader", SINCE_3, LEADER),
            *epochs("testLeaderEpochValidationOnFollower", SINCE_3, FETCHING),
        ]
    ),
)
def test_whose_fetch_is_taken(vector: Vector, tag: str) -> None:
    role, epoch = vector.given
    s = partition(role=[role], known_epoch=[SAME])

    assert takes_fetch(s, rules_at(tag), 0, 1, epoch) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            *epochs("testOffsetForLeaderEpochValidationForLeader", ALWAYS, LEADER),
            *epochs("testOffsetForLeaderEpochValidationForFollower", ALWAYS, FETCHING),
        ]
    ),
)
def test_whose_question_is_answered(vector: Vector, tag: str) -> None:
    role, epoch = vector.given
    s = partition(role=[role, TRUNCATING], known_epoch=[SAME, epoch])

    assert can_offset_for_leader_epoch(s, rules_at(tag), 1) == vector.says


SNAPSHOT = "testFetchOffsetSnapshotEpochValidationForLeader"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            *epochs(SNAPSHOT, IN_SESSIONS, LEADER, unfenced=True),
            *epochs(SNAPSHOT, (*FENCED, *SINCE_3), LEADER),
        ]
    ),
)
def test_whose_parked_fetch_is_answered(vector: Vector, tag: str) -> None:
    role, epoch = vector.given
    c = rules_at(tag, parked_fetches=True)
    s = partition(role=[role], known_epoch=[SAME, epoch], fetch={1: PARKED})
    take(s, c, "WakeParked 1")

    assert s.fetch[1] == (ANSWERED if vector.says else IDLE)


TWO = [(0, 0)]


def told(
    method: str,
    given: tuple[int, int],
    says: tuple[int, int],
    tags: tuple[str, ...] = (*SINCE_2_1, "3.8.0"),
    unlike: str = "",
) -> Vector:
    return Vector(test=f"{ABSTRACT}.{method}", tags=tags, given=given, says=says, unlike=unlike)


def refused(method: str, given: tuple[int, int], says: tuple[int, int]) -> list[Vector]:
    """As `describe`, of a fetch that Kafka refuses for its epoch."""
    return [
        told(method, given, says, IN_SESSIONS, WITHIN_A_SESSION),
        told(method, given, says, (*FENCED, "3.8.0")),
    ]


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            told("testSimpleFetch", (0, 0), (2, 2)),
            told("testFencedTruncation", (1, 0), (0, 0)),
            told("testUnknownLeaderEpochInTruncation", (0, 1), (0, 0)),
            told("testUnknownLeaderEpochInTruncation", (1, 1), (2, 2)),
        ]
    ),
)
def test_what_a_new_follower_gets(vector: Vector, tag: str) -> None:
    """Given the leader's epoch and the follower's; told are the follower's LEO and HW.

    The leader has two records, both committed. Kafka's test has one in its second class of cases.
    """
    leaders, followers = vector.given
    c = rules_at(tag)
    s = partition(
        role=[LEADER, TRUNCATING],
        epoch=leaders,
        known_epoch=[leaders, followers],
        hw=[2],
        isr=0b01,
        known_isr=[0b01],
    )
    write(s, 0, TWO, 2)
    do_work(s, c)

    assert (s.leo[1], s.hw[1]) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            *refused("testFencedFetch", (1, 0), (2, 0)),
            *refused("testUnknownLeaderEpochWhileFetching", (0, 1), (1, 0)),
            told("testUnknownLeaderEpochWhileFetching", (1, 1), (2, 1)),
        ]
    ),
)
def test_what_a_follower_gets_when_the_leaders_epoch_has_changed(vector: Vector, tag: str) -> None:
    """Commands are the follower's LEO, and whether its fetch was taken.

    In the first it has both records of the leader; in the others one of the two.
    """
    leaders, followers = vector.given
    end, taken = vector.says
    c = rules_at(tag)
    s = partition(epoch=1, known_epoch=[leaders, followers])
    write(s, 0, TWO, 2)
    write(s, 1, TWO, end - taken)
    take(s, c, "SendFetch 1", "LeaderFetch 1")
    answered = is_enabled(s, c, "RecvFetch 1")
    if answered:
        take(s, c, "RecvFetch 1")

    assert answered == bool(taken)
    assert s.leo[1] == end


READ_FAILS = "ReplicaManagerTest.testFollowerStateNotUpdatedIfLogReadFails"
FULL = ("2.7.0", "3.8.0")


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=READ_FAILS, tags=tags, given=given, says=says, unlike=unlike)
            for tags, given, says, unlike in (
                (("2.4.0", *FULL), None, UNKNOWN_OFFSET, ""),
                (("2.4.0", *FULL), (SAME, 0), 0, ""),
                (("2.4.0",), (OLDER, 3), 0, WITHIN_A_SESSION),
                (FULL, (OLDER, 3), 0, ""),
            )
        ]
    ),
)
def test_what_the_leader_takes_for_the_followers_log_end(vector: Vector, tag: str) -> None:
    """Before any fetch, after one from 0, and after one from 3 that is fenced."""
    c = rules_at(tag)
    s = partition(epoch=SAME, known_epoch=[SAME, SAME])
    write(s, 0, [(SAME, 0)], 5)
    if vector.given is not None:
        take(s, c, "SendFetch 1", "LeaderFetch 1", "RecvFetch 1")
        epoch, end = vector.given
        if epoch != SAME:
            s.known_epoch[1], s.leo[1] = epoch, end
            take(s, c, "SendFetch 1", "LeaderFetch 1")

    assert s.remote_leo[0, 1] == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test="ReplicaManagerTest.testDeltaToFollowerCompletesFetch",
                tags=("3.3.0", "3.8.0"),
                kraft=True,
                given=1,
                says=IDLE,
            )
        ]
    ),
)
def test_a_parked_fetch_is_refused_once_the_broker_follows(vector: Vector, tag: str) -> None:
    """NOT_LEADER_OR_FOLLOWER."""
    c = rules_at(tag, vector, parked_fetches=True)
    s = partition(epoch=1, leader=1, fetch={1: PARKED})
    take(s, c, f"Learn {1 - vector.given}", "WakeParked 1")

    assert s.role[0] == TRUNCATING
    assert s.fetch[1] == vector.says
