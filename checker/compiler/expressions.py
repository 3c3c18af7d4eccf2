"""Code generation for expressions.

What a name stands for is found as Python finds it. An index outside a shape is a fault.
"""

from __future__ import annotations

import ast
import builtins
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from checker.compiler import fields
from checker.compiler.arithmetic import Arithmetic
from checker.compiler.conditions import Conditions
from checker.compiler.content import Intrinsic, NoContent
from checker.compiler.emitter import NotFlat, Writer
from checker.compiler.resolution import Known, Lookups, Undefined
from checker.compiler.scope import Names
from checker.compiler.source import Source, is_of_own_file, source_of
from checker.compiler.values import (
    GREATEST,
    LEAST,
    ArrayValue,
    FieldValue,
    Number,
    SettingsValue,
    StateValue,
    TupleValue,
    Value,
    constant,
    ranged,
)
from model.core.machine_numbers import fits

Call = Callable[[Source, list[Value]], Value]


@dataclass(slots=True)
class Expressions:
    """Writes the expressions of one function. `call` writes a call of another one."""

    source: Source
    writer: Writer
    scope: Names
    fault: fields.Fault
    call: Call
    table: Callable[[tuple[int, ...]], str]
    lookups: Lookups
    trusted: bool = False
    """Whether the text is the checker's own: see `Arithmetic`."""
    arithmetic: Arithmetic = field(init=False)
    conditions: Conditions = field(init=False)

    def __post_init__(self) -> None:
        self.arithmetic = Arithmetic(
            self.writer, self.fault, self.trusted, wraps=self.trusted or self.source.wraps
        )
        self.conditions = Conditions(self)

    # --- any value -------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> Value:
        """What an expression stands for."""
        match node:
            case ast.Name():
                return self._name(node)
            case ast.Attribute():
                return self._attribute(node)
            case ast.Subscript():
                return self._element(node)
            case ast.Call():
                return self._call(node)
            case ast.Tuple():
                return TupleValue(tuple(self.value(item) for item in node.elts))
            case ast.Constant(value=bool() | int() as number):
                return self.wrapped(node, number)
            case ast.BinOp():
                left, right = self.number(node.left), self.number(node.right)
                return self.operated(node, node.op, left, right)
            case ast.UnaryOp():
                return self._unary(node)
            case ast.Compare() | ast.BoolOp():
                return self.conditions.joined(node)
            case ast.IfExp():
                return self.conditions.chosen(node)
        raise self._refused(node)

    def number(self, node: ast.expr) -> Number:
        """What an expression comes to, which must be a number."""
        value = self.value(node)
        if isinstance(value, Number):
            return value
        raise self.source.refuse(
            node, f"`{ast.unparse(node)}` is no number", "use it where a number is made of it"
        )

    def _refused(self, node: ast.expr) -> Exception:
        words = {
            ast.ListComp: "a list",
            ast.SetComp: "a set",
            ast.DictComp: "a dictionary",
            ast.GeneratorExp: "a generator",
            ast.Lambda: "a lambda",
            ast.List: "a list",
            ast.Set: "a set",
            ast.Dict: "a dictionary",
            ast.JoinedStr: "text",
            ast.Constant: "a constant that is no whole number",
        }
        what = words.get(type(node), f"`{ast.unparse(node)}`")
        instead = "use whole numbers, conditions and functions of the module"
        if isinstance(node, ast.GeneratorExp | ast.ListComp | ast.SetComp | ast.Lambda):
            instead = "write a loop, or a function of its own"
        return self.source.refuse(node, f"{what} has no compiled form", instead)

    def wrapped(self, node: ast.expr, thing: int) -> Number:
        """A number of Python's own."""
        if not fits(thing):
            raise self.source.refuse(node, f"{thing} needs more than 64 bits", "use less")
        return constant(thing)

    def looked_up(self, node: ast.expr, look_up: Callable[[], Known]) -> Value | None:
        """A number, or something that numbers are got from; None for what is not defined."""
        try:
            known = look_up()
        except Undefined:
            return None
        except NoContent as problem:
            raise self.source.refuse(
                node, f"`{ast.unparse(node)}` is {problem.what}", problem.instead
            ) from None
        if isinstance(known.thing, int):
            return self.wrapped(node, known.thing)
        return known.thing if isinstance(known.thing, Intrinsic) else known

    def _name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.source.variables:
            value = self.scope.look_up(name)
            if value is None:
                raise self.source.refuse(
                    node,
                    f"`{name}` may have no value here",
                    "give it one before, on every way that leads here",
                )
            return value
        found = self.looked_up(node, lambda: self.lookups.name(self.source, name))
        if found is not None:
            return found
        if not hasattr(builtins, name):
            raise self.source.refuse(node, f"`{name}` is not defined", "define it, or name another")
        raise self.source.refuse(
            node, f"`{name}` is nothing that can be compiled", "use min, max, abs, int, bool, range"
        )

    def _attribute(self, node: ast.Attribute) -> Value:
        owner = self.value(node.value)
        if isinstance(owner, StateValue):
            form = owner.layout
            if node.attr in form.sizes:
                return constant(form.sizes[node.attr])
            if node.attr in form.places:
                place = form.places[node.attr]
                if place.shape:
                    return FieldValue(owner, place)
                return fields.read(self.writer, owner, place, [], self.fault)
            raise self.source.refuse(
                node,
                f"the state has no field {node.attr!r}",
                f"use {', '.join(f.name for f in form.fields)}",
            )
        if isinstance(owner, SettingsValue):
            if node.attr in owner.names:
                return self._setting(owner, owner.names.index(node.attr))
            raise self.source.refuse(
                node, f"there is no setting {node.attr!r}", f"use {', '.join(owner.names)}"
            )
        if isinstance(owner, Known):
            found = self.looked_up(node, lambda: self.lookups.member(owner, node.attr))
            if found is not None:
                return found
        raise self.source.refuse(
            node,
            f"`{ast.unparse(node)}` is nothing that can be compiled",
            "use a field of the state, a setting, or a name of a module",
        )

    def _setting(self, settings: SettingsValue, index: int) -> Number:
        known = settings.numbers[index]
        if known is not None:
            return constant(known)
        place = self.writer.result(f"getelementptr i64, ptr {settings.pointer}, i64 {index}")
        return Number(self.writer.result(f"load i64, ptr {place}, !invariant.load !1"))

    # --- elements --------------------------------------------------------------------------------

    def indices(self, node: ast.Subscript, shape: tuple[int, ...]) -> list[Number]:
        """The indices of an element, as many as the shape has."""
        items = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if len(items) != len(shape):
            raise self.source.refuse(
                node,
                f"`{ast.unparse(node.value)}` has {len(shape)} dimensions, not {len(items)}",
                f"give {len(shape)} numbers",
            )
        return [self.number(item) for item in items]

    def _element(self, node: ast.Subscript) -> Value:
        rows = self.value(node.value)
        if isinstance(rows, FieldValue):
            indices = self.indices(node, rows.place.shape)
            return fields.read(self.writer, rows.state, rows.place, indices, self.fault)
        if isinstance(rows, SettingsValue):
            return self._nth_setting(rows, self.number(node.slice))
        if isinstance(rows, ArrayValue):
            return self._loaded(rows, self.array_place(rows, node))
        if isinstance(rows, Known) and isinstance(rows.thing, tuple):
            index = self.number(node.slice)
            if index.is_constant:
                found = self.looked_up(node, lambda: self.lookups.item(rows, index.lo))
                if found is not None:
                    return found
        raise self.source.refuse(
            node,
            f"`{ast.unparse(node)}` is no element of a field",
            "index fields of the state, or the settings",
        )

    def _nth_setting(self, settings: SettingsValue, index: Number) -> Number:
        """A setting by its number, which may count from the end, as in a tuple."""
        count = len(settings.numbers)
        self.arithmetic.require(index, -count, count - 1)
        if index.is_constant and -count <= index.lo < count:
            return self._setting(settings, index.lo % count)
        if self.writer.flat:
            raise NotFlat
        if index.lo < 0:
            counted = self.writer.combined("add", index, constant(count))
            negative = self.writer.compared("slt", index, constant(0))
            index = self.writer.chosen(negative, counted, index)
        known = [number for number in settings.numbers if number is not None]
        table = self.table(tuple(known)) if len(known) == count else settings.pointer
        place = self.writer.result(
            f"getelementptr i64, ptr {table}, i64 {self.writer.as_word(index)}"
        )
        lo, hi = (min(known), max(known)) if len(known) == count else (LEAST, GREATEST)
        return ranged(self.writer.result(f"load i64, ptr {place}"), lo, hi)

    def array_place(self, array: ArrayValue, node: ast.Subscript) -> str:
        """Where an element of an array is."""
        if self.writer.flat:
            raise NotFlat
        shape = (0,) if array.columns is None else (0, array.columns)
        first, *rest = self.indices(node, shape)
        if array.columns is not None:
            first = self.writer.combined("mul", first, constant(array.columns))
            first = self.writer.combined("add", first, rest[0])
        index = self.writer.as_word(first)
        return self.writer.result(
            f"getelementptr {array.element}, ptr {array.pointer}, i64 {index}"
        )

    def _loaded(self, array: ArrayValue, place: str) -> Number:
        register = self.writer.result(f"load {array.element}, ptr {place}")
        if array.element == "i64":
            return Number(register)
        wide = self.writer.result(f"zext {array.element} {register} to i64")
        return ranged(wide, 0, (1 << int(array.element[1:])) - 1)

    # --- arithmetic ------------------------------------------------------------------------------

    def operated(
        self, node: ast.AST, operator: ast.operator, left: Number, right: Number
    ) -> Number:
        """`left operator right`."""
        found = self.arithmetic.operated(operator, left, right)
        if found is None:
            raise self.source.refuse(
                node,
                f"there is no compiled {type(operator).__name__}",
                "use + - * // % << >> & | ^",
            )
        return found

    def _unary(self, node: ast.UnaryOp) -> Value:
        match node:
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(value))):
                return self.wrapped(node, -value)  # the least has no opposite
        operand = self.number(node.operand)
        match node.op:
            case ast.Not():
                return self.writer.negated(operand)
            case ast.USub():
                return self.arithmetic.opposite(operand)
            case ast.Invert():
                return self.writer.combined("sub", constant(-1), operand)
        return ranged(self.writer.as_word(operand), operand.lo, operand.hi)

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, node: ast.Call) -> Value:
        match node:
            case ast.Call(func=ast.Attribute(value=owner, attr="bit_count"), args=[], keywords=[]):
                return self.arithmetic.bits_of(self.number(owner))
        called = self.value(node.func)
        if isinstance(called, Intrinsic):
            value: Value = called.write(self, [self.value(argument) for argument in node.args])
            return value
        if isinstance(called, Known) and isinstance(called.thing, types.FunctionType | Source):
            thing = called.thing
            if self.source.own_file:
                self._require_own_file(thing, node)
            callee = thing if isinstance(thing, Source) else source_of(thing)
            return self.call(callee, self._arguments(callee, node))
        if isinstance(called, Known) and called.thing in (min, max, abs, int, bool):
            return self._builtin(called.thing, node)
        raise self.source.refuse(
            node,
            f"`{ast.unparse(node.func)}` cannot be called",
            "call functions of a module, min, max, abs, int or bool",
        )

    def _require_own_file(self, called: Any, node: ast.Call) -> None:
        """A model of one's own calls functions of its own file, by their own names."""
        if not is_of_own_file(called, self.source.file):
            raise self.source.refuse(
                node,
                f"`{ast.unparse(node.func)}` is a function of another file, or has another name "
                "in this one",
                "a model is one file: write it here, and call it by its name",
            )

    def _arguments(self, callee: Source, node: ast.Call) -> list[Value]:
        """The arguments in the order of the parameters, by name and by default too."""
        names, defaults = callee.parameters, callee.defaults
        given: dict[str, Value] = {}
        pairs: list[tuple[str | None, ast.expr]] = list(zip(names, node.args, strict=False))
        pairs += [(keyword.arg, keyword.value) for keyword in node.keywords]
        for name, argument in pairs:
            if name is None or name not in names or name in given:
                break
            given[name] = self.value(argument)
        if len(given) < len(node.args) + len(node.keywords):
            raise self.source.refuse(
                node, "an argument too many, or a *", f"give {', '.join(names)}"
            )
        for i, name in enumerate(names[len(names) - len(defaults) :]):
            if name not in given:
                default = self.looked_up(node, partial(self.lookups.default, callee, i))
                assert default is not None
                given[name] = default
        missing = [name for name in names if name not in given]
        if missing:
            raise self.source.refuse(node, f"no {', '.join(missing)}", f"give {', '.join(names)}")
        return [given[name] for name in names]

    def is_range(self, node: ast.expr) -> bool:
        """Whether a loop over a call of it goes over a range: also where the file renames it."""
        called = self.value(node)
        return isinstance(called, Known) and called.thing is range

    def _builtin(self, function: Any, node: ast.Call) -> Number:
        numbers = [self.number(argument) for argument in node.args]
        found = None if node.keywords else self.arithmetic.called(function, numbers)
        if found is None:
            raise self.source.refuse(
                node,
                f"`{ast.unparse(node)}` has no compiled form",
                "give min and max two numbers or more, abs, int and bool one",
            )
        return found
