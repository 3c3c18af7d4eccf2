"""A matrix: a grid with its outcomes."""

from __future__ import annotations

import time
from dataclasses import dataclass

from waterline.checker.batch.question import Explorer
from waterline.checker.kafka.matrix.deepening import Follow, explore_raised, ignore_progress
from waterline.checker.kafka.matrix.grid import Grid
from waterline.checker.kafka.matrix.outcome import Outcome, Standing


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A grid and what came out, cell by cell. `interrupted`: the user ended it early."""

    grid: Grid
    outcomes: tuple[Outcome, ...]
    engine: str
    seconds: float
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """True if every cell has a result, and nothing was interrupted."""
        return not self.interrupted and self.count(Standing.INCOMPLETE) == 0

    @property
    def distinct(self) -> int:
        """States of all cells together, each at its last bounds."""
        return sum(outcome.answer.distinct for outcome in self.outcomes)

    def count(self, standing: Standing) -> int:
        """Return the number of cells with this standing."""
        return sum(outcome.standing is standing for outcome in self.outcomes)


def explore_grid(
    grid: Grid, explorer: Explorer, *, engine: str, follow: Follow = ignore_progress
) -> Matrix:
    """Explore every cell of a grid."""
    started = time.monotonic()
    raised = explore_raised(grid, list(grid.cells()), explorer, follow=follow)
    return Matrix(
        grid=grid,
        outcomes=tuple(
            o.instead_of(o.cell.size.instead_of(grid.size_asked(o.cell))) for o in raised.outcomes
        ),
        engine=engine,
        seconds=time.monotonic() - started,
        interrupted=raised.interrupted,
    )
