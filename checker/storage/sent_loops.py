"""Loop that expands states and deals their successors to buffers by receiver, to be compiled.

Successors repeat, so one that was sent before is dropped. What was sent is in a direct-mapped cache
of whole states: a state belongs in one slot, where it takes the place of the last. A state that was
overwritten there is sent again, which costs time only.
"""

from __future__ import annotations

from typing import Any

from waterline.checker.compiler.loops import FAULT
from waterline.checker.compiler.machine_words import prefetch, room, rows_at
from waterline.checker.storage.blocks import hash_row, owner_of, same_row
from waterline.checker.storage.explore_loop import (
    ADDED,
    DONE,
    END,
    FAULTY,
    HOW,
    NO_ROOM,
    OUT,
    ROW,
    WRITTEN,
    expand_chunk,
)

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
