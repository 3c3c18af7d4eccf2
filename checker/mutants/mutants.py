"""Mutants of a user model: its text with one place of one rule altered.

Guards, comparisons and effects are altered: those of the actions, of `initial`, and of the
functions of the file that these call. Bounds (`within`), claims, fields and numbers are left alone.
A line stays where it is, so that a mutant's messages name the lines of the model.
"""

from __future__ import annotations

import ast
import linecache
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any

from waterline.checker.mutants.edits import (
    CONDITIONS,
    EFFECTS,
    GUARDS,
    Change,
    change_of,
    decisions_of,
    other_comparisons,
    places,
    short,
    without_operands,
)
from waterline.checker.user_models.loading import OwnFile
from waterline.model.own import Action
from waterline.model.own.asking import question_of
from waterline.model.own.state_class import Bound


@dataclass(frozen=True, slots=True)
class Mutant:
    """One edit: its rule and place, its kind, what it does in words, and the altered text.

    `change` differs among the mutants of a rule: one that reads like another has a number.
    """

    rule: str
    line: int
    column: int
    kind: str
    change: str
    text: str = field(repr=False)


@contextmanager
def lines_kept(file: str) -> Iterator[None]:
    """Leave the lines that messages show of a file as they are: a mutant has its name."""
    before = linecache.cache.get(file)
    try:
        yield
    finally:
        linecache.cache.pop(file, None)
        if before is not None:
            linecache.cache[file] = before


def mutants_of(own: OwnFile, protocol: str, bounds: Mapping[str, Bound]) -> list[Mutant]:
    """Every mutant of a protocol within these bounds, in the order of the text.

    No two of them read the same. Raises `BadEnvironment`.
    """
    tree = ast.parse(own.text)
    known = {ast.dump(tree)}
    text = _Text(own.text)
    found: list[Mutant] = []
    for rule in _rules(own, tree, protocol, bounds):
        changes: Counter[str] = Counter()
        for node, kind, (change, other) in _edits(rule):
            edited = text.with_node(node, other)
            read = ast.dump(ast.parse(edited))
            if read in known:
                continue
            known.add(read)
            changes[change] += 1
            number = f" #{changes[change]}" if changes[change] > 1 else ""
            at = node.lineno, node.col_offset + 1
            found.append(Mutant(rule.name, *at, kind, f"{change}{number}", edited))
    return found


def _rules(
    own: OwnFile, tree: ast.Module, protocol: str, bounds: Mapping[str, Bound]
) -> list[ast.FunctionDef]:
    """The functions that make steps and initial states, and those of the file that they call."""
    declared = own.declare(protocol, bounds)
    functions = {each.name: each for each in tree.body if isinstance(each, ast.FunctionDef)}
    begun = [*declared.actions, *([declared.initial] if declared.initial is not None else [])]
    left = [(each.function if isinstance(each, Action) else each).__name__ for each in begun]
    found: dict[str, ast.FunctionDef] = {}
    while left:
        name = left.pop()
        if name in functions and name not in found:
            found[name] = functions[name]
            left += [n.id for n in ast.walk(functions[name]) if isinstance(n, ast.Name)]
    return sorted(found.values(), key=lambda each: each.lineno)


def _edits(rule: ast.FunctionDef) -> Iterator[tuple[Any, str, Change]]:
    """Each node that is replaced, the kind of the edit, and the edit."""
    asked = {"when": set[int](), "within": set[int]()}
    for node in ast.walk(rule):
        if isinstance(node, ast.Expr) and (question := question_of(node)) is not None:
            asked[question] |= {id(each) for each in ast.walk(node)}
    body = ast.Module(rule.body, [])
    for node, parent, _ in places(body):
        if id(node) in asked["within"]:
            continue
        is_guard = id(node) in asked["when"]
        for kind, change in _changes(node, parent):
            yield node, GUARDS if is_guard else kind, change


def _changes(node: Any, parent: ast.AST) -> Iterator[tuple[str, Change]]:
    match node:
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign() | ast.Expr(value=ast.Call()):
            yield EFFECTS, (f"drop {short(node)}", ast.Pass())
        case ast.BoolOp():
            yield from ((CONDITIONS, change) for change in without_operands(node))
        case ast.UnaryOp(op=ast.Not()):
            yield CONDITIONS, change_of(node, node.operand)
        case ast.Compare():
            yield from ((CONDITIONS, change_of(node, other)) for other in other_comparisons(node))
    if isinstance(parent, ast.If | ast.IfExp | ast.While) and node is parent.test:
        yield from ((CONDITIONS, change) for change in decisions_of(node))


class _Text:
    """A text whose nodes can be replaced; every other line stays where it is."""

    def __init__(self, text: str) -> None:
        self._bytes = f"{text}\n".encode()
        lines = self._bytes.splitlines(keepends=True)
        self._starts = list(accumulate(map(len, lines), initial=0))

    def with_node(self, node: Any, other: ast.AST) -> str:
        """Return the text with another node in the place of one."""
        begin = self._starts[node.lineno - 1] + node.col_offset
        end = self._starts[node.end_lineno - 1] + node.end_col_offset
        written = ast.unparse(ast.fix_missing_locations(other))
        lines = self._bytes[begin:end].count(b"\n")
        if isinstance(node, ast.stmt):
            # Another statement may follow on the last of these lines.
            new = written + " \\\n" * lines
        else:
            new = "(" + written + "\n" * lines + ")"
        return (self._bytes[:begin] + new.encode() + self._bytes[end:]).decode()
