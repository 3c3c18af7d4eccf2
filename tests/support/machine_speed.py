"""Slowness of a machine, for tests that bound processor seconds.

One machine does in one hour what takes it four times as long in another. A test that bounds
seconds gives the bound for the machine that it was measured on, and multiplies it by this.
"""

import gc
import time
from collections.abc import Callable

_MEASURED_ON = 0.06
"""Processor seconds of the loop below where the bounds were measured."""


class Slowness:
    """Slowness of a machine from now on, against the one that bounds were measured on."""

    def __init__(self) -> None:
        self._at_first = _loop()

    def until_now(self) -> float:
        """The larger of slowness at the beginning and now; at least 1."""
        return max(1.0, self._at_first / _MEASURED_ON, _loop() / _MEASURED_ON)


def fewest_seconds(work: Callable[[], object], attempts: int = 3) -> float:
    """Processor seconds of the quickest of several runs.

    The slower ones waited for caches that a neighbour filled. The garbage collector leaves out
    the objects of earlier tests: work that makes many objects takes three times as long when it
    looks through theirs as well.
    """
    gc.collect()
    gc.freeze()  # Stays so: what the session collected is frozen for good as well.
    return min(_seconds(work) for _ in range(attempts))


def _seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def _loop() -> float:
    begun = time.process_time()
    total = 0
    for number in range(1_000_000):
        total += number
    return time.process_time() - begun
