"""Spark's JVM: whether it is alive, and the meaning of its end.

PySpark reports its end through any call under way: a refused connection, a stream that ended. Here
that is one error.
"""

from __future__ import annotations

import signal
import subprocess
from typing import Any

from waterline.checker.search.engines.answers import EngineFailed

_ENDING_SECONDS = 2.0
"""A process that is killed closes its sockets a moment before it can be waited for."""


class SparkGone(EngineFailed):
    """Spark's process has ended while it was needed."""

    def __init__(self, when: str, how: str) -> None:
        super().__init__(f"Spark's process, the JVM, is gone {when}: {how}")


def how_it_ended(gateway: Any) -> str | None:
    """Return how the process behind a gateway has ended; None while it runs.

    Under spark-submit it is not our child: a call to it shows whether it is there.
    """
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None:
        return None if _answers(gateway) else "it does not answer any more"
    try:
        code = process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    if code < 0:
        name = signal.Signals(-code).name
        killed = ", as it is when memory runs out" if -code == signal.SIGKILL else ""
        return f"it was killed ({name}{killed})"
    return f"it ended with exit code {code}"


def _answers(gateway: Any) -> bool:
    try:
        gateway.jvm.System.currentTimeMillis()
    except Exception:
        return False
    return True
