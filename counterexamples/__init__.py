"""Counterexamples: a trace is a recipe; it is replayed through the model before it is shown.

    trace = trace_of(model, invariant, calls)       or  read_trace(path)
    replayed = confirm(trace, model, holds)         or  confirm_step(...), confirm_lasso(...),
                                                        confirm_stuck(...), replay(trace, model)

The model is handed in (`counterexamples.protocols` says what it must offer); nothing here knows the
protocol. What can go wrong is in `counterexamples.trace`; `counterexamples.rendering` draws a
replayed trace, and `counterexamples.named_file` reads and writes files that a person names.
"""

from waterline.counterexamples.for_ever import (
    Call,
    Trapped,
    confirm_lasso,
    confirm_stuck,
    describe_call,
    describe_cycle,
    describe_steps,
    neglected_steps,
)
from waterline.counterexamples.replay import (
    Followed,
    Moment,
    Replayed,
    confirm,
    confirm_step,
    first_difference,
    follow,
    replay,
    skipping,
    why_not,
)
from waterline.counterexamples.trace import (
    NO_CLAIM,
    BadTrace,
    Divergence,
    NotACounterexample,
    Trace,
    TraceError,
    TraceStep,
    show,
    trace_of,
    trace_step,
)
from waterline.counterexamples.trace_file import FORMAT, from_json, read_trace, to_json, write_trace

__all__ = [
    "FORMAT",
    "NO_CLAIM",
    "BadTrace",
    "Call",
    "Divergence",
    "Followed",
    "Moment",
    "NotACounterexample",
    "Replayed",
    "Trace",
    "TraceError",
    "TraceStep",
    "Trapped",
    "confirm",
    "confirm_lasso",
    "confirm_step",
    "confirm_stuck",
    "describe_call",
    "describe_cycle",
    "describe_steps",
    "first_difference",
    "follow",
    "from_json",
    "neglected_steps",
    "read_trace",
    "replay",
    "show",
    "skipping",
    "to_json",
    "trace_of",
    "trace_step",
    "why_not",
    "write_trace",
]
