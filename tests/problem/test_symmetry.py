"""Of states that differ in names alone one is explored, and that loses nothing.

`renamed` says, from the declarations and interpreted, what such states are; orbits and the equality
of steps are worked out by brute force.
"""

from __future__ import annotations

import functools
import random
from contextlib import closing
from typing import Any

import pytest

from tests.support.reached import reachable_states
from tests.support.renamed import Names, born, least_of_orbits, orbit, renamed, transpositions
from tests.support.sampling import drawn
from tests.support.states import edited
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result
from waterline.checker.search.search import search
from waterline.checker.traces.fewest_actors import representative
from waterline.model.atomic import AtomicEnvironment
from waterline.model.core.state import State
from waterline.model.message.environment import Environment

EVERY_SYMMETRY = [Symmetry.REPLICAS, Symmetry.RECORDS, Symmetry.ALL]
Bounds = tuple[str, Environment | AtomicEnvironment]


def message(version: str, **options: Any) -> Bounds:
    few = {"records": 1, "epochs": 1, "restarts": 1, "election_order": "any"}
    return version, Environment(**few | options)


def atomic(version: str, **bounds: int) -> Bounds:
    return version, AtomicEnvironment(**bounds)


SPACES: dict[str, Bounds] = {
    "message, 2 replicas": message("hw", records=2),
    "message, 2 replicas, moves": message("epoch", records=2, moves=1, restarts=0),
    "message, 2 replicas, unclean": message("hw", records=2, unclean_leader_election=True),
    "message, 2 replicas, parked": message(
        "hw", records=2, restarts=0, moves=1, parked_fetches=True
    ),
    "message, 3 replicas": message("hw", replicas=3, restarts=0, epochs=0),
    "message, several leave the ISR": message(
        "elr", replicas=3, restarts=0, epochs=0, min_insync_replicas=2, caught_up_wait=True
    ),
    "message, replayed late": message("elr", records=2, restarts=0, late_replay=True),
    "atomic, 2 replicas": atomic("kip279", epochs=1),
    "atomic, 2 replicas, 3 records": atomic("epoch", log_size=2, records=3, epochs=1),
    "atomic, 3 replicas": atomic("kip320", replicas=3, log_size=1, records=1, epochs=1),
    "atomic, 3 replicas, 2 records": atomic("hw", replicas=3, log_size=2, records=2, epochs=0),
    "atomic, first try": atomic("kip320-first-try", epochs=1),
}
LARGER: dict[str, Bounds] = {
    "message, replayed late after a restart": message("elr", records=2, late_replay=True),
    "message, 3 replicas, moves": message("epoch", replicas=3, restarts=0, moves=1),
    "message, 3 replicas, an election": message("epoch", replicas=3),
    "message, 3 replicas, 2 records": message("hw", replicas=3, records=2, epochs=0, restarts=0),
}
ALL = SPACES | LARGER
PAIRS = [(name, symmetry) for name in SPACES for symmetry in EVERY_SYMMETRY]
SOME_PAIRS = pytest.mark.parametrize(("name", "symmetry"), drawn(PAIRS, 12))


@functools.cache
def problem(name: str, symmetry: Symmetry = Symmetry.NONE) -> Problem:
    return problem_for(*ALL[name], symmetry=symmetry)


@functools.cache
def reachable(name: str) -> list[State]:
    """Every state that a search without symmetry finds."""
    return reachable_states(problem(name))


def some(name: str, most: int) -> list[State]:
    """At most so many of the reachable states, from all over the space."""
    states = reachable(name)
    return random.Random(name).sample(states, min(most, len(states)))


@functools.cache
def searched(name: str, symmetry: Symmetry) -> Result:
    with closing(MemoryEngine(problem(name, symmetry), threads=1)) as engine:
        return search(problem(name, symmetry), engine)


