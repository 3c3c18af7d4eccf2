"""Loops that explore a block of states, and that drop what was sent before.

Coming back to Python for every few thousand states would cost threads more time than their work:
each time they wait for one another.

Successors repeat, so one that was sent before is dropped. What was sent is in a direct-mapped cache
of whole states: a state belongs in one slot, where it takes the place of the last. A state that was
overwritten there is sent again, which costs time only.
"""

from __future__ import annotations

import functools
from typing import Any

from waterline.checker.compiler.loops import FAULT
from waterline.checker.compiler.machine_words import address_of, call_at, prefetch, room, rows_at
from waterline.checker.compiler.program import Recipe, own_recipe
from waterline.checker.compiler.values import constant
from waterline.checker.storage.blocks import NUMBERS, hash_row, owner_of, same_row
from waterline.checker.storage.compact_loops import STRAY, add_states

CHUNK_ROWS = 4096
"""States that are expanded at a time: their successors fit the processor's second-level cache."""

EXPAND, CANONICAL, SETTINGS, ACTIONS, CLAIMS = 0, 1, 2, 3, 4
OUT, SIZE, ORIGIN = 5, 6, 7
ROWS, END = 8, 9
FIRED, CUT, HAPPENED, DEAD, BROKEN, LEAST = 10, 11, 12, 13, 14, 15
ROW, WRITTEN, ADDED, HOW = 16, 17, 18, 19
JOB = 20
"""Cells of a job: addresses of functions, the second 0 without symmetry; the arguments of a
kernel's `expand` (`checker.compiler.loops`); then its progress: the next row to expand, how
many successors have been written, how many of these have been added, and how the last chunk
ended.
"""
DONE, NO_ROOM, FAULTY, ASTRAY = 0, 1, 2, 3
"""How it ends: all is added; some thread has no room; the state at `ROW` faults; a successor has
bits where its layout has none.
"""


def explore(cells: Any, mine: Any, owners: int, job: Any, words: int, alone: bool) -> int:
    """Go on with a job, as far as there is room. `alone` says that no other thread adds too."""
    out = rows_at(job[OUT], words)
    while True:
        end = job[WRITTEN]
        row = add_states(cells, mine, owners, out, job[ADDED], end, words, alone)
        if row == STRAY:
            return ASTRAY
        job[ADDED] = row
        if row < end:
            return NO_ROOM
        if job[HOW] == FAULT:
            job[HOW] = 0
            return FAULTY
        if job[ROW] >= job[END]:
            return DONE
        expand_chunk(job)


def expand_chunk(job: Any) -> int:
    """Write the successors of the next chunk of states; none of them has been added yet."""
    job[HOW] = call_at(
        job[EXPAND],
        job[SETTINGS],
        job[ACTIONS],
        job[CLAIMS],
        job[ROWS],
        job[ROW],
        min(job[ROW] + CHUNK_ROWS, job[END]),
        job[OUT],
        job[SIZE],
        job[ORIGIN],
        job[FIRED],
        job[CUT],
        job[HAPPENED],
        job[DEAD],
        job[BROKEN],
        job[LEAST],
        address_of(job, ROW),
    )
    job[ADDED] = 0
    if job[CANONICAL] != 0:
        call_at(job[CANONICAL], job[OUT], job[WRITTEN])
    return 0


CACHE, MASK, BUFFERS, RECEIVERS, ROOM, BOX = 0, 1, 2, 3, 4, 5
"""Cells of a box: address of the cache, its slots less one; address of the buffers, which are
contiguous, their number, and the states that fit into each.
"""
_FAR = 16
_RING = _FAR - 1
"""Mask for the ring of hashes whose rows are prefetched."""


def home(h: int, mask: int) -> int:
    """Where in the cache a hash belongs. The other half of it says who receives the state."""
    slot: int = h & mask
    return slot


def send(box: Any, filled: Any, job: Any, words: int) -> int:
    """Go on with a job of `checker.storage.explore_loop`, as far as all buffers have room.

    filled[r] is how many states are in the buffer of receiver r.
    """
    out = rows_at(job[OUT], words)
    while True:
        end = job[WRITTEN]
        row = _deal(box, filled, out, job[ADDED], end, words)
        job[ADDED] = row
        if row < end:
            return NO_ROOM
        if job[HOW] == FAULT:
            job[HOW] = 0
            return FAULTY
        if job[ROW] >= job[END]:
            return DONE
        expand_chunk(job)


def _deal(box: Any, filled: Any, rows: Any, row: int, end: int, words: int) -> int:
    """Deal rows[row:end]; returns `end`, or the first row whose buffer is full."""
    cache = rows_at(box[CACHE], words)
    buffers = rows_at(box[BUFFERS], words)
    mask = box[MASK]
    receivers = box[RECEIVERS]
    most = box[ROOM]
    ahead = room(_FAR)
    for far in range(row, min(row + _FAR, end)):
        h = hash_row(rows, far, words)
        ahead[far & _RING] = h
        prefetch(cache, home(h, mask))
    while row < end:
        h = ahead[row & _RING]
        slot = home(h, mask)
        if not same_row(cache, slot, rows, row, words):
            receiver = owner_of(h, receivers)
            at = filled[receiver]
            if at >= most:
                return row
            filled[receiver] = at + 1
            to = receiver * most + at
            for w in range(words):
                cache[slot, w] = rows[row, w]
                buffers[to, w] = rows[row, w]
        if row + _FAR < end:
            later = hash_row(rows, row + _FAR, words)
            ahead[row & _RING] = later
            prefetch(cache, home(later, mask))
        row += 1
    return end


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The loop for states of so many words."""
    return own_recipe((send, (NUMBERS, NUMBERS, NUMBERS, constant(words))))
