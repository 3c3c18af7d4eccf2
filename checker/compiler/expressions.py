"""Code generation for expressions.

What a name stands for is found as Python finds it. An index outside a shape is a fault.
"""

from __future__ import annotations

import builtins
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from waterline.checker.compiler import fields, ir
from waterline.checker.compiler.arithmetic import Arithmetic
from waterline.checker.compiler.conditions import Conditions
from waterline.checker.compiler.content import Intrinsic, NoContent
from waterline.checker.compiler.emitter import NotFlat, Writer
from waterline.checker.compiler.resolution import Known, Lookups, Undefined
from waterline.checker.compiler.scope import Names
from waterline.checker.compiler.source import Source, is_of_own_file, source_of
from waterline.checker.compiler.values import (
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
    number_within,
)
from waterline.model.core.machine_numbers import fits

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
    """True if the text is the checker's own: see `Arithmetic`."""
    arithmetic: Arithmetic = field(init=False)
    conditions: Conditions = field(init=False)

    def __post_init__(self) -> None:
        self.arithmetic = Arithmetic(
            self.writer, self.fault, self.trusted, wraps=self.trusted or self.source.wraps
        )
        self.conditions = Conditions(self)

    # --- any value -------------------------------------------------------------------------------

    def value(self, node: ir.Expression) -> Value:
        """Compile an expression."""
        match node:
            case ir.Name():
                return self._name(node)
            case ir.Attribute():
                return self._attribute(node)
            case ir.Element():
                return self._element(node)
            case ir.Call():
                return self._call(node)
            case ir.Tuple():
                return TupleValue(tuple(self.value(item) for item in node.items))
            case ir.Constant():
                return self.wrap(node, node.value)
            case ir.Operation():
                left, right = self.number(node.left), self.number(node.right)
                return self.arithmetic.operate(node.operator, left, right)
            case ir.Unary():
                return self._unary(node.operator, self.number(node.operand))
            case ir.Choice():
                return self.conditions.choose(node)
            case ir.Refused():
                for operand in node.after:
                    self.number(operand)
                raise self.source.refuse(node.line, node.what, node.instead)
        return self.conditions.join(node)

    def number(self, node: ir.Expression) -> Number:
        """Compile an expression that must be a number."""
        value = self.value(node)
        if isinstance(value, Number):
            return value
        raise self.source.refuse(
            node.line, f"`{node.text}` is no number", "use it where a number is made of it"
        )

    def wrap(self, node: ir.Expression, thing: int) -> Number:
        """A number of Python's own."""
        if not fits(thing):
            raise self.source.refuse(node.line, f"{thing} needs more than 64 bits", "use less")
        return constant(thing)

    def looked_up(self, node: ir.Expression, look_up: Callable[[], Known]) -> Value | None:
        """A number, or something that numbers are got from; None for what is not defined."""
        try:
            known = look_up()
        except Undefined:
            return None
        except NoContent as problem:
            raise self.source.refuse(
                node.line, f"`{node.text}` is {problem.what}", problem.instead
            ) from None
        if isinstance(known.thing, int):
            return self.wrap(node, known.thing)
        return known.thing if isinstance(known.thing, Intrinsic) else known

    def _name(self, node: ir.Name) -> Value:
        name = node.name
        if node.is_variable:
            value = self.scope.look_up(name)
            if value is None:
                raise self.source.refuse(
                    node.line,
                    f"`{name}` may have no value here",
                    "give it one before, on every way that leads here",
                )
            return value
        found = self.looked_up(node, lambda: self.lookups.name(self.source, name))
        if found is not None:
            return found
        if not hasattr(builtins, name):
            raise self.source.refuse(
                node.line, f"`{name}` is not defined", "define it, or name another"
            )
        raise self.source.refuse(
            node.line,
            f"`{name}` is nothing that can be compiled",
            "use min, max, abs, int, bool, range",
        )

    def _attribute(self, node: ir.Attribute) -> Value:
        owner = self.value(node.owner)
        if isinstance(owner, StateValue):
            form = owner.layout
            if node.name in form.sizes:
                return constant(form.sizes[node.name])
            if node.name in form.places:
                place = form.places[node.name]
                if place.shape:
                    return FieldValue(owner, place)
                return fields.read(self.writer, owner, place, [], self.fault)
            raise self.source.refuse(
                node.line,
                f"the state has no field {node.name!r}",
                f"use {', '.join(f.name for f in form.fields)}",
            )
        if isinstance(owner, SettingsValue):
            if node.name in owner.names:
                return self._setting(owner, owner.names.index(node.name))
            raise self.source.refuse(
                node.line, f"there is no setting {node.name!r}", f"use {', '.join(owner.names)}"
            )
        if isinstance(owner, Known):
            found = self.looked_up(node, lambda: self.lookups.member(owner, node.name))
            if found is not None:
                return found
        raise self.source.refuse(
            node.line,
            f"`{node.text}` is nothing that can be compiled",
            "use a field of the state, a setting, or a name of a module",
        )

    def _setting(self, settings: SettingsValue, index: int) -> Number:
        known = settings.numbers[index]
        if known is not None:
            return constant(known)
        place = self.writer.result(f"getelementptr i64, ptr {settings.pointer}, i64 {index}")
        return Number(self.writer.result(f"load i64, ptr {place}, !invariant.load !1"))

    # --- elements --------------------------------------------------------------------------------

    def indices(self, node: ir.Element, shape: tuple[int, ...]) -> list[Number]:
        """The indices of an element, as many as the shape has."""
        items = node.index.items if isinstance(node.index, ir.Tuple) else (node.index,)
        if len(items) != len(shape):
            raise self.source.refuse(
                node.line,
                f"`{node.owner.text}` has {len(shape)} dimensions, not {len(items)}",
                f"give {len(shape)} numbers",
            )
        return [self.number(item) for item in items]

    def _element(self, node: ir.Element) -> Value:
        rows = self.value(node.owner)
        if isinstance(rows, FieldValue):
            indices = self.indices(node, rows.place.shape)
            return fields.read(self.writer, rows.state, rows.place, indices, self.fault)
        if isinstance(rows, SettingsValue):
            return self._nth_setting(rows, self.number(node.index))
        if isinstance(rows, ArrayValue):
            return self._load_element(rows, self.array_place(rows, node))
        if isinstance(rows, Known) and isinstance(rows.thing, tuple):
            index = self.number(node.index)
            if index.is_constant:
                found = self.looked_up(node, lambda: self.lookups.item(rows, index.lo))
                if found is not None:
                    return found
        raise self.source.refuse(
            node.line,
            f"`{node.text}` is no element of a field",
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
            counted = self.writer.combine("add", index, constant(count))
            negative = self.writer.compare("slt", index, constant(0))
            index = self.writer.select(negative, counted, index)
        known = [number for number in settings.numbers if number is not None]
        table = self.table(tuple(known)) if len(known) == count else settings.pointer
        place = self.writer.result(
            f"getelementptr i64, ptr {table}, i64 {self.writer.as_word(index)}"
        )
        lo, hi = (min(known), max(known)) if len(known) == count else (LEAST, GREATEST)
        return number_within(self.writer.result(f"load i64, ptr {place}"), lo, hi)

    def array_place(self, array: ArrayValue, node: ir.Element) -> str:
        """Where an element of an array is."""
        if self.writer.flat:
            raise NotFlat
        shape = (0,) if array.columns is None else (0, array.columns)
        first, *rest = self.indices(node, shape)
        if array.columns is not None:
            first = self.writer.combine("mul", first, constant(array.columns))
            first = self.writer.combine("add", first, rest[0])
        index = self.writer.as_word(first)
        return self.writer.result(
            f"getelementptr {array.element}, ptr {array.pointer}, i64 {index}"
        )

    def _load_element(self, array: ArrayValue, place: str) -> Number:
        register = self.writer.result(f"load {array.element}, ptr {place}")
        if array.element == "i64":
            return Number(register)
        wide = self.writer.result(f"zext {array.element} {register} to i64")
        return number_within(wide, 0, (1 << int(array.element[1:])) - 1)

    # --- arithmetic ------------------------------------------------------------------------------

    def _unary(self, operator: str, operand: Number) -> Number:
        match operator:
            case "not":
                return self.writer.negate(operand)
            case "-":
                return self.arithmetic.opposite(operand)
            case "~":
                return self.writer.combine("sub", constant(-1), operand)
            case "bit_count":
                return self.arithmetic.bits_of(operand)
        return number_within(self.writer.as_word(operand), operand.lo, operand.hi)

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, node: ir.Call) -> Value:
        called = self.value(node.function)
        if isinstance(called, Intrinsic):
            value: Value = called.write(self, [self.value(argument) for argument in node.arguments])
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
            node.line,
            f"`{node.function.text}` cannot be called",
            "call functions of a module, min, max, abs, int or bool",
        )

    def _require_own_file(self, called: Any, node: ir.Call) -> None:
        """Refuse a call, from a user model, of a function outside its file, or by another name."""
        if not is_of_own_file(called, self.source.file):
            raise self.source.refuse(
                node.line,
                f"`{node.function.text}` is a function of another file, or has another name "
                "in this one",
                "a model is one file: write it here, and call it by its name",
            )

    def _arguments(self, callee: Source, node: ir.Call) -> list[Value]:
        """The arguments in the order of the parameters, by name and by default too."""
        names, defaults = callee.parameters, callee.defaults
        given: dict[str, Value] = {}
        pairs: list[tuple[str | None, ir.Expression]] = list(
            zip(names, node.arguments, strict=False)
        )
        pairs += node.named
        for name, argument in pairs:
            if name is None or name not in names or name in given:
                break
            given[name] = self.value(argument)
        if len(given) < len(node.arguments) + len(node.named):
            raise self.source.refuse(
                node.line, "an argument too many, or a *", f"give {', '.join(names)}"
            )
        for i, name in enumerate(names[len(names) - len(defaults) :]):
            if name not in given:
                default = self.looked_up(node, partial(self.lookups.default, callee, i))
                assert default is not None
                given[name] = default
        missing = [name for name in names if name not in given]
        if missing:
            raise self.source.refuse(
                node.line, f"no {', '.join(missing)}", f"give {', '.join(names)}"
            )
        return [given[name] for name in names]

    def is_range(self, node: ir.Expression) -> bool:
        """True if a loop over a call of it goes over a range: also where the file renames it."""
        called = self.value(node)
        return isinstance(called, Known) and called.thing is range

    def _builtin(self, function: Any, node: ir.Call) -> Number:
        numbers = [self.number(argument) for argument in node.arguments]
        found = None if node.named else self.arithmetic.call_builtin(function, numbers)
        if found is None:
            raise self.source.refuse(
                node.line,
                f"`{node.text}` has no compiled form",
                "give min and max two numbers or more, abs, int and bool one",
            )
        return found
