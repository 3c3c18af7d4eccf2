"""Control runs: the catalogue's counterexample plus the step that prevents the loss.

A replay proves more if the same steps without the cause lose nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.counterexamples import Replayed, Trace, TraceStep, replay
from waterline.model.core.transition_system import Model


@dataclass(frozen=True, slots=True)
class Control:
    """The step that is inserted behind the step `after`, counted from 1, and why."""

    after: int
    step: TraceStep
    why: str


CONTROLS = {
    "stale-remote-leo": Control(
        9,
        TraceStep("Learn", (("replica", 0),)),
        "r0 is told of epoch 1, so that it stops leading, and forgets what it knew of r1",
    ),
    "replication-factor-down-and-up": Control(
        4,
        TraceStep("CancelReassignment", ()),
        "r0 is no replica when r1 shuts down, and cannot be elected",
    ),
}


def with_control(scenario: str, trace: Trace, model: Model) -> Replayed:
    """The trace of a scenario with its control's step, replayed through the model.

    Raises `CannotConfirm` for a scenario that has none.
    """
    if scenario not in CONTROLS:
        raise CannotConfirm(f"{scenario} has no control run; these have: {', '.join(CONTROLS)}")
    control = CONTROLS[scenario]
    steps = (*trace.steps[: control.after], control.step, *trace.steps[control.after :])
    return replay(replace(trace, steps=steps), model)
