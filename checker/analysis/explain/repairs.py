"""Repairs of a violation: explores each candidate change in full.

A change repairs a claim if with it the claim holds in every reachable state within the same bounds.
Each change is explored under a budget; a change that exceeds it is reported as not decided. A claim
that holds only vacuously (its event never happens any more) is reported as such.

Which changes there are follows from the tables of the family: of Kafka's message grain the features
and the fields of its environment, of any other its versions and options. None of them is held to be
better than another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum

from waterline.checker.batch.checks import run_batch
from waterline.checker.batch.question import Question
from waterline.checker.kafka.families import GRAINS, MESSAGE
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import ProblemSpec
from waterline.checker.problem.wording import as_option
from waterline.checker.search.result import Budgets, Result, Verdict
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.declared import option_of
from waterline.model.message.environment import DECLARED, Environment
from waterline.model.message.features import FEATURES, OF_FLUSS, TRUNCATIONS
from waterline.model.message.release_names import idle_rules
from waterline.model.message.versions import KAFKA, version_of


class Kind(Enum):
    """Subject of a change."""

    RULE = "rule"
    FAULT = "fault"
    SETTING = "setting"


@dataclass(frozen=True, slots=True)
class Candidate:
    """A change as options of `check`, and the changed problem."""

    kind: Kind
    description: str
    spec: ProblemSpec


@dataclass(frozen=True, slots=True)
class Nonsense:
    """A change that means nothing, and why: a rule without what it needs, say."""

    description: str
    reason: str


def candidates(problem: Problem) -> tuple[list[Candidate], list[Nonsense]]:
    """Return every single change of a problem's version and circumstances; and the senseless ones.

    Changes of bounds are left out: a claim that holds within smaller ones is not repaired.
    """
    family = problem.family
    if family is None:
        return [], []
    changes = _of_message(problem) if family.model == MESSAGE.model else _of_any(problem, family)
    found: list[Candidate] = []
    nonsense: list[Nonsense] = []
    for change in changes:
        if change.spec == problem.spec:
            continue
        try:
            family.make(change.spec)
        except BadEnvironment as refused:
            nonsense.append(Nonsense(change.description, str(refused)))
        else:
            found.append(change)
    return found, nonsense


def _of_message(problem: Problem) -> Iterator[Candidate]:
    yield from _rules(problem)
    environment = Environment.from_options(dict(problem.spec.options))
    for name, declared in DECLARED.items():
        now, option = getattr(environment, name), option_of(name)
        if declared.only_with and not getattr(environment, declared.only_with):
            continue
        if declared.fault is not None:
            yield from _set(problem, Kind.FAULT, option, [0] if now else [])
        elif declared.values is not None:
            yield from _set(problem, Kind.SETTING, option, list(declared.values))
        elif declared.most is None and not declared.shapes:
            yield from _set(problem, Kind.SETTING, option, [not now])
        elif not declared.shapes:
            values = range(declared.least, environment.replicas + 1)
            yield from _set(problem, Kind.SETTING, option, list(values))


def _rules(problem: Problem) -> Iterator[Candidate]:
    """Every other way to truncate, every feature added that there is not, or taken out.

    What only Fluss has is added to no Kafka, nor a rule that begins with a step which is not there.
    """
    spec, version = problem.spec, problem.model.version
    rules = version_of(version)
    has = rules.feature_names
    foreign = OF_FLUSS & ~rules.features if rules.system == KAFKA else 0
    left_out = foreign | idle_rules(problem.model.contents)
    for name in (*TRUNCATIONS, *(f.name for f in FEATURES if not f.bit & left_out)):
        if name in TRUNCATIONS and name in has:
            continue
        word = "without" if name in has else "with"
        changed = replace(spec, version=f"{version}-{word}-{name}")
        yield Candidate(Kind.RULE, f"--{word} {name}", changed)


def _of_any(problem: Problem, family: Family) -> Iterator[Candidate]:
    """Every other version, and every switch turned."""
    spec = problem.spec
    is_kafkas = family.model in {grain.model for grain in GRAINS.values()}
    for version in family.versions:
        text = f"--protocol {version}" if is_kafkas else f"--model {family.model}:{version}"
        yield Candidate(Kind.RULE, text, replace(spec, version=version))
    for name, now in spec.options:
        if isinstance(now, bool):
            text = f"--set {name}={str(not now).lower()}"
            yield Candidate(Kind.SETTING, text, _with(spec, name, not now))


def _set(
    problem: Problem, kind: Kind, option: str, values: list[int] | list[str] | list[bool]
) -> Iterator[Candidate]:
    spec = problem.spec
    for value in values:
        if value != dict(spec.options)[option]:
            yield Candidate(kind, as_option(option, value), _with(spec, option, value))


def _with(spec: ProblemSpec, option: str, value: object) -> ProblemSpec:
    return replace(spec, options=tuple({**dict(spec.options), option: value}.items()))


STATES_MAX = 3_000_000
"""How many states a change is explored to."""
SECONDS_MAX = 120.0
"""How long all changes together may take, compiling aside."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """A change that was explored. `verdict` is that of the claim, `depth` of its violation.

    `states` are all there are if the run is `complete`; `unjudged` are those left open by a claim
    about behaviours, because a bound cuts steps that might help. `never` names expectations that
    the change alone makes unreachable.
    """

    candidate: Candidate
    verdict: Verdict
    depth: int | None
    states: int
    complete: bool
    unjudged: int = 0
    never: tuple[str, ...] = ()

    @property
    def repairs(self) -> bool:
        """True if the claim holds with it."""
        return self.verdict is Verdict.HOLDS and self.complete


@dataclass(frozen=True, slots=True, kw_only=True)
class Repairs:
    """All that was tried for one claim, in the order of the tables. `nonsense` was not.

    `unexplored` were left when the time was up.
    """

    problem: Problem
    claim: str
    tried: tuple[Tried, ...]
    nonsense: tuple[Nonsense, ...]
    unexplored: tuple[Candidate, ...]

    @property
    def found(self) -> tuple[Tried, ...]:
        """Changes that repair it."""
        return tuple(tried for tried in self.tried if tried.repairs)

    @property
    def undecided(self) -> tuple[Candidate, ...]:
        """Undecided changes: a budget ended their run, or the time was up."""
        ended = (t.candidate for t in self.tried if t.verdict is Verdict.INCOMPLETE)
        return (*ended, *self.unexplored)


def repairs_of(
    problem: Problem,
    *,
    threads: int = 0,
    states_max: int = STATES_MAX,
    seconds_max: float = SECONDS_MAX,
    announce: Callable[[str], None] = lambda message: None,
    watch: Callable[[int, int], None] = lambda done, of: None,
) -> tuple[Repairs, ...]:
    """Return the repairs of each claim of `problem`; each change is explored once for all claims.

    Raises as `checker.checking.run.run` does. Ctrl-C leaves the rest unexplored. `watch` receives
    how many changes are explored, of how many.
    """
    changes, nonsense = candidates(problem)
    asked = problem.asked_names
    # The first one is explored whole, whatever breaks in it: what happens in it is asked of it.
    whole = Budgets(max_states=states_max)
    first = replace(whole, stop_at_first=len(asked) == 1)
    runs = run_batch(
        [Question(problem, whole), *(Question(_apply(problem, c), first) for c in changes)],
        threads=threads,
        seconds_max=seconds_max,
        announce=announce,
        watch=watch,
    )
    results = [done.result for done in runs]
    happening = _happening(results[0]) if results else frozenset()
    explored = list(zip(changes, results[1:], strict=False))
    return tuple(
        Repairs(
            problem=problem,
            claim=claim,
            tried=tuple(
                _judge_change(claim, change, result, happening) for change, result in explored
            ),
            nonsense=tuple(nonsense),
            unexplored=tuple(changes[len(explored) :]),
        )
        for claim in asked
    )


def _apply(problem: Problem, change: Candidate) -> Problem:
    assert problem.family is not None
    return problem.family.make(change.spec)


def _happening(result: Result) -> frozenset[str]:
    return frozenset(found.name for found in result.reachable if found.depth is not None)


def _judge_change(
    claim: str, change: Candidate, result: Result, happening: frozenset[str]
) -> Tried:
    found = next(found for found in result.invariants if found.name == claim)
    return Tried(
        candidate=change,
        verdict=found.verdict,
        depth=found.depth,
        states=result.distinct,
        complete=result.complete,
        unjudged=found.unjudged,
        never=tuple(sorted(happening - _happening(result))) if result.complete else (),
    )
