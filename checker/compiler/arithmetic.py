"""Integer arithmetic with Python's meaning, and range analysis of its results.

A number that does not fit 64 bits is a fault; the check is left out if the operands' ranges rule it
out. A shift by less than zero, or left by more than 63, and division by zero are faults too, as
they are exceptions in Python or would leave 64 bits.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waterline.checker.compiler import fields
from waterline.checker.compiler.emitter import NotFlat, Writer, range_of
from waterline.checker.compiler.values import GREATEST, LEAST, Number, constant, number_within
from waterline.model.core.layout import WORD_BITS
from waterline.model.core.machine_numbers import fits

_PLAIN = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "&": "and",
    "|": "or",
    "^": "xor",
}
_CAN_LEAVE = {"add", "sub", "mul"}


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Writes operations. In `trusted` text shifts are by no more than there are bits; with `wraps`
    a number may leave 64 bits.
    """

    writer: Writer
    fault: fields.Fault
    trusted: bool
    wraps: bool

    def operate(self, operator: str, left: Number, right: Number) -> Number:
        """`left operator right`."""
        match operator:
            case "<<":
                return self._shifted_left(left, right)
            case ">>":
                return self._shifted_right(left, right)
            case "//":
                return self._divide(left, right)[0]
            case "%":
                return self._divide(left, right)[1]
        return self._combine(_PLAIN[operator], left, right)

    def call_builtin(self, function: Any, numbers: list[Number]) -> Number | None:
        """A built-in function of these numbers; None where it is not given as many as it takes."""
        match function.__name__, numbers:
            case "min", [first, *others] if others:
                return self._extreme(self.writer.lesser, first, others)
            case "max", [first, *others] if others:
                return self._extreme(self.writer.greater, first, others)
            case "abs", [number]:
                return self._absolute(number)
            case "int", [number]:
                return number
            case "bool", [number]:
                return self.writer.truth_of(number)
        return None

    def opposite(self, number: Number) -> Number:
        """`-number`"""
        return self._combine("sub", constant(0), number)

    def _combine(self, operator: str, left: Number, right: Number) -> Number:
        """Combine two numbers; fault if the result does not fit."""
        lo, hi = range_of(operator, left, right)
        if self.wraps or operator not in _CAN_LEAVE or (fits(lo) and fits(hi)):
            return self.writer.combine(operator, left, right)
        if hi < LEAST or lo > GREATEST:
            return self._never()
        one, other = self.writer.as_word(left), self.writer.as_word(right)
        both = self.writer.result(
            f"call {{i64, i1}} @llvm.s{operator}.with.overflow.i64(i64 {one}, i64 {other})"
        )
        result = self.writer.result(f"extractvalue {{i64, i1}} {both}, 0")
        left_over = self.writer.result(f"extractvalue {{i64, i1}} {both}, 1")
        self.fault(Number(left_over, 0, 1, truth=True))
        return number_within(result, max(lo, LEAST), min(hi, GREATEST))

    def _never(self) -> Number:
        """Fault, and return a placeholder for the number."""
        self.fault(constant(1))
        return constant(0)

    def require(self, value: Number, lo: int, hi: int) -> None:
        """Fault unless the number is in the range."""
        fields.require(self.writer, value, lo, hi, self.fault)

    @staticmethod
    def _extreme(of_two: Any, first: Number, others: list[Number]) -> Number:
        found = first
        for number in others:
            found = of_two(found, number)
        return found

    def _absolute(self, number: Number) -> Number:
        """`abs(number)`, which the least one has not."""
        if number.lo == LEAST and not self.wraps:
            self.fault(self.writer.compare("eq", number, constant(LEAST)))
            if number.is_constant:
                return constant(0)
            number = number_within(number.text, LEAST + 1, number.hi)
        return self._magnitude(number)

    def _magnitude(self, number: Number) -> Number:
        """The absolute value, as 64 bits without a sign."""
        negative = self.writer.compare("slt", number, constant(0))
        opposite = self.writer.combine("sub", constant(0), number)
        found = self.writer.select(negative, opposite, number)
        if found.truth or number.lo == LEAST:
            return found
        return number_within(found.text, max(found.lo, 0), found.hi)

    def bits_of(self, number: Number) -> Number:
        """`number.bit_count()`: how many ones there are in its absolute value."""
        positive = self.writer.as_word(self._magnitude(number) if number.lo < 0 else number)
        register = self.writer.result(f"call i64 @llvm.ctpop.i64(i64 {positive})")
        most = max(abs(number.lo), abs(number.hi)).bit_length()
        return number_within(register, 0, most)

    def _shifted_left(self, left: Number, right: Number) -> Number:
        self._require_shift(right, WORD_BITS - 1)
        if right.hi < 0 or right.lo >= WORD_BITS:
            # Surely a fault. Python's own shift may need any memory; LLVM's is poison.
            return constant(0)
        by = self._bits(right)
        low, high = max(by.lo, 0), max(0, min(by.hi, WORD_BITS - 1))
        corners = [edge << bits for edge in (left.lo, left.hi) for bits in (low, high)]
        one, other = self.writer.as_word(left), self.writer.as_word(by)
        if left.is_constant and low == high and fits(corners[0]):
            return constant(corners[0])
        lo, hi = min(corners), max(corners)
        most = max(0, min(right.hi, WORD_BITS - 1))  # by more it is a fault
        if self.wraps or all(fits(edge << most) for edge in (left.lo, left.hi)):
            return number_within(self.writer.result(f"shl i64 {one}, {other}"), lo, hi)
        if hi < LEAST or lo > GREATEST:
            return self._never()
        register = self.writer.result(f"shl i64 {one}, {other}")
        back = Number(self.writer.result(f"ashr i64 {register}, {other}"))
        self.fault(self.writer.compare("ne", back, Number(one)))
        return number_within(register, max(lo, LEAST), min(hi, GREATEST))

    def _shifted_right(self, left: Number, right: Number) -> Number:
        self._require_shift(right, GREATEST)
        if right.hi < 0:  # surely a fault; LLVM's own shift is poison
            return constant(0)
        by = self._bits(self.writer.lesser(right, constant(WORD_BITS - 1)))
        low, high = max(by.lo, 0), max(by.hi, 0)
        corners = [edge >> bits for edge in (left.lo, left.hi) for bits in (low, high)]
        if left.is_constant and low == high:
            return constant(corners[0])
        one, other = self.writer.as_word(left), self.writer.as_word(by)
        register = self.writer.result(f"ashr i64 {one}, {other}")
        return number_within(register, min(corners), max(corners))

    def _require_shift(self, by: Number, most: int) -> None:
        """Fault where a number cannot be shifted by so many bits."""
        if not self.trusted:
            self.require(by, 0, most)

    def _bits(self, by: Number) -> Number:
        """Return the shift count for the processor, at most the bits of a word, even where the
        result is unused.
        """
        if by.is_constant or not (self.trusted or self.writer.flat):
            return by
        return self.writer.combine("and", by, constant(WORD_BITS - 1))

    def _divide(self, left: Number, right: Number) -> tuple[Number, Number]:
        """Quotient and rest, rounded as Python does: down, the rest having the divisor's sign."""
        writer = self.writer
        if writer.flat and not (right.is_constant and right.lo > 0):
            raise NotFlat
        self.fault(writer.compare("eq", right, constant(0)))
        if right == constant(0):
            return constant(0), constant(0)
        if left.is_constant and right.is_constant:
            whole, over = divmod(left.lo, right.lo)
            return constant(whole) if fits(whole) else self._never(), constant(over)
        if left.lo == LEAST and right.lo <= -1 <= right.hi:
            # The processor traps: the quotient needs one bit more.
            least = writer.compare("eq", left, constant(LEAST))
            self.fault(writer.both(least, writer.compare("eq", right, constant(-1))))
        if left.lo >= 0 and right.lo >= 0:
            return self._divided_positive(left, right)
        one, other = writer.as_word(left), writer.as_word(right)
        cut = Number(writer.result(f"sdiv i64 {one}, {other}"))
        left_over = Number(writer.result(f"srem i64 {one}, {other}"))
        apart = writer.compare("slt", writer.combine("xor", left_over, right), constant(0))
        down = writer.both(writer.compare("ne", left_over, constant(0)), apart)
        quotient = Number(writer.result(f"sub i64 {cut.text}, {writer.as_word(down)}"))
        raised = Number(writer.result(f"add i64 {left_over.text}, {other}"))
        rest = writer.select(down, raised, left_over)
        most = max(abs(right.lo), abs(right.hi))
        return quotient, number_within(
            rest.text, 0 if right.lo > 0 else -most, 0 if right.hi < 0 else most
        )

    def _divided_positive(self, left: Number, right: Number) -> tuple[Number, Number]:
        one, other = self.writer.as_word(left), self.writer.as_word(right)
        quotient = self.writer.result(f"udiv i64 {one}, {other}")
        rest = self.writer.result(f"urem i64 {one}, {other}")
        return (
            number_within(quotient, 0, left.hi),
            number_within(rest, 0, min(left.hi, max(right.hi - 1, 0))),
        )
