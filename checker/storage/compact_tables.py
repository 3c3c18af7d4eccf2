"""Tables of the compact set, and the levels whose states were dropped from them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine import Functions
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.arena import Zeros
from waterline.checker.storage.compact_loops import (
    CELLS,
    DEPTH,
    DEPTH_IN_HEAD,
    DEPTH_SHIFT,
    LINE,
    LINES,
    TABLE,
    TAIL,
    UNIT_BITS,
)
from waterline.checker.storage.entry_layout import (
    EntryLayout,
    as_signed,
    entry_layout,
    probe_bits_max,
    shape_cells,
)
from waterline.model.core.layout import WORD_BITS

_ROWS_MIN = 1 << 16
_SHARE = 64
"""Small levels are found together, up to this part of all states: each time the tables are read as
a whole.
"""
_BLOCK_ROWS = 1 << 16


class PastLevels:
    """Levels of the tables; several threads may ask at once, while no state is added."""

    def __init__(self, tables: CompactTables, owners: int) -> None:
        self._tables = tables
        self._owners = owners
        self._finding = threading.Lock()
        self._first, self._last = 0, -1
        self._rows: Rows = np.zeros((0, 0), np.uint64)
        self._places: NDArray[np.int64] = np.zeros(0, np.int64)
        """Owner and depth of each row that is at hand, as one number; they rise."""

    def states(self, depth: int, owner: int, sizes: Sequence[int], count: int) -> Iterator[Rows]:
        """An owner's states of a level; `sizes` are those of all levels, `count` all states."""
        with self._finding:
            if not self._first <= depth <= self._last:
                first, last = _together(depth, sizes, _most_together(count))
                if first < last:
                    self._find(first, last, sum(sizes[first : last + 1]))
            is_at_hand = self._first <= depth <= self._last
            rows, places = self._rows, self._places
            place = owner * (self._last + 1) + depth
        if not is_at_hand:
            for found, _ in self._tables.states(owner, depth, depth, rows=_BLOCK_ROWS):
                yield found
            return
        start, stop = np.searchsorted(places, [place, place + 1])
        if start < stop:
            yield rows[start:stop]

    def bytes_of(self, count: int) -> int:
        """How much is at hand at most, where there are so many states."""
        return _most_together(count) * (self._tables.words + 1) * WORD_BITS // 8

    def forget(self) -> None:
        """Give back what is at hand."""
        self._first, self._last = 0, -1
        self._rows, self._places = np.zeros((0, 0), np.uint64), np.zeros(0, np.int64)

    def _find(self, first: int, last: int, count: int) -> None:
        """Have the states of these levels at hand; nothing as large as they are is made besides."""
        self.forget()
        at_hand: Rows = np.empty((count, self._tables.words), np.uint64)
        places: NDArray[np.int64] = np.empty(count, np.int64)
        end = 0
        for owner in range(self._owners):
            found = list(self._tables.states(owner, first, last, rows=_BLOCK_ROWS))
            if not found:
                continue
            depths = np.concatenate([depths for _, depths in found])
            order = np.argsort(depths, kind="stable")
            start, end = end, end + len(order)
            at_hand[start:end] = np.concatenate([rows for rows, _ in found])[order]
            places[start:end] = owner * (last + 1) + depths[order]
        self._first, self._last, self._rows, self._places = first, last, at_hand, places


