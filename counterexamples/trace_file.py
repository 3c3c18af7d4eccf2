"""A trace as JSON, format waterline-trace/1.

The same trace always gives the same bytes: ASCII, keys in a fixed order, one step a line. A file is
nothing but data: whatever is in it, reading it gives a `Trace` or raises `BadTrace` with one line.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from waterline.counterexamples.json_text import members, read_json
from waterline.counterexamples.named_file import BadFile, read_named, written_whole
from waterline.counterexamples.trace import BadTrace, Trace, TraceStep, show

FORMAT = "waterline-trace/1"
BYTES_MAX = 64 * 1024 * 1024
STEPS_MAX = 100_000
"""Most steps: to replay and to print so many takes half a minute."""

_KEYS = ("format", "model", "version", "environment", "invariant", "initial", "steps")
_OPTIONAL = ("cycle", "raises")
"""Optional keys: the first of infinite traces, the second of those that end in an error."""
_STEP_KEYS = ("action", "arguments")


def to_json(trace: Trace) -> str:
    """The one text of `trace`."""
    steps = ",".join("\n    " + json.dumps(_step_object(step)) for step in trace.steps)
    opened = json.dumps(head_of(trace), indent=2).removesuffix("\n}")
    closing = "\n  ]" if steps else "]"
    return f'{opened},\n  "steps": [{steps}{closing}\n}}\n'


def to_line(trace: Trace) -> str:
    """The same on one line."""
    return json.dumps({**head_of(trace), "steps": [*map(_step_object, trace.steps)]})


def _step_object(step: TraceStep) -> dict[str, object]:
    return {"action": step.action, "arguments": dict(step.arguments)}


def head_of(trace: Trace) -> dict[str, object]:
    """All of a trace but its steps, by the names that it has in the file."""
    return {
        "format": FORMAT,
        "model": trace.model,
        "version": trace.version,
        "environment": dict(sorted(trace.environment.items())),
        "invariant": trace.invariant,
        "initial": trace.initial,
        **({} if trace.cycle is None else {"cycle": trace.cycle}),
        **({} if trace.raises is None else {"raises": _raises_value(trace.raises)}),
    }


def _raises_value(raises: TraceStep | str) -> dict[str, object]:
    if isinstance(raises, str):
        return {"claim": raises}
    return _step_object(raises)


def from_json(text: str) -> Trace:
    """The trace that `text` describes; for any other text raises `BadTrace` and nothing else.

    The message names the field by its path in the JSON: `steps[3].arguments.replica`.
    """
    if len(text) > BYTES_MAX:
        raise BadTrace(f"the text has {len(text)} characters; a trace has at most {BYTES_MAX}")
    return from_object(read_json(text))


def from_object(document: object) -> Trace:
    """The trace that these values of a JSON text describe. Raises `BadTrace`."""
    if isinstance(document, dict) and document.get("format") != FORMAT:
        found = show(document.get("format"))
        raise BadTrace(f"not a trace: format is {found}; it must be {FORMAT!r}")
    fields = members("a trace", document, _KEYS, _OPTIONAL)
    environment, steps = fields["environment"], fields["steps"]
    if not isinstance(environment, dict):
        raise BadTrace(f"environment is {show(environment)}; it must be an object of options")
    if not isinstance(steps, list):
        raise BadTrace(f"steps is {show(steps)}; it must be a list")
    _require_few(len(steps))
    return Trace(
        model=fields["model"],
        version=fields["version"],
        environment=environment,
        invariant=fields["invariant"],
        initial=fields["initial"],
        steps=tuple(_step(f"steps[{index}]", step) for index, step in enumerate(steps)),
        cycle=_cycle(fields),
        raises=_raises(fields["raises"]) if "raises" in fields else None,
    )


def read_trace(path: str | os.PathLike[str], *, parse: Callable[[str], Trace] = from_json) -> Trace:
    """The trace in the file at `path`. Raises `BadTrace`, which names the file, if it is none.

    `parse` reads a text that may be in another format than ours.
    """
    try:
        trace = parse(read_named(path, bytes_max=BYTES_MAX).decode("utf-8"))
        _require_few(len(trace.steps))
    except BadFile as problem:
        raise BadTrace(str(problem)) from None
    except UnicodeDecodeError:
        raise BadTrace(f"{path}: not a trace: not UTF-8 text") from None
    except BadTrace as problem:
        raise BadTrace(f"{path}: {problem}") from None
    return trace


def _require_few(steps: int) -> None:
    if steps > STEPS_MAX:
        raise BadTrace(
            f"a trace of {steps:,} steps; at most {STEPS_MAX:,} can be read and replayed"
        )


def write_trace(path: str | os.PathLike[str], trace: Trace) -> None:
    """Put `trace` at `path`, all of it or nothing. Raises `BadFile`."""
    with written_whole(path) as file:
        file.write(to_json(trace).encode("ascii"))


def _cycle(fields: dict[str, Any]) -> int | None:
    if "cycle" not in fields:
        return None
    # `null` is no way to say that there is none: the same trace has one text.
    cycle: int = -1 if fields["cycle"] is None else fields["cycle"]
    return cycle


def _raises(value: object) -> TraceStep | str:
    if isinstance(value, dict) and "claim" in value:
        claim = members("raises", value, ("claim",))["claim"]
        if not isinstance(claim, str):
            raise BadTrace(f"raises.claim is {show(claim)}; it must be the name of a claim")
        return claim
    return _step("raises", value)


def _step(where: str, step: object) -> TraceStep:
    fields = members(where, step, _STEP_KEYS)
    arguments = fields["arguments"]
    if not isinstance(arguments, dict):
        raise BadTrace(f"{where}.arguments is {show(arguments)}; it must be an object")
    try:
        return TraceStep(fields["action"], tuple(arguments.items()))
    except BadTrace as problem:
        raise BadTrace(f"{where}.{problem}") from None
