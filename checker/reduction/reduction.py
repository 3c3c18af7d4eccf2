"""The reduced problem: a smaller model with the same verdicts.

What is left out, postponed and taken at once is said by `Reduction`. Depths, counts and traces are
those of the smaller model: none is the full one's.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

from checker.compiler import cache
from checker.compiler.text_key import key_of_ours
from checker.problem.problem import Problem
from checker.problem.reduction import Reduction
from checker.reduction.plan import CannotReduce, Decisions, as_text, of_text
from checker.reduction.smaller import smaller_model


def reduced(problem: Problem) -> Problem:
    """The reduced form of a problem, which its `reduction` describes. Raises `CannotReduce`.

    Of a family that says so alone: the analysis has said HOLDS of own models that were violated.
    """
    family = problem.family
    if family is None or not family.is_reducible:
        raise CannotReduce(
            f"--reduce is for Kafka's own versions, and {problem.model.name} is none: of own "
            "models it may say HOLDS of what is violated; leave out --reduce"
        )
    return reduced_as_analysed(problem)


def reduced_as_analysed(problem: Problem) -> Problem:
    """The same of any problem, whether its verdicts can be relied on or not: to judge the analysis.

    Raises `CannotReduce`.
    """
    _require_states_and_steps(problem)
    decisions = _decisions(problem)
    text = Reduction(
        fields=decisions.fields,
        actions=decisions.actions,
        never=decisions.never,
        postponed=tuple(each.field for each in decisions.postponed),
        writers=decisions.writers,
        at_once=tuple(dict.fromkeys(each.action for each in decisions.at_once)),
        dead=tuple(dict.fromkeys(each.field for each in decisions.dead)),
        again=reduced_as_analysed,
    )
    smaller = smaller_model(problem.model, decisions)
    return replace(problem, model=smaller, reduction=text, reduced_from=problem)


def _decisions(problem: Problem) -> Decisions:
    """How the problem's model is made smaller: found out once, and then kept."""
    key = _key(problem)
    known = cache.kept(key) if key is not None else None
    if known is not None:
        with contextlib.suppress(ValueError):
            return of_text(known)
    # Most questions are asked more than once.
    from checker.reduction.planning import decided  # noqa: PLC0415

    decisions = decided(problem)
    if key is not None:
        cache.keep(key, as_text(decisions))
    return decisions


def _key(problem: Problem) -> str | None:
    """A name for all that the decisions rest on, None where there is none."""
    model = problem.model
    claims: list[object] = [claim.holds for claim in problem.applicable]
    claims += [claim.keeps for claim in problem.applicable_properties]
    settings = model.settings
    claims += [(claim.happens, claim.applies(settings)) for claim in problem.reachable]
    return key_of_ours(
        "reduction",
        model.layout,
        tuple(settings._fields),
        tuple(settings),
        model.enabled_actions,
        tuple(state.words for state in model.initial),
        model.normalise,
        tuple(claims),
        problem.symmetry.value,
    )


def _require_states_and_steps(problem: Problem) -> None:
    """No claim is about what follows: a step that is left out may be one that is waited for."""
    behaviours = problem.applicable_behaviours
    if behaviours:
        raise CannotReduce(
            f"{behaviours[0].name} is about what follows, which --reduce does not keep; "
            "leave out --reduce, or do not ask for it"
        )
