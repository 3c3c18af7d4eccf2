"""Refusals of statements and expressions that Python has and rules have not, each with its remedy.

The checker looks for them before anything else: else a message would be about a part of such a
statement.
"""

from __future__ import annotations

import ast

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
