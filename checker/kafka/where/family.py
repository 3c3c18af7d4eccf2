"""A family extended by one claim: a condition holds in no state.

The condition is an option of the model, `where`, so that a run that is kept, a trace and another
process have it with the rest of the circumstances. What asks neither is the family's own problem,
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from checker.kafka import families
from checker.problem.family import NOWHERE, WHERE, Claimed, Family
from checker.problem.problem import Problem
from checker.problem.symmetry import Symmetry
from counterexamples import NO_CLAIM
from model.core.claim import Invariant
from model.core.errors import BadEnvironment
from model.core.state import State
from model.core.transition_system import Model
from model.own.condition import Condition, condition


@dataclass(frozen=True, slots=True)
class Asked:
    """The circumstances of a family, and a condition; None where there is none."""

    circumstances: Any
    where: str | None = None

    def options(self) -> dict[str, object]:
        """Every option, and the condition as one."""
        options: dict[str, object] = self.circumstances.options()
        return options if self.where is None else {**options, WHERE: self.where}


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingFamily(Family):
    """`base`, of which `nowhere` and `none` can be asked."""

    base: Family

    def claimed(self, version: str, circumstances: Any) -> Claimed:
        """The base's claims, and these. Raises `BadEnvironment`."""
        asked = circumstances if isinstance(circumstances, Asked) else Asked(circumstances)
        found = self.base.claimed(version, asked.circumstances)
        if asked.where is None:
            return _with_claim(found, nothing())
        claimed = _with_claim(found, nowhere(condition_of(asked.where, self.base, found.model)))
        options = {**found.model.options, WHERE: asked.where}
        return replace(claimed, model=replace(found.model, options=options))

    def problem_of(
        self,
        version: str,
        options: Mapping[str, object],
        names: Sequence[str] = (),
        *,
        symmetry: str = Symmetry.NONE.value,
    ) -> Problem:
        """As the base's where neither is asked. Raises `BadEnvironment`."""
        # A model of one's own may have a bound of this name, which is no text.
        is_asked = isinstance(options.get(WHERE), str)
        if not is_asked and not _claims_nothing(names):
            return self.base.problem_of(version, options, names, symmetry=symmetry)
        if is_asked and symmetry != Symmetry.NONE.value:
            raise BadEnvironment(
                "--where may tell names apart; leave out --symmetry, which takes them for alike"
            )
        # Not by super(), which does not find a class that slots have made anew.
        return Family.problem_of(self, version, options, names, symmetry=symmetry)


def asking(base: Family) -> AskingFamily:
    """The family, and what can be asked of it beside its claims."""

    def from_options(options: dict[str, object]) -> Asked:
        given = dict(options)
        where = given.get(WHERE)
        if not isinstance(where, str):
            return Asked(base.from_options(given))
        del given[WHERE]
        return Asked(base.from_options(given), where)

    def without(describe: Callable[[Model], str]) -> Callable[[Model], str]:
        def said(model: Model) -> str:
            options = {name: value for name, value in model.options.items() if name != WHERE}
            return describe(replace(model, options=options))

        return said

    words = replace(
        base.words,
        title=without(base.words.title),
        sizes=without(base.words.sizes),
        letters=without(base.words.letters),
    )

    kept = {each.name: getattr(base, each.name) for each in fields(base)}
    again = base.again or (families.family_of, (base.model,))
    return AskingFamily(
        **{
            **kept,
            "from_options": from_options,
            "again": (_again, again),
            "words": words,
        },
        base=base,
    )


def _again(make: Any, arguments: tuple[Any, ...]) -> AskingFamily:
    return asking(make(*arguments))


def condition_of(text: str, family: Family, model: Model) -> Condition:
    """What a text asks of the states of a model. Raises `BadCondition`."""
    return condition(text, model.layout, model.settings, family.terms(model))


def where_asked(problem: Problem, where: str, names: Sequence[str] = ()) -> Problem:
    """The problem of finding a state in which the condition is true. Raises `BadEnvironment`.

    `names` are claims that are checked too.
    """
    family, model = problem.family, problem.model
    assert family is not None
    options = {**model.options, WHERE: where.strip()}
    named = [*names, NOWHERE]
    return asking(family).problem_of(model.version, options, named, symmetry=problem.symmetry.value)


def nowhere(asked: Condition) -> Invariant:
    """That the condition is true in no reachable state."""

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


def _with_claim(found: Claimed, claim: Invariant) -> Claimed:
    """With a claim beside the model's own. Raises `BadEnvironment` where one is called like it."""
    names = {each.name for each in found.invariants} | {each.name for each in found.properties}
    if claim.name in names or (claim.name == NOWHERE and WHERE in found.model.options):
        taken = claim.name if claim.name in names else WHERE
        raise BadEnvironment(
            f"{found.model.name} calls something {taken!r}, which has a meaning of its own here; "
            "call it otherwise"
        )
    return replace(found, invariants=(*found.invariants, claim))


def _claims_nothing(names: Sequence[str]) -> bool:
    return NO_CLAIM in names


def nothing() -> Invariant:
    """What a trace is against that breaks no claim."""
    return Invariant(
        name=NO_CLAIM,
        sentence="No claim is asked: the steps were chosen by hand.",
        holds=_holds,
        explain=lambda state, settings: "",
        default=False,
    )


def _holds(state: Any, settings: Any) -> bool:
    return True
