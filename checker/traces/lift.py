"""Lifting of a path in a reduced model to the full model.

The steps that the reduced model leaves out or takes at once are put in where they are needed, by a
breadth-first search that takes the path's own steps in order and any others only of those kinds. So
the path that comes out breaks the claim, and is a shortest one with these steps in this order; it
need not be a shortest one of all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from checker.problem.problem import Problem
from checker.search.rule_errors import Disagreement
from checker.traces.shortest_paths import Path
from model.core.claim import ActionProperty, Invariant
from model.core.state import State
from model.core.transition_system import Action, Arguments, Model

_Call = tuple[str, Arguments]
_Node = tuple[int, State]


def lengthened(problem: Problem, claim: Invariant | ActionProperty, path: Path) -> Path:
    """The path in the full model of a reduced `problem`; of a property to the state before.

    Raises `Disagreement` where there is none: then the reduction was not exact.
    """
    full, reduction = problem.reduced_from, problem.reduction
    assert full is not None
    assert reduction is not None
    model = full.model
    breaks = _breaking(model, claim)
    for number, initial in enumerate(model.initial):
        first = (0, initial)
        came: dict[_Node, tuple[_Node, _Call] | None] = {first: None}
        level = [first]
        while level:
            for node in level:
                # Until the last step of the path the claim sees what it saw in the smaller model.
                if node[0] == len(path.calls) and breaks(node[1]):
                    return Path(number, _back(came, node))
            following = []
            for node in level:
                for call, after in _onwards(model, node, path, reduction.silent):
                    if after not in came:
                        came[after] = node, call
                        following.append(after)
            level = following
    raise Disagreement(
        f"reduced, a state breaks {claim.name}; in the full model no such steps lead to one"
    )


def _breaking(model: Model, claim: Invariant | ActionProperty) -> Callable[[State], bool]:
    if isinstance(claim, Invariant):
        return lambda state: not claim.holds(state, model.settings)
    return lambda state: any(
        not claim.keeps(state, step.after, model.settings) for step in model.successors(state)
    )


def _onwards(
    model: Model, node: _Node, path: Path, silent: frozenset[str]
) -> Iterator[tuple[_Call, _Node]]:
    """The next step of the path, if it is possible here, and every unseen one."""
    at, state = node
    wanted = path.calls[at] if at < len(path.calls) else None
    for action in model.enabled_actions:
        is_wanted = wanted is not None and action.name == wanted[0]
        if not is_wanted and action.name not in silent:
            continue
        for arguments in model.bindings(action):
            # The reduced model may have chosen a value beside the arguments.
            is_next = is_wanted and wanted is not None and _begins(wanted[1], arguments)
            if (is_next or action.name in silent) and _possible(model, state, action, arguments):
                after = model.apply(state, action, arguments)
                if is_next:
                    yield (action.name, arguments), (at + 1, after)
                if action.name in silent:
                    yield (action.name, arguments), (at, after)


def _begins(given: Arguments, arguments: Arguments) -> bool:
    return given[: len(arguments)] == arguments


def _possible(model: Model, state: State, action: Action, arguments: Arguments) -> bool:
    if not model.is_enabled(state, action, arguments):
        return False
    return not model.exceeded(state, action, arguments)


def _back(came: dict[_Node, tuple[_Node, _Call] | None], node: _Node) -> tuple[_Call, ...]:
    calls = []
    while (way := came[node]) is not None:
        node, call = way
        calls.append(call)
    return tuple(reversed(calls))
