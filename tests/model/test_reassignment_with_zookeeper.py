"""Reassignment with ZooKeeper: what the controller writes, what brokers delete, what is lost."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.support.states import after, bound, edited, exchange, is_enabled, model_of, run
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.terms import NO_REPLICA, NO_ROLE

R0, R1, R2 = 1, 2, 4
ALL = R0 | R1 | R2
UNTIL_2_3, FROM_2_4, FROM_2_7 = "kip320-code", "kip320", "kip320-with-alter-partition"


def three_brokers(version: str, **options: Any) -> Model:
    """Broker 0 alone is a replica at first."""
    sizes = {"replicas": 3, "assigned": 1, "records": 1, "epochs": 4, "moves": 1}
    return model_of(version, **sizes | {"reassignments": 2} | options)


def asked(follower: int) -> tuple[str, ...]:
    """A follower that is new learns of its leader and finds out where to cut its log."""
    return (f"Learn replica={follower}", f"OffsetForLeaderEpoch follower={follower}")


def members(model: Model, start: State, *followers: int) -> State:
    """They join the ISR of broker 0."""
    state = run(model, "Learn replica=0", start=start)
    for follower in followers:
        state = run(model, *asked(follower), *exchange(follower), start=state)
    return state


# --- the controller's writes ---------------------------------------------------------------------


class Kafka:
    """KafkaController of 3.9.0 by its lists: the partition's state in ZooKeeper, and who lives."""

    def __init__(self, state: State) -> None:
        self.replicas, self.adding, self.removing, self.isr = (
            [r for r in range(3) if members >> r & 1]
            for members in (state.assigned, state.adding, state.removing, state.isr)
        )
        self.leader = state.leader
        self.live = [r for r in range(3) if not (state.fenced | state.stopping) >> r & 1]

    def reassign_to(self, target: list[int]) -> None:
        """ReplicaAssignment.reassignTo, then updateCurrentReassignment."""
        origin = [r for r in self.replicas if r not in self.adding]
        full = sorted({*target, *origin})
        unneeded = [r for r in self.replicas if r not in full]
        self.replicas = full
        self.adding = [r for r in full if r not in origin]
        self.removing = [r for r in full if r not in target]
        self.stop(unneeded)
        if not (self.adding or self.removing) or set(target) <= set(self.isr):
            self.complete()

    def complete(self) -> None:
        """Steps B1 to B7 of onPartitionReassignment."""
        target = [r for r in self.replicas if r not in self.removing]
        removed = self.removing
        self.replicas, self.adding, self.removing = target, [], []
        if self.leader not in target or self.leader not in self.live:
            electable = [r for r in target if r in self.live and r in self.isr]
            self.leader = electable[0] if electable else self.leader
        self.stop(removed)

    def stop(self, replicas: list[int]) -> None:
        """ReplicaStateMachine: OfflineReplica for each (doRemoveReplicasFromIsr)."""
        for replica in replicas:
            if replica in self.isr:
                self.leader = -1 if replica == self.leader else self.leader
                if len(self.isr) > 1:
                    self.isr = [r for r in self.isr if r != replica]

    def is_written_in(self, state: State) -> bool:
        written = [self.replicas, self.adding, self.removing, self.isr]
        sets = [sum(1 << r for r in members) for members in written]
        found = [state.assigned, state.adding, state.removing, state.isr]
        return sets == found and self.leader == state.leader


def states(model: Model) -> list[State]:
    """States of a partition whose leader is in the ISR, the ISR among the replicas."""
    drawn = random.Random(1)
    found = []
    while len(found) < 2_000:
        adding, removing, isr, fenced = (drawn.randrange(8) for _ in range(4))
        assigned = drawn.randrange(1, 8)
        adding, removing, isr = adding & assigned, removing & assigned & ~adding, isr & assigned
        leader = drawn.choice([r for r in range(3) if isr >> r & 1] or [NO_REPLICA])
        if not isr or assigned & ~adding == 0 or assigned & ~removing == 0:
            continue
        leader = NO_REPLICA if fenced >> leader & 1 else leader
        values = {"assigned": assigned, "adding": adding, "removing": removing, "isr": isr}
        found.append(edited(model.initial[0], **values, leader=leader, fenced=fenced))
    return found


def test_the_controller_writes_what_kafka_writes() -> None:
    model = three_brokers(FROM_2_4)
    taken = 0
    for state in states(model):
        for step in [f"Reassign targets={targets}" for targets in range(8)]:
            if is_enabled(model, state, step):
                kafka = Kafka(state)
                kafka.reassign_to([r for r in range(3) if int(step[-1]) >> r & 1])
                assert kafka.is_written_in(after(model, state, step))
                taken += 1
        if is_enabled(model, state, "CancelReassignment"):
            kafka = Kafka(state)
            kafka.reassign_to([r for r in kafka.replicas if r not in kafka.adding])
            assert kafka.is_written_in(after(model, state, "CancelReassignment"))
        if is_enabled(model, state, "CompleteReassignment"):
            kafka = Kafka(state)
            kafka.complete()
            assert kafka.is_written_in(after(model, state, "CompleteReassignment"))
    assert taken > 2_000


def test_a_replica_that_is_added_begins_an_epoch_under_the_same_leader() -> None:
    model = three_brokers(FROM_2_4)
    state = run(model, f"Reassign targets={R1}")

    assert (state.assigned, state.adding, state.removing) == (R0 | R1, R1, R0)
    assert (state.leader, state.epoch, state.isr) == (0, 1, R0)
    assert not is_enabled(model, state, "CompleteReassignment")


