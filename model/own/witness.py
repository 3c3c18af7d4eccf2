"""Witnesses: for which names a quantified claim is false."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass

from waterline.model.own.comprehensions import in_loops


@dataclass(frozen=True, slots=True)
class Witness:
    """Code that returns the variables of the first turn that makes the claim False.

    Each variable has its name and, if it counts all names of a sort, that sort's plural, or the
    field whose values it goes through.
    """

    variables: tuple[tuple[str, str], ...]
    body: tuple[ast.stmt, ...]


def witness_of(body: list[ast.stmt]) -> Witness | None:
    """Return the witness of a claim with this body; None if the body has another form."""
    match body:
        case [ast.Return(value=ast.UnaryOp(op=ast.Not(), operand=ast.Call() as call))]:
            return _witness(call, "any")
        case [ast.Return(value=ast.Call() as call)]:
            return _witness(call, "all")
    return None


def _witness(call: ast.Call, kind: str) -> Witness | None:
    match call:
        case ast.Call(func=ast.Name(id=name), args=[ast.GeneratorExp() as each]) if name == kind:
            pass
        case _:
            return None
    variables = []
    for turn in each.generators:
        match turn:
            case ast.comprehension(
                target=ast.Name(id=variable),
                iter=ast.Call(func=ast.Name(id="range"), args=[ast.Attribute(attr=plural)]),
            ):
                variables.append((variable, plural))
            case ast.comprehension(
                target=ast.Name(id=variable),
                iter=ast.Attribute(attr=field) | ast.Subscript(value=ast.Attribute(attr=field)),
            ):
                variables.append((variable, field))
            case ast.comprehension(target=ast.Name(id=variable)):
                variables.append((variable, ""))
            case _:
                return None
    decides: ast.expr = copy.deepcopy(each.elt)
    if kind == "all":
        decides = ast.UnaryOp(ast.Not(), decides)
    names: list[ast.expr] = [ast.Name(variable, ast.Load()) for variable, _ in variables]
    found = ast.If(decides, [ast.Return(ast.Tuple(names, ast.Load()))], [])
    return Witness(tuple(variables), (in_loops(each, [found]),))
