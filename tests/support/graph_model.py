"""A model that is any small graph: the checker is tested on graphs whose answers are known.

The edges are settings, a bit mask of targets for each node; all of these graphs share one kernel,
which reads them as it runs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, NamedTuple

from waterline.checker.problem.problem import Problem, Shared
from waterline.model.core.claim import ActionProperty, Invariant, Reachable
from waterline.model.core.layout import Field, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Narration, Parameter

NODES = 48


class Graph(NamedTuple):
    """What the actions and claims read; every field is a mask of nodes."""

    bad: int = 0
    worse: int = 0
    beyond: int = 0
    breaks: int = 0
    divides: int = 0
    poisons: int = 0
    leads_to_goal: int = 0
    steep_from: int = 0
    steep_to: int = 0
    trips: int = 0


EDGES = len(Graph())
Settings = NamedTuple(
    "Settings",
    [(name, int) for name in (*Graph._fields, *(f"node{i}" for i in range(NODES)))],
)


def can_follow(s: Any, c: Any, target: int) -> bool:
    """There is an edge."""
    return (c[EDGES + s.node] >> target) & 1 == 1


def follow_limit(s: Any, c: Any, target: int) -> int:
    """Some nodes are beyond the bounds."""
    return (c.beyond >> target) & 1


def follow(s: Any, c: Any, target: int) -> None:
    """Go there."""
    s.node = target


def can_break(s: Any, c: Any) -> bool:
    """This node's action stores what the field cannot hold."""
    return (c.breaks >> s.node) & 1 == 1


def break_range(s: Any, c: Any) -> None:
    """One more than the last node."""
    s.node = s.nodes


def can_divide(s: Any, c: Any) -> bool:
    """This node's action raises an exception of Python's own."""
    return (c.divides >> s.node) & 1 == 1


def divide(s: Any, c: Any) -> None:
    """Divide by what is zero here."""
    s.node = 1 // (s.node - s.node)


def never(s: Any, c: Any) -> bool:
    """This action is never enabled."""
    return False


def holds_not_bad(s: Any, c: Any) -> bool:
    """The node is not bad; evaluating it in a poisonous one raises."""
    if (c.poisons >> s.node) & 1 == 1:
        return 1 // (s.node - s.node) == 0
    return (c.bad >> s.node) & 1 == 0


def holds_not_worse(s: Any, c: Any) -> bool:
    """The node is not worse."""
    return (c.worse >> s.node) & 1 == 0


def reaches_goal(before: Any, after: Any, c: Any) -> bool:
    """A step out of a marked node."""
    return (c.leads_to_goal >> before.node) & 1 == 1


def keeps_level(before: Any, after: Any, c: Any) -> bool:
    """No step from a node of the one mark to one of the other; out of some evaluating it raises."""
    if (c.trips >> before.node) & 1 == 1:
        return 1 // (before.node - before.node) == 0
    return (c.steep_from >> before.node) & (c.steep_to >> after.node) & 1 == 0


def keeps_clear(before: Any, after: Any, c: Any) -> bool:
    """No step from a bad node to a worse one."""
    return (c.bad >> before.node) & (c.worse >> after.node) & 1 == 0


def explain(s: State, c: Any) -> str:
    """Which node."""
    return f"node {s.node}"


def explain_step(before: State, after: State, c: Any) -> str:
    """Which edge."""
    return f"{before.node} to {after.node}"


_LAYOUT = Layout([Field(name="node", hi=NODES - 1, doc="Where we are.")], sizes={"nodes": NODES})
_ACTIONS = (
    Action(
        name="Follow",
        parameters=(Parameter("target", "nodes"),),
        guard=can_follow,
        effect=follow,
        limit=follow_limit,
    ),
    Action(name="Break", guard=can_break, effect=break_range),
    Action(name="Divide", guard=can_divide, effect=divide),
    Action(name="Never", guard=never, effect=break_range),
)
_NARRATION = Narration(
    sentence=lambda name, arguments, before, after: f"{before.node} to {after.node}",
    rows=lambda state: [["Node"], [str(state.node)]],
    summary=lambda state: [],
)
_SHARED = Shared(
    settings=frozenset(Settings._fields),
    actions=frozenset(action.name for action in _ACTIONS),
    claims=frozenset(("not_bad", "not_worse", "level", "clear")),
)
NOT_BAD = Invariant(name="not_bad", sentence="No bad node.", holds=holds_not_bad, explain=explain)
NOT_WORSE = Invariant(
    name="not_worse", sentence="No worse node.", holds=holds_not_worse, explain=explain
)
LEVEL = ActionProperty(
    name="level", sentence="No steep step.", keeps=keeps_level, explain=explain_step
)
CLEAR = ActionProperty(
    name="clear", sentence="No step from bad to worse.", keeps=keeps_clear, explain=explain_step
)
GOAL = Reachable(name="goal", sentence="A marked node is left.", happens=reaches_goal)


def mask(nodes: Iterable[int]) -> int:
    """A set of nodes as bits."""
    return sum(1 << node for node in set(nodes))


def graph_problem(
    edges: Iterable[tuple[int, int]],
    *,
    initial: Collection[int] = (0,),
    **marked: Collection[int],
) -> Problem:
    """A graph to be searched; `marked` are sets of nodes by the names of `Graph`."""
    targets = [0] * NODES
    for source, target in edges:
        targets[source] |= 1 << target
    masks = Graph(**{name: mask(nodes) for name, nodes in marked.items()})
    settings = Settings(*masks, *targets)
    model = Model(
        name="graph",
        version="graph",
        layout=_LAYOUT,
        settings=settings,
        actions=_ACTIONS,
        contents=tuple(action.name for action in _ACTIONS),
        limits=("within", "beyond"),
        initial=tuple(node_state(node) for node in initial),
        narration=_NARRATION,
        options={},
    )
    claims = (NOT_BAD, NOT_WORSE)
    return Problem(model, claims, (GOAL,), properties=(LEVEL, CLEAR), shared=_SHARED)


def node_state(node: int) -> State:
    """The state of being at a node."""
    draft = State(_LAYOUT).draft()
    draft.node = node
    return draft.freeze()
