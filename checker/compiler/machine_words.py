"""Intrinsics of the checker's own compiled functions: unsigned words, pointers, atomics.

Rules and claims have none of it. Each is written out in place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from waterline.checker.compiler.content import Intrinsic
from waterline.checker.compiler.expressions import Expressions
from waterline.checker.compiler.values import (
    ArrayValue,
    Number,
    TupleValue,
    Value,
    constant,
    number_within,
)
from waterline.model.core.layout import WORD_BITS

_NEAR_IN_TIME = 3
"""LLVM's locality of what is wanted in all caches."""


def _numbers(*values: Value) -> list[Number]:
    assert all(isinstance(value, Number) for value in values)
    return [value for value in values if isinstance(value, Number)]


def _shifted(e: Expressions, arguments: list[Value]) -> Value:
    """`shifted(word, bits)`: to the right, zeros coming in; by less than 64."""
    word, by = _numbers(*arguments)
    register = e.writer.result(f"lshr i64 {e.writer.as_word(word)}, {e.writer.as_word(by)}")
    most = (1 << WORD_BITS) - 1 >> by.lo if by.is_constant and by.lo else None
    return Number(register) if most is None else number_within(register, 0, most)


def _divided(e: Expressions, arguments: list[Value]) -> Value:
    """`divided(a, b)`: the quotient of words without a sign, rounded down; b is not zero."""
    left, right = (e.writer.as_word(number) for number in _numbers(*arguments))
    return Number(e.writer.result(f"udiv i64 {left}, {right}"))


def _below(e: Expressions, arguments: list[Value]) -> Value:
    """`below(a, b)`: `a < b`, both taken as words without a sign."""
    left, right = (e.writer.as_word(number) for number in _numbers(*arguments))
    return Number(e.writer.result(f"icmp ult i64 {left}, {right}"), 0, 1, truth=True)


def _lowest(e: Expressions, arguments: list[Value]) -> Value:
    """`lowest(word)`: the number of the lowest one among the bits of a word that is not zero."""
    (word,) = _numbers(*arguments)
    register = e.writer.result(f"call i64 @llvm.cttz.i64(i64 {e.writer.as_word(word)}, i1 true)")
    return Number(register, 0, WORD_BITS - 1)


def _room(e: Expressions, arguments: list[Value]) -> Value:
    """`room(n)`: an array of so many numbers on the stack, which are not set yet."""
    (count,) = _numbers(*arguments)
    return ArrayValue(e.writer.slot("room", count=count.hi), "i64")


def _pointer(e: Expressions, address: Value) -> str:
    (number,) = _numbers(address)
    return e.writer.result(f"inttoptr i64 {e.writer.as_word(number)} to ptr")


def _rows_at(e: Expressions, arguments: list[Value]) -> Value:
    """`rows_at(address, words)`: a block of states of so many words."""
    address, words = arguments
    (columns,) = _numbers(words)
    return ArrayValue(_pointer(e, address), "i64", columns.hi)


def _slots_at(e: Expressions, arguments: list[Value]) -> Value:
    """`slots_at(address)`: an array of 32-bit numbers."""
    (address,) = arguments
    return ArrayValue(_pointer(e, address), "i32")


def _halves_at(e: Expressions, arguments: list[Value]) -> Value:
    """`halves_at(address)`: an array of 16-bit numbers."""
    (address,) = arguments
    return ArrayValue(_pointer(e, address), "i16")


def _words_at(e: Expressions, arguments: list[Value]) -> Value:
    """`words_at(address)`: an array of 64-bit numbers."""
    (address,) = arguments
    return ArrayValue(_pointer(e, address), "i64")


def _bytes_at(e: Expressions, arguments: list[Value]) -> Value:
    """`bytes_at(address)`: an array of bytes, such as flags are kept in."""
    (address,) = arguments
    return ArrayValue(_pointer(e, address), "i8")


