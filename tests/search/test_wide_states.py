"""A search over states of as many words as a layout may have, on every engine of one machine.

The model is a grid that can be counted by hand: a counter in each word, of which each step raises
one. Each is kept at both ends of its word, so that no word of a state, and no half of one, can be
lost unnoticed.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any, NamedTuple

import pytest

from tests.support.engines import WAYS, engine_for
from waterline.checker.problem.problem import Problem
from waterline.checker.search.search import search
from waterline.model.core.claim import Invariant
from waterline.model.core.layout import WORD_BITS, Field, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Narration, Parameter

TOP = 2
"""Each counter goes from 0 to this."""
LIFT = WORD_BITS - 4
ONE = 1 + (1 << LIFT)


class Settings(NamedTuple):
    """Which corner of the grid is bad: the sum of its counters."""

    bad: int


def can_raise(s: Any, c: Any, word: int) -> bool:
    """The counter is not at its top."""
    return (s.counter[word] & 3) < TOP


def raise_counter(s: Any, c: Any, word: int) -> None:
    """One more, at both ends of the word."""
    s.counter[word] = s.counter[word] + ONE


def total(s: Any) -> int:
    """The sum of the counters, read at the high end of their words."""
    found = 0
    for word in range(s.counters):
        found += s.counter[word] >> LIFT
    return found


def holds(s: Any, c: Any) -> bool:
    """The sum is not the bad one."""
    return total(s) != c.bad


def grid_problem(words: int, bad: int) -> Problem:
    """Counters in this many words."""
    layout = Layout(
        [Field(name="counter", doc="", hi=(1 << WORD_BITS - 1) - 1, shape=(words,))],
        sizes={"counters": words},
    )
    model = Model(
        name="grid",
        version="grid",
        layout=layout,
        settings=Settings(bad),
        actions=(
            Action(
                name="Raise",
                parameters=(Parameter("word", "counters"),),
                guard=can_raise,
                effect=raise_counter,
            ),
        ),
        contents=("Raise",),
        limits=("within",),
        initial=(State(layout),),
        narration=Narration(
            sentence=lambda name, arguments, before, after: str(arguments),
            rows=lambda state: [["Words"], [str(state.words)]],
            summary=lambda state: [],
        ),
        options={},
    )
    claim = Invariant(
        name="not_bad", sentence="Not bad.", holds=holds, explain=lambda s, c: str(total(s))
    )
    return Problem(model, (claim,))


def levels_of(words: int) -> list[int]:
    """How many vectors of counters have each sum."""
    level = [1]
    for _ in range(words):
        level = [
            sum(level[i - step] for step in range(TOP + 1) if 0 <= i - step < len(level))
            for i in range(len(level) + TOP)
        ]
    return level


@pytest.mark.parametrize("way", WAYS)
def test_no_word_of_a_wide_state_is_lost_on_any_engine(way: str) -> None:
    assert_no_word_is_lost(way, 5)


def assert_no_word_is_lost(way: str, words: int) -> None:
    """States of so many words come to the counts of the grid."""
    problem = grid_problem(words, bad=3)
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)
    distinct = (TOP + 1) ** words
    (not_bad,) = result.invariants

    assert problem.model.layout.words == words
    assert [level.states for level in result.levels] == levels_of(words)
    assert result.complete
    assert result.distinct == distinct
    assert result.generated == 1 + words * TOP * distinct // (TOP + 1)
    assert (not_bad.depth, not_bad.words) == (3, (0,) * (words - 2) + (ONE, 2 * ONE))
