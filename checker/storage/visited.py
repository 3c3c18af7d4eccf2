"""Visited states in memory, by owner and level, with open-addressing hash tables.

Several threads may add to all owners at once. A slot of a table is claimed by compare-and-swap, so
there are no locks, and each thread writes states to a place of its own, so that no two ever write
to one cache line. Only when a thread has no room with some owner all stand still, while tables
grow.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial

import numpy as np
from numpy.typing import NDArray

from checker.compiler.machine import Functions
from checker.compiler.program import Recipe, loaded, own_recipe
from checker.compiler.values import constant
from checker.problem.packed_rows import Rows, address
from checker.storage.arena import Reserve, empty_table, rows_within_limit
from checker.storage.blocks import NUMBER, NUMBERS, block_of
from checker.storage.explore_loop import DONE, NO_ROOM, explore
from checker.storage.stop_the_world import Standstill
from checker.storage.visited_loops import (
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
"""Tables below it grow fourfold: what they take is nothing, and threads wait while they grow."""
_GROWTH_SMALL = 4
_LOAD_MAX = 0.6
_GROWTH = 2
"""Tables are filled to 60% and then doubled, so that a slot's 4 bytes are 7 to 13 a state. At 80%
and steps of 40% a search of 5.3 million states took about a fifth longer.
"""
_NEARLY = 0.9
"""An owner whose table is so full grows with one whose table is full."""
_ROOM_MIN = 16
"""A thread that would have less room than this with an owner waits for a larger table."""
_CACHE_LINE = 64


class TooManyStates(Exception):
    """One owner's share of the states is more than its table can number."""


