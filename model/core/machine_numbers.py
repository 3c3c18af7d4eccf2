"""64-bit overflow and endless loops, detected in interpreted rules too.

A model of one's own is interpreted with these functions around its operations and in its loops
(see `model.own.limits`), so that both forms of a rule fault in the same states. They raise on the
line of the rule.
"""

from __future__ import annotations

BITS = 64
LEAST, GREATEST = -(1 << (BITS - 1)), (1 << (BITS - 1)) - 1
ROUNDS_MAX = 100_000
"""Rounds of all loops of a function with a `while`, each time it is called; and of one `for`."""


class TooManyRounds(RuntimeError):
    """A loop of a rule has gone round more often than any may."""


def fits(number: int) -> bool:
    """True if a number fits 64 bits."""
    return LEAST <= number <= GREATEST


def fitting(number: int) -> int:
    """The number, if it fits. Raises `OverflowError`."""
    if fits(number):
        return number
    raise OverflowError(f"{_short(number)} needs more than {BITS} bits; use smaller numbers")


def shift_left(number: int, by: int) -> int:
    """`number << by`, if it fits and `by` is less than there are bits. Raises `OverflowError`."""
    if by >= BITS:
        raise OverflowError(f"a shift by {by} needs more than {BITS} bits; shift by less")
    return fitting(number << by)


def remainder(number: int, by: int) -> int:
    """`number % by`, if the quotient fits: a processor makes both at once."""
    fitting(number // by)
    return number % by


def round_after(rounds: int) -> int:
    """Return the number of the next round. Raises `TooManyRounds`."""
    if rounds >= ROUNDS_MAX:
        raise TooManyRounds(
            f"its loops go round more than {ROUNDS_MAX:,} times; "
            "let the `while` end, or take a step of the protocol for each round"
        )
    return rounds + 1


def short(turns: range) -> range:
    """The range, if a loop may go over it. Raises `TooManyRounds`."""
    count = (turns.stop - turns.start + turns.step - (1 if turns.step > 0 else -1)) // turns.step
    if count > ROUNDS_MAX:
        raise TooManyRounds(
            f"a loop over {turns} goes round more than {ROUNDS_MAX:,} times; "
            "loop over a shorter one"
        )
    return turns


def _short(number: int) -> str:
    """A number, also one that is too long to be read."""
    return (
        str(number)
        if number.bit_length() <= 4 * BITS
        else f"a number of {number.bit_length()} bits"
    )
