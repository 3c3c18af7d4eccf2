"""A trace as TLC prints one, for what reads TLC's output: trace viewers, and people who know it.

Each state has its number, the step that led there, and a conjunct for every variable in the syntax
of TLA+. A function over 0..n is `(0 :> 5 @@ 1 :> 7)`, since a tuple of TLA+ begins at 1. There is
no module that a step could stand in: the place is named after the model, with no lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from waterline.counterexamples.formats.recording import Record, Recording, Value, in_order
from waterline.counterexamples.trace import NO_CLAIM

_NO_NAME = re.compile(r"\W", re.ASCII)
_ESCAPED = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"})


def to_tlc(recording: Recording) -> str:
    """The text, from the name of the claim to the last state."""
    return "\n".join(_lines(recording)) + "\n"


def _lines(recording: Recording) -> Iterator[str]:
    trace, cycle = recording.trace, recording.trace.cycle
    if cycle is None:
        if trace.raises is not None:
            yield "Error: A rule raised an error."
        elif trace.invariant != NO_CLAIM:
            yield f"Error: Invariant {_identifier(trace.invariant)} is violated."
        yield "Error: The behavior up to this point is:"
    else:
        yield "Error: Temporal properties were violated."
        yield "Error: The following behavior constitutes a counter-example:"
        yield ""
    places = f"line 0, col 0 to line 0, col 0 of module {_identifier(trace.model)}"
    calls = map(_call, (step.action for step in trace.steps), recording.picks)
    led = ["<Initial predicate>", *(f"<{call} {places}>" for call in calls)]
    for number, (step, state) in enumerate(zip(led, recording.states, strict=True), start=1):
        if cycle is not None and cycle + 1 < number == len(led):
            yield f"Back to state {cycle + 1}: {step}"
            return
        yield f"State {number}: {step}"
        yield from (f"/\\ {name} = {describe(value)}" for name, value in state.items())
        yield ""
    if cycle is not None:
        yield f"State {len(led) + 1}: Stuttering"


def describe(value: Value) -> str:  # noqa: PLR0911 - one for each kind
    """A value in TLA+; an option is what it holds, or the model value `None`."""
    match value:
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return f'"{value.translate(_ESCAPED)}"'
        case Mapping():
            return _function(value)
        case frozenset():
            return f"{{{_all(in_order(value))}}}"
        case list():
            return f"<<{_all(value)}>>"
        case Record():
            return (
                f"[{', '.join(f'{name} |-> {describe(v)}' for name, v in value._asdict().items())}]"
            )
        case tuple():
            return describe(value[0]) if value else "None"
    return str(value)


def _all(values: Iterable[Value]) -> str:
    return ", ".join(map(describe, values))


def _function(value: Mapping[Any, Value]) -> str:
    """Write as TLC does: a function over 1..n is a tuple, also the one with an empty domain."""
    if list(value) == list(range(1, len(value) + 1)):
        return f"<<{_all(value.values())}>>"
    pairs = (f"{describe(key)} :> {describe(inner)}" for key, inner in value.items())
    return f"({' @@ '.join(pairs)})"


def _call(action: str, picks: Mapping[str, Value]) -> str:
    given = ",".join(map(describe, picks.values()))
    name = _identifier(action)
    return f"{name}({given})" if given else name


def _identifier(name: str) -> str:
    return _NO_NAME.sub("_", name)
