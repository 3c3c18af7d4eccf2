"""Code generation for one function, specialised for the kinds of its arguments.

Statements become blocks. Conditions decided by the settings, or by the range of a number, are
decided here, so that a rule that a version does not have is not even compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.checker.compiler import fields, ir
from waterline.checker.compiler.emitter import FIRST_BLOCK, Writer
from waterline.checker.compiler.expressions import Expressions
from waterline.checker.compiler.function_ir import FAULT, FAULTED, Returns, Written
from waterline.checker.compiler.lower import NO_RANGE, lower_function
from waterline.checker.compiler.resolution import Lookups
from waterline.checker.compiler.scope import Ranges, Scope, changing_names, steady_names
from waterline.checker.compiler.source import Source
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
    as_argument,
    constant,
    number_within,
)
from waterline.model.core.machine_numbers import ROUNDS_MAX

TURNS_MAX = 4
"""A loop of so many turns is written out."""
RUNS_MAX = 12
"""How often a function is compiled anew, at most, until the ranges of its variables stand."""


@dataclass(slots=True)
class _Loop:
    """Where `continue` and `break` go."""

    again: str
    after: str


@dataclass(slots=True)
class Body:
    """Writes the body of one function."""

    source: Source
    call: Callable[[Source, list[Value]], Written]
    table: Callable[[tuple[int, ...]], str]
    lookups: Lookups
    comment: bool = False
    trusted: bool = False
    """True if the text is the checker's own: no range is looked for, nothing is checked."""
    writer: Writer = field(default_factory=Writer)
    faults: bool = False
    writes: bool = False
    calls: list[Written] = field(default_factory=list)
    _loops: list[_Loop] = field(default_factory=list)
    _limited: bool = field(init=False, default=False)
    """True if numbers may not leave 64 bits, and loops have an end."""
    _may_loop: bool = field(init=False, default=False)
    """True if there is a `while`: then the rounds of all loops are counted, in `_rounds`."""
    _rounds: str = field(init=False, default="")
    _returns: Returns = field(init=False)
    scope: Scope = field(init=False)
    expressions: Expressions = field(init=False)

    def write(self, name: str, arguments: Sequence[Value], ranges: Ranges) -> Written:
        """The function for these arguments, were its variables to lie in these ranges."""
        function = lower_function(self.source)
        changing = changing_names(function)
        self._limited = not (self.trusted or self.source.wraps)
        self._may_loop = any(isinstance(each, ir.While) for each in function.statements())
        if self.trusted:
            ranges = dict.fromkeys(changing, (LEAST, GREATEST))  # they are not worth a second run
        self.scope = Scope(self.writer, changing, dict(ranges))
        if self._limited:
            self.scope.steady = steady_names(function)
        self._returns = Returns(self.writer)
        self.expressions = Expressions(
            self.source,
            self.writer,
            self.scope,
            self._fault,
            self._call,
            self.table,
            self.lookups,
            trusted=self.trusted,
        )
        for parameter, argument in zip(function.parameters, arguments, strict=True):
            if not self.scope.assign(parameter, argument):
                raise self.source.refuse(
                    function.line, f"it changes its parameter `{parameter}`", "use another name"
                )
        if self.comment:
            self.writer.lines.append(f"  ; {self.source.place}")
        self._block(function.body)
        if self.writer.block:
            self._return(function.line, ())
        returns = self._returns.fill_in(faults=self.faults)
        return Written(
            name,
            tuple(filter(None, map(_declaration, arguments))),
            returns,
            self.faults,
            self.writes,
            (f"{FIRST_BLOCK}:", *self.writer.slots, *(line for line in self.writer.lines if line)),
            tuple(self.calls),
        )

    # --- ends ------------------------------------------------------------------------------------

    def _fault(self, truth: Number) -> None:
        if truth == constant(0):
            return
        self.faults = True
        go_on = self.writer.name("fine")
        self.writer.branch(truth, FAULTED, go_on, seldom=True)
        if not self.writer.begin(go_on):
            self.writer.restart()

    def _return(self, line: int, numbers: tuple[Number, ...]) -> None:
        if not self._returns.add(numbers):
            raise self.source.refuse(
                line, "it returns sometimes more, sometimes less", "return as many in each place"
            )

    # --- statements ------------------------------------------------------------------------------

    def _block(self, statements: ir.Block) -> None:
        """Statements in order, up to one that nothing gets beyond."""
        for statement in statements:
            if not self.writer.block:
                return
            if self.comment and not isinstance(statement, ir.Evaluate):
                text = statement.text.splitlines()[0]
                self.writer.lines.append(f"  ; {statement.line}: {text}")
            self._statement(statement)

    def _statement(self, node: ir.Statement) -> None:
        match node:
            case ir.Return(value=None):
                self._return(node.line, ())
            case ir.Return(value=value) if value is not None:
                self._return(node.line, self._numbers(value))
            case ir.Assign():
                assigned = self.expressions.value(node.value)
                for target in node.targets:
                    self._assign(target, assigned)
            case ir.Update():
                self._update(node)
            case ir.If():
                self._if(node)
            case ir.While():
                self._while(node)
            case ir.For():
                self._for(node)
            case ir.Break():
                self.writer.jump(self._loops[-1].after)
            case ir.Continue():
                self.writer.jump(self._loops[-1].again)
            case ir.Evaluate(call=call):
                self.expressions.value(call)
            case ir.Refused():
                self.expressions.value(node)

    def _numbers(self, node: ir.Expression) -> tuple[Number, ...]:
        """Compile the value returned: a number, or a tuple of them."""
        value = self.expressions.value(node)
        items = value.items if isinstance(value, TupleValue) else (value,)
        numbers = tuple(item for item in items if isinstance(item, Number))
        if len(numbers) != len(items):
            raise self.source.refuse(
                node.line, f"`{node.text}` is returned", "return numbers and tuples of numbers"
            )
        return numbers

    def _assign(self, target: ir.Expression, value: Value) -> None:
        match target:
            case ir.Name(name=name):
                if isinstance(value, TupleValue) or not self.scope.assign(name, value):
                    raise self.source.refuse(
                        target.line, f"`{name}` would be no number", "use a name for each number"
                    )
            case ir.Tuple(items=targets):
                if not isinstance(value, TupleValue) or len(value.items) != len(targets):
                    raise self.source.refuse(
                        target.line, "what is assigned has another length", "use a name for each"
                    )
                for each, item in zip(targets, value.items, strict=True):
                    self._assign(each, item)
            case ir.Refused():
                self.expressions.value(target)
            case _:
                place = self._place(target)
                if not isinstance(value, Number):
                    raise self.source.refuse(target.line, "no number is stored", "store a number")
                place.store(value)

    def _update(self, node: ir.Update) -> None:
        if isinstance(node.target, ir.Name):
            after = self._operate(node, self.expressions.number(node.target))
            self._assign(node.target, self.scope.count(node.target.name, after))
            return
        place = self._place(node.target)
        place.store(self._operate(node, place.load()))

    def _operate(self, node: ir.Update, before: Number) -> Number:
        by = self.expressions.number(node.value)
        return self.expressions.arithmetic.operate(node.operator, before, by)

    def _place(self, node: ir.Expression) -> _Place:
        """Return the target of an assignment; its indices are compiled once."""
        if isinstance(node, ir.Attribute):
            state = self.expressions.value(node.owner)
            if isinstance(state, StateValue) and node.name in state.layout.places:
                place = state.layout.places[node.name]
                if not place.shape:
                    return self._field(node.line, state, place, [])
        if isinstance(node, ir.Element):
            rows = self.expressions.value(node.owner)
            if isinstance(rows, FieldValue):
                indices = self.expressions.indices(node, rows.place.shape)
                return self._field(node.line, rows.state, rows.place, indices)
            if isinstance(rows, ArrayValue):
                return self._cell(rows, self.expressions.array_place(rows, node))
        raise self.source.refuse(
            node.line, f"`{node.text}` is assigned to", "assign to names and fields of the state"
        )

    def _field(self, line: int, state: StateValue, place: Any, indices: list[Number]) -> _Place:
        if not state.writable:
            raise self.source.refuse(
                line,
                f"it writes to {place.name}, and only an effect may write",
                "keep it in a variable, or make it an effect",
            )
        self.writes = True
        return _Place(
            lambda: fields.read(self.writer, state, place, indices, self._fault),
            lambda number: fields.write(self.writer, state, place, indices, number, self._fault),
        )

    def _cell(self, array: ArrayValue, place: str) -> _Place:
        self.writes = True
        kind = array.element

        def load() -> Number:
            register = self.writer.result(f"load {kind}, ptr {place}")
            if kind == "i64":
                return Number(register)
            return Number(self.writer.result(f"zext {kind} {register} to i64"))

        def store(number: Number) -> None:
            word = self.writer.as_word(number)
            if kind != "i64":
                word = self.writer.result(f"trunc i64 {word} to {kind}")
            self.writer.act(f"store {kind} {word}, ptr {place}")

        return _Place(load, store)

    def _if(self, node: ir.If) -> None:
        writer, scope = self.writer, self.scope
        then, otherwise, after = writer.name("then"), writer.name("else"), writer.name("after")
        before = scope.snapshot()
        when, unless = self.expressions.conditions.branch(node.test, then, otherwise)
        ways = []
        for block, statements, ranges in (
            (then, node.then, when),
            (otherwise, node.otherwise, unless),
        ):
            scope.restore(before)
            if writer.begin(block):
                scope.narrow(ranges)
                self._block(statements)
                if writer.block:
                    ways.append(scope.snapshot())
                    writer.jump(after)
        if ways:
            writer.begin(after)
            scope.meet(ways, before)

    def _while(self, node: ir.While) -> None:
        writer, scope = self.writer, self.scope
        test, body, after = writer.name("while"), writer.name("do"), writer.name("after")
        before = scope.snapshot()
        writer.begin(test)
        calls = len(self.calls)
        when, _ = self.expressions.conditions.branch(node.test, body, after)
        if writer.begin(body):
            scope.narrow(when)
            self._count_round()
            self._loops.append(_Loop(test, after))
            self._block(node.body)
            self._loops.pop()
            called = any(callee.faults for callee in self.calls[calls:])
            if writer.block and called and not self.trusted:
                # What faults writes nothing: what the loop waits for might never come.
                flag = writer.result(f"load i8, ptr {FAULT}")
                raised = writer.result(f"icmp ne i8 {flag}, 0")
                self._fault(Number(raised, 0, 1, truth=True))
            writer.jump(test)
        scope.restore(before)
        writer.begin(after)

    def _for(self, node: ir.For) -> None:
        start, stop, step = self._range(node)
        first, last = (start.lo, stop.hi - 1) if step > 0 else (stop.lo + 1, start.hi)
        if first > last:
            return
        self._require_short(start, stop, step)
        if step == 1 and last - first < TURNS_MAX and not self.trusted:
            self._turns(node, start, stop, range(first, last + 1))
            return
        writer, scope = self.writer, self.scope
        test, body = writer.name("for"), writer.name("each")
        again, after = writer.name("again"), writer.name("after")
        before = scope.snapshot()
        counter = writer.slot("at")
        writer.act(f"store i64 {writer.as_word(start)}, ptr {counter}")
        end = writer.as_word(stop)
        writer.begin(test)
        at = writer.result(f"load i64, ptr {counter}")
        goes_on = writer.result(f"icmp {'slt' if step > 0 else 'sgt'} i64 {at}, {end}")
        writer.branch(Number(goes_on, 0, 1, truth=True), body, after)
        writer.begin(body)
        self._assign(node.counter, number_within(at, first, last))
        self._count_round()
        self._loops.append(_Loop(again, after))
        self._block(node.body)
        self._loops.pop()
        if writer.begin(again):
            writer.act(f"store i64 {writer.result(f'add i64 {at}, {step}')}, ptr {counter}")
            writer.jump(test)
        scope.restore(before)
        writer.begin(after)

    def _require_short(self, start: Number, stop: Number, step: int) -> None:
        """Fault where a loop goes round too often, if its range does not rule that out."""
        (low, high) = (start, stop) if step > 0 else (stop, start)
        longest = ROUNDS_MAX * abs(step)
        if not self._limited or high.hi - low.lo <= longest:
            return
        writer = self.writer
        text = writer.result(f"sub i64 {writer.as_word(high)}, {writer.as_word(low)}")
        too_long = Number(writer.result(f"icmp ugt i64 {text}, {longest}"), 0, 1, truth=True)
        self._fault(writer.both(writer.compare("slt", low, high), too_long))

    def _count_round(self) -> None:
        """Fault after too many rounds, in a function that has a `while`."""
        if not (self._limited and self._may_loop):
            return
        writer = self.writer
        if not self._rounds:
            self._rounds = writer.slot("rounds")
            writer.slots.append(f"  store i64 0, ptr {self._rounds}")
        before = Number(writer.result(f"load i64, ptr {self._rounds}"), 0, ROUNDS_MAX)
        self._fault(writer.compare("sge", before, constant(ROUNDS_MAX)))
        after = writer.result(f"add i64 {before.text}, 1")
        writer.act(f"store i64 {after}, ptr {self._rounds}")

    def _turns(self, node: ir.For, start: Number, stop: Number, turns: range) -> None:
        """A loop of few turns, written out turn by turn: in each the counter is known."""
        writer, scope = self.writer, self.scope
        after = writer.name("after")
        before = scope.snapshot()
        for turn in turns:
            at, body, again = constant(turn), writer.name("turn"), writer.name("again")
            if turn >= stop.lo:
                writer.branch(writer.compare("slt", at, stop), body, after)
                if not writer.begin(body):
                    break
                body = writer.name("turn")
            if turn < start.hi:
                writer.branch(writer.compare("sle", start, at), body, again)
                writer.begin(body)
            if writer.block:
                counter = Number(at.text, turn, turn, turns=(turns[0], turns[-1]))
                if self.trusted:
                    counter = at  # a guard is written anew for each of its arguments
                self._assign(node.counter, counter)
                self._count_round()
                self._loops.append(_Loop(again, after))
                self._block(node.body)
                self._loops.pop()
            scope.restore(before)
            if not writer.begin(again):
                break
        scope.restore(before)
        writer.begin(after)

    def _range(self, node: ir.For) -> tuple[Number, Number, int]:
        """Start, stop and step of the range that a loop goes over."""
        is_range = self.expressions.is_range(node.function)
        numbers = [self.expressions.number(bound) for bound in node.bounds] if is_range else []
        if not 1 <= len(numbers) <= 3:
            raise self.source.refuse(node.line, *NO_RANGE)
        step = numbers[2] if len(numbers) == 3 else constant(1)
        if not step.is_constant or step.lo == 0:
            raise self.source.refuse(
                node.line, "a step that is not known, or zero", "use a constant that is not zero"
            )
        start = numbers[0] if len(numbers) > 1 else constant(0)
        return start, numbers[1] if len(numbers) > 1 else numbers[0], step.lo

    # --- calls -----------------------------------------------------------------------------------

    def _call(self, function: Source, arguments: list[Value]) -> Value:
        """Compile a call of another function; a constant result needs no call."""
        callee = self.call(function, arguments)
        known = all(number.is_constant for number in callee.returns)
        if callee.returns and known and not callee.faults and not callee.writes:
            return _as_one(callee.returns)
        self.calls.append(callee)
        self.writes |= callee.writes
        operands = [o for o in (_pass(self.writer, a) for a in arguments) if o]
        if callee.faults:
            self.faults = True
            operands.append(f"ptr {FAULT}")
        operation = f"call {callee.kind} @{callee.name}({', '.join(operands)})"
        if not callee.returns:
            self.writer.act(operation)
            return TupleValue(())
        register = self.writer.result(operation)
        if len(callee.returns) == 1:
            return self._got(register, callee.returns[0])
        items = []
        for position, number in enumerate(callee.returns):
            item = self.writer.result(f"extractvalue {callee.kind} {register}, {position}")
            items.append(self._got(item, number))
        return TupleValue(tuple(items))

    def _got(self, register: str, number: Number) -> Number:
        if number.is_constant:
            return number
        return Number(register, number.lo, number.hi, number.truth)


@dataclass(frozen=True, slots=True)
class _Place:
    """Something that can be read and stored to."""

    load: Callable[[], Number]
    store: Callable[[Number], None]


def _as_one(numbers: tuple[Number, ...]) -> Value:
    return numbers[0] if len(numbers) == 1 else TupleValue(numbers)


def _declaration(value: Value) -> str:
    """A parameter as it is declared; empty for what is known while compiling."""
    match value:
        case Number(text=text) if not value.is_constant:
            return f"i64 {text}"
        case StateValue(pointer=pointer) | ArrayValue(pointer=pointer):
            return f"ptr {pointer}"
        case SettingsValue(pointer=pointer) if pointer:
            return f"ptr {pointer}"
    return ""


def _pass(writer: Writer, value: Value) -> str:
    """An argument as it is passed."""
    if isinstance(value, Number):
        value = as_argument(value)
        return "" if value.is_constant else f"i64 {writer.as_word(value)}"
    return _declaration(value)
