"""Expressions of rules as expressions of TLA+."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Protocol

from waterline.checker.compiler import ir
from waterline.checker.compiler.content import NoContent
from waterline.checker.compiler.resolution import Known, Undefined
from waterline.checker.compiler.source import Source, source_of
from waterline.checker.tla import arithmetic
from waterline.checker.tla.environment import Environment, FieldOf, Role, Settings, StateOf, Value
from waterline.checker.tla.forming import join, negate
from waterline.checker.tla.kinds import (
    TRUTHS,
    WHOLE,
    Items,
    Typed,
    as_kind,
    parts,
    truth,
    whole,
)
from waterline.checker.tla.program import Program
from waterline.checker.tla.tree import Collection, Number, Tree, Truth
from waterline.model.core.errors import BadEnvironment

_BUILTINS = {min: "min", max: "max", abs: "abs", int: "int", bool: "bool"}


class Calls(Protocol):
    """Translator of calls of other functions."""

    def __call__(
        self,
        caller: Expressions,
        node: ir.Call,
        callee: Source,
        given: list[Value],
        at: Environment,
    ) -> Value:
        """Return the result of a call."""


@dataclass(frozen=True, slots=True)
class Expressions:
    """Translator of one function's expressions. `calls` writes calls of other ones."""

    program: Program
    source: Source
    calls: Calls

    def refuse(self, node: ir.Node, what: str, instead: str) -> BadEnvironment:
        """The error for a place in the function."""
        return self.program.refuse(self.source, node, what, instead)

    def translate(self, node: ir.Expression, at: Environment) -> Typed:
        """Translate an expression that must be a value."""
        value = self.value(node, at)
        if isinstance(value, Typed):
            return value
        raise self.refuse(node, f"`{node.text}` is no value", "use it where a value is made of it")

    def number(self, node: ir.Expression, at: Environment) -> Tree:
        """Translate an expression as a number."""
        found = self.translate(node, at)
        if isinstance(found.kind, Items):
            raise self.refuse(node, f"`{node.text}` is several numbers", "take one of them")
        return as_kind(found, WHOLE)

    def truth(self, node: ir.Expression, at: Environment) -> Tree:
        """Translate an expression as a truth: a number other than 0 is true."""
        match node:
            case ir.Both(operands=operands):
                return self._join("/\\", operands, at)
            case ir.Either(operands=operands):
                return self._join("\\/", operands, at)
            case ir.Unary(operator="not", operand=operand):
                return negate(self.truth(operand, at))
            case ir.Choice(test=test, then=then, otherwise=otherwise):
                asked = self.truth(test, at)
                if isinstance(asked, Truth):
                    return self.truth(then if asked.value else otherwise, at)
                ways = [Typed(self.truth(way, at), TRUTHS) for way in (then, otherwise)]
                return arithmetic.either(asked, *ways).tree
        return as_kind(self.translate(node, at), TRUTHS)

    def _join(self, operator: str, operands: tuple[ir.Expression, ...], at: Environment) -> Tree:
        """In order, up to one that is known to decide: what comes after that may be anything."""
        found: list[Tree] = []
        for operand in operands:
            found.append(self.truth(operand, at))
            if found[-1] == Truth(operator == "\\/"):
                break
        return join(operator, *found)

    # --- any value -------------------------------------------------------------------------------

    def value(self, node: ir.Expression, at: Environment) -> Value:  # noqa: PLR0911, PLR0912
        """Translate an expression."""
        match node:
            case ir.Name():
                return self._name(node, at)
            case ir.Attribute():
                return self._attribute(node, at)
            case ir.Element():
                return self._element(node, at)
            case ir.Call():
                return self._call(node, at)
            case ir.Tuple(items=items):
                found = [self.translate(item, at) for item in items]
                kinds = Items(tuple(item.kind for item in found))
                return Typed(Collection(tuple(item.tree for item in found), ordered=True), kinds)
            case ir.Constant(value=value):
                return truth(value) if isinstance(value, bool) else whole(value)
            case ir.Operation(operator=operator, left=left, right=right):
                one, other = self.translate(left, at), self.translate(right, at)
                return arithmetic.operate(self.program, operator, one, other)
            case ir.Unary():
                return self._unary(node, at)
            case ir.Comparison(left=left, operator=operator, right=right):
                return arithmetic.compare(
                    operator, self.translate(left, at), self.translate(right, at)
                )
            case ir.Chain():
                return self._chain(node, at)
            case ir.Contained():
                return self._contains(node, at)
            case ir.Both() | ir.Either():
                return self._last_looked_at(node, at)
            case ir.Choice(test=test, then=then, otherwise=otherwise):
                asked = self.truth(test, at)
                if isinstance(asked, Truth):
                    return self.value(then if asked.value else otherwise, at)
                return arithmetic.either(
                    asked, self.translate(then, at), self.translate(otherwise, at)
                )
        raise self.refuse(node, node.what, node.instead)

    def _unary(self, node: ir.Unary, at: Environment) -> Typed:
        match node.operator:
            case "not":
                return Typed(self.truth(node, at), TRUTHS)
            case "-":
                return arithmetic.opposite(self.translate(node.operand, at))
            case "~":
                return arithmetic.invert(self.translate(node.operand, at))
            case "bit_count":
                return arithmetic.bits_of(self.program, self.translate(node.operand, at))
        return Typed(self.number(node.operand, at), WHOLE)

    def _chain(self, node: ir.Chain, at: Environment) -> Typed:
        found = [self.translate(operand, at) for operand in node.operands]
        links = zip(node.operators, found, found[1:], strict=False)
        trees = [arithmetic.compare(operator, a, b).tree for operator, a, b in links]
        return Typed(join("/\\", *trees), TRUTHS)

    def _contains(self, node: ir.Contained, at: Environment) -> Typed:
        left = self.translate(node.left, at)
        if isinstance(node.among, ir.Tuple):
            items = [self.translate(item, at) for item in node.among.items]
        else:
            value = self.value(node.among, at)
            if not isinstance(value, Known) or not isinstance(value.thing, tuple | frozenset):
                raise self.refuse(node, f"`{node.among.text}` is no collection", "write (a, b)")
            items = [whole(int(member)) for member in sorted(value.thing)]
        found = arithmetic.contain(left, items)
        return Typed(negate(found.tree), TRUTHS) if node.negated else found

    def _last_looked_at(self, node: ir.Both | ir.Either, at: Environment) -> Typed:
        """Translate `a and b` with its value: the last operand evaluated."""
        found = [self.translate(operand, at) for operand in node.operands]
        if all(each.kind == TRUTHS for each in found):
            return Typed(self.truth(node, at), TRUTHS)
        result = found[-1]
        for each in reversed(found[:-1]):
            test = as_kind(each, TRUTHS)
            ways = (each, result) if isinstance(node, ir.Either) else (result, each)
            result = arithmetic.either(test, *ways)
        return result

    # --- names and fields ------------------------------------------------------------------------

    def _name(self, node: ir.Name, at: Environment) -> Value:
        if node.is_variable:
            if node.name not in at.variables:
                raise self.refuse(
                    node, f"`{node.name}` may have no value here", "give it one before"
                )
            return at.variables[node.name]
        try:
            found = self.program.lookups.name(self.source, node.name)
        except (Undefined, NoContent):
            raise self.refuse(
                node, f"`{node.name}` is nothing that can be exported", "name a constant"
            ) from None
        return self._constant(node.name, found)

    def _constant(self, name: str, found: Known) -> Value:
        """A number that has a name in the file keeps it."""
        if not isinstance(found.thing, int):
            return found
        if isinstance(found.thing, bool):
            return truth(found.thing)
        if not self.program.named_constants:
            return whole(found.thing)
        known = self.program.constants
        if name not in known:
            known[name] = self.program.naming.top(name.replace(".", "_")), int(found.thing)
        return Typed(known[name][0], WHOLE)

    def _attribute(self, node: ir.Attribute, at: Environment) -> Value:
        owner = self.value(node.owner, at)
        program = self.program
        match owner:
            case StateOf(role=role):
                if node.name in program.sizes:
                    return program.sizes[node.name].typed
                if node.name in program.fields:
                    if program.fields[node.name].domains:
                        return FieldOf(role, node.name)
                    return self.read(role, node.name, (), at)
            case Settings() if node.name in program.settings:
                return whole(program.settings[node.name])
            case Known():
                try:
                    found = program.lookups.member(owner, node.name)
                except (Undefined, NoContent):
                    pass
                else:
                    return self._constant(node.text, found)
        raise self.refuse(
            node, f"`{node.text}` is nothing that can be exported", "use a field of the state"
        )

    def read(self, role: Role, name: str, path: tuple[Tree, ...], at: Environment) -> Typed:
        """An element of a field as it is by now."""
        self.program.note_read(role, name)
        return Typed(at.read(role, name, path), self.program.fields[name].kind)

    def indices(self, node: ir.Element, count: int, at: Environment) -> tuple[Tree, ...]:
        """The indices of an element."""
        items = node.index.items if isinstance(node.index, ir.Tuple) else (node.index,)
        if len(items) != count:
            raise self.refuse(
                node,
                f"`{node.owner.text}` has {count} dimensions, not {len(items)}",
                "give so many",
            )
        return tuple(self.number(item, at) for item in items)

    def _element(self, node: ir.Element, at: Environment) -> Value:
        rows = self.value(node.owner, at)
        if isinstance(rows, FieldOf):
            form = self.program.fields[rows.name]
            return self.read(rows.role, rows.name, self.indices(node, len(form.domains), at), at)
        index = self.number(node.index, at)
        if isinstance(index, Number):
            if isinstance(rows, Settings):
                return whole(list(self.program.settings.values())[index.value])
            if isinstance(rows, Known) and isinstance(rows.thing, tuple):
                found = self.program.lookups.item(rows, index.value)
                return self._constant(node.text, found)
            if isinstance(rows, Typed) and isinstance(rows.kind, Items):
                return parts(rows)[index.value]
        raise self.refuse(node, f"`{node.text}` is no element of a field", "index fields")

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, node: ir.Call, at: Environment) -> Value:
        called = self.value(node.function, at)
        if isinstance(called, Known):
            if called.thing in _BUILTINS:
                given = [self.translate(argument, at) for argument in node.arguments]
                found = arithmetic.call_builtin(self.program, _BUILTINS[called.thing], given)
                if found is not None and not node.named:
                    return found
            elif hasattr(called.thing, "__code__") or isinstance(called.thing, Source):
                thing = called.thing
                callee = thing if isinstance(thing, Source) else source_of(thing)
                return self.calls(self, node, callee, self._arguments(callee, node, at), at)
        raise self.refuse(
            node, f"`{node.text}` cannot be exported", "call functions of the file, min, max, abs"
        )

    def _arguments(self, callee: Source, node: ir.Call, at: Environment) -> list[Value]:
        """The arguments in the order of the parameters, by name and by default too."""
        names, defaults = callee.parameters, callee.defaults
        given = {
            name: self.value(argument, at)
            for name, argument in zip(names, node.arguments, strict=False)
        }
        given |= {name: self.value(value, at) for name, value in node.named if name is not None}
        for i, name in enumerate(names[len(names) - len(defaults) :]):
            if name not in given:
                look_up = partial(self.program.lookups.default, callee, i)
                given[name] = self._constant(name, look_up())
        if set(given) != set(names):
            raise self.refuse(
                node, "arguments are missing, or too many", f"give {', '.join(names)}"
            )
        return [given[name] for name in names]
