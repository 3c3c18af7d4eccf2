"""A call that is remembered comes to what it would come to, gone through again."""

from __future__ import annotations

import copy
import functools
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import pytest

from checker.kafka.families import MESSAGE
from checker.problem.problem import Problem
from checker.reduction import memo
from checker.reduction.abstract_interpreter import Looker
from checker.reduction.abstract_state import SETTINGS, STATE, Fields, Number, World
from checker.reduction.effects import Steps
from checker.reduction.elements import Elements, Seen
from checker.reduction.generated import made
from checker.reduction.memo import Remembered
from checker.reduction.plan import Cell, Decisions
from checker.reduction.planning import decided
from checker.reduction.relations import Relations
from fuzz.random_models import SWITCH, random_problem
from model.core.layout import Layout
from model.core.transition_system import Model

SEEDS = range(12)
LOOKED_AT = 5
"""So many random models are decided as a whole."""


HELPED = made(
    """
def least(s, number):
    return min(number, s.a[1])

def put(s, number):
    if s.a[0] == number:
        return 0
    s.h[1] = number
    return 1

def helped(s, c):
    s.b[0] = least(s, s.q[0])
    s.b[1] = least(s, s.h[0])
    if s.g == 0:
        s.q[0] = put(s, s.q[1])
    else:
        s.q[1] = put(s, s.q[1])
""",
    {},
)["helped"]
"""It calls the same function with what is made of other fields, and where others decided."""


@dataclass(frozen=True)
class Situation:
    """All that a look at a rule of one model rests on."""

    ranges: dict[str, frozenset[int]]
    pairs: dict[tuple[str, str], set[tuple[int, int]]] = field(default_factory=dict)
    parting: Fields = frozenset()
    watched: frozenset[Cell] = frozenset()
    overwritten: frozenset[Cell] = frozenset()
    world: World = field(default_factory=World)

    def look(self, model: Model, rule: Any, given: tuple[int, ...], calls: Remembered) -> Any:
        """What a rule comes to and may do."""
        elements = Elements(
            model.layout,
            self.ranges,
            Relations(self.pairs),
            self.parting,
            self.watched,
            self.overwritten,
        )
        looker = Looker(model.settings, elements, calls)
        return looker.ways(rule, self.world, (STATE, SETTINGS, *given)), elements.seen


def situations(seed: int, layout: Layout) -> Iterator[Situation]:
    """A random one, and those that differ from it in one thing alone."""
    draw = random.Random(f"situations {seed}")
    highest = {f.name: f.hi for f in layout.fields}
    cells = [(f.name, i, 0) for f in layout.fields for i in range(f.shape[0] if f.shape else 1)]
    rows = [f.name for f in layout.fields if f.shape]

    def values(name: str) -> frozenset[int]:
        whole = range(highest[name] + 1)
        return frozenset(draw.sample(whole, draw.randint(1, len(whole))))

    def some(things: list[Any]) -> frozenset[Any]:
        return frozenset(thing for thing in things if draw.random() < 0.5)

    def pairs() -> dict[tuple[str, str], set[tuple[int, int]]]:
        return {
            (SWITCH, name): {
                pair for pair in product(range(2), range(highest[name] + 1)) if draw.random() < 0.7
            }
            for name in rows
            if name != SWITCH
        }

    ranges = {f.name: frozenset(range(f.hi + 1)) for f in layout.fields}
    world = World({cell: values(cell[0]) for cell in sorted(some(cells))})
    base = Situation(ranges, pairs(), frozenset({SWITCH}), some(cells), some(cells), world)
    yield base
    yield replace(base, world=World())
    yield replace(base, ranges={name: values(name) for name in ranges})
    yield replace(base, pairs=pairs())
    yield replace(base, parting=some(rows))
    yield replace(base, watched=some(cells))
    yield replace(base, overwritten=some(cells))
    more = {cell: values(cell[0]) for cell in sorted(some(cells))}
    yield replace(base, world=replace(world, cells=more))
    yield replace(base, world=replace(world, changed=some(cells)))
    yield replace(base, world=replace(world, written=some(cells)))
    yield replace(base, world=replace(world, read=some(cells)))
    yield replace(base, world=replace(world, decided_by=some(rows)))


@functools.cache
def alone(seed: int) -> list[Any]:
    """What each rule of a random model comes to in each situation, with nothing remembered."""
    return list(_looks(seed, Remembered))


def one_after_the_other(seed: int) -> list[Any]:
    """The same, each remembered for all that follow."""
    calls = Remembered()
    return list(_looks(seed, lambda: calls))


