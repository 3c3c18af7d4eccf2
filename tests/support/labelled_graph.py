"""A model that is any small graph whose edges have labels, some of them fair.

From each node an edge of each label leads to one other node, to itself, beyond the bounds, or
nowhere. All of these graphs share machine code, which reads them from the settings.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from tests.support.graph_model import mask
from waterline.checker.problem.problem import Problem, Shared
from waterline.model.core.claim import Behaviour, Pattern, Recoverable, Temporal
from waterline.model.core.layout import Field, Layout
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Narration, Parameter

NODES, FAIR, FREE = 8, 3, 2
LABELS = FAIR + FREE
"""Labels 0, 1, 2 are weakly fair, 3 and 4 are not, unless a graph is asked for that differs."""
BEYOND, NOWHERE = NODES, NODES + 1
"""What an edge leads to that a bound cuts, and one that is not there."""

_EDGES = [f"node{node}_{label}" for node in range(NODES) for label in range(LABELS)]
Settings = NamedTuple("Settings", [(name, int) for name in ("p", "q", *_EDGES)])
FIRST = 2


def can_go(s: Any, c: Any, label: int) -> bool:
    """There is such an edge, perhaps one that leads beyond the bounds."""
    return c[FIRST + s.node * LABELS + label] <= BEYOND


def beyond(s: Any, c: Any, label: int) -> int:
    """It does."""
    return 1 if c[FIRST + s.node * LABELS + label] == BEYOND else 0


def go(s: Any, c: Any, label: int) -> None:
    """Follow it."""
    s.node = c[FIRST + s.node * LABELS + label]


def can_go_free(s: Any, c: Any, label: int) -> bool:
    """As `can_go`, of the labels that are not fair."""
    return can_go(s, c, FAIR + label)


def free_beyond(s: Any, c: Any, label: int) -> int:
    """As `beyond`."""
    return beyond(s, c, FAIR + label)


def go_free(s: Any, c: Any, label: int) -> None:
    """As `go`."""
    go(s, c, FAIR + label)


def is_p(s: Any, c: Any) -> bool:
    """The node is marked p; a number above all nodes poisons the predicate."""
    return (c.p >> s.node) & 1 == 1


def is_q(s: Any, c: Any) -> bool:
    """The node is marked q."""
    if (c.q >> NODES + s.node) & 1 == 1:
        return 1 // (s.node - s.node) == 0
    return (c.q >> s.node) & 1 == 1


def explain(s: State, c: Any) -> str:
    """Which node."""
    return f"node {s.node}."


_LAYOUT = Layout(
    [Field(name="node", hi=NODES - 1, doc="Where we are.")],
    sizes={"fair": FAIR, "free": FREE},
)
_ACTIONS = (
    Action(
        name="Fair",
        parameters=(Parameter("label", "fair"),),
        guard=can_go,
        effect=go,
        limit=beyond,
        weakly_fair=True,
    ),
    Action(
        name="Free",
        parameters=(Parameter("label", "free"),),
        guard=can_go_free,
        effect=go_free,
        limit=free_beyond,
    ),
)
_NARRATION = Narration(
    sentence=lambda name, arguments, before, after: f"{before.node} to {after.node}",
    rows=lambda state: [["Node"], [str(state.node)]],
    summary=lambda state: [],
)
EVENTUALLY, ALWAYS_EVENTUALLY, LEADS_TO = (
    Temporal(
        name=pattern.name.lower(),
        sentence=pattern.value,
        pattern=pattern,
        when=is_p,
        then=is_q,
        explain=explain,
    )
    for pattern in (Pattern.EVENTUALLY, Pattern.ALWAYS_EVENTUALLY, Pattern.LEADS_TO)
)
LIVENESS = (EVENTUALLY, ALWAYS_EVENTUALLY, LEADS_TO)
BACK = Recoverable(name="back", sentence="From p back to q.", good=is_q, when=is_p, explain=explain)
BACK_BY_ALL = Recoverable(
    name="back_by_all",
    sentence="From p back to q, whatever it takes.",
    good=is_q,
    when=is_p,
    by=("Fair", "Free"),
    explain=explain,
)
CLAIMS: tuple[Behaviour, ...] = (BACK, BACK_BY_ALL, *LIVENESS)
_SHARED = Shared(
    settings=frozenset(Settings._fields),
    actions=frozenset(action.name for action in _ACTIONS),
    claims=frozenset(),
)

Edges = Mapping[tuple[int, int], int]
"""By node and label where an edge leads: to a node, or `BEYOND`."""


def labelled_problem(
    edges: Edges,
    *,
    q: Collection[int],
    p: Collection[int] = range(NODES),
    initial: Collection[int] = (0,),
    poisonous: Collection[int] = (),
    claims: tuple[Behaviour, ...] = CLAIMS,
    weak: Collection[str] = ("Fair",),
    strong: Collection[str] = (),
) -> Problem:
    """A graph of which these claims are asked; judging a poisonous node raises.

    `weak` and `strong` are the actions that are fair.
    """
    actions = tuple(
        replace(action, weakly_fair=action.name in weak, strongly_fair=action.name in strong)
        for action in _ACTIONS
    )
    targets = [
        edges.get((node, label), NOWHERE) for node in range(NODES) for label in range(LABELS)
    ]
    marked_q = mask(q) | mask(NODES + node for node in poisonous)
    model = Model(
        name="labelled",
        version="labelled",
        layout=_LAYOUT,
        settings=Settings(mask(p), marked_q, *targets),
        actions=actions,
        contents=tuple(action.name for action in _ACTIONS),
        limits=("within", "beyond"),
        initial=tuple(node_state(node) for node in initial),
        narration=_NARRATION,
        options={},
    )
    asked = frozenset(claim.name for claim in claims)
    return Problem(model, (), behaviours=claims, asked=asked, shared=_SHARED)


def node_state(node: int) -> State:
    """The state of being at a node."""
    draft = State(_LAYOUT).draft()
    draft.node = node
    return draft.freeze()
