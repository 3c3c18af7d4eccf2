"""Compaction: which sorted runs of an owner to merge, and when.

New states come as one run a level. Searching all of them costs more with each level, rewriting all
of them at each level costs more still. In between: a run is merged once all that came after it
together are as large. Each state is then rewritten about as often as the logarithm of their
number, and there are never more runs than that.
"""

from __future__ import annotations

from checker.search.engines.task import OwnerPlan, SortedFile


class Tiers:
    """The runs of one owner, oldest and largest first, with their sizes."""

    def __init__(self) -> None:
        self.runs: list[tuple[SortedFile, int]] = []
        self.obsolete: list[str] = []
        """Merged runs that a later one has replaced."""
        self._merged: set[str] = set()

    def add(self, run: SortedFile, rows: int) -> None:
        """One more run."""
        self.runs.append((run, rows))

    def plan(self, merged: str) -> OwnerPlan:
        """What to search at the next level, and what to merge into a run of that name before."""
        keep = len(self.runs)
        tail = 0
        while keep > 0 and (tail == 0 or self.runs[keep - 1][1] < tail):
            keep -= 1
            tail += self.runs[keep][1]
        kept, tail_runs = self.runs[:keep], self.runs[keep:]
        if len(tail_runs) < 2:
            return OwnerPlan(runs=tuple(run for run, _ in self.runs))
        self.obsolete += [run.name for run, _ in tail_runs if run.name in self._merged]
        self._merged.add(merged)
        self.runs = [*kept, (SortedFile(merged), tail)]
        return OwnerPlan(
            runs=tuple(run for run, _ in kept),
            merge=tuple(run for run, _ in tail_runs),
            merged=merged,
        )
