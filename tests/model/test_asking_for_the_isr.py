"""What a leader asks the controller for: several followers out at once, also where it is outdated.

And whom its high watermark waits for outside the ISR, where that is asked for. Written as attacks:
each case is a behaviour that Kafka has, or one that it has not, and that a simpler rule would miss.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from tests.support.states import after, edited, is_enabled, model_of, run
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import Environment
from waterline.model.message.features import ALTER_PARTITION, has
from waterline.model.message.model import message_model
from waterline.model.message.terms import FETCHING, LEADER, REQUESTED
from waterline.model.message.versions import VERSIONS

TOGETHER = "ShrinkTogether"
ASKING = [v for v in VERSIONS if VERSIONS[v].features & ALTER_PARTITION]
WRITING = [v for v in VERSIONS if not VERSIONS[v].features & ALTER_PARTITION]


def three(version: str, **options: Any) -> Model:
    return model_of(version, **{"replicas": 3, "records": 1, "epochs": 1, "restarts": 0} | options)


def all_lag(model: Model) -> State:
    """r0 leads and has a record that nobody else has."""
    return run(model, "Produce leader=0")


def reachable(model: Model) -> Iterable[State]:
    """Every state, by the interpreted rules."""
    seen = set(model.initial)
    frontier = list(seen)
    while frontier:
        found = {step.after for state in frontier for step in model.successors(state)}
        frontier = list(found - seen)
        seen |= found
    return seen


@pytest.mark.parametrize("version", ASKING)
def test_one_request_takes_out_all_that_lag_or_some(version: str) -> None:
    model = three(version)
    s = after(model, all_lag(model), f"{TOGETHER} leader=0 followers=6")
    assert s.pending_isr[0] == 0b001
    assert s.isr == s.known_isr[0] == 0b111, "the controller has not answered yet"
    assert is_enabled(model, all_lag(model), "ShrinkIsr leader=0 follower=1")


@pytest.mark.parametrize("version", WRITING)
def test_a_leader_that_writes_the_isr_itself_needs_no_such_step(version: str) -> None:
    model = three(version)
    assert TOGETHER not in model.contents
    alone = run(
        model,
        "ShrinkIsr leader=0 follower=1",
        "ShrinkIsr leader=0 follower=2",
        start=all_lag(model),
    )
    assert alone.isr == alone.known_isr[0] == 0b001
    assert alone.hw[0] == 1


def test_there_is_no_such_step_with_two_replicas() -> None:
    assert TOGETHER not in model_of("elr").contents


@pytest.mark.parametrize(
    ("followers", "changes"),
    [
        (0b000, {}),
        (0b010, {}),
        (0b111, {}),
        (0b011, {}),
        (0b110, {"pending_isr": {0: 0b011}}),
        (0b110, {"known_isr": {0: 0b011}}),
        (0b110, {"remote_leo": {(0, 1): 1}}),
    ],
    ids=[
        "nobody",
        "one",
        "itself too",
        "itself",
        "a change is in flight",
        "one is out",
        "one has all",
    ],
)
def test_not_every_set_of_followers_can_be_asked_out(
    followers: int, changes: dict[str, Any]
) -> None:
    model = three("elr")
    s = edited(all_lag(model), **changes)
    assert not is_enabled(model, s, f"{TOGETHER} leader=0 followers={followers}")


def test_two_of_four_may_be_asked_out_while_a_third_lags_too() -> None:
    model = three("elr", replicas=4)
    s = after(model, all_lag(model), f"{TOGETHER} leader=0 followers={0b1010}")
    assert s.pending_isr[0] == 0b0101


@pytest.mark.parametrize("together", [True, False])
def test_with_min_isr_2_the_elr_can_have_two_beside_a_leader_that_is_alone(together: bool) -> None:
    """ISR {r0}, ELR {r1, r2}: one after the other, r1 would leave an ISR that is large enough."""
    model = three("elr", min_insync_replicas=2)
    if not together:
        one_by_one = [name for name in model.contents if name != TOGETHER]
        model = replace(model, contents=tuple(one_by_one))

    assert ((0b001, 0b110) in {(s.isr, s.elr) for s in reachable(model)}) is together


OUTDATED = {"epoch": 1, "leader": 1}
"""The controller has made r1 the leader; r0 has not heard of it."""


@pytest.mark.parametrize("version", ASKING)
def test_a_leader_that_is_out_of_date_asks_and_stays_without_an_answer(version: str) -> None:
    model = model_of(version, epochs=2)
    s = edited(run(model, "Produce leader=0"), **OUTDATED)
    s = after(model, s, "ShrinkIsr leader=0 follower=1")
    assert s.pending_isr[0] == 0b01
    assert not is_enabled(model, s, "AlterPartition leader=0"), "refused: it is as it was"
    assert not is_enabled(model, s, "ShrinkIsr leader=0 follower=1"), "one change in flight"
    leads_on = edited(s, leader=0)
    assert after(model, leads_on, "Learn replica=0").pending_isr[0] == 0


@pytest.mark.parametrize("version", WRITING)
def test_a_write_of_a_leader_that_is_out_of_date_fails_and_leaves_nothing(version: str) -> None:
    model = model_of(version, epochs=2)
    s = edited(run(model, "Produce leader=0"), **OUTDATED)
    assert not is_enabled(model, s, "ShrinkIsr leader=0 follower=1")


@pytest.mark.parametrize("version", ASKING)
def test_whom_it_asked_to_add_holds_back_the_high_watermark_of_an_outdated_leader(
    version: str,
) -> None:
    """Maximal ISR: the controller may have agreed, as far as the leader can know."""
    model = model_of(version, epochs=2)
    start = edited(
        model.initial[0], **OUTDATED, isr=0b10, known_isr={0: 0b01}, fetch={1: REQUESTED}
    )
    asked = after(model, start, "LeaderFetch follower=1")
    assert asked.pending_isr[0] == 0b11
    assert after(model, asked, "Produce leader=0").hw[0] == 0


# The wait for who caught up lately, outside the ISR.


def waiting(version: str, **options: Any) -> Model:
    bounds = {"records": 1, "epochs": 2, "restarts": 1, "caught_up_wait": True}
    return model_of(version, **bounds | options)


def alone(model: Model, **changes: Any) -> State:
    """r0 leads and is in sync alone; r1 has caught up with it lately."""
    return edited(model.initial[0], isr=0b01, known_isr={0: 0b01}, **changes)


def test_the_high_watermark_waits_for_who_caught_up_lately() -> None:
    model = waiting("elr")
    s = after(model, alone(model), "Produce leader=0")
    assert s.hw[0] == 0
    never = alone(model, caught_up={0: 0})
    assert after(model, never, "Produce leader=0").hw[0] == 1


@pytest.mark.parametrize("version", ["kip320", "kraft", "kraft-without-shrink-raises-epoch"])
def test_since_3_6_it_does_not_wait_for_who_is_fenced_as_far_as_it_knows(version: str) -> None:
    model = waiting(version)
    s = after(model, alone(model, fenced=0b10, seen_unavailable={0: 0b10}), "Produce leader=0")
    assert s.hw[0] == (1 if version == "kraft-without-shrink-raises-epoch" else 0)
    behind = after(model, alone(model, fenced=0b10), "Produce leader=0")
    assert behind.hw[0] == 0, "its metadata does not say so yet"


@pytest.mark.parametrize(
    ("version", "hw"), [("elr", 0), ("elr-with-departure-tries-hw", 1)], ids=["kafka", "proposal"]
)
@pytest.mark.parametrize("ends", ["LagTimePasses leader=0 follower=1", "LearnBrokers leader=0"])
def test_nothing_is_tried_where_the_wait_ends(version: str, hw: int, ends: str) -> None:
    model = waiting(version)
    s = after(model, alone(model, fenced=0b10), "Produce leader=0")
    assert after(model, s, ends).hw[0] == hw


def test_lag_time_passes_for_nobody_who_has_everything() -> None:
    model = waiting("elr")
    assert not is_enabled(model, alone(model), "LagTimePasses leader=0 follower=1")
    behind = after(model, alone(model), "Produce leader=0")
    assert is_enabled(model, behind, "LagTimePasses leader=0 follower=1")
    assert not is_enabled(model, behind, "LagTimePasses leader=0 follower=0")


def test_who_caught_up_lately_is_not_found_lagging() -> None:
    model = waiting("elr")
    s = run(model, "Produce leader=0")
    assert not is_enabled(model, s, "ShrinkIsr leader=0 follower=1")
    s = after(model, s, "LagTimePasses leader=0 follower=1")
    assert is_enabled(model, s, "ShrinkIsr leader=0 follower=1")


def test_a_fetch_of_everything_catches_up_and_one_of_less_does_not() -> None:
    model = waiting("elr", records=2)
    s = alone(model, caught_up={0: 0}, fetch={1: REQUESTED})
    assert after(model, s, "LeaderFetch follower=1").caught_up[0] == 0b10
    less = edited(s, leo=[1], log=[[1]], produced=1)
    assert after(model, less, "LeaderFetch follower=1").caught_up[0] == 0


def test_in_a_new_epoch_the_members_of_the_isr_have_caught_up_and_nobody_else() -> None:
    model = waiting("kraft", replicas=3)
    s = edited(model.initial[0], epoch=1, isr=0b101)
    assert after(model, s, "Learn replica=0").caught_up[0] == 0b100
    same = edited(model.initial[0], isr=0b101, outdated={0: 1})
    assert after(model, same, "Learn replica=0").caught_up[0] == 0b110, "the epoch is the same"


def test_a_follower_that_it_takes_for_fenced_is_not_proposed() -> None:
    model = waiting("elr")
    s = alone(model, fetch={1: REQUESTED})
    assert after(model, s, "LeaderFetch follower=1").pending_isr[0] == 0b11
    s = edited(s, seen_unavailable={0: 0b10})
    assert after(model, s, "LeaderFetch follower=1").pending_isr[0] == 0


@pytest.mark.parametrize(("version", "hw"), [("elr", 0), ("elr-with-refusal-tries-hw", 1)])
def test_a_refusal_tries_the_high_watermark_only_as_a_proposal(version: str, hw: int) -> None:
    model = model_of(version)
    s = edited(
        model.initial[0],
        leo=[1],
        log=[[1]],
        produced=1,
        isr=0b01,
        known_isr={0: 0b01},
        pending_isr={0: 0b11},
        fenced=0b10,
    )
    assert after(model, s, "AlterPartition leader=0").hw[0] == hw


def test_without_the_option_nothing_of_it_is_in_the_state() -> None:
    off, on = (
        message_model("elr", Environment(caught_up_wait=asked)).layout for asked in (False, True)
    )
    for name in ("caught_up", "seen_unavailable"):
        assert (off.places[name].width, on.places[name].width) == (0, 2)


def test_roles_are_as_these_cases_take_them() -> None:
    start = model_of("elr").initial[0]
    assert (start.role[0], start.role[1]) == (LEADER, FETCHING)
    assert has(model_of("elr").settings, ALTER_PARTITION)
