"""Of the shortest counterexamples the one with the fewest faults, and how many states there are."""

from __future__ import annotations

from contextlib import closing
from typing import Any, NamedTuple

import pytest

from tests.support.engines import WAYS, engine_for
from waterline.checker.checking.run import counterexamples_of
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import Result
from waterline.checker.search.search import search
from waterline.checker.traces.finding import Finding
from waterline.model.core.claim import ActionProperty, Invariant
from waterline.model.core.layout import Field, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Budget, Model, Narration
from waterline.model.message.environment import Environment

CLAIMS = (
    "no_committed_loss",
    "acknowledged_durable",
    "acknowledged_somewhere",
    "hw_covers_committed",
    "leader_isr_complete",
    "no_forced_exit",
)


class Slips(NamedTuple):
    """How many there may be."""

    slips: int


def can_go(s: Any, c: Any) -> bool:
    """There is some way left."""
    return s.place < 10


def walk(s: Any, c: Any) -> None:
    """Two on."""
    s.place = s.place + 2


def slip(s: Any, c: Any) -> None:
    """One on, which is a fault."""
    s.place = s.place + 1


def is_early(s: Any, c: Any) -> bool:
    """Not as far as the third place."""
    return s.place < 3


def keeps_early(s: Any, t: Any, c: Any) -> bool:
    """The same of steps."""
    return t.place < 3


LAYOUT = Layout(
    [Field(name="slipped", lo=0, hi=31, doc=""), Field(name="place", lo=0, hi=12, doc="")], sizes={}
)


def slippery() -> Problem:
    """Two steps lead to place 4, one step and a slip to place 3: the lesser state, with a fault."""
    model = Model(
        name="slippery",
        version="only",
        layout=LAYOUT,
        settings=Slips(3),
        actions=(
            Action(
                name="Slip", guard=can_go, effect=slip, budget=Budget("slips", "slips", "slipped")
            ),
            Action(name="Walk", guard=can_go, effect=walk),
        ),
        contents=("Slip", "Walk"),
        limits=("within", "slips"),
        initial=(State(LAYOUT),),
        narration=Narration(
            sentence=lambda action, arguments, before, after: action,
            rows=lambda state: [["place"], [str(state.place)]],
            summary=lambda state: [],
        ),
        options={},
    )
    early = Invariant(
        name="early", sentence="It is early.", holds=is_early, explain=lambda s, c: "late"
    )
    kept = ActionProperty(
        name="kept", sentence="It stays early.", keeps=keeps_early, explain=lambda s, t, c: "late"
    )
    return Problem(model, (early,), properties=(kept,))


def explored(problem: Problem, way: str) -> tuple[Result, dict[str, Finding]]:
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)
        found = counterexamples_of(problem, engine, result)
    return result, {finding.invariant: finding for finding in found}


@pytest.mark.parametrize("way", WAYS)
def test_the_fewest_faults_are_shown_and_not_the_least_state(way: str) -> None:
    result, found = explored(slippery(), way)
    least = {claim.name: claim.words for claim in result.invariants}
    shown = {name: [m.action for m in f.replayed.moments] for name, f in found.items()}
    breaking = {name: f.breaking for name, f in found.items()}

    assert State(LAYOUT, least["early"]).place == 3
    assert shown == {"early": ["Walk", "Walk"], "kept": ["Walk", "Walk"]}
    assert {name: (b.states, b.faults) for name, b in breaking.items() if b} == {
        "early": (2, 0),  # at 3 and at 4
        "kept": (2, 0),  # out of 1, with a slip, and out of 2
    }


@pytest.fixture(scope="module")
def adversarial() -> Problem:
    """Many claims break here, at several depths, one of them a claim about steps."""
    environment = Environment(records=1, epochs=1, restarts=1, moves=1, acks="1")
    return MESSAGE.problem("hw", environment, CLAIMS)


@pytest.fixture(scope="module")
def counted(adversarial: Problem) -> dict[str, tuple[int, int]]:
    """By claim how many states break it at the least depth, and the fewest faults, in Python."""
    model, settings = adversarial.model, adversarial.model.settings
    counters = [action.budget.used for action in model.actions if action.budget]
    level, seen = set(model.initial), set(model.initial)
    counted: dict[str, tuple[int, int]] = {}

    def faults(state: State) -> int:
        return sum(getattr(state, name) for name in counters)

    while level:
        following: set[State] = set()
        wrong: dict[str, list[tuple[State, int]]] = {}
        for state in level:
            for claim in adversarial.applicable:
                if not claim.holds(state, settings):
                    wrong.setdefault(claim.name, []).append((state, faults(state)))
            for step in model.successors(state):
                following.add(step.after)
                for kept in adversarial.applicable_properties:
                    if not kept.keeps(state, step.after, settings):
                        wrong.setdefault(kept.name, []).append((state, faults(step.after)))
        for name, pairs in wrong.items():
            number, fewest = len({state for state, _ in pairs}), min(f for _, f in pairs)
            counted.setdefault(name, (number, fewest))
        level = following - seen
        seen |= level
    return counted


@pytest.mark.parametrize("way", WAYS)
def test_states_and_faults_are_those_that_python_counts(
    way: str, adversarial: Problem, counted: dict[str, tuple[int, int]]
) -> None:
    _, found = explored(adversarial, way)
    breaking = {name: f.breaking for name, f in found.items()}

    assert {name: (b.states, b.faults) for name, b in breaking.items() if b} == counted
    assert len(counted) >= 4
    assert any(states > 1 for states, _ in counted.values())
