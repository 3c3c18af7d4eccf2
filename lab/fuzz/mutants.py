"""Mutants of the rules: one place of a module of `model/message`, and what is put there.

Altered are a comparison, an operation, a number by one, a limit, a condition, an operand, a name, a
statement that is left out. Tables, ranges and words are left alone.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from waterline.checker.mutants.edits import (
    Change,
    Place,
    change_of,
    decisions_of,
    other_comparisons,
    places,
    short,
    without_operands,
)
from waterline.model.message import terms

ROOT = Path(__file__).resolve().parents[2]
MODULES = (
    "clients",
    "fetch",
    "late_fetches",
    "isr",
    "caught_up",
    "partition_state",
    "process",
    "directories",
    "disk",
    "leaderless",
    "controller",
    "assignment",
    "reassignment",
    "metadata",
    "replay",
    "truncation",
    "roles",
    "high_watermark",
    "epochs",
    "normal_form",
    "order_abstraction",
    "terms",
    "features",
    "cluster",
)
"""The modules of `model/message` that hold rules; the others are tables, ranges and words."""

KILLED, INVALID = "killed", "invalid"

_RULES = {"features": ("has",), "cluster": ("initial_state",)}
"""Where a module has tables beside its rules: the functions that are rules."""


@dataclass(slots=True)
class Mutant:
    """One alteration: where it is, what it does, the altered text of its module; what became of it.

    `same` is the text without the alteration, written in the same way. `by` names what decided the
    outcome, `how` what it said.
    """

    number: int
    module: str
    line: int
    column: int
    rule: str
    change: str
    text: str
    same: str = ""
    outcome: str = ""
    by: str = ""
    how: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        where = f"model/message/{self.module}.py:{self.line}:{self.column}"
        return f"{self.number} {where} {self.rule}: {self.change}"


_OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitOr: ast.BitXor,
    ast.BitAnd: ast.BitOr,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
_FAMILIES = (
    ("NO_ROLE", "LEADER", "TRUNCATING", "FETCHING"),
    ("IDLE", "REQUESTED", "ANSWERED", "OUT_OF_RANGE", "PARKED", "DIVERGING", "CHECKED"),
    ("NO_ANSWER", "GRANTED", "REFUSED"),
    ("ACKS_NONE", "ACKS_LEADER", "ACKS_ALL"),
    ("UNNOTICED_NONE", "UNNOTICED_FOLLOWER", "UNNOTICED_ANY"),
    (
        "TRUNCATE_TO_HIGH_WATERMARK",
        "TRUNCATE_BY_EPOCH",
        "TRUNCATE_BY_EPOCHS",
        "TRUNCATE_BY_EPOCHS_2_0",
        "TRUNCATE_ON_FETCH",
    ),
    ("DISK_LOSS_ANY", "DISK_LOSS_OUT_OF_SYNC"),
    ("ELECT_IN_ASSIGNMENT_ORDER", "ELECT_ANY"),
)
_KIN = {name: tuple(o for o in family if o != name) for family in _FAMILIES for name in family}
_NOTHING = ("NO_REPLICA", "NO_EPOCH", "NO_RECORD", "UNKNOWN_OFFSET")
_REPLICAS = ("leader", "follower", "replica", "winner")


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module, in the order of its text; no two of them read the same."""
    text = (ROOT / "model" / "message" / f"{module}.py").read_text()
    for rule in ast.parse(text).body:
        if not isinstance(rule, ast.FunctionDef):
            continue
        if rule.name not in _RULES.get(module, (rule.name,)):
            continue
        yield from altered(text, rule, module, places(rule), alterations)


def altered(
    text: str,
    rule: Any,
    module: str,
    places: Iterator[Place],
    alterations: Callable[[Any, ast.AST, Any], Iterator[Change]],
) -> Iterator[Mutant]:
    """The mutants of one function, or one table, of a text."""
    seen = {ast.unparse(rule)}
    same = replaced(text, rule, ast.unparse(rule))
    for node, parent, put in places:
        for change, other in alterations(node, parent, rule):
            put(other)
            written = ast.unparse(ast.fix_missing_locations(rule))
            put(node)
            if written not in seen:
                seen.add(written)
                line, column = node.lineno, node.col_offset + 1
                whole = replaced(text, rule, written)
                yield Mutant(0, module, line, column, rule.name, change, whole, same)