def _most_together(count: int) -> int:
    """How many states may be at hand, of so many."""
    return max(_ROWS_MIN, count // _SHARE)


def _together(depth: int, sizes: Sequence[int], most: int) -> tuple[int, int]:
    """The levels around one that have at most so many states, half of these above it."""
    first = last = depth
    states = sizes[depth]
    while first > 0 and states + sizes[first - 1] <= most // 2:
        first -= 1
        states += sizes[first]
    while last + 1 < len(sizes) and states + sizes[last + 1] <= most:
        last += 1
        states += sizes[last]
    return first, last


OWNERS_MIN = 4
"""Least number of owners: with fewer, hash bits and the probe's number do not fit a head."""
LINES_MIN = 1 << 9
_LINES_LEAST = 16
_PROBE_BITS = 5
"""30 lines are looked through for a state before its table has to change."""
_PROBE_BITS_MORE = 2
_DEPTH_MAX = 63
"""Entries have room for depths up to it at first."""
_DEEPER = 16
_HEAD_BYTES = WORD_BITS // 8
_UNIT_BYTES = UNIT_BITS // 8
_MOVED_LINES = 1 << 15
"""Lines moved to another table before their memory is given back: 2 MB of heads."""


@dataclass(slots=True)
class _Table:
    """A table: the owners' cells when it is used, its memory, and how much of it is moved away."""

    cells: NDArray[np.int64]
    heads: Zeros
    tails: Zeros
    lines: int
    moved: int = 0


class CompactTables:
    """One table an owner, of `lines` at first; `functions` are the compiled loops.

    `owners` is a power of two, at least `OWNERS_MIN`. Only one thread may change a table, and only
    while no thread adds to it.
    """

    def __init__(
        self,
        widths: Sequence[int],
        owners: int,
        functions: Functions,
        *,
        lines: int = LINES_MIN,
    ) -> None:
        if owners < OWNERS_MIN or owners & (owners - 1):
            raise ValueError(f"{owners} owners: give a power of two, {OWNERS_MIN} or more")
        if lines < _LINES_LEAST:
            raise ValueError(f"{lines} lines: give {_LINES_LEAST} or more")
        self.words = len(widths)
        self._widths = tuple(widths)
        self._owner_bits = owners.bit_length() - 1
        self._functions = functions
        self._depth = 0
        self._depth_max = _DEPTH_MAX
        self.cells: NDArray[np.int64] = np.zeros((owners, CELLS), np.int64)
        self._heads = [Zeros(0)] * owners
        self._tails = [Zeros(0)] * owners
        self._layouts = [self._layout(lines, _PROBE_BITS)] * owners
        for owner in range(owners):
            self._use(owner, self._layouts[owner], now=True)

    def close(self) -> None:
        """Give all memory back now."""
        self._heads, self._tails = [], []

    def entries(self) -> NDArray[np.int64]:
        """How many entries each owner's table has, empty ones included."""
        entries: NDArray[np.int64] = self.cells[:, LINES] * LINE
        return entries

    @property
    def bytes(self) -> int:
        """Bytes that the tables take."""
        return sum(block.bytes.nbytes for block in (*self._heads, *self._tails))

    def resize(self, owner: int, lines: int) -> None:
        """Move what an owner has to a table of so many lines."""
        self._move_to(owner, self._layout(lines, self._layouts[owner].probe_bits))

    def look_further(self, owner: int) -> None:
        """Let the states of an owner stand further from home."""
        now = self._layouts[owner]
        self._move_to(owner, self._layout(now.lines, _more_probe_bits(now)))

    def set_depth(self, depth: int) -> None:
        """Give what is added from now on this depth."""
        self._depth = depth
        while depth > self._depth_max:
            self._depth_max = (self._depth_max + 1) * _DEEPER - 1
        for owner, layout in enumerate(self._layouts):
            if depth > layout.depth_max:
                self._move_to(owner, self._layout(layout.lines, layout.probe_bits))
        self.cells[:, DEPTH] = depth
        self.cells[:, DEPTH_IN_HEAD] = np.where(
            self.cells[:, DEPTH_SHIFT] < WORD_BITS, depth << self.cells[:, DEPTH_SHIFT], 0
        )

    def states(
        self, owner: int, first: int, last: int, *, rows: int
    ) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        """An owner's states of depths `first` to `last`, and their depths, in blocks of `rows`."""
        found: NDArray[np.int64] = np.zeros(1, np.int64)
        slot = 0
        entries = self._layouts[owner].lines * LINE
        while slot < entries:
            out: Rows = np.empty((rows, self.words), np.uint64)
            depths: NDArray[np.int64] = np.empty(rows, np.int64)
            slot = self._functions["states_at"](
                address(self.cells),
                owner,
                slot,
                first,
                last,
                address(out),
                address(depths),
                rows,
                address(found),
            )
            if found[0]:
                yield out[: found[0]], depths[: found[0]]

    # --- layouts ---------------------------------------------------------------------------------

    def _layout(self, lines: int, probe_bits: int) -> EntryLayout:
        return entry_layout(
            self._widths,
            owner_bits=self._owner_bits,
            lines=lines,
            probe_bits=probe_bits,
            depth_max=self._depth_max,
        )

    def _move_to(self, owner: int, layout: EntryLayout) -> None:
        """Move an owner's entries to a table of this layout, or of one with more probe bits.

        Places rise with places of the old table, about. So the new one grows as the old one is
        given back, and both are never whole.
        """
        left = [self._as_it_is(owner)]
        while left:
            self._use(owner, layout)
            while left and self._move(owner, left[-1]):
                left.pop()
            if left:
                left.append(self._as_it_is(owner))
                layout = self._layout(layout.lines, _more_probe_bits(layout))

    def _as_it_is(self, owner: int) -> _Table:
        lines = self._layouts[owner].lines
        return _Table(self.cells.copy(), self._heads[owner], self._tails[owner], lines)

    def _move(self, owner: int, table: _Table) -> bool:
        """Move what is left in a table to the one in use; false where something finds no place."""
        key: Rows = np.zeros((1, self.words), np.uint64)
        line_bytes = _HEAD_BYTES * LINE, len(table.tails.bytes) // table.lines
        while table.moved < table.lines:
            start, end = table.moved, min(table.moved + _MOVED_LINES, table.lines)
            table.moved = self._functions["move"](
                address(table.cells), address(self.cells), owner, start, end, address(key)
            )
            for block, size in zip((table.heads, table.tails), line_bytes, strict=True):
                block.release(start * size, table.moved * size)
            if table.moved < end:
                return False
        return True

    def _use(self, owner: int, layout: EntryLayout, *, now: bool = False) -> None:
        """Give an owner an empty table."""
        entries = layout.lines * LINE
        heads = Zeros(entries * _HEAD_BYTES, now=now)
        tails = Zeros(entries * layout.tail_units * _UNIT_BYTES, now=now)
        self._layouts[owner], self._heads[owner], self._tails[owner] = layout, heads, tails
        depth = self._depth << WORD_BITS - layout.depth_bits if layout.depth_bits else 0
        cells = layout.cells() | shape_cells(self._widths)
        cells[TABLE] = address(heads.bytes)
        cells[TAIL] = address(tails.bytes)
        cells[DEPTH] = self._depth
        cells[DEPTH_IN_HEAD] = as_signed(depth)
        for cell, number in cells.items():
            self.cells[owner, cell] = number


def _more_probe_bits(layout: EntryLayout) -> int:
    """For four times the probes, or so many that every line is looked through."""
    return min(layout.probe_bits + _PROBE_BITS_MORE, probe_bits_max(layout.lines))
