"""Compile-time values: kinds, ranges and constants of expressions.

Everything that runs is a 64-bit number; a truth value is 0 or 1, as in Python. Of each number the
least and the greatest that it can be are known, from the declared ranges of fields on: what can
only be one number is a constant, and what cannot leave a range need not be checked.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from waterline.checker.compiler.content import Intrinsic
from waterline.checker.compiler.resolution import Known
from waterline.model.core import machine_numbers
from waterline.model.core.layout import Layout, Place

LEAST, GREATEST = machine_numbers.LEAST, machine_numbers.GREATEST


@dataclass(frozen=True, slots=True)
class Number:
    """A number: an LLVM operand that lies in `lo..hi`. With `truth` the operand is an `i1`.

    `turns` is for the counter of a loop that is unrolled: the range of all turns, so that a
    function with this argument is written once, not once a turn.
    """

    text: str
    lo: int = LEAST
    hi: int = GREATEST
    truth: bool = False
    turns: tuple[int, int] | None = field(default=None, compare=False)

    @property
    def is_constant(self) -> bool:
        """True if it can only be one number."""
        return self.lo == self.hi

    def within(self, lo: int, hi: int) -> bool:
        """True if it cannot leave this range."""
        return lo <= self.lo and self.hi <= hi


def as_argument(number: Number) -> Number:
    """A number as a function sees it that is given it."""
    return number if number.turns is None else Number(number.text, *number.turns)


def constant(value: int) -> Number:
    """A number known now."""
    value = int(value)
    return Number(str(value), value, value)


def number_within(text: str, lo: int, hi: int) -> Number:
    """A result whose exact value lies in `lo..hi`; one that need not fit 64 bits wraps."""
    if lo < LEAST or hi > GREATEST:
        return Number(text)
    return Number(str(lo), lo, lo) if lo >= hi else Number(text, lo, hi)


@dataclass(frozen=True, slots=True)
class StateValue:
    """A pointer to the words of a state. A rule that only looks at it may not write."""

    pointer: str
    layout: Layout
    writable: bool


@dataclass(frozen=True, slots=True)
class FieldValue:
    """One field with a shape, of a state."""

    state: StateValue
    place: Place


@dataclass(frozen=True, slots=True)
class SettingsValue:
    """Settings by name, in order: a number for what is known now, None for what is read as it runs.

    `pointer` is where the latter lie, each at its own place.
    """

    names: tuple[str, ...]
    numbers: tuple[int | None, ...]
    pointer: str


@dataclass(frozen=True, slots=True)
class ArrayValue:
    """A pointer to numbers of an LLVM type, row by row; `columns` None for one dimension."""

    pointer: str
    element: str
    columns: int | None = None


@dataclass(frozen=True, slots=True)
class TupleValue:
    """Several values side by side; they are never stored as one."""

    items: tuple[Value, ...]


Value = (
    Number | StateValue | FieldValue | SettingsValue | ArrayValue | TupleValue | Known | Intrinsic
)
