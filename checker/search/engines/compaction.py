"""Compaction: which sorted runs of an owner to merge, and when.

New states come as one run a level. Searching all of them costs more with each level, rewriting all
of them at each level costs more still. In between: a run is merged once the younger runs together
are larger. So a run that is left is as large as all younger ones together, and there are about as
many as the logarithm of the states. Each time a state is rewritten its run doubles, so that happens
about as often.
"""

from __future__ import annotations

from waterline.checker.search.engines.task import OwnerPlan, SortedFile


class Tiers:
    """The runs of one owner, oldest and largest first, with their sizes."""

    def __init__(self) -> None:
        self.runs: list[tuple[SortedFile, int]] = []
        self.obsolete: list[str] = []
        """Merged runs that a later one has replaced."""
        self._merged: set[str] = set()

    def add(self, run: SortedFile, rows: int) -> None:
        """Add one more run."""
        self.runs.append((run, rows))

    def plan(self, merged: str) -> OwnerPlan:
        """Return the runs to search at the next level, and those to merge into `merged` first."""
        keep = len(self.runs)
        younger = 0
        # Levels may shrink slowly: a run can be larger than the next, and smaller than the rest.
        for number in range(len(self.runs) - 1, -1, -1):
            size = self.runs[number][1]
            if size < younger:
                keep = number
            younger += size
        kept, tail_runs = self.runs[:keep], self.runs[keep:]
        if not tail_runs:
            return OwnerPlan(runs=tuple(run for run, _ in self.runs))
        tail = sum(size for _, size in tail_runs)
        self.obsolete += [run.name for run, _ in tail_runs if run.name in self._merged]
        self._merged.add(merged)
        self.runs = [*kept, (SortedFile(merged), tail)]
        return OwnerPlan(
            runs=tuple(run for run, _ in kept),
            merge=tuple(run for run, _ in tail_runs),
            merged=merged,
        )
