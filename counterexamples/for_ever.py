"""Confirmation of liveness and recovery traces: lassos and stuck states.

A lasso is confirmed by its own steps: the last returns to where the cycle begins, and every fair
step is taken on the cycle or is somewhere on it not enabled; a strongly fair one is nowhere on it
enabled. That no way leads back from a state is confirmed by looking for one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.counterexamples.protocols import Model, State
from waterline.counterexamples.replay import Moment, Replayed, replay
from waterline.counterexamples.trace import NotACounterexample, Trace, TraceStep

STATES_MAX = 2_000
"""Most states examined for a way back. If there are more, those farther away are left out."""

Call = tuple[str, tuple[int, ...]]
"""An action by its name, and its arguments in its own order."""


@dataclass(frozen=True, slots=True)
class Trapped:
    """States reachable from a state without a way back: their number, itself included.

    `enabled` are the actions, by name, that some of them enable. `is_whole`: all were examined.
    """

    states: int
    enabled: frozenset[str]
    is_whole: bool = True


def confirm_lasso(
    trace: Trace,
    model: Model,
    *,
    fair: Collection[str],
    strongly_fair: Collection[str] = (),
    breaks: Callable[[Sequence[Any], int], bool],
) -> Replayed:
    """Replay, and confirm that the infinite rest is fair to actions of these names.

    `breaks(states, cycle)` returns True if the claim is broken when all states from number `cycle`
    on repeat forever. Raises `NotACounterexample` otherwise, and what `replay` raises.
    """
    replayed = replay(trace, model)
    states, last, cycle = replayed.states, len(replayed.moments), trace.cycle
    if cycle is None:
        raise _no_lasso(trace, last, "says of all that follows, and the trace has no cycle")
    if states[cycle] != states[-1]:
        raise _no_lasso(
            trace, last, f"needs a cycle: the last step does not return to the state after {cycle}"
        )
    round_ = states[cycle:] if cycle == last else states[cycle:last]
    taken = replayed.moments[cycle:]
    waiting = neglected_steps(model, round_, taken, fair)
    if waiting:
        text = describe_call(model, min(waiting))
        raise _no_lasso(
            trace, last, f"is about fair behaviours: {text} could always be taken, and never is"
        )
    waiting = neglected_at_times(model, round_, taken, strongly_fair)
    if waiting:
        text = describe_call(model, min(waiting))
        raise _no_lasso(
            trace,
            last,
            f"is about fair behaviours: {text} could be taken again and again, and never is",
        )
    if not breaks(states, cycle):
        raise _no_lasso(trace, last, "holds of what the trace shows")
    return replayed


def confirm_stuck(
    trace: Trace, model: Model, *, by: Collection[str], good: Callable[[Any], bool]
) -> tuple[Replayed, Trapped]:
    """Replay, and confirm that steps of the actions `by` lead from the last state neither to a good
    one, nor to one where only a bound prevents such a step.

    At most `STATES_MAX` states are examined, the nearest first. Raises `NotACounterexample`
    otherwise, and whatever `replay` raises.
    """
    replayed = replay(trace, model)
    last = len(replayed.moments)
    frontier = [replayed.states[-1]]
    seen = set(frontier)
    enabled, is_whole = set[str](), True
    while frontier:
        arrived: list[State] = []
        for state in frontier:
            if good(state):
                raise _no_lasso(trace, last, "holds after the last step: there is a way back")
            for action, values in _offers(model, state, by):
                if model.exceeded_limit(state, action, values):
                    text = describe_call(model, (action.name, values))
                    raise _no_lasso(
                        trace, last, f"is not judged after the last step: {text} is beyond a bound"
                    )
                enabled.add(action.name)
                after = model.apply(state, action, values)
                if after not in seen:
                    seen.add(after)
                    arrived.append(after)
        frontier, is_whole = (arrived, True) if len(seen) < STATES_MAX else ([], not arrived)
    return replayed, Trapped(len(seen), frozenset(enabled), is_whole)


def neglected_steps(
    model: Model, states: Sequence[State], taken: Sequence[Moment], fair: Collection[str]
) -> set[Call]:
    """Return the fair actions' steps that all these states enable and no step among them takes.

    If there is one, no fair behaviour stays in these states forever.
    """
    waiting = enabled_steps(model, states[0], fair) - _calls(taken)
    for state in states[1:]:
        waiting &= enabled_steps(model, state, fair)
    return waiting


def neglected_at_times(
    model: Model, states: Sequence[State], taken: Sequence[Moment], strongly_fair: Collection[str]
) -> set[Call]:
    """Return the steps of strongly fair actions that some of these states enable, and that are not
    taken among them.

    If there is one, no fair behaviour visits exactly these states forever.
    """
    if not strongly_fair:
        return set()
    enabled = (enabled_steps(model, state, strongly_fair) for state in states)
    return set[Call]().union(*enabled) - _calls(taken)


def enabled_steps(model: Model, state: State, names: Collection[str]) -> set[Call]:
    """The steps of these actions that a state enables: those that a bound cuts, and those within
    the bounds that change something.
    """
    return {
        (action.name, values)
        for action, values in _offers(model, state, names)
        if model.exceeded_limit(state, action, values)
        or model.apply(state, action, values) != state
    }


def describe_cycle(begins: int, last: int) -> str:
    """Return the words for the steps that repeat: those after step `begins`, up to step `last`."""
    return (
        f"{describe_steps(begins, last)} {'repeats' if begins + 1 == last else 'repeat'} for ever"
    )


def describe_steps(begins: int, last: int) -> str:
    """`Steps 9 to 14`: those that follow on the first 8."""
    if begins + 1 == last:
        return f"Step {last}"
    return f"Steps {begins + 1} {'and' if begins + 2 == last else 'to'} {last}"


def _offers(
    model: Model, state: State, names: Collection[str]
) -> list[tuple[Any, tuple[int, ...]]]:
    """Actions of these names, with arguments, whose guards are true."""
    return [
        (action, values)
        for action in model.actions
        if action.name in names and action.name in model.contents
        for values in model.bindings(action)
        if model.is_enabled(state, action, values)
    ]


def _calls(taken: Sequence[Moment]) -> set[Call]:
    return {(each.action, each.values) for each in taken if each.before != each.after}


def describe_call(model: Model, call: Call) -> str:
    """`SendFetch(follower=1)`"""
    name, values = call
    action = next(action for action in model.actions if action.name == name)
    return str(TraceStep(name, action.name_arguments(values)))


def _no_lasso(trace: Trace, step: int, why: str) -> NotACounterexample:
    return NotACounterexample(step, f"{trace.invariant} {why}")
