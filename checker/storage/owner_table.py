"""One owner's visited states in the memory of a worker, from level to level.

They are those of files that never change, and the table knows the names of these: who looks for a
state there compares them with the names of the files to search.

The owner's range of hashes is cut into compact tables, so small that a processor's cache has most
of one while candidates are looked up in it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.program import load_program
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.compact import StrayBits, recipe_of
from waterline.checker.storage.compact_loops import (
    ARRIVED,
    CRAMPED,
    LIMIT,
    LINE,
    LINES,
    NEXT,
    ROOM,
    STRAY,
)
from waterline.checker.storage.compact_tables import CompactTables
from waterline.checker.storage.runs import Scratch, share, sort_unique

TABLES = 64
"""Tables of an owner, about, while all owners have no more than `_TABLES_MAX`."""
_TABLES_MAX = 1 << 12
_LINES = 16
_LOAD_MAX = 0.8
"""Tables are filled so far, then doubled: an entry of 8 bytes is 14 a state then."""


class OwnerTable:
    """The states of one of so many owners; `widths` are as of `CompactVisited`."""

    def __init__(self, widths: Sequence[int], owners: int, owner: int) -> None:
        self.owners = owners
        self.owner = owner
        self.files: set[str] = set()
        """Files whose states are here; all of them, and no others."""
        self._tables_in_all = 1 << (min(TABLES * owners, _TABLES_MAX) - 1).bit_length()
        self._functions = load_program(recipe_of(len(widths), alone=True))
        self._tables = CompactTables(widths, self._tables_in_all, self._functions, lines=_LINES)
        self._room: NDArray[np.int64] = np.zeros((self._tables_in_all, ROOM), np.int64)
        self._counts: NDArray[np.int64] = np.zeros(self._tables_in_all, np.int64)
        self._scratch = Scratch()

    def take_in(self, name: str, run: Rows) -> None:
        """Add the states of a sorted file, which are all new."""
        for part in range(TABLES):
            rows = share(run, self.owners * TABLES, self.owner * TABLES + part)
            if sum(map(len, self._add(rows, part, TABLES))) < len(rows):
                raise AssertionError(f"{name} has states of another file")
        self.files.add(name)

    def new(self, rows: Rows, part: int, parts: int) -> Rows:
        """Add candidates of one of the owner's parts; return the new states, as a run."""
        found = self._add(rows, part, parts)
        run: Rows = np.empty((sum(map(len, found)), rows.shape[1]), np.uint64)
        at = 0
        for of_table in found:
            run[at : at + len(of_table)] = sort_unique(of_table, self._scratch)
            at += len(of_table)
        return run

    def _add(self, rows: Rows, part: int, parts: int) -> list[Rows]:
        """Add them, and return the new states of each table, in the order of tables."""
        ranges, number = self.owners * parts, self.owner * parts + part
        first = number * self._tables_in_all // ranges
        end = -(-(number + 1) * self._tables_in_all // ranges)
        n, words = rows.shape
        arrived: Rows = np.empty((end - first, n, words), np.uint64)
        cells, room = self._tables.cells, self._room
        cells[first:end, ARRIVED] = address(arrived) + np.arange(end - first) * n * words * 8
        room[first:end, NEXT] = 0
        self._share_room(first, end, n)
        at = 0
        while at < n:
            at = self._functions["add_states"](
                address(cells), address(room), self._tables_in_all, address(rows), at, n
            )
            if at == STRAY:
                raise StrayBits
            if at < n:
                if not self._make_room(first, end):
                    raise AssertionError(f"owner {self.owner} was sent another owner's state")
                self._share_room(first, end, n)
        self._counts[first:end] += room[first:end, NEXT]
        room[first:end, LIMIT] = 0
        return [arrived[i, : room[first + i, NEXT]] for i in range(end - first)]

    def _share_room(self, first: int, end: int, n: int) -> None:
        """Let each table be filled as far as it may be."""
        most = (self._tables.entries()[first:end] * _LOAD_MAX).astype(np.int64)
        self._room[first:end, LIMIT] = np.minimum(most - self._counts[first:end], n)

    def _make_room(self, first: int, end: int) -> bool:
        """Grow the tables that are full, or where a state found no place; true if there is one."""
        has_grown = False
        for table in range(first, end):
            taken, limit, is_cramped = self._room[table].tolist()
            if not is_cramped and taken < limit:
                continue
            has_grown = True
            lines = int(self._tables.cells[table, LINES])
            if is_cramped and self._counts[table] + taken < lines * LINE / 4:
                self._tables.look_further(table)
            else:
                # All fill alike, and should not be at their emptiest at once.
                first = int(4 * _LINES * 2 ** (table % TABLES / TABLES))
                self._tables.resize(table, first if lines == _LINES else 2 * lines)
            self._room[table, CRAMPED] = 0
        return has_grown
