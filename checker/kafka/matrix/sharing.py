"""Common superset of the cells' settings, so that one kernel serves all.

It covers every value of every axis of the system, not only those of one grid: advice looks beyond
the grid, and the next grid of the same size finds its kernel made. Each value is looked at by
itself: a cell whose values have something only together would get a kernel of its own.
"""

from __future__ import annotations

import functools

from checker.kafka.matrix.grid import Cell, Grid, axes_of
from checker.problem.problem import Shared, sharing
from model.core.errors import BadEnvironment


def shared_by(grid: Grid) -> Shared:
    """What any cell of a grid of this size, with these claims, may have."""
    return _shared_by(
        grid.system,
        grid.replicas,
        grid.records,
        grid.epochs,
        grid.invariants,
        is_unbounded=grid.is_unbounded,
    )


@functools.lru_cache(maxsize=8)
def _shared_by(
    system: str,
    replicas: int,
    records: int,
    epochs: int,
    invariants: tuple[str, ...],
    *,
    is_unbounded: bool,
) -> Shared:
    axes = axes_of(system)
    everywhere = Grid(
        axes=axes,
        replicas=replicas,
        records=records,
        epochs=epochs,
        invariants=invariants,
        is_unbounded=is_unbounded,
    )
    standard = {axis.name: axis.default for axis in axes}
    places = [{**standard, axis.name: value.name} for axis in axes for value in axis.values]
    cells = filter(None, (_cell(everywhere, place) for place in places))
    return sharing([cell.problem(invariants) for cell in cells])


def _cell(grid: Grid, place: dict[str, str]) -> Cell | None:
    """The cell there; None where there is none, as two replicas in sync of one."""
    try:
        return grid.cell(place)
    except BadEnvironment:
        return None
