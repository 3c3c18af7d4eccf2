"""Candidate repairs: one rule switched, one fault removed, one setting changed.

Which they are follows from the tables of the family: of Kafka's message grain the features and the
fields of its environment, of any other its versions and options. None of them is held to be better
than another; exploring says which hold (`checker.analysis.explain.repairs`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum

from waterline.checker.kafka.families import GRAINS, MESSAGE
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import ProblemSpec
from waterline.checker.problem.wording import as_option
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