def _element(e: Expressions, array: Value, *indices: Value) -> tuple[str, str]:
    """Kind and place of an element, or of the first word of a row."""
    assert isinstance(array, ArrayValue)
    number, *column = _numbers(*indices)
    if array.columns is not None:
        number = e.writer.combine("mul", number, constant(array.columns))
    for offset in column:
        number = e.writer.combine("add", number, offset)
    at = e.writer.as_word(number)
    place = e.writer.result(f"getelementptr {array.element}, ptr {array.pointer}, i64 {at}")
    return array.element, place


def _prefetch(e: Expressions, arguments: list[Value]) -> Value:
    """`prefetch(array, i)`: ask the processor to bring an element, or a row, into its cache."""
    _, place = _element(e, *arguments)
    e.writer.act(f"call void @llvm.prefetch.p0(ptr {place}, i32 0, i32 {_NEAR_IN_TIME}, i32 1)")
    return TupleValue(())


def _narrow(e: Expressions, kind: str, number: Value) -> str:
    (whole,) = _numbers(number)
    word = e.writer.as_word(whole)
    return word if kind == "i64" else e.writer.result(f"trunc i64 {word} to {kind}")


def _seen(e: Expressions, arguments: list[Value]) -> Value:
    """`seen(array, i)`, `seen(array, i, j)`: what another thread may have published just now."""
    kind, place = _element(e, *arguments)
    size = int(kind[1:]) // 8
    register = e.writer.result(f"load atomic {kind}, ptr {place} acquire, align {size}")
    if kind == "i64":
        return Number(register)
    return number_within(e.writer.result(f"zext {kind} {register} to i64"), 0, (1 << 8 * size) - 1)


def _publish(e: Expressions, arguments: list[Value]) -> Value:
    """`publish(array, i, value)`: who sees it sees all that was written before."""
    array, index, value = arguments
    kind, place = _element(e, array, index)
    word = _narrow(e, kind, value)
    e.writer.act(f"store atomic {kind} {word}, ptr {place} release, align {int(kind[1:]) // 8}")
    return TupleValue(())


def _claim(e: Expressions, arguments: list[Value]) -> Value:
    """`claim(array, i, old, new)`: replace `old`; false if another thread was first."""
    array, index, old, new = arguments
    kind, place = _element(e, array, index)
    before, after = _narrow(e, kind, old), _narrow(e, kind, new)
    pair = e.writer.result(
        f"cmpxchg ptr {place}, {kind} {before}, {kind} {after} acquire monotonic"
    )
    done = e.writer.result(f"extractvalue {{ {kind}, i1 }} {pair}, 1")
    return Number(done, 0, 1, truth=True)


def _address_of(e: Expressions, arguments: list[Value]) -> Value:
    """`address_of(array, i)`: where an element is."""
    _, place = _element(e, *arguments)
    return Number(e.writer.result(f"ptrtoint ptr {place} to i64"))


def _call_at(e: Expressions, arguments: list[Value]) -> Value:
    """`call_at(address, ...)`: a compiled function by its address; addresses are its pointers."""
    function, *given = _numbers(*arguments)
    pointer = _pointer(e, function)
    operands = ", ".join(f"i64 {e.writer.as_word(number)}" for number in given)
    return Number(e.writer.result(f"call i64 {pointer}({operands})"))


def _intrinsic(write: Callable[[Expressions, list[Value]], Value]) -> Any:
    return Intrinsic(write)


shifted = _intrinsic(_shifted)
divided = _intrinsic(_divided)
below = _intrinsic(_below)
lowest = _intrinsic(_lowest)
room = _intrinsic(_room)
rows_at = _intrinsic(_rows_at)
slots_at = _intrinsic(_slots_at)
halves_at = _intrinsic(_halves_at)
words_at = _intrinsic(_words_at)
bytes_at = _intrinsic(_bytes_at)
prefetch = _intrinsic(_prefetch)
seen = _intrinsic(_seen)
publish = _intrinsic(_publish)
claim = _intrinsic(_claim)
address_of = _intrinsic(_address_of)
call_at = _intrinsic(_call_at)
