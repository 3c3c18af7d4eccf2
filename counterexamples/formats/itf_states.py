"""Trace of another tool, Quint, Apalache or TLC: states of a model that is not known here.

Nothing can be replayed: what the file says is what is shown. A step is named where the tool named
it: Quint writes the action and what was picked as variables of their own (`--mbt`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from waterline.counterexamples.formats.itf_values import ItfValue, read_value
from waterline.counterexamples.formats.tlc_states import is_tlc_json, is_tlc_text, of_json, of_text
from waterline.counterexamples.json_text import read_json
from waterline.counterexamples.named_file import BadFile, read_named
from waterline.counterexamples.trace import BadTrace, show
from waterline.counterexamples.trace_file import BYTES_MAX

STATES_MAX, VARIABLES_MAX = 100_000, 1_000
NAME_MAX = 200
_META, _OURS = "#meta", "waterline"
_TAKEN = {"mbt::actionTaken": "mbt::nondetPicks", "action_taken": "nondet_picks"}
"""By the variable of the action's name, the variable of its arguments."""
_TEXT_MAX = 500


@dataclass(frozen=True, slots=True)
class ItfState:
    """`taken` is the step that led here, as text, "" where the tool does not name it."""

    values: Mapping[str, ItfValue]
    taken: str


@dataclass(frozen=True, slots=True)
class ItfTrace:
    """`loop` is the number of the state that follows the last one, None where nothing does.

    `described` is what the tool says of the trace, by what it calls that, with the values of
    parameters. `form` is the form of its file.
    """

    variables: tuple[str, ...]
    states: tuple[ItfState, ...]
    loop: int | None
    described: Mapping[str, str]
    form: str = "in ITF"


def trace_of_another_tool(path: str | os.PathLike[str]) -> ItfTrace | None:
    """The trace in a file, None if it is neither ITF nor TLC's, or waterline wrote it.

    Raises `BadTrace`, which names the file, where it has a mistake.
    """
    try:
        text = read_named(path, bytes_max=BYTES_MAX).decode("utf-8")
    except (BadFile, UnicodeDecodeError):
        return None  # Whoever reads a trace of ours says what is wrong.
    try:
        if is_tlc_text(text):
            return replace(itf_trace(of_text(text)), form="of TLC")
        if '"state"' in text and '"action"' in text and is_tlc_json(document := read_json(text)):
            return replace(itf_trace(of_json(document)), form="of TLC")
        if '"states"' not in text or '"vars"' not in text:
            return None
        document = read_json(text)
        return itf_trace(document) if _is_of_another_tool(document) else None
    except BadTrace as problem:
        raise BadTrace(f"{path}: {problem}") from None


def _is_of_another_tool(document: object) -> bool:
    if not isinstance(document, dict) or not {"states", "vars"} <= set(document):
        return False
    meta = document.get(_META)
    return not (isinstance(meta, dict) and _OURS in meta)


def itf_trace(document: Mapping[str, Any]) -> ItfTrace:
    """The trace that these values of a JSON text hold. Raises `BadTrace`."""
    variables = _variables(document["vars"])
    states = document["states"]
    if not isinstance(states, list) or not states:
        raise BadTrace(f"states is {show(states)}; it must be a list with the initial state")
    if len(states) > STATES_MAX:
        raise BadTrace(f"states has {len(states):,} elements; at most {STATES_MAX:,} are read")
    parameters = _parameters(document.get("params", []), states[0])
    known = [*variables, *parameters, _META]
    taken = next((name for name in _TAKEN if name in variables), None)
    hidden = {taken, _TAKEN[taken]} if taken is not None else set()
    return ItfTrace(
        tuple(name for name in variables if name not in hidden),
        tuple(
            _state(f"states[{number}]", state, variables, known, taken)
            for number, state in enumerate(states)
        ),
        _loop(document.get("loop"), len(states)),
        _descriptions(document.get(_META, {})) | {n: value.text for n, value in parameters.items()},
    )


def _variables(found: object) -> list[str]:
    if not isinstance(found, list) or not found:
        raise BadTrace(f"vars is {show(found)}; it must be a list of names")
    if len(found) > VARIABLES_MAX:
        raise BadTrace(f"vars has {len(found):,} names; at most {VARIABLES_MAX:,} are read")
    for index, name in enumerate(found):
        if not (isinstance(name, str) and 0 < len(name) <= NAME_MAX and _is_plain(name)):
            raise BadTrace(
                f"vars[{index}] is {show(name)}; it must be a name of at most {NAME_MAX} "
                "printable ASCII characters"
            )
    # Quint names those that hold the step twice.
    return [*dict.fromkeys(found)]


def _parameters(found: object, state: object) -> dict[str, ItfValue]:
    """Return Apalache's parameters, with their values in the initial state."""
    if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
        raise BadTrace(f"params is {show(found)}; it must be a list of names")
    if not isinstance(state, dict):
        return {}
    return {
        name: read_value(f"states[0].{name}", state[name])
        for name in found
        if name in state and _is_plain(name)
    }


def _state(
    where: str,
    found: object,
    variables: Sequence[str],
    known: Sequence[str],
    taken: str | None,
) -> ItfState:
    if not isinstance(found, dict):
        raise BadTrace(f"{where} is {show(found)}; it must be an object with a value by variable")
    for name in variables:
        if name not in found:
            raise BadTrace(f"{where} lacks {show(name)}, which vars has")
    for name in found:
        if name not in known:
            raise BadTrace(f"{where} has {show(name)}, which vars lacks")
    values = {name: read_value(f"{where}.{name}", found[name]) for name in variables}
    if taken is None:
        return ItfState(values, "")
    return ItfState(values, _call(values[taken], values.get(_TAKEN[taken])))


def _call(action: ItfValue, picks: ItfValue | None) -> str:
    """`send(node: 1)`: of what was picked what is there, as some of it is of other actions."""
    given = []
    for name, value in (picks.entries or ()) if picks is not None else ():
        if value.tag == "None" and value.held is None:
            continue
        inner = value.held if value.tag == "Some" and value.held is not None else value
        given.append(f"{name.strip(chr(34))}: {inner.text}")
    name = action.text.removeprefix('"').removesuffix('"')
    return f"{name}({', '.join(given)})" if given else name


def _loop(found: object, states: int) -> int | None:
    if found is None:
        return None
    if type(found) is not int or not 0 <= found < states:
        raise BadTrace(
            f"loop is {show(found)}; it must be the number of a state, from 0 to {states - 1}"
        )
    return found


def _descriptions(meta: object) -> dict[str, str]:
    if not isinstance(meta, dict):
        raise BadTrace(f"{_META} is {show(meta)}; it must be an object")
    wanted = ((key, meta.get(key)) for key in ("source", "status", "description"))
    return {
        key: "".join(c if c.isprintable() else "?" for c in text[:_TEXT_MAX])
        for key, text in wanted
        if isinstance(text, str) and text
    }


def _is_plain(name: str) -> bool:
    return name.isascii() and name.isprintable()
