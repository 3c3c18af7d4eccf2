"""What a file says is what is searched: text, None, comprehensions, several kinds of indices.

Each claim of FILE is worked out by Python on the file as it stands, and by what is made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.support.own import own_problem
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.checker.user_models.loading import load_text, read_own
from waterline.model.core.state import State

FILE = """\
from waterline import Action, Choice, Flag, Name, Names, Number, Protocol, when, within

BUSY = "busy"


def world(nodes: int = 3, top: int = 2, fast: bool = True) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Choice("mode", "idle", "busy", by=node),
            Name("friend", node, or_none=True, by=node),
            Name("first", node),
            Flag("knows", by=(node, node)),
            Number("level", -1, top, by=(node, 2)),
            Number("plain", 0, 1, by=2),
        ],
        initial=Action(start, who=node),
        actions=[wake, Action(meet, one=node, other=node), Action(climb, which=2)],
        always=[pairs, several, chosen, counted, nested, local],
    )


def start(s, who):
    s.first = who


def wake(s, node):
    when(s.mode[node] == "idle" and (s.fast or s.first == node))
    s.mode[node] = BUSY if s.friend[node] is None else "busy"
    s.plain[1] = 1


def meet(s, one, other):
    when(one != other and s.friend[one] is None)
    when(s.mode[one] == BUSY)
    s.friend[one] = other
    s.knows[one, other] = s.knows[other, one] = True


def climb(s, node, which):
    before = s.level[node, which]
    when(s.friend[node] is not None)
    within(before < s.top)
    s.level[node, which] = before + 1


def pairs(s):
    return all(
        s.knows[b, a] for a in range(s.nodes) for b in range(s.nodes) if a != b if s.knows[a, b]
    )


def several(s):
    total = sum(s.knows[a, b] + 1 for a in range(s.nodes) for b in range(a))
    return total != 5 and s.level[0, 0] in (-1, 0, 2)


def chosen(s):
    return s.friend[s.first] != s.first if s.friend[s.first] is not None else s.mode[0] in ("idle",)


def counted(s):
    busy = sum([s.mode[a] == BUSY for a in range(s.nodes)])
    return not any(s.mode[a] != "idle" and busy == 2 and s.plain[1] for a in range(s.nodes))


def nested(s):
    return any(all(not s.knows[a, b] for b in range(s.nodes)) for a in range(s.nodes))


def local(s):
    best = -1
    for a in range(s.nodes):
        if s.friend[a] is None:
            continue
        best = max(best, s.level[a, 0] + s.level[a, 1])
    return best < 0
"""
CLAIMS = ("pairs", "several", "chosen", "counted", "nested", "local")


@dataclass
class Row:
    """One field of a state as the file reads it: text for choices, None for nobody."""

    state: State
    name: str

    def __getitem__(self, index: Any) -> Any:
        value = getattr(self.state, self.name)[index]
        if self.name == "mode":
            return ("idle", "busy")[value]
        return None if self.name == "friend" and value < 0 else value


def as_written(state: State) -> SimpleNamespace:
    """The state as the functions of the file would have it, were they to run as they stand."""
    rows = {name: Row(state, name) for name in ("mode", "friend", "knows", "level", "plain")}
    return SimpleNamespace(first=state.first, nodes=3, top=2, fast=1, **rows)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "world.py"
    path.write_text(FILE)
    return path


@pytest.fixture(scope="module")
def problem(file: Path) -> Problem:
    return own_problem(file, top=0)


def walk(problem: Problem, most: int) -> Iterator[State]:
    seen = dict.fromkeys(problem.model.initial)
    yield from list(seen)
    frontier = list(seen)
    while frontier and len(seen) < most:
        new = [step.after for state in frontier for step in problem.model.successors(state)]
        frontier = [state for state in dict.fromkeys(new) if state not in seen]
        seen |= dict.fromkeys(frontier)
        yield from frontier


def test_claims_are_those_that_python_makes_of_the_file(file: Path, problem: Problem) -> None:
    own = load_text(*read_own(file))
    truths: dict[str, set[bool]] = {name: set() for name in CLAIMS}
    for state in walk(problem, 2_000):
        for claim in problem.invariants:
            expected = bool(own.names[claim.name](as_written(state)))
            truths[claim.name].add(expected)

            assert bool(claim.holds(state, ())) is expected, (claim.name, state)

    assert {name for name in CLAIMS if len(truths[name]) < 2} == {"pairs"}
    assert truths["pairs"] == {True}


def test_compiled_and_interpreted_agree_on_counts_and_depths(problem: Problem) -> None:
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)
    states = list(walk(problem, 10**9))
    steps = sum(1 for state in states for _ in problem.model.successors(state))
    broken = {c.name for c in problem.invariants if not all(c.holds(s, ()) for s in states)}

    assert result.complete
    assert result.distinct == len(states)
    assert result.generated == steps + len(problem.model.initial)
    assert {found.name for found in result.invariants if found.depth is not None} == broken
    assert result.cut["top"] > 0


def test_every_choice_of_arguments_is_a_first_state(problem: Problem) -> None:
    assert [state.first for state in problem.model.initial] == [0, 1, 2]


def test_a_truth_is_a_bound(file: Path) -> None:
    fast = own_problem(file, top=0)
    slow = own_problem(file, top=0, fast=False)
    awake = [
        sum(step.action.name == "wake" for step in each.model.successors(each.model.initial[0]))
        for each in (fast, slow)
    ]

    assert awake == [3, 1]


def test_lines_are_those_of_the_file(file: Path, problem: Problem) -> None:
    lines = file.read_text().splitlines()
    for action in problem.model.actions:
        first = action.effect.__code__.co_firstlineno

        assert lines[first - 1].startswith(f"def {action.name}(")
