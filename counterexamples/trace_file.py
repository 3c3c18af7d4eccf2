"""A trace as JSON, format waterline-trace/1.

The same trace always gives the same bytes: ASCII, keys in a fixed order, one step a line. A file is
nothing but data: whatever is in it, reading it gives a `Trace` or raises `BadTrace` with one line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from typing import Any, NoReturn

from counterexamples.errors import BadTrace
from counterexamples.named_file import BadFile, read_named, written_whole
from counterexamples.trace import Trace, TraceStep, shown

FORMAT = "waterline-trace/1"
BYTES_MAX = 64 * 1024 * 1024

_DIGITS_MAX = 20
_KEYS = ("format", "model", "version", "environment", "invariant", "initial", "steps")
_STEP_KEYS = ("action", "arguments")


def to_json(trace: Trace) -> str:
    """The one text of `trace`."""
    head: dict[str, object] = {
        "format": FORMAT,
        "model": trace.model,
        "version": trace.version,
        "environment": dict(sorted(trace.environment.items())),
        "invariant": trace.invariant,
        "initial": trace.initial,
    }
    steps = ",".join(
        "\n    " + json.dumps({"action": step.action, "arguments": dict(step.arguments)})
        for step in trace.steps
    )
    opened = json.dumps(head, indent=2).removesuffix("\n}")
    closing = "\n  ]" if steps else "]"
    return f'{opened},\n  "steps": [{steps}{closing}\n}}\n'


def from_json(text: str) -> Trace:
    """The trace that `text` describes; for any other text raises `BadTrace` and nothing else."""
    if len(text) > BYTES_MAX:
        raise BadTrace(f"the text has {len(text)} characters; a trace has at most {BYTES_MAX}")
    try:
        document = json.loads(
            text, object_pairs_hook=_object, parse_int=_integer, parse_constant=_refuse_constant
        )
    except RecursionError:
        raise BadTrace("not a trace: the JSON is nested too deeply") from None
    except ValueError as problem:
        raise BadTrace(f"not a trace: not JSON ({problem})") from None
    if isinstance(document, dict) and document.get("format") != FORMAT:
        found = shown(document.get("format"))
        raise BadTrace(f"not a trace: format is {found}; it must be {FORMAT!r}")
    fields = _members("a trace", document, _KEYS)
    environment, steps = fields["environment"], fields["steps"]
    if not isinstance(environment, dict):
        raise BadTrace(f"environment is {shown(environment)}; it must be an object of options")
    if not isinstance(steps, list):
        raise BadTrace(f"steps is {shown(steps)}; it must be a list")
    return Trace(
        model=fields["model"],
        version=fields["version"],
        environment=environment,
        invariant=fields["invariant"],
        initial=fields["initial"],
        steps=tuple(_step(number, step) for number, step in enumerate(steps, start=1)),
    )


def read_trace(path: str | os.PathLike[str]) -> Trace:
    """The trace in the file at `path`. Raises `BadTrace`, which names the file, if it is none."""
    try:
        return from_json(read_named(path, bytes_max=BYTES_MAX).decode("utf-8"))
    except BadFile as problem:
        raise BadTrace(str(problem)) from None
    except UnicodeDecodeError:
        raise BadTrace(f"{path}: not a trace: not UTF-8 text") from None
    except BadTrace as problem:
        raise BadTrace(f"{path}: {problem}") from None


def write_trace(path: str | os.PathLike[str], trace: Trace) -> None:
    """Put `trace` at `path`, all of it or nothing. Raises `BadFile`."""
    with written_whole(path) as file:
        file.write(to_json(trace).encode("ascii"))


def _step(number: int, step: object) -> TraceStep:
    fields = _members(f"step {number}", step, _STEP_KEYS)
    arguments = fields["arguments"]
    if not isinstance(arguments, dict):
        raise BadTrace(f"step {number}: arguments is {shown(arguments)}; it must be an object")
    try:
        return TraceStep(fields["action"], tuple(arguments.items()))
    except BadTrace as problem:
        raise BadTrace(f"step {number}: {problem}") from None


def _members(what: str, found: object, keys: tuple[str, ...]) -> dict[str, Any]:
    """The members of an object that has exactly `keys`."""
    if not isinstance(found, dict):
        raise BadTrace(f"{what} is {shown(found)}; it must be an object with {_listed(keys)}")
    missing = [key for key in keys if key not in found]
    if missing:
        raise BadTrace(f"{what} lacks {_listed(missing)}; it must have {_listed(keys)}")
    unknown = [key for key in found if key not in keys]
    if unknown:
        raise BadTrace(
            f"{what} has {shown(unknown)}, which is unknown; it may have {_listed(keys)}"
        )
    return found


def _listed(keys: Iterable[str]) -> str:
    return ", ".join(keys)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError(f"a name twice in the object {shown(found)}")
    return found


def _integer(digits: str) -> int:
    if len(digits) > _DIGITS_MAX:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")
