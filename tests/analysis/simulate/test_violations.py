"""A violation that walks meet is replayed, shortened and told for what it is; no claim holds."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from tests.support.commands import Commands
from tests.support.graph_model import NODES, graph_problem, node_state
from waterline.checker.analysis.simulate.shortening import with_steps_left_out
from waterline.checker.analysis.simulate.simulation import Simulation, Wanted, simulate
from waterline.checker.analysis.simulate.walker import Choosing, Plan
from waterline.checker.compiler.origins import call_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.rule_errors import Raised
from waterline.checker.traces.violating_states import Path as Steps
from waterline.checker.user_models.start import start_of
from waterline.counterexamples import read_trace

SMALL = ("--protocol", "hw", "--records", 1, "--epochs", 1, "--restarts", 0, "--moves", 0)
HARMLESS = (*SMALL, "--invariant", "sane")
DEEP = [(n, n + 1) for n in range(20)] + [(n, 0) for n in range(20)] + [(0, 30), (30, 31)]
"""A long line to walk along, every node of it one step from its beginning, and a short one."""


def simulated(problem: Problem, **wanted: Any) -> Simulation:
    plan = Plan(depth=40, choosing=Choosing.STEPS, seed=1)
    return simulate(problem, EngineChoice(name="local"), plan, Wanted(walks=200, **wanted))


def describe_lengths(done: Simulation) -> list[tuple[str, int, bool]]:
    return [(each.finding.invariant, each.steps, each.is_shortest) for each in done.found]


def test_a_violation_is_replayed_and_is_shortest_where_the_levels_below_were_explored() -> None:
    problem = graph_problem(DEEP, bad={31}, steep_from={3}, steep_to={4})
    done = simulated(problem)
    line = nx.shortest_path_length(nx.DiGraph(DEEP), 0, 4)

    assert describe_lengths(done) == [("not_bad", 2, True), ("level", line, True)]
    assert [m.after for m in done.found[0].finding.replayed.moments] == [
        node_state(30),
        node_state(31),
    ]


def test_a_claim_about_what_follows_is_refused_for_walks_cannot_see_it(cli: Commands) -> None:
    asked = (*SMALL, "--invariant", "leader_again")
    code, out, err = cli("simulate", *asked, name="waterline")

    assert (code, out) == (2, "")
    assert "leader_again is about what follows, of which a walk that ends says nothing" in err


def test_without_a_search_it_is_not_said_to_be_shortest() -> None:
    done = simulated(graph_problem(DEEP, bad={5}), shorten_states=0)
    [found] = done.found

    assert (found.steps, found.is_shortest, found.at_least) == (5, False, 1)
    assert found.walked is not None
    assert found.walked >= 5


def test_what_a_search_that_was_ended_explored_says_how_short_it_cannot_be() -> None:
    edges = [(n, m) for n in range(1, 8) for m in range(8, 40)] + [(0, n) for n in range(1, 8)]
    edges += [(n, 40) for n in range(8, 40)] + [(n, n + 1) for n in range(40, 45)]
    [found] = simulated(graph_problem(edges, bad={45}), shorten_states=20).found

    assert (found.steps, found.at_least) == (8, 3)


def test_an_initial_state_that_breaks_a_claim_takes_no_step() -> None:
    [found] = simulated(graph_problem([(0, 1)], bad={0})).found

    assert (found.steps, found.is_shortest, found.walked) == (0, True, 0)


def test_steps_that_are_not_needed_are_left_out() -> None:
    """A walk that goes round twice, and on the way to the end strays."""
    problem = graph_problem([(0, 1), (1, 0), (1, 2), (2, 1), (2, 3)], bad={3})
    prepare(problem)
    nodes = (1, 0, 1, 2, 1, 0, 1, 2, 1, 2, 3)
    path = Steps(0, tuple(call_of(problem.model, node) for node in nodes))
    [claim] = [claim for claim in problem.invariants if claim.name == "not_bad"]
    left = with_steps_left_out(problem, claim, path)

    assert [moment.values for moment in left.replayed.moments] == [(1,), (2,), (3,)]


@pytest.mark.parametrize("marked", ["breaks", "divides", "poisons", "trips"])
def test_what_raises_on_the_way_ends_it_by_its_own_name(marked: str) -> None:
    """In an action, an invariant or a property; and two of three walks do not come there."""
    edges = [(0, n) for n in range(1, 4)] + [(3, 4), (4, 5)]
    what = {"breaks": "Break", "divides": "Divide", "poisons": "not_bad", "trips": "level"}[marked]

    with pytest.raises(Raised, match=what):
        simulated(graph_problem(edges, **{marked: {4}}))


def test_as_many_steps_as_a_search_takes_on_random_graphs() -> None:
    """Where every walk could have come to the bad node, and all levels are explored."""
    for seed in range(20):
        graph = nx.gnp_random_graph(NODES, 0.06, seed=seed, directed=True)
        reached = nx.single_source_shortest_path_length(graph, 0)
        bad = max(reached, key=lambda node: (reached[node], node))
        found = simulated(graph_problem(graph.edges, bad={bad})).found

        assert all((f.steps, f.is_shortest) == (reached[bad], True) for f in found)
        assert found or reached[bad] > 6


Simulate = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(cli: Commands) -> Simulate:
    return lambda *arguments: cli("simulate", *arguments, name="waterline")


def test_a_violation_is_exit_code_12_and_can_be_viewed(
    command: Simulate, cli: Commands, tmp_path: Path
) -> None:
    asked = ("--protocol", "hw", "--invariant", "remote_leo_honest", "--walks", 3_000)
    code, out, _ = command(*asked, "--trace-dir", tmp_path)
    file = tmp_path / "hw-remote_leo_honest-2r2n2e.json"

    assert code == 12
    assert "VIOLATED after 9 steps, in" in out
    assert "Shortest: 9 steps" in out
    assert len(read_trace(file).steps) == 9
    assert cli("view", file, "--plain", name="waterline")[0] == 0


def test_nothing_seen_is_exit_code_0_and_is_not_said_to_hold(command: Simulate) -> None:
    code, out, _ = command(*HARMLESS, "--walks", 50)

    assert code == 0
    assert "not seen" in out
    assert "Walks cannot show that a claim holds; check can." in " ".join(out.split())
    assert "HOLDS" not in out


def test_walks_that_were_asked_for_and_not_made_are_exit_code_20(command: Simulate) -> None:
    cut, describe_cut, _ = command(*HARMLESS, "--walks", 10**12, "--max-time", 0.2)
    timed, describe_timed, _ = command(*HARMLESS, "--max-time", 0.2)

    assert (cut, timed) == (20, 0)
    assert "stopped by --max-time" in describe_cut
    assert "stopped by" not in describe_timed


def test_json_says_the_same_on_any_number_of_threads(command: Simulate) -> None:
    asked = ("--protocol", "hw", "--walks", 600, "--seed", 9, "--format", "json")
    said = [json.loads(command(*asked, "--threads", n)[1]) for n in (1, 2)]
    for each in said:
        for name in ("seconds", "prepare_seconds"):
            each.pop(name)

    assert said[0] == said[1]
    assert said[0]["format"] == "waterline-simulation/1"
    assert sum(said[0]["lengths"]) == said[0]["walks"] == 600
    assert sum(said[0]["actions"].values()) == said[0]["steps"]
    assert said[0]["invariants"]["remote_leo_honest"]["verdict"] == "violated"
    assert said[0]["invariants"]["sane"]["verdict"] == "not seen"
    assert "holds" not in {each["verdict"] for each in said[0]["invariants"].values()}


def test_a_model_of_ones_own_is_walked_through(command: Simulate, tmp_path: Path) -> None:
    second = '    when(s.client_state[s.holder] == "crashed")\n'
    file = tmp_path / "lease.py"
    file.write_text(start_of("lease").replace(second, ""), encoding="utf-8")
    code, out, _ = command("--model", file, "--walks", 200)

    assert code == 12
    assert "VIOLATED after 3 steps" in out


@pytest.mark.parametrize(
    "wrong", [("--seed", -1), ("--walks", 0), ("--depth", 0), ("--choose", "wildly")]
)
def test_what_makes_no_sense_is_refused(command: Simulate, wrong: tuple[object, ...]) -> None:
    code, out, err = command(*SMALL, *wrong)

    assert (code, out) == (2, "")
    assert str(wrong[0]) in err


def test_of_what_walks_did_not_break_only_that_is_said() -> None:
    done = simulated(graph_problem([(0, 1), (1, 0)]))

    assert done.stopped_by is None
    assert {done.verdict(claim) for claim in done.problem.claims} == {"not seen"}
