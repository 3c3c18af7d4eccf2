"""Eligible leader replicas: PartitionChangeBuilderTest, ReplicationControlManagerTest (KIP-966).

Kafka's source has them from 3.7 on, and they may be used from 4.0 on: the rules are those of 4.0.
Replicas 1 to 4 of the first test are 0 to 3 here. Of the last known ELR the model keeps what 4.0
does: the last known leader.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.kafka_vectors import (
    Vector,
    as_set,
    calls,
    members,
    partition,
    rules_at,
    take,
)
from waterline.model.message.controller import elect_next
from waterline.model.message.partition_state import write_isr
from waterline.model.message.terms import LEADER, NO_REPLICA

BUILDER, MANAGER = "PartitionChangeBuilderTest", "ReplicationControlManagerTest"
SINCE_3_7 = ("3.7.0", "3.8.0")
NOBODY: set[int] = set()


def eligible(
    test: str, given: Any, says: Any, tags: tuple[str, ...] = SINCE_3_7, unlike: str = ""
) -> Vector:
    return Vector(
        test=test,
        tags=tags,
        kraft=True,
        elr=True,
        rules="4.0",
        given=given,
        says=says,
        unlike=unlike,
    )


def rules(vector: Vector, tag: str, minimum: int = 3) -> Any:
    return rules_at(
        tag, vector, replicas=4, min_insync_replicas=minimum, session_expiries=3, shutdowns=1
    )


def of(method: str, test: str = BUILDER) -> str:
    return f"{test}.testEligibleLeaderReplicas_{method}"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            eligible(of("IsrShrinkBelowMinISR"), ({0, 1, 2, 3}, NOBODY, {0, 1}), {2, 3}),
            eligible(of("IsrExpandAboveMinISR"), ({0, 1}, {2}, {0, 1, 2}), NOBODY),
            eligible(of("IsrAddNewMemberNotInELR"), ({0}, {2}, {0, 3}), {2}),
        ]
    ),
)
def test_the_elr_beside_a_new_isr(vector: Vector, tag: str) -> None:
    """Given ISR, ELR and the next ISR, with min.insync.replicas 3."""
    isr, elr, following = vector.given
    c = rules(vector, tag)
    s = partition(4, isr=as_set(isr), elr=as_set(elr))
    write_isr(s, c, as_set(following))

    assert members(s.elr) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            eligible(of("ShrinkAndExpandIsr", MANAGER), [{0}], {1, 2}),
            eligible(of("ShrinkAndExpandIsr", MANAGER), [{0}, {0, 1}], NOBODY),
        ]
    ),
)
def test_the_elr_as_a_leader_changes_the_isr(vector: Vector, tag: str) -> None:
    """Three replicas, min.insync.replicas 2; given what the leader proposes."""
    c = rules(vector, tag, minimum=2)
    s = partition(3)
    for isr in vector.given:
        s.pending_isr[0] = as_set(isr)
        take(s, c, "AlterPartition 0")

    assert members(s.elr) == vector.says


def fences(replicas: tuple[int, ...]) -> list[str]:
    return [f"SessionExpiry {replica}" for replica in replicas]


def registers(replicas: tuple[int, ...]) -> list[str]:
    return [f"Register {replica}" for replica in replicas]


def dies(replica: int) -> list[str]:
    return [f"Crash {replica}", f"Fence {replica}"]


FENCE, CLEAN, UNCLEAN = (
    of("BrokerFence", MANAGER),
    of("CleanElection", MANAGER),
    of("UncleanShutdown", MANAGER),
)
LAST_THREE = fences((1, 2, 3))


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            eligible(FENCE, fences((2, 3)), (0, {0, 1}, {3})),
            eligible(FENCE, fences((2, 3, 1)), (0, {0}, {1, 3})),
            eligible(FENCE, [*fences((2, 3, 1)), *registers((1, 2, 3))], (0, {0}, {1, 3})),
            eligible(CLEAN, LAST_THREE, (0, {0}, {2, 3})),
            eligible(CLEAN, [*LAST_THREE, *registers((2,)), *fences((0,))], (2, {2}, {0, 3})),
            eligible(UNCLEAN, [*dies(1), *dies(2), *dies(3)], (0, {0}, {2, 3}), tags=("3.8.0",)),
            eligible(
                UNCLEAN,
                [*dies(1), *dies(2), *dies(3), "Restart 3"],
                (0, {0}, {2}),
                tags=("3.8.0",),
            ),
            eligible(
                UNCLEAN,
                [*dies(1), *dies(2), *dies(3), "Restart 3", *dies(0), "Restart 0"],
                (NO_REPLICA, NOBODY, {2}),
                tags=("3.8.0",),
            ),
        ]
    ),
)
def test_the_elr_as_brokers_go_and_come(vector: Vector, tag: str) -> None:
    """Four replicas, min.insync.replicas 3; told are leader, ISR and ELR."""
    s = partition(4)
    take(s, rules(vector, tag), *vector.given)

    assert (s.leader, members(s.isr), members(s.elr)) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            eligible(of("ElrCanBeElected"), ({0}, {2}), (2, {2}, {0}, NO_REPLICA)),
            eligible(
                of("IsrCanShrinkToZero"),
                ({0, 1, 2, 3}, NOBODY),
                (NO_REPLICA, NOBODY, {0, 1, 2, 3}, 0),
            ),
        ]
    ),
)
def test_who_may_be_elected_once_the_isr_is_empty(vector: Vector, tag: str) -> None:
    """Given ISR and ELR; then the whole ISR is unacceptable, and leaves it in one change.

    Commands are leader, ISR, ELR and last known leader.
    """
    isr, elr = vector.given
    c = rules(vector, tag)
    s = partition(4, isr=as_set(isr), elr=as_set(elr), fenced=as_set(isr))
    write_isr(s, c, 0)
    elect_next(s, c)

    assert (s.leader, members(s.isr), members(s.elr), s.last_leader) == vector.says


SHOULD_FAIL = of("ElectLastKnownLeaderShouldFail")


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            eligible(of("ElectLastKnownLeader"), (NOBODY, NOBODY), (0, {0}, NO_REPLICA)),
            eligible(SHOULD_FAIL, ({2}, {2}), (NO_REPLICA, NOBODY, 0)),
        ]
    ),
)
def test_whether_the_last_known_leader_leads_again(vector: Vector, tag: str) -> None:
    """Given the ELR and who is not acceptable; told are leader, ISR and last known leader."""
    elr, out = vector.given
    s = partition(4, leader=NO_REPLICA, isr=0, elr=as_set(elr), fenced=as_set(out), last_leader=0)
    elect_next(s, rules(vector, tag))

    assert (s.leader, members(s.isr), s.last_leader) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls([eligible(of("RemoveUncleanShutdownReplicasFromElr"), (0b1, {1, 2}, 2), {1})]),
)
def test_who_did_not_shut_down_properly_leaves_the_elr(vector: Vector, tag: str) -> None:
    isr, elr, back = vector.given
    s = partition(
        4,
        isr=isr,
        elr=as_set(elr),
        fenced=1 << back,
        up={back: 0},
        role={0: LEADER, back: 0},
        unclean={back: 1},
    )
    take(s, rules(vector, tag), f"Restart {back}")

    assert members(s.elr) == vector.says
