"""A counterexample from its trace to what it amounts to on brokers of a release."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from checker.confirm.controls import with_control
from checker.confirm.counterexample import Counterexample
from checker.confirm.course import Course, course_of
from checker.confirm.errors import CannotConfirm
from checker.confirm.jars import class_path
from checker.confirm.lasting import require_visible
from checker.confirm.paused import confirm_by_pauses
from checker.confirm.refused import confirm_by_gate
from checker.confirm.releases import KafkaRelease
from checker.confirm.replay import Confirmation, confirm_on, unsteerable
from checker.confirm.site import Site, Tell
from model.kit.claim import Behaviour

_PREFIX = "waterline-confirm-"


def carried_out(
    shown: Counterexample,
    release: KafkaRelease,
    *,
    control_of: str | None = None,
    jars: Path | None = None,
    keep: Path | None = None,
    announce: Tell = lambda message: None,
    tell: Tell = lambda message: None,
) -> tuple[Confirmation, Course]:
    """Replay it on brokers; what came of it, and the way that was taken.

    `control_of` is the scenario whose control it is to be. `jars` is a folder that has them, `keep`
    one for the brokers' files, which are removed without it. Raises `CannotConfirm`.
    """
    if isinstance(shown.claim, Behaviour) and not release.is_kraft:
        require_visible(shown.claim)
    replayed = shown.finding.replayed
    model = shown.problem.model
    if control_of is not None and not release.is_kraft:
        replayed = with_control(control_of, replayed.trace, model)
    course = course_of(replayed, model, shown.claim, release)
    refused = None if release.is_kraft else unsteerable(course)
    if refused is not None:
        return refused, course
    files = class_path(release, folder=jars, announce=announce)
    with work_folder(keep) as folder:
        site = Site(release, files, folder, announce, tell)
        if not release.is_kraft:
            return confirm_on(course, site), course
        confirm = confirm_by_gate if isinstance(shown.claim, Behaviour) else confirm_by_pauses
        return confirm(course, site, is_control=control_of is not None), course


@contextmanager
def work_folder(keep: Path | None) -> Iterator[Path]:
    """Where brokers have their files: a folder to keep, or one that is removed."""
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
