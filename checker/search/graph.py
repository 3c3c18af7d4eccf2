"""Small state space as a networkx graph."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from waterline.checker.problem.errors import Refused
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import Model, call

if TYPE_CHECKING:
    import networkx

GRAPH_STATES_MAX = 20_000
"""Most states of a graph: no tool can draw a larger one."""


class TooLargeForGraph(Refused, ValueError):
    """The state space has more states than a graph is made of."""


def state_graph(model: Model, *, states_max: int = GRAPH_STATES_MAX) -> networkx.MultiDiGraph[Any]:
    """Every reachable state as a node, every transition as an edge with its call as `action`.

    A node is the state's words in hexadecimal; its attributes are `depth` and the decoded fields as
    text. Explored with the interpreted model. Raises `TooLargeForGraph`.
    """
    import networkx as nx  # noqa: PLC0415 - slow to import, and rarely wanted

    graph: networkx.MultiDiGraph[Any] = nx.MultiDiGraph(model=model.name, version=model.version)
    frontier = list(dict.fromkeys(model.initial))
    for state in frontier:
        _add(graph, state, 0)
    depth = 0
    while frontier:
        depth += 1
        arrived = []
        for state in frontier:
            for step in model.successors(state):
                if name_of(step.after) not in graph:
                    if len(graph) >= states_max:
                        raise TooLargeForGraph(
                            f"there are more than {states_max:,} states, too many for a graph; "
                            "lower the bounds or raise --graph-limit"
                        )
                    _add(graph, step.after, depth)
                    arrived.append(step.after)
                graph.add_edge(
                    name_of(state), name_of(step.after), action=call(step.action, step.arguments)
                )
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


def _add(graph: networkx.MultiDiGraph[Any], state: State, depth: int) -> None:
    fields = {name: str(value) for name, value in as_dict(state).items()}
    graph.add_node(name_of(state), depth=depth, **fields)
