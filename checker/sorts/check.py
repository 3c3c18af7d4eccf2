"""Sort check of a problem whose model renames: its rules and claims keep to the data sorts.

It covers the guards, effects and limits of the version's actions and the claims that are checked,
with all that they call. It leaves out the normal form itself: that is what renames.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from typing import Any

from waterline.checker.compiler import cache
from waterline.checker.compiler.lookup_record import Found
from waterline.checker.compiler.sources import settled_digest
from waterline.checker.compiler.text_key import TextKey, key_of
from waterline.checker.problem.problem import Problem
from waterline.checker.sorts.interpretation import IllSorted, Interpretation, Violation
from waterline.checker.sorts.operations import is_number
from waterline.checker.sorts.values import PLAIN, Items, SettingsOf, Sorted, StateOf, Value
from waterline.model.core.claim import predicates_of
from waterline.model.core.transition_system import Model, Parameter

_STATE, _SETTINGS = StateOf(), SettingsOf()
Root = tuple[str, Any, tuple[Value, ...]]
"""The caller of a function, in words; the function; the sorts of its arguments."""


def require_well_sorted(problem: Problem, *, anew: bool = False) -> None:
    """Raises `IllSorted` for the first rule or claim that does not keep to the sorts.

    With `anew` no earlier check is believed.
    """
    if problem.model.concretise is None:
        return
    called = tuple((words, function, len(given)) for words, function, given in roots(problem))
    key = None if anew else key_of_check(problem.model, called)
    if key is not None and is_kept(key):
        return
    interpretation = interpret(problem)
    if found := tuple(interpretation.violations.values()):
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise IllSorted(f"{found[0]}{more}")
    if key is not None:
        keep(key, interpretation.lookups.found)


def violations(problem: Problem) -> tuple[Violation, ...]:
    """Every violation, in the order of the table of contents."""
    return tuple(interpret(problem).violations.values())


def interpret(problem: Problem) -> Interpretation:
    """All rules and claims of a problem, gone through."""
    interpretation = Interpretation(problem.model)
    for words, function, arguments in roots(problem):
        interpretation.root = words
        result = interpretation.call_function(function, arguments)
        if not is_number(result) and result != Items(()):
            interpretation.refuse_result(function, result)
    return interpretation


def _argument(parameter: Parameter) -> Value:
    return PLAIN if parameter.held is None else Sorted(parameter.held)


def roots(problem: Problem) -> Iterator[Root]:
    """The functions that a search calls, but for the normal form."""
    model = problem.model
    start = () if model.start is None else (model.start,)
    for action in (*start, *model.enabled_actions):
        arguments: tuple[Value, ...] = (_STATE, _SETTINGS, *map(_argument, action.parameters))
        yield f"the guard of {action.name}", action.guard, arguments
        yield f"the effect of {action.name}", action.effect, arguments
        if action.limit is not None:
            yield f"the limit of {action.name}", action.limit, arguments
    for invariant in problem.applicable:
        yield f"the claim {invariant.name}", invariant.holds, (_STATE, _SETTINGS)
    for claim in problem.applicable_properties:
        yield f"the claim {claim.name}", claim.keeps, (_STATE, _STATE, _SETTINGS)
    for behaviour in problem.applicable_behaviours:
        for predicate in predicates_of(behaviour):
            yield f"the claim {behaviour.name}", predicate, (_STATE, _SETTINGS)
    for reachable in problem.reachable:
        arguments = (_STATE, _STATE, _SETTINGS)
        yield f"the claim {reachable.name}", reachable.happens, arguments
        if reachable.begun is not None:
            yield f"the claim {reachable.name}", reachable.begun, (_STATE, _SETTINGS)


_SOURCES = ("checker/sorts",)
_WELL_SORTED = "well sorted"


def key_of_check(model: Model, roots: tuple[Any, ...]) -> TextKey | None:
    """The key of a check; None where it cannot be kept."""
    sources = settled_digest(_SOURCES)
    if sources is None:
        return None
    believed = tuple(each.where(model.settings) for each in model.trusted)
    settings = (model.settings._fields, tuple(map(int, model.settings)))
    made_of = (sources, model.layout, settings, model.trusted, believed, roots)
    key = key_of(_WELL_SORTED, *made_of)
    return key if key is not None and key.is_settled else None


def is_kept(key: TextKey) -> bool:
    """True if the check found no violation, and all that it read reads the same."""
    content = cache.lookup(key.name)
    if content is None:
        return False
    # What is no record of a check counts as none, however it came there.
    with contextlib.suppress(ValueError, TypeError, IndexError, RecursionError):
        said, record = json.loads(content)
        return said == _WELL_SORTED and key.found_again(record) is not None
    return False


def keep(key: TextKey, found: Found) -> None:
    """Keep the absence of violations, with all look-ups that it depends on."""
    record = key.record(found)
    if record is not None:
        cache.keep(key.name, json.dumps([_WELL_SORTED, record]).encode())
