"""The cover "guards": every action is taken, and each guard is needed once.

A guard is needed in a state where some call is not enabled, and would be if the guard were left
out, lacked one of its conditions or compared otherwise: a mutant of it enables the call. A path
that enters the state asks for the call there, and code without that guard grants it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from waterline.checker.covering.paths import NO_GOAL
from waterline.checker.covering.state_graph import StateGraph
from waterline.checker.graph.adjacency import Places
from waterline.checker.mutants.edits import GUARDS
from waterline.checker.mutants.mutants import lines_kept, mutants_of
from waterline.checker.user_models.family import OwnFamily, own_family
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model


def goals_of_guards(graph: StateGraph) -> Places:
    """An edge of each action, and the edges into a state where each guard is needed.

    Raises `BadEnvironment` for a model of Kafka, and without bounds.
    """
    goals: Places = np.full(graph.edges, NO_GOAL, np.int64)
    wanted, initial = list(states_of_guards(graph)), graph.initial.tolist()
    first: dict[str, int] = {}
    for edge in np.unique(graph.step, return_index=True)[1].tolist():
        action = graph.call(edge)[0]
        first[action] = min(edge, first.get(action, edge))
    # Of several initial states a path begins in one: an edge out of it makes it that one.
    begun = [np.flatnonzero(graph.source == state)[:1] for state in wanted if state in initial]
    alone = np.unique(np.concatenate([[*first.values()], *begun]).astype(np.int64))
    goals[alone] = np.arange(len(alone))
    for number, state in enumerate(wanted, len(alone)):
        into = graph.target == state
        if state not in initial and not into[alone].any():
            goals[into] = number
    return goals


def states_of_guards(graph: StateGraph) -> Iterator[int]:
    """Few states where, together, each guard that is needed anywhere is needed."""
    family, model = graph.problem.family, graph.problem.model
    if not isinstance(family, OwnFamily) or model.concretise is not None:
        raise BadEnvironment("the guards of a user model within bounds are covered, and no others")
    own, bounds = family.own, family.own.bounds_in(model)
    chosen: dict[int, None] = {}
    with lines_kept(own.file):
        for mutant in mutants_of(own, model.version, bounds):
            if mutant.kind != GUARDS:
                continue
            try:
                other = own_family(mutant.text, own.file).problem(model.version, dict(bounds), ())
            except BadEnvironment:
                continue
            for number in (*chosen, *range(len(graph))):
                if _enables_more(other.model, model, graph.state(number)):
                    chosen[number] = None
                    break
    yield from sorted(chosen)


def _enables_more(mutant: Model, model: Model, state: State) -> bool:
    """True if a call is enabled in the mutant alone. One whose guard raises there is not."""
    for action in mutant.enabled_actions:
        same = model.action(action.name)
        for arguments in model.bindings(same):
            try:
                if not mutant.is_enabled(state, action, arguments):
                    continue
            except Exception:  # of a condition that the guard has kept from being asked
                continue
            if not model.is_enabled(state, same, arguments):
                return True
    return False