def test_it_ends_by_a_step_of_its_own_where_the_leader_writes_the_isr() -> None:
    model = three_brokers(FROM_2_4)
    state = members(model, run(model, f"Reassign targets={R1}"), 1)
    ended = after(model, state, "CompleteReassignment")

    assert (state.isr, state.assigned) == (R0 | R1, R0 | R1)
    assert (ended.assigned, ended.isr, ended.leader, ended.epoch) == (R1, R1, 1, 2)


def test_since_2_7_it_ends_with_the_alter_partition_that_brings_the_last_target() -> None:
    model = three_brokers(FROM_2_7)
    state = members(model, run(model, f"Reassign targets={R1}"), 1)
    ended = after(model, state, "AlterPartition leader=0")

    assert (ended.assigned, ended.isr, ended.leader, ended.epoch) == (R1, R1, 1, 2)
    assert ended.known_isr[0] == R0 | R1


@pytest.mark.parametrize(
    ("version", "steps"), [(UNTIL_2_3, [False, False]), (FROM_2_4, [True, True])]
)
def test_only_since_2_4_one_that_is_under_way_is_replaced_or_cancelled(
    version: str, steps: list[bool]
) -> None:
    model = three_brokers(version)
    state = run(model, f"Reassign targets={R1}")

    assert is_enabled(model, state, f"Reassign targets={R2}") is steps[0]
    assert ("CancelReassignment" in model.contents) is steps[1]


def test_who_is_added_must_be_alive_and_before_2_4_every_target() -> None:
    for version, may_stay in ((UNTIL_2_3, False), (FROM_2_4, True)):
        model = three_brokers(version, assigned=2)
        dead = edited(model.initial[0], fenced=R1)

        assert is_enabled(model, dead, f"Reassign targets={ALL}") is may_stay
        assert not is_enabled(model, edited(dead, fenced=R2), f"Reassign targets={ALL}")


def test_replacing_one_takes_leadership_from_who_is_added_no_more() -> None:
    model = three_brokers(FROM_2_4)
    state = members(model, run(model, f"Reassign targets={R1 | R2}"), 1)
    state = run(model, "Move replica=1", start=state)
    replaced = after(model, state, f"Reassign targets={R2}")

    assert (replaced.leader, replaced.isr) == (NO_REPLICA, R0)
    assert (replaced.assigned, replaced.adding, replaced.removing) == (R0 | R2, R2, R0)


# --- brokers -------------------------------------------------------------------------------------


def test_only_a_broker_that_the_controller_takes_for_alive_is_asked_to_delete_its_log() -> None:
    model = model_of("hw", replicas=2, records=1, reassignments=2, restarts=1)
    state = run(model, "Produce leader=0", *exchange(1), f"Reassign targets={R0}")
    deleted = after(model, state, "Learn replica=1")
    back = run(model, "Crash replica=1", "Fence replica=1", "Restart replica=1", start=state)

    assert (state.leo[1], deleted.leo[1], deleted.role[1]) == (1, 0, NO_ROLE)
    assert not is_enabled(model, edited(state, fenced=R1), "Learn replica=1")
    assert (back.leo[1], is_enabled(model, back, "Learn replica=1")) == (1, False)


def test_before_3_7_min_insync_replicas_may_be_more_than_the_replicas() -> None:
    for version, accepted in (("kip320", False), ("kip320-with-hw-needs-min-isr", True)):
        model = model_of(version, replicas=2, records=1, reassignments=1, min_insync_replicas=2)
        state = run(model, f"Reassign targets={R0}", "Learn replica=0")

        assert is_enabled(model, state, "Produce leader=0") is accepted


# --- losses --------------------------------------------------------------------------------------

LAST_IN_SYNC = (
    "Move replica=1",
    "Learn replica=1",
    "ShrinkIsr leader=1 follower=0",
    "Produce leader=1",
    "CancelReassignment",
)


def cancelled() -> tuple[Model, State]:
    """Broker 2 is copying yet, 1 leads, 0 lags: a reassignment to 1 and 2 is cancelled."""
    model = three_brokers(FROM_2_4, restarts=1, epochs=5)
    state = members(model, run(model, f"Reassign targets={R1 | R2}"), 1)
    return model, run(model, *LAST_IN_SYNC, start=state)


def test_a_cancellation_deletes_the_only_replica_in_sync() -> None:
    model, state = cancelled()
    lost = after(model, state, "Learn replica=1")

    assert (state.acked, state.isr, state.assigned, state.leader) == (1, R1, R0, NO_REPLICA)
    assert [lost.leo[broker] for broker in range(3)] == [0, 0, 0]


def test_who_was_deleted_is_still_in_the_isr_and_leads_when_it_is_added_again() -> None:
    model, state = cancelled()
    state = run(model, "Learn replica=1", f"Reassign targets={R1}", start=state)

    assert (state.leader, state.isr, state.assigned, state.leo[1]) == (1, R1, R1, 0)


def test_each_step_of_the_controller_is_told() -> None:
    model = three_brokers(FROM_2_4)
    state = members(model, run(model, f"Reassign targets={R1}"), 1)
    action, arguments = bound(model, "CompleteReassignment")
    told = model.narration.sentence(
        action.name, arguments, state, after(model, state, "CompleteReassignment")
    )

    assert told == (
        "The controller completes the reassignment; replicas {r1}, ISR {r1}; r1 is elected leader "
        "of epoch 2."
    )
