"""Errors raised by an action or a claim, reproduced by the interpreted model.

Compiled code only says in which state something stepped out of range, or would raise. The
interpreted form of the same function says which action, and what it did.
"""

from __future__ import annotations

import traceback
from pathlib import Path

from checker.problem.packed_rows import StateWords
from checker.problem.problem import Problem
from checker.search.engines.answers import ModelFault
from model.core import layout
from model.core.claim import predicates_of
from model.core.state import State
from model.core.transition_system import Model, call

_KIT = Path(layout.__file__).parent


class Raised(Exception):
    """An action or a claim raised in a reachable state: the run's outcome, exit code 76."""

    def __init__(self, what: str, model: Model, state: State, error: Exception) -> None:
        super().__init__(f"{what} raised {type(error).__name__}: {error}{_place(error)}")
        self.state = state
        self.describe_state = model.narration.whole(state)


def _place(error: Exception) -> str:
    """` (model/message/fetch.py:46)`: the line of the rule, not that of the state's own checks."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).parent != _KIT:
            return f" ({frame.filename}:{frame.lineno})"
    return ""


class Disagreement(Exception):
    """Compiled code found what interpreted code does not: a bug of the checker."""


def find_raised(problem: Problem, words: StateWords) -> Raised | None:
    """Whatever raises in this state, interpreted, in the order of the table of contents."""
    model = problem.model
    state = State(model.layout, words)
    for action in model.enabled_actions:
        for arguments in model.bindings(action):
            try:
                if not model.is_enabled(state, action, arguments) or model.exceeded(
                    state, action, arguments
                ):
                    continue
                outcome = model.take(state, action, arguments).outcome
            except Exception as error:
                return Raised(call(action, arguments), model, state, error)
            for claim in problem.applicable_properties:
                try:
                    claim.keeps(state, outcome, model.settings)
                except Exception as error:
                    step = call(action, arguments)
                    return Raised(f"property {claim.name} of {step}", model, state, error)
    for invariant in problem.applicable:
        try:
            invariant.holds(state, model.settings)
        except Exception as error:
            return Raised(f"invariant {invariant.name}", model, state, error)
    for behaviour in problem.applicable_behaviours:
        try:
            for predicate in predicates_of(behaviour):
                predicate(state, model.settings)
        except Exception as error:
            return Raised(f"claim {behaviour.name}", model, state, error)
    return None


def explain_fault(problem: Problem, fault: ModelFault) -> Exception:
    """The exception to raise instead of a bare fault."""
    return find_raised(problem, fault.words) or Disagreement(
        f"compiled code faults in state {fault.words}, interpreted code does not"
    )
