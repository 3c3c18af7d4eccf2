"""Neighbourhood graph of a trace: steps that were possible and not taken.

The trace's own states, and from each of them every step that the model offers, to a given distance.
As GraphML, or as DOT for Graphviz, which draws the trace bold.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from waterline.checker.problem.errors import Refused
from waterline.counterexamples import Replayed
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import Model

if TYPE_CHECKING:
    import networkx

DISTANCE = 1
STATES_MAX = 2_000
"""Most states that a picture is made of: more is a black blot."""


class TooLargeForGraph(Refused, ValueError):
    """More states than a graph is made of."""


def surroundings(
    replayed: Replayed, model: Model, *, distance: int = DISTANCE, states_max: int = STATES_MAX
) -> networkx.MultiDiGraph[Any]:
    """The graph of the trace's states and of those at most `distance` steps from one.

    A node has `step`, after which step of the trace it is, -1 for none, its `distance`, and every
    field as text. An edge has its call as `action`, and the `step` of the trace that it is, or -1.
    Raises `TooLargeForGraph`.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import, and rarely wanted

    graph: networkx.MultiDiGraph[Any] = nx.MultiDiGraph(model=model.name, version=model.version)
    for number, state in enumerate(replayed.states):
        if name_of(state) not in graph:
            _add(graph, state, number, 0)
    taken = {(moment.before, str(moment)): moment.number for moment in replayed.moments}
    frontier = list(dict.fromkeys(replayed.states))
    for reached in range(distance + 1):
        arrived = []
        for state in frontier:
            for step in model.successors(state):
                name = name_of(step.after)
                if name not in graph:
                    if reached == distance:
                        continue
                    if len(graph) >= states_max:
                        raise TooLargeForGraph(
                            f"there are more than {states_max:,} states within {distance} steps "
                            "of the trace; lower --distance or raise --graph-limit"
                        )
                    _add(graph, step.after, -1, reached + 1)
                    arrived.append(step.after)
                call = str(step)
                graph.add_edge(name_of(state), name, action=call, step=taken.get((state, call), -1))
        frontier = arrived
    return graph


def to_graphml(graph: networkx.MultiDiGraph[Any]) -> str:
    """The graph as GraphML, for tools that draw or analyse it."""
    import networkx as nx  # noqa: PLC0415

    written = io.BytesIO()
    nx.write_graphml(graph, written)
    return written.getvalue().decode("utf-8")


def name_of(state: State) -> str:
    """A node's name: the packed words."""
    return "-".join(f"{word:016x}" for word in state.words)


def fields_of(state: State) -> dict[str, str]:
    """Fields as text. A user model may have fields of any name: none is one of our marks."""
    return {f"state.{name}": str(value) for name, value in as_dict(state).items()}


def to_dot(graph: networkx.MultiDiGraph[Any]) -> str:
    """The graph in Graphviz's language: the trace bold and numbered, the rest faint."""
    lines = ["digraph trace {", "  rankdir=LR;", '  node [shape=point, color="gray60"];']
    lines += ['  edge [color="gray60", fontcolor="gray40", fontsize=9];']
    for name, described in graph.nodes(data=True):
        if described["step"] >= 0:
            label = f'shape=circle, color=black, penwidth=2, label="{described["step"]}"'
            lines.append(f"  {_quote(name)} [{label}];")
        else:
            lines.append(f"  {_quote(name)};")
    for before, after, described in graph.edges(data=True):
        style = ", color=black, fontcolor=black, penwidth=2" if described["step"] >= 0 else ""
        label = f"label={_quote(described['action'])}{style}"
        lines.append(f"  {_quote(before)} -> {_quote(after)} [{label}];")
    return "\n".join([*lines, "}", ""])


def _add(graph: networkx.MultiDiGraph[Any], state: State, step: int, distance: int) -> None:
    graph.add_node(name_of(state), step=step, distance=distance, **fields_of(state))


def _quote(text: str) -> str:
    """A text that Graphviz takes as it is: quotes and backslashes are what it would not."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
