"""Code generation for one function, specialised for the kinds of its arguments.

Statements become blocks. What is decided by the settings, or by the range of a number, is decided
here, so that a rule that a version does not have is not even looked at.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from checker.compiler import fields
from checker.compiler.arguments import declared, passed
from checker.compiler.emitter import Writer
from checker.compiler.expressions import Expressions
from checker.compiler.function_ir import FAULT, FAULTED, Returns, Written
from checker.compiler.resolution import Lookups
from checker.compiler.scope import Ranges, Scope, changing_names, steady_names
from checker.compiler.source import Source
from checker.compiler.values import (
    GREATEST,
    LEAST,
    ArrayValue,
    FieldValue,
    Number,
    StateValue,
    TupleValue,
    Value,
    constant,
    ranged,
)
from model.core.machine_numbers import ROUNDS_MAX

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
    """Whether the text is the checker's own: no range is looked for, nothing is checked."""
    writer: Writer = field(default_factory=Writer)
    faults: bool = False
    writes: bool = False
    calls: list[Written] = field(default_factory=list)
    _loops: list[_Loop] = field(default_factory=list)
    _limited: bool = field(init=False, default=False)
    """Whether numbers may not leave 64 bits, and loops have an end."""
    _may_loop: bool = field(init=False, default=False)
    """Whether there is a `while`: then the rounds of all loops are counted, in `_rounds`."""
    _rounds: str = field(init=False, default="")
    _returns: Returns = field(init=False)
    scope: Scope = field(init=False)
    expressions: Expressions = field(init=False)

    def write(self, name: str, arguments: Sequence[Value], ranges: Ranges) -> Written:
        """The function for these arguments, were its variables to lie in these ranges."""
        tree = self.source.tree
        changing = changing_names(tree)
        self._limited = not (self.trusted or self.source.wraps)
        self._may_loop = any(isinstance(node, ast.While) for node in ast.walk(tree))
        if self.trusted:
            ranges = dict.fromkeys(changing, (LEAST, GREATEST))  # they are not worth a second run
        self.scope = Scope(self.writer, changing, dict(ranges))
        if self._limited:
            self.scope.steady = steady_names(tree)
        self._returns = Returns(self.writer)
        self.expressions = Expressions(
            self.source,
            self.writer,
            self.scope,
            self._fault,
            self._called,
            self.table,
            self.lookups,
            trusted=self.trusted,
        )
        spare = [*tree.args.posonlyargs, *tree.args.kwonlyargs]
        if spare or tree.args.vararg or tree.args.kwarg or tree.decorator_list:
            raise self.source.refuse(
                tree, "it has a decorator, or parameters with *, ** or /", "use plain parameters"
            )
        for parameter, argument in zip(tree.args.args, arguments, strict=True):
            if not self.scope.assign(parameter.arg, argument):
                raise self.source.refuse(
                    tree, f"it changes its parameter `{parameter.arg}`", "use another name"
                )
        if self.comment:
            self.writer.lines.append(f"  ; {self.source.place}")
        self._block(tree.body)
        if self.writer.block:
            self._return(tree, ())
        returns = self._returns.fill_in(faults=self.faults)
        return Written(
            name,
            tuple(declared(argument) for argument in arguments if declared(argument)),
            returns,
            self.faults,
            self.writes,
            ("entry:", *self.writer.slots, *(line for line in self.writer.lines if line)),
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

    def _return(self, node: ast.AST, numbers: tuple[Number, ...]) -> None:
        if not self._returns.add(numbers):
            raise self.source.refuse(
                node, "it returns sometimes more, sometimes less", "return as many in each place"
            )

    # --- statements ------------------------------------------------------------------------------

    def _block(self, statements: Sequence[ast.stmt]) -> None:
        """Statements in order, up to one that nothing gets beyond."""
        for statement in statements:
            if not self.writer.block:
                return
            if self.comment and not isinstance(statement, ast.Expr):
                text = ast.unparse(statement).splitlines()[0]
                self.writer.lines.append(f"  ; {statement.lineno}: {text}")
            self._statement(statement)

    def _statement(self, node: ast.stmt) -> None:
        match node:
            case ast.Return(value=None):
                self._return(node, ())
            case ast.Return(value=ast.expr() as value):
                self._return(node, self._numbers(value))
            case ast.Assign():
                value_ = self.expressions.value(node.value)
                for target in node.targets:
                    self._assign(target, value_)
            case ast.AnnAssign(value=ast.expr() as value):
                self._assign(node.target, self.expressions.value(value))
            case ast.AugAssign():
                self._augmented(node)
            case ast.If():
                self._if(node)
            case ast.While():
                self._while(node)
            case ast.For():
                self._for(node)
            case ast.Break():
                self.writer.jump(self._loops[-1].after)
            case ast.Continue():
                self.writer.jump(self._loops[-1].again)
            case ast.Expr(value=ast.Constant()) | ast.Pass():
                pass  # a docstring
            case ast.Expr(value=ast.Call() as value):
                self.expressions.value(value)
            case _:
                raise self.source.refuse(
                    node,
                    f"there is no compiled form of `{ast.unparse(node).splitlines()[0]}`",
                    "use assignments, if, while, for over a range, break, continue, return, calls",
                )

    def _numbers(self, node: ast.expr) -> tuple[Number, ...]:
        """What is returned: a number, or a tuple of them."""
        value = self.expressions.value(node)
        items = value.items if isinstance(value, TupleValue) else (value,)
        numbers = tuple(item for item in items if isinstance(item, Number))
        if len(numbers) != len(items):
            raise self.source.refuse(
                node, f"`{ast.unparse(node)}` is returned", "return numbers and tuples of numbers"
            )
        return numbers

    def _assign(self, target: ast.expr, value: Value) -> None:
        match target:
            case ast.Name():
                if isinstance(value, TupleValue) or not self.scope.assign(target.id, value):
                    raise self.source.refuse(
                        target, f"`{target.id}` would be no number", "use a name for each number"
                    )
            case ast.Tuple():
                if not isinstance(value, TupleValue) or len(value.items) != len(target.elts):
                    raise self.source.refuse(
                        target, "what is assigned has another length", "use a name for each"
                    )
                for each, item in zip(target.elts, value.items, strict=True):
                    self._assign(each, item)
            case ast.Attribute() | ast.Subscript():
                place = self._place(target)
                if not isinstance(value, Number):
                    raise self.source.refuse(target, "no number is stored", "store a number")
                place.store(value)
            case _:
                raise self.source.refuse(
                    target, f"`{ast.unparse(target)}` is assigned to", "assign to names and fields"
                )

    def _augmented(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            name = ast.Name(node.target.id, ast.Load())
            before = self.expressions.number(ast.copy_location(name, node.target))
            after = self._operated(node, before)
            self._assign(node.target, self.scope.counted(node.target.id, after))
            return
        place = self._place(node.target)
        place.store(self._operated(node, place.load()))

    def _operated(self, node: ast.AugAssign, before: Number) -> Number:
        return self.expressions.operated(node, node.op, before, self.expressions.number(node.value))

    def _place(self, node: ast.expr) -> _Place:
        """What an assignment to a field or an element writes to; its indices are looked at once."""
        if isinstance(node, ast.Attribute):
            state = self.expressions.value(node.value)
            if isinstance(state, StateValue) and node.attr in state.layout.places:
                place = state.layout.places[node.attr]
                if not place.shape:
                    return self._field(node, state, place, [])
        if isinstance(node, ast.Subscript):
            rows = self.expressions.value(node.value)
            if isinstance(rows, FieldValue):
                indices = self.expressions.indices(node, rows.place.shape)
                return self._field(node, rows.state, rows.place, indices)
            if isinstance(rows, ArrayValue):
                return self._cell(rows, self.expressions.array_place(rows, node))
        raise self.source.refuse(
            node, f"`{ast.unparse(node)}` is assigned to", "assign to names and fields of the state"
        )

    def _field(self, node: ast.AST, state: StateValue, place: Any, indices: list[Number]) -> _Place:
        if not state.writable:
            raise self.source.refuse(
                node,
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

    def _if(self, node: ast.If) -> None:
        writer, scope = self.writer, self.scope
        then, otherwise, after = writer.name("then"), writer.name("else"), writer.name("after")
        before = scope.snapshot()
        when, unless = self.expressions.conditions.branched(node.test, then, otherwise)
        ways = []
        for block, statements, ranges in (
            (then, node.body, when),
            (otherwise, node.orelse, unless),
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

    def _while(self, node: ast.While) -> None:
        if node.orelse:
            raise self.source.refuse(node, "`else` after a loop", "use a variable")
        writer, scope = self.writer, self.scope
        test, body, after = writer.name("while"), writer.name("do"), writer.name("after")
        before = scope.snapshot()
        writer.begin(test)
        calls = len(self.calls)
        when, _ = self.expressions.conditions.branched(node.test, body, after)
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

    def _for(self, node: ast.For) -> None:
        if node.orelse:
            raise self.source.refuse(node, "`else` after a loop", "use a variable")
        if not isinstance(node.target, ast.Name):
            raise self.source.refuse(node, "a loop over several names", "loop over one number")
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
        self._assign(node.target, ranged(at, first, last))
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
        self._fault(writer.both(writer.compared("slt", low, high), too_long))

    def _count_round(self) -> None:
        """Fault after too many rounds, in a function that has a `while`."""
        if not (self._limited and self._may_loop):
            return
        writer = self.writer
        if not self._rounds:
            self._rounds = writer.slot("rounds")
            writer.slots.append(f"  store i64 0, ptr {self._rounds}")
        before = Number(writer.result(f"load i64, ptr {self._rounds}"), 0, ROUNDS_MAX)
        self._fault(writer.compared("sge", before, constant(ROUNDS_MAX)))
        after = writer.result(f"add i64 {before.text}, 1")
        writer.act(f"store i64 {after}, ptr {self._rounds}")

    def _turns(self, node: ast.For, start: Number, stop: Number, turns: range) -> None:
        """A loop of few turns, written out turn by turn: in each the counter is known."""
        writer, scope = self.writer, self.scope
        after = writer.name("after")
        before = scope.snapshot()
        for turn in turns:
            at, body, again = constant(turn), writer.name("turn"), writer.name("again")
            if turn >= stop.lo:
                writer.branch(writer.compared("slt", at, stop), body, after)
                if not writer.begin(body):
                    break
                body = writer.name("turn")
            if turn < start.hi:
                writer.branch(writer.compared("sle", start, at), body, again)
                writer.begin(body)
            if writer.block:
                counter = Number(at.text, turn, turn, turns=(turns[0], turns[-1]))
                if self.trusted:
                    counter = at  # a guard is written anew for each of its arguments
                self._assign(node.target, counter)
                self._count_round()
                self._loops.append(_Loop(again, after))
                self._block(node.body)
                self._loops.pop()
            scope.restore(before)
            if not writer.begin(again):
                break
        scope.restore(before)
        writer.begin(after)

    def _range(self, node: ast.For) -> tuple[Number, Number, int]:
        """Start, stop and step of the range that a loop goes over."""
        match node.iter:
            case ast.Call(func=called, args=[_, *_] as given, keywords=[]) if (
                self.expressions.is_range(called)
            ):
                numbers = [self.expressions.number(argument) for argument in given]
            case _:
                numbers = []
        if not 1 <= len(numbers) <= 3:
            raise self.source.refuse(
                node, "a loop over something else than a range", "write `for i in range(...)`"
            )
        step = numbers[2] if len(numbers) == 3 else constant(1)
        if not step.is_constant or step.lo == 0:
            raise self.source.refuse(
                node, "a step that is not known, or zero", "use a constant that is not zero"
            )
        start = numbers[0] if len(numbers) > 1 else constant(0)
        return start, numbers[1] if len(numbers) > 1 else numbers[0], step.lo

    # --- calls -----------------------------------------------------------------------------------

    def _called(self, function: Source, arguments: list[Value]) -> Value:
        """A call of another function; one that always comes to the same is not called at all."""
        callee = self.call(function, arguments)
        known = all(number.is_constant for number in callee.returns)
        if callee.returns and known and not callee.faults and not callee.writes:
            return _as_one(callee.returns)
        self.calls.append(callee)
        self.writes |= callee.writes
        operands = [o for o in (passed(self.writer, a) for a in arguments) if o]
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
