"""One action as plain Python: the user's own function, called with a copy of a state.

It behaves as in the checker: the same steps are enabled, lead to the same states, and go beyond the
same bounds. docs/own-models.md lists the differences.
"""

from __future__ import annotations

import dis
import itertools
import types
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from waterline.model.core.errors import did_you_mean
from waterline.model.own import Action, BadProtocol, BeyondBound, NotEnabled
from waterline.model.own.questions import bounds_ignored
from waterline.models import Declares, Model, Runnable, model_of, values_of
from waterline.shape import describe_elements
from waterline.state import Draft, State
from waterline.telling import call, sentence


@dataclass(frozen=True, slots=True, repr=False)
class Step:
    """One step: an action with its arguments, the state before it and the state after it."""

    action: Callable[..., object]
    arguments: Mapping[str, Any] = field(hash=False)
    before: State
    after: State

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.name}({given})"

    @property
    def name(self) -> str:
        """Name of the action."""
        return self.action.__name__

    @property
    def sentence(self) -> str:
        """The action's docstring with its arguments, and what changed."""
        before, after = self.before, self.after
        return sentence(before._model, self.name, self.arguments, before._values, after._values)


def initial(model: Model | Declares) -> State:
    """The first state of a model; of a function that declares one with the default bounds.

    Raises `ValueError` where there are several; `initials` has them all.
    """
    states = initials(model)
    if len(states) > 1:
        raise ValueError(
            f"{model_of(model)} has {len(states)} initial states; take one of "
            "waterline.initials(model)"
        )
    return states[0]


def initials(model: Model | Declares) -> tuple[State, ...]:
    """Every first state of a model. Raises `BadProtocol` where there is none."""
    made = model_of(model)
    lowest = State(made, made.shape.first_values())
    if made.protocol.initial is None:
        return (lowest,)
    start = made.runnable(made.protocol.initial)
    found = dict.fromkeys(step.after for step in _steps(lowest, start))
    if not found:
        raise BadProtocol(f"{start.name} makes no initial state; let a `when` of it be true")
    return tuple(found)


def step(state: State, action: Callable[..., object] | Action, /, **arguments: Any) -> State:
    """The state after one step; `state` itself stays as it is.

        after = waterline.step(state, write, client=1)

    The action is run as plain Python, so a debugger stops in it. Raises `NotEnabled` where a `when`
    of it is False, `BeyondBound` where a `within` is, and `OutOfRange` for a value or an index
    outside the range of its field.
    """
    found = _action_of(state._model, action)
    return _take(state, found, _bind(found, arguments)).after


def enabled(state: State) -> tuple[Step, ...]:
    """Every step out of a state within the bounds, in the checker's order."""
    return tuple(each for action in state._model.actions for each in _steps(state, action))


def copy(state: State) -> Draft:
    """A copy that a rule may write to: `draft = waterline.copy(state); grant(draft, client=0)`."""
    return Draft(state._model, state._values)


def freeze(draft: State) -> State:
    """The state that a copy has become. The copy may change further; the state does not."""
    return State(draft._model, draft._values)


def replace(state: State, /, **values: Any) -> State:
    """The state with other values: `waterline.replace(state, holder=1, token={0: 2})`.

    Of a field with elements give some as a dictionary by index, or all as a tuple, as it is shown.
    Raises `OutOfRange` and `AttributeError` as an assignment in a rule does.
    """
    draft = copy(state)
    for name, value in values.items():
        declared = state._shape.fields.get(name)
        if declared is None or not declared.indices:
            setattr(draft, name, value)
            continue
        elements = getattr(draft, name)
        for index, each in _by_index(value, len(declared.indices), describe_elements(declared)):
            elements[index] = each
        if not isinstance(value, Mapping) and len(elements) != len(value):
            raise ValueError(f"{describe_elements(declared)}; {len(value)} were given")
    return freeze(draft)


def _by_index(value: Any, depth: int, expected: str) -> Iterator[tuple[tuple[int, ...], Any]]:
    if isinstance(value, Mapping):
        yield from ((i if isinstance(i, tuple) else (i,), each) for i, each in value.items())
        return
    if isinstance(value, str) or not hasattr(value, "__iter__"):
        raise ValueError(f"{expected}; give a tuple or a dictionary, not {value!r}")
    for i, each in enumerate(value):
        if depth == 1:
            yield (i,), each
        else:
            yield from (((i, *rest), one) for rest, one in _by_index(each, depth - 1, expected))


