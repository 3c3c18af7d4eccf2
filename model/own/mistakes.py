"""Refusals of what rules often say and cannot mean, before anything is rewritten or compiled.

What is written wrong is named as the file has it, with what to write instead. What is not found
here the compiler refuses, in its own words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from waterline.model.own.fields import (
    AnyField,
    BadProtocol,
    Choice,
    Container,
    Flag,
    Index,
    Name,
    Names,
    PlacedField,
    Set,
    extent,
)
from waterline.model.own.lowering import changed_by
from waterline.model.own.statements import (
    require_constant,
    require_state,
    require_statements,
    require_whole,
)
from waterline.model.own.syntax import Refuse, element_of, is_none

_ASKS = ("when", "within")
_LOGIC = (ast.Compare, ast.BoolOp, ast.UnaryOp, ast.BinOp, ast.Attribute, ast.Subscript, ast.Name)


@dataclass(frozen=True, slots=True)
class Mistakes:
    """Search for mistakes in the functions of a file. Raises what `refuse` makes.

    `sizes` are the numbers that a state has besides its fields, `names` those of the file.
    """

    fields: Mapping[str, AnyField]
    sizes: Collection[str]
    names: Collection[str]
    refuse: Refuse

    def require_rule(self, tree: ast.FunctionDef, structs: Collection[str] = ()) -> None:
        """Reject mistakes that any rule can contain. `structs` names the non-state arguments."""
        for node in ast.walk(tree):
            self._require_no_literal(node)
        require_statements(tree, self.refuse)
        require_state(tree, self.fields, self.sizes, self.names, self.refuse)
        arguments = {argument.arg for argument in tree.args.args} - {*structs}
        for node in ast.walk(tree):
            require_whole(node, partial(self._field, arguments=arguments), self.refuse)
            if (bound := require_constant(node, self.sizes, arguments)) is not None:
                raise self.refuse(
                    node,
                    f"{bound} is a bound, and never changes",
                    "declare a Number, and write that",
                )
        whole = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Subscript)}
        for node in ast.walk(tree):
            match node:
                case ast.Call(func=ast.Name(id=name)):
                    self._require_callable(node, name, arguments)
                case ast.Call(func=ast.Attribute(value=value, attr=method)):
                    self._require_method(node, value, method, arguments)
                case ast.JoinedStr():
                    what = "an f-string cannot be compiled"
                    raise self.refuse(
                        node, what, "a plain docstring may name an argument, as {client}"
                    )
                case ast.For(iter=over) | ast.comprehension(iter=over):
                    self._require_range(over, arguments)
                case ast.Subscript(value=value, slice=index):
                    self._require_elements(value, index, arguments)
                case ast.Attribute() if id(node) not in whole:
                    self._require_index(node, arguments)
                case ast.Assign(targets=[target], value=ast.Constant(value=bool() as truth)):
                    self._require_not_a_truth(node, target, truth, arguments)

    def require_action(self, tree: ast.FunctionDef) -> None:
        """Reject the mistakes of an action."""
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                asked = ast.unparse(node.test)
                raise self.refuse(node, f"an action has `assert {asked}`", f"write when({asked})")
            if isinstance(node, ast.Return) and not (is_none(node.value) or is_true(node.value)):
                shown = ast.unparse(node)
                raise self.refuse(
                    node,
                    f"{tree.name} is an action and says `{shown}`: nobody reads that",
                    "write return alone, or when(...) before what it changes",
                )
        for statement in _statements(tree.body):
            if isinstance(statement, ast.Expr) and isinstance(statement.value, _LOGIC):
                shown = ast.unparse(statement)
                raise self.refuse(
                    statement, f"`{shown}` alone does nothing", f"write when({shown})"
                )

    def require_claim(self, tree: ast.FunctionDef) -> None:
        """Reject the mistakes of a claim."""
        arguments = {argument.arg for argument in tree.args.args}
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                asked = ast.unparse(node.test)
                raise self.refuse(node, f"a claim has `assert {asked}`", f"write return {asked}")
            if (held := changed_by(node, self.fields)) is not None:
                what = f"{tree.name} is a claim and changes {held.name}"
                raise self.refuse(
                    node, what, "only an action may; read it, as with [0] or len(...)"
                )
            if isinstance(node, ast.Attribute | ast.Subscript) and isinstance(node.ctx, ast.Store):
                written = node.value if isinstance(node, ast.Subscript) else node
                field = self._field(written, arguments)
                if field is not None:
                    raise self.refuse(
                        node,
                        f"{tree.name} is a claim and writes {field.name}",
                        "only an action may write; keep it in a variable",
                    )
        way = _way_past(tree.body)
        if way is not None and any(isinstance(node, ast.Return) for node in ast.walk(tree)):
            raise self.refuse(
                tree,
                f"claim {tree.name} ends without a return{way}",
                "return True or False there too",
            )

    # --- one by one ------------------------------------------------------------------------------

    def _require_no_literal(self, node: ast.AST) -> None:
        """`s.votes = {}`, `s.log[r] = []`, `s.votes += {r}`: not how sets and sequences change."""
        match node:
            case ast.Assign(targets=[ast.expr() as target], value=value):
                held, adds = element_of(target, self.fields), False
            case ast.AugAssign(target=target, op=ast.Add(), value=value):
                held, adds = element_of(target, self.fields), True
            case _:
                return
        shown, empty = ast.unparse(target), isinstance(value, ast.List) and not value.elts
        if isinstance(held, Set) and adds:
            what = f"`{ast.unparse(node)}`: a set has no +"
            raise self.refuse(node, what, f"write {shown} |= {ast.unparse(value)}")
        if isinstance(held, Set) and isinstance(value, ast.Dict) and not value.keys:
            raise self.refuse(node, f"`{shown} = {{}}`", "write set(): {} is a dictionary")
        if isinstance(held, Set) and isinstance(value, ast.List):
            members = ", ".join(map(ast.unparse, value.elts))
            instead = f"write {{{members}}}" if members else "write set()"
            raise self.refuse(node, f"`{ast.unparse(node)}`: {held.name} is a set", instead)
        if isinstance(held, PlacedField) and (adds or isinstance(value, ast.List)):
            kind = type(held).__name__
            each = f"{shown}.{held.adds}(...)"
            instead = f"write {shown}.clear()"
            if not empty:
                instead = f"write {each}" if adds else f"{instead}, then {each}"
            raise self.refuse(node, f"`{ast.unparse(node)}`: {held.name} is a {kind}", instead)

    def _require_callable(self, node: ast.Call, name: str, arguments: Collection[str]) -> None:
        if name in _ASKS and name not in self.names:
            raise self.refuse(
                node, f"{name} is not imported", f"write from waterline import {name}"
            )
        if name == "print":
            raise self.refuse(
                node, "a rule prints nothing", "leave it out; a trace shows every state"
            )
        field = self._field(node.args[0], arguments) if name == "len" and node.args else None
        if field is not None and field.indices:
            shown = ast.unparse(node)
            size = extent(field.indices[0])
            counted = _count_of(node.args[0], field.indices[0])
            raise self.refuse(node, f"`{shown}` is always {size}", f"write {counted}")

    def _require_method(
        self, node: ast.Call, value: ast.expr, method: str, arguments: Collection[str]
    ) -> None:
        if isinstance(value, ast.Name) and value.id == "random" and value.id not in arguments:
            raise self.refuse(
                node,
                "there is no chance in a rule",
                "give the action an argument: it stands for any of its values",
            )
        if isinstance(value, ast.Subscript):
            held = self._field(value.value, arguments)
            if held is not None and not isinstance(held, Container) and method != "bit_count":
                shown = ast.unparse(value)
                raise self.refuse(
                    node, f"`{shown}` has no {method}", "compare it with ==, or compute with it"
                )
        field = self._field(value, arguments)
        if isinstance(field, Container):
            if field.indices:
                described = _describe(field).removeprefix("it has ")
                element = _element(ast.unparse(value), field)
                raise self.refuse(
                    node, f"{field.name} has {described}", f"write {element}.{method}(...)"
                )
            return
        if field is not None and method != "bit_count":
            raise self.refuse(
                node,
                f"{field.name} has no {method}: {_describe(field)}",
                f"assign to {_element(ast.unparse(value), field)}",
            )

    def _require_range(self, over: ast.expr, arguments: Collection[str]) -> None:
        if not isinstance(over, ast.Attribute) or not isinstance(over.value, ast.Name):
            return
        shown = ast.unparse(over)
        if over.value.id in arguments and over.attr in self.sizes:
            raise self.refuse(over, f"{shown} is a number", f"write range({shown})")
        field = self._field(over, arguments)
        if isinstance(field, Container) and not field.indices:
            return
        if field is not None:
            what = f"a loop over {shown}, which is no range"
            counted = _count_of(over, field.indices[0]) if field.indices else "..."
            raise self.refuse(over, what, f"write range({counted}), and {shown}[i] in it")

    def _require_elements(
        self, value: ast.expr, index: ast.expr, arguments: Collection[str]
    ) -> None:
        field = self._field(value, arguments)
        if field is None or (isinstance(field, PlacedField) and not field.indices):
            return
        given = len(index.elts) if isinstance(index, ast.Tuple) else 1
        shown = ast.unparse(value)
        if not field.indices:
            raise self.refuse(
                value, f"{field.name} is one value, with no elements", f"write {shown}"
            )
        if given != len(field.indices) or isinstance(index, ast.Slice):
            what = f"{field.name} has {_describe(field).removeprefix('it has ')}"
            raise self.refuse(value, what, f"write {_element(shown, field)}")

    def _require_index(self, node: ast.Attribute, arguments: Collection[str]) -> None:
        field = self._field(node, arguments)
        if field is not None and field.indices:
            what = f"{field.name} has {_describe(field).removeprefix('it has ')}"
            raise self.refuse(node, what, f"write {_element(ast.unparse(node), field)}")

    def _require_not_a_truth(
        self, node: ast.Assign, target: ast.expr, truth: bool, arguments: Collection[str]
    ) -> None:
        element = target.value if isinstance(target, ast.Subscript) else target
        field = self._field(element, arguments)
        if field is None or isinstance(field, Flag | Container):
            return
        if isinstance(target, ast.Subscript) and not field.indices:
            return
        if isinstance(field, Choice):
            instead = f"it is one of {', '.join(map(repr, field.values))}"
        elif isinstance(field, Name):
            instead = f"it holds a {field.of.name}{', or None' if field.or_none else ''}"
        else:
            instead = "it is a number; declare a Flag for True and False"
        raise self.refuse(node, f"{field.name} is never {truth}", instead)

    def _field(self, node: ast.AST, arguments: Collection[str]) -> AnyField | None:
        """The field that `s.state` is, of a state that is an argument."""
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in arguments:
                return self.fields.get(attribute)
        return None


def _describe(field: AnyField) -> str:
    """`it has an element for each client`"""
    if not field.indices:
        return "it has one value"
    by = [
        f"each {index.name}" if isinstance(index, Names) else f"each of {index} numbers"
        for index in field.indices
    ]
    return f"it has an element for {' and '.join(by)}"


def _element(shown: str, field: AnyField) -> str:
    """`s.state[client]`; the value itself where it has no elements."""
    if not field.indices:
        return shown
    by = [
        index.name if isinstance(index, Names) else letter
        for index, letter in zip(field.indices, "ij", strict=False)
    ]
    if len(set(by)) < len(by):
        by = [f"{name}{number}" for number, name in enumerate(by, start=1)]
    return f"{shown}[{', '.join(by)}]"


def _count_of(table: ast.expr, index: Index) -> str:
    """Return a rule's expression for the number of elements of `s.state`: `s.clients`."""
    if not isinstance(index, Names):
        return str(index)
    assert isinstance(table, ast.Attribute)
    return f"{ast.unparse(table.value)}.{index.plural}"


