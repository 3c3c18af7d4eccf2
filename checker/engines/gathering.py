"""Candidates on their way to their owners, each once.

Successors repeat: about four lead to each new state. A table for each owner keeps every one from
being passed on twice by one task.
"""

from __future__ import annotations

from collections.abc import Iterator

from checker.rows import Rows
from checker.store.visited import Visited
from checker.store.visited_loops import OWNED_MAX

BLOCK_ROWS = 1 << 16
"""What is passed on at a time: Spark holds about thirty blocks in Python before it lets them go."""


class Gathering:
    """Distinct candidates by owner, `rows_max` in all or a few more.

    `room` is the most that are added at once.
    """

    def __init__(self, words: int, owners: int, *, rows_max: int, room: int) -> None:
        self.rows_max = rows_max
        self._kept = Visited(words, owners, rows_max=min(rows_max + room, OWNED_MAX))

    @property
    def is_full(self) -> bool:
        """Whether it is time to hand out what there is."""
        return self._kept.count >= self.rows_max

    def clear(self) -> None:
        """Begin anew: nothing has been passed on by this task."""
        self._kept.clear()

    def add(self, rows: Rows) -> None:
        """Take in candidates."""
        self._kept.add(rows)

    def take(self) -> Iterator[tuple[int, bytes]]:
        """Hand out everything, as (owner, block), and forget it."""
        for owner in range(self._kept.owners):
            rows = self._kept.of_owner(owner)
            for start in range(0, len(rows), BLOCK_ROWS):
                yield owner, rows[start : start + BLOCK_ROWS].tobytes()
        self._kept.clear()
