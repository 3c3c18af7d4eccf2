"""Expressions of a rule as terms, and the faults that they can meet."""

from __future__ import annotations

import types
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any

import z3

from waterline.checker.compiler import ir
from waterline.checker.compiler.resolution import Known, Lookups
from waterline.checker.compiler.source import Source, source_of
from waterline.checker.proof.quantifiers import Quantifiers
from waterline.checker.proof.space import Space
from waterline.checker.proof.terms import (
    Array,
    Count,
    Mask,
    NotProvable,
    ShiftedMask,
    Term,
    arithmetic,
    as_expression,
    as_mask,
    as_number,
    as_truth,
    compare,
    conjunction,
    disjunction,
    equal,
    extreme_of,
    greater,
    is_known,
    known_truth,
    merge,
    negation,
    same,
    sum_of,
    total,
)
from waterline.model.core.made import operation_of

_LOOK = 100_000
"""Steps of the solver for a look whether a case is possible."""
_OF_MEMBERS = ("has_member", "with_member", "without_member")
Cells = list[dict[str, Array]]
"""The fields of each state and draft, by its number."""


@dataclass(frozen=True, eq=False)
class StateRef:
    """A state or a draft: its fields are in the cell of this number."""

    cell: int


@dataclass(frozen=True, eq=False)
class FieldRef:
    """A field of a state."""

    state: StateRef
    name: str


@dataclass(frozen=True, eq=False)
class Settings:
    """The settings of a version, all known."""

    values: Any


@dataclass
class Frame:
    """A call under way: its variables, and when its present place is reached."""

    source: Source
    env: dict[str, Any]
    alive: Term = True
    returns: list[tuple[Term, Any, Cells]] = field(default_factory=list)
    stops: list[list[tuple[Term, dict[str, Any], Cells]]] = field(default_factory=list)
    goes_on: list[list[tuple[Term, dict[str, Any], Cells]]] = field(default_factory=list)


@dataclass
class Loop:
    """Elements that the body of a loop reads and writes, whose rounds are taken at once."""

    variable: Any
    reads: list[tuple[int, str, tuple[Term, ...]]] = field(default_factory=list)
    writes: list[tuple[int, str, tuple[Term, ...]]] = field(default_factory=list)


