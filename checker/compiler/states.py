"""State handling in generated loops: unpack, copy, pack.

These are the only operations that no rule has. Each is written out in place.
"""

from __future__ import annotations

from typing import Any

from waterline.checker.compiler import machine_words
from waterline.checker.compiler.content import Intrinsic
from waterline.checker.compiler.emitter import Writer
from waterline.checker.compiler.expressions import Expressions
from waterline.checker.compiler.function_ir import FAULT
from waterline.checker.compiler.if_conversion import Flat
from waterline.checker.compiler.resolution import Known
from waterline.checker.compiler.source import source_of
from waterline.checker.compiler.values import (
    ArrayValue,
    Number,
    StateValue,
    TupleValue,
    Value,
    constant,
)
from waterline.model.core.layout import Layout


def intrinsics(layout: Layout) -> dict[str, Intrinsic]:
    """The operations on states of this layout, by name."""
    regions: dict[tuple[int, str], Flat] = {}
    not_flat: set[int] = set()
    raised_last = [constant(0)]

    def flat(e: Expressions, arguments: list[Value]) -> Value:
        """`flat(number, rule, ...)`: a rule without branches; true if it cannot be written so.

        `raised()` is true if one faults, and `sure(number)` if it could be written.
        """
        number, rule, *given = arguments
        assert isinstance(number, Number)
        assert isinstance(rule, Known)
        region = regions.setdefault(
            (id(e.writer), e.writer.block), Flat(e.writer, e.table, e.lookups)
        )
        outcome = region.try_call(source_of(rule.thing), given)
        if outcome is None:
            not_flat.add(number.lo)
            raised_last[0] = constant(0)
            return constant(1)
        raised_last[0] = outcome[1]
        return outcome[0]

    def raised(e: Expressions, arguments: list[Value]) -> Value:
        """True if the last `flat` faults."""
        return raised_last[0]

    def sure(e: Expressions, arguments: list[Value]) -> Value:
        """True if no `flat` of this number had to be left to its form with branches."""
        (number,) = arguments
        assert isinstance(number, Number)
        return constant(number.lo not in not_flat)

    def state_at(e: Expressions, arguments: list[Value]) -> Value:
        """Return a read-only copy of a row."""
        rows, row = arguments
        assert isinstance(rows, ArrayValue)
        assert isinstance(row, Number)
        pointer = _row(e.writer, rows, row)
        return StateValue(_copy_of(e.writer, layout, pointer), layout, writable=False)

    def copy_of(e: Expressions, arguments: list[Value]) -> Value:
        """A copy of a state, to be written to."""
        (state,) = arguments
        assert isinstance(state, StateValue)
        return StateValue(_copy_of(e.writer, layout, state.pointer), layout, writable=True)

    def any_of(e: Expressions, arguments: list[Value]) -> Value:
        """A number, known only to be less than another."""
        number, count = arguments
        assert isinstance(number, Number)
        assert isinstance(count, Number)
        return Number(number.text, number.lo, number.hi, turns=(0, count.hi - 1))

    def put(e: Expressions, arguments: list[Value]) -> Value:
        """Write a state to a row."""
        state, rows, row = arguments
        assert isinstance(state, StateValue)
        assert isinstance(rows, ArrayValue)
        assert isinstance(row, Number)
        _copy(e.writer, layout, state.pointer, _row(e.writer, rows, row))
        return TupleValue(())

    def faulted(e: Expressions, arguments: list[Value]) -> Value:
        """True if anything was out of range so far."""
        flag = e.writer.result(f"load i8, ptr {FAULT}")
        return Number(e.writer.result(f"icmp ne i8 {flag}, 0"), 0, 1, truth=True)

    def lower_fault(e: Expressions, arguments: list[Value]) -> Value:
        """Forget it."""
        e.writer.act(f"store i8 0, ptr {FAULT}")
        return TupleValue(())

    def raise_fault(e: Expressions, arguments: list[Value]) -> Value:
        """Take note that something is out of range."""
        e.writer.act(f"store i8 1, ptr {FAULT}")
        return TupleValue(())

    written: dict[str, Any] = {
        "flat": flat,
        "raised": raised,
        "sure": sure,
        "state_at": state_at,
        "copy_of": copy_of,
        "put": put,
        "any_of": any_of,
        "faulted": faulted,
        "raise_fault": raise_fault,
        "lower_fault": lower_fault,
    }
    shared = {"room": machine_words.room, "lowest": machine_words.lowest}
    return {**shared, **{name: Intrinsic(write) for name, write in written.items()}}


def _row(writer: Writer, rows: ArrayValue, row: Number) -> str:
    assert rows.columns is not None
    first = writer.as_word(writer.combine("mul", row, constant(rows.columns)))
    return writer.result(f"getelementptr i64, ptr {rows.pointer}, i64 {first}")


def _copy_of(writer: Writer, layout: Layout, pointer: str) -> str:
    slot = writer.slot("state", count=layout.words)
    _copy(writer, layout, pointer, slot)
    return slot


def _copy(writer: Writer, layout: Layout, source: str, target: str) -> None:
    for w in range(layout.words):
        there = writer.result(f"getelementptr i64, ptr {source}, i64 {w}")
        here = writer.result(f"getelementptr i64, ptr {target}, i64 {w}")
        writer.act(f"store i64 {writer.result(f'load i64, ptr {there}')}, ptr {here}")
