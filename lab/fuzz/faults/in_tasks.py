"""A fault in one task of Spark: its worker is killed, its disk is full, it fails, or it is slow.

Pickled by value: executors have no `lab`.
"""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.fuzz.faults.dying import CALLS
from waterline.checker.storage import disk_calls

HOWS = ("killed", "killed", "killed", "fails", "full", "slow")
_SLOW_SECONDS = 0.7
"""Long enough for Spark to start a copy of the task elsewhere, where it may."""


@dataclass(frozen=True, slots=True)
class TaskFault:
    """`how` at the nth change to the disk of a task, or at its end if it makes fewer.

    `level` counts those that an attempt explores on Spark. It happens `times` times; a disk stays
    full.
    """

    level: int
    task: int
    at: int
    how: str
    times: int

    def __str__(self) -> str:
        return (
            f"task {self.task} of level {self.level} is {self.how} at call {self.at}, "
            f"{self.times} times"
        )


class Disturbed:
    """A task, with its fault. In the folder `marks` is one for each time that it happened."""

    def __init__(self, task: Any, fault: TaskFault, marks: Path) -> None:
        self.task = task
        self.fault = fault
        self.marks = marks
        self.calls = 0

    def __call__(self, numbers: Iterator[int]) -> Iterator[Any]:
        """Yield what the task yields, if it comes so far."""
        given = list(numbers)
        if self.fault.task % len(self.task.plan.owners) not in given:
            yield from self.task(iter(given))
            return
        with self._counting():
            yield from self.task(iter(given))
            if self.calls < self.fault.at:
                self._come_to(self.fault.at)

    @contextmanager
    def _counting(self) -> Iterator[None]:
        """Have each change to the disk counted, in this process and task."""
        names = (*CALLS, "make_new_folder")
        real = {name: getattr(disk_calls, name) for name in names}

        def counter_of(name: str) -> Callable[..., Any]:
            def call(*given: Any) -> Any:
                self.calls += 1
                self._come_to(self.calls)
                return real[name](*given)

            return call

        try:
            for name in names:
                setattr(disk_calls, name, counter_of(name))
            yield
        finally:
            for name in names:
                setattr(disk_calls, name, real[name])

    def _come_to(self, call: int) -> None:
        how = self.fault.how
        if (call < self.fault.at if how == "full" else call != self.fault.at) or not self._mark():
            return
        if how == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if how == "full":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "a full disk")
        if how == "fails":
            raise RuntimeError("a fault of the attack")
        time.sleep(_SLOW_SECONDS)

    def _mark(self) -> bool:
        """Leave a mark; false if there are as many as there may be."""
        if self.fault.how == "full":
            self.marks.joinpath("0").mkdir(parents=True, exist_ok=True)
            return True
        for number in range(self.fault.times):
            try:
                self.marks.joinpath(str(number)).mkdir(parents=True)
            except FileExistsError:
                continue
            return True
        return False
