"""Who is elected: PartitionLeaderElectionAlgorithmsTest, PartitionChangeBuilderTest, and others.

Replicas are told in the order of assignment: where Kafka's test assigns 2 and 4, these are 0 and 1.
"""

from __future__ import annotations

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
from waterline.model.message.controller import next_leader, take_out
from waterline.model.message.terms import NO_REPLICA

BY_ZOOKEEPER = ("2.0.1", "2.4.0", "2.7.0", "3.8.0")
ALGORITHMS = "PartitionLeaderElectionAlgorithmsTest"
OFFLINE, REASSIGN = "testOfflinePartitionLeaderElection", "testReassignPartitionLeaderElection"
SHUTDOWN, PREFERRED = (
    "testControlledShutdownPartitionLeaderElection",
    "testPreferredReplicaPartitionLeaderElection",
)
NOBODY: set[int] = set()


def elects(
    method: str, isr: set[int], out: set[int], says: int, *, unclean: bool = False
) -> Vector:
    return Vector(
        test=f"{ALGORITHMS}.{method}", tags=BY_ZOOKEEPER, given=(isr, out, unclean), says=says
    )


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            elects(OFFLINE, {0, 1}, {0}, 1),
            elects(f"{OFFLINE}LastIsrOfflineUncleanLeaderElectionDisabled", {0}, {0}, NO_REPLICA),
            elects(
                f"{OFFLINE}LastIsrOfflineUncleanLeaderElectionEnabled", {0}, {0}, 1, unclean=True
            ),
            elects(REASSIGN, {0, 1}, {0}, 1),
            elects(f"{REASSIGN}WithNoLiveIsr", {0}, {0, 1}, NO_REPLICA),
            elects(f"{REASSIGN}WithEmptyIsr", NOBODY, {1}, NO_REPLICA),
            elects(SHUTDOWN, {0, 1}, {0}, 1),
            elects(f"{SHUTDOWN}LastIsrShuttingDown", {0}, {0}, NO_REPLICA),
            elects(f"{SHUTDOWN}AllIsrSimultaneouslyShutdown", {0, 1}, {0, 1}, NO_REPLICA),
        ]
    ),
)
def test_who_leads_next(vector: Vector, tag: str) -> None:
    """Given the ISR, who is down or shutting down, and whether unclean election is on."""
    isr, out, unclean = vector.given
    c = rules_at(tag, unclean_leader_election=unclean)
    s = partition(isr=as_set(isr))

    assert next_leader(s, c, as_set(out)) == vector.says


def moves(method: str, isr: set[int], out: set[int], says: bool) -> Vector:
    return Vector(test=f"{ALGORITHMS}.{method}", tags=BY_ZOOKEEPER, given=(isr, out), says=says)


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            moves(PREFERRED, {0, 1}, NOBODY, True),
            moves(f"{PREFERRED}PreferredReplicaInIsrNotLive", {0}, {0, 1}, False),
            moves(f"{PREFERRED}PreferredReplicaNotInIsrLive", {1}, NOBODY, False),
            moves(f"{PREFERRED}PreferredReplicaNotInIsrNotLive", NOBODY, {0, 1}, False),
            *(
                Vector(
                    test="PartitionChangeBuilderTest.testElectLeader",
                    tags=("3.3.0", "3.8.0"),
                    kraft=True,
                    given=given,
                    says=says,
                )
                for given, says in ((({0, 1, 2}, {2}), True), (({1, 2}, NOBODY), False))
            ),
        ]
    ),
)
def test_whether_leadership_moves_to_the_preferred_replica(vector: Vector, tag: str) -> None:
    """Given the ISR and who is down. Replica 1 leads; the preferred one is replica 0."""
    isr, out = vector.given
    c = rules_at(tag, vector)
    s = partition(3, leader=1, isr=as_set(isr), fenced=as_set(out))
    can_move = is_enabled(s, c, "Move 0")
    if can_move:
        take(s, c, "Move 0")

    assert can_move == vector.says
    assert s.leader == (0 if vector.says else 1)


