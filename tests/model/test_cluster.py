"""The state of the message grain: how it begins, and that equal states are equal words."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.states import model_of, packed
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import Model
from waterline.model.message.bounds import Bounds
from waterline.model.message.cluster import fields
from waterline.model.message.terms import FETCHING, LEADER, UNKNOWN_OFFSET


def reachable_states(model: Model) -> set[State]:
    seen = set(model.initial)
    level = seen
    while level:
        level = {step.after for state in level for step in model.successors(state)} - seen
        seen = seen | level
    return seen


@pytest.mark.parametrize("version", ["hw", "epoch"])
@pytest.mark.parametrize(
    "options",
    [{"moves": 1}, {"parked_fetches": True}, {"unclean_leader_election": True, "acks": "1"}],
    ids=["moves", "parked fetches", "unclean election"],
)
def test_what_is_not_alive_is_zero_in_every_reachable_state(
    version: str, options: dict[str, Any]
) -> None:
    model = model_of(version, records=1, epochs=1, restarts=1, **options)
    states = reachable_states(model)

    assert len(states) > 300
    assert all(packed(state.layout, as_dict(state)) == state for state in states)


@pytest.mark.parametrize("version", ["hw", "epoch"])
def test_the_epoch_of_a_record_that_is_nowhere_is_forgotten(version: str) -> None:
    model = model_of(version, records=1, epochs=2, restarts=1)
    for state in reachable_states(model):
        values = as_dict(state)
        held = [record for log in values["log"] for record in log]
        held += [record for answer in values["answer_log"] for record in answer if record]
        if 1 not in held:
            assert state.record_epoch[0] == 0


def test_in_the_beginning_replica_0_leads_and_all_are_in_sync_with_nothing() -> None:
    state = model_of("hw", replicas=3).initial[0]
    values = as_dict(state)

    assert (state.leader, state.epoch, state.isr, state.fenced) == (0, 0, 0b111, 0)
    assert values["role"] == [LEADER, FETCHING, FETCHING]
    assert values["known_epoch"] == [0, 0, 0]
    assert values["known_leader"] == [None, 0, 0]
    assert values["known_isr"] == [0b111, None, None]
    assert values["remote_leo"][0] == [UNKNOWN_OFFSET, 0, 0]
    assert values["up"] == [1, 1, 1]
    assert not any(values["leo"] + values["hw"] + values["checkpoint"] + values["fetch"][1:])
    assert (state.produced, state.acked, state.exposed_end) == (0, 0, 0)


def test_every_field_says_what_it_is() -> None:
    assert all(len(declared.doc) > 10 for declared in fields(Bounds()))


def test_budgets_and_settings_do_not_shape_the_state() -> None:
    plain = model_of("hw").layout
    other = model_of("epoch", restarts=9, moves=9, acks="0", parked_fetches=True).layout

    assert plain == other
    assert plain != model_of("hw", records=3).layout


def test_bounds_too_large_to_pack_are_refused_by_name() -> None:
    with pytest.raises(BadEnvironment, match="replicas 7, records 12 and epochs 2 together"):
        model_of("hw", replicas=7, records=12)