def _looks(seed: int, calls: Callable[[], Remembered]) -> Iterator[Any]:
    model = random_problem(seed).model
    for situation in situations(seed, model.layout):
        for action in model.actions:
            for given in model.bindings(action):
                yield situation.look(model, action.guard, given, calls())
                yield situation.look(model, action.effect, given, calls())
        yield situation.look(model, HELPED, (), calls())


def differing() -> int | None:
    """The first random model of which a look comes to something else where calls are kept."""
    return next((seed for seed in SEEDS if one_after_the_other(seed) != alone(seed)), None)


def test_a_look_comes_to_the_same_whatever_was_looked_at_before() -> None:
    assert differing() is None


def without(part: int, key: Any) -> Any:
    assert part < len(key)
    return (*key[:part], *key[part + 1 :])


@pytest.mark.parametrize(
    ("owner", "function", "part"),
    [
        (memo, "_key", 0),
        (memo, "_key", 1),
        (memo, "_key", 2),
        (memo._Asked, "answers", 0),
        (memo._Asked, "answers", 1),
        (memo._Asked, "answers", 2),
        (memo._Asked, "answers", 3),
        (memo._Asked, "answers", 4),
        (Elements, "circumstances", 0),
        (Elements, "circumstances", 1),
        (Elements, "circumstances", 2),
        (Elements, "circumstances", 3),
        (Elements, "circumstances", 4),
    ],
    ids=[
        "function",
        "arguments",
        "decided by",
        "circumstances",
        "what elements may be",
        "changed",
        "written",
        "read",
        "ranges",
        "relations",
        "parting",
        "watched",
        "overwritten",
    ],
)
def test_what_is_left_out_of_the_key_changes_what_a_look_comes_to(
    owner: Any, function: str, part: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = getattr(owner, function)
    monkeypatch.setattr(owner, function, lambda *given: without(part, whole(*given)))

    assert differing() is not None


def test_what_arguments_are_made_of_is_part_of_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    describe = memo._describe
    monkeypatch.setattr(
        memo, "_describe", lambda each: each.values if isinstance(each, Number) else describe(each)
    )

    assert differing() is not None


@pytest.mark.parametrize("kind", ["reads", "writes", "neither"])
def test_what_is_asked_and_not_noted_changes_what_a_look_comes_to(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = Remembered.keep

    def forgetful(self: Remembered, *given: Any) -> None:
        elements = given[3]
        seen = elements.seen
        noted = {"reads": seen.reads, "writes": seen.writes - seen.reads}
        forgotten = noted.get(kind, elements.asked - seen.reads - seen.writes)
        elements.asked -= forgotten
        keep(self, *given)

    monkeypatch.setattr(Remembered, "keep", forgetful)

    assert differing() is not None


def deciding(problem: Problem) -> tuple[list[Any], Decisions]:
    """Every look at a step while it is decided: what it comes to and may do; and the decisions."""
    found = []
    ways = Steps.ways

    def noted(self: Steps, looker: Any, call: Any, world: Any) -> Any:
        came_to = ways(self, looker, call, world)
        found.append((call[0].name, call[1], came_to, copy.deepcopy(looker.seen)))
        return came_to

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Steps, "ways", noted)
        return found, decided(problem)


@pytest.mark.parametrize("of", ["random models", "Kafka"])
def test_all_looks_while_it_is_decided_come_to_the_same(
    of: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    kafka = MESSAGE.problem_of("hw", {"records": 1, "epochs": 1, "restarts": 1})
    problems = [kafka] if of == "Kafka" else [random_problem(seed) for seed in range(LOOKED_AT)]

    with_memory = [deciding(problem) for problem in problems]
    monkeypatch.setattr(Remembered, "recalled", lambda *given: None)
    without_memory = [deciding(problem) for problem in problems]

    assert with_memory == without_memory


def test_what_a_step_may_do_in_any_state_is_no_less_than_what_it_does_in_some() -> None:
    """A step is not looked at again in a row of which it touches nothing anywhere."""
    compared = 0
    for seed in range(LOOKED_AT):
        steps = Steps.of(random_problem(seed).model)
        there = steps.where_lowest(["w"], ["a"])
        rows = [(name, row, 0) for name in ("b", SWITCH) for row in range(2)]
        for each, call, cell in product((steps, there), [*steps.calls, *steps.never], rows):
            whole = each.in_any_state(call)
            assert whole is not None
            for value in each.ranges[cell[0]]:
                seen = Seen()
                looker = each.looker(parting=each.relations.distinguishes_names, seen=seen)
                each.ways(looker, call, World({cell: frozenset((value,))}))
                compared += bool(seen.reads)
                assert seen.reads <= whole.reads
                assert seen.writes <= whole.writes
    assert compared > LOOKED_AT
