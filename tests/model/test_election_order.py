"""Who is elected of several that may be: the first as assigned, or any of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.support.states import bound, changed_by, edited, is_enabled, model_of
from tests.support.walking import walk
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.controller import candidates
from waterline.model.message.terms import NO_REPLICA, NO_ROLE, contains, size, without_member

ANY = model_of("epoch", replicas=3, election_order="any")
UNCLEAN = model_of("epoch", replicas=3, election_order="any", unclean_leader_election=True)
ASSIGNED = model_of("epoch", replicas=3)
DOWN: dict[str, Any] = {"up": {0: 0}, "role": {0: NO_ROLE}, "known_epoch": {0: -1}}
LEADER_DOWN = edited(ANY.initial[0], **DOWN)
"""r0 leads as far as the controller knows, and is down; r0, r1, r2 are in sync."""
FOLLOWER_DOWN = edited(ANY.initial[0], up={1: 0}, role={1: NO_ROLE}, known_epoch={1: -1})


@pytest.mark.parametrize(
    ("model", "step", "state", "enabled"),
    [
        pytest.param(ANY, "0 1", LEADER_DOWN, True, id="one in sync wins"),
        pytest.param(ANY, "0 2", LEADER_DOWN, True, id="and so may the other"),
        pytest.param(ANY, "0 0", LEADER_DOWN, False, id="not the one that is gone"),
        pytest.param(ANY, "0 1", ANY.initial[0], False, id="a running leader is not fenced"),
        pytest.param(ANY, "0 1", edited(LEADER_DOWN, fenced=0b001), False, id="nor one twice"),
        pytest.param(ANY, "0 1", edited(LEADER_DOWN, isr=0b011), False, id="one alone may win"),
        pytest.param(ANY, "0 1", edited(LEADER_DOWN, fenced=0b100), False, id="one is not fenced"),
        pytest.param(ANY, "0 1", edited(LEADER_DOWN, isr=0b001), False, id="nobody may win"),
        pytest.param(ANY, "1 2", FOLLOWER_DOWN, False, id="a follower's end elects nobody"),
        pytest.param(ANY, "0 1", edited(LEADER_DOWN, isr=0b110), False, id="nor an outsider's"),
        pytest.param(ASSIGNED, "0 1", LEADER_DOWN, False, id="the order is that of assignment"),
        pytest.param(UNCLEAN, "0 1", edited(LEADER_DOWN, isr=0b001), True, id="unclean"),
        pytest.param(UNCLEAN, "0 2", edited(LEADER_DOWN, isr=0b001), True, id="unclean, other"),
        pytest.param(UNCLEAN, "0 2", edited(LEADER_DOWN, isr=0b011), False, id="in sync first"),
    ],
)
def test_a_winner_is_chosen_exactly_when(
    model: Model, step: str, state: State, enabled: bool
) -> None:
    replica, winner = step.split()

    assert is_enabled(model, state, f"FenceAndElect replica={replica} winner={winner}") is enabled


@pytest.mark.parametrize(
    ("model", "state", "enabled"),
    [
        pytest.param(ANY, LEADER_DOWN, False, id="there is a choice"),
        pytest.param(ASSIGNED, LEADER_DOWN, True, id="there is none by assignment"),
        pytest.param(ANY, edited(LEADER_DOWN, isr=0b011), True, id="one alone may win"),
        pytest.param(ANY, edited(LEADER_DOWN, isr=0b001), True, id="nobody may win"),
        pytest.param(UNCLEAN, edited(LEADER_DOWN, isr=0b001), False, id="unclean"),
    ],
)
def test_a_leader_is_merely_fenced_where_there_is_no_choice(
    model: Model, state: State, enabled: bool
) -> None:
    assert is_enabled(model, state, "Fence replica=0") is enabled


@pytest.mark.parametrize(("epoch", "limit"), [(1, "within"), (2, "epochs")])
def test_an_election_starts_an_epoch_whoever_wins(epoch: int, limit: str) -> None:
    state = edited(LEADER_DOWN, epoch=epoch)
    step = bound(ANY, "FenceAndElect replica=0 winner=2")

    assert ANY.limits[ANY.exceeded_limit(state, *step)] == limit


def test_the_winner_leads_those_in_sync() -> None:
    assert changed_by(ANY, LEADER_DOWN, "FenceAndElect replica=0 winner=2") == {
        "fenced": (0, 0b001),
        "isr": (0b111, 0b110),
        "leader": (0, 2),
        "epoch": (0, 1),
    }


def test_a_winner_from_outside_becomes_the_whole_isr() -> None:
    alone = edited(LEADER_DOWN, isr=0b001)

    assert changed_by(UNCLEAN, alone, "FenceAndElect replica=0 winner=2") == {
        "fenced": (0, 0b001),
        "isr": (0b001, 0b100),
        "leader": (0, 2),
        "epoch": (0, 1),
    }


def test_the_sentence_names_the_winner() -> None:
    after = ANY.apply(LEADER_DOWN, *bound(ANY, "FenceAndElect replica=0 winner=2"))

    assert ANY.narration.sentence("FenceAndElect", (0, 2), LEADER_DOWN, after) == (
        "The controller notices that r0 is down; it leaves the ISR, now {r1, r2}; "
        "r2 is elected leader of epoch 1."
    )


SMALL: dict[str, Any] = {"records": 1, "epochs": 1, "restarts": 1}


@pytest.mark.parametrize("unclean", [False, True])
def test_two_replicas_never_leave_a_choice(unclean: bool) -> None:
    options = SMALL | {"restarts": 2, "moves": 1, "unclean_leader_election": unclean}
    by_assignment, by_any = (
        [(state, [str(step) for step in steps]) for state, steps in walk(model)]
        for model in (
            model_of("epoch", election_order=order, **options) for order in ("assignment", "any")
        )
    )

    assert by_any == by_assignment


@pytest.mark.parametrize("unclean", [False, True])
def test_a_restart_never_leaves_a_choice(unclean: bool) -> None:
    """So there is no step in which one that comes back lets another of several win."""
    options = {"replicas": 3, "records": 1, "epochs": 3, "restarts": 3 if unclean else 2}
    model = model_of("hw", election_order="any", unclean_leader_election=unclean, **options)
    elections, most = 0, 0
    for state, steps in walk(quiet(model)):
        for step in steps:
            if step.action.name == "Restart" and state.leader == NO_REPLICA:
                fenced = without_member(state.fenced, step.arguments[0])
                may_win = candidates(state, model.settings, fenced)
                most = max(most, size(may_win))
                elections += contains(may_win, step.arguments[0])

    assert elections > 0
    assert most == 1


def quiet(model: Model) -> Model:
    """The model without records: who is up, fenced, in sync and leader does not depend on them."""
    noisy = {"Produce", "SendFetch", "Checkpoint"}
    contents = tuple(name for name in model.contents if name not in noisy)
    return replace(model, contents=contents)
