"""Outbox of candidate states for other owners, each once.

Successors repeat: about four lead to each new state. A table for each owner keeps every one from
being passed on twice by one task. It is filled by the loop that a search in memory is made of.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checker.problem.packed_rows import Rows
from checker.search.engines.expander import Expander, Tally
from checker.storage.explore_loop import CHUNK_ROWS
from checker.storage.visited import Visited
from checker.storage.visited_loops import OWNED_MAX

BLOCK_ROWS = 1 << 16
"""What is passed on at a time: Spark holds about thirty blocks in Python before it lets them go."""


class Gathering:
    """Distinct candidates by owner, `rows_max` in all or what a chunk of states adds to them."""

    def __init__(self, expander: Expander, owners: int, *, rows_max: int) -> None:
        self.rows_max = rows_max
        self._expander = expander
        most = min(rows_max + len(expander.out), OWNED_MAX)
        self._kept = Visited(expander.layout.words, owners, rows_max=most)

    def expand(self, frontier: Sequence[Rows], tally: Tally) -> Iterator[tuple[int, bytes]]:
        """Successors as (owner, block), each once in every batch of `rows_max`."""
        self._kept.clear()  # A task that failed, or was not heard out, has left some.
        for rows in frontier:
            for start in range(0, len(rows), CHUNK_ROWS):
                self._expander.explore(rows[start : start + CHUNK_ROWS], tally, self._kept)
                if self._kept.count >= self.rows_max:
                    yield from self._take()
        yield from self._take()

    def _take(self) -> Iterator[tuple[int, bytes]]:
        """Hand out everything, and forget it."""
        for owner in range(self._kept.owners):
            rows = self._kept.of_owner(owner)
            for start in range(0, len(rows), BLOCK_ROWS):
                yield owner, rows[start : start + BLOCK_ROWS].tobytes()
        self._kept.clear()
