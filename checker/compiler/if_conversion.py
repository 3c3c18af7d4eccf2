"""If-conversion: a rule without branches, both sides evaluated and one selected.

A search asks the same of a great many states, and most of what it asks is answered by no. Without
branches there is nothing for the processor to guess wrong, and LLVM asks it of several states at a
time. What is worked out in vain has to be harmless: no operation here can trap or leave memory, and
what is out of range is noted, together with whether it matters.

Only what looks at a state can be flat, and only if its loops are short. Whatever cannot is left as
it is: `NotFlat`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from checker.compiler.conditions import Conditions
from checker.compiler.emitter import NotFlat, Writer
from checker.compiler.expressions import Expressions
from checker.compiler.resolution import Lookups
from checker.compiler.scope import Ranges, Snapshot, changing_names
from checker.compiler.source import Source
from checker.compiler.values import Number, TupleValue, Value, constant, ranged

TURNS_MAX = 6
"""A loop of more turns is not flat."""
LINES_MAX = 3000
"""Nor is a rule that becomes more instructions than this."""
_Outcome = tuple[Value, Number]
"""What a function returns, and whether it faults."""


@dataclass(slots=True)
class Flat:
    """Writes functions in place, each once for the same arguments."""

    writer: Writer
    table: Callable[[tuple[int, ...]], str]
    lookups: Lookups
    _known: dict[tuple[Source, tuple[Value, ...]], _Outcome] = field(default_factory=dict)
    _begun: list[Source] = field(default_factory=list)

    def try_call(self, source: Source, arguments: Sequence[Value]) -> _Outcome | None:
        """A truth and whether it faults; None for what cannot be flat: then nothing is written."""
        lines, known = len(self.writer.lines), dict(self._known)
        self.writer.flat = True
        try:
            outcome = self.call(source, arguments)
        except NotFlat:
            del self.writer.lines[lines:]
            self._known, self._begun = known, []
            return None
        finally:
            self.writer.flat = False
        return outcome

    def call(self, source: Source, arguments: Sequence[Value]) -> _Outcome:
        """What a function comes to, whatever the way to the call."""
        key = (source, tuple(arguments))
        if key not in self._known:
            if source in self._begun:
                raise NotFlat  # the form with branches says what is wrong
            self._begun.append(source)
            self._known[key] = _Inline(self, source).run(arguments)
            self._begun.pop()
        return self._known[key]


class _Scope:
    """Names and what they stand for, one value after the other."""

    def __init__(self) -> None:
        self.values: dict[str, Value] = {}
        self.assigned: frozenset[str] = frozenset()
        """Names that have a value on every way that leads here."""
        self.ranges: Ranges = {}
        """What conditions tell of names on the way that is looked at."""

    def look_up(self, name: str) -> Value | None:
        """What a name stands for; where it may be nothing, the form with branches refuses it."""
        if name not in self.assigned:
            raise NotFlat
        value = self.values[name]
        if isinstance(value, Number) and name in self.ranges and not value.truth:
            lo, hi = max(self.ranges[name][0], value.lo), min(self.ranges[name][1], value.hi)
            return ranged(value.text, lo, hi) if lo <= hi else value
        return value

    def snapshot(self) -> Snapshot:
        """Only the form with branches goes back."""
        raise NotFlat

    def restore(self, then: Snapshot) -> None:
        """As `snapshot`."""
        raise NotFlat

    def narrow(self, ranges: Ranges) -> None:
        """Take it that names lie in these ranges."""
        for name, (lo, hi) in ranges.items():
            least, most = self.ranges.get(name, (lo, hi))
            self.ranges = {**self.ranges, name: (max(lo, least), min(hi, most))}


class _Inline:
    """One function, written in place: `arguments` are what its parameters stand for."""

    def __init__(self, flat: Flat, source: Source) -> None:
        self.flat, self.source, self.writer = flat, source, flat.writer
        self.scope = _Scope()
        self.path = constant(1)
        """Whether Python would get here."""
        self.raised = constant(0)
        self._result: tuple[Number, ...] | None = None
        self._returned = constant(0)
        self._left: list[Number] = []
        """Of each loop that is open: whether this turn, or the whole of it, has been left."""
        self._broken: list[Number] = []
        self.expressions = Expressions(
            source,
            self.writer,
            self.scope,
            self._fault,
            self._call,
            flat.table,
            flat.lookups,
        )
        self.conditions = _Conditions(self.expressions, self)
        self.expressions.conditions = self.conditions

    def run(self, arguments: Sequence[Value]) -> _Outcome:
        """What it comes to for these arguments."""
        for name, argument in zip(self.source.parameters, arguments, strict=True):
            self.scope.values[name] = argument
        self.scope.assigned = frozenset(self.source.parameters)
        self._block(self.source.tree.body)
        if self._result is None or self.path != constant(0):
            raise NotFlat
        if len(self._result) == 1:
            return self._result[0], self.raised
        return TupleValue(self._result), self.raised

    def _fault(self, truth: Number) -> None:
        self.raised = self.writer.either(self.raised, self.writer.both(self.path, truth))

    def _call(self, source: Source, arguments: list[Value]) -> Value:
        value, raised = self.flat.call(source, arguments)
        self._fault(raised)
        return value

    # --- statements ------------------------------------------------------------------------------

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        for statement in statements:
            if self.path == constant(0):
                return
            if len(self.writer.lines) > LINES_MAX:
                raise NotFlat
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Return(value=ast.expr() as value):
                self._return(self.expressions.value(value))
            case ast.Assign(targets=[target]):
                self._assign(target, self.expressions.value(node.value))
            case ast.AnnAssign(value=ast.expr() as value):
                self._assign(node.target, self.expressions.value(value))
            case ast.AugAssign(target=ast.Name(id=name)):
                before = self.scope.look_up(name)
                if not isinstance(before, Number):
                    raise NotFlat
                number = self.expressions.number(node.value)
                self._assign(node.target, self.expressions.operated(node, node.op, before, number))
            case ast.If():
                self._if(node)
            case ast.For(target=ast.Name(), orelse=[]):
                self._for(node)
            case ast.Break():
                self._broken[-1] = self.writer.either(self._broken[-1], self.path)
                self._leave()
            case ast.Continue():
                self._leave()
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass
            case _:
                raise NotFlat

    def _leave(self) -> None:
        self._left[-1] = self.writer.either(self._left[-1], self.path)
        self.path = constant(0)

    def _return(self, value: Value) -> None:
        items = value.items if isinstance(value, TupleValue) else (value,)
        numbers = tuple(item for item in items if isinstance(item, Number))
        if len(numbers) != len(items) or not numbers:
            raise NotFlat
        if self._result is None:
            self._result = numbers
        else:
            pairs = zip(numbers, self._result, strict=True)
            self._result = tuple(self._either(self.path, new, old) for new, old in pairs)
        self._returned = self.writer.either(self._returned, self.path)
        self.path = constant(0)

    def _either(self, truth: Number, new: Number, old: Number) -> Number:
        """One of two numbers, a truth if both are."""
        if truth.is_constant:
            return new if truth.lo else old
        if all(n.truth or (n.is_constant and n.within(0, 1)) for n in (new, old)):
            writer = self.writer
            return writer.either(
                writer.both(truth, writer.truth_of(new)),
                writer.both(writer.negated(truth), writer.truth_of(old)),
            )
        return self.writer.chosen(truth, new, old)

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target, value:
            case ast.Name(id=name), Number():
                old = self.scope.values.get(name)
                if isinstance(old, Number):
                    value = self._either(self.path, value, old)
                self._set(name, value)
            case ast.Tuple(elts=targets), TupleValue(items=items) if len(targets) == len(items):
                for each, item in zip(targets, items, strict=True):
                    self._assign(each, item)
            case _:
                raise NotFlat

    def _set(self, name: str, value: Number) -> None:
        scope = self.scope
        scope.values[name] = value
        scope.assigned |= {name}
        scope.ranges = {
            known: described for known, described in scope.ranges.items() if known != name
        }

    def _if(self, node: ast.If) -> None:
        writer, here, ranges = self.writer, self.path, self.scope.ranges
        truth, when, unless = self.conditions.known(node.test)
        gone, assigned = self._gone(), self.scope.assigned
        sides = ((truth, when, node.body), (writer.negated(truth), unless, node.orelse))
        met: list[frozenset[str]] = []
        for side, described, statements in sides:
            self.path = writer.both(here, side)
            self.scope.assigned = assigned
            if self.path != constant(0):
                self.scope.narrow(described)
                self._block(statements)
            if self.path != constant(0):
                met.append(self.scope.assigned)
            self.scope.ranges = ranges
        self.scope.assigned = frozenset.intersection(*met) if met else assigned
        self._go_on(here if met else constant(0), gone)
        if not node.orelse and isinstance(node.body[-1], ast.Return | ast.Continue | ast.Break):
            self.scope.narrow(unless)

    def _gone(self) -> tuple[Number, ...]:
        """On which ways statements that follow are not reached."""
        return self._returned, *self._left[-1:]

    def _go_on(self, here: Number, before: tuple[Number, ...]) -> None:
        """Go on with all that was here, less what has returned, or left the loop, since."""
        self.path = here
        for now, then in zip(self._gone(), before, strict=True):
            if now != then:
                self.path = self.writer.both(self.path, self.writer.negated(now))

    def _for(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        match node.iter:
            case ast.Call(func=called, args=[_, *_] as given, keywords=[]) if (
                self.expressions.is_range(called)
            ):
                numbers = [self.expressions.number(argument) for argument in given]
            case _:
                raise NotFlat
        start = numbers[0] if len(numbers) > 1 else constant(0)
        stop = numbers[1] if len(numbers) > 1 else numbers[0]
        step = numbers[2].lo if len(numbers) > 2 else 1
        if len(numbers) > 2 and not (numbers[2].is_constant and step in {1, -1}):
            raise NotFlat
        turns = range(start.lo, stop.hi) if step > 0 else range(start.hi, stop.lo, -1)
        many = abs(turns.stop - turns.start) > TURNS_MAX  # more than `len` can count, perhaps
        if many or node.target.id in changing_names(self.source.tree):
            raise NotFlat
        self._turns(node, node.target.id, start, stop, turns)

    def _turns(
        self, node: ast.For, counter: str, start: Number, stop: Number, turns: range
    ) -> None:
        writer, here, ranges, gone = self.writer, self.path, self.scope.ranges, self._gone()
        assigned = self.scope.assigned
        after, before = ("sle", "slt") if turns.step > 0 else ("sge", "sgt")
        self._left.append(constant(0))
        self._broken.append(constant(0))
        returned = self._returned
        for turn in turns:
            self._left[-1] = constant(0)
            begun = writer.compared(after, start, constant(turn))
            open_ = writer.compared(before, constant(turn), stop)
            self.path = writer.both(here, writer.both(begun, open_))
            if self._broken[-1] != constant(0):
                self.path = writer.both(self.path, writer.negated(self._broken[-1]))
            if self._returned != returned:
                self.path = writer.both(self.path, writer.negated(self._returned))
            if self.path == constant(0):
                continue
            self._set(counter, constant(turn))
            self._block(node.body)
            self.scope.ranges, self.scope.assigned = ranges, assigned
        self._left.pop()
        self._broken.pop()
        self._go_on(here, gone)


@dataclass(frozen=True, slots=True)
class _Conditions(Conditions):
    """Conditions of which every operand is worked out."""

    inline: _Inline

    def joined(self, node: ast.Compare | ast.BoolOp) -> Number:
        """A comparison, or `and` and `or` with their values."""
        return self.known(node)[0]

    def chosen(self, node: ast.IfExp) -> Value:
        """`a if b else c`."""
        inline, here, ranges = self.inline, self.inline.path, self.inline.scope.ranges
        truth, when, unless = self.known(node.test)
        sides = []
        for side, described, operand in (
            (truth, when, node.body),
            (inline.writer.negated(truth), unless, node.orelse),
        ):
            if side == constant(0):
                sides.append(constant(0))
                continue
            inline.path = inline.writer.both(here, side)
            inline.scope.narrow(described)
            sides.append(self.expressions.number(operand))
            inline.path, inline.scope.ranges = here, ranges
        return inline._either(truth, sides[0], sides[1])

    def known(self, node: ast.expr) -> tuple[Number, Ranges, Ranges]:
        """A condition, or its value; what names are known to be where it is true, and where not."""
        writer = self.expressions.writer
        match node:
            case ast.UnaryOp(op=ast.Not()):
                truth, when, unless = self.known(node.operand)
                return writer.negated(truth), unless, when
            case ast.Compare(ops=[operator], comparators=[comparator]):
                left = self.expressions.number(node.left)
                return self._compared(node, operator, left, comparator)
            case ast.Compare():
                return self._links(node), {}, {}
            case ast.BoolOp():
                return self._operands_of(node)
        return self.expressions.number(node), {}, {}

    def _links(self, node: ast.Compare) -> Number:
        inline, here = self.inline, self.inline.path
        found = constant(1)
        left = self.expressions.number(node.left)
        for operator, comparator in zip(node.ops, node.comparators, strict=True):
            if isinstance(operator, ast.In | ast.NotIn):
                raise NotFlat
            right = self.expressions.number(comparator)
            link = inline.writer.compared(self._operator(node, operator), left, right)
            found = inline.writer.both(found, link)
            if found == constant(0):
                break
            inline.path = inline.writer.both(here, found)
            left = right
        inline.path = here
        return found

    def _operands_of(self, node: ast.BoolOp) -> tuple[Number, Ranges, Ranges]:
        inline, writer = self.inline, self.inline.writer
        here, ranges = inline.path, inline.scope.ranges
        is_and = isinstance(node.op, ast.And)
        described: Ranges = {}
        found: Number | None = None
        goes_on = constant(1)
        for operand in node.values:
            number, when, unless = self.known(operand)
            if found is None:
                found = number
            elif is_and:
                found = (
                    inline._either(goes_on, number, constant(0))
                    if found.truth or (found.is_constant and found.within(0, 1))
                    else inline._either(goes_on, number, found)
                )
            else:
                found = inline._either(goes_on, number, found)
            truth = writer.truth_of(number)
            goes_on = writer.both(goes_on, truth if is_and else writer.negated(truth))
            described = {**described, **(when if is_and else unless)}
            if goes_on == constant(0):
                break
            inline.path = writer.both(here, goes_on)
            inline.scope.narrow(when if is_and else unless)
        inline.path, inline.scope.ranges = here, ranges
        assert found is not None
        return (found, described, {}) if is_and else (found, {}, described)