def is_true(value: ast.expr | None) -> bool:
    """True if the value is `True`: no caller of an action reads it, and a warning says so."""
    return isinstance(value, ast.Constant) and value.value is True


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """All of them, also within others."""
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.stmt):
                yield node


def _way_past(body: Sequence[ast.stmt]) -> str | None:
    """Describe the way to a function's end without a return; None if there is none."""
    last = body[-1]
    match last:
        case ast.Return() | ast.Raise():
            return None
        case ast.If(test=test, body=then, orelse=[]):
            return _way_past(then) or f" where {ast.unparse(test)} is False"
        case ast.If(body=then, orelse=otherwise):
            return _way_past(then) or _way_past(otherwise)
        case ast.While(test=ast.Constant(value=True)):
            return None
    return ""


MISTAKES_MAX = 20
"""Maximum number of mistakes of one rule; their consequences are not noted."""
_Given = TypeVar("_Given")
_Made = TypeVar("_Made")


@dataclass(frozen=True, slots=True)
class Noted:
    """All mistakes of the functions of a file, so that they are reported together."""

    trees: Collection[ast.FunctionDef]
    file: str
    found: dict[str, None] = field(default_factory=dict)

    def each(self, given: Sequence[_Given], make: Callable[[_Given], _Made]) -> tuple[_Made, ...]:
        """Return `make` of each. Notes a mistake, and goes on with what comes after it."""
        made = []
        for one in given:
            for _ in range(MISTAKES_MAX):
                try:
                    made.append(make(one))
                except BadProtocol as problem:
                    self.found[str(problem)] = None
                    if _without_line(self.trees, str(problem), self.file):
                        continue
                except Exception:  # of what a mistake has left
                    if not self.found:
                        raise
                break
        return tuple(made)

    def require_none(self) -> None:
        """Raises `BadProtocol` with all of them, each on a line."""
        if self.found:
            raise BadProtocol("\n".join(sorted(self.found, key=place_of)))