CONTROLLER = "ControllerIntegrationTest"
ENTIRE = "testLeaderAndIsrWhenEntireIsrOfflineAndUncleanLeaderElection"
EMPTIED = (
    "until 1.1, with unclean election on, the ISR is emptied when its last member dies "
    "(ReplicaStateMachine, KafkaController.removeReplicaFromIsr); the model keeps the member"
)


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{CONTROLLER}.{ENTIRE}{switch}",
                tags=tags,
                given=switch == "Enabled",
                says=(NO_REPLICA, isr, 1),
                unlike=unlike,
            )
            for switch, tags, isr, unlike in (
                ("Disabled", ("0.11.0.2", "1.0.2", "1.1.1", "2.7.0", "3.8.0"), {0}, ""),
                ("Enabled", ("1.1.1", "2.7.0", "3.8.0"), {0}, ""),
                ("Enabled", ("0.11.0.2", "1.0.2"), NOBODY, EMPTIED),
            )
        ]
    ),
)
def test_what_is_left_when_the_only_replica_stops(vector: Vector, tag: str) -> None:
    """Commands are leader, ISR and how many epochs have begun."""
    c = rules_at(tag, unclean_leader_election=vector.given)
    s = partition(1)
    take(s, c, "Crash 0", "Fence 0")

    assert (s.leader, members(s.isr), s.epoch) == vector.says


WITH_OFFLINE = f"{CONTROLLER}.testPreferredReplicaLeaderElectionWithOfflinePreferredReplica"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=WITH_OFFLINE,
                tags=("0.11.0.2", "2.0.1", "2.7.0", "3.8.0"),
                given=0,
                says=(1, 1),
            )
        ]
    ),
)
def test_a_preferred_replica_that_is_down_is_not_made_leader(vector: Vector, tag: str) -> None:
    """Commands are leader and epoch after it has shut down."""
    c = rules_at(tag, shutdowns=1)
    s = partition()
    take(s, c, f"BeginShutdown {vector.given}", f"Stop {vector.given}", f"Fence {vector.given}")

    assert not is_enabled(s, c, f"Move {vector.given}")
    assert (s.leader, s.epoch) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{CONTROLLER}.testControlledShutdown",
                tags=("2.7.0", "3.8.0"),
                given=[2],
                says=(0, {0, 1}),
            ),
            Vector(
                test=f"{CONTROLLER}.testControlledShutdown",
                tags=("2.7.0", "3.8.0"),
                given=[2, 1],
                says=(0, {0}),
            ),
            Vector(
                test="ReplicationControlManagerTest.testProcessBrokerHeartbeatInControlledShutdown",
                tags=("3.3.0", "3.8.0"),
                kraft=True,
                given=[0],
                says=(1, {1, 2}),
            ),
        ]
    ),
)
def test_who_leads_and_is_in_sync_once_brokers_shut_down(vector: Vector, tag: str) -> None:
    c = rules_at(tag, vector, replicas=3, shutdowns=1)
    s = partition(3)
    take(s, c, *(f"BeginShutdown {broker}" for broker in vector.given))

    assert (s.leader, members(s.isr)) == vector.says


# Under KRaft.

