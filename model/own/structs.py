"""Lowering of structs: a value of several parts is one number, its parts are the digits.

The first part is the greatest digit. `Vote(to=a, term=2)` becomes a call of a function that makes
the number, and `vote.term` a call of one that takes the digit out of it. A part that its domain has
not is an error of the rule that makes such a value. Where a rule only asks whether something holds
it, nothing does.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from waterline.model.core.errors import did_you_mean_or
from waterline.model.core.made import note_operation
from waterline.model.own.fields import AnyField, Flag, Struct, Value
from waterline.model.own.placed import parse_function
from waterline.model.own.syntax import Kind, Refuse, at

NO_VALUE = -1
"""The number of a value that the domain has not: none that is kept is this."""
Part = Flag | AnyField


class StructFunction(NamedTuple):
    """A function of a struct: the field that holds its value, and those that hold its arguments."""

    function: ast.FunctionDef
    kind: AnyField
    parts: tuple[AnyField, ...] = ()


@dataclass(frozen=True, slots=True)
class Structs:
    """The structs of a model, by what the file calls their named tuples.

    `written` are the functions that rules call to make a struct, and to take a part out of one.
    """

    by_name: Mapping[str, Struct]
    written: dict[str, StructFunction] = field(default_factory=dict)

    def kind_of_call(self, called: str) -> AnyField | None:
        """Return the kind that a call of a named tuple, or of a function written here, has."""
        if (struct := self.by_name.get(called)) is not None:
            return struct.value
        found = self.written.get(called)
        return None if found is None else found.kind

    def parts_of_call(self, called: str) -> tuple[AnyField, ...]:
        """The fields that hold what such a function is given; nothing for any other function."""
        found = self.written.get(called)
        return () if found is None else found.parts


@dataclass(slots=True)
class Parts(ast.NodeTransformer):
    """Writes calls for what a function makes of structs, and reads of them.

    `kind` says what an expression of the function is.
    """

    structs: Structs
    kind: Callable[[ast.expr], Kind]
    refuse: Refuse
    _sought: set[int] = field(default_factory=set)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`Vote(to=a) in s.wire`"""
        if isinstance(node.ops[0], ast.In | ast.NotIn):
            self._sought.add(id(node.left))
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`Vote(to=a, term=2)`"""
        match node:
            case ast.Call(func=ast.Name(id=name)) if struct := self.structs.by_name.get(name):
                given = self._arguments(node, struct)
                sought = id(node) in self._sought
                # One that may raise has a copy for each line, which the error names.
                called = f"__made_{struct.name}_line_{node.lineno}__"
                otherwise = "return 1 // (1 - outside)"
                if sought:
                    called, otherwise = f"__sought_{struct.name}__", f"return {NO_VALUE}"
                made = _making(struct, called, otherwise)
                taken = tuple(part for _, part in struct.parts)
                written = StructFunction(made, struct.value, taken)
                return self._call(written, [self.visit(each) for each in given], node)
            case ast.Call(func=ast.Attribute(value=owner, attr=method)):
                if isinstance(held := self.kind(owner), Value):
                    what = f"{held.name} has no {method}(...)"
                    raise self.refuse(node, what, f"write {held.name}(...) with all its parts")
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`vote.term`"""
        held = self.kind(node.value)
        if not isinstance(held, Value):
            return self.generic_visit(node)
        struct = held.of
        part = struct.part(node.attr)
        if part is None:
            names = [name for name, _ in struct.parts]
            what = f"a {struct.name} has no part {node.attr!r}"
            has = f"it has {', '.join(names)}"
            raise self.refuse(node, what, did_you_mean_or(node.attr, names, has))
        if not isinstance(node.ctx, ast.Load):
            what = f"`{ast.unparse(node)}` is assigned to, and a {struct.name} never changes"
            raise self.refuse(node, what, f"make another one, {struct.name}(...)")
        written = StructFunction(_taking(struct, node.attr, part), part)
        return self._call(written, [self.visit(node.value)], node)

    def _arguments(self, node: ast.Call, struct: Struct) -> list[ast.expr]:
        """Return the argument for each part, in their order; an omitted part has its default."""
        names = [name for name, _ in struct.parts]
        given = dict(zip(names, node.args, strict=False))
        given |= {each.arg: each.value for each in node.keywords if each.arg in names}
        defaults = getattr(struct.kind, "_field_defaults", {})
        if len(given) != len(node.args) + len(node.keywords):
            what = f"`{ast.unparse(node)}` gives something else than its parts, each once"
            raise self.refuse(node, what, f"those are {', '.join(names)}")
        for name in names:
            if name not in given and name in defaults:
                given[name] = ast.Constant(defaults[name])
            elif name not in given:
                what = f"`{ast.unparse(node)}` gives no {name}"
                instead = f"write {name}=..., or give it a default in the class"
                raise self.refuse(node, what, instead)
        return [given[name] for name in names]

    def _call(self, written: StructFunction, given: list[ast.expr], node: ast.expr) -> ast.AST:
        name = written.function.name
        self.structs.written.setdefault(name, written)
        return at(ast.Call(ast.Name(name, ast.Load()), given, []), node)


def _making(struct: Struct, called: str, otherwise: str) -> ast.FunctionDef:
    names = [f"part{n}" for n in range(len(struct.parts))]
    domain = struct.value.domain.replace("\\", "\\\\").replace('"', '\\"')
    lines = [
        f"def {called}({', '.join(names)}):",
        f'    """a part is out of its domain, {domain}; guard the step"""',
        "    outside = 0",
        "    number = 0",
    ]
    for name, (_, part), size in zip(names, struct.parts, struct.sizes, strict=True):
        lo, hi = part.range
        lines += [
            f"    if {name} < {lo} or {name} > {hi}:",
            "        outside = 1",
            f"    number = number * {size} + min(max({name}, {lo}), {hi}) - {lo}",
        ]
    lines += ["    if outside == 1:", f"        {otherwise}", "    return number"]
    return note_operation(parse_function(lines), "make", struct.name)


def _taking(struct: Struct, name: str, part: AnyField) -> ast.FunctionDef:
    size, lo = part.range[1] - part.range[0] + 1, part.range[0]
    made = parse_function(
        [
            f"def __part_{struct.name}_{name}__(number):",
            f"    return number // {struct.weight(name)} % {size} + {lo}",
        ]
    )
    return note_operation(made, "part", struct.name, name)
