"""Whole numbers as Python has them: floor division, shifts, the extremes, with ranges.

Overflow is the one exception: where a number does not fit 64 bits it wraps. A shift by less than
zero, or left by more than 63, and division by zero are faults, as they are exceptions in Python or
would leave 64 bits.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any

from checker.compiled import fields
from checker.compiled.values import GREATEST, LEAST, Number, constant, ranged
from checker.compiled.writer import NotFlat, Writer
from model.kit.layout import WORD_BITS

_PLAIN = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}


def fits(value: int) -> bool:
    """Whether a number fits 64 bits."""
    return LEAST <= value <= GREATEST


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """Writes operations. In `trusted` text shifts are by no more than there are bits."""

    writer: Writer
    fault: fields.Fault
    trusted: bool

    def operated(self, operator: ast.operator, left: Number, right: Number) -> Number | None:
        """`left operator right`; None for an operator that there is not."""
        if type(operator) in _PLAIN:
            return self.writer.combined(_PLAIN[type(operator)], left, right)
        match operator:
            case ast.LShift():
                return self._shifted_left(left, right)
            case ast.RShift():
                return self._shifted_right(left, right)
            case ast.FloorDiv():
                return self._divided(left, right)[0]
            case ast.Mod():
                return self._divided(left, right)[1]
        return None

    def called(self, function: Any, numbers: list[Number]) -> Number | None:
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
        negative = self.writer.compared("slt", number, constant(0))
        opposite = self.writer.combined("sub", constant(0), number)
        found = self.writer.chosen(negative, opposite, number)
        if found.truth or number.lo == LEAST:
            return found
        return ranged(found.text, max(found.lo, 0), found.hi)

    def bits_of(self, number: Number) -> Number:
        """`number.bit_count()`: how many ones there are in its absolute value."""
        positive = self.writer.as_word(self._absolute(number) if number.lo < 0 else number)
        register = self.writer.result(f"call i64 @llvm.ctpop.i64(i64 {positive})")
        most = max(abs(number.lo), abs(number.hi)).bit_length()
        return ranged(register, 0, most)

    def _shifted_left(self, left: Number, right: Number) -> Number:
        self._required(right, WORD_BITS - 1)
        by = self._bits(right)
        low, high = max(by.lo, 0), max(0, min(by.hi, WORD_BITS - 1))
        corners = [edge << bits for edge in (left.lo, left.hi) for bits in (low, high)]
        one, other = self.writer.as_word(left), self.writer.as_word(by)
        if left.is_constant and low == high and fits(corners[0]):
            return constant(corners[0])
        register = self.writer.result(f"shl i64 {one}, {other}")
        return ranged(register, min(corners), max(corners))

    def _shifted_right(self, left: Number, right: Number) -> Number:
        self._required(right, GREATEST)
        by = self._bits(self.writer.lesser(right, constant(WORD_BITS - 1)))
        low, high = max(by.lo, 0), max(by.hi, 0)
        corners = [edge >> bits for edge in (left.lo, left.hi) for bits in (low, high)]
        if left.is_constant and low == high:
            return constant(corners[0])
        one, other = self.writer.as_word(left), self.writer.as_word(by)
        register = self.writer.result(f"ashr i64 {one}, {other}")
        return ranged(register, min(corners), max(corners))

    def _required(self, by: Number, most: int) -> None:
        """Fault where a number cannot be shifted by so many bits."""
        if not self.trusted:
            self.require(by, 0, most)

    def _bits(self, by: Number) -> Number:
        """By how many bits the processor is told to shift: not by more than there are, even if what
        comes of it is wanted by nobody.
        """
        if by.is_constant or not (self.trusted or self.writer.flat):
            return by
        return self.writer.combined("and", by, constant(WORD_BITS - 1))

    def _divided(self, left: Number, right: Number) -> tuple[Number, Number]:
        """Quotient and rest, rounded as Python does: down, the rest having the divisor's sign."""
        writer = self.writer
        if writer.flat and not (right.is_constant and right.lo > 0):
            raise NotFlat
        self.fault(writer.compared("eq", right, constant(0)))
        if right == constant(0):
            return constant(0), constant(0)
        if left.is_constant and right.is_constant:
            whole, over = divmod(left.lo, right.lo)
            return constant(whole) if fits(whole) else left, constant(over)
        if left.lo == LEAST and right.lo <= -1 <= right.hi:
            # The processor traps: the quotient needs one bit more.
            least = writer.compared("eq", left, constant(LEAST))
            self.fault(writer.both(least, writer.compared("eq", right, constant(-1))))
        if left.lo >= 0 and right.lo >= 0:
            return self._divided_positive(left, right)
        one, other = writer.as_word(left), writer.as_word(right)
        cut = Number(writer.result(f"sdiv i64 {one}, {other}"))
        left_over = Number(writer.result(f"srem i64 {one}, {other}"))
        apart = writer.compared("slt", writer.combined("xor", left_over, right), constant(0))
        down = writer.both(writer.compared("ne", left_over, constant(0)), apart)
        quotient = Number(writer.result(f"sub i64 {cut.text}, {writer.as_word(down)}"))
        raised = Number(writer.result(f"add i64 {left_over.text}, {other}"))
        rest = writer.chosen(down, raised, left_over)
        most = max(abs(right.lo), abs(right.hi))
        return quotient, ranged(
            rest.text, 0 if right.lo > 0 else -most, 0 if right.hi < 0 else most
        )

    def _divided_positive(self, left: Number, right: Number) -> tuple[Number, Number]:
        one, other = self.writer.as_word(left), self.writer.as_word(right)
        quotient = self.writer.result(f"udiv i64 {one}, {other}")
        rest = self.writer.result(f"urem i64 {one}, {other}")
        return (
            ranged(quotient, 0, left.hi),
            ranged(rest, 0, min(left.hi, max(right.hi - 1, 0))),
        )
