"""Digest of a search's inputs: its problem's declarations, and the values its rules read.

Equal digests mean equal verdicts, counts and traces, by the same program. The digest of the
question alone lacks the look-ups in the functions called; their record goes with it. Only the
version's actions and the claims checked count: another claim, or an action of another version,
changes nothing; nor does a comment or a docstring.
"""

from __future__ import annotations

import hashlib
import json
import types
from collections.abc import Iterator
from typing import Any

from waterline.checker.compiler.content import content_of
from waterline.checker.compiler.lookup_record import Record, found_again, record_of
from waterline.checker.compiler.predicate_loop import rules_of
from waterline.checker.compiler.program import look_up_anew, program_facts
from waterline.checker.problem.problem import Problem
from waterline.model.core.claim import Recoverable, predicates_of


def problem_digest(problem: Problem) -> str:
    """A name for the question and all of its rules. Raises `NotCompilable`, `TooLargeToNumber`."""
    made_of = question_digest(problem) + json.dumps(what_it_read(problem))
    return hashlib.sha256(made_of.encode(errors="surrogatepass")).hexdigest()[:32]


def question_digest(problem: Problem) -> str:
    """A name for what is declared, and for the functions that a search calls, each by itself.

    Raises `NotCompilable`.
    """
    digest = hashlib.sha256()
    for fact in _declarations(problem):
        digest.update(f"{fact}\n".encode(errors="surrogatepass"))
    for role, function in _called_by(problem):
        digest.update(f"{role}: {content_of(function, exact=False)}\n".encode())
    return digest.hexdigest()[:32]


def what_it_read(problem: Problem) -> Record:
    """Return the look-ups in the functions that a search calls, and in all that these call.

    Those of other problems that share its machine code are left out. Raises `NotCompilable`,
    `TooLargeToNumber`.
    """
    look_up_anew()
    found: dict[Any, Any] = {}
    for recipe in rules_of(problem):
        found.update(program_facts(recipe).found)
    return record_of(_roots(problem), found, exact=False)


def reads_the_same(problem: Problem, record: object) -> bool:
    """True if all that a problem's rules read by name is as in a record of `what_it_read`.

    Raises `ValueError`, `TypeError` or `IndexError` for an invalid record.
    """
    look_up_anew()
    return found_again(_roots(problem), record, exact=False) is not None


def _roots(problem: Problem) -> list[types.FunctionType]:
    return list(dict.fromkeys(function for _, function in _called_by(problem)))


def _declarations(problem: Problem) -> Iterator[str]:
    """Yield all that a search reads of a problem, except its functions."""
    model = problem.model
    yield problem.spec.digest()
    yield repr((model.settings._fields, tuple(map(int, model.settings)), model.limits))
    yield repr((model.layout.digest, sorted(model.layout.sizes.items())))
    yield repr([(field.name, field.naming) for field in model.layout.fields])
    yield repr([(field.name, field.held, field.indexed_by) for field in model.layout.fields])
    for each in model.trusted:
        takes = sorted(each.takes.items())
        believed = each.where(model.settings)
        yield repr((each.function.__qualname__, takes, each.gives, each.generic, believed))
    yield repr([state.words for state in model.initial])
    yield repr((problem.symmetry, problem.checked))


def _called_by(problem: Problem) -> Iterator[tuple[str, types.FunctionType]]:
    """The functions that a search calls, by what for."""
    model = problem.model
    for action in model.enabled_actions:
        parameters = [(parameter.name, parameter.over) for parameter in action.parameters]
        kind = (action.stays_normal, action.weakly_fair, action.strongly_fair)
        yield f"guard of {action.name} {parameters} {kind}", _plain(action.guard)
        yield f"effect of {action.name} {action.budget}", _plain(action.effect)
        if action.limit is not None:
            tries = " on a draft" if action.limit_writes else ""
            yield f"limit of {action.name}{tries}", _plain(action.limit)
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
        if reachable.begun is not None:
            yield f"reachable at the start {reachable.name}", _plain(reachable.begun)


def _plain(function: object) -> types.FunctionType:
    assert isinstance(function, types.FunctionType)  # or it would not have been compiled
    return function
