"""Claims that a command adds to those of a family: `nowhere`, of a condition, and `none`.

A condition (`--where`) is part of a problem's specification, so that a run directory, a trace and
another process have it with the rest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import WHERE, ProblemSpec
from waterline.checker.problem.words import Words
from waterline.counterexamples import NO_CLAIM
from waterline.model.core.claim import Invariant
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model

NOWHERE = "nowhere"
"""The claim that the condition is true in no reachable state."""


class Condition(Protocol):
    """A condition about a state, which a family has read from `text` (`Family.condition`)."""

    @property
    def text(self) -> str:
        """The text that the user gave."""

    @property
    def holds(self) -> Callable[[Any, Any], bool]:
        """True of a state and the settings where the condition is true."""

    @property
    def fails(self) -> Callable[[Any, Any], bool]:
        """The opposite of `holds`."""

    def values(self, state: State) -> str:
        """Return the values of the fields that the condition reads at constant indices."""


def with_asked(problem: Problem, spec: ProblemSpec) -> Problem:
    """The problem with the claims of a specification that its family has not.

    Raises `BadEnvironment`, which `BadCondition` is one of.
    """
    if spec.where is None:
        return _with_claim(problem, nothing()) if NO_CLAIM in (spec.claims or ()) else problem
    family = problem.family
    assert family is not None
    if problem.model.concretise is not None:
        raise BadEnvironment(
            "--where may name an epoch or a record, which have no fixed names under --unbounded; "
            "leave one of them out"
        )
    claimed = _with_claim(problem, nowhere(family.condition(spec.where, problem.model)))
    model = replace(claimed.model, options={**claimed.model.options, WHERE: spec.where})
    return replace(claimed, model=model, family=replace(family, words=_words(family.words)))


def where_asked(problem: Problem, where: str, names: tuple[str, ...] = ()) -> Problem:
    """Return the problem of finding a state where the condition is true. Raises `BadEnvironment`.

    `names` are claims that are checked too.
    """
    assert problem.family is not None
    claims = frozenset((*names, NOWHERE))
    return problem.family.make(replace(problem.spec, where=where.strip(), claims=claims))


def nowhere(asked: Condition) -> Invariant:
    """Return the claim that the condition is true in no reachable state."""

    def explain(state: State, settings: Any) -> str:
        values = asked.values(state)
        return f"Here it is true that {asked.text}" + (f": {values}." if values else ".")

    return Invariant(
        name=NOWHERE,
        sentence=f"In no state it is true that {asked.text}.",
        holds=asked.fails,
        explain=explain,
        default=False,
    )


def nothing() -> Invariant:
    """Return the placeholder claim of a trace that breaks none."""
    return Invariant(
        name=NO_CLAIM,
        sentence="No claim is asked: the steps were chosen by hand.",
        holds=_holds,
        explain=lambda state, settings: "",
        default=False,
    )


def _holds(state: Any, settings: Any) -> bool:
    return True


def _with_claim(problem: Problem, claim: Invariant) -> Problem:
    """Add a claim to the model's own. Raises `BadEnvironment` if its name is taken."""
    names = {each.name for each in problem.claims}
    if claim.name in names or (claim.name == NOWHERE and WHERE in problem.model.options):
        taken = claim.name if claim.name in names else WHERE
        raise BadEnvironment(
            f"{problem.model.name} calls something {taken!r}, which has a meaning of its own here; "
            "call it otherwise"
        )
    return replace(problem, invariants=(*problem.invariants, claim))


def _words(words: Words) -> Words:
    """The words of a family, said of a model without the condition."""

    def without(describe: Callable[[Model], str]) -> Callable[[Model], str]:
        def describe_without(model: Model) -> str:
            options = {name: value for name, value in model.options.items() if name != WHERE}
            return describe(replace(model, options=options))

        return describe_without

    return replace(
        words,
        title=without(words.title),
        sizes=without(words.sizes),
        scope=without(words.scope),
        letters=without(words.letters),
    )
