"""An error of a rule has a shortest way there: compared with a breadth-first search in Python."""

from __future__ import annotations

import random
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.engines import WAYS, engine_for
from tests.support.own import own_problem
from waterline.checker.checking.run import RunRaised, rule_error, run
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Verdict
from waterline.checker.search.search import SearchFault, search

LOCAL = EngineChoice(name="local", threads=2)
NODES = 12
TEXT = '''\
from waterline import Action, Number, Protocol, when

EDGES = {edges}
FIRST = {first}
BAD = {bad}
BIG = 1 << 62


def graph() -> Protocol:
    return Protocol(
        fields=[Number("node", 0, {top}), Number("cell", 0, 3, by=4)],
        initial=Action(start, node={nodes}),
        actions=[Action(go, source={nodes}, target={nodes})],
        {declared}
    )


def start(s, node):
    when(node in FIRST)
    s.node = node


def go(s, source, target):
    """It goes along an edge."""
    when(s.node == source and {nodes} * source + target in EDGES)
    if s.node == BAD:
        {effect}
    s.node = target


def always(s):
    return 1 // (s.node - BAD) < 2


def never(before, after):
    return 1 // (after.node - BAD) < 2


def entered(s):
    return s.cell[4 * (s.node == BAD)] == 3
'''
EFFECTS = {
    "a value": "s.cell[1] = 4",
    "an index": "s.cell[s.node + 9] = 1",
    "a division": "s.cell[0] = 1 // (s.node - BAD)",
    "64 bits": "s.cell[0] = (s.node + 3) * BIG",
    "rounds": "while s.node == BAD: s.cell[0] = 0",
}
CLAIMS = {
    "of states": "always=[always]",
    "of steps": "every_step=[never]",
    "that must happen": "sometimes=[entered]",
    "of what is to come": "eventually=[entered]",
}


@dataclass(frozen=True)
class Graph:
    """Edges, where it begins, and the node at which a rule raises."""

    edges: tuple[tuple[int, int], ...]
    first: tuple[int, ...]
    bad: int

    def depths(self) -> dict[int, int]:
        """How many steps it takes to every node that can be reached."""
        found, level, depth = dict.fromkeys(self.first, 0), set(self.first), 0
        while level:
            depth += 1
            level = {b for a, b in self.edges if a in level and b not in found}
            found |= dict.fromkeys(level, depth)
        return found

    def written(self, file: Path, *, effect: str = "s.cell[0] = 0", declared: str = "") -> None:
        """As a model."""
        file.write_text(
            TEXT.format(
                edges=tuple(NODES * a + b for a, b in self.edges),
                first=(*self.first, self.first[0]),
                bad=self.bad,
                top=NODES - 1,
                nodes=NODES,
                effect=effect,
                declared=declared,
            )
        )


def graph_of(seed: int, *, depth: int | None = None) -> Graph:
    """A graph of some twenty edges whose bad node has a way out, and is so deep."""
    chance = random.Random(seed)
    while True:
        edges = tuple(
            (chance.randrange(NODES), chance.randrange(NODES))
            for _ in range(chance.randint(10, 22))
        )
        first = tuple(chance.sample(range(NODES), 2))
        graph = Graph(edges, first, chance.randrange(NODES))
        at = graph.depths().get(graph.bad)
        if at is not None and any(a == graph.bad for a, _ in edges) and depth in (None, at):
            return graph


def raised_by(file: Path) -> RunRaised:
    with pytest.raises(RunRaised) as raised:
        run(own_problem(file), LOCAL)
    return raised.value


def nodes_of(graph: Graph, raised: RunRaised) -> list[int]:
    """The nodes that the trace goes through, by the edges that it names."""
    assert raised.run.error is not None
    assert raised.run.error.finding is not None
    replayed = raised.run.error.finding.replayed
    nodes = [replayed.initial.node]
    assert nodes[0] in graph.first
    for step in replayed.trace.steps:
        (_, source), (_, target) = step.arguments
        assert (source, target) in graph.edges
        assert source == nodes[-1]
        nodes.append(target)
    return nodes


@pytest.mark.parametrize("kind", EFFECTS)
@pytest.mark.parametrize("depth", [0, 1, None])
def test_the_trace_to_an_action_that_raises_is_a_shortest_one(
    kind: str, depth: int | None, tmp_path: Path
) -> None:
    graph = graph_of(len(kind), depth=depth)
    file = tmp_path / "graph.py"
    graph.written(file, effect=EFFECTS[kind])
    raised = raised_by(file)
    nodes = nodes_of(graph, raised)

    assert nodes[-1] == graph.bad
    assert len(nodes) - 1 == graph.depths()[graph.bad]
    assert raised.failure.call is not None
    assert raised.failure.call[1][0] == graph.bad
    assert "graph.py:27: go(source=" in str(raised)


@pytest.mark.parametrize("kind", CLAIMS)
@pytest.mark.parametrize("depth", [0, 1, None])
def test_the_trace_to_a_claim_that_raises_is_a_shortest_one(
    kind: str, depth: int | None, tmp_path: Path
) -> None:
    graph = graph_of(len(kind) + 1, depth=depth)
    file = tmp_path / "graph.py"
    graph.written(file, declared=CLAIMS[kind])
    raised = raised_by(file)
    nodes = nodes_of(graph, raised)
    depths = graph.depths()
    entering = [depths[a] + 1 for a, b in graph.edges if b == graph.bad and a in depths]

    assert nodes[-1] == graph.bad
    assert len(nodes) - 1 == (min(entering) if kind == "of steps" else depths[graph.bad])
    assert raised.failure.claim in {"always", "never", "entered", "eventually_entered"}
    assert not [r for r in raised.run.result.invariants if r.verdict is Verdict.HOLDS]


@pytest.mark.parametrize("way", WAYS)
def test_every_engine_finds_the_same_trace(way: str, tmp_path: Path) -> None:
    graph = graph_of(5, depth=3)
    file = tmp_path / "graph.py"
    graph.written(file, effect=EFFECTS["a value"])
    expected = raised_by(file).run.error
    problem = own_problem(file)
    with closing(engine_for(problem, way)) as engine:
        with pytest.raises(SearchFault) as fault:
            search(problem, engine)
        found = rule_error(problem, engine, fault.value, fault.value.depth)

    assert expected is not None
    assert found.finding is not None
    assert expected.finding is not None
    assert found.finding.replayed.trace == expected.finding.replayed.trace
    assert str(found.raised) == str(expected.raised)
