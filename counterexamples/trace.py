"""A trace: model, options and the choices taken. A recipe, not a recording.

No state is in it: replaying finds them (`counterexamples.replay`). Every `Trace` that exists is
well formed, its names plain and its numbers of at most 64 bits. Whether a model knows those names
is another question. Files are the business of `counterexamples.trace_file`.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from waterline.counterexamples.protocols import Model


class TraceError(Exception):
    """Something is wrong with a trace; the message is one line."""


class BadTrace(TraceError):
    """No trace at all, or one whose action, argument or initial state the model does not have."""


class Divergence(TraceError):
    """The model does not offer a step of the trace.

    `step` is its number, from 1; `call` the step; `enabled` the steps that the model offers.
    """

    def __init__(self, step: int, call: str, problem: str, enabled: tuple[str, ...]) -> None:
        self.step = step
        self.call = call
        self.enabled = enabled
        offered = ", ".join(enabled) or "nothing"
        super().__init__(f"step {step}: {call} {problem}; enabled: {offered}")


class NotACounterexample(TraceError):
    """The claim breaks after an earlier `step` than the last one, or not even after that one."""

    def __init__(self, step: int, message: str) -> None:
        self.step = step
        super().__init__(message)


STEPS_MAX = 1_000_000
ENTRIES_MAX = 100
"""Most arguments of one step, and most options of an environment."""

NO_CLAIM = "none"
"""The `invariant` of a trace that breaks no claim: it shows steps that were chosen by hand."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,199}", re.ASCII)
_TEXT = re.compile(r"[ -~]{0,200}", re.ASCII)
_INT_MAX = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class TraceStep:
    """One choice: an action and its arguments by name. Raises `BadTrace` when it cannot be one."""

    action: str
    arguments: tuple[tuple[str, int], ...] = ()

    def __post_init__(self) -> None:
        _require_name("action", self.action)
        if len(self.arguments) > ENTRIES_MAX:
            raise BadTrace(
                f"arguments of {self.action} are {len(self.arguments)}; at most {ENTRIES_MAX} "
                "are read"
            )
        for name, value in self.arguments:
            _require_name(f"arguments of {self.action}: a name", name)
            _require_int(f"arguments.{name}", value)
        if len({name for name, _ in self.arguments}) != len(self.arguments):
            raise BadTrace(f"arguments of {self} name one twice; give each once")

    def __str__(self) -> str:
        return f"{self.action}({', '.join(f'{name}={value}' for name, value in self.arguments)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trace:
    """A model, made again by its name, version and environment, and a path through it.

    `invariant` names the claim that the last state, or the last step, breaks; or is `NO_CLAIM`.
    `initial` is the index of the initial state. An infinite trace has a `cycle`: the last step
    returns to the state after so many steps, so that the steps after it repeat; if it is the last
    state, the protocol stays in that. A trace that ends in an error of a rule has `raises`: the
    step that raises after the last one, or the name of the claim that raises in the last state or
    on the last step. Raises `BadTrace` for an invalid part.
    """

    model: str
    version: str
    environment: Mapping[str, object]
    invariant: str
    initial: int
    steps: tuple[TraceStep, ...]
    cycle: int | None = None
    raises: TraceStep | str | None = None

    def __post_init__(self) -> None:
        _require_name("model", self.model)
        _require_name("version", self.version)
        _require_name("invariant", self.invariant)
        _require_int("initial", self.initial)
        if self.initial < 0:
            raise BadTrace(f"initial is {self.initial}; it counts the initial states from 0")
        if len(self.environment) > ENTRIES_MAX:
            raise BadTrace(
                f"environment has {len(self.environment)} options; at most {ENTRIES_MAX} are read"
            )
        for name, value in self.environment.items():
            _require_name("environment: the name of an option", name)
            _require_scalar(f"environment.{name}", value)
        if len(self.steps) > STEPS_MAX:
            raise BadTrace(f"steps are {len(self.steps)}; at most {STEPS_MAX} are read")
        if isinstance(self.raises, str):
            _require_name("raises.claim", self.raises)
        if self.cycle is not None:
            if self.raises is not None:
                raise BadTrace("it has a cycle and raises; a trace ends in one of them")
            _require_int("cycle", self.cycle)
            if not 0 <= self.cycle <= len(self.steps):
                raise BadTrace(
                    f"cycle is {self.cycle}; it counts steps, of which there are {len(self.steps)}"
                )


def trace_of(
    model: Model,
    invariant: str,
    calls: Iterable[tuple[str, tuple[int, ...]]],
    *,
    initial: int = 0,
    cycle: int | None = None,
    raises: tuple[str, tuple[int, ...]] | str | None = None,
) -> Trace:
    """The recipe for a path that a search found: action names with their arguments in order."""
    step = partial(trace_step, model)
    return Trace(
        model=model.name,
        version=model.version,
        environment=dict(model.options),
        invariant=invariant,
        initial=initial,
        steps=tuple(step(name, values) for name, values in calls),
        cycle=cycle,
        raises=step(*raises) if isinstance(raises, tuple) else raises,
    )


def trace_step(model: Model, name: str, values: tuple[int, ...]) -> TraceStep:
    """Return one step, from an action's name and its arguments in order."""
    [action] = [action for action in model.actions if action.name == name]
    named = zip(action.parameters, values, strict=True)
    return TraceStep(name, tuple((p.name, int(v)) for p, v in named))


def show(value: object) -> str:
    """A value of unknown origin, short and without control characters, for a message."""
    return reprlib.repr(value)


def _require_name(what: str, value: object) -> None:
    if not isinstance(value, str) or _NAME.fullmatch(value) is None:
        raise BadTrace(
            f"{what} is {show(value)}; it must be a name of at most 200 letters, digits, _ . -"
        )


def _require_int(what: str, value: object) -> None:
    # bool is an int to isinstance, and `true` is no offset.
    if type(value) is not int or abs(value) > _INT_MAX:
        raise BadTrace(f"{what} is {show(value)}; it must be a whole number of at most 64 bits")


def _require_scalar(what: str, value: object) -> None:
    if isinstance(value, bool):
        return
    if isinstance(value, str):
        if _TEXT.fullmatch(value) is None:
            raise BadTrace(
                f"{what} is {show(value)}; text must be at most 200 printable characters"
            )
        return
    if not isinstance(value, int):
        raise BadTrace(f"{what} is {show(value)}; it must be a number, a text, true or false")
    _require_int(what, value)