def place_of(message: str) -> tuple[int, int]:
    """Line and column that a message begins with, after the name of the file; 0 for none."""
    found = re.match(r".*?:(\d+)(?::(\d+))?: ", message)
    return (int(found[1]), int(found[2] or 0)) if found else (0, 0)


def _without_line(trees: Iterable[ast.FunctionDef], message: str, file: str) -> bool:
    """Take the statement of a message out of its function, so that others can be looked at.

    False where that is none that can be missing: a function itself, a return, a line of another
    file.
    """
    line, _ = place_of(message)
    if not message.startswith(f"{file}:"):
        return False
    for node in (each for tree in trees for each in ast.walk(tree)):
        for name in ("body", "orelse"):
            found = getattr(node, name, None)
            block: list[ast.stmt] = found if isinstance(found, list) else []
            for number, statement in enumerate(block):
                ends = statement.end_lineno or statement.lineno
                if not statement.lineno <= line <= ends:
                    continue
                if isinstance(statement, ast.Return):
                    return False
                inner = [each for each in ast.walk(statement) if isinstance(each, ast.stmt)]
                if any(each.lineno <= line and each is not statement for each in inner):
                    continue  # One within it is on that line.
                block[number] = ast.copy_location(ast.Pass(), statement)
                return True
    return False
