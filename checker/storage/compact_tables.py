"""Compact tables of so many owners: how large they are, what entries look like, what they hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from checker.compiler.machine import Functions
from checker.problem.packed_rows import Rows, address
from checker.storage.arena import empty_heads, empty_tails
from checker.storage.compact_loops import CELLS, DEPTH, DEPTH_IN_HEAD, LINE, TABLE, TAIL
from checker.storage.entry_layout import (
    EntryLayout,
    entry_layout,
    probe_bits_max,
    shape_cells,
    signed,
)
from model.core.layout import WORD_BITS

OWNERS_MIN = 4
"""With fewer, what is left of a hash and the number of a probe fit no head."""
LINES_MIN = 1 << 9
_LINES_LEAST = 16
_PROBE_BITS = 5
"""30 lines are looked through for a state before its table has to change."""
_PROBE_BITS_MORE = 2
_DEPTH_MAX = 63
"""Entries have room for depths up to it at first."""
_DEEPER = 16


class CompactTables:
    """A table for each owner, at first of `lines`; `functions` are the compiled loops.

    `owners` is a power of two, `OWNERS_MIN` at least. One thread at most may change a table, while nobody adds to it.
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
        self._widths = tuple(widths)
        self._owner_bits = owners.bit_length() - 1
        self._functions = functions
        self._depth = 0
        self._depth_max = _DEPTH_MAX
        self.cells: NDArray[np.int64] = np.zeros((owners, CELLS), np.int64)
        self._heads: list[NDArray[np.uint64]] = [np.zeros(0, np.uint64)] * owners
        self._tails: list[NDArray[np.uint16]] = [np.zeros(0, np.uint16)] * owners
        self._layouts = [self._layout(lines, _PROBE_BITS)] * owners
        for owner in range(owners):
            self._use(owner, self._layouts[owner])

    def close(self) -> None:
        """Give all memory back now."""
        self._heads, self._tails = [], []

    def entries(self, owner: int) -> int:
        """How many entries an owner's table has, empty ones included."""
        return self._layouts[owner].lines * LINE

    def resize(self, owner: int, lines: int) -> None:
        """Move what an owner has to a table of so many lines."""
        self._move_to(owner, self._layout(lines, self._layouts[owner].probe_bits))

    def look_further(self, owner: int) -> None:
        """Let the states of an owner stand further from home."""
        now = self._layouts[owner]
        self._move_to(owner, self._layout(now.lines, _more_probe_bits(now)))

    def set_depth(self, depth: int) -> None:
        """What is added from now on has this depth."""
        self._depth = depth
        while depth > self._depth_max:
            self._depth_max = (self._depth_max + 1) * _DEEPER - 1
        for owner, layout in enumerate(self._layouts):
            if depth > layout.depth_max:
                self._move_to(owner, self._layout(layout.lines, layout.probe_bits))
            else:
                self._write_depth(owner)

    def states(
        self, owner: int, first: int, last: int, *, rows: int
    ) -> Iterator[tuple[Rows, NDArray[np.int64]]]:
        """An owner's states of depths `first` to `last`, and their depths, in blocks of `rows`."""
        words = len(self._widths)
        found: NDArray[np.int64] = np.zeros(1, np.int64)
        slot = 0
        while slot < self.entries(owner):
            out: Rows = np.empty((rows, words), np.uint64)
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
        """Move what an owner has to a table of this layout, or one where more can be found."""
        was, kept = self.cells.copy(), (self._heads[owner], self._tails[owner])
        key: Rows = np.zeros((1, len(self._widths)), np.uint64)
        entries = len(kept[0])
        while True:
            self._use(owner, layout)
            moved = self._functions["move"](
                address(was), address(self.cells), owner, 0, entries, address(key)
            )
            if moved == entries:
                return
            layout = self._layout(layout.lines, _more_probe_bits(layout))

    def _use(self, owner: int, layout: EntryLayout) -> None:
        """Give an owner an empty table."""
        self._layouts[owner] = layout
        self._heads[owner] = empty_heads(layout.lines * LINE)
        self._tails[owner] = empty_tails(layout.lines * LINE * layout.tail_units)
        cells = layout.cells()
        cells |= shape_cells(self._widths)
        cells[TABLE] = address(self._heads[owner])
        cells[TAIL] = address(self._tails[owner])
        for cell, number in cells.items():
            self.cells[owner, cell] = number
        self._write_depth(owner)

    def _write_depth(self, owner: int) -> None:
        layout = self._layouts[owner]
        in_head = self._depth << WORD_BITS - layout.depth_bits if layout.depth_bits else 0
        self.cells[owner, DEPTH] = self._depth
        self.cells[owner, DEPTH_IN_HEAD] = signed(in_head)


def _more_probe_bits(layout: EntryLayout) -> int:
    """For four times the probes, or so many that every line is looked through."""
    return min(layout.probe_bits + _PROBE_BITS_MORE, probe_bits_max(layout.lines))
