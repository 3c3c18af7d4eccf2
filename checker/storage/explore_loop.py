"""Compiled loop that expands rows and inserts successors into the visited table.

Coming back to Python for every few thousand states would cost threads more time than their work:
each time they wait for one another.
"""

from __future__ import annotations

from typing import Any

from waterline.checker.compiler.loops import FAULT
from waterline.checker.compiler.machine_words import address_of, call_at, rows_at
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
