"""Durability and availability without a leader: who may still be elected, and what they have.

Who may be elected is compared with what the model itself can do: from reachable states every way on
is followed in which brokers only crash, come back and are fenced, and nothing is replicated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.states import agreed, edited, model_of, run
from waterline.invariants import acknowledged_on_disk, acknowledged_somewhere, leader_possible
from waterline.invariants.electable import electable
from waterline.model.core.claim import Invariant
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.partition_state import write_isr
from waterline.model.message.terms import NO_ROLE, contains

NEEDS_NO_LEADER = [acknowledged_somewhere.CLAIM, acknowledged_on_disk.CLAIM]
ELR = model_of("elr", min_insync_replicas=2)
KAFKA_4 = model_of("elr-with-last-known-leader", min_insync_replicas=2)
KRAFT = model_of("kraft", min_insync_replicas=2)
AGREED = agreed(ELR)
"""Two records on two brokers, committed and acknowledged."""
WITHOUT_M2 = {"leo": {0: 1}, "log": {(0, 1): 0}, "hw": {0: 1}}
"""r0 does not have m2, which r1 has."""
NOWHERE = edited(AGREED, leo=[1, 1], log=[[1, 0], [1, 0]], hw=[1, 1])
DOWN = {"up": {1: 0}, "role": {1: NO_ROLE}, "known_epoch": {1: -1}, "hw": {1: 0}}
"""r1 is down and stopped properly."""
CRASHED = {**DOWN, "unclean": {1: 1}}
ALL_DOWN = {
    "up": [0, 0],
    "role": [NO_ROLE, NO_ROLE],
    "known_epoch": [-1, -1],
    "hw": [0, 0],
    "leader": -1,
    "fenced": 0b11,
    "isr": 0,
}


def holds(claim: Invariant, state: State, model: Model = ELR) -> bool:
    return claim.holds(state, model.settings)


def told(claim: Invariant, state: State, model: Model = ELR) -> str:
    """The explanation of a state that must break the claim."""
    assert not holds(claim, state, model)
    return claim.explain(state, model.settings)


# In some log at all.


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param(WITHOUT_M2, id="at the follower"),
        pytest.param({"leo": {1: 1}, "log": {(1, 1): 0}, **DOWN}, id="at the leader alone"),
        pytest.param({**WITHOUT_M2, **CRASHED}, id="at one that is down"),
        pytest.param({"log": [[2, 1], [2, 1]]}, id="at another offset"),
        pytest.param({**WITHOUT_M2, **ALL_DOWN, "elr": 0}, id="at one that nobody can elect"),
    ],
)
def test_a_record_is_on_disk_wherever_a_log_has_it(fields: dict[str, Any]) -> None:
    assert holds(acknowledged_on_disk.CLAIM, edited(AGREED, **fields))


def test_a_record_that_no_log_has_is_named() -> None:
    assert told(acknowledged_on_disk.CLAIM, NOWHERE) == (
        "m2 was acknowledged and is in no log any more."
    )
    assert holds(acknowledged_on_disk.CLAIM, edited(NOWHERE, acked=0b01))


@pytest.mark.parametrize("acks", ["0", "1", "all"])
@pytest.mark.parametrize("claim", NEEDS_NO_LEADER, ids=lambda claim: claim.name)
def test_they_apply_whatever_may_fail(claim: Invariant, acks: str) -> None:
    worst = model_of("elr", acks=acks, power_losses=3, lost_disks=3)

    assert claim.applies(worst.settings)
    assert claim.default


# In the log of somebody who may lead.


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        pytest.param({}, True, id="the leader and the follower have it"),
        pytest.param(WITHOUT_M2, True, id="a member of the ISR has it"),
        pytest.param({**WITHOUT_M2, "isr": 0b01, "elr": 0b10}, True, id="one in the ELR has it"),
        pytest.param({**WITHOUT_M2, "isr": 0b01}, False, id="one in neither has it"),
        pytest.param({**WITHOUT_M2, **DOWN}, True, id="one that stopped and is still in the ISR"),
        pytest.param({**WITHOUT_M2, **CRASHED}, False, id="one that crashed will leave the ISR"),
        pytest.param(
            {**WITHOUT_M2, **CRASHED, "isr": 0b01, "elr": 0b10, "fenced": 0b10},
            False,
            id="one that crashed will leave the ELR",
        ),
        pytest.param({**ALL_DOWN, "elr": 0b11}, True, id="nobody leads, and both stopped properly"),
        pytest.param(
            {**ALL_DOWN, "elr": 0b11, "unclean": [1, 1]}, False, id="nobody leads, both crashed"
        ),
    ],
)
def test_with_elr_a_record_is_where_an_election_can_reach_it(
    fields: dict[str, Any], kept: bool
) -> None:
    assert holds(acknowledged_somewhere.CLAIM, edited(AGREED, **fields)) is kept


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        pytest.param({**WITHOUT_M2, **CRASHED}, True, id="elected before it is fenced"),
        pytest.param({**WITHOUT_M2, **CRASHED, "fenced": 0b10}, False, id="fenced in time"),
        pytest.param(
            {**ALL_DOWN, "elr": 0b11, "unclean": [1, 1], "last_leader": 1}, True, id="led last"
        ),
        pytest.param(
            {**ALL_DOWN, **WITHOUT_M2, "hw": [0, 0], "elr": 0b01, "last_leader": 1},
            False,
            id="led last, but somebody who stopped properly will lead first",
        ),
        pytest.param(
            {**ALL_DOWN, **WITHOUT_M2, "hw": [0, 0], "elr": 0, "last_leader": 0},
            False,
            id="who led last does not have it",
        ),
    ],
)
def test_the_last_known_leader_may_lead_again(fields: dict[str, Any], kept: bool) -> None:
    assert holds(acknowledged_somewhere.CLAIM, edited(AGREED, **fields), KAFKA_4) is kept


def test_without_elr_the_isr_decides_up_or_down() -> None:
    alone = edited(AGREED, **{**WITHOUT_M2, "isr": 0b01})

    assert holds(acknowledged_somewhere.CLAIM, edited(AGREED, **{**WITHOUT_M2, **DOWN}), KRAFT)
    assert not holds(acknowledged_somewhere.CLAIM, alone, KRAFT)


def test_an_unclean_election_reaches_every_log() -> None:
    unclean = model_of("elr", min_insync_replicas=2, unclean_leader_election=True)
    out_of_sync = edited(AGREED, **{**WITHOUT_M2, "isr": 0b01})

    assert not holds(acknowledged_somewhere.CLAIM, out_of_sync)
    assert holds(acknowledged_somewhere.CLAIM, out_of_sync, unclean)
    assert not holds(acknowledged_somewhere.CLAIM, NOWHERE, unclean)


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {**WITHOUT_M2, "isr": 0b01},
            "m2 was acknowledged; only r0 may lead, and only r1 has it.",
        ),
        (
            {**ALL_DOWN, "elr": 0b11, "unclean": [1, 1]},
            "m1 was acknowledged; nobody can be elected any more, and only r0 and r1 has it.",
        ),
        (
            {"leo": [1, 1], "log": [[1, 0], [1, 0]], "hw": [1, 1]},
            "m2 was acknowledged; only r0 and r1 may lead, and no log has it any more.",
        ),
    ],
)
def test_it_is_told_who_may_lead_and_who_has_the_record(
    fields: dict[str, Any], sentence: str
) -> None:
    assert told(acknowledged_somewhere.CLAIM, edited(AGREED, **fields)) == sentence


# Whether anybody may lead.


@pytest.mark.parametrize(
    ("fields", "possible"),
    [
        ({}, True),
        ({**ALL_DOWN, "elr": 0b10}, True),
        ({**ALL_DOWN, "elr": 0b10, "unclean": {1: 1}}, False),
        ({**ALL_DOWN}, False),
        ({"leader": -1, "isr": 0, "elr": 0}, False),
    ],
)
def test_somebody_can_lead_unless_all_who_might_have_crashed(
    fields: dict[str, Any], possible: bool
) -> None:
    assert holds(leader_possible.CLAIM, edited(AGREED, **fields)) is possible


def test_that_nobody_can_lead_is_told_with_what_ends_it() -> None:
    stuck = edited(AGREED, **ALL_DOWN)

    assert "only an unclean election ends this" in told(leader_possible.CLAIM, stuck)
    assert not leader_possible.CLAIM.default


def test_one_replica_that_lost_its_disk_is_lost_with_elr_and_its_record_too() -> None:
    """No claim about the current leader says so: there is none."""
    model = model_of("elr", replicas=1, restarts=0, lost_disks=1)
    gone = run(
        model, "Produce leader=0", "DiskLoss replica=0", "Fence replica=0", "Restart replica=0"
    )

    assert gone.leader == -1
    for claim in (*NEEDS_NO_LEADER, leader_possible.CLAIM):
        assert not holds(claim, gone, model)


# Against the model: who can be elected, whatever crashes and comes back.

EVENTS = ("Crash", "Fence", "Restart", "SessionExpiry", "Register", "BeginShutdown", "Stop", "Move")
UNUSED = {"restarts_used": 0, "moves_used": 0, "session_expiries_used": 0, "shutdowns_used": 0}


def seen_by_the_controller(state: State) -> State:
    """The same partition for the controller: no broker has a role yet, epochs begin anew."""
    up = [state.up[replica] for replica in range(state.replicas)]
    unclean = {r: state.unclean[r] for r in range(state.replicas) if not up[r]}
    kept = ("leader", "isr", "elr", "fenced", "stopping", "last_leader")
    values = {name: getattr(state, name) for name in kept}
    return edited(
        State(state.layout), role=[NO_ROLE] * state.replicas, up=up, unclean=unclean, **values
    )


def after_events(model: Model, state: State) -> Iterator[State]:
    """What brokers that come and go make of it; nothing is replicated."""
    for action in model.enabled_actions:
        if action.name in EVENTS:
            for arguments in model.bindings(action):
                if model.is_enabled(state, action, arguments):
                    yield edited(model.apply(state, action, arguments), epoch=0, **UNUSED)


def after_replication(model: Model, state: State) -> Iterator[State]:
    """What a leader that runs makes of the ISR: somebody lags, or has caught up."""
    for replica in range(state.replicas):
        if state.leader in (-1, replica) or not state.up[state.leader]:
            continue
        joins = state.up[replica] and not contains(state.fenced | state.stopping, replica)
        if contains(state.isr, replica) or joins:
            draft = state.draft()
            write_isr(draft, model.settings, state.isr ^ (1 << replica))
            yield draft.freeze()


def leaders_to_come(model: Model) -> dict[State, int]:
    """Every partition state that can come about, with who may lead and run after events alone."""
    start = seen_by_the_controller(model.initial[0])
    leads_to: dict[State, list[State]] = {}
    waiting = [start]
    while waiting:
        state = waiting.pop()
        if state not in leads_to:
            leads_to[state] = list(after_events(model, state))
            waiting += [*leads_to[state], *after_replication(model, state)]
    leaders = {
        state: 1 << state.leader if state.leader >= 0 and state.up[state.leader] else 0
        for state in leads_to
    }
    changing = True
    while changing:
        changing = False
        for state, following in leads_to.items():
            more = leaders[state]
            for after in following:
                more |= leaders[after]
            changing = changing or more != leaders[state]
            leaders[state] = more
    return leaders


def compared(version: str, **options: Any) -> int:
    """How many states were compared, none of which may differ."""
    model = model_of(
        version, epochs=2, records=1, session_expiries=1, shutdowns=1, moves=1, **options
    )
    leaders = leaders_to_come(model)
    other = {
        state: (expected, electable(state, model.settings))
        for state, expected in leaders.items()
        if electable(state, model.settings) != expected
    }

    assert not other, next(iter(other.items()))
    return len(leaders)


@pytest.mark.parametrize("min_insync_replicas", [1, 2])
@pytest.mark.parametrize("unclean_leader_election", [False, True])
@pytest.mark.parametrize(
    "version", ["hw", "kip320", "kraft", "kip903", "elr", "elr-with-last-known-leader"]
)
def test_who_is_electable_is_who_can_come_to_lead(
    version: str, unclean_leader_election: bool, min_insync_replicas: int
) -> None:
    assert compared(
        version,
        min_insync_replicas=min_insync_replicas,
        unclean_leader_election=unclean_leader_election,
    ) > len(EVENTS)
