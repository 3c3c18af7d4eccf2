"""Judgement of mutants: each is explored within the bounds of the model, and compared with it.

A mutant is a text of its own, whose rules are compiled from that text alone. Every violation is
replayed by the interpreted rules of the mutant before it counts, as in any check.
"""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from waterline.checker.batch.processes import in_order, processes_wanted
from waterline.checker.checking.run import RunRaised, run
from waterline.checker.compiler.source import NotCompilable
from waterline.checker.graph.edges import edges_of, rows_in_order
from waterline.checker.mutants.mutants import Mutant, lines_kept
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Engine, EngineChoice
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import Budgets, Result, Verdict
from waterline.checker.user_models.family import own_family
from waterline.checker.user_models.vetting import vet
from waterline.model.core.errors import BadEnvironment
from waterline.model.own.state_class import Bound

STATES_MAX = 2_000_000
"""Most states of a model whose mutants are judged."""
_GROWTH, _FEW = 20, 20_000
"""A mutant may have so many times the states of the model, and so many at least."""
AN_ERROR = "an error"
"""Notices a mutant whose rules raise."""
_MANY = 12
"""From so many mutants on processes are worth their start."""


class Fate(enum.Enum):
    """Outcome of a mutant within the bounds."""

    NOTICED = "noticed"
    """A claim is violated, or at another depth; a situation is not reached; a rule raises."""
    SURVIVES = "survives"
    """It reaches other states, or begins in others, and no claim notices."""
    OTHER_STEPS = "other steps"
    """It reaches the same states by other steps, and no claim notices."""
    STUTTERS = "stutters"
    """The same states and steps, but for steps that change nothing."""
    EQUIVALENT = "equivalent"
    """The same states, and the same steps."""
    GROWS = "grows"
    """It has more states than were allowed; no claim had noticed by then."""
    INVALID = "invalid"
    """The compiler refuses it."""


