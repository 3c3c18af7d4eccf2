"""What an action or invariant did wrong, told by the interpreted model.

Compiled code only says in which state something stepped out of range, or lets an exception out
without saying where. The interpreted form of the same function says which action, and what it did.
"""

from __future__ import annotations

from checker.engine import ModelFault, Words
from checker.problem import Problem
from model.state import State
from model.transition_system import call


class Raised(Exception):
    """An action or invariant raised in a reachable state: the run's outcome, exit code 76."""

    def __init__(self, what: str, state: State, error: Exception) -> None:
        super().__init__(f"{what} raised {type(error).__name__}: {error}")
        self.state = state


class Disagreement(Exception):
    """Compiled code faulted where interpreted code does not: a bug of the checker."""


def find_raised(problem: Problem, words: Words) -> Raised | None:
    """Whatever raises in this state, interpreted, in the order of the table of contents."""
    model = problem.model
    state = State(model.layout, words)
    for action in model.enabled_actions:
        for arguments in model.bindings(action):
            try:
                if model.is_enabled(state, action, arguments) and not model.exceeded(
                    state, action, arguments
                ):
                    model.apply(state, action, arguments)
            except Exception as error:
                return Raised(call(action, arguments), state, error)
    for invariant in problem.applicable:
        try:
            invariant.holds(state, model.settings)
        except Exception as error:
            return Raised(f"invariant {invariant.name}", state, error)
    return None


def explain_fault(problem: Problem, fault: ModelFault) -> Exception:
    """The exception to raise instead of a bare fault."""
    return find_raised(problem, fault.words) or Disagreement(
        f"compiled code faults in state {fault.words}, interpreted code does not"
    )
