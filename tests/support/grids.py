"""Small grids, explored once for all tests."""

from __future__ import annotations

import functools
from typing import Any

from waterline.checker.batch.in_memory import exploring
from waterline.checker.kafka.matrix.grid import AXES, UNCLEAN, Grid, grid_over
from waterline.checker.kafka.matrix.matrix import Matrix, explore_grid
from waterline.checker.kafka.matrix.outcome import Outcome
from waterline.checker.search.engines.engine import EngineChoice

NAMES = [axis.name for axis in AXES]
SMALL = grid_over(
    NAMES,
    [
        ("min.insync.replicas", "1"),
        *(("acks", acks) for acks in ("1", "all")),
        *(("version", version) for version in ("hw", "epoch", "elr")),
        *(("faults", fault) for fault in ("one crash", "power loss")),
    ],
)
TINY = grid_over(["version", "acks"], [("faults", "one crash")], records=1, epochs=1)


def explored(grid: Grid, choice: EngineChoice) -> Matrix:
    """The grid, explored anew."""
    with exploring(choice) as explorer:
        return explore_grid(grid, explorer, engine=choice.name)


@functools.cache
def small_matrix() -> Matrix:
    """`SMALL` as this process explores it."""
    return explored(SMALL, EngineChoice(name="local"))


@functools.cache
def two_crashes() -> Matrix:
    """`hw` with two crashes, with and without unclean elections."""
    only = [("version", "hw"), ("faults", "two crashes"), ("min.insync.replicas", "1")]
    return explored(grid_over([UNCLEAN], only), EngineChoice(name="local"))


def cell_of(matrix: Matrix, **coordinates: str) -> Outcome:
    """The one cell with these coordinates."""
    [found] = [o for o in matrix.outcomes if coordinates.items() <= o.cell.coordinates.items()]
    return found


def without_engine(told: dict[str, Any]) -> dict[str, Any]:
    """The JSON object without what depends on engine and machine."""
    for place in (told, *told["cells"]):
        for name in ("engine", "seconds"):
            place.pop(name, None)
    return told
