"""Refusals of fields that are used without the state, or as a whole where they have elements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from typing import Any

from waterline.model.own.fields import AnyField, Names, SequenceField
from waterline.model.own.syntax import Refuse

_SUMS = ("sum", "any", "all", "min", "max")
_OVER = (*_SUMS, "sorted", "enumerate", "list", "set", "tuple")


def require_state(
    tree: ast.FunctionDef,
    fields: Mapping[str, AnyField],
    sizes: Collection[str],
    names: Collection[str],
    refuse: Refuse,
) -> None:
    """Reject a field that is written without the state, and a state that is not an argument."""
    given = [argument.arg for argument in tree.args.args]
    names_in = [n for n in ast.walk(tree) if isinstance(n, ast.Name)]
    augmented = {id(n.target) for n in ast.walk(tree) if isinstance(n, ast.AugAssign)}
    variables = {n.id for n in names_in if _is_stored(n) and id(n) not in augmented}
    plain = {id(t) for n in ast.walk(tree) if isinstance(n, ast.Assign) for t in n.targets}
    unused = variables - {n.id for n in names_in if not _is_stored(n) or id(n) not in plain}
    state = given[0] if given else "s"
    for node in ast.walk(tree):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name not in (
                *given,
                *names,
                *variables,
            ) and (attribute in fields or attribute in sizes):
                written = ", ".join((name, *(each for each in given if each != "self")))
                raise refuse(
                    tree,
                    f"{tree.name} has no argument `{name}`, the state that it asks for {attribute}",
                    f"write def {tree.name}({written})",
                )
            case ast.Name(id=name) if name in fields and name not in (*given, *names, *_OVER):
                if name not in variables or name in unused:
                    raise refuse(node, f"`{name}` is a field of the state", f"write {state}.{name}")


def require_whole(
    node: ast.AST, field_of: Callable[[ast.AST], AnyField | None], refuse: Refuse
) -> None:
    """Reject an operation on a whole table, and one that belongs to an element."""
    match node:
        case ast.Compare(left=sought, ops=[ast.In() | ast.NotIn()], comparators=[table]):
            field = field_of(table)
            if field is not None and field.indices:
                element, over = _gone_through(table, field)
                raise refuse(
                    node,
                    f"`{ast.unparse(node)}` asks a table as a whole",
                    f"write any({element} == {ast.unparse(sought)} {over})",
                )
        case ast.Call(func=ast.Name(id=name), args=[table, *_]) if name in _OVER:
            field = field_of(table)
            if field is not None and field.indices:
                element, over = _gone_through(table, field)
                whole = f"`{ast.unparse(node)}` goes through a table as a whole"
                if name in _SUMS:
                    raise refuse(node, whole, f"write {name}({element} {over})")
                raise refuse(node, whole, f"write a loop {over}, and {element} in it")
        case ast.Subscript(value=ast.Subscript(value=table)):
            field = field_of(table)
            if field is not None and field.indices and not isinstance(field, SequenceField):
                shown = ast.unparse(table)
                by = ", ".join(_letter(field, n) for n in range(len(field.indices)))
                raise refuse(
                    node,
                    f"`{ast.unparse(node)}` has an index behind an index",
                    f"write {shown}[{by}]",
                )


def require_constant(node: ast.AST, sizes: Collection[str], states: Collection[str]) -> Any:
    """The name of a bound that is assigned to, if that is what happens."""
    match node:
        case ast.Attribute(value=ast.Name(id=name), attr=attribute, ctx=ast.Store()):
            return attribute if name in states and attribute in sizes else None
    return None


def _gone_through(table: ast.expr, field: AnyField) -> tuple[str, str]:
    """`s.state[client]` and `for client in s.clients`, for each index."""
    assert isinstance(table, ast.Attribute)
    state = ast.unparse(table.value)
    letters = [_letter(field, n) for n in range(len(field.indices))]
    over = [
        f"{state}.{index.plural}" if isinstance(index, Names) else f"range({index})"
        for index in field.indices
    ]
    loops = (f"for {letter} in {each}" for letter, each in zip(letters, over, strict=True))
    return f"{ast.unparse(table)}[{', '.join(letters)}]", " ".join(loops)


def _letter(field: AnyField, position: int) -> str:
    index = field.indices[position]
    return index.name if isinstance(index, Names) else "ij"[position]


def _is_stored(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)
