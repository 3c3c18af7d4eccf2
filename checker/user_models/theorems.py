"""The theorem about a user's protocol: its claims and lemmas, for as many bounds as fall away.

A bound falls away if nothing but the declarations of fields, sorts and ranges of arguments is made
of it, and no rule has another text with a larger one. Any other keeps its value, and so does a
truth. A protocol could be another with larger numbers alone; so its text is looked at as well: a
bound may only be added to and handed on there.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from waterline.checker.compiler.content import NoContent, content_of
from waterline.checker.compiler.source import NotCompilable, source_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import describe_option, list_of
from waterline.checker.proof.obligations import Theorem
from waterline.checker.proof.proving import Subject
from waterline.checker.user_models.family import (
    DIGEST,
    built_of,
    built_within,
)
from waterline.checker.user_models.loading import OwnFile
from waterline.checker.user_models.suggestions import suggest
from waterline.model import own as declarations
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Model
from waterline.model.own.building import Built
from waterline.model.own.state_class import Bound, body_of, state_of

_DECLARING = (
    *("Names", "Epochs", "Opaque", "Number", "Choice", "Name", "Epoch", "Flag", "Set", "Queue"),
    *("Log", "Bag", "Action", "Protocol", "range"),
)
"""Declarations that a bound may be handed to."""


@dataclass(frozen=True, slots=True)
class OwnTheorem:
    """A theorem, the bounds that fall away, those that stay, and why these do."""

    theorem: Theorem
    free: tuple[str, ...]
    kept: Mapping[str, Bound]
    reasons: Mapping[str, str]


def theorem_of(own: OwnFile, version: str, bounds: Mapping[str, Bound]) -> OwnTheorem:
    """The theorem of a protocol; these bounds are those of the search. Raises `BadEnvironment`."""
    built = _build(own, version, bounds)
    uses = _Uses.of(own, version)
    reasons: dict[str, str] = {}
    for name, value in bounds.items():
        if isinstance(value, bool):
            continue
        if reason := uses.reason(name) or _difference(own, version, bounds, name, built):
            reasons[name] = reason
    free = tuple(n for n, v in bounds.items() if n not in reasons and not isinstance(v, bool))
    if not free:
        why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        raise BadEnvironment(
            f"{own.file}: no bound of {version} falls away, so that check has the whole answer"
            f"{': ' if why else ''}{why}"
        )
    kept = {name: value for name, value in bounds.items() if name not in free}

    def model(sizes: dict[str, int]) -> Model:
        return _build(own, version, {**bounds, **sizes}).model

    theorem = Theorem(
        model,
        {name: int(bounds[name]) for name in free},
        (*built.always, *built.lemmas),
        claims=built.always,
        steps=built.every_step,
    )
    if not theorem.names:
        raise BadEnvironment(
            f"{own.file}: {version} claims nothing of states or steps; give it always=[...]"
        )
    return OwnTheorem(theorem, free, kept, reasons)


def _build(own: OwnFile, version: str, bounds: Mapping[str, Bound]) -> Built:
    return built_within(own, version, bounds, {**bounds, DIGEST: own.digest})


def own_subject(problem: Problem, file: str) -> Subject:
    """The theorem of a user's problem, with its words. Raises `BadEnvironment`."""
    own, built = built_of(problem)
    version = built.model.version
    bounds = {name: _bound(value) for name, value in built.model.options.items() if name != DIGEST}
    made = theorem_of(own, version, bounds)
    sizes = {name: int(bounds[name]) for name in made.free}
    options = " ".join(f"--set {name}={str(value).lower()}" for name, value in bounds.items())
    kept = "".join(f"; {name} {describe_option(value)}" for name, value in made.kept.items())
    assert problem.family is not None
    return Subject(
        name=version,
        theorem=made.theorem,
        searched=sizes,
        searched_in=f"within {problem.family.words.sizes(built.model)}",
        small=sizes,
        scope=f"any number of {list_of(made.free, len(made.free))}{kept}",
        trusted=(
            "the translation of rules into terms (checker/proof) and the solver; a step that "
            "leaves a range which a bound sets counts as cut, and not as an error"
        ),
        check=f"waterline check --model {file} {options}",
        options={
            "model": own.name,
            "version": version,
            "any": list(made.free),
            "bounds": dict(made.kept),
        },
        file=file,
        suggest=partial(suggest, own, built, made.theorem, sizes),
    )


def _bound(value: object) -> Bound:
    assert isinstance(value, int)
    return value


# --- what a protocol makes of its bounds ---------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Uses:
    """Lines of a file where a bound is used otherwise than in a declaration, by its name."""

    lines: Mapping[str, int]
    everywhere: int = 0

    @classmethod
    def of(cls, own: OwnFile, version: str) -> _Uses:
        function = own.protocols[version]
        state = state_of(function)
        if state is None:
            return cls({}, function.__code__.co_firstlineno)
        body = declaring = None
        code, body_code = function.__code__, body_of(state)
        shadowed = [
            name
            for name in _DECLARING
            if own.names.get(name, _THERE.get(name)) is not _THERE.get(name)
        ]
        found: dict[str, int] = {}
        for node in ast.parse(own.text).body:
            if isinstance(node, ast.ClassDef) and body_code is not None:
                body = node if node.lineno == body_code.co_firstlineno else body
            elif isinstance(node, ast.FunctionDef):
                declaring = node if node.lineno == code.co_firstlineno else declaring
        if body is None or declaring is None:
            return cls({}, code.co_firstlineno)
        for statement in body.body:
            for name, line in _in_class(statement, shadowed):
                found.setdefault(name, line)
        [parameter, *_] = declaring.args.args
        for name, line in _in_function(declaring, parameter.arg, shadowed):
            found.setdefault(name, line)
        return cls(found, found.pop("", 0))

    def reason(self, name: str) -> str:
        line = self.everywhere or self.lines.get(name, 0)
        return f"line {line} makes more of it than a declaration" if line else ""


