"""Questions about cells, and the common superset of their settings, so that one kernel serves all.

The superset covers every value of every axis of the system, not only those of one grid, and the
repairs of the catalogue: advice and causes look beyond the grid, and the next grid of the same size
finds its kernel made. Each value is
looked at by itself: a cell whose values have something only together would get a kernel of its own.
"""

from __future__ import annotations

import functools
from dataclasses import replace

from waterline.checker.batch.question import Question
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.matrix.grid import (
    CLAIMS,
    FAULT,
    STATES_MAX_OF_A_TRIAL,
    VERSION,
    Cell,
    Grid,
    axes_of,
)
from waterline.checker.kafka.scenarios.repairs import REPAIRS, repair_version
from waterline.checker.problem.problem import Shared, sharing
from waterline.checker.search.result import Budgets
from waterline.model.core.claim import Judged
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment
from waterline.model.message.settings import settings_of
from waterline.model.message.versions import version_of


def question_of(cell: Cell, grid: Grid, *, stop_at_first: bool = False) -> Question:
    """Return the question about a cell."""
    problem = replace(cell.problem(grid.invariants), shared=shared_by(grid, cell))
    most = grid.max_states
    if grid.first_look and cell.size != grid.size_asked(cell):
        most = min(most, STATES_MAX_OF_A_TRIAL)
    budgets = Budgets(max_states=most, stop_at_first=stop_at_first, enough=_enough(cell, grid))
    return Question(problem, budgets, name=cell.coordinates[FAULT])


def _enough(cell: Cell, grid: Grid) -> frozenset[str]:
    """Return the worst claim that Kafka promises there, none unless it is enough for the grid."""
    if not grid.worst_is_enough:
        return frozenset()
    settings = settings_of(cell.environment, version_of(cell.version))
    known: tuple[Judged, ...] = (*MESSAGE.invariants, *MESSAGE.properties)
    promised = {c.name for c in known if c.applies(settings) and c.contract(settings) is None}
    asked = promised.intersection(grid.invariants)
    return frozenset([claim.name for claim in CLAIMS if claim.name in asked][:1])


def shared_by(grid: Grid, cell: Cell) -> Shared:
    """Return the limits that cover any cell of this shape, for this grid's size and claims."""
    return _shared_by(
        grid.system,
        grid.replicas,
        cell.environment.records,
        grid.epochs,
        grid.invariants,
        _shape(cell),
        is_unbounded=grid.is_unbounded,
    )


def _shape(cell: Cell) -> tuple[object, ...]:
    """Return the features that change the layout of states: few cells share such a kernel."""
    found = cell.environment
    return found.replicas, found.reassignments > 0, found.taken_directories > 0


@functools.lru_cache(maxsize=32)
def _shared_by(
    system: str,
    replicas: int,
    records: int,
    epochs: int,
    invariants: tuple[str, ...],
    shape: tuple[object, ...],
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
        is_raised=True,
    )
    standard = {axis.name: axis.default for axis in axes}
    faults = [standard, *({**standard, FAULT: v.name} for v in everywhere.axis(FAULT).values)]
    alike = [place for place in faults if _has(everywhere, place, shape)]
    places = [{**alike[0], axis.name: value.name} for axis in axes for value in axis.values]
    cells = [c for c in (_cell(everywhere, p) for p in places) if c is not None]
    problems = [cell.problem(invariants) for cell in cells if _shape(cell) == shape]
    shared = sharing(problems)
    return replace(shared, actions=shared.actions | _actions_of_repairs(system))


@functools.cache
def _actions_of_repairs(system: str) -> frozenset[str]:
    """Return the actions that some version has with a repair; it needs no other settings."""
    known = [
        value.name for axis in axes_of(system) if axis.name == VERSION for value in axis.values
    ]
    repaired = {repair_version(version, repair) for version in known for repair in REPAIRS}
    problems = (MESSAGE.problem(version, Environment(), ()) for version in repaired if version)
    return frozenset(name for problem in problems for name in problem.model.contents)


def _has(grid: Grid, place: dict[str, str], shape: tuple[object, ...]) -> bool:
    cell = _cell(grid, place)
    return cell is not None and _shape(cell) == shape


def _cell(grid: Grid, place: dict[str, str]) -> Cell | None:
    """The cell there; None where there is none, as two replicas in sync of one."""
    try:
        return grid.cell(place)
    except BadEnvironment:
        return None