def replaced(text: str, rule: Any, other: str) -> str:
    """The text of a module with another text of one function, or one table."""
    lines = text.splitlines()
    first = min([rule.lineno, *(each.lineno for each in getattr(rule, "decorator_list", ()))])
    indented = textwrap.indent(other, " " * rule.col_offset)
    return "\n".join([*lines[: first - 1], indented, *lines[rule.end_lineno :]]) + "\n"


def alterations(node: Any, parent: ast.AST, rule: ast.FunctionDef) -> Iterator[Change]:
    """Everything that can be put in place of a node."""
    answers = isinstance(rule.returns, ast.Name) and rule.returns.id == "bool"
    if node is getattr(parent, "test", None) or (answers and isinstance(parent, ast.Return)):
        yield from decisions_of(node)
    match node:
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr(value=ast.Call()):
            yield f"drop {short(node)}", ast.Pass()
        case ast.BoolOp():
            yield from without_operands(node)
        case ast.UnaryOp(op=ast.Not() | ast.Invert()):
            yield change_of(node, node.operand)
        case ast.Call(func=ast.Name(id="min" | "max" | "range")):
            yield from other_calls(node)
        case ast.Name(ctx=ast.Load()):
            for name in other_names(node, rule):
                yield f"{node.id} -> {short(name)} in {short(parent)}", name
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            for number in (value - 1, value + 1):
                yield f"{value} -> {number} in {short(parent)}", ast.Constant(number)
    yield from (change_of(node, other) for other in other_operators(node))


def other_operators(node: ast.AST) -> Iterator[ast.AST]:
    """Another comparison or another operation on the same operands; another limit."""
    match node:
        case ast.Compare():
            yield from other_comparisons(node)
        case ast.BinOp() if type(node.op) in _OPERATORS:
            yield ast.BinOp(node.left, _OPERATORS[type(node.op)](), node.right)
        case ast.AugAssign() if type(node.op) in _OPERATORS:
            yield ast.AugAssign(node.target, _OPERATORS[type(node.op)](), node.value)
        case ast.Attribute(value=ast.Name(id="limits")):
            for name in ("WITHIN", "RECORDS", "EPOCHS"):
                yield ast.Attribute(node.value, name, ast.Load())


def other_names(node: ast.Name, rule: ast.FunctionDef) -> Iterator[ast.expr]:
    """One constant for another of its family, something for nothing, one replica for another."""
    for name in _KIN.get(node.id, ()):
        yield ast.Constant(getattr(terms, name))
    if node.id in _NOTHING:
        yield ast.Constant(getattr(terms, node.id) - 1)
        yield ast.Constant(getattr(terms, node.id) + 1)
    known = {n.id for n in ast.walk(rule) if isinstance(n, ast.Name)}
    if node.id in _REPLICAS:
        yield from (ast.Name(o, ast.Load()) for o in _REPLICAS if o in known and o != node.id)


def other_calls(node: Any) -> Iterator[Change]:
    """`min` for `max`, one argument of them alone; a range that starts later or ends earlier."""
    if node.func.id == "range":
        start, end = node.args if len(node.args) == 2 else (ast.Constant(0), node.args[0])
        later = ast.BinOp(start, ast.Add(), ast.Constant(1))
        earlier = ast.BinOp(end, ast.Sub(), ast.Constant(1))
        yield change_of(node, ast.Call(node.func, [later, end], []))
        yield change_of(node, ast.Call(node.func, [start, earlier], []))
        return
    opposite = ast.Name("max" if node.func.id == "min" else "min", ast.Load())
    yield change_of(node, ast.Call(opposite, node.args, []))
    yield from (change_of(node, argument) for argument in node.args)
