"""Distinct states by owner in the order of arrival, with open-addressing hash tables of numbers.

For searches by one thread that number states. What a search in memory has visited is in
`checker.storage.compact`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine import Functions
from waterline.checker.compiler.program import Recipe, loaded, own_recipe
from waterline.checker.compiler.values import constant
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.arena import Reserve, TooManyStates, empty_table, rows_within_limit
from waterline.checker.storage.blocks import NUMBER, block_of
from waterline.checker.storage.visited_loops import (
    CELLS,
    LIMIT,
    NEXT,
    OWNED_MAX,
    ROOM,
    SLOTS,
    STATES,
    TABLE,
    add_rows,
    fill,
)

_SLOTS_MIN = 1 << 13
_SLOTS_SMALL = 1 << 16
"""Tables below it grow fourfold: what they take is nothing."""
_GROWTH_SMALL = 4
_LOAD_MAX = 0.6
_GROWTH = 2
"""Tables are filled to 60% and then doubled, so that a slot's 4 bytes are 7 to 13 a state. At 80%
and steps of 40% a search of 5.3 million states took about a fifth longer.
"""


class Visited:
    """The distinct states of so many owners; each has at most `rows_max`, or what a limit on
    address space has room for.
    """

    def __init__(self, words: int, owners: int, *, rows_max: int = OWNED_MAX) -> None:
        self._functions = loaded(recipe_of(words))
        limit = rows_within_limit(words, owners)
        self._rows_max = rows_max if limit is None else max(1, min(rows_max, limit))
        self._cells: NDArray[np.int64] = np.zeros((owners, CELLS), np.int64)
        self._rooms: NDArray[np.int64] = np.zeros((owners, ROOM), np.int64)
        self._reserves = [Reserve(self._rows_max, words) for _ in range(owners)]
        self._tables: list[NDArray[np.uint32]] = [np.zeros(0, np.uint32)] * owners
        for owner, reserve in enumerate(self._reserves):
            self._cells[owner, STATES] = address(reserve.rows)
            self._use(owner, _SLOTS_MIN)

    def close(self) -> None:
        """Give all memory back now."""
        self._reserves, self._tables = [], []

    # --- what there is ---------------------------------------------------------------------------

    @property
    def owners(self) -> int:
        """How many owners there are."""
        return len(self._reserves)

    @property
    def count(self) -> int:
        """How many states there are."""
        return int(self._rooms[:, NEXT].sum())

    def of_owner(self, owner: int) -> Rows:
        """All states of an owner, in order of arrival."""
        return self._reserves[owner].rows[: self._held(owner)]

    # --- adding ----------------------------------------------------------------------------------

    def add(self, rows: Rows) -> None:
        """Add the rows that are new to their owners. Raises `TooManyStates`."""
        at = [0]

        def add(code: Functions, cells: int, rooms: int) -> bool:
            at[0] = code["add_rows"](cells, rooms, self.owners, address(rows), at[0], len(rows))
            return at[0] == len(rows)

        self._while_there_is_room(add)

    def _while_there_is_room(self, work: Callable[[Functions, int, int], bool]) -> None:
        """Do what is done once it says so; where it stops before, for want of room, make some."""
        while not work(self._functions, address(self._cells), address(self._rooms)):
            for owner in np.flatnonzero(self._rooms[:, NEXT] >= self._rooms[:, LIMIT]):
                self._make_room(int(owner))

    def clear(self) -> None:
        """Forget everything."""
        for owner, table in enumerate(self._tables):
            if self._held(owner):
                table[:] = 0
        self._rooms[:, NEXT] = 0

    # --- room ------------------------------------------------------------------------------------

    def _held(self, owner: int) -> int:
        return int(self._rooms[owner, NEXT])

    def _make_room(self, owner: int) -> None:
        """A larger table for an owner. The old one goes first: the states are elsewhere."""
        if self._held(owner) >= self._rows_max:
            raise TooManyStates
        slots = len(self._tables[owner])
        if slots * _GROWTH_SMALL <= _SLOTS_SMALL:
            slots *= _GROWTH_SMALL
        elif slots <= _SLOTS_SMALL:
            # Owners fill alike: their tables should not be at their emptiest at once.
            slots = int(_SLOTS_SMALL * _GROWTH ** (1 + owner / self.owners))
        else:
            slots *= _GROWTH
        self._tables[owner] = np.zeros(0, np.uint32)
        self._use(owner, slots)
        self._functions["fill"](address(self._cells), owner, self._held(owner))

    def _use(self, owner: int, slots: int) -> None:
        """Use an empty table of so many slots."""
        self._tables[owner] = empty_table(slots)
        self._cells[owner, TABLE] = address(self._tables[owner])
        self._cells[owner, SLOTS] = slots
        limit = int(_LOAD_MAX * slots)
        self._reserves[owner].expect(limit)
        self._rooms[owner, LIMIT] = min(limit, self._rows_max)


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The loops over tables, for states of so many words."""
    cells, room, rows, of_words = block_of(CELLS), block_of(ROOM), block_of(words), constant(words)
    adds = cells, room, NUMBER, rows, NUMBER, NUMBER, of_words
    fills = cells, NUMBER, NUMBER, of_words
    return own_recipe((add_rows, adds), (fill, fills))
