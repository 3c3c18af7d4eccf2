"""Errors of traces.

Everything is a `TraceError`:

* `BadTrace`: the file or value is not a trace, or not one of this model;
* `Divergence`: a well-formed trace asks for a step that the model does not offer;
* `NotACounterexample`: it replays, but does not end in the first state that breaks the claim.
"""

from __future__ import annotations


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
