"""Of the shortest counterexamples with as few faults the one with the fewest actors."""

from __future__ import annotations

from contextlib import closing
from typing import Any, NamedTuple

import pytest

from tests.support.engines import WAYS, engine_for
from waterline.checker.checking.run import counterexamples_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.search import search
from waterline.checker.traces import fewest_actors
from waterline.model.core.claim import Invariant
from waterline.model.core.layout import Field, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Narration, Parameter


class Nothing(NamedTuple):
    """There is nothing to set."""

    unused: int = 0


LAYOUT = Layout(
    [Field(name="first", hi=7, doc=""), Field(name="second", hi=7, doc="")], sizes={"workers": 2}
)


def can_work(s: Any, c: Any, who: int) -> bool:
    """The first worker begins, and does no more."""
    return s.second < 4 and (who == 1 or s.first + s.second == 0)


def can_help(s: Any, c: Any, who: int) -> bool:
    """Either does."""
    return s.first + s.second < 4


def work(s: Any, c: Any, who: int) -> None:
    """Whoever does it, the same comes of it."""
    s.second = s.second + 1


def help_out(s: Any, c: Any, who: int) -> None:
    """Each has a count of its own."""
    if who == 0:
        s.first = s.first + 1
    else:
        s.second = s.second + 1


def is_little(s: Any, c: Any) -> bool:
    """Nobody has done two, and not both have done one."""
    return s.second < 2 and (s.first == 0 or s.second == 0)


def problem(name: str, guard: Any, effect: Any) -> Problem:
    who = Parameter("who", "workers")
    model = Model(
        name=name,
        version="only",
        layout=LAYOUT,
        settings=Nothing(),
        actions=(Action(name="Work", guard=guard, effect=effect, parameters=(who,)),),
        contents=("Work",),
        limits=("within",),
        initial=(State(LAYOUT),),
        narration=Narration(
            sentence=lambda action, arguments, before, after: action,
            rows=lambda state: [["first"], [str(state.first)]],
            summary=lambda state: [],
        ),
        options={},
    )
    little = Invariant(
        name="little", sentence="It is little.", holds=is_little, explain=lambda s, c: "much"
    )
    return Problem(model, (little,))


def shown(asked: Problem, way: str) -> tuple[list[int], list[int]]:
    """Who does what in the counterexample; and the least of the states that break the claim."""
    with closing(engine_for(asked, way)) as engine:
        result = search(asked, engine)
        [finding] = counterexamples_of(asked, engine, result)
    words = result.invariants[0].words
    assert words is not None
    least = State(LAYOUT, words)
    return [m.values[0] for m in finding.replayed.moments], [least.first, least.second]


@pytest.mark.parametrize("way", WAYS)
def test_a_state_that_one_comes_to_alone_is_shown_and_not_the_least(way: str) -> None:
    workers, least = shown(problem("counts", can_help, help_out), way)

    assert least == [1, 1]
    assert workers == [1, 1]


@pytest.mark.parametrize("way", WAYS)
def test_of_two_ways_to_a_state_the_one_with_fewer_actors_is_shown(way: str) -> None:
    workers, least = shown(problem("same", can_work, work), way)

    # By the least arguments alone the first worker would begin, and the second go on.
    assert least == [0, 2]
    assert workers == [1, 1]


def test_of_more_states_than_are_followed_back_the_least_lead_to_a_trace_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fewest_actors, "STATES_MAX", 1)
    workers, _ = shown(problem("counts", can_help, help_out), "one thread")

    assert len(workers) == 2
