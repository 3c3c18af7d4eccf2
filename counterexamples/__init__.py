"""Counterexamples: a trace is a recipe; it is replayed through the model before it is shown.

    trace = trace_of(model, invariant, calls)       or  read_trace(path)
    replayed = confirm(trace, model, holds)         or  confirm_step(...), confirm_lasso(...),
                                                        confirm_stuck(...), replay(trace, model)
    console.print(render_compact(replayed, explanation=..., lanes=("LEO", "HW")))

The model is handed in (`counterexamples.protocols` says what it must offer); nothing here knows the
protocol. What can go wrong is in `counterexamples.errors`.
"""

from counterexamples.errors import BadTrace, Divergence, NotACounterexample, TraceError
from counterexamples.for_ever import (
    Call,
    Trapped,
    confirm_lasso,
    confirm_stuck,
    describe_call,
    describe_cycle,
    describe_steps,
    neglected,
)
from counterexamples.named_file import (
    FULL,
    BadFile,
    read_named,
    require_regular,
    require_replaceable,
    written_whole,
)
from counterexamples.rendering import (
    Trimmed,
    render_compact,
    render_full,
    render_header,
)
from counterexamples.replay import (
    Followed,
    Moment,
    Replayed,
    confirm,
    confirm_step,
    first_difference,
    follow,
    replay,
    why_not,
)
from counterexamples.trace import NO_CLAIM, Trace, TraceStep, shown, trace_of
from counterexamples.trace_file import FORMAT, from_json, read_trace, to_json, write_trace

__all__ = [
    "FORMAT",
    "FULL",
    "NO_CLAIM",
    "BadFile",
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
    "Trimmed",
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
    "neglected",
    "read_named",
    "read_trace",
    "render_compact",
    "render_full",
    "render_header",
    "replay",
    "require_regular",
    "require_replaceable",
    "shown",
    "to_json",
    "trace_of",
    "why_not",
    "write_trace",
    "written_whole",
]
