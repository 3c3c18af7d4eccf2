"""The Informal Trace Format: JSON that Apalache and Quint write and their viewers read.

Defined in Apalache's ADR-015. Whole numbers are `{"#bigint": "3"}`, sets `{"#set": [...]}`,
functions `{"#map": [[argument, value], ...]}`, sequences lists, records objects. Two more variables
accompany those of the state, as Quint has them: `mbt::actionTaken`, the step that led here (`init`
at first), and `mbt::nondetPicks`, a record of its arguments, each an option: Quint has there those
of every action, `None` where an action has no such argument, which readers take as absent. `#meta`
has the recipe of the trace for `from_itf`, as a text: itf-rs reads nothing else there. An infinite
trace has a `loop`: the number of the state that follows the last one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from waterline.counterexamples.formats.recording import Record, Recording, Value, in_order
from waterline.counterexamples.json_text import read_json
from waterline.counterexamples.trace import NO_CLAIM, BadTrace, Trace, TraceStep, show
from waterline.counterexamples.trace_file import BYTES_MAX, from_json, from_object, to_line

DESCRIPTION = "https://apalache-mc.org/docs/adr/015adr-trace.html"
ACTION, PICKS = "mbt::actionTaken", "mbt::nondetPicks"
FIRST_ACTION, FIRST_PICKS = "action_taken", "nondet_picks"
"""Their names in version 1.0, where the picks are a `#map`, and `#meta` has the head alone."""
INITIAL = "init"
_META, _RECIPE = "#meta", "waterline"


def to_itf(recording: Recording) -> str:
    """The text, ASCII: the same recording always gives the same bytes, a state on each line."""
    trace = recording.trace
    meta = {
        "format": "ITF",
        "format-description": DESCRIPTION,
        "source": f"{trace.model} {trace.version}",
        "status": "violation" if _is_violation(trace) else "ok",
        "description": _description(trace),
        _RECIPE: to_line(trace),
    }
    taken = (None, *zip(trace.steps, recording.picks, strict=True))
    states = (
        _step(index, step) | {name: _describe(value) for name, value in state.items()}
        for index, (step, state) in enumerate(zip(taken, recording.states, strict=True))
    )
    parts: dict[str, Any] = {
        _META: meta,
        "params": [],
        "vars": [ACTION, PICKS, *recording.states[0]],
    }
    if trace.cycle is not None:
        # The last state is that of the cycle's beginning once more; or the one it stays in.
        parts["loop"] = min(trace.cycle + 1, len(trace.steps))
    opened = json.dumps(parts, indent=2).removesuffix("\n}")
    listed = ",".join("\n    " + json.dumps(state) for state in states)
    return f'{opened},\n  "states": [{listed}\n  ]\n}}\n'


def _is_violation(trace: Trace) -> bool:
    return trace.raises is not None or trace.invariant != NO_CLAIM


def _description(trace: Trace) -> str:
    if trace.raises is not None:
        return "ends in an error of a rule"
    return f"breaks {trace.invariant}" if _is_violation(trace) else "steps that break no claim"


def is_itf(text: str) -> bool:
    """True if a text looks like ITF rather than like a trace file of ours."""
    return f'"{_META}"' in text[:1000]


def from_itf(text: str) -> Trace:
    """Return the recipe in a text that `to_itf` wrote. Raises `BadTrace` for any other text.

    The states in it are neither trusted nor read: a replay of the recipe makes them again.
    """
    if len(text) > BYTES_MAX:
        raise BadTrace(f"the text has {len(text)} characters; a trace has at most {BYTES_MAX}")
    document = read_json(text)
    recipe = _member(_member(document, "", _META), _META, _RECIPE)
    if isinstance(recipe, str):
        return from_json(recipe)
    states = document.get("states")
    if not isinstance(recipe, dict):
        raise BadTrace(f"{_META}.{_RECIPE} is {show(recipe)}; it must be a text, or an object")
    if not isinstance(states, list) or not states:
        raise BadTrace(f"states is {show(states)}; it must be a list with the initial state")
    steps = [_step_taken(f"states[{index}]", state) for index, state in enumerate(states)]
    return from_object({**recipe, "steps": steps[1:]})


def _step(index: int, taken: tuple[TraceStep, Mapping[str, Value]] | None) -> dict[str, Any]:
    """Number of a state, and the step that led there."""
    action, picks = (taken[0].action, taken[1]) if taken else (INITIAL, {})
    return {
        _META: {"index": index},
        ACTION: action,
        PICKS: {name: _option((value,)) for name, value in picks.items()},
    }


def _describe(value: Value) -> Any:  # noqa: PLR0911 - one for each kind
    match value:
        case bool() | str():
            return value
        case int():
            return {"#bigint": str(value)}
        case Mapping():
            return {"#map": [[_describe(key), _describe(inner)] for key, inner in value.items()]}
        case frozenset():
            return {"#set": [_describe(member) for member in in_order(value)]}
        case Record():
            return {name: _describe(part) for name, part in value._asdict().items()}
        case tuple():
            return _option(value)
    return [_describe(each) for each in value]


def _option(held: tuple[Value, ...]) -> dict[str, Any]:
    if not held:
        return {"tag": "None", "value": {"#tup": []}}
    return {"tag": "Some", "value": _describe(held[0])}


def _step_taken(where: str, state: object) -> dict[str, object]:
    """The step to a state in a file of version 1.0."""
    action = _member(state, where, FIRST_ACTION)
    pairs = _member(_member(state, where, FIRST_PICKS), f"{where}.{FIRST_PICKS}", "#map")
    if not isinstance(pairs, list):
        raise BadTrace(f"{where}.{FIRST_PICKS}.#map is {show(pairs)}; it must be a list of pairs")
    arguments: dict[str, int] = {}
    for index, pair in enumerate(pairs):
        at = f"{where}.{FIRST_PICKS}.#map[{index}]"
        if not (isinstance(pair, list) and len(pair) == 2 and isinstance(pair[0], str)):
            raise BadTrace(f"{at} is {show(pair)}; it must be a name and its value")
        if pair[0] in arguments:
            raise BadTrace(f"{at} is {show(pair)}; it has a value already")
        arguments[pair[0]] = _number(f"{at}[1]", pair[1])
    return {"action": action, "arguments": arguments}


def _number(where: str, value: object) -> int:
    digits = _member(value, where, "#bigint")
    if isinstance(digits, str) and digits.removeprefix("-").isdecimal() and len(digits) <= 20:
        return int(digits)
    raise BadTrace(f"{where}.#bigint is {show(digits)}; it must be a whole number as text")


def _member(found: object, where: str, name: str) -> Any:
    if isinstance(found, dict) and name in found:
        return found[name]
    place = where or "the text"
    remedy = "; a trace of another tool is for `waterline view` alone" if name == _RECIPE else ""
    raise BadTrace(f"not a trace in ITF of ours: {place} is {show(found)}, without {name}{remedy}")