OPEN = (Fate.SURVIVES, Fate.OTHER_STEPS, Fate.GROWS)
"""Fates that ask for a claim, or for a reason."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """A mutant's fate: `by` names what notices it, `why` is a refusal or an error.

    `states` are those reached until it was noticed, or until the end.
    """

    fate: Fate
    by: tuple[str, ...] = ()
    why: str = ""
    states: int = 0


@dataclass(frozen=True, slots=True)
class Space:
    """Digests of a complete space: all and initial states, steps, steps that change a state."""

    states: str = ""
    steps: str = ""
    moves: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Original:
    """Findings of the model itself, which its mutants are compared with.

    `violated` has a depth for each claim that does not hold, `happens` the situations reached.
    """

    file: str
    protocol: str
    bounds: Mapping[str, Bound]
    held: frozenset[str]
    violated: Mapping[str, int | None]
    happens: frozenset[str]
    never: tuple[str, ...]
    states: int
    transitions: int
    space: Space

    @property
    def states_max(self) -> int:
        """Most states that a mutant may have, by default."""
        return max(_FEW, _GROWTH * self.states)


class TooLarge(Refused, ValueError):
    """A model has too many states for its mutants to be judged."""


def explore_original(problem: Problem, file: str, bounds: Mapping[str, Bound]) -> Original:
    """Explore the model. Raises `TooLarge`, and what a rule raises."""
    kept = _Exploration(problem, Budgets(max_states=STATES_MAX), lambda result: True)
    result = kept.result
    if not result.complete:
        raise TooLarge(
            f"{problem.model.version} has more than {STATES_MAX:,} states within these bounds; "
            "lower a bound"
        )
    source, target, step = kept.steps()
    by_verdict = {
        verdict: [each for each in result.invariants if each.verdict is verdict]
        for verdict in Verdict
    }
    return Original(
        file=file,
        protocol=problem.model.version,
        bounds=dict(bounds),
        held=frozenset(each.name for each in by_verdict[Verdict.HOLDS]),
        violated={each.name: each.depth for each in by_verdict[Verdict.VIOLATED]},
        happens=frozenset(each.name for each in result.reachable if each.depth is not None),
        never=tuple(each.name for each in result.reachable if each.depth is None),
        states=result.distinct,
        transitions=len(source),
        space=Space(
            _digest(kept.rows, kept.initial),
            _digest(source, target, step),
            _moves(source, target, step),
        ),
    )


def judge_all(
    mutants: Sequence[Mutant],
    original: Original,
    *,
    states_max: int | None = None,
    processes: int | None = None,
    done: Callable[[int], None] = lambda number: None,
) -> list[Judgement]:
    """Judge every mutant, in order; `done` receives how many are judged.

    `processes` side by side, None for as many as the machine has room for where they are many.
    """
    items = [(mutant.text, original, states_max or original.states_max) for mutant in mutants]
    wanted = processes_wanted(len(items), processes) if len(items) >= _MANY or processes else 1
    found: list[Judgement] = []
    with lines_kept(original.file):
        for judged in in_order(judge, items, wanted, what="a process that judges mutants"):
            found.append(judged)
            done(len(found))
    return found


def judge(item: tuple[str, Original, int]) -> Judgement:
    """Judge the mutant with this text."""
    text, original, states_max = item
    try:
        family = own_family(text, original.file)
        problem = vet(family.problem(original.protocol, dict(original.bounds), ()))
    except (BadEnvironment, NotCompilable, Refused) as refused:
        return Judgement(Fate.INVALID, why=_line(refused))
    budgets = Budgets(max_states=states_max, enough=original.held)
    try:
        kept = _Exploration(problem, budgets, lambda result: not _notices(result, original))
    except RunRaised as raised:
        return Judgement(Fate.NOTICED, (AN_ERROR,), _line(raised), raised.run.result.distinct)
    result = kept.result
    by = _notices(result, original)
    if by:
        return Judgement(Fate.NOTICED, by, states=result.distinct)
    judged = {each.name for each in result.invariants if each.verdict is not Verdict.INCOMPLETE}
    if not result.complete or not judged >= original.held:
        return Judgement(Fate.GROWS, states=result.distinct)
    return Judgement(_fate(kept, original), states=result.distinct)


def _notices(result: Result, original: Original) -> tuple[str, ...]:
    """Names of what comes out otherwise than for the model, as far as it was explored."""
    violated = {each.name: each.depth for each in result.violated}
    by = [name for name in violated if name not in original.violated]
    if result.complete:
        for name, depth in original.violated.items():
            if name not in violated:
                by.append(f"{name} holds")
            elif violated[name] != depth:
                by.append(f"{name} after {violated[name]} steps, not {depth}")
        happens = {each.name for each in result.reachable if each.depth is not None}
        by += [f"never {name}" for name in sorted(original.happens - happens)]
    return tuple(by)


def _fate(kept: _Exploration, original: Original) -> Fate:
    if _digest(kept.rows, kept.initial) != original.space.states:
        return Fate.SURVIVES
    source, target, step = kept.steps()
    if _digest(source, target, step) == original.space.steps:
        return Fate.EQUIVALENT
    if _moves(source, target, step) == original.space.moves:
        return Fate.STUTTERS
    return Fate.OTHER_STEPS


class _Exploration:
    """A search, and its states in the order of their words where they are wanted."""

    def __init__(
        self, problem: Problem, budgets: Budgets, wanted: Callable[[Result], bool]
    ) -> None:
        self._problem = problem
        self._levels: list[list[Rows]] = []

        def keep(engine: Engine, result: Result) -> None:
            if wanted(result):
                for level in result.levels:
                    self._levels.append(list(engine.over_level(level.depth, np.copy)))

        choice = EngineChoice(name="local", threads=1)
        self.result = run(problem, choice, budgets=budgets, finished=keep).result

    @cached_property
    def rows(self) -> Rows:
        """Every state."""
        return rows_in_order([part for level in self._levels for part in level])

    @property
    def initial(self) -> Rows:
        """The initial states."""
        return rows_in_order(self._levels[0])

    def steps(self) -> Sequence[np.ndarray]:
        """Source, target and action with arguments of every step, by source and then by action."""
        bare = replace(
            self._problem, invariants=(), properties=(), reachable=(), behaviours=(), asked=None
        )
        prepare(bare)
        return edges_of(bare, self.rows, lambda outside: None)


def _moves(source: np.ndarray, target: np.ndarray, step: np.ndarray) -> str:
    changed = source != target
    return _digest(source[changed], target[changed], step[changed])


def _digest(*arrays: np.ndarray) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(f"{array.shape}{array.dtype}".encode())
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def _line(problem: BaseException) -> str:
    return str(problem).partition("\n")[0]
