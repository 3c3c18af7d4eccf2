"""Set of visited states in memory, and the states of its last two levels.

Each thread writes to a part of an owner's arena that is its own, so no two write to one cache line.
There are two arenas an owner, used by turns: one holds the level that is being expanded, the other
the states that are new.

The place of a table entry is part of the state's identity (`checker.storage.entry_layout`), so a
state of 73 bits takes 8 bytes. The last two levels are also kept whole, in the order of arrival;
older levels are rebuilt from the tables on request.

Several threads may add to all owners at once. An entry is claimed by compare-and-swap, so there are
no locks. All threads stop only when one has no room left with an owner; tables grow then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine import Functions
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import constant
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.storage.arena import (
    CACHE_LINE_BYTES,
    Reserve,
    Standstill,
    TooManyStates,
    rows_within_limit,
)
from waterline.checker.storage.blocks import NUMBER, NUMBERS, block_of
from waterline.checker.storage.compact_loops import (
    ARRIVED,
    CELLS,
    CRAMPED,
    LIMIT,
    LINE,
    LINES,
    NEXT,
    ROOM,
    STRAY,
    add_states,
    move,
    states_at,
)
from waterline.checker.storage.compact_tables import CompactTables, PastLevels
from waterline.checker.storage.explore_loop import ASTRAY, DONE, NO_ROOM, explore

_KEPT_BYTES = 1 << 16
"""Bytes of each part that stay with it when a level is forgotten: allocation takes time."""


class Arrived:
    """New states, and those of the level before; at most `rows_each` of an owner by one thread."""

    def __init__(self, words: int, owners: int, *, threads: int, rows_each: int) -> None:
        self.rows_each = rows_each
        self._owners = owners
        self._kept_rows = max(1, _KEPT_BYTES // (words * 8))
        self.rooms = [_apart(owners) for _ in range(threads)]
        self._arenas, self._others = (
            [Reserve(rows_each * threads, words) for _ in range(owners)] for _ in range(2)
        )
        self._starts: NDArray[np.int64] = np.arange(threads, dtype=np.int64) * rows_each
        self._before = self._empty()
        self._used, self._used_before = self._empty(), self._empty()
        """How far the parts of each arena have been written to and not been given back."""
        self.is_spent = False
        """True if some of the level before is no longer here."""
        self._restart()

    def close(self) -> None:
        """Give all memory back now."""
        self._arenas, self._others = [], []

    def use(self, cells: NDArray[np.int64]) -> None:
        """Have new states written here."""
        cells[:, ARRIVED] = [arena.place for arena in self._arenas]

    def begin_level(self) -> None:
        """Forget the level before the last; the last takes its place."""
        before = self.ends()
        rows = np.maximum(self._kept_rows, before - self._starts[:, None])
        self._arenas, self._others = self._others, self._arenas
        self._used, self._used_before = self._used_before, np.maximum(self._used, before)
        # Where much was written, no more is kept than the next level will take.
        for thread, owner in np.argwhere(self._used > self._starts[:, None] + rows):
            stop = int(self._starts[thread] + rows[thread, owner])
            self._arenas[owner].release(stop, int(self._used[thread, owner]))
            self._used[thread, owner] = stop
        self._before, self.is_spent = before, False
        self._restart()

    def spend(self, rows: Rows) -> None:
        """Give back the memory of a piece of the level before: see `is_spent`."""
        self.is_spent = True
        place = address(rows)
        for arena in self._others:
            start = (place - arena.place) // (rows.shape[1] * rows.itemsize)
            if 0 <= start < len(arena.rows):
                arena.release(start, start + len(rows))

    def ends(self) -> NDArray[np.int64]:
        """Where the new states of each thread and owner end."""
        return np.array([room[:, NEXT] for room in self.rooms])

    def counts(self) -> NDArray[np.int64]:
        """How many new states each owner has."""
        count: NDArray[np.int64] = (self.ends() - self._starts[:, None]).sum(axis=0)
        return count

    def new(self, owner: int) -> Iterator[Rows]:
        """The new states of an owner, in a few blocks."""
        return self._blocks(self._arenas[owner], [int(room[owner, NEXT]) for room in self.rooms])

    def before(self, owner: int) -> Iterator[Rows]:
        """An owner's states of the level before, in a few blocks."""
        return self._blocks(self._others[owner], self._before[:, owner].tolist())

    def is_full(self, owner: int) -> bool:
        """True if the part of some thread has no more room."""
        return any(
            room[owner, NEXT] >= start + self.rows_each
            for room, start in zip(self.rooms, self._starts, strict=True)
        )

    def _blocks(self, arena: Reserve, ends: Sequence[int]) -> Iterator[Rows]:
        for start, stop in zip(self._starts.tolist(), ends, strict=True):
            if start < stop:
                yield arena.rows[start:stop]

    def _empty(self) -> NDArray[np.int64]:
        return np.repeat(self._starts[:, None], self._owners, axis=1)

    def _restart(self) -> None:
        for room, start in zip(self.rooms, self._starts, strict=True):
            room[:, NEXT] = start


