"""If-conversion: a rule without branches, both sides evaluated and one selected.

A search evaluates the same guards in a great many states, mostly with the result False. Without
branches the processor has nothing to mispredict, and LLVM evaluates several states at a time.
Needless computations have to be harmless: no operation here can trap or leave memory, and a value
out of range is noted, together with whether it matters.

Only pure rules can be flat, and only if their loops are short. All others stay as they are:
`NotFlat`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from waterline.checker.compiler import ir
from waterline.checker.compiler.conditions import Conditions
from waterline.checker.compiler.emitter import NotFlat, Writer
from waterline.checker.compiler.expressions import Expressions
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.resolution import Lookups
from waterline.checker.compiler.scope import Ranges, Snapshot, changing_names
from waterline.checker.compiler.source import Source
from waterline.checker.compiler.values import Number, TupleValue, Value, constant, number_within

TURNS_MAX = 6
"""A loop of more turns is not flat."""
LINES_MAX = 3000
"""Nor is a rule that becomes more instructions than this."""
_Outcome = tuple[Value, Number]
"""Result of a function, and whether it faults."""


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
        """Compile a call, independently of the conditions on the way to it."""
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
        """Ranges of names that conditions imply on the current path."""

    def look_up(self, name: str) -> Value | None:
        """Return the value of a name; raise `NotFlat` if it may be undefined."""
        if name not in self.assigned:
            raise NotFlat
        value = self.values[name]
        if isinstance(value, Number) and name in self.ranges and not value.truth:
            lo, hi = max(self.ranges[name][0], value.lo), min(self.ranges[name][1], value.hi)
            return number_within(value.text, lo, hi) if lo <= hi else value
        return value

    def snapshot(self) -> Snapshot:
        """Only the form with branches goes back."""
        raise NotFlat

    def restore(self, then: Snapshot) -> None:
        """Refuse, as `snapshot` does."""
        raise NotFlat

    def narrow(self, ranges: Ranges) -> None:
        """Take it that names lie in these ranges."""
        for name, (lo, hi) in ranges.items():
            least, most = self.ranges.get(name, (lo, hi))
            self.ranges = {**self.ranges, name: (max(lo, least), min(hi, most))}


class _Inline:
    """One function, inlined; its parameters have the values of `arguments`."""

    def __init__(self, flat: Flat, source: Source) -> None:
        self.flat, self.source, self.writer = flat, source, flat.writer
        self.scope = _Scope()
        self.path = constant(1)
        """True if Python would get here."""
        self.raised = constant(0)
        self._result: tuple[Number, ...] | None = None
        self._returned = constant(0)
        self._left: list[Number] = []
        """For each open loop: whether this turn, or the whole of it, has been left."""
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
        """Compile the function for these arguments."""
        for name, argument in zip(self.source.parameters, arguments, strict=True):
            self.scope.values[name] = argument
        self.scope.assigned = frozenset(self.source.parameters)
        self._block(lower_function(self.source).body)
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

    def _block(self, statements: ir.Block) -> None:
        for statement in statements:
            if self.path == constant(0):
                return
            if len(self.writer.lines) > LINES_MAX:
                raise NotFlat
            self._statement(statement)

    def _statement(self, node: ir.Statement) -> None:
        match node:
            case ir.Return(value=value) if value is not None:
                self._return(self.expressions.value(value))
            case ir.Assign(targets=[target]):
                self._assign(target, self.expressions.value(node.value))
            case ir.Update(target=ir.Name(name=name)):
                before = self.scope.look_up(name)
                if not isinstance(before, Number):
                    raise NotFlat
                by = self.expressions.number(node.value)
                after = self.expressions.arithmetic.operate(node.operator, before, by)
                self._assign(node.target, after)
            case ir.If():
                self._if(node)
            case ir.For():
                self._for(node)
            case ir.Break():
                self._broken[-1] = self.writer.either(self._broken[-1], self.path)
                self._leave()
            case ir.Continue():
                self._leave()
            case ir.Pass():
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
        """Return one of two numbers, a truth if both are."""
        if truth.is_constant:
            return new if truth.lo else old
        if all(n.truth or (n.is_constant and n.within(0, 1)) for n in (new, old)):
            writer = self.writer
            return writer.either(
                writer.both(truth, writer.truth_of(new)),
                writer.both(writer.negate(truth), writer.truth_of(old)),
            )
        return self.writer.select(truth, new, old)

    def _assign(self, target: ir.Expression, value: Value) -> None:
        match target, value:
            case ir.Name(name=name), Number():
                old = self.scope.values.get(name)
                if isinstance(old, Number):
                    value = self._either(self.path, value, old)
                self._set(name, value)
            case ir.Tuple(items=targets), TupleValue(items=items) if len(targets) == len(items):
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

    def _if(self, node: ir.If) -> None:
        writer, here, ranges = self.writer, self.path, self.scope.ranges
        truth, when, unless = self.conditions.with_facts(node.test)
        gone, assigned = self._skips(), self.scope.assigned
        sides = ((truth, when, node.then), (writer.negate(truth), unless, node.otherwise))
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
        match node.then, node.otherwise:
            case [*_, ir.Return() | ir.Continue() | ir.Break()], []:
                self.scope.narrow(unless)

    def _skips(self) -> tuple[Number, ...]:
        """Return the conditions that skip the statements that follow."""
        return self._returned, *self._left[-1:]

    def _go_on(self, here: Number, before: tuple[Number, ...]) -> None:
        """Go on with all that was here, less what has returned, or left the loop, since."""
        self.path = here
        for now, then in zip(self._skips(), before, strict=True):
            if now != then:
                self.path = self.writer.both(self.path, self.writer.negate(now))

    def _for(self, node: ir.For) -> None:
        if not self.expressions.is_range(node.function):
            raise NotFlat
        numbers = [self.expressions.number(bound) for bound in node.bounds]
        start = numbers[0] if len(numbers) > 1 else constant(0)
        stop = numbers[1] if len(numbers) > 1 else numbers[0]
        step = numbers[2].lo if len(numbers) > 2 else 1
        if len(numbers) > 2 and not (numbers[2].is_constant and step in {1, -1}):
            raise NotFlat
        turns = range(start.lo, stop.hi) if step > 0 else range(start.hi, stop.lo, -1)
        many = abs(turns.stop - turns.start) > TURNS_MAX  # more than `len` can count, perhaps
        if many or node.counter.name in changing_names(lower_function(self.source)):
            raise NotFlat
        self._turns(node, start, stop, turns)

    def _turns(self, node: ir.For, start: Number, stop: Number, turns: range) -> None:
        writer, here, ranges, gone = self.writer, self.path, self.scope.ranges, self._skips()
        assigned = self.scope.assigned
        after, before = ("sle", "slt") if turns.step > 0 else ("sge", "sgt")
        self._left.append(constant(0))
        self._broken.append(constant(0))
        returned = self._returned
        for turn in turns:
            self._left[-1] = constant(0)
            begun = writer.compare(after, start, constant(turn))
            open_ = writer.compare(before, constant(turn), stop)
            self.path = writer.both(here, writer.both(begun, open_))
            if self._broken[-1] != constant(0):
                self.path = writer.both(self.path, writer.negate(self._broken[-1]))
            if self._returned != returned:
                self.path = writer.both(self.path, writer.negate(self._returned))
            if self.path == constant(0):
                continue
            self._set(node.counter.name, constant(turn))
            self._block(node.body)
            self.scope.ranges, self.scope.assigned = ranges, assigned
        self._left.pop()
        self._broken.pop()
        self._go_on(here, gone)


@dataclass(frozen=True, slots=True)
class _Conditions(Conditions):
    """Conditions whose operands are all evaluated."""

    inline: _Inline

    def join(self, node: ir.Comparison | ir.Contained | ir.Chain | ir.Both | ir.Either) -> Number:
        """A comparison, or `and` and `or` with their values."""
        return self.with_facts(node)[0]

    def choose(self, node: ir.Choice) -> Value:
        """`a if b else c`."""
        inline, here, ranges = self.inline, self.inline.path, self.inline.scope.ranges
        truth, when, unless = self.with_facts(node.test)
        sides = []
        for side, described, operand in (
            (truth, when, node.then),
            (inline.writer.negate(truth), unless, node.otherwise),
        ):
            if side == constant(0):
                sides.append(constant(0))
                continue
            inline.path = inline.writer.both(here, side)
            inline.scope.narrow(described)
            sides.append(self.expressions.number(operand))
            inline.path, inline.scope.ranges = here, ranges
        return inline._either(truth, sides[0], sides[1])

    def with_facts(self, node: ir.Expression) -> tuple[Number, Ranges, Ranges]:
        """A condition, or its value; what names are known to be where it is true, and where not."""
        writer = self.expressions.writer
        match node:
            case ir.Unary(operator="not", operand=operand):
                truth, when, unless = self.with_facts(operand)
                return writer.negate(truth), unless, when
            case ir.Comparison() | ir.Contained():
                return self._compare(node)
            case ir.Chain():
                return self._all_links(node), {}, {}
            case ir.Both() | ir.Either():
                return self._operands_of(node)
        return self.expressions.number(node), {}, {}

    def _all_links(self, node: ir.Chain) -> Number:
        inline, here = self.inline, self.inline.path
        found = constant(1)
        for link, _, _ in self._links(node):
            found = inline.writer.both(found, link)
            if found == constant(0):
                break
            inline.path = inline.writer.both(here, found)
        inline.path = here
        return found

    def _operands_of(self, node: ir.Both | ir.Either) -> tuple[Number, Ranges, Ranges]:
        inline, writer = self.inline, self.inline.writer
        here, ranges = inline.path, inline.scope.ranges
        is_and = isinstance(node, ir.Both)
        described: Ranges = {}
        found: Number | None = None
        goes_on = constant(1)
        for operand in node.operands:
            number, when, unless = self.with_facts(operand)
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
            goes_on = writer.both(goes_on, truth if is_and else writer.negate(truth))
            described = {**described, **(when if is_and else unless)}
            if goes_on == constant(0):
                break
            inline.path = writer.both(here, goes_on)
            inline.scope.narrow(when if is_and else unless)
        inline.path, inline.scope.ranges = here, ranges
        assert found is not None
        return (found, described, {}) if is_and else (found, {}, described)