class Visited:
    """The distinct states of so many owners; each has at most `rows_max`, or what a limit on
    address space has room for.

    Up to `threads` threads may `add` at the same time, each under a number of its own.
    """

    def __init__(
        self, words: int, owners: int, *, rows_max: int = OWNED_MAX, threads: int = 1
    ) -> None:
        self._functions = loaded(recipe_of(words, alone=threads == 1))
        limit = rows_within_limit(words, owners)
        rows_max = rows_max if limit is None else max(threads, min(rows_max, limit))
        self._rows_each = rows_max // threads
        self._cells: NDArray[np.int64] = np.zeros((owners, CELLS), np.int64)
        self._rooms = [_apart(owners) for _ in range(threads)]
        for thread, room in enumerate(self._rooms):
            room[:, NEXT] = thread * self._rows_each
        self._reserves = [Reserve(self._rows_each * threads, words) for _ in range(owners)]
        self._tables: list[NDArray[np.uint32]] = [np.zeros(0, np.uint32)] * owners
        self._marks: list[NDArray[np.int64]] = []
        self._standstill = Standstill(self._to_grow) if threads > 1 else None
        for owner, reserve in enumerate(self._reserves):
            self._cells[owner, STATES] = address(reserve.rows)
            self._use(owner, _SLOTS_MIN)

    def close(self) -> None:
        """Give all memory back now."""
        self._reserves, self._tables, self._marks = [], [], []
        self._standstill = None  # it refers to this, which would be found only later

    # --- what there is ---------------------------------------------------------------------------

    @property
    def owners(self) -> int:
        """How many owners there are."""
        return len(self._reserves)

    @property
    def count(self) -> int:
        """How many states there are."""
        return int(self._ends().sum() - self._starts().sum())

    @property
    def pending(self) -> int:
        """How many of them have been added since the last level began."""
        last = self._marks[-1] if self._marks else self._starts()
        return int(self._ends().sum() - last.sum())

    def begin_level(self) -> None:
        """What is added from now on belongs to another level."""
        self._marks.append(self._ends())

    def level(self, depth: int) -> Iterator[tuple[int, Rows]]:
        """A level's states in a few blocks, with the owner's number, which does not go down."""
        first = self._marks[depth - 1] if depth else self._starts()
        end = self._marks[depth] if depth < len(self._marks) else self._ends()
        for owner, reserve in enumerate(self._reserves):
            for start, stop in zip(first[:, owner], end[:, owner], strict=True):
                if start < stop:
                    yield owner, reserve.rows[start:stop]

    def of_owner(self, owner: int) -> Rows:
        """All states of an owner, where only one thread adds, in order of arrival."""
        (room,) = self._rooms
        return self._reserves[owner].rows[: room[owner, NEXT]]

    def _starts(self) -> NDArray[np.int64]:
        threads = len(self._rooms)
        first = np.arange(threads, dtype=np.int64) * self._rows_each
        return np.repeat(first[:, None], self.owners, axis=1)

    def _ends(self) -> NDArray[np.int64]:
        return np.array([room[:, NEXT] for room in self._rooms])

    # --- adding ----------------------------------------------------------------------------------

    def add(self, rows: Rows, thread: int = 0) -> None:
        """Add the rows that are new to their owners. Raises `TooManyStates`."""
        at = [0]

        def add(code: Functions, cells: int, mine: int) -> bool:
            at[0] = code["add_rows"](cells, mine, self.owners, address(rows), at[0], len(rows))
            return at[0] == len(rows)

        self._while_there_is_room(add, thread)

    def explore(self, job: NDArray[np.int64], thread: int = 0) -> bool:
        """Go on with a job of `checker.storage.explore_loop`, and add what it finds.

        Returns whether it is done; if not, the state that it is at faults. Raises `TooManyStates`.
        """
        ended = [DONE]

        def explore(code: Functions, cells: int, mine: int) -> bool:
            ended[0] = code["explore"](cells, mine, self.owners, address(job))
            return ended[0] != NO_ROOM

        self._while_there_is_room(explore, thread)
        return ended[0] == DONE

    def _while_there_is_room(
        self, work: Callable[[Functions, int, int], bool], thread: int
    ) -> None:
        """Do what is done once it says so; where it stops before, for want of room, make some."""
        cells, mine = address(self._cells), address(self._rooms[thread])
        while True:
            with self._standstill.working() if self._standstill else nullcontext():
                is_done = work(self._functions, cells, mine)
            if is_done:
                return
            if self._standstill:
                self._standstill.ask()
            else:
                for make_room in self._to_grow():
                    make_room()

    def append(self, owner: int, rows: Rows) -> None:
        """Add states that are known to be new, and not yet in the table: see `index`."""
        while len(rows):
            thread = min(range(len(self._rooms)), key=partial(self._held_by, owner))
            room = self._rooms[thread]
            start = int(room[owner, NEXT])
            some = rows[: (thread + 1) * self._rows_each - start]
            if not len(some):
                raise TooManyStates
            self._reserves[owner].expect(self._held_by(owner, thread) + len(some))
            self._reserves[owner].rows[start : start + len(some)] = some
            room[owner, NEXT] = start + len(some)
            rows = rows[len(some) :]

    def index(self, owner: int) -> None:
        """Make the table of an owner anew, for whatever states there are."""
        self._grow_to(owner, max(_SLOTS_MIN, int(self._held(owner) / _LOAD_MAX) + 1))

    def clear(self) -> None:
        """Forget everything."""
        for owner, table in enumerate(self._tables):
            if self._held(owner):
                table[:] = 0
        for room, start in zip(self._rooms, self._starts(), strict=True):
            room[:, NEXT] = start
        self._marks = []

    # --- room ------------------------------------------------------------------------------------

    def _held(self, owner: int) -> int:
        return sum(self._held_by(owner, thread) for thread in range(len(self._rooms)))

    def _held_by(self, owner: int, thread: int) -> int:
        return int(self._rooms[thread][owner, NEXT]) - thread * self._rows_each

    def _to_grow(self) -> list[Callable[[], None]]:
        """What is to be done where some thread has no room, while none adds."""
        if all((room[:, NEXT] < room[:, LIMIT]).all() for room in self._rooms):
            return []
        return [
            partial(self._make_room, owner) for owner in range(self.owners) if self._is_short(owner)
        ]

    def _is_short(self, owner: int) -> bool:
        if any(room[owner, NEXT] >= room[owner, LIMIT] for room in self._rooms):
            return True
        return self._held(owner) >= _NEARLY * _LOAD_MAX * len(self._tables[owner])

    def _make_room(self, owner: int) -> None:
        """More room with an owner for all threads; a larger table, if this one is nearly full."""
        ends = ((thread + 1) * self._rows_each for thread in range(len(self._rooms)))
        if any(room[owner, NEXT] >= end for room, end in zip(self._rooms, ends, strict=True)):
            raise TooManyStates
        slots = len(self._tables[owner])
        left = _LOAD_MAX * slots - self._held(owner)
        if left > (1 - _NEARLY) * _LOAD_MAX * slots and left > _ROOM_MIN * len(self._rooms):
            self._share_room(owner)
        elif slots * _GROWTH_SMALL <= _SLOTS_SMALL:
            self._grow_to(owner, slots * _GROWTH_SMALL)
        elif slots <= _SLOTS_SMALL:
            # Owners fill alike: their tables should not be at their emptiest at once.
            self._grow_to(owner, int(_SLOTS_SMALL * _GROWTH ** (1 + owner / self.owners)))
        else:
            self._grow_to(owner, int(slots * _GROWTH))

    def _grow_to(self, owner: int, slots: int) -> None:
        # The old table goes first: everything in it can be found again from the states.
        self._tables[owner] = np.zeros(0, np.uint32)
        self._use(owner, slots)
        for thread, room in enumerate(self._rooms):
            first, end = thread * self._rows_each, int(room[owner, NEXT])
            self._functions["fill"](address(self._cells), owner, first, end)

    def _use(self, owner: int, slots: int) -> None:
        """Use an empty table of so many slots."""
        self._tables[owner] = empty_table(slots)
        self._cells[owner, TABLE] = address(self._tables[owner])
        self._cells[owner, SLOTS] = slots
        self._reserves[owner].expect(int(_LOAD_MAX * slots) // len(self._rooms))
        self._share_room(owner)

    def _share_room(self, owner: int) -> None:
        """Divide what is left of a table among the threads."""
        threads = len(self._rooms)
        left = int(_LOAD_MAX * len(self._tables[owner])) - self._held(owner)
        for thread, room in enumerate(self._rooms):
            end = (thread + 1) * self._rows_each
            room[owner, LIMIT] = min(int(room[owner, NEXT]) + left // threads, end)


def _apart(owners: int) -> NDArray[np.int64]:
    """A thread's room with each owner, in cache lines that nothing else is in."""
    whole: NDArray[np.int64] = np.zeros(owners * ROOM + 2 * _CACHE_LINE // 8, np.int64)
    skipped = -address(whole) % _CACHE_LINE // 8
    return whole[skipped : skipped + owners * ROOM].reshape(owners, ROOM)


@functools.cache
def recipe_of(words: int, *, alone: bool) -> Recipe:
    """The loops over tables, for states of so many words, and for one thread or several."""
    cells, room, rows, of_words = block_of(CELLS), block_of(ROOM), block_of(words), constant(words)
    adds = cells, room, NUMBER, rows, NUMBER, NUMBER, of_words, constant(alone)
    explores = cells, room, NUMBER, NUMBERS, of_words, constant(alone), constant(0)
    fills = cells, NUMBER, NUMBER, NUMBER, of_words
    return own_recipe((add_rows, adds), (explore, explores), (fill, fills))
