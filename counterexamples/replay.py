"""Replay of a trace through the interpreted model.

A trace is replayed before it is shown. One that does not replay is an error of its own,
`Divergence`; the same choices under another version are `follow`ed instead.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from waterline.counterexamples.protocols import Model, Narration, State
from waterline.counterexamples.trace import (
    BadTrace,
    Divergence,
    NotACounterexample,
    Trace,
    TraceStep,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """One step taken: `number` counts from 1, `arguments` are in the action's own order."""

    number: int
    action: str
    arguments: tuple[tuple[str, int], ...]
    before: State
    after: State

    @property
    def values(self) -> tuple[int, ...]:
        """The arguments without their names."""
        return tuple(value for _, value in self.arguments)

    def sentence(self, narration: Narration) -> str:
        """The step in the model's words."""
        return narration.sentence(self.action, self.values, self.before, self.after)

    def __str__(self) -> str:
        return str(TraceStep(self.action, self.arguments))


@dataclass(frozen=True, slots=True)
class Replayed:
    """A trace and the states on its path, with the words for them."""

    trace: Trace
    narration: Narration
    initial: State
    moments: tuple[Moment, ...]

    @property
    def states(self) -> tuple[State, ...]:
        """The initial state, then the state after each step."""
        return (self.initial, *(moment.after for moment in self.moments))


@dataclass(frozen=True, slots=True)
class Followed:
    """How far a trace's choices lead in a model; `refusal` says why not further, None for all."""

    replayed: Replayed
    refusal: Divergence | None


def replay(trace: Trace, model: Model) -> Replayed:
    """Take every step of `trace` in `model`.

    Raises `Divergence` at the first step that the model does not offer, and `BadTrace`, before any
    step is taken, where it has no such initial state, action or argument.
    """
    followed = follow(trace, model)
    if followed.refusal is not None:
        raise followed.refusal
    return followed.replayed


def follow(trace: Trace, model: Model) -> Followed:
    """Make the choices of `trace` in another version, as far as it offers them.

    The states may well differ from the ones that the trace was found with. Raises `BadTrace` as
    `replay` does.
    """
    if not trace.initial < len(model.initial):
        raise BadTrace(
            f"initial is {trace.initial}; {model.name} has {len(model.initial)} initial states"
        )
    calls = [_call(number, step, model) for number, step in enumerate(trace.steps, start=1)]
    moments: list[Moment] = []
    refusal = None
    try:
        for moment in _moments(trace, model, calls):
            moments.append(moment)  # noqa: PERF402  # keeps those before a divergence
    except Divergence as divergence:
        refusal = divergence
    initial = model.initial[trace.initial]
    return Followed(Replayed(trace, model.narration, initial, tuple(moments)), refusal)


def skipping(moments: Iterable[Moment], model: Model, state: State) -> Iterator[Moment]:
    """Yield the steps that `model` offers one after the other from `state` on.

    Others are left out; the numbers stay.
    """
    for moment in moments:
        step = TraceStep(moment.action, moment.arguments)
        action, values = _call(moment.number, step, model)
        if why_not(model, state, action, values) is None:
            after = model.apply(state, action, values)
            yield Moment(moment.number, moment.action, action.name_arguments(values), state, after)
            state = after


def first_difference(trace: Trace, model: Model, other: Model) -> int | None:
    """After which step of `trace` two models first show different states, or one alone refuses it.

    0 is the initial state. None: as far as both follow the trace, they are the same to a reader,
    who sees each through its own narration.
    """
    one, two = follow(trace, model).replayed, follow(trace, other).replayed
    for number, (state, counterpart) in enumerate(itertools.zip_longest(one.states, two.states)):
        refused_by_one = number >= len(one.states) or number >= len(two.states)
        if refused_by_one or _read(model, state) != _read(other, counterpart):
            return number
    return None


def confirm(trace: Trace, model: Model, holds: Callable[[Any], bool]) -> Replayed:
    """Replay, and see that `holds` is true of every state but the last, and false of that.

    Raises `NotACounterexample` otherwise, and whatever `replay` raises.
    """
    replayed = replay(trace, model)
    _require_broken_last(replayed, map(holds, replayed.states))
    return replayed


def confirm_step(trace: Trace, model: Model, keeps: Callable[[Any, Any], bool]) -> Replayed:
    """Replay, and see that `keeps` is true of every step (before, after) but the last.

    And false of that. Raises `NotACounterexample` otherwise, and whatever `replay` raises.
    """
    replayed = replay(trace, model)
    kept = (keeps(moment.before, moment.after) for moment in replayed.moments)
    _require_broken_last(replayed, itertools.chain([True], kept))
    return replayed


def _require_broken_last(replayed: Replayed, verdicts: Iterable[bool]) -> None:
    """Check the verdicts on the initial state and after each step: the last alone is false."""
    trace, last = replayed.trace, len(replayed.moments)
    for number, held in enumerate(verdicts):
        if not held and number < last:
            raise NotACounterexample(
                number,
                f"{trace.invariant} is broken after step {number} already, of {last}; "
                f"cut the trace there",
            )
        if held and number == last:
            raise NotACounterexample(
                number,
                f"{trace.invariant} holds after step {number}, the last: the trace shows nothing",
            )


def _moments(
    trace: Trace, model: Model, calls: list[tuple[Any, tuple[int, ...]]]
) -> Iterator[Moment]:
    state = model.initial[trace.initial]
    for number, (action, values) in enumerate(calls, start=1):
        named = action.name_arguments(values)
        # Offered steps are listed only for an error: that takes a hundred times as long as
        # asking for the one step.
        if (problem := why_not(model, state, action, values)) is not None:
            offered = tuple(str(step) for step in model.successors(state))
            raise Divergence(number, str(TraceStep(action.name, named)), problem, offered)
        after = model.apply(state, action, values)
        yield Moment(number, action.name, named, state, after)
        state = after


def why_not(model: Model, state: State, action: Any, values: tuple[int, ...]) -> str | None:
    """Why the model does not offer a step out of `state`; None where it does."""
    if action.name not in model.contents:
        return f"is not part of version {model.version}"
    if not model.is_enabled(state, action, values):
        return "is not enabled"
    exceeded = model.exceeded_limit(state, action, values)
    return f"is beyond the bound on {model.limits[exceeded]}" if exceeded else None


def _call(number: int, step: TraceStep, model: Model) -> tuple[Any, tuple[int, ...]]:
    """The model's action and its arguments in order. Raises `BadTrace` where it has none such."""
    action = next((a for a in model.actions if a.name == step.action), None)
    if action is None:
        known = ", ".join(a.name for a in model.actions)
        raise BadTrace(f"step {number}: {model.name} has no action {step.action}; it has {known}")
    given = dict(step.arguments)
    wanted = [p.name for p in action.parameters]
    if sorted(given) != sorted(wanted):
        raise BadTrace(
            f"step {number}: {step} has not the arguments of {action.name}; "
            f"they are {', '.join(wanted) or 'none'}"
        )
    for parameter in action.parameters:
        extent = model.layout.sizes[parameter.over]
        if not 0 <= given[parameter.name] < extent:
            raise BadTrace(
                f"step {number}: {parameter.name} is {given[parameter.name]} in {step}; "
                f"the model's range is 0 to {extent - 1}"
            )
    return action, tuple(given[name] for name in wanted)


def _read(model: Model, state: State) -> tuple[list[list[str]], list[tuple[str, str]]]:
    return model.narration.rows(state), model.narration.summary(state)
