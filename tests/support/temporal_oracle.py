"""Recovery and liveness by their definitions, plainly: what the engine's answers are compared with.

Every state is interpreted, the graph is networkx's, and nothing of the checker is used. Some
thousands of states.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import networkx as nx

from waterline.model.core.claim import Pattern, Recoverable, Temporal
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Arguments, Model

Instance = tuple[str, Arguments]
Sees = Callable[[State], bool]


@dataclass(slots=True)
class Space:
    """Every reachable state of a model and every step, with what the bounds cut.

    A step is (before, after, instance); one that changes nothing is left out. `cut[state]` are the
    instances whose guards hold there and that exceed a bound. States are in the order of a
    breadth-first search, `depth` says how far each is.
    """

    model: Model
    depth: dict[State, int] = field(default_factory=dict)
    steps: dict[State, list[tuple[Instance, State]]] = field(default_factory=dict)
    cut: dict[State, set[Instance]] = field(default_factory=dict)
    fair: frozenset[str] = frozenset()

    @property
    def states(self) -> list[State]:
        """In the order of their depths."""
        return list(self.depth)

    def graph(
        self, keeps: Sees = lambda state: True, by: Iterable[str] | None = None
    ) -> nx.DiGraph:
        """The states that are kept, and the steps between them, perhaps only some actions'."""
        names = None if by is None else set(by)
        drawn: nx.DiGraph = nx.DiGraph()
        drawn.add_nodes_from(state for state in self.depth if keeps(state))
        for before in list(drawn):
            for (name, _), after in self.steps[before]:
                if after in drawn and (names is None or name in names):
                    drawn.add_edge(before, after)
        return drawn


def explored(model: Model) -> Space:
    """The whole space."""
    space = Space(model, fair=frozenset(a.name for a in model.enabled_actions if a.weakly_fair))
    waiting = deque(model.initial)
    space.depth = dict.fromkeys(model.initial, 0)
    while waiting:
        state = waiting.popleft()
        space.steps[state], space.cut[state] = [], set()
        for action, arguments in _enabled(model, state):
            instance = (action.name, arguments)
            if model.exceeded_limit(state, action, arguments):
                space.cut[state].add(instance)
                continue
            after = model.apply(state, action, arguments)
            if after == state:
                continue
            space.steps[state].append((instance, after))
            if after not in space.depth:
                space.depth[after] = space.depth[state] + 1
                waiting.append(after)
    return space


def _enabled(model: Model, state: State) -> list[tuple[Action, Arguments]]:
    return [
        (action, arguments)
        for action in model.enabled_actions
        for arguments in model.bindings(action)
        if model.is_enabled(state, action, arguments)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class NoWayBack:
    """Of the states in which a claim's `when` is true: those from which there is no way back, and
    those that are not judged because a bound cuts what might be one. In order of depth."""

    lost: tuple[State, ...]
    not_judged: tuple[State, ...]


def no_way_back(space: Space, claim: Recoverable) -> NoWayBack:
    """Where a claim about recovery does not hold."""
    settings = space.model.settings
    by = set(claim.by or space.fair)
    back = space.graph(by=by).reverse(copy=False)
    good = [state for state in space.depth if claim.good(state, settings)]
    cuts = [state for state in space.depth if any(name in by for name, _ in space.cut[state])]
    recovers, may_recover = _reached(back, good), _reached(back, cuts)
    bad = [s for s in space.depth if claim.when(s, settings) and s not in recovers]
    return NoWayBack(
        lost=tuple(state for state in bad if state not in may_recover),
        not_judged=tuple(state for state in bad if state in may_recover),
    )


def _reached(graph: nx.DiGraph, sources: Iterable[State]) -> set[State]:
    seen = set(sources)
    waiting = deque(seen)
    while waiting:
        for after in graph.successors(waiting.popleft()):
            if after not in seen:
                seen.add(after)
                waiting.append(after)
    return seen


def for_ever(space: Space, claim: Temporal) -> tuple[frozenset[State], ...]:
    """Where a behaviour that breaks the claim may stay for ever and be fair.

    These are sets of states, each strongly connected. A fair cycle without `then`: of every fair
    instance there is a step in it, or a state in it where it is not enabled or changes nothing. One
    that is cut counts as enabled, and is never a step. So if any cycle of a component is fair, one
    through all of it is. No cycle has a step that is taken finitely often.
    """
    settings = space.model.settings

    def misses(state: State) -> bool:
        return not claim.then(state, settings)

    without = space.graph(keeps=misses)
    endless = {action.name for action in space.model.actions} - {*space.model.finitely_often}
    starts = {
        Pattern.ALWAYS_EVENTUALLY: lambda: list(without),
        Pattern.EVENTUALLY: lambda: [s for s in space.model.initial if s in without],
        Pattern.LEADS_TO: lambda: [s for s in without if claim.when(s, settings)],
    }[claim.pattern]()
    reached = _reached(without, starts)
    return tuple(
        frozenset(component)
        for component in nx.strongly_connected_components(space.graph(misses, endless))
        if reached & component and _is_fair(space, component)
    )


def _is_fair(space: Space, component: set[State]) -> bool:
    always: set[Instance] | None = None
    taken: set[Instance] = set()
    for state in component:
        here = {i for i, _ in space.steps[state]} | space.cut[state]
        here = {i for i in here if i[0] in space.fair}
        always = here if always is None else always & here
        taken |= {instance for instance, after in space.steps[state] if after in component}
    return not (always or set()) - taken
