"""Abstract interpretation of expressions over data sorts."""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any, Protocol

from waterline.checker.compiler import ir
from waterline.checker.compiler.content import NoContent
from waterline.checker.compiler.resolution import Known, Lookups, Undefined
from waterline.checker.compiler.source import Source, source_of
from waterline.checker.sorts.operations import (
    Refuse,
    compare,
    extreme,
    is_accepted,
    is_number,
    operate,
    operate_on_one,
    require_index,
    require_number,
    truth_of,
)
from waterline.checker.sorts.values import (
    PLAIN,
    UNKNOWN,
    Items,
    Mixed,
    Plain,
    Rows,
    SettingsOf,
    Sorted,
    StateOf,
    Thing,
    Value,
    describe,
    join,
)
from waterline.model.core.layout import Field
from waterline.model.core.sorts import Form, Held, Trusted
from waterline.model.core.transition_system import Model

Environment = dict[str, Value]
"""The variables of a function that may have a value, by name."""


class Whole(Protocol):
    """The whole around an expression: the functions of a model."""

    model: Model
    lookups: Lookups
    trusted: dict[Any, Trusted]

    def call(self, source: Source, arguments: tuple[Value, ...]) -> Value:
        """Return the result of a function for arguments of these sorts."""

    def refuse(self, source: Source, node: ir.Node, what: str, values: Sequence[Value]) -> None:
        """Note what is wrong with an expression."""


