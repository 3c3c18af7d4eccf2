"""The cover "guards": each guard is needed in a state that a path enters."""

from __future__ import annotations

from pathlib import Path as File

import pytest

from tests.support.commands import Commands
from tests.support.own import example, own_problem
from waterline.checker.covering.covers import BadCover, cover_graph
from waterline.checker.covering.paths import Path
from waterline.checker.covering.state_graph import StateGraph, graph_of
from waterline.checker.mutants.guards import goals_of_guards, states_of_guards
from waterline.model.core.state import as_dict

TWO = """\
from waterline import Action, Fields, Number, Protocol, when


class State(Fields):
    low = Number(0, 2)
    high = Number(0, 2)
    side = Number(0, 1)


def two(state: type[State]) -> Protocol:
    start = Action(begin, side=2)
    return Protocol(state=state, initial=start, actions=[up, go], always=[fine])


def begin(s: State, side: int) -> None:
    s.side = side


def up(s: State) -> None:
    \"\"\"Up.\"\"\"
    when(s.low < 2)
    s.low += 1


def go(s: State) -> None:
    \"\"\"Go.\"\"\"
    when(s.low == 2)
    when(s.high == 0)
    when(s.side == 0)
    s.high = 1


def fine(s: State) -> bool:
    \"\"\"Fine.\"\"\"
    return s.high < 2
"""


def covered(graph: StateGraph) -> tuple[list[Path], set[int]]:
    """The paths, and the states that they enter."""
    paths = cover_graph(graph, "guards", longest=50, guards=goals_of_guards)
    entered = {path.start for path in paths}
    return paths, entered | {int(graph.target[edge]) for path in paths for edge in path.edges}


def test_few_steps_take_every_action_and_need_every_guard() -> None:
    assert_few_steps("die_hard", paths=2, steps=6)


def assert_few_steps(name: str, paths: int, steps: int) -> None:
    """So many paths take every action, and enter a state for each guard that is needed."""
    graph = graph_of(example(name))

    found, entered = covered(graph)

    taken = {graph.call(edge)[0] for path in found for edge in path.edges}
    assert taken == {action.name for action in graph.problem.model.enabled_actions}
    assert set(states_of_guards(graph)) <= entered
    assert (len(found), sum(len(path.edges) for path in found)) == (paths, steps)


def test_each_condition_is_false_alone_where_a_path_comes_by(tmp_path: File) -> None:
    file = tmp_path / "two.py"
    file.write_text(TWO)
    graph = graph_of(own_problem(file))

    _, entered = covered(graph)

    values = {tuple(as_dict(graph.state(number)).values()) for number in entered}
    conditions = {(low == 2, high == 0, side == 0) for low, high, side in values}
    assert {(False, True, True), (True, False, True), (True, True, False)} <= conditions


def test_a_guard_that_is_never_needed_has_no_goal(tmp_path: File) -> None:
    file = tmp_path / "two.py"
    file.write_text(TWO.replace("when(s.high == 0)", "when(s.high == 0 or s.low < 9)"))
    graph = graph_of(own_problem(file))

    assert all(as_dict(graph.state(n))["high"] == 0 for n in states_of_guards(graph))


def test_a_model_of_kafka_and_a_sort_are_refused(cli: Commands) -> None:
    usual = ("--cover", "guards", "--output", "none.jsonl")
    code, _, err = cli("paths", "--protocol", "hw", "--restarts", 0, *usual, name="waterline")

    assert code == 2
    assert "the guards of a user model within bounds are covered, and no others" in err
    graph = graph_of(example("peterson"))
    with pytest.raises(BadCover, match="the cover guards is of all names"):
        cover_graph(graph, "guards", longest=9, up_to="process", guards=goals_of_guards)
    with pytest.raises(BadCover, match="cover is 'guards'; it is one of"):
        cover_graph(graph, "guards", longest=9)
