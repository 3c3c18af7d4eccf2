"""Code generation for fields of a packed state: load, shift, mask.

No unpacked copy exists. An index outside the shape, or a value outside the declared range, raises
the fault: the rule ends there, and the interpreted model turns it into a message. Checks that the
operands' ranges make needless are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from waterline.checker.compiler.emitter import Writer
from waterline.checker.compiler.values import Number, StateValue, constant, number_within
from waterline.model.core.layout import WORD_BITS, Place

Fault = Callable[[Number], None]
"""Ends the rule with a fault where a number is true."""

_SHIFT = WORD_BITS.bit_length() - 1


def read(
    writer: Writer, state: StateValue, place: Place, indices: Sequence[Number], fault: Fault
) -> Number:
    """An element of a field."""
    indices = _inside(writer, place, indices, fault)
    if place.width == 0:
        return constant(place.lo)
    bits, shift = _word_of(writer, state, place, indices)
    if shift != constant(0):
        bits = writer.result(f"lshr i64 {bits}, {shift.text}")
    bits = writer.result(f"and i64 {bits}, {_ones(place)}")
    value = number_within(bits, 0, place.hi - place.lo)
    return writer.combine("add", value, constant(place.lo)) if place.lo else value


def write(
    writer: Writer,
    state: StateValue,
    place: Place,
    indices: Sequence[Number],
    value: Number,
    fault: Fault,
) -> None:
    """Store into an element of a field."""
    indices = _inside(writer, place, indices, fault)
    require(writer, value, place.lo, place.hi, fault)
    if place.width == 0:
        return
    kept = number_within(writer.as_word(value), max(value.lo, place.lo), min(value.hi, place.hi))
    bits = writer.combine("sub", kept, constant(place.lo))
    word, shift = _locate(writer, state, place, indices)
    before = writer.result(f"load i64, ptr {word}")
    if shift.is_constant:
        hole = str(as_signed(~(_ones(place) << shift.lo)))
    else:
        mask = writer.result(f"shl i64 {_ones(place)}, {shift.text}")
        hole = writer.result(f"xor i64 {mask}, -1")
    others = writer.result(f"and i64 {before}, {hole}")
    if bits.is_constant and shift.is_constant:
        moved = str(as_signed(bits.lo << shift.lo))
    else:
        moved = bits.text
        if shift != constant(0):
            moved = writer.result(f"shl i64 {moved}, {shift.text}")
    writer.act(f"store i64 {writer.result(f'or i64 {others}, {moved}')}, ptr {word}")


def _inside(writer: Writer, place: Place, indices: Sequence[Number], fault: Fault) -> list[Number]:
    """The indices, once it is seen that they are within the shape."""
    inside = []
    for index, extent in zip(indices, place.shape, strict=True):
        require(writer, index, 0, extent - 1, fault)
        inside.append(
            number_within(writer.as_word(index), max(index.lo, 0), min(index.hi, extent - 1))
        )
    return inside


def require(writer: Writer, value: Number, lo: int, hi: int, fault: Fault) -> None:
    """Fault unless the value is in the range; one unsigned comparison, where one is needed."""
    if value.within(lo, hi):
        return
    if value.hi < lo or value.lo > hi:
        fault(constant(1))
        return
    if value.lo >= lo:
        fault(writer.compare("sgt", value, constant(hi)))
    elif value.hi <= hi:
        fault(writer.compare("slt", value, constant(lo)))
    else:
        offset = writer.as_word(value)
        if lo:
            offset = writer.result(f"sub i64 {offset}, {lo}")
        register = writer.result(f"icmp ugt i64 {offset}, {hi - lo}")
        fault(Number(register, 0, 1, truth=True))


def _word_of(
    writer: Writer, state: StateValue, place: Place, indices: Sequence[Number]
) -> tuple[str, Number]:
    """Return the word of an element, and the element's shift within it.

    Without branches an index may be outside the shape, if the element is unused; no word but those
    of the state is read then, and no bit is shifted out of it.
    """
    if not writer.flat:
        word, shift = _locate(writer, state, place, indices)
        return writer.result(f"load i64, ptr {word}"), shift
    bit = _bit(writer, place, indices)
    shift = writer.combine("and", bit, constant(WORD_BITS - 1))
    if bit.is_constant or place.word >= 0:
        number = bit.lo // WORD_BITS if bit.is_constant else place.word
        return writer.result(f"load i64, ptr {_word(writer, state, str(number))}"), shift
    at = Number(writer.result(f"lshr i64 {bit.text}, {_SHIFT}"))
    first = place.bit // WORD_BITS
    found = Number(writer.result(f"load i64, ptr {_word(writer, state, str(first))}"))
    for number in range(first + 1, (place.bit + place.row * place.shape[0] - 1) // WORD_BITS + 1):
        other = Number(writer.result(f"load i64, ptr {_word(writer, state, str(number))}"))
        found = writer.select(writer.compare("eq", at, constant(number)), other, found)
    return found.text, shift


def _bit(writer: Writer, place: Place, indices: Sequence[Number]) -> Number:
    bit = constant(place.bit)
    for index, stride in zip(indices, (place.row, place.column), strict=False):
        bit = writer.combine("add", bit, writer.combine("mul", index, constant(stride)))
    return bit


def _locate(
    writer: Writer, state: StateValue, place: Place, indices: Sequence[Number]
) -> tuple[str, Number]:
    """Pointer to the word of an element, and the element's shift within it."""
    bit = _bit(writer, place, indices)
    if bit.is_constant:
        number, place_in_word = divmod(bit.lo, WORD_BITS)
        return _word(writer, state, str(number)), constant(place_in_word)
    if place.word >= 0:
        first = constant(place.word * WORD_BITS)
        return _word(writer, state, str(place.word)), writer.combine("sub", bit, first)
    word = writer.result(f"lshr i64 {bit.text}, {_SHIFT}")
    return _word(writer, state, word), writer.combine("and", bit, constant(WORD_BITS - 1))


def _word(writer: Writer, state: StateValue, number: str) -> str:
    if number == "0":
        return state.pointer
    return writer.result(f"getelementptr i64, ptr {state.pointer}, i64 {number}")


def _ones(place: Place) -> int:
    return (1 << place.width) - 1


def as_signed(word: int) -> int:
    """The bits of a word as a number with a sign."""
    word &= (1 << WORD_BITS) - 1
    return word - (1 << WORD_BITS) if word >> WORD_BITS - 1 else word
