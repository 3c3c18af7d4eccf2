"""A family with two more claims: that a condition is nowhere true, and one that claims nothing.

The condition is an option of the model, `where`, so that a run that is kept, a trace and another
process have it with the rest of the circumstances. What asks neither is the family's own problem,
unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from checker.kafka import families
from checker.problems.family import NOWHERE, WHERE, Claimed, Family
from checker.problems.problem import Problem
from checker.problems.symmetry import Symmetry
from model.kit.claim import Invariant
from model.kit.errors import BadEnvironment
from model.kit.state import State
from model.kit.transition_system import Model
from model.own.condition import Condition, condition


@dataclass(frozen=True, slots=True)
class Asked:
    """The circumstances of a family, and a condition; "" where there is none."""

    circumstances: Any
    where: str = ""

    def options(self) -> dict[str, object]:
        """Every option, and the condition as one."""
        options: dict[str, object] = self.circumstances.options()
        return {**options, WHERE: self.where} if self.where else options


@dataclass(frozen=True, slots=True, kw_only=True)
class AskingFamily(Family):
    """`base`, of which `nowhere` and `none` can be asked."""

    base: Family

    def claimed(self, version: str, circumstances: Any) -> Claimed:
        """The base's claims, and these. Raises `BadEnvironment`."""
        asked = circumstances if isinstance(circumstances, Asked) else Asked(circumstances)
        found = self.base.claimed(version, asked.circumstances)
        if not asked.where:
            return replace(found, invariants=(*found.invariants, nothing()))
        model = replace(found.model, options={**found.model.options, WHERE: asked.where})
        claim = nowhere(condition_of(asked.where, self.base, model))
        return replace(found, model=model, invariants=(*found.invariants, claim))

    def problem_of(
        self,
        version: str,
        options: Mapping[str, object],
        names: Sequence[str] = (),
        *,
        symmetry: str = Symmetry.NONE.value,
    ) -> Problem:
        """As the base's where neither is asked. Raises `BadEnvironment`."""
        if WHERE not in options and not _claims_nothing(names):
            return self.base.problem_of(version, options, names, symmetry=symmetry)
        if WHERE in options and symmetry != Symmetry.NONE.value:
            raise BadEnvironment(
                "--where may tell names apart; leave out --symmetry, which takes them for alike"
            )
        # Not by super(), which does not find a class that slots have made anew.
        return Family.problem_of(self, version, options, names, symmetry=symmetry)


def asking(base: Family) -> AskingFamily:
    """The family, and what can be asked of it beside its claims."""

    def from_options(options: dict[str, object]) -> Asked:
        given = dict(options)
        where = given.pop(WHERE, "")
        if not isinstance(where, str):
            raise BadEnvironment(f"{WHERE} is {where!r}; it must be a condition, as s.leo[0] > 1")
        return Asked(base.from_options(given), where)

    def without(told: Callable[[Model], str]) -> Callable[[Model], str]:
        def said(model: Model) -> str:
            options = {name: value for name, value in model.options.items() if name != WHERE}
            return told(replace(model, options=options))

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


def _claims_nothing(names: Sequence[str]) -> bool:
    from counterexamples import NO_CLAIM  # noqa: PLC0415 - executors have no Rich

    return NO_CLAIM in names


def nothing() -> Invariant:
    """What a trace is against that breaks no claim."""
    from counterexamples import NO_CLAIM  # noqa: PLC0415 - as above

    return Invariant(
        name=NO_CLAIM,
        sentence="No claim is asked: the steps were chosen by hand.",
        holds=_holds,
        explain=lambda state, settings: "",
        default=False,
    )


def _holds(state: Any, settings: Any) -> bool:
    return True