_THERE = {**{name: getattr(declarations, name) for name in _DECLARING if name != "range"}}


def _in_class(statement: ast.stmt, shadowed: Sequence[str]) -> Iterator[tuple[str, int]]:
    """The names in a statement of a class that are used otherwise, with their lines; "" for all."""
    match statement:
        case ast.Expr(value=ast.Constant()):
            return
        case ast.Assign(targets=[ast.Name(id=name)], value=value):
            pass
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            pass
        case _:
            yield "", statement.lineno
            return
    if name.startswith("_"):
        for each in ast.walk(value):
            if (read := _read_name(each)) is not None:
                yield read, statement.lineno
        return
    yield from _misuses(value, _read_name, shadowed)


def _in_function(
    function: ast.FunctionDef, state: str, shadowed: Sequence[str]
) -> Iterator[tuple[str, int]]:
    """The same of the function that declares the protocol, where a bound is `state.bound`."""

    def bound(node: ast.AST) -> str | None:
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name == state:
                return attribute
        return None

    known = {id(n.value) for n in ast.walk(function) if bound(n) and isinstance(n, ast.Attribute)}
    for node in ast.walk(function):
        match node:
            case ast.keyword(arg="state", value=ast.Name(id=name) as value) if name == state:
                known.add(id(value))
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == state and id(node) not in known:
            yield "", node.lineno
    for statement in function.body:
        yield from _misuses(statement, bound, shadowed)


def _read_name(node: ast.AST) -> str | None:
    return node.id if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else None


def _misuses(
    node: ast.AST,
    bound: Callable[[Any], str | None],
    shadowed: Sequence[str],
) -> Iterator[tuple[str, int]]:
    """Bounds in a tree that are neither added to nor handed to a declaration."""
    name = bound(node)
    if name is not None:
        return  # The nodes around it are all fine.
    match node:
        case ast.Call(func=ast.Name(id=called)) if called in _DECLARING and called not in shadowed:
            parts: list[ast.AST] = [*node.args, *node.keywords]
        case ast.BinOp(op=ast.Add() | ast.Sub()):
            parts = [node.left, node.right]
        case ast.keyword() | ast.Return() | ast.List() | ast.Tuple():
            parts = list(ast.iter_child_nodes(node))
        case _:
            for each in ast.walk(node):
                if (found := bound(each)) is not None:
                    yield found, getattr(each, "lineno", 0)
            return
    for part in parts:
        yield from _misuses(part, bound, shadowed)


# --- what rules have of a bound ------------------------------------------------------------------


def _difference(
    own: OwnFile, version: str, bounds: Mapping[str, Bound], name: str, built: Built
) -> str:
    """Why a bound does not fall away, "" if it does: a rule is another one with a larger one."""
    try:
        larger = _build(own, version, {**bounds, name: int(bounds[name]) + 1})
    except BadEnvironment as problem:
        return f"a larger one is refused ({problem})"
    ours, others = _functions(built), _functions(larger)
    if list(ours) != list(others) or _arguments(built) != _arguments(larger):
        return "with a larger one there are other rules"
    for what, function in ours.items():
        if not _alike(function, others[what], set()):
            return f"a rule of {what} has its number in it"
    return ""


def _arguments(built: Built) -> list[tuple[str, str]]:
    return [(p.name, p.over) for action in built.model.actions for p in action.parameters]


def _functions(built: Built) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for action in built.model.actions:
        found |= {f"{action.name}": action.guard, f"{action.name}, its effect": action.effect}
    found |= {claim.name: claim.holds for claim in built.always}
    found |= {claim.name: claim.keeps for claim in built.every_step}
    return found | {lemma.name: lemma.holds for lemma in built.lemmas}


def _alike(one: Any, other: Any, seen: set[Any]) -> bool:
    """True if two rules, and all that they call, are the same text and the same numbers."""
    if (one, other) in seen:
        return True
    seen.add((one, other))
    a, b = source_of(one), source_of(other)
    if ast.dump(a.tree) != ast.dump(b.tree) or a.defaults != b.defaults:
        return False
    for node in ast.walk(a.tree):
        if not isinstance(node, ast.Name) or node.id in a.variables:
            continue
        mine, theirs = a.names.get(node.id), b.names.get(node.id)
        if isinstance(mine, types.FunctionType) and isinstance(theirs, types.FunctionType):
            if mine is not theirs and not _alike(mine, theirs, seen):
                return False
        elif mine is not theirs:
            try:
                if content_of(mine, exact=True) != content_of(theirs, exact=True):
                    return False
            except (NoContent, NotCompilable):
                return False
    return True
