"""A name for the rules and claims of a problem: what two runs have in common that are one run.

It is made of what is interpreted, not of machine code: the syntax trees of all functions that are
reached, nested ones included, and the values of all names that they use. Only what the version has
and what is checked counts: another claim, or an action of another version, changes nothing.
"""

from __future__ import annotations

import ast
import hashlib
import types
from collections.abc import Iterator
from typing import Any

from checker.compiled.source import source_of
from checker.problems.problem import Problem
from model.kit.claim import Recoverable, predicates_of


def rules_digest(problem: Problem) -> str:
    """A name for the rules, the settings and the claims that are checked.

    Raises `NotCompilable` for a function whose text cannot be read.
    """
    model = problem.model
    digest = hashlib.sha256()
    digest.update(repr((tuple(model.settings), model.limits, model.layout.digest)).encode())
    seen: set[object] = set()
    for role, function in called_by(problem):
        digest.update(role.encode())
        for part in _described(function, seen):
            digest.update(part.encode())
    return digest.hexdigest()[:24]


def called_by(problem: Problem) -> Iterator[tuple[str, Any]]:
    """What a search calls, by what it is called for."""
    for action in problem.model.enabled_actions:
        arguments = [(parameter.name, parameter.over) for parameter in action.parameters]
        yield f"guard of {action.name} {arguments}", action.guard
        yield f"effect of {action.name} {action.budget}", action.effect
        if action.limit is not None:
            yield f"limit of {action.name}", action.limit
    if problem.model.normalise is not None:
        yield "normal form", problem.model.normalise
    for invariant in problem.applicable:
        yield f"invariant {invariant.name}", invariant.holds
    for claim in problem.applicable_properties:
        yield f"property {claim.name}", claim.keeps
    for behaviour in problem.applicable_behaviours:
        fair = sorted(a.name for a in problem.model.enabled_actions if a.weakly_fair)
        said = (
            (sorted(behaviour.by), fair)
            if isinstance(behaviour, Recoverable)
            else (behaviour.pattern.value, fair)
        )
        for predicate in predicates_of(behaviour):
            yield f"behaviour {behaviour.name} {said}", predicate
    for reachable in problem.reachable:
        yield f"reachable {reachable.name}", reachable.happens


def _described(function: Any, seen: set[object]) -> Iterator[str]:
    """A function and all that it uses, each function once."""
    if function in seen:
        yield f"{function.__module__}.{function.__qualname__}"
        return
    seen.add(function)
    tree = source_of(function).tree
    yield ast.unparse(without_words(tree))
    yield repr((function.__defaults__, function.__kwdefaults__))
    names = function.__globals__
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            yield from _value(node.id, names[node.id], seen)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = names.get(node.value.id)
            if isinstance(owner, types.ModuleType | type) and hasattr(owner, node.attr):
                yield from _value(node.attr, getattr(owner, node.attr), seen)


def _value(name: str, value: object, seen: set[object]) -> Iterator[str]:
    yield name
    if isinstance(value, types.FunctionType):
        yield from _described(value, seen)
    elif isinstance(value, set | frozenset):
        yield repr(sorted(value, key=repr))
    elif isinstance(value, int | str | tuple):
        yield repr(value)


def without_words(tree: ast.FunctionDef) -> ast.FunctionDef:
    """The function without what it is said to do, and without the kinds of its arguments."""
    body = (
        tree.body[1:] if ast.get_docstring(tree) is not None and len(tree.body) > 1 else tree.body
    )
    names = [ast.arg(argument.arg) for argument in tree.args.args]
    plain = ast.arguments([], names, None, [], [], None, [])
    return ast.FunctionDef(tree.name, plain, body, [], None, lineno=0)
