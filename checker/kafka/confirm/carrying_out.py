"""Confirmation of a trace on brokers of a release, from trace to verdict.

A control run has one step more, which prevents the loss: a replay proves more if the same steps
without the cause lose nothing.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from waterline.checker.kafka.confirm.counterexample import Counterexample
from waterline.checker.kafka.confirm.course import Course, course_of
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import Site, Tell, class_path
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.replay import Confirmation, confirm_on, unsteerable
from waterline.checker.kafka.confirm.waiting import require_visible
from waterline.counterexamples import Replayed, Trace, TraceStep, replay
from waterline.model.core.claim import Behaviour
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


_PREFIX = "waterline-confirm-"


def carried_out(
    shown: Counterexample,
    release: KafkaRelease,
    *,
    control_of: str | None = None,
    jars: Path | None = None,
    keep: Path | None = None,
    announce: Tell = lambda message: None,
    report: Tell = lambda message: None,
) -> tuple[Confirmation, Course]:
    """Replay a counterexample on brokers; return the result and the course.

    `control_of` is the scenario whose control it is to be. `jars` is a folder that has them, `keep`
    one for the brokers' files, which are removed without it. Raises `CannotConfirm`.
    """
    if isinstance(shown.claim, Behaviour):
        require_visible(shown.claim)
    replayed = shown.finding.replayed
    model = shown.problem.model
    if control_of is not None:
        replayed = with_control(control_of, replayed.trace, model)
    course = course_of(replayed, model, shown.claim, release)
    refused = unsteerable(course, release)
    if refused is not None:
        return refused, course
    files = class_path(release, folder=jars, announce=announce)
    with work_folder(keep) as folder:
        site = Site(release, files, folder, announce, report)
        return confirm_on(course, site), course


@contextmanager
def work_folder(keep: Path | None) -> Iterator[Path]:
    """Yield the folder for the brokers' files, to keep or to remove afterwards."""
    if keep is None:
        made = Path(tempfile.mkdtemp(prefix=_PREFIX))
        try:
            yield made
        finally:
            shutil.rmtree(made, ignore_errors=True)
        return
    keep.mkdir(parents=True, exist_ok=True)
    if any(keep.iterdir()):
        raise CannotConfirm(f"--keep {keep} is not empty; name a new folder")
    yield keep.resolve()