class Expressions:
    """The expressions of one function."""

    def __init__(self, whole: Whole, source: Source) -> None:
        self.whole = whole
        self.source = source
        model = whole.model
        self.fields = {each.name: each for each in model.layout.fields}
        held = [each.held for each in model.layout.fields]
        held += [each.held for action in model.actions for each in action.parameters]
        self.rooms = {
            each.sort.size: Sorted(Held(each.sort, Form.ROOM))
            for each in held
            if each is not None and each.sort.size
        }

    def refusing(self, node: ir.Node) -> Refuse:
        """Return a function that reports an error in this expression."""

        def refuse(what: str, values: Sequence[Value]) -> Value:
            self.whole.refuse(self.source, node, what, values)
            return UNKNOWN

        return refuse

    def operate(self, node: ir.Node, operator: str, left: Value, right: Value) -> Value:
        """`left operator right`"""
        return operate(operator, left, right, self.refusing(node))

    # --- values ----------------------------------------------------------------------------------

    def value(self, node: ir.Expression, variables: Environment) -> Value:  # noqa: PLR0912 - one for each kind
        """Return the sort of an expression."""
        match node:
            case ir.Constant(value=number):
                return Plain(int(number))
            case ir.Name():
                return self._name(node, variables)
            case ir.Attribute():
                return self._attribute(node, variables)
            case ir.Element():
                return self._element(node, variables)
            case ir.Call():
                return self._call(node, variables)
            case ir.Operation(operator=operator, left=left, right=right):
                one, other = self.value(left, variables), self.value(right, variables)
                return self.operate(node, operator, one, other)
            case ir.Unary(operator="not", operand=operand):
                truth = self.truth(operand, variables)
                return PLAIN if truth is None else Plain(int(not truth))
            case ir.Unary(operator=operator, operand=operand):
                return operate_on_one(operator, self.value(operand, variables), self.refusing(node))
            case ir.Comparison(left=left, operator=operator, right=right):
                return self._link(node, (left, right), (operator,), variables)
            case ir.Chain(operands=operands, operators=operators):
                return self._link(node, operands, operators, variables)
            case ir.Contained():
                return self._contains(node, variables)
            case ir.Both() | ir.Either():
                truth = self.truth(node, variables)  # all operands are numbers
                return Plain(0) if truth is False else PLAIN
            case ir.Choice():
                return self._choose(node, variables)
            case ir.Tuple(items=items):
                return Items(tuple(self.value(item, variables) for item in items))
        return UNKNOWN  # `Refused`: the compiler refuses it, or never comes here

    def truth(self, node: ir.Expression, variables: Environment) -> bool | None:
        """True if a condition is true; None where that is not known."""
        match node:
            case ir.Both(operands=operands) | ir.Either(operands=operands):
                decides = isinstance(node, ir.Either)
                known = True
                for operand in operands:
                    truth = self.truth(operand, variables)
                    if truth is decides:
                        return decides
                    known = known and truth is not None
                return not decides if known else None
            case ir.Unary(operator="not", operand=operand):
                truth = self.truth(operand, variables)
                return None if truth is None else not truth
        return truth_of(self.value(node, variables), self.refusing(node))

    def _choose(self, node: ir.Choice, variables: Environment) -> Value:
        truth = self.truth(node.test, variables)
        if truth is not None:
            return self.value(node.then if truth else node.otherwise, variables)
        one, other = self.value(node.then, variables), self.value(node.otherwise, variables)
        found = join(one, other)
        if isinstance(found, Mixed) and not isinstance(one, Mixed) and not isinstance(other, Mixed):
            return self.refusing(node)(f"is {found.one} or {found.other}", (one, other))
        return found

    def _link(
        self,
        node: ir.Expression,
        operands: Sequence[ir.Expression],
        operators: Sequence[str],
        variables: Environment,
    ) -> Value:
        """`a < b <= c`"""
        values = [self.value(operand, variables) for operand in operands]
        found: Value = Plain(1)
        for operator, left, right in zip(operators, values, values[1:], strict=False):
            link = compare(operator, left, right, self.refusing(node))
            if link == Plain(0):
                return link
            found = found if link == Plain(1) else PLAIN
        return found

    def _contains(self, node: ir.Contained, variables: Environment) -> Value:
        """`a in (b, c)`: it is one of them."""
        left, among = self.value(node.left, variables), self.value(node.among, variables)
        if isinstance(among, Thing) and isinstance(among.known.thing, tuple | frozenset):
            among = Items(tuple(Plain(int(each)) for each in among.known.thing))
        items = among.items if isinstance(among, Items) else ()
        links = [compare("==", left, item, self.refusing(node)) for item in items]
        if Plain(1) in links:
            return Plain(int(not node.negated))
        return Plain(int(node.negated)) if set(links) == {Plain(0)} else PLAIN

    # --- names, fields and elements --------------------------------------------------------------

    def _name(self, node: ir.Name, variables: Environment) -> Value:
        if node.is_variable:
            return variables.get(node.name, UNKNOWN)
        try:
            return _constant(self.whole.lookups.name(self.source, node.name))
        except (Undefined, NoContent):
            return UNKNOWN

    def _attribute(self, node: ir.Attribute, variables: Environment) -> Value:
        owner = self.value(node.owner, variables)
        model = self.whole.model
        match owner:
            case StateOf():
                if node.name in self.rooms:
                    return self.rooms[node.name]
                if node.name in model.layout.sizes:
                    return Plain(model.layout.sizes[node.name])
                declared = self.fields.get(node.name)
                if declared is None:
                    return UNKNOWN
                return Rows(declared) if declared.shape else _read(declared)
            case SettingsOf():
                return Plain(int(getattr(model.settings, node.name, 0)))
            case Thing():
                try:
                    return _constant(self.whole.lookups.member(owner.known, node.name))
                except (Undefined, NoContent):
                    return UNKNOWN
        return UNKNOWN

    def indices(self, node: ir.Element, rows: Rows, variables: Environment) -> None:
        """See that an element of a field is found by what its rows are indexed by."""
        items = node.index.items if isinstance(node.index, ir.Tuple) else (node.index,)
        values = [self.value(item, variables) for item in items]
        require_index(rows.field, values, self.refusing(node))

    def _element(self, node: ir.Element, variables: Environment) -> Value:
        owner = self.value(node.owner, variables)
        if isinstance(owner, Rows):
            self.indices(node, owner, variables)
            return _read(owner.field)
        index = self.value(node.index, variables)
        require_number(index, "indexes by", self.refusing(node))
        if isinstance(owner, Thing) and isinstance(index, Plain) and index.constant is not None:
            try:
                return _constant(self.whole.lookups.item(owner.known, index.constant))
            except (Undefined, NoContent):
                return UNKNOWN
        return PLAIN if isinstance(owner, SettingsOf | Thing) else UNKNOWN

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, node: ir.Call, variables: Environment) -> Value:
        called = self.value(node.function, variables)
        thing = called.known.thing if isinstance(called, Thing) else None
        if isinstance(thing, types.FunctionType):
            source = source_of(thing)
            arguments = self._arguments(source, node, variables)
            if arguments is None:
                return UNKNOWN
            trusted = self.whole.trusted.get(thing)
            if trusted is None or (trusted.generic and all(map(_says_nothing, arguments))):
                return self.whole.call(source, arguments)
            return self._call_trusted(node, trusted, source, arguments)
        numbers = [self.value(argument, variables) for argument in node.arguments]
        if thing in (min, max):
            return extreme(thing.__name__, numbers, self.refusing(node))
        if thing is int and len(numbers) == 1:
            return numbers[0]
        if thing is bool and len(numbers) == 1:
            truth = truth_of(numbers[0], self.refusing(node))
            return PLAIN if truth is None else Plain(int(truth))
        for number in numbers:
            require_number(number, "computes with", self.refusing(node))
        return PLAIN

    def _arguments(
        self, callee: Source, node: ir.Call, variables: Environment
    ) -> tuple[Value, ...] | None:
        """The arguments in the order of the parameters; None where they do not fit these."""
        names = callee.parameters
        given = dict(zip(names, (self.value(a, variables) for a in node.arguments), strict=False))
        given |= {name: self.value(each, variables) for name, each in node.named if name}
        for i, name in enumerate(names[len(names) - len(callee.defaults) :]):
            if name not in given:
                given[name] = _constant(self.whole.lookups.default(callee, i))
        if set(given) != set(names):
            return None
        return tuple(given[name] for name in names)

    def _call_trusted(
        self, node: ir.Call, trusted: Trusted, source: Source, arguments: tuple[Value, ...]
    ) -> Value:
        """A call of a function that is trusted with what it takes."""
        refuse = self.refusing(node)
        if not trusted.where(self.whole.model.settings):
            return refuse(
                "asks for what the normal form does not keep with these features",
                tuple(map(Sorted, trusted.takes.values())),
            )
        for name, value in zip(source.parameters, arguments, strict=True):
            held = trusted.takes.get(name)
            if isinstance(value, StateOf | SettingsOf) or is_accepted(value, held):
                continue
            wanted = "a number" if held is None else describe(Sorted(held))
            read = f" read from {held.field}" if held is not None and held.field else ""
            values = (value,) if held is None else (value, Sorted(held))
            return refuse(f"gives {describe(value)} for `{name}`, which is {wanted}{read}", values)
        return PLAIN if trusted.gives is None else Sorted(trusted.gives)


def _says_nothing(value: Value) -> bool:
    return is_number(value) or isinstance(value, StateOf | SettingsOf)


def _read(declared: Field) -> Value:
    """An element of a field."""
    held = declared.held
    if held is not None:
        return Sorted(Held(held.sort, held.form, held.may_be_gone, declared.name))
    return Plain(declared.lo) if declared.lo == declared.hi else PLAIN


def _constant(known: Known) -> Value:
    return Plain(int(known.thing)) if isinstance(known.thing, int) else Thing(known)
