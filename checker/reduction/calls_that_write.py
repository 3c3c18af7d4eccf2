"""Refusal of calls with side effects inside larger expressions.

What it writes there depends on the order in which the parts of the expression are evaluated, and
on how often. The analysis may look at a part twice, or in another order than Python. As a
statement, as all that is returned, and as all that a variable is assigned, there is one order.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Iterator
from typing import Any

from checker.compiler.source import Source, source_of
from checker.reduction.abstract_state import TooIntricate
from model.core.transition_system import Model


def require_calls_that_write_alone(model: Model) -> None:
    """Raise `TooIntricate` where a rule calls what writes inside a larger expression."""
    writing: dict[object, bool] = {}
    for rule in _reached(_rules(model)):
        source = source_of(rule)
        alone = set(map(id, _standing_alone(source)))
        for call, called in _calls(source):
            if id(call) not in alone and _writes(called, writing):
                raise TooIntricate(
                    f"{source.name}, line {call.lineno}: {called.__name__} writes, "
                    "and is called inside a larger expression"
                )


def _rules(model: Model) -> Iterator[Any]:
    for action in model.enabled_actions:
        yield from (action.guard, action.effect)
        if action.limit is not None:
            yield action.limit
    if model.normalise is not None:
        yield model.normalise


def _reached(rules: Iterable[Any]) -> Iterator[Any]:
    """These functions and all that they call, each once."""
    waiting = list(rules)
    seen = set(waiting)
    while waiting:
        rule = waiting.pop()
        yield rule
        more = {called for _, called in _calls(source_of(rule))} - seen
        seen |= more
        waiting += more


def _calls(source: Source) -> Iterator[tuple[ast.Call, Any]]:
    """The calls of a function that go to functions with a text."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call):
            called = _named(node.func, source)
            if isinstance(called, types.FunctionType):
                yield node, called


def _named(node: ast.expr, source: Source) -> Any:
    """What a name, or an attribute of what has one, stands for; None where that is not known."""
    if isinstance(node, ast.Name):
        return None if node.id in source.variables else source.names.get(node.id)
    if isinstance(node, ast.Attribute):
        return getattr(_named(node.value, source), node.attr, None)
    return None


def _standing_alone(source: Source) -> Iterator[ast.expr]:
    for node in ast.walk(source.tree):
        match node:
            case ast.Expr(value=value) | ast.Assign(targets=[ast.Name()], value=value):
                yield value
            case ast.Return(value=value) if value is not None:
                yield value


def _writes(rule: Any, known: dict[object, bool]) -> bool:
    """Whether a function writes to a state, itself or by what it calls."""
    if rule not in known:
        # What calls itself writes if anything else of it does.
        known[rule] = False
        source = source_of(rule)
        known[rule] = any(map(_is_written_to, ast.walk(source.tree))) or any(
            _writes(called, known) for _, called in _calls(source)
        )
    return known[rule]


def _is_written_to(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store)
