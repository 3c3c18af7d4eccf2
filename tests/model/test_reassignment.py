"""Reassignment under KRaft: what the controller writes, what brokers delete, and what is lost."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.states import after, bound, edited, exchange, is_enabled, model_of, run
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model
from waterline.model.message.reassignment import cancel_target, request_target
from waterline.model.message.settings import settings_of
from waterline.model.message.terms import LEADER, NO_EPOCH, NO_REPLICA, NO_ROLE
from waterline.model.message.versions import version_of

R0, R1, R2 = 1, 2, 4
ALL = R0 | R1 | R2
UNTIL_3_7 = "kip903-without-shrink-raises-epoch"
FROM_3_8 = "elr"
FROM_4_3 = "elr-with-completes-when-added-with-shrink-waits-for-targets"
RULES = (UNTIL_3_7, FROM_3_8, FROM_4_3)


def three_brokers(version: str, **options: Any) -> Model:
    """Brokers 0 and 1 are the replicas at first, 2 is none."""
    sizes = {"replicas": 3, "assigned": 2, "records": 1, "epochs": 4, "min_insync_replicas": 2}
    return model_of(version, **sizes | {"reassignments": 2} | options)


def caught_up(model: Model, follower: int, start: State) -> State:
    """The follower has fetched what there is, and the controller has let it into the ISR."""
    state = run(model, f"Learn replica={follower}", *exchange(follower), start=start)
    return run(model, *exchange(follower)[:2], "AlterPartition leader=0", start=state)


# --- the controller's write ----------------------------------------------------------------------


def kafka_completes(
    version: str, isr: list[int], replicas: list[int], adding: list[int], removing: list[int]
) -> tuple[list[int], list[int]] | None:
    """ISR and replicas of PartitionReassignmentReplicas.maybeCompleteReassignment, by lists."""
    if not adding and not removing:
        return None
    left, targets = list(isr), list(replicas)
    if removing:
        left = [r for r in isr if r not in removing]
        targets = [r for r in replicas if r not in removing]
        if not left or not targets:
            return None
    if version == FROM_3_8:
        return (left, targets) if set(left) >= set(targets) else None
    if not set(left) >= set(adding):
        return None
    if version == FROM_4_3 and len(adding) < len(removing) and not set(left) >= set(targets):
        return None
    return left, targets


def as_list(members: int) -> list[int]:
    return [broker for broker in range(3) if members >> broker & 1]


def as_bits(members: list[int]) -> int:
    return sum(1 << broker for broker in members)


@pytest.mark.parametrize("version", RULES)
def test_a_request_writes_what_kafka_writes(version: str) -> None:
    c = settings_of(Environment(replicas=3, reassignments=1), version_of(version))
    tried = 0
    for replicas, isr, adding, removing, targets in product(range(8), repeat=5):
        if (isr | adding | removing) & ~replicas or 0 in (replicas, targets):
            continue
        s = SimpleNamespace(assigned=replicas, isr=isr, adding=adding, removing=removing)
        current, named = as_list(replicas), as_list(targets)
        gone = [r for r in current if r not in named]
        new = [r for r in named if r not in current]
        both = named + gone
        waiting = new or as_list(adding), gone or as_list(removing)
        ended = kafka_completes(version, as_list(isr), both, *waiting)
        expected = (isr, as_bits(both), *map(as_bits, waiting))
        if ended is not None:
            expected = (as_bits(ended[0]), as_bits(ended[1]), 0, 0)

        assert request_target(s, c, targets) == expected
        tried += 1
    assert tried > 5_000


@pytest.mark.parametrize(
    ("isr", "expected"),
    [(R0 | R2, (R0, R0 | R1, 0, 0)), (R2, (R0, R0 | R1, 0, 0)), (R1 | R2, (R1, R0 | R1, 0, 0))],
    ids=["less who was added", "the first of before, uncleanly", "who else was in sync"],
)
def test_a_cancellation_returns_to_the_replicas_of_before(
    isr: int, expected: tuple[int, ...]
) -> None:
    c = settings_of(Environment(replicas=3, reassignments=1), version_of("elr"))
    s = SimpleNamespace(assigned=ALL, isr=isr, adding=R2, removing=0)

    assert cancel_target(s, c) == expected


def test_with_nobody_of_before_in_sync_only_unclean_elections_allow_a_cancellation() -> None:
    clean = three_brokers("elr")
    unclean = three_brokers("elr", unclean_leader_election=True)
    state = edited(clean.initial[0], assigned=ALL, adding=R2, isr=R2, leader=2)

    assert not is_enabled(clean, state, "CancelReassignment")
    assert is_enabled(unclean, state, "CancelReassignment")


def test_a_replica_that_is_only_added_starts_no_epoch_and_outdates_the_leader() -> None:
    model = three_brokers("elr")
    state = after(model, model.initial[0], f"Reassign targets={ALL}")

    assert (state.assigned, state.adding, state.removing) == (ALL, R2, 0)
    assert (state.epoch, state.outdated[0], state.isr) == (0, 1, R0 | R1)


def test_a_leader_that_is_removed_loses_leadership_to_the_first_that_stays() -> None:
    model = three_brokers("elr")
    state = after(model, model.initial[0], f"Reassign targets={R1}")

    assert (state.leader, state.epoch, state.isr, state.assigned) == (1, 1, R1, R1)
    assert state.elr == R0
    assert (state.adding, state.removing) == (0, 0)


def test_an_alter_partition_that_completes_the_removal_of_its_leader_stays_in_flight() -> None:
    model = three_brokers(FROM_4_3)
    state = run(model, f"Reassign targets={R1 | R2}", "Learn replica=0")
    state = caught_up(model, 2, state)

    assert (state.leader, state.isr, state.assigned) == (1, R1 | R2, R1 | R2)
    assert state.role[0] == LEADER
    assert state.pending_isr[0] == ALL


def test_until_4_2_and_since_3_8_a_replica_that_stays_and_lags_keeps_it_going() -> None:
    lagging = ("SendFetch follower=1", "Produce leader=0", "LeaderFetch follower=1")
    shrunk = ("ShrinkIsr leader=0 follower=1", "AlterPartition leader=0")
    ended = []
    for version in RULES:
        model = three_brokers(version)
        state = run(model, *lagging, f"Reassign targets={R1 | R2}", "Learn replica=0", *shrunk)
        state = caught_up(model, 2, state)
        ended.append(state.adding == 0)

    assert ended == [True, False, True]


def test_a_request_fails_where_a_broker_to_be_added_would_be_elected_from_the_elr() -> None:
    model = three_brokers("elr")
    leaderless = edited(model.initial[0], leader=NO_REPLICA, isr=0, elr=R2, fenced=R0 | R1)

    assert not is_enabled(model, leaderless, f"Reassign targets={ALL}")
    assert is_enabled(model, edited(leaderless, fenced=ALL), f"Reassign targets={ALL}")


def test_min_insync_replicas_of_the_controller_goes_by_partition_0_before_the_change() -> None:
    first = model_of("elr", replicas=2, reassignments=2, min_insync_replicas=2)
    other = model_of(
        "elr", replicas=2, reassignments=2, min_insync_replicas=2, first_partition_replicas=2
    )
    alone = run(first, f"Reassign targets={R0}")
    elrs = [after(model, alone, f"Reassign targets={R0 | R1}").elr for model in (first, other)]

    assert alone.elr == R1
    assert elrs == [0, R1]


def sentence(model: Model, before: State, step: str) -> str:
    action, arguments = bound(model, step)
    return model.narration.sentence(action.name, arguments, before, after(model, before, step))


def test_in_any_order_a_removed_leader_leaves_the_choice_to_the_operator() -> None:
    model = three_brokers("elr", election_order="any")
    state = run(model, f"Reassign targets={R1 | R2}", "Learn replica=0", "Learn replica=2")
    state = run(model, *exchange(1), *exchange(2), *exchange(2)[:2], start=state)
    chosen = [f"AlterAndElect leader=0 winner={broker}" for broker in range(3)]

    assert [is_enabled(model, state, step) for step in chosen] == [False, True, True]
    assert not is_enabled(model, state, "AlterPartition leader=0")
    assert after(model, state, chosen[2]).leader == 2
    assert sentence(model, state, chosen[2]) == (
        "The controller accepts r0's AlterPartition for ISR {r0, r1, r2}, which completes the "
        "reassignment; replicas {r1, r2}, ISR {r1, r2}; r2 is elected leader of epoch 1."
    )


def test_in_any_order_a_cancellation_without_the_leader_leaves_the_choice_as_well() -> None:
    model = three_brokers("elr", replicas=4, election_order="any")
    state = edited(model.initial[0], assigned=15, adding=8, isr=15, leader=3)
    winners = [w for w in range(4) if is_enabled(model, state, f"CancelAndElect winner={w}")]

    assert winners == [0, 1, 2]
    assert not is_enabled(model, state, "CancelReassignment")
    assert sentence(model, state, "CancelAndElect winner=1") == (
        "The controller cancels the reassignment; replicas {r0, r1, r2}, ISR {r0, r1, r2}; r1 is "
        "elected leader of epoch 1."
    )


# --- brokers -------------------------------------------------------------------------------------


def removed_and_added_again(model: Model, *between: str) -> State:
    state = run(model, "Produce leader=0", *exchange(1), *exchange(1))
    state = run(model, f"Reassign targets={R0}", *between, start=state)
    return run(model, f"Reassign targets={R0 | R1}", start=state)


def test_a_broker_that_learns_of_its_removal_deletes_its_log_and_only_then() -> None:
    model = model_of("elr", replicas=2, records=1, reassignments=2, min_insync_replicas=2)
    read_apart = removed_and_added_again(model, "Learn replica=1")
    read_at_once = removed_and_added_again(model)

    assert (read_apart.leo[1], read_apart.role[1], read_apart.known_epoch[1]) == (0, 0, NO_EPOCH)
    assert read_at_once.leo[1] == 1
    assert after(model, read_at_once, "Learn replica=1").leo[1] == 1


def test_a_broker_that_comes_back_deletes_the_stray_log_of_a_replica_that_it_has_no_more() -> None:
    model = model_of("elr", replicas=2, records=1, reassignments=2, restarts=1)
    state = run(model, "Produce leader=0", *exchange(1), "Crash replica=1", "Fence replica=1")
    state = run(model, f"Reassign targets={R0}", "Restart replica=1", start=state)
    deleted = after(model, state, "Learn replica=1")

    assert (state.leo[1], deleted.leo[1], deleted.role[1]) == (1, 0, NO_ROLE)
    assert not is_enabled(model, deleted, "Learn replica=1")


def test_a_leader_refuses_the_fetch_of_a_broker_that_is_no_replica() -> None:
    model = model_of("elr", replicas=2, records=1, reassignments=2)
    state = run(model, "SendFetch follower=1", f"Reassign targets={R0}", "Learn replica=0")
    # The follower knows the leader's epoch, so that only the missing replica is in the way.
    state = edited(state, known_epoch=[state.epoch, state.epoch])
    refused = after(model, state, "LeaderFetch follower=1")

    assert refused.fetch[1] == 0
    assert refused.remote_leo[0, 1] == -1


def test_a_replica_object_outlives_a_removal_and_return_in_one_delta() -> None:
    model = model_of("elr", replicas=2, records=1, reassignments=2, min_insync_replicas=2)
    start = run(model, *exchange(1))
    at_once = run(
        model,
        f"Reassign targets={R0}",
        f"Reassign targets={R0 | R1}",
        "Learn replica=0",
        start=start,
    )
    apart = run(model, f"Reassign targets={R0}", "Learn replica=0", start=start)
    apart = run(model, f"Reassign targets={R0 | R1}", "Learn replica=0", start=apart)

    assert (at_once.remote_leo[0, 1], apart.remote_leo[0, 1]) == (0, -1)


def test_with_fewer_replicas_than_min_insync_replicas_the_leader_goes_on_acknowledging() -> None:
    model = model_of("elr", replicas=2, records=1, reassignments=1, min_insync_replicas=2)
    state = run(model, f"Reassign targets={R0}", "Learn replica=0", "Produce leader=0")

    assert (state.hw[0], state.acked) == (1, 1)


# --- losses --------------------------------------------------------------------------------------

BY_CANCELLING = (
    "SendFetch follower=1",
    "Produce leader=0",
    f"Reassign targets={ALL}",
    "Learn replica=0",
    "LeaderFetch follower=1",
    "ShrinkIsr leader=0 follower=1",
    "AlterPartition leader=0",
    "Learn replica=2",
    *exchange(2),
    *exchange(2)[:2],
    "AlterPartition leader=0",
    "CancelReassignment",
    "Learn replica=2",
    "Crash replica=0",
    f"Reassign targets={ALL}",
)


def test_a_replica_that_a_cancellation_took_away_is_elected_with_an_empty_log() -> None:
    model = three_brokers("elr", restarts=1)
    state = run(model, *BY_CANCELLING)
    lost = after(model, state, "Fence replica=0")

    assert (state.acked, state.elr, state.leo[2]) == (1, R2, 0)
    assert lost.leader == 2


def test_with_the_elr_cut_to_the_replicas_nobody_leads_until_the_records_are_back() -> None:
    model = three_brokers("elr-with-elr-only-replicas", restarts=1)
    state = run(model, *BY_CANCELLING)
    waits = after(model, state, "Fence replica=0")

    assert (state.acked, state.elr) == (1, 0)
    assert waits.leader == NO_REPLICA


def test_a_directory_that_was_taken_out_is_noticed_by_the_proposed_rule_alone() -> None:
    found = {}
    for version in ("elr-without-new-directory-empties-elr", "elr"):
        for repaired in ("", "-with-lost-directory-is-unclean"):
            model = model_of(
                version + repaired, min_insync_replicas=2, taken_directories=1, shutdowns=1
            )
            state = run(model, "Produce leader=0", *exchange(1), *exchange(1)[:2])
            state = run(model, "BeginShutdown replica=1", "Stop replica=1", start=state)
            state = run(model, "DirectoryTaken replica=1", "Fence replica=1", start=state)
            found[version + repaired] = after(model, state, "Restart replica=1").elr

    assert list(found.values()) == [R1, 0, 0, 0]


def test_the_directory_of_a_broker_that_is_no_replica_any_more_changes_no_elr() -> None:
    """Its report is answered NOT_LEADER_OR_FOLLOWER, and nothing is written."""
    options = {"min_insync_replicas": 2, "taken_directories": 1, "shutdowns": 1, "reassignments": 1}
    model = model_of("elr", **options)
    state = run(model, "Produce leader=0", "BeginShutdown replica=0", "Stop replica=0")
    state = run(model, "DirectoryTaken replica=0", "Fence replica=0", start=state)
    assert (state.assigned, state.elr) == (R0 | R1, R0)

    state = run(model, f"Reassign targets={R1}", start=state)

    assert (state.assigned, state.elr) == (R1, R0)
    assert after(model, state, "Restart replica=0").elr == R0


def test_without_bounds_no_prefix_is_cut_where_a_log_can_be_deleted() -> None:
    assert Environment(unbounded=True).is_cut
    assert not Environment(unbounded=True, reassignments=1).is_cut
    assert not Environment(unbounded=True, taken_directories=1).is_cut


# --- what cannot be asked ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "options", "message"),
    [
        ("fluss-main", {"reassignments": 1}, "fluss-main is no version of Kafka"),
        ("kip320", {"reassignments": 1, "election_order": "any"}, "in kip320, with ZooKeeper"),
        ("elr", {"assigned": 1}, "assigned is 1, and reassignments is 0"),
        ("elr", {"assigned": 3, "reassignments": 1}, "more than the 2 brokers"),
        (
            "elr",
            {"first_partition_replicas": 2},
            "first-partition-replicas is 2, and reassignments is 0",
        ),
        ("elr", {"reassignments": 1, "late_metadata": True}, "cannot be with late-metadata"),
        (
            "elr",
            {"reassignments": 1, "unclean_leader_election": True, "election_order": "any"},
            "an unclean cancellation takes the first replica",
        ),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(
    version: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadEnvironment, match=message) as refused:
        message_model(version, Environment(**options))

    assert "\n" not in str(refused.value)