BUILDER, MANAGER = "PartitionChangeBuilderTest", "ReplicationControlManagerTest"
SINCE_3_3 = ("3.3.0", "3.8.0")


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{BUILDER}.{method}",
                tags=SINCE_3_3,
                kraft=True,
                given=(isr, out, unclean),
                says=says,
            )
            for method, isr, out, unclean, says in (
                ("testElectLeader", {2}, {2}, False, NO_REPLICA),
                ("testUncleanLeaderElection", {2}, {0, 2}, False, NO_REPLICA),
                ("testUncleanSetsLeaderRecoveringState", {1, 2}, {1, 2}, False, NO_REPLICA),
            )
        ]
        + [
            Vector(
                test=f"{BUILDER}.{method}",
                tags=("3.8.0",),
                rules="3.9",
                kraft=True,
                given=(isr, out, True),
                says=says,
            )
            for method, isr, out, says in (
                ("testElectLeader", {2}, {2}, 0),
                ("testElectLeader", {1, 2}, {2}, 1),
                ("testUncleanLeaderElection", {2}, {0, 2}, 1),
                ("testUncleanSetsLeaderRecoveringState", {1, 2}, {1, 2}, 0),
            )
        ]
    ),
)
def test_whom_the_quorum_controller_elects(vector: Vector, tag: str) -> None:
    """Given the ISR, who is not acceptable, and whether the election may be unclean."""
    isr, out, unclean = vector.given
    c = rules_at(tag, vector, unclean_leader_election=unclean)
    s = partition(3, leader=NO_REPLICA, isr=as_set(isr), fenced=as_set(out))

    assert next_leader(s, c, s.fenced) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=f"{BUILDER}.{method}", tags=SINCE_3_3, kraft=True, given=leaves, says=says)
            for method, leaves, says in (
                ("testIsrChangeAndLeaderChange", 1, (0, {0, 2})),
                ("testElectLeader", 2, (1, {0, 1})),
            )
        ]
    ),
)
def test_a_leader_is_elected_where_the_leader_leaves_the_isr(vector: Vector, tag: str) -> None:
    """Replica 1 leads three in sync, of which replica 2 is not acceptable; given who leaves.

    Commands are leader and ISR.
    """
    s = partition(3, leader=1, fenced=0b100)
    take_out(s, rules_at(tag, vector), vector.given)

    assert (s.leader, members(s.isr)) == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{MANAGER}.testFenceMultipleBrokers",
                tags=SINCE_3_3,
                kraft=True,
                given=fenced,
                says=says,
            )
            for fenced, says in (([1, 2], (0, {0})), ([0, 1], (2, {2})), ([1], (0, {0, 2})))
        ]
        + [
            Vector(
                test=f"{MANAGER}.testRemoveLeaderships",
                tags=SINCE_3_3,
                kraft=True,
                given=[0],
                says=(1, {1, 2}),
            )
        ]
    ),
)
def test_who_leads_and_is_in_sync_once_brokers_are_fenced(vector: Vector, tag: str) -> None:
    """Given which replicas of three are fenced, one after the other."""
    c = rules_at(tag, vector, replicas=3, session_expiries=3)
    s = partition(3)
    take(s, c, *(f"SessionExpiry {replica}" for replica in vector.given))

    assert (s.leader, members(s.isr)) == vector.says


NOT_UNCLEAN = f"{MANAGER}.testPreferredElectionDoesNotTriggerUncleanElection"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(
                test=f"{MANAGER}.testElectUncleanLeaders",
                tags=("3.3.0",),
                rules="3.9",
                kraft=True,
                given=True,
                says=(1, {1}),
            ),
            Vector(
                test=f"{MANAGER}.testElectUncleanLeaders_WithoutElr",
                tags=("3.8.0",),
                rules="3.9",
                kraft=True,
                given=True,
                says=(1, {1}),
            ),
            Vector(test=NOT_UNCLEAN, tags=SINCE_3_3, kraft=True, given=False, says=(-1, {0})),
        ]
    ),
)
def test_who_leads_once_one_from_outside_the_isr_is_back(vector: Vector, tag: str) -> None:
    """Three replicas are fenced, the leader last, and the second comes back.

    Given whether an unclean election is asked for, which is here the topic's setting.
    """
    c = rules_at(tag, vector, replicas=3, session_expiries=3, unclean_leader_election=vector.given)
    s = partition(3)
    take(s, c, *(f"SessionExpiry {replica}" for replica in (1, 2, 0)))
    before = (s.leader, members(s.isr))
    take(s, c, "Register 1")

    assert before == (NO_REPLICA, {0})
    assert not is_enabled(s, c, "Move 0")
    assert (s.leader, members(s.isr)) == vector.says
