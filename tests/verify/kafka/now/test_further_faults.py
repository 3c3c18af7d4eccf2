"""What is found of a partition as it is now, against plain Python and against what Kafka does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import pytest

from waterline.checker.kafka.now import further, histories
from waterline.checker.kafka.now.further import (
    DOWN,
    MOVED,
    NOTHING,
    SHUT_DOWN,
    Event,
    Findings,
    further_faults,
)
from waterline.checker.kafka.now.histories import problem_of, states_like, taken_out
from waterline.checker.kafka.now.situation import Situation
from waterline.checker.search.fault_count import used_in_rows
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model
from waterline.model.message.releases import release_followed

ELR = release_followed((4, 4), is_kraft=True, eligible_leader_replicas=True).version
KRAFT = release_followed((3, 9), is_kraft=True).version
THREE = Situation(
    version=ELR,
    replicas=3,
    min_insync=2,
    acks="all",
    unclean=False,
    leader=0,
    isr=7,
    elr=0,
    down=0,
)
TWO = replace(THREE, replicas=2, min_insync=1, isr=3)
FEW_FURTHER, FEW_BEFORE = ("restarts", "power_losses"), ("restarts",)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """One record and few kinds of faults, so that plain Python gets to the end."""
    caches = (histories.states_like, histories._reachable)
    monkeypatch.setattr(histories, "records_for", lambda replicas: 1)
    monkeypatch.setattr(further, "FURTHER", FEW_FURTHER)
    monkeypatch.setattr(further, "BEFORE", FEW_BEFORE)
    for cache in caches:
        cache.cache_clear()
    yield
    for cache in caches:
        cache.cache_clear()


def looks_like(situation: Situation, s: State) -> bool:
    seen = (s.leader, s.isr, s.elr, s.fenced, s.stopping)
    if seen != (situation.leader, situation.isr, situation.elr, situation.down, 0):
        return False
    return all(s.up[r] != situation.down >> r & 1 for r in range(situation.replicas))


def fewest(
    model: Model, begun: Sequence[State], kinds: Sequence[str], wanted: Callable[[State], bool]
) -> tuple[int | None, list[State]]:
    """The fewest faults of these kinds that lead to a wanted state, and these states."""
    kind_of = {a.name: a.budget.setting for a in model.actions if a.budget is not None}
    seen: set[tuple[int, ...]] = set()
    level = list(begun)
    for count in range(3):
        reached, following = [s for s in level if s.words not in seen], list[State]()
        seen |= {s.words for s in reached}
        for s in reached:
            for step in model.successors(s):
                draft = step.after.draft()
                for kind in kind_of.values():
                    setattr(draft, f"{kind}_used", 0)
                after, kind = draft.freeze(), kind_of.get(step.action.name)
                if kind in kinds:
                    following.append(after)
                elif kind is None and after.words not in seen:
                    seen.add(after.words)
                    reached.append(after)
        found = {s.words: s for s in reached if wanted(s)}
        if found:
            return count, list(found.values())
        level = following
    return None, []


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    "situation",
    [
        pytest.param(TWO, id="in sync"),
        pytest.param(replace(TWO, min_insync=2), id="in sync, both needed"),
        pytest.param(replace(TWO, isr=1, down=2), id="follower down"),
        pytest.param(replace(TWO, leader=1, isr=2, down=1), id="first leader down"),
        pytest.param(replace(TWO, version=KRAFT, min_insync=2, isr=1), id="behind"),
    ],
)
def test_the_fewest_faults_are_those_of_a_search_in_plain_python(situation: Situation) -> None:
    problem = problem_of(situation, [each for each in FEW_FURTHER for _ in range(3)])
    model = problem.model
    claims = [claim for claim in problem.invariants if claim.name in histories.CLAIMS]

    def is_lost(s: State) -> bool:
        return not all(claim.holds(s, model.settings) for claim in claims)

    before, alike = fewest(model, model.initial, FEW_BEFORE, lambda s: looks_like(situation, s))
    alike = [s for s in alike if not is_lost(s)]
    expected, _ = fewest(model, alike, FEW_FURTHER, is_lost)

    found = states_like(situation, FEW_BEFORE)
    assert found.faults_before == before
    assert {tuple(map(int, row)) for row in found.rows} == {s.words for s in alike}
    assert further_faults(situation, faults=2, uses_kept=False).fewest == expected


def faults_that_lose(situation: Situation, event: Event = NOTHING) -> set[tuple[str, ...]]:
    found: Findings = further_faults(situation, event)
    assert not found.unknown
    return {loss.faults for loss in found.losses if not loss.if_power}


def test_a_full_isr_with_two_needed_survives_any_one_fault() -> None:
    assert faults_that_lose(THREE) == set()
    assert faults_that_lose(replace(THREE, isr=3, down=4)) == set()


def test_the_only_member_of_an_isr_must_not_lose_power_and_may_crash() -> None:
    alone = replace(THREE, min_insync=1, isr=1)

    found = further_faults(alone)

    assert {loss.faults: loss.places for loss in found.losses} == {
        ("power_losses",): (0,),
        ("lost_disks",): (0,),
    }


def test_with_unclean_elections_a_crash_of_the_only_member_loses() -> None:
    alone = replace(THREE, version=KRAFT, min_insync=1, isr=1, unclean=True)

    assert ("restarts",) in faults_that_lose(alone)


def test_a_broker_that_is_down_may_have_lost_power() -> None:
    waiting = replace(THREE, version=KRAFT, min_insync=1, leader=-1, isr=1, down=1)

    assert [loss.faults for loss in further_faults(waiting).losses if loss.if_power] == [()]


def test_two_of_three_without_power_leave_one_whose_fault_loses() -> None:
    assert faults_that_lose(THREE, Event(DOWN, (0,))) == set()
    assert ("power_losses",) in faults_that_lose(THREE, Event(DOWN, (0, 1)))


def test_what_no_short_history_explains_is_unknown() -> None:
    all_down = replace(THREE, leader=-1, isr=0, elr=3, down=7)

    found = further_faults(all_down, faults=0)

    assert found.unknown
    assert found.losses == ()


@pytest.mark.parametrize("version", [ELR, KRAFT])
@pytest.mark.parametrize("min_insync", [1, 2])
@pytest.mark.parametrize("leader", [0, 1])
def test_a_broker_that_goes_leaves_what_the_controller_writes(
    version: str, min_insync: int, leader: int
) -> None:
    has_elr = version == ELR
    first = replace(TWO, version=version, min_insync=min_insync, leader=leader)
    lone = replace(first, isr=1 << leader, elr=3 & ~(1 << leader) if min_insync > 1 else 0)
    for situation in (first, lone if has_elr else replace(lone, elr=0)):
        for kind, steps in ((SHUT_DOWN, [["BeginShutdown"]]), (DOWN, [["Crash"], ["Fence"]])):
            for place in (0, 1):
                states = states_like(situation)
                for names in steps:
                    states = states.after(names, place)
                expected = taken_out(situation, (place,))
                model = problem_of(situation, ()).model

                assert len(states.rows), kind
                for name in ("leader", "isr", "elr"):
                    seen = set(used_in_rows(model, name, states.rows).tolist())
                    assert seen == {getattr(expected, name)}, (situation, kind, place, name)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(
    ("situation", "targets"),
    [
        pytest.param(replace(TWO, replicas=1, isr=1, joining=1), 0b10, id="to another broker"),
        pytest.param(replace(TWO, replicas=1, isr=1, joining=1, min_insync=2), 0b11, id="one more"),
        pytest.param(replace(TWO, joining=0, min_insync=2), 0b01, id="one fewer"),
    ],
)
def test_a_reassignment_loses_what_a_search_in_plain_python_finds(
    situation: Situation, targets: int
) -> None:
    faults = [histories.MOVE, *(each for each in FEW_FURTHER for _ in range(3))]
    problem = problem_of(situation, faults)
    model = problem.model
    claims = [claim for claim in problem.invariants if claim.name in histories.CLAIMS]

    def is_lost(s: State) -> bool:
        return not all(claim.holds(s, model.settings) for claim in claims)

    def is_moved(s: State) -> bool:
        return bool(s.adding | s.removing) or s.assigned == targets

    begun = []
    for row in states_like(situation, FEW_BEFORE).rows:
        for step in model.successors(State(model.layout, tuple(map(int, row)))):
            if (step.action.name, step.arguments) == ("Reassign", (targets,)):
                assert is_moved(step.after)
                begun.append(step.after)
    expected, _ = fewest(model, begun, FEW_FURTHER, is_lost)
    _, ended = fewest(
        model,
        begun,
        (),
        lambda s: (s.assigned, s.isr, s.adding | s.removing) == (targets, targets, 0),
    )
    states = [then for then, _ in histories.states_of_move(situation, targets)]

    assert {(s.leader, s.isr, s.elr) for s in begun} == {states[0].seen[:3]}
    assert states[-1].seen[:3] in {(s.leader, s.isr, s.elr) for s in ended}
    assert (
        further_faults(situation, Event(MOVED, (targets,)), faults=2, uses_kept=False).fewest
        == expected
    )
