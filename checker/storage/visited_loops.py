"""The loops of a table of states in the order of arrival: see `checker.storage.visited`.

A table is an array of 32-bit slots. A slot is 0, or eight bits of a hash above the index of a state
plus one. A state is looked for from the slot that its hash names, until it or an empty slot is
found; nothing is ever taken out.
"""

from __future__ import annotations

from typing import Any

from waterline.checker.compiler.machine_words import prefetch, room, rows_at, shifted, slots_at
from waterline.checker.storage.blocks import hash_row, owner_of, same_row

INDEX_BITS = 24
OWNED_MAX = (1 << INDEX_BITS) - 2
"""Most states that one owner's table can hold."""
TABLE, SLOTS, STATES, CELLS = 0, 1, 2, 3
"""Cells of an owner: address and length of its table, address of its states."""
NEXT, LIMIT, ROOM = 0, 1, 2
"""Cells of the room with an owner: where the next state goes, and where to stop."""
_INDEX = (1 << INDEX_BITS) - 1
_FAR = 16
_NEAR = 8
_RING = _FAR - 1
"""Mask for the ring of hashes whose rows are prefetched."""


def _home(h: int, slots: int) -> int:
    """Where in a table of this many slots a hash belongs: its lower half, scaled."""
    slot: int = shifted((h & 0xFFFFFFFF) * slots, 32)
    return slot


def _tag(h: int) -> int:
    """Eight bits of a hash that say nothing of its slot and little of its owner."""
    tag: int = shifted(h, 32) & 0xFF
    return tag


def add_rows(cells: Any, rooms: Any, owners: int, rows: Any, row: int, end: int, words: int) -> int:
    """Add rows[row:end] to their owners' states where they are new.

    Returns `end`, or the first row without room. Memory is prefetched well before use: the slot of
    a row further on, then the state that it names.
    """
    ahead = room(_FAR)
    for far in range(row, min(row + _FAR, end)):
        h = hash_row(rows, far, words)
        ahead[far & _RING] = h
        owner = owner_of(h, owners)
        prefetch(slots_at(cells[owner, TABLE]), _home(h, cells[owner, SLOTS]))
    while row < end:
        h = ahead[row & _RING]
        if row + _FAR < end:
            later = hash_row(rows, row + _FAR, words)
            ahead[row & _RING] = later
            of = owner_of(later, owners)
            prefetch(slots_at(cells[of, TABLE]), _home(later, cells[of, SLOTS]))
        if row + _NEAR < end:
            soon = ahead[(row + _NEAR) & _RING]
            by = owner_of(soon, owners)
            named = slots_at(cells[by, TABLE])[_home(soon, cells[by, SLOTS])] & _INDEX
            if named != 0:
                prefetch(rows_at(cells[by, STATES], words), named - 1)
        if not _add(cells, rooms, owner_of(h, owners), h, rows, row, words):
            return row
        row += 1
    return end


def _add(cells: Any, rooms: Any, owner: int, h: int, rows: Any, row: int, words: int) -> bool:
    """Add one row to its owner's states if it is new; return False where it has no room."""
    table = slots_at(cells[owner, TABLE])
    states = rows_at(cells[owner, STATES], words)
    slots = cells[owner, SLOTS]
    slot = _home(h, slots)
    tag = _tag(h) << INDEX_BITS
    while table[slot] != 0:
        if table[slot] & ~_INDEX == tag and same_row(
            states, (table[slot] & _INDEX) - 1, rows, row, words
        ):
            return True
        slot += 1
        if slot == slots:
            slot = 0
    index = rooms[owner, NEXT]
    if index >= rooms[owner, LIMIT]:
        return False
    rooms[owner, NEXT] = index + 1
    for w in range(words):
        states[index, w] = rows[row, w]
    table[slot] = tag | (index + 1)
    return True


def fill(cells: Any, owner: int, end: int, words: int) -> int:
    """Put the first states of an owner, all different, into its table, which is empty."""
    table = slots_at(cells[owner, TABLE])
    states = rows_at(cells[owner, STATES], words)
    slots = cells[owner, SLOTS]
    for index in range(end):
        if index + _FAR < end:
            prefetch(table, _home(hash_row(states, index + _FAR, words), slots))
        h = hash_row(states, index, words)
        slot = _home(h, slots)
        while table[slot] != 0:
            slot += 1
            if slot == slots:
                slot = 0
        table[slot] = _tag(h) << INDEX_BITS | (index + 1)
    return 0
