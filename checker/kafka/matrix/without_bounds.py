"""Exploration of a cell without bounds: any number of epochs, records, and of most of its faults.

What holds there holds for every larger bound (`docs/unbounded.md`), so that nothing is left to
raise. What breaks there may take more faults than the cell names. Where it does not, its trace says
which bounds to raise the cell to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from waterline.checker.batch.question import Answer
from waterline.checker.kafka.matrix.grid import CLAIMS, Cell, Grid
from waterline.checker.search.result import Verdict
from waterline.checker.traces.finding import finding_at
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.declared import option_of
from waterline.model.message.environment import FAULTS

_SEVERITY = {claim.name: rank for rank, claim in enumerate(CLAIMS)}


@dataclass(frozen=True, slots=True)
class TraceBounds:
    """Bounds within which a trace can be taken."""

    records: int
    epochs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Unbounded:
    """Result of a cell without bounds, with at most `records` in a log at one time.

    `tried` is the largest number of records tried: a confirmation with fewer is kept. `scope`
    describes what the verdicts cover. `breaks` are the claims that break here and not within the
    cell's bounds, with their depths, the worst first. `raise_to` are the bounds for the first of
    them that needs no more faults than the cell names. `answer` is None if the environment needs
    bounds: `why` says so.
    """

    records: int
    tried: int
    scope: str = ""
    answer: Answer | None = None
    breaks: tuple[tuple[str, int], ...] = ()
    raise_to: TraceBounds | None = None
    why: str = ""

    @property
    def confirms(self) -> bool:
        """True if all of it was explored, and nothing breaks that does not within bounds."""
        if self.answer is None or not self.answer.complete or self.breaks:
            return False
        return all(verdict != Verdict.INCOMPLETE.value for _, verdict, _ in self.answer.verdicts)

    def then(self, larger: Unbounded) -> Unbounded:
        """Return the result after one more record: a confirmation stays, unless more breaks."""
        if self.confirms and not larger.confirms and not larger.breaks:
            return replace(self, tried=larger.tried)
        return larger


def cell_without_bounds(grid: Grid, cell: Cell) -> Cell | str:
    """The cell with as many records in a log as it has; or why there is none."""
    try:
        found = grid.without_bounds(cell.environment.records).cell(cell.coordinates)
        found.problem(grid.invariants)
    except BadEnvironment as reason:
        return str(reason).partition(";")[0]  # The remedy is about options of `check`.
    return found


def compare(grid: Grid, cell: Cell, broken: frozenset[str], answer: Answer) -> Unbounded:
    """Return how the answer to the unbounded `cell` differs from the claims in `broken`."""
    problem = cell.problem(grid.invariants)
    assert problem.family is not None
    found = sorted(_violations(answer), key=lambda each: _SEVERITY.get(each[0], len(_SEVERITY)))
    breaks = tuple((name, depth) for name, depth in found if name not in broken)
    records = cell.environment.records
    return Unbounded(
        records=records,
        tried=records,
        scope=problem.family.words.scope(problem.model),
        answer=answer,
        breaks=breaks,
        raise_to=next(_bounds_needed(grid, cell, breaks, answer), None),
    )


def _violations(answer: Answer) -> Iterator[tuple[str, int]]:
    for name, verdict, depth in answer.verdicts:
        if verdict == Verdict.VIOLATED.value and depth is not None:
            yield name, depth


def _bounds_needed(
    grid: Grid, cell: Cell, breaks: tuple[tuple[str, int], ...], answer: Answer
) -> Iterator[TraceBounds]:
    """Yield the bounds that each trace needs which takes no more faults than the cell names."""
    problem = cell.problem(grid.invariants)
    budgets = grid.within(1, grid.epochs).cell(cell.coordinates).environment.options()
    for claim in problem.judged:
        if claim.about_abstraction or claim.name not in dict(breaks):
            continue
        taken = finding_at(problem.model, claim, answer.paths[claim.name]).model.options
        options = (option_of(name) for name in FAULTS)
        if all(_number(taken[name]) <= _number(budgets[name]) for name in options):
            yield TraceBounds(_number(taken["records"]), _number(taken["epochs"]))


def _number(value: object) -> int:
    assert isinstance(value, int)
    return value