def stepped(asked: Problem, state: State) -> set[tuple[State, tuple[bool, ...]]]:
    """What a state leads to, and which properties each of these steps keeps."""
    c = asked.model.settings
    return {
        (step.after, tuple(p.keeps(state, step.after, c) for p in asked.applicable_properties))
        for step in asked.model.successors(state)
    }


def judged(asked: Problem, state: State) -> list[bool]:
    return [claim.holds(state, asked.model.settings) for claim in asked.applicable]


def assert_names_do_not_count(name: str, states: list[State], least: int) -> None:
    """Exchanging two names is enough: every other renaming is made of such exchanges."""
    asked = problem(name)
    others = 0
    for state in states:
        after, verdicts = stepped(asked, state), judged(asked, state)
        ways: list[dict[str, Names]] = [
            *({"replicas": names} for names in transpositions(state.replicas, state.replicas)),
            *({"records": names} for names in transpositions(born(state), state.records)),
        ]
        for way in ways:
            other = renamed(state, **way)
            assert stepped(asked, other) == {(renamed(s, **way), kept) for s, kept in after}
            assert judged(asked, other) == verdicts
            others += other != state

    assert others > least


@pytest.mark.parametrize("name", SPACES)
def test_no_rule_and_no_claim_tells_names_apart(name: str) -> None:
    assert_names_do_not_count(name, some(name, 20), least=20)


def assert_as_many_states_as_orbits(name: str, symmetry: Symmetry) -> None:
    orbits = least_of_orbits(reachable(name), symmetry.sorts)
    result = searched(name, symmetry)

    assert result.complete
    assert result.distinct == len(orbits)


@SOME_PAIRS
def test_as_many_states_are_explored_as_there_are_orbits(name: str, symmetry: Symmetry) -> None:
    assert_as_many_states_as_orbits(name, symmetry)


def assert_the_least_of_orbits_is_the_same_of_many(name: str, symmetry: Symmetry) -> None:
    states = some(name, 30)
    least = {min(each.words for each in orbit(state, symmetry.sorts)) for state in states}

    assert least_of_orbits(states, symmetry.sorts) == least


@SOME_PAIRS
def test_the_least_of_an_orbit_is_the_same_worked_out_for_many_states_at_once(
    name: str, symmetry: Symmetry
) -> None:
    assert_the_least_of_orbits_is_the_same_of_many(name, symmetry)


def assert_representatives_are_renamings(name: str, symmetry: Symmetry, most: int) -> None:
    asked = problem(name, symmetry)
    for state in some(name, most):
        words = representative(asked, state)
        same = list(orbit(state, symmetry.sorts))

        assert words in {each.words for each in same}
        assert {representative(asked, each) for each in same} == {words}
        assert representative(asked, State(state.layout, words)) == words


@SOME_PAIRS
def test_a_representative_is_a_renaming_and_the_same_for_every_renaming(
    name: str, symmetry: Symmetry
) -> None:
    assert_representatives_are_renamings(name, symmetry, 20)


@pytest.mark.parametrize("symmetry", [Symmetry.RECORDS, Symmetry.ALL])
def test_records_that_are_nowhere_are_told_by_what_is_stored_of_them(symmetry: Symmetry) -> None:
    asked = problem("message, 2 replicas", symmetry)
    first, second, neither = (
        representative(asked, edited(asked.model.initial[0], produced=2, acked=acked))
        for acked in (0b01, 0b10, 0b00)
    )

    assert first == second
    assert first != neither


@pytest.mark.parametrize("symmetry", [Symmetry.RECORDS, Symmetry.ALL])
def test_a_record_that_is_not_born_keeps_its_name(symmetry: Symmetry) -> None:
    asked = problem("message, 2 replicas", symmetry)
    later = edited(asked.model.initial[0], produced=1, acked=0b10)
    born_since = edited(later, produced=2)

    assert State(later.layout, representative(asked, later)).acked == 0b10
    assert State(later.layout, representative(asked, born_since)).acked == 0b01