class Expressions:
    """Values of expressions on states that are made of terms.

    A fault is an index, a row or a value out of range; `faults` has when each is met, and where.
    `cuts` has when a bound is exceeded, before which a search is cut.
    `definitions` are true of numbers that the translation has introduced; `subjects` has the
    function that a definition, or the range of a field, says something of. In a case of a step
    `path` is true, `taken` are its decisions, `met` the places in `path` of those that were looked
    up, and `others` those of further cases; what is `known` of every state excludes some.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self.quantifiers = Quantifiers()
        self.cells: Cells = []
        self.faults: list[tuple[Term, str]] = []
        self.cuts: list[Term] = []
        self.definitions: list[Term] = []
        self.subjects: dict[int, tuple[str, Term]] = {}
        self._context: list[Term] = []
        self.known: Sequence[Term] = ()
        self._decided: dict[int, tuple[Any, Any, int]] = {}
        self.begin_case()
        self._loops: list[Loop] = []
        self._lookups = Lookups()

    def splits(self, f: Frame) -> bool:
        """True if the branches of this function are cases of their own, here."""
        return f.source.function in self.split and not self._loops

    def note_subject(self, name: str, term: Term) -> None:
        """Note which function a fact is about: a query without that leaves it out."""
        if not is_known(term):
            self.subjects[term.get_id()] = name, term  # a term that is kept keeps its number

    def decide(self, term: Any, values: Sequence[Any]) -> Any:
        """The value of a term in the case that is executed: by `cases`, else the first."""
        key = term.get_id()
        if key not in self._decided:
            given = self.cases[len(self.taken) : len(self.taken) + 1]
            value, *others = given or self._possible(term, values)
            self.others += [[*self.taken, each] for each in others]
            self.taken.append(value)
            self._decided[key] = value, term, len(self.path)  # a term that is kept keeps its number
            self.path.append(equal(term, value))
        value, _, place = self._decided[key]
        self.met.add(place)
        return value

    def _possible(self, term: Any, values: Sequence[Any]) -> list[Any]:
        """The values that a term may have in this case, as far as a short look tells."""
        solver = z3.SolverFor("QF_UFLIA")
        solver.set("rlimit", _LOOK)
        solver.add(*map(as_expression, (*self.known, *self.path)))
        found = [v for v in values if solver.check(as_expression(equal(term, v))) != z3.unsat]
        return found or [values[0]]

    def begin_case(self, split: Collection[Any] = (), cases: Sequence[Any] = ()) -> None:
        """Execute one case: the branches of functions in `split` are decided by `cases`."""
        self.split, self.cases = split, cases
        self.taken: list[Any] = []
        self.path: list[Term] = []
        self.others: list[list[Any]] = []
        self.met: set[int] = set()
        self._decided.clear()

    def call_source(self, source: Source, arguments: list[Any]) -> Any:
        """The value that a function returns; it may write to drafts among its arguments."""
        raise NotImplementedError

    def number_of(self, members: Mask) -> Term:
        """The number of members of a set, whose facts are among the definitions."""
        raise NotImplementedError

    def every(self, variable: Any, body: Term) -> Term:
        """True if the body is, for every number; for the small ones if all sizes are known."""
        if self.space.rounds is None or not self.quantifiers.mentions(body, variable):
            return self.quantifiers.every(variable, body)
        instances = (self.quantifiers.substitute(body, variable, i) for i in self.space.rounds)
        return conjunction(*(known_truth(z3.simplify(each)) for each in instances))

    def some(self, variable: Any, body: Term) -> Term:
        """True if the body is, for some number."""
        return negation(self.every(variable, negation(body)))

    def refusal(self, f: Frame, node: ir.Node, what: str) -> NotProvable:
        """The error for a place of a rule."""
        return NotProvable(f"{f.source.place_of(node.line)}: `{node.text.splitlines()[0]}` {what}")

    def fault(self, when: Term, f: Frame, node: ir.Node, what: str) -> None:
        """Note when a place is reached and has this fault."""
        reached = conjunction(*self._context, f.alive, when)
        if reached is not False:
            place = f.source.place_of(node.line)
            self.faults.append((reached, f"{place} {node.text}: {what}"))

    def truth(self, value: Any) -> Term:
        """A value as a condition takes it."""
        members = value.of if isinstance(value, Count) else value
        if isinstance(members, Mask):
            return negation(self._same_sets(members, as_mask(0)))
        return as_truth(value)

    def value(self, node: ir.Expression, f: Frame) -> Any:  # noqa: PLR0911, PLR0912 - one each
        """The value of an expression."""
        match node:
            case ir.Constant(value=number):
                return number
            case ir.Name(name=name, is_variable=True):
                if name not in f.env:
                    raise self.refusal(f, node, "may have no value here")
                return f.env[name]
            case ir.Name(name=name):
                return _plain(self._lookups.name(f.source, name))
            case ir.Attribute(owner=owner, name=name):
                return self._attribute(node, self.value(owner, f), name, f)
            case ir.Element(owner=owner):
                rows = self.value(owner, f)
                if isinstance(rows, FieldRef):
                    return self._read(node, rows.state, rows.name, self.indices(node, f), f)
                raise self.refusal(f, node, "is no element of a field")
            case ir.Tuple(items=items):
                return tuple(self.value(item, f) for item in items)
            case ir.Call():
                return self._call(node, f)
            case ir.Operation(operator=operator, left=left, right=right):
                return self.operation(node, operator, self.value(left, f), self.value(right, f), f)
            case ir.Unary(operator=operator, operand=operand):
                return self._unary(node, operator, self.value(operand, f), f)
            case ir.Comparison(left=left, operator=operator, right=right):
                return self._comparison(
                    node, operator, self.value(left, f), self.value(right, f), f
                )
            case ir.Chain(operands=operands, operators=operators):
                got = [self.value(operand, f) for operand in operands]
                pairs = zip(operators, got[:-1], got[1:], strict=True)
                return conjunction(*(self._comparison(node, o, a, b, f) for o, a, b in pairs))
            case ir.Contained(left=left, among=ir.Tuple(items=items), negated=negated):
                one = self.value(left, f)
                found = disjunction(*(equal(one, self.value(item, f)) for item in items))
                return negation(found) if negated else found
            case ir.Both(operands=operands):
                return self._join_truths(operands, f, is_and=True)
            case ir.Either(operands=operands):
                return self._join_truths(operands, f, is_and=False)
            case ir.Choice(test=test, then=then, otherwise=otherwise):
                when = self.truth(self.value(test, f))
                if is_known(when):
                    return self.value(then if when else otherwise, f)
                one = self._under(when, then, f)
                return merge(when, one, self._under(negation(when), otherwise, f))
        raise self.refusal(f, node, "has no translation")

    def _under(self, when: Term, node: ir.Expression, f: Frame) -> Any:
        """The value of an expression that is reached under a condition."""
        self._context.append(when)
        before = [dict(cell) for cell in self.cells]
        value = self.value(node, f)
        if any(a[n] is not b[n] for a, b in zip(before, self.cells, strict=False) for n in a):
            raise self.refusal(f, node, "writes in the middle of an expression")
        self._context.pop()
        return value

    def _join_truths(self, operands: tuple[ir.Expression, ...], f: Frame, *, is_and: bool) -> Term:
        """`and`, `or`: an operand is reached if those before it leave it open."""
        got: list[Term] = []
        reached: Term = True
        for operand in operands:
            value = self._under(reached, operand, f)
            truth = self.truth(value)
            got.append(truth)
            reached = conjunction(reached, truth if is_and else negation(truth))
            if reached is False:
                break
        return conjunction(*got) if is_and else disjunction(*got)

    def _attribute(self, node: ir.Node, owner: Any, name: str, f: Frame) -> Any:
        if isinstance(owner, StateRef):
            if name in self.space.shapes:
                has_rows = self.space.shapes[name].dimensions
                return FieldRef(owner, name) if has_rows else self._read(node, owner, name, (), f)
            if name in self.space.sizes:
                return self.space.sizes[name]
        if isinstance(owner, Settings) and name in owner.values._fields:
            return int(getattr(owner.values, name))
        if isinstance(owner, Known):
            return _plain(self._lookups.member(owner, name))
        raise self.refusal(f, node, "is no field, size or setting")

    def indices(self, node: ir.Element, f: Frame) -> tuple[Term, ...]:
        """The index of an element."""
        items = node.index.items if isinstance(node.index, ir.Tuple) else (node.index,)
        return tuple(self.number(item, self.value(item, f), f) for item in items)

    def number(self, node: ir.Node, value: Any, f: Frame) -> Term:
        """A value that must be a number."""
        if isinstance(value, Count):
            return self.number_of(value.of)
        if not (is_known(value) or isinstance(value, z3.ExprRef)):
            raise self.refusal(f, node, "is used as a number, and is none")
        return as_number(value)

    def require_index(
        self, node: ir.Node, state: StateRef, name: str, index: tuple[Term, ...], f: Frame
    ) -> None:
        """Note the fault of an index that is out of range, or of a row that is not alive."""
        dimensions = self.space.shapes[name].dimensions
        if len(index) != len(dimensions):
            raise self.refusal(f, node, "has another number of indices than its field")
        for i, size in zip(index, dimensions, strict=True):
            self.fault(negation(self.space.within(size, i)), f, node, f"index of {name}")
        shape = self.space.shapes[name]
        if shape.alive is not None:
            alive = self.space.exists(shape, self.cells[state.cell], index[0])
            self.fault(negation(alive), f, node, f"row of {name} that is not alive")

    def _read(
        self, node: ir.Node, state: StateRef, name: str, index: tuple[Term, ...], f: Frame
    ) -> Any:
        self.require_index(node, state, name, index, f)
        for loop in self._loops:
            loop.reads.append((state.cell, name, index))
        array = self.cells[state.cell][name]
        dimensions = self.space.shapes[name].dimensions
        if self.splits(f):
            index = tuple(map(self._decide_index, index, dimensions))
        return self._element(array, dimensions, index)

    def _decide_index(self, index: Term, size: str) -> Term:
        if is_known(index) or not self.space.is_expanded(size):
            return index
        # One that is none of the values is a case of its own, with the fault that it is.
        if not self.decide(self.space.within(size, index), (True, False)):
            return index
        return self.decide(index, range(self.space.sizes[size]))

    def _element(self, array: Array, dimensions: Sequence[str], index: tuple[Term, ...]) -> Any:
        """An element; one for each value of an index that is not known and has few."""
        for k, (at, size) in enumerate(zip(index, dimensions, strict=True)):
            if not is_known(at) and self.space.is_expanded(size):
                first, *others = range(self.space.sizes[size])
                found = self._element(array, dimensions, (*index[:k], first, *index[k + 1 :]))
                for i in others:
                    each = self._element(array, dimensions, (*index[:k], i, *index[k + 1 :]))
                    found = merge(equal(at, i), each, found)
                return found
        return array(*index)

    def _same_sets(self, one: Mask, other: Mask) -> Term:
        """True if both have the same members, beyond the names as well: `~s.isr` equals no set."""
        most = greater(one.most, other.most)
        if most is not None:
            return conjunction(*(equal(one.has(i), other.has(i)) for i in range(most)))
        i = self.quantifiers.variable("i")
        return self.every(i, equal(one.has(i), other.has(i)))

    def _comparison(self, node: ir.Node, operator: str, one: Any, other: Any, f: Frame) -> Term:
        if isinstance(one, Mask) or isinstance(other, Mask):
            if operator not in ("==", "!="):
                raise self.refusal(f, node, "orders sets")
            alike = self._same_sets(self.members(node, one, f), self.members(node, other, f))
            return alike if operator == "==" else negation(alike)
        if isinstance(one, Count) and is_known(other):
            return self._has_so_many(one.of, operator, other)
        numbers = [(each, self.number(node, each, f)) for each in (one, other)]
        return compare(operator, *(n if isinstance(x, Count) else x for x, n in numbers))

    def _has_so_many(self, members: Mask, operator: str, number: int) -> Term:
        """A comparison of the number of members."""
        if operator in ("==", "!="):
            fewer = negation(self._has_at_least(members, number + 1))
            alike = conjunction(self._has_at_least(members, number), fewer)
            return alike if operator == "==" else negation(alike)
        least = number if operator in (">=", "<") else number + 1
        enough = self._has_at_least(members, least)
        return enough if operator in (">=", ">") else negation(enough)

    def _has_at_least(self, members: Mask, number: int, above: Term = None) -> Term:
        """True if so many names are members, each greater than the one before."""
        if number <= 0:
            return True
        i = self.quantifiers.variable("i")
        is_greater = True if above is None else compare("<", above, i)
        others = self._has_at_least(members, number - 1, i)
        return self.some(i, conjunction(is_greater, members.has(i), others))

    def _unary(self, node: ir.Node, operator: str, value: Any, f: Frame) -> Any:
        if operator == "not":
            return negation(self.truth(value))
        if operator == "~" and isinstance(value, Mask):
            return Mask(lambda i: negation(value.has(i)), is_finite=False)
        if operator == "bit_count" and isinstance(value, Mask) and value.most is not None:
            return sum_of(*(value.has(i) for i in range(value.most)))
        if operator == "bit_count" and isinstance(value, Mask) and value.is_finite:
            return Count(value)
        number = self.number(node, value, f)
        if operator == "-":
            return -number
        if is_known(number) and operator in ("~", "bit_count"):
            return ~number if operator == "~" else number.bit_count()
        raise self.refusal(f, node, "has no translation")

    def operation(self, node: ir.Node, operator: str, one: Any, other: Any, f: Frame) -> Any:
        """The value of an operation on two numbers or sets."""
        if is_known(one) and is_known(other):
            return self._computation(node, operator, int(one), int(other), f)
        if operator == "<<" and same(one, 1):
            member = self.number(node, other, f)
            self.fault(compare("<", member, 0), f, node, "negative shift")
            most = member + 1 if is_known(member) else None
            return Mask(lambda i: equal(i, member), member, most)
        if operator == ">>" and is_known(one):
            one = as_mask(one)
        if isinstance(one, Mask) or isinstance(other, Mask):
            return self._of_sets(node, operator, one, other, f)
        if isinstance(one, ShiftedMask) and operator == "&" and same(other, 1):
            return one.bit
        a, b = self.number(node, one, f), self.number(node, other, f)
        if operator == "%":
            below = conjunction(compare("<=", 0, a), compare("<", a, total(b, b)))
            self.fault(negation(below), f, node, "goes round more than once")
        found = arithmetic(operator, a, b)
        if found is None:
            raise self.refusal(f, node, "has no translation")
        return found

    def _computation(self, node: ir.Node, operator: str, one: int, other: int, f: Frame) -> int:
        if (operator in ("<<", ">>") and other < 0) or (operator in ("//", "%") and other == 0):
            self.fault(True, f, node, "no result")
            return 0
        return ir.OPERATIONS[operator](one, other)

    def _of_sets(self, node: ir.Node, operator: str, one: Any, other: Any, f: Frame) -> Any:
        match operator:
            case ">>" if isinstance(one, Mask):
                member = self.number(node, other, f)
                self.fault(compare("<", member, 0), f, node, "negative shift")
                return ShiftedMask(one.has(member))
            case "-" if isinstance(one, Mask) and one.member is not None and same(other, 1):
                return Mask(
                    lambda i: conjunction(compare("<=", 0, i), compare("<", i, one.member)),
                    most=one.member if is_known(one.member) else None,
                )
            case "&":
                a, b = self.members(node, one, f), self.members(node, other, f)
                most = min((x.most for x in (a, b) if x.most is not None), default=None)
                is_finite = a.is_finite or b.is_finite
                return Mask(lambda i: conjunction(a.has(i), b.has(i)), None, most, is_finite)
            case "|":
                a, b = self.members(node, one, f), self.members(node, other, f)
                most = greater(a.most, b.most)
                is_finite = a.is_finite and b.is_finite
                return Mask(lambda i: disjunction(a.has(i), b.has(i)), None, most, is_finite)
        raise self.refusal(f, node, "has no translation")

    def _of_member(self, node: ir.Call, name: str, arguments: list[Any], f: Frame) -> Any:
        """The meaning of `x in s`, `s.add(x)` and `s.discard(x)` of a user's set, of any size.

        The functions that a search compiles ask for 63 bits as well, which no larger set has.
        """
        one, x = self.members(node, arguments[0], f), self.number(node, arguments[1], f)
        is_one = compare("<=", 0, x)
        if name == "has_member":
            return conjunction(is_one, one.has(x))
        if name == "with_member":
            self.fault(negation(is_one), f, node, "negative shift")
            return Mask(lambda i: disjunction(one.has(i), equal(i, x)), is_finite=one.is_finite)
        return Mask(
            lambda i: conjunction(one.has(i), negation(conjunction(is_one, equal(i, x)))),
            is_finite=one.is_finite,
        )

    def members(self, node: ir.Node, value: Any, f: Frame) -> Mask:
        """A value that must be a set."""
        if isinstance(value, Mask) or (is_known(value) and not isinstance(value, bool)):
            return as_mask(value)
        raise self.refusal(f, node, "is a set in a number, or no set")

    def _call(self, node: ir.Call, f: Frame) -> Any:
        called = self.value(node.function, f)
        thing = called.thing if isinstance(called, Known) else None
        arguments = [self.value(a, f) for a in node.arguments]
        if thing in (min, max) and len(arguments) > 1:
            return extreme_of([self.number(node, a, f) for a in arguments], thing is min)
        if thing in (bool, int) and len(arguments) == 1:
            (value,) = arguments
            return self.truth(value) if thing is bool else self.number(node, value, f)
        if not isinstance(thing, types.FunctionType):
            raise self.refusal(f, node, "has no translation")
        source = source_of(thing)
        meaning = operation_of(source.tree)
        if meaning is not None and meaning.name in _OF_MEMBERS:
            return self._of_member(node, meaning.name, arguments, f)
        given = dict(zip(source.parameters, arguments, strict=False))
        given |= {name: self.value(a, f) for name, a in node.named if name}
        defaults = zip(source.parameters[::-1], source.defaults[::-1], strict=False)
        for name, default in defaults:
            given.setdefault(name, default)
        self._context.append(f.alive)
        value = self.call_source(source, [given[name] for name in source.parameters])
        self._context.pop()
        return value


def _plain(found: Known) -> Any:
    return int(found.thing) if isinstance(found.thing, int) else found
