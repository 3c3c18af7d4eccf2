"""Refusals of what Python has and rules have not, each with its remedy.

The checker looks for them before anything else: else a message would be about a part of such a
statement. Fields are also refused without the state, and as a whole where they have elements.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Mapping
from typing import Any

from waterline.model.own.fields import AnyField, Names, PlacedField
from waterline.model.own.syntax import Refuse

_IMPORT = "write it at the top of the file; a rule uses nothing of other files but constants"
_NOT_IN_RULES: dict[type[ast.AST], tuple[str, str]] = {
    ast.FunctionDef: (
        "a function within it",
        "write it at the top level of the file, and call it",
    ),
    ast.Lambda: ("a lambda", "write a function at the top level of the file, and call it"),
    ast.ClassDef: ("a class within it", "declare fields; a state is made of these"),
    ast.Global: ("a global variable", "declare a field, and assign to that of the state"),
    ast.Nonlocal: ("a nonlocal variable", "declare a field, and assign to that of the state"),
    ast.Try: ("a try", "nothing is caught in a rule; ask first, with if or when"),
    ast.With: ("a with", "there is nothing to open in a rule; leave it out"),
    ast.Delete: ("a del", "assign another value, as None to a field of names with or_none=True"),
    ast.Raise: ("a raise", "say in a claim (always) what must not be"),
    ast.Import: ("an import", _IMPORT),
    ast.ImportFrom: ("an import", _IMPORT),
    ast.Yield: ("a yield", "give the action an argument: it stands for any of its values"),
    ast.YieldFrom: ("a yield", "give the action an argument: it stands for any of its values"),
    ast.Match: ("a match", "write if and elif"),
    ast.NamedExpr: ("a `:=`", "assign on a line of its own"),
    ast.Dict: ("a dictionary", "declare a field, by=... what it is asked for"),
    ast.List: ("a list", "declare a Log or a Queue, or ask with `in (1, 2)`"),
    ast.DictComp: ("a dictionary", "declare a field, by=... what it is asked for"),
    ast.ListComp: ("a list", "write a loop, or all, any, sum, max or min of what would be in it"),
}
_OPERATORS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Div: ("`/` makes fractions", "numbers are whole: write //"),
    ast.Pow: ("there is no `**`", "multiply, or write 1 << n for a power of two"),
    ast.MatMult: ("there is no `@`", "write *"),
}


def require_statements(tree: ast.FunctionDef, refuse: Refuse) -> None:
    """Refuse what no rule may have. Raises what `refuse` makes."""
    asked = _read_lists(tree)
    for node in ast.walk(tree):
        if node is tree or id(node) in asked:
            continue
        if (found := _NOT_IN_RULES.get(type(node))) is not None:
            what, instead = found
            raise refuse(node, f"{tree.name} has {what}, which rules have not", instead)
        match node:
            case ast.BinOp(op=operator) if type(operator) in _OPERATORS:
                what, instead = _OPERATORS[type(operator)]
                raise refuse(node, f"`{ast.unparse(node)}`: {what}", instead)
            case ast.Constant(value=float() | complex() as number):
                raise refuse(node, f"{number} is no whole number", "count in smaller units")
            case ast.Compare(comparators=[*middle, _]):
                for between in middle:
                    _require_no_bits(node, between, refuse)


def _require_no_bits(whole: ast.Compare, between: ast.expr, refuse: Refuse) -> None:
    """`a < 3 & b > 0` is `a < (3 & b) > 0` to Python."""
    match between:
        case ast.BinOp(op=ast.BitAnd() | ast.BitOr() as operator):
            word = "and" if isinstance(operator, ast.BitAnd) else "or"
            raise refuse(
                between,
                f"`{ast.unparse(whole)}` compares with `{ast.unparse(between)}`",
                f"write `{word}` between the comparisons",
            )


def _read_lists(tree: ast.FunctionDef) -> set[int]:
    """Lists behind `in`, or within all, any, sum, max or min: they are read, never kept."""
    found: set[int] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Compare(comparators=given):
                found |= {id(each) for each in given if isinstance(each, ast.List | ast.Set)}
            case ast.Call(
                func=ast.Name(id="all" | "any" | "sum" | "max" | "min"),
                args=[ast.ListComp() as each],
            ):
                found.add(id(each))
            case ast.For(iter=ast.List() as each) | ast.comprehension(iter=ast.List() as each):
                found.add(id(each))
    return found


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
            if field is not None and field.indices and not isinstance(field, PlacedField):
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
