"""Errors raised by an action or a claim, reproduced by the interpreted model.

Compiled code only reports the state where something stepped out of range, or would raise. The
interpreted form of the same function shows which action, and what it did.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from waterline.checker.problem.packed_rows import StateWords
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.model.core import layout
from waterline.model.core.claim import Reachable, predicates_of
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Arguments, Model, Step, describe_error

_KIT = Path(layout.__file__).parent


@dataclass(frozen=True, slots=True)
class Failure:
    """An exception in a state: of an action if no claim is named, else of that claim.

    The claim raises on the step, if there is one, else in the state.
    """

    error: Exception
    claim: str = ""
    call: tuple[str, Arguments] | None = None

    def describe(self, model: Model) -> str:
        """`lease.py:28: grant(client=client0): s.token[client0] cannot be 3: it holds 0 to 2`"""
        called = "" if self.call is None else model.narration.call(*self.call, model)
        on = f" of {called}" if called else ""
        what = f"claim {self.claim}{on}" if self.claim else called
        return f"{_place(self.error)}{what}: {describe_error(self.error, model.narration)}"


class Raised(Exception):
    """An action or a claim raised in a reachable state: the run's outcome, exit code 76."""

    def __init__(self, failure: Failure, model: Model, state: State) -> None:
        super().__init__(failure.describe(model))
        self.failure = failure
        self.state = state
        self.describe_state = model.narration.whole(state)


def _place(error: Exception) -> str:
    """`model/message/fetch.py:46: `: the line of the rule, not that of the state's own checks."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).parent != _KIT:
            return f"{frame.filename}:{frame.lineno}: "
    return ""


class Disagreement(Exception):
    """Compiled code found what interpreted code does not: a bug of the checker."""


def failure_in(problem: Problem, state: State) -> Failure | None:
    """Whatever raises in this state, interpreted, in the order of the table of contents."""
    model = problem.model
    for action in model.enabled_actions:
        for arguments in model.bindings(action):
            taken = attempt(model, state, action, arguments)
            if isinstance(taken, Failure):
                return taken
            if taken is not None and (found := _on_step(problem, state, taken)) is not None:
                return found
    return _first(_in_state(problem, state))


def attempt(
    model: Model, state: State, action: Action, arguments: Arguments
) -> Step | Failure | None:
    """The step, or what raises in its place; None where it is not enabled within the bounds."""
    try:
        if not model.is_enabled(state, action, arguments):
            return None
        if model.exceeded_limit(state, action, arguments):
            return None
        return model.take(state, action, arguments)
    except Exception as error:
        return Failure(error, call=(action.name, arguments))


def failure_of_claim(
    problem: Problem, claim: str, state: State, step: Step | None, before: State | None
) -> Failure | None:
    """Return the failure of the claim of this name in the state, or on the step that led there."""
    named = [each for each in _in_state(problem, state, all_claims=True) if each[0] == claim]
    found = _first(named)
    if found is None and step is not None and before is not None:
        return _on_step(problem, before, step, only=claim)
    return found


def _on_step(problem: Problem, state: State, step: Step, only: str = "") -> Failure | None:
    """Return the failure of a claim about steps on this one: any requested, or `only`."""
    settings = problem.model.settings
    properties = problem.properties if only else problem.applicable_properties
    asked = [
        *((claim.name, claim.keeps) for claim in properties),
        *((claim.name, claim.happens) for claim in problem.reachable if claim.applies(settings)),
    ]
    for name, asks in asked:
        if only and name != only:
            continue
        try:
            asks(state, step.outcome, settings)
        except Exception as error:
            return Failure(error, name, (step.action.name, step.arguments))
    return None


_Asked = tuple[str, Callable[[], object]]


def _in_state(problem: Problem, state: State, *, all_claims: bool = False) -> Iterator[_Asked]:
    """Yield the claims about a state, each with the call that judges it."""
    model, settings = problem.model, problem.model.settings
    for invariant in problem.invariants if all_claims else problem.applicable:
        yield invariant.name, partial(invariant.holds, state, settings)
    for behaviour in problem.behaviours if all_claims else problem.applicable_behaviours:
        for predicate in predicates_of(behaviour):
            yield behaviour.name, partial(predicate, state, settings)
    if state in model.initial:
        for claim in problem.reachable:
            yield claim.name, partial(begins, claim, model, state)


def begins(claim: Reachable, model: Model, state: State) -> bool:
    """True if this initial state satisfies the claim. Raises what the claim raises.

    False for a claim that does not apply.
    """
    settings = model.settings
    return (
        claim.applies(settings) and claim.begun is not None and bool(claim.begun(state, settings))
    )


def _first(asked: Iterable[_Asked]) -> Failure | None:
    for name, ask in asked:
        try:
            ask()
        except Exception as error:
            return Failure(error, name)
    return None


def find_raised(problem: Problem, words: StateWords) -> Raised | None:
    """The error to raise for what raises in this state, if anything does."""
    state = State(problem.model.layout, words)
    failure = failure_in(problem, state)
    return Raised(failure, problem.model, state) if failure is not None else None


def explain_fault(problem: Problem, fault: ModelFault) -> Exception:
    """The exception to raise instead of a bare fault."""
    return find_raised(problem, fault.words) or Disagreement(
        f"compiled code faults in state {fault.words}, interpreted code does not"
    )
