"""Digest of a problem: equal digests mean equal verdicts, counts and traces, by the same program.

It is made of what the problem declares, and of what the compiler reads of its rules and claims: the
functions that are called, and all that is looked up while they are compiled, by content. Only what
the version has and what is checked counts: another claim, or an action of another version, changes
nothing; nor does a comment or a docstring.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterator
from dataclasses import replace

from checker.compiled.asking import questions_for
from checker.compiled.content import content_of
from checker.compiled.kernel import recipes_of
from checker.compiled.program import Recipe, called
from checker.compiled.text_key import lines_of
from checker.problems.problem import Problem
from model.kit.claim import Recoverable, predicates_of


def problem_digest(problem: Problem) -> str:
    """A name for the question and the rules. Raises `NotCompilable`, `TooLargeToNumber`."""
    alone = replace(problem, shared=None)
    digest = hashlib.sha256()
    for fact in _declared(alone):
        digest.update(f"{fact}\n".encode(errors="surrogatepass"))
    for role, function in _called_by(alone):
        digest.update(f"{role}: {content_of(function, exact=False)}\n".encode())
    for recipe in _recipes(alone):
        for line in lines_of(called(recipe).found):
            digest.update(line.encode(errors="surrogatepass"))
        digest.update(b"\n")
    return digest.hexdigest()[:32]


def _declared(problem: Problem) -> Iterator[str]:
    """What a search reads of a problem beside its functions."""
    model = problem.model
    yield repr((model.name, model.version, sorted(model.options.items())))
    yield repr((model.settings._fields, tuple(map(int, model.settings)), model.limits))
    yield repr((model.layout.digest, sorted(model.layout.sizes.items())))
    yield repr([state.words for state in model.initial])
    yield repr((problem.symmetry, sorted(problem.asked_names), problem.checked))


def _recipes(problem: Problem) -> Iterator[Recipe]:
    yield from recipes_of(problem)
    if (questions := questions_for(problem)) is not None:
        yield questions.recipe


def _called_by(problem: Problem) -> Iterator[tuple[str, types.FunctionType]]:
    """The functions that a search calls, by what for."""
    model = problem.model
    for action in model.enabled_actions:
        parameters = [(parameter.name, parameter.over) for parameter in action.parameters]
        kind = (action.stays_normal, action.weakly_fair)
        yield f"guard of {action.name} {parameters} {kind}", _plain(action.guard)
        yield f"effect of {action.name} {action.budget}", _plain(action.effect)
        if action.limit is not None:
            yield f"limit of {action.name}", _plain(action.limit)
    if model.normalise is not None:
        yield "normal form", _plain(model.normalise)
    for invariant in problem.applicable:
        yield f"invariant {invariant.name}", _plain(invariant.holds)
    for claim in problem.applicable_properties:
        yield f"property {claim.name}", _plain(claim.keeps)
    for behaviour in problem.applicable_behaviours:
        said = behaviour.by if isinstance(behaviour, Recoverable) else (behaviour.pattern.value,)
        for predicate in predicates_of(behaviour):
            yield f"behaviour {behaviour.name} {sorted(said)}", _plain(predicate)
    for reachable in problem.reachable:
        yield f"reachable {reachable.name}", _plain(reachable.happens)


def _plain(function: object) -> types.FunctionType:
    assert isinstance(function, types.FunctionType)  # or it would not have been compiled
    return function
