"""Traces that end in an error of a rule: found, and confirmed when one is read.

The trace leads to the state where an action or a claim raises; for a claim about steps it includes
that step. Interpreted rules identify the error there, and raise it again whenever the trace is
replayed.
"""

from __future__ import annotations

from dataclasses import replace

from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import WHERE
from waterline.checker.search.rule_errors import (
    Failure,
    Raised,
    attempt,
    failure_in,
    failure_of_claim,
)
from waterline.checker.traces.finding import Finding
from waterline.counterexamples import (
    NO_CLAIM,
    NotACounterexample,
    Replayed,
    Trace,
    replay,
    trace_of,
)
from waterline.model.core.transition_system import Call, Model, Step

SENTENCE = "A rule is no rule here: it raises an error."
_WHERE_CLAIM = "nowhere"


def raising_at(
    problem: Problem, initial: int, calls: tuple[Call, ...]
) -> tuple[Finding, Raised] | None:
    """Return the trace to a state that raises, and the error; None if no rule raises there.

    It takes these calls from the initial state of this number.
    """
    model = problem.model
    claim = _WHERE_CLAIM if WHERE in model.options else NO_CLAIM
    there = replay(trace_of(model, claim, calls, initial=initial), model)
    failure = failure_in(problem, there.states[-1])
    if failure is None:
        return None
    if model.concretise is not None:
        # What raises in a state in normal form does in each that has it.
        whole = (*calls, failure.call) if failure.call else calls
        bounded, taken = model.concretise(initial, whole)
        steps = tuple(taken)[: len(calls)]
        return raising_at(replace(problem, model=bounded), initial, steps)
    whole = (*calls, failure.call) if failure.claim and failure.call else calls
    raises = failure.claim or failure.call
    trace = trace_of(model, claim, whole, initial=initial, raises=raises)
    return confirm_raising(trace, problem), Raised(failure, model, there.states[-1])


def confirm_raising(trace: Trace, problem: Problem) -> Finding:
    """Replay `trace`, and see that what it names raises in the end.

    Raises `NotACounterexample` otherwise, and whatever `counterexamples.replay` raises.
    """
    model = problem.model
    replayed = replay(trace, model)
    failure = _failure(replayed, problem)
    if failure is None:
        raise NotACounterexample(
            len(replayed.moments), f"nothing raises an error after step {len(replayed.moments)}"
        )
    return Finding(trace.invariant, SENTENCE, replayed, failure.describe(model), model)


def _failure(replayed: Replayed, problem: Problem) -> Failure | None:
    model, raises = problem.model, replayed.trace.raises
    last = replayed.moments[-1] if replayed.moments else None
    state = replayed.states[-1]
    if isinstance(raises, str):
        before = last.before if last is not None else None
        step = _step(model, before, last.action, last.values) if last is not None else None
        return failure_of_claim(problem, raises, state, step, before)
    assert raises is not None
    if raises.action not in model.contents:
        return None
    action = model.action(raises.action)
    given = dict(raises.arguments)
    values = tuple(given.get(parameter.name, -1) for parameter in action.parameters)
    if values not in model.bindings(action):
        return None
    tried = attempt(model, state, action, values)
    return tried if isinstance(tried, Failure) else None


def _step(model: Model, before: object, action: str, values: tuple[int, ...]) -> Step | None:
    taken = attempt(model, before, model.action(action), values)  # type: ignore[arg-type]
    return taken if isinstance(taken, Step) else None
