"""Exploration of one cell: a question of plain values, an answer of plain values.

Either can be sent to another machine, where the model is made again from version and options. An
executor has neither rich nor networkx: nothing here may import `counterexamples`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass, field, replace

from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.matrix.grid import CLAIMS, FAULT, Cell, Grid
from waterline.checker.kafka.matrix.sharing import shared_by
from waterline.checker.problem.packed_rows import StateWords
from waterline.checker.problem.problem import Problem, Shared
from waterline.checker.problem.spec import ProblemSpec
from waterline.checker.search.budgets import Budgets
from waterline.checker.search.engines.answers import ModelFault
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result, Verdict
from waterline.checker.search.search import search
from waterline.checker.traces.fewest_actors import paths_to_breaking
from waterline.checker.traces.predecessors import Path
from waterline.checker.traces.violating_states import breaking_states
from waterline.model.core.claim import Judged
from waterline.model.message.settings import settings_of
from waterline.model.message.versions import version_of


@dataclass(frozen=True, slots=True)
class Question:
    """Problem to explore, as plain values. `stop_at_first`: stop at the first violation.

    `invariants` are the claims to check, in the order of the answer. The search ends once a claim
    in `enough` is broken. `shared` covers the other questions of the job, so that one kernel
    answers all. `name` is for display.
    """

    spec: ProblemSpec
    invariants: tuple[str, ...]
    max_states: int
    stop_at_first: bool = False
    enough: tuple[str, ...] = ()
    shared: Shared | None = None
    name: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Findings as plain values. `paths` lead to states that break the named invariant.

    `raised_in` is the state where an action or an invariant raised; nothing else counts then.
    """

    verdicts: tuple[tuple[str, str, int | None], ...] = ()
    paths: Mapping[str, Path] = field(default_factory=dict)
    complete: bool = False
    stopped_by: str | None = None
    distinct: int = 0
    generated: int = 0
    depth: int = 0
    cut: tuple[tuple[str, int], ...] = ()
    fired: tuple[tuple[str, int], ...] = ()
    never: tuple[str, ...] = ()
    seconds: float = 0.0
    raised_in: StateWords | None = None


def question_of(cell: Cell, grid: Grid, *, stop_at_first: bool = False) -> Question:
    """Return the question about a cell."""
    claims = frozenset(grid.invariants)
    spec = ProblemSpec.of(MESSAGE.model, cell.version, cell.environment.options(), claims)
    limits = (grid.invariants, grid.max_states, stop_at_first, _enough(cell, grid))
    return Question(spec, *limits, shared_by(grid, cell), name=cell.coordinates[FAULT])


def _enough(cell: Cell, grid: Grid) -> tuple[str, ...]:
    """Return the worst claim that Kafka promises there, none unless it is enough for the grid."""
    if not grid.worst_is_enough:
        return ()
    settings = settings_of(cell.environment, version_of(cell.version))
    known: tuple[Judged, ...] = (*MESSAGE.invariants, *MESSAGE.properties)
    promised = {c.name for c in known if c.applies(settings) and c.contract(settings) is None}
    asked = promised.intersection(grid.invariants)
    return tuple(claim.name for claim in CLAIMS if claim.name in asked)[:1]


def unexplored_answer(question: Question, stopped_by: str) -> Answer:
    """The answer where there was no time for one."""
    verdicts = tuple((name, Verdict.INCOMPLETE.value, None) for name in question.invariants)
    return Answer(verdicts=verdicts, stopped_by=stopped_by)


def problem_of(question: Question) -> Problem:
    """Return the problem behind a question."""
    return replace(MESSAGE.make(question.spec), shared=question.shared)


def answer(question: Question, late: Callable[[], bool] = lambda: False) -> Answer:
    """Explore a cell in this thread. `late` may raise `KeyboardInterrupt` to end it early."""
    problem = problem_of(question)
    with closing(MemoryEngine(problem, threads=1, deadline=late)) as engine:
        budgets = Budgets(
            max_states=question.max_states,
            stop_at_first=question.stop_at_first,
            enough=frozenset(question.enough),
        )
        try:
            result = search(problem, engine, budgets=budgets)
        except ModelFault as fault:
            return Answer(raised_in=fault.words)
        breaking = breaking_states(problem, engine, result)
        return _describe(result, paths_to_breaking(problem, engine, breaking))


def _describe(result: Result, paths: dict[str, Path]) -> Answer:
    return Answer(
        verdicts=tuple((r.name, r.verdict.value, r.depth) for r in result.invariants),
        paths=paths,
        complete=result.complete,
        stopped_by=result.stopped_by,
        distinct=result.distinct,
        generated=result.generated,
        depth=result.depth,
        cut=tuple(result.cut.items()),
        fired=tuple(result.fired.items()),
        never=tuple(claim.name for claim in result.reachable if claim.depth is None),
        seconds=result.seconds,
    )
