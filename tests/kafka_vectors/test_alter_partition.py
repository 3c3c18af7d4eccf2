"""The leader asks, the controller answers: ReplicationControlManagerTest, PartitionTest, others.

Replica 0 leads. What it proposes is the ISR in flight.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.kafka_vectors import (
    Vector,
    as_set,
    calls,
    is_enabled,
    members,
    partition,
    rules_at,
    take,
)
from waterline.model.message.fetch import observe_fetch
from waterline.model.message.high_watermark import counted_isr

MANAGER = "ReplicationControlManagerTest"
FOUR = {0, 1, 2, 3}
REFUSED, TAKEN = False, True


def proposes(
    test: str, tags: tuple[str, ...], says: bool, *, isr: set[int], kraft: bool = True, **how: Any
) -> Vector:
    return Vector(test=test, tags=tags, kraft=kraft, given=(isr, how), says=says)


FENCED = f"{MANAGER}.testAlterPartitionShouldRejectFencedBrokers"
STOPPING = f"{MANAGER}.testAlterPartitionShouldRejectShuttingDownBrokers"
STALE = f"{MANAGER}.testAlterPartitionShouldRejectBrokersWithStaleEpoch"
NOT_ADDED = "ControllerIntegrationTest.testShutdownBrokerNotAddedToIsr"
THREE_RELEASES = ("3.3.0", "3.5.0", "3.8.0")


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            proposes(FENCED, THREE_RELEASES, REFUSED, isr={0, 1, 3}, fenced={2}),
            proposes(FENCED, THREE_RELEASES, TAKEN, isr={0, 1, 3}),
            proposes(STOPPING, THREE_RELEASES, REFUSED, isr=FOUR, stopping={2}),
            proposes(STALE, ("3.5.0", "3.8.0"), REFUSED, isr={0, 1, 2}, stale=True),
            proposes(
                NOT_ADDED, ("3.3.0", "3.8.0"), REFUSED, isr={0, 1, 2}, kraft=False, fenced={3}
            ),
            proposes(NOT_ADDED, ("3.3.0", "3.8.0"), TAKEN, isr={0, 1, 2}, kraft=False),
        ]
    ),
)
def test_whether_the_controller_takes_four_as_the_isr(vector: Vector, tag: str) -> None:
    """Given the ISR, and who is fenced, stopping, or has registered anew since its fetch.

    INELIGIBLE_REPLICA leaves the ISR as it was, and nothing in flight.
    """
    isr, how = vector.given
    c = rules_at(tag, vector)
    s = partition(4, isr=as_set(isr), known_isr=[as_set(isr)], pending_isr=[as_set(FOUR)])
    s.fenced, s.stopping = as_set(how.get("fenced", ())), as_set(how.get("stopping", ()))
    s.pending_stale[0] = int(how.get("stale", False))
    take(s, c, "AlterPartition 0")

    after = FOUR if vector.says else isr
    assert (members(s.isr), members(s.known_isr[0]), s.pending_isr[0]) == (after, after, 0)


SHRINK_AND_EXPAND = f"{MANAGER}.testShrinkAndExpandIsr"
IDEMPOTENT = "ControllerIntegrationTest.testIdempotentAlterIsr"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=SHRINK_AND_EXPAND, tags=THREE_RELEASES, kraft=True, given=given, says=says)
            for given, says in (([{0, 1}], {0, 1}), ([{0, 1}, {0, 1, 2}], {0, 1, 2}))
        ]
        + [Vector(test=IDEMPOTENT, tags=("2.7.0", "2.8.1"), given=[{0, 1, 2}], says={0, 1, 2})]
    ),
)
def test_what_the_isr_becomes(vector: Vector, tag: str) -> None:
    """Given what the leader of three in sync proposes, one after the other."""
    c = rules_at(tag, vector)
    s = partition(3)
    for isr in vector.given:
        s.known_epoch[0] = s.epoch
        s.known_isr[0] = s.isr
        s.pending_isr[0] = as_set(isr)
        take(s, c, "AlterPartition 0")

    assert members(s.isr) == vector.says


ERRORS = "ControllerIntegrationTest.testAlterPartitionErrors"
INVALID_VERSION = "PartitionTest.testAlterIsrInvalidVersion"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=ERRORS, tags=("3.3.0", "3.8.0"), given={"outdated": [1]}, says=False),
            Vector(test=ERRORS, tags=("3.3.0", "3.8.0"), given={"epoch": 1}, says=False),
            Vector(test=ERRORS, tags=("3.3.0", "3.8.0"), given={}, says=True),
            Vector(
                test=INVALID_VERSION,
                tags=("2.7.0", "2.8.1", "3.3.0", "3.8.0"),
                given={"outdated": [1]},
                says=False,
            ),
        ]
    ),
)
def test_a_leader_that_knows_less_stays_with_what_it_has_asked_for(
    vector: Vector, tag: str
) -> None:
    """INVALID_UPDATE_VERSION, or FENCED_LEADER_EPOCH; told is whether its change can be taken."""
    c = rules_at(tag)
    s = partition(isr=0b01, known_isr=[0b01], pending_isr=[0b11], **vector.given)
    taken = is_enabled(s, c, "AlterPartition 0")

    assert taken == vector.says
    assert members(s.known_isr[0]) == {0}
    assert members(counted_isr(s, c, 0)) == {0, 1}


SINGLE = "PartitionTest.testSingleInFlightAlterIsr"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=SINGLE, tags=("2.7.0", "3.3.0", "3.8.0"), given=given, says={0, 1, 2})
            for given in ("added",)
        ]
    ),
)
def test_there_is_one_change_of_the_isr_at_a_time(vector: Vector, tag: str) -> None:
    """Replica 2 is asked to be added; until the answer nobody is found lagging."""
    c = rules_at(tag)
    s = partition(3, isr=0b011, known_isr=[0b011], leo=[10], remote_leo={(0, 1): 3}, hw=[3])
    lagging = is_enabled(s, c, "ShrinkIsr 0 1")
    observe_fetch(s, c, 0, 2, 10, 0)

    assert lagging
    assert not is_enabled(s, c, "ShrinkIsr 0 1")
    assert members(counted_isr(s, c, 0)) == vector.says


BUMP, NO_BUMP = "testIsrChangeAndLeaderBump", "testIsrChangeDoesntBumpLeaderEpoch"
TRIGGER, EXPANSION = "testTriggerLeaderEpochBumpIfNeeded", "testNoLeaderEpochBumpOnIsrExpansion"
BUILDER = "PartitionChangeBuilderTest"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=f"{BUILDER}.{method}", tags=tags, kraft=True, given=(before, to), says=says)
            for method, tags, before, to, says in (
                (BUMP, ("3.3.0", "3.5.0"), {0, 1, 2}, {0, 1}, 1),
                (TRIGGER, ("3.3.0", "3.5.0"), {0, 1, 2}, {0, 1}, 1),
                (TRIGGER, ("3.6.0", "3.7.0"), {0, 1, 2}, {0, 1}, 0),
                (TRIGGER, ("3.3.0", "3.5.0", "3.6.0", "3.7.0"), {0, 1, 2}, FOUR, 0),
                (NO_BUMP, ("3.6.0", "3.7.0", "3.8.0"), {0, 1, 2}, {0, 1}, 0),
                ("testNoLeaderEpochBumpOnIsrShrink", ("3.8.0",), {0, 1, 2}, {0, 1}, 0),
                (EXPANSION, ("3.8.0",), {0, 1, 2}, FOUR, 0),
            )
        ]
    ),
)
def test_whether_a_change_of_the_isr_starts_an_epoch(vector: Vector, tag: str) -> None:
    """KAFKA-15021. Given the ISR, and the one proposed."""
    before, to = vector.given
    c = rules_at(tag, vector)
    s = partition(4, isr=as_set(before), known_isr=[as_set(before)], pending_isr=[as_set(to)])
    take(s, c, "AlterPartition 0")

    assert s.epoch == vector.says
    assert members(s.isr) == to


LOOKS = (
    "since 3.3 a leader asks for nobody who is fenced, stopping or gone by its own metadata "
    "(Partition.isReplicaIsrEligible); in the model it asks, and is refused"
)
INELIGIBLE = "PartitionTest.testIsrNotExpandedIfReplicaIsFencedOrShutdown"
IN_SHUTDOWN = "PartitionTest.testIsrNotExpandedIfReplicaIsInControlledShutdown"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=test,
                tags=("3.3.0", "3.8.0"),
                kraft=kraft,
                given=(how, moment),
                says=says,
                unlike=LOOKS if moment == "fetched again" else "",
            )
            for test, kraft, how in (
                (INELIGIBLE, True, "fenced"),
                (INELIGIBLE, False, "fenced"),
                (IN_SHUTDOWN, True, "stopping"),
            )
            for moment, says in (
                ("fetched", {0, 1}),
                ("refused", {0}),
                ("fetched again", {0}),
                ("back", {0, 1}),
            )
        ]
    ),
)
def test_a_follower_that_may_not_join_yet(vector: Vector, tag: str) -> None:
    """Commands is the maximal ISR of a leader of ten records that is alone in the ISR."""
    how, moment = vector.given
    c = rules_at(tag, vector)
    s = partition(isr=0b01, known_isr=[0b01], leo=[10], hw=[10])
    if moment != "back":
        setattr(s, how, 0b10)
        observe_fetch(s, c, 0, 1, 10, 0)
    if moment in {"refused", "fetched again"}:
        take(s, c, "AlterPartition 0")
    if moment in {"fetched again", "back"}:
        observe_fetch(s, c, 0, 1, 10, 0)

    assert members(s.known_isr[0]) == {0}
    assert members(counted_isr(s, c, 0)) == vector.says
