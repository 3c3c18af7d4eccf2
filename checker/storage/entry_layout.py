"""Layout of the entries of a table that stores only the unknown part of each state's hash.

The hash of a state and its words but the first determine the first word. The place of an entry
gives most of the hash. The rest is packed into 64 bits, the head; what does not fit there goes into
units of 16 bits, the tail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.storage.compact_loops import (
    BUSY,
    COMPARED,
    DEPTH_SHIFT,
    DEPTH_UNITS,
    HALF_BITS,
    LINES,
    LOW_MASK,
    OTHER_BITS,
    OTHER_MASK,
    OTHER_SHIFT,
    PROBE_BITS,
    PROBES,
    UNIT_BITS,
    UNITS,
    UNITS_OF,
    UPPER_BITS,
    UPPER_MASK,
    UPPER_SHIFT,
    WIDENING,
    WIDTHS,
)
from waterline.model.core.layout import WORD_BITS, Layout

_TAIL_DEPTH_BITS = 2 * UNIT_BITS


def widths_of(layout: Layout) -> tuple[int, ...]:
    """Bits of each word of a state that can be other than zero: at least one."""
    widths = [1] * layout.words
    for elements in layout.elements.values():
        for each in elements.values():
            widths[each.word] = max(widths[each.word], each.shift + each.mask.bit_length())
    return tuple(widths)


@dataclass(frozen=True, slots=True)
class EntryLayout:
    """Where the parts of an entry lie.

    From the lowest bit of the head: `probe_bits` for the number of the probe, `low_bits` of the
    hash's lower half, `upper_bits` of its upper half, `other_bits` of the second word,
    `depth_bits` for the depth. 0 `depth_bits` say that the depth is in the tail. `units` is how
    many units of the tail each word has.
    """

    lines: int
    probe_bits: int
    low_bits: int
    upper_bits: int
    other_bits: int
    depth_bits: int
    units: tuple[int, ...]

    @property
    def depth_units(self) -> int:
        """Units of the tail that hold the depth."""
        return 0 if self.depth_bits else _TAIL_DEPTH_BITS // UNIT_BITS

    @property
    def tail_units(self) -> int:
        """Units of the tail of one entry."""
        return self.depth_units + sum(self.units)

    @property
    def depth_max(self) -> int:
        """The greatest depth that there is room for."""
        return (1 << (self.depth_bits or _TAIL_DEPTH_BITS)) - 1

    def cells(self) -> dict[int, int]:
        """Return the cells of this layout for the compiled loops."""
        upper_shift = self.probe_bits + self.low_bits
        return {
            LINES: self.lines,
            PROBE_BITS: self.probe_bits,
            BUSY: (1 << self.probe_bits) - 1,
            PROBES: (1 << self.probe_bits) - 2,
            LOW_MASK: (1 << self.low_bits) - 1,
            UPPER_SHIFT: upper_shift,
            UPPER_BITS: self.upper_bits,
            UPPER_MASK: (1 << self.upper_bits) - 1,
            OTHER_SHIFT: upper_shift + self.upper_bits,
            OTHER_BITS: self.other_bits,
            OTHER_MASK: (1 << self.other_bits) - 1,
            DEPTH_SHIFT: WORD_BITS - self.depth_bits,
            DEPTH_UNITS: self.depth_units,
            COMPARED: as_signed((1 << WORD_BITS - self.depth_bits) - 1),
            UNITS: self.tail_units,
            **{UNITS_OF + word: units for word, units in enumerate(self.units)},
        }


def entry_layout(
    widths: Sequence[int], *, owner_bits: int, lines: int, probe_bits: int, depth_max: int
) -> EntryLayout:
    """The layout for states of such words in a table of so many lines.

    Bits that are left over in the head are for the depth.
    """
    span = -(-(1 << HALF_BITS) // lines)
    low_bits = (span - 1).bit_length()
    upper_bits = HALF_BITS - owner_bits
    free = WORD_BITS - probe_bits - low_bits - upper_bits
    if free < 0:
        raise ValueError(f"{lines} lines and {probe_bits} bits for probes fit no head")
    depth_bits = depth_max.bit_length() if depth_max.bit_length() <= free else 0
    second = widths[1] if len(widths) > 1 else 0
    other_bits = min(second, free - depth_bits)
    if depth_bits:
        depth_bits = min(free - other_bits, _TAIL_DEPTH_BITS)
    left = [0, second - other_bits, *widths[2:]][: len(widths)]
    units = tuple(-(-bits // UNIT_BITS) for bits in left)
    return EntryLayout(lines, probe_bits, low_bits, upper_bits, other_bits, depth_bits, units)


def probe_bits_max(lines: int) -> int:
    """Bits for so many probes that every line of a table is among them."""
    return (lines + WIDENING + 2).bit_length()


def shape_cells(widths: Sequence[int]) -> dict[int, int]:
    """Return the cells of the words' widths for the compiled loops."""
    return {WIDTHS + word: width - 1 for word, width in enumerate(widths)}


def as_signed(word: int) -> int:
    """A word as the 64-bit number that it is in an array."""
    return word - (1 << WORD_BITS) if word >> WORD_BITS - 1 else word