def _apart(owners: int) -> NDArray[np.int64]:
    """A thread's room with each owner, in cache lines that nothing else is in."""
    whole: NDArray[np.int64] = np.zeros(owners * ROOM + 2 * CACHE_LINE_BYTES // 8, np.int64)
    skipped = -address(whole) % CACHE_LINE_BYTES // 8
    return whole[skipped : skipped + owners * ROOM].reshape(owners, ROOM)


ROWS_MAX = 1 << 25
"""Most states of one level and owner."""
_LOAD_MAX = 0.875
_LOAD_SMALL = 0.7
"""Tables are filled so far: the second while they are small, since looking is quicker then."""
_LINES_SMALL = 1 << 13
"""Tables below it grow fourfold: what they take is nothing, and threads wait while they grow."""
_GROWTH_SMALL = 4
_LINES_LARGE = 1 << 15
"""Tables below it are doubled. From it on, which is 2 MB, they grow by a quarter: then they are 70%
to 87.5% full, and an entry of 8 bytes is 10.2 a state.
"""
_GROWTH = 2
_GROWTH_LARGE = 1.25
_SPENT_BYTES = 1 << 18
"""Smaller pieces of a level are not given back before the level is."""
_NEARLY_SMALL, _NEARLY = 0.75, 0.95
"""An owner whose table is so full grows with one whose table is full. Small ones all do: threads
that stand still lose more time than such tables take to move.
"""
_ROOM_MIN = 16
"""A thread that would have less room than this with an owner waits for a larger table."""


class StrayBits(ValueError):
    """A state has bits where its layout has none, so that an entry cannot hold it."""


class CompactVisited:
    """The distinct states of so many owners: a power of two, four or more.

    `widths` are the bits of each word of a state that can be other than zero. Of one level each
    owner has at most `rows_max`, or what a limit on address space has room for. Up to `threads`
    threads may `add` at the same time, each under a number of its own.
    """

    def __init__(
        self,
        widths: Sequence[int],
        owners: int,
        *,
        rows_max: int = ROWS_MAX,
        threads: int = 1,
        lines: int | None = None,
    ) -> None:
        words = len(widths)
        self.owners = owners
        self._functions = load_program(recipe_of(words, alone=threads == 1))
        limit = rows_within_limit(words, 2 * owners)
        rows_max = rows_max if limit is None else max(threads, min(rows_max, limit))
        sizes = {} if lines is None else {"lines": lines}
        self._tables = CompactTables(widths, owners, self._functions, **sizes)
        self._arrived = Arrived(words, owners, threads=threads, rows_each=rows_max // threads)
        self._past = PastLevels(self._tables, owners)
        self._standstill = Standstill(self._to_grow, self._hurry) if threads > 1 else None
        self._ended: NDArray[np.int64] = np.zeros(owners, np.int64)
        """How many states each owner has in levels that are complete."""
        self._sizes: list[int] = []
        self._arrived.use(self._tables.cells)
        self._share_room(slice(None))

    def close(self) -> None:
        """Give all memory back now."""
        self._tables.close()
        self._arrived.close()
        self._past.forget()
        self._standstill = None  # it refers to this, which would be found only later

    # --- what there is ---------------------------------------------------------------------------

    @property
    def count(self) -> int:
        """How many states there are."""
        return int(self._ended.sum()) + self.pending

    @property
    def pending(self) -> int:
        """How many of them have been added since the last level began."""
        return int(self._arrived.counts().sum())

    @property
    def depth(self) -> int:
        """The level that states are added to."""
        return len(self._sizes)

    def size(self, depth: int) -> int:
        """How many states a level has."""
        return self._sizes[depth] if depth < self.depth else self.pending

    @property
    def bytes_to_come(self) -> int:
        """How much more tables take, about, when some grow next, and past levels at one time."""
        lines = int(self._tables.cells[0, LINES])
        growth = self._larger(0, lines) / lines - 1 if self._are_small()[0] else 1 - _NEARLY
        return int(self._tables.bytes * growth) + self._past.bytes_of(self.count)

    def begin_level(self) -> None:
        """Begin the next level: states added from now on belong to it."""
        counts = self._arrived.counts()
        self._sizes.append(int(counts.sum()))
        self._ended += counts
        self._tables.set_depth(self.depth)
        self._past.forget()
        self._arrived.begin_level()
        self._arrived.use(self._tables.cells)
        self._share_room(slice(None))

    def of_level(self, depth: int, owner: int) -> Iterator[Rows]:
        """Yield an owner's states of a level, in a few blocks; call it only while no thread adds.

        Those of the last two levels are views that last until the next level but one begins, or
        until they are spent.
        """
        if depth == self.depth:
            return self._arrived.new(owner)
        if depth == self.depth - 1 and not self._arrived.is_spent:
            return self._arrived.before(owner)
        return self._past.states(depth, owner, self._sizes, self.count)

    def level(self, depth: int) -> Iterator[tuple[int, Rows]]:
        """A level's states in a few blocks, with the owner's number, which does not go down."""
        for owner in range(self.owners):
            for rows in self.of_level(depth, owner):
                yield owner, rows

    def spend(self, rows: Rows) -> None:
        """Give back the memory of a piece of the level before, whose states all stay in the tables.

        `rows` is what `of_level` gave or a part of it. Pieces that are too small to matter stay.
        """
        if rows.nbytes >= _SPENT_BYTES and rows.base is not None:
            self._arrived.spend(rows)

    # --- adding ----------------------------------------------------------------------------------

    def add(self, rows: Rows, thread: int = 0) -> None:
        """Add the rows that are new to their owners. Raises `TooManyStates`, `StrayBits`."""
        at = [0]

        def add(code: Functions, cells: int, mine: int) -> bool:
            row = code["add_states"](cells, mine, self.owners, address(rows), at[0], len(rows))
            if row == STRAY:
                raise StrayBits
            at[0] = row
            return row == len(rows)

        self._while_there_is_room(add, thread)

    def explore(self, job: NDArray[np.int64], thread: int = 0) -> bool:
        """Go on with a job of `checker.storage.explore_loop`, and add what it finds.

        Returns whether it is done; if not, the state that it is at faults. Raises `TooManyStates`,
        `StrayBits`.
        """
        ended = [DONE]

        def explore(code: Functions, cells: int, mine: int) -> bool:
            ended[0] = code["explore"](cells, mine, self.owners, address(job))
            return ended[0] != NO_ROOM

        self._while_there_is_room(explore, thread)
        if ended[0] == ASTRAY:
            raise StrayBits
        return ended[0] == DONE

    def _while_there_is_room(
        self, work: Callable[[Functions, int, int], bool], thread: int
    ) -> None:
        """Do what is done once it says so; where it stops before, for want of room, make some."""
        cells, mine = address(self._tables.cells), address(self._arrived.rooms[thread])
        while True:
            with self._standstill.working() if self._standstill else nullcontext(0) as number:
                is_done = work(self._functions, cells, mine)
            if is_done:
                return
            if self._standstill:
                self._standstill.ask(number)
            else:
                for make_room in self._to_grow():
                    make_room()

    # --- room ------------------------------------------------------------------------------------

    def _counts(self) -> NDArray[np.int64]:
        """How many states each owner has."""
        return self._ended + self._arrived.counts()

    def _are_small(self) -> NDArray[np.bool_]:
        small: NDArray[np.bool_] = self._tables.entries() < _LINES_LARGE * LINE
        return small

    def _most(self) -> NDArray[np.int64]:
        """How many states each owner's table is filled with."""
        load = np.where(self._are_small(), _LOAD_SMALL, _LOAD_MAX)
        most: NDArray[np.int64] = (self._tables.entries() * load).astype(int)
        return most

    def _hurry(self) -> None:
        """Leave threads no room, so that each stops at its next new state."""
        for room in self._arrived.rooms:
            room[:, LIMIT] = 0

    def _to_grow(self) -> list[Callable[[], None]]:
        """Divide the room anew, and return the chores that make more; no thread adds meanwhile."""
        self._share_room(slice(None))
        rooms = self._arrived.rooms
        counts, most = self._counts(), self._most()
        lacking = most - counts <= np.maximum((1 - _NEARLY) * most, _ROOM_MIN * len(rooms))
        for owner in range(self.owners):
            lacking[owner] |= self._is_cramped(owner) or self._arrived.is_full(owner)
        if lacking.any():
            nearly = np.where(self._are_small(), _NEARLY_SMALL, _NEARLY)
            lacking |= counts >= nearly * most
        return [partial(self._make_room, int(owner)) for owner in np.flatnonzero(lacking)]

    def _is_cramped(self, owner: int) -> bool:
        return any(room[owner, CRAMPED] for room in self._arrived.rooms)

    def _make_room(self, owner: int) -> None:
        """Grow an owner's table, or have more of its lines looked through."""
        if self._arrived.is_full(owner):
            raise TooManyStates
        most = int(self._most()[owner])
        if self._is_cramped(owner) and int(self._counts()[owner]) < most / 2:
            self._tables.look_further(owner)
        else:
            lines = int(self._tables.entries()[owner]) // LINE
            self._tables.resize(owner, self._larger(owner, lines))
        for room in self._arrived.rooms:
            room[owner, CRAMPED] = 0
        self._share_room(slice(owner, owner + 1))

    def _larger(self, owner: int, lines: int) -> int:
        """The next size of an owner's table.

        Owners fill alike: large tables should not be at their emptiest at once.
        """
        if lines * _GROWTH_SMALL <= _LINES_SMALL:
            return lines * _GROWTH_SMALL
        if lines < _LINES_LARGE:
            return lines * _GROWTH
        return _next(_LINES_LARGE * _GROWTH_LARGE ** (owner / self.owners), _GROWTH_LARGE, lines)

    def _share_room(self, owners: slice) -> None:
        """Divide what is left of tables among the threads."""
        left = self._most() - self._counts()
        each = np.maximum(left[owners], 0) // len(self._arrived.rooms)
        for thread, room in enumerate(self._arrived.rooms):
            end = (thread + 1) * self._arrived.rows_each
            room[owners, LIMIT] = np.minimum(room[owners, NEXT] + each, end)


def _next(first: float, growth: float, lines: int) -> int:
    """The first of a geometric series that is clearly more than so many."""
    while first < lines * (1 + growth) / 2:
        first *= growth
    return int(first)


@functools.cache
def recipe_of(words: int, *, alone: bool) -> Recipe:
    """The loops over tables, for states of so many words, and for one thread or several."""
    cells, room, rows, of_words = block_of(CELLS), block_of(ROOM), block_of(words), constant(words)
    adds = cells, room, NUMBER, rows, NUMBER, NUMBER, of_words, constant(alone)
    explores = cells, room, NUMBER, NUMBERS, of_words, constant(alone)
    moves = cells, cells, NUMBER, NUMBER, NUMBER, rows, of_words
    finds = cells, NUMBER, NUMBER, NUMBER, NUMBER, rows, NUMBERS, NUMBER, NUMBERS, of_words
    return own_recipe((add_states, adds), (explore, explores), (move, moves), (states_at, finds))
