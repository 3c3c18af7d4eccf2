"""Warnings about a user's file: what is allowed, and seldom meant. None changes an exit code."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping

from waterline.checker.problem.problem import Problem
from waterline.checker.user_models.loading import OwnFile, load_text
from waterline.model.own import Action
from waterline.model.own.mistakes import is_true

_OWN = "own_family"


def warnings_of(problem: Problem) -> tuple[str, ...]:
    """Return the warnings about a problem's file, each one line; none for Kafka's models."""
    family = problem.family
    if family is None or family.origin[0].__name__ != _OWN:
        return ()
    text, file = family.origin[1]
    own = load_text(text, file)
    version = problem.model.version
    functions = {n.name: n for n in ast.parse(text).body if isinstance(n, ast.FunctionDef)}
    parsed = ast.parse(text)
    found = [*_numbers_for_sorts(functions[version]), *_bounds_unread(parsed, own.bounds(version))]
    found += _unlisted_actions(parsed, functions.values())
    for action in _actions(own, version, problem):
        if (tree := functions.get(action)) is not None:
            found += [*_truths_returned(tree), *_unknown_names(tree), *_returns_for_when(tree)]
    return tuple(f"{file}:{line}: {what}" for line, what in sorted(found))


def _read(tree: ast.AST) -> Iterator[str]:
    """The names that are read in a file, of whatever."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                yield name


def _bounds_unread(tree: ast.Module, bounds: Mapping[str, object]) -> Iterator[tuple[int, str]]:
    """Bounds of a class of fields that nothing reads."""
    read = set(_read(tree))
    for node in (each for state in tree.body for each in getattr(state, "body", ())):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name)) if name in bounds and name not in read:
                yield (
                    node.lineno,
                    f"nothing reads the bound {name}: --set {name}=... changes nothing; "
                    "leave it out, or write state.NAME where it bounds something",
                )


def _unlisted_actions(
    tree: ast.Module, functions: Iterable[ast.FunctionDef]
) -> Iterator[tuple[int, str]]:
    """Actions that no list has: functions that ask `when`, or write to the state, and that nothing
    names.
    """
    read = set(_read(tree))
    for each in functions:
        if each.name not in read and each.args.args and _acts(each, each.args.args[0].arg):
            yield (
                each.lineno,
                f"{each.name} is an action that no list has, so it never happens; "
                f"write actions=[..., {each.name}], or take it out",
            )


def _acts(tree: ast.FunctionDef, state: str) -> bool:
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id="when" | "within")):
                return True
            case ast.Attribute(value=ast.Name(id=owner), ctx=ast.Store()) if owner == state:
                return True
            case ast.Subscript(value=ast.Attribute(value=ast.Name(id=owner)), ctx=ast.Store()) if (
                owner == state
            ):
                return True
    return False


def _returns_for_when(tree: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """`if s.full: return` before anything else, where `when(not s.full)` may be meant."""
    for statement in tree.body:
        match statement:
            case ast.Expr(value=ast.Constant() | ast.Call(func=ast.Name(id="when" | "within"))):
                continue
            case ast.If(test=test, body=[ast.Return()], orelse=[]):
                asked = ast.unparse(test)
                yield (
                    statement.lineno,
                    f"where {asked}, {tree.name} is a step that changes nothing; "
                    f"write when(not ({asked})) for one that does not happen",
                )
            case _:
                return


def _actions(own: OwnFile, version: str, problem: Problem) -> list[str]:
    """Return the names of a protocol's actions."""
    bounds = own.bounds_in(problem.model)
    declared = own.declare(version, bounds).actions
    functions = [each.function if isinstance(each, Action) else each for each in declared]
    return [function.__name__ for function in functions]


def _numbers_for_sorts(tree: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """`by=clients`, the bound that a sort is made with, where `by=client` may be meant."""
    sorts: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=sort)],
                value=ast.Call(
                    func=ast.Name(id="Names") | ast.Attribute(attr="Names"),
                    args=[_, ast.Name(id=count), *_],
                ),
            ):
                sorts[count] = sort
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg != "by":
                continue
            indices = (
                keyword.value.elts if isinstance(keyword.value, ast.Tuple) else [keyword.value]
            )
            for index in indices:
                if isinstance(index, ast.Name) and index.id in sorts:
                    sort = sorts[index.id]
                    yield (
                        index.lineno,
                        f"by={index.id} is by numbers, 0 and so on, and traces show these; "
                        f"by={sort} is by the names of the sort {sort}",
                    )


def _truths_returned(tree: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Return) and is_true(node.value):
            yield (
                node.lineno,
                f"{tree.name} is an action and says `return True`: nobody reads that; "
                "write return alone",
            )


def _unknown_names(tree: ast.FunctionDef) -> Iterator[tuple[int, str]]:
    """Yield the names in a docstring's braces that are not arguments."""
    given = [argument.arg for argument in tree.args.args][1:]
    for part in (ast.get_docstring(tree) or "").split("{")[1:]:
        name, closed, _ = part.partition("}")
        if closed and name.isidentifier() and name not in given:
            known = " or ".join(f"{{{each}}}" for each in given) or "no argument"
            yield (
                tree.body[0].lineno,
                f"the docstring of {tree.name} names {{{name}}}, which is no argument; "
                f"name {known}",
            )
