"""What an answer depends on, as a name: equal names mean equal verdicts, counts and traces.

The name is made of the question (rules, settings, first states, claims, bounds of the search) and
of the checker's own sources. Of the rules only those functions count that this question reaches, as
syntax trees: a remark, or a rule of another version, changes nothing.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checker.budgets import Budgets
from checker.compiled.rules import called_by, without_words
from checker.compiled.source import source_of
from checker.problems.problem import Problem

PACKAGES = Path(__file__).parents[2]
CHECKER = (
    "checker/*.py",
    "checker/behaviours/*.py",
    "checker/compiled/*.py",
    "checker/engines/*.py",
    "checker/problems/*.py",
    "checker/store/*.py",
    "counterexamples/*.py",
    "model/kit/*.py",
    "model/own/*.py",
)
"""Sources of what finds an answer, whatever the question."""


def fingerprint(problem: Problem, budgets: Budgets) -> str:
    """A name for a question and whoever answers it.

    Raises `NotCompilable` for a function whose text cannot be read.
    """
    model = problem.model
    digest = hashlib.sha256(checker_digest().encode())
    question = (
        (model.name, model.version, sorted(model.options.items()), problem.symmetry.value),
        sorted(problem.asked_names),
        problem.checked,
        model.layout.digest,
        tuple(model.settings),
        model.limits,
        [state.words for state in model.initial],
        budgets,
    )
    digest.update(repr(question).encode())
    functions: set[types.FunctionType] = set()
    for role, function in called_by(problem):
        digest.update(f"{role} {function.__module__}.{function.__qualname__}\n".encode())
        functions |= reached(function)
    digest.update("".join(sorted(map(_described, functions))).encode())
    return digest.hexdigest()[:32]


@functools.cache
def checker_digest() -> str:
    """A name for the checker's own sources."""
    digest = hashlib.sha256()
    for pattern in CHECKER:
        for path in sorted(PACKAGES.glob(pattern)):
            content = path.read_bytes()
            digest.update(f"{path.relative_to(PACKAGES)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


@functools.cache
def reached(function: types.FunctionType) -> frozenset[types.FunctionType]:
    """A function and all that it calls, and those call."""
    found = {function}
    waiting = [function]
    while waiting:
        for called in _used(waiting.pop())[1]:
            if called not in found:
                found.add(called)
                waiting.append(called)
    return frozenset(found)


@functools.cache
def _described(function: types.FunctionType) -> str:
    tree = source_of(function).tree
    facts = (
        f"{function.__module__}.{function.__qualname__}",
        ast.unparse(without_words(tree)),
        function.__defaults__,
        function.__kwdefaults__,
        _used(function)[0],
    )
    return f"{hashlib.sha256(repr(facts).encode()).hexdigest()}\n"


@functools.cache
def _used(
    function: types.FunctionType,
) -> tuple[tuple[str, ...], tuple[types.FunctionType, ...]]:
    """The values that a function reads by name, and the functions that it calls."""
    values, functions = [], []
    for name, value in _named(function):
        if isinstance(value, types.FunctionType):
            functions.append(value)
            values.append(f"{name} is {value.__module__}.{value.__qualname__}")
        elif isinstance(value, set | frozenset):
            values.append(f"{name} = {sorted(value, key=repr)!r}")
        elif isinstance(value, int | str | tuple):
            values.append(f"{name} = {value!r}")
    return tuple(values), tuple(functions)


def _named(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    names = function.__globals__
    for node in ast.walk(source_of(function).tree):
        if isinstance(node, ast.Name) and node.id in names:
            yield node.id, names[node.id]
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            owner = names.get(node.value.id)
            if isinstance(owner, types.ModuleType | type) and hasattr(owner, node.attr):
                yield node.attr, getattr(owner, node.attr)