def _steps(state: State, action: Runnable) -> Iterator[Step]:
    """The steps of one action that are enabled and within the bounds."""
    for arguments in itertools.product(*(values_of(over) for _, over in action.over)):
        try:
            yield _take(state, action, arguments)
        except (NotEnabled, BeyondBound):
            continue


def _take(state: State, action: Runnable, arguments: tuple[Any, ...]) -> Step:
    names = (name for name, _ in action.over)
    given = types.MappingProxyType(dict(zip(names, arguments, strict=True)))
    draft = copy(state)
    try:
        try:
            action.function(draft, *arguments)
        except BeyondBound as beyond:
            _require_enabled(state, action, arguments, beyond)
            raise
    except NotEnabled:
        if draft._was_written:
            raise BadProtocol(
                f"{action.name} has changed the state before its last `when`; ask first, then write"
            ) from None
        raise
    except BeyondBound:
        raise
    except Exception as problem:
        problem.add_note(f"in {call(state._model, action, arguments)}, in the state {state}")
        raise
    return Step(action.function, given, state, freeze(draft))


def _require_enabled(
    state: State, action: Runnable, arguments: tuple[Any, ...], beyond: BeyondBound
) -> None:
    """Raise `NotEnabled` where a `when` after the `within` that was False is False as well.

    Such a step is not enabled, and the bound does not matter. So the rest of the action is run too,
    as far as its last `when`.
    """
    last = _last_when(getattr(action.function, "__code__", None))
    if _place_in(beyond, action.function) >= last:
        return
    try:
        with bounds_ignored():
            action.function(_Looking(state._model, state._values), *arguments)
    except NotEnabled as problem:
        raise problem from None
    except _Looked:
        return
    except Exception as problem:
        if _place_in(problem, action.function) < last:
            raise  # of a condition: it raises when the checker looks at it, too


class _Looked(Exception):
    """An action has reached its effect."""


class _Looking(Draft):
    """A copy of a state for what an action does before it changes anything."""

    __slots__ = ()

    def _write(self, *given: object) -> None:
        raise _Looked


@lru_cache(maxsize=1024)
def _last_when(asking: types.CodeType | None) -> int:
    """Where a code asks `when` for the last time; -1 if nowhere."""
    code = list(dis.get_instructions(asking)) if asking is not None else []
    starts = [_start(each) for each in code if each.argval == "when"]
    # What is asked comes after the name is looked up; the call begins where the name does.
    return max((each.offset for each in code if _start(each) in starts[-1:]), default=-1)


def _start(instruction: dis.Instruction) -> tuple[int | None, int | None]:
    """Line and column where that begins in the text which an instruction is of."""
    at = instruction.positions
    return (None, None) if at is None else (at.lineno, at.col_offset)


def _place_in(problem: BaseException, function: Callable[..., object]) -> int:
    """Where in the bytecode of a function it was raised."""
    code = getattr(function, "__code__", None)
    found = [at for at in _tracebacks(problem) if at.tb_frame.f_code is code]
    return found[0].tb_lasti if found else -1


def _tracebacks(problem: BaseException) -> Iterator[types.TracebackType]:
    at = problem.__traceback__
    while at is not None:
        yield at
        at = at.tb_next


def _action_of(model: Model, action: Callable[..., object] | Action) -> Runnable:
    function = action.function if isinstance(action, Action) else action
    for known in model.actions:
        if known.function is function:
            return known
    name = getattr(function, "__name__", repr(function))
    names = [known.name for known in model.actions]
    if name in names:
        raise ValueError(
            f"{name} is another function than the action {name} of {model}, perhaps defined again; "
            "make the model and its states again"
        )
    raise ValueError(f"{name} is no action of {model}{did_you_mean(name, names)}")


def _bind(action: Runnable, arguments: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments in their order. Raises `TypeError`, and `ValueError` for one out of range."""
    names = [name for name, _ in action.over]
    for name in arguments:
        if name not in names:
            raise TypeError(f"{action.name} has no argument {name!r}{did_you_mean(name, names)}")
    for name, over in action.over:
        if name not in arguments:
            raise TypeError(f"{action.name} needs the argument {name!r}")
        values = list(values_of(over))
        if arguments[name] not in values:
            raise ValueError(
                f"{name} of {action.name} cannot be {arguments[name]!r}: it is one of "
                f"{', '.join(map(repr, values))}"
            )
    return tuple(arguments[name] for name in names)
