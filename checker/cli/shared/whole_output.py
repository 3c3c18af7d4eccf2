"""Standard output and error that write everything or report why not.

Unbuffered (`python -u`, PYTHONUNBUFFERED, usual in containers) Python writes once and drops what
the system did not take: on a disk that is nearly full, or into a pipe that does not wait.
"""

from __future__ import annotations

import io
import select
import sys
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


def write_whole() -> None:
    """Let `sys.stdout` and `sys.stderr` write on until all is written; to be called once."""
    if (whole := _whole(sys.stdout)) is not None:
        sys.stdout = whole
    if (whole := _whole(sys.stderr)) is not None:
        sys.stderr = whole


class _Waiting(io.FileIO):
    """A file that waits where it can take nothing now. A buffer above it writes short writes on.

    It fails once: what the buffer still holds then, and would write at the end, goes nowhere.
    """

    _has_failed = False

    def write(self, data: ReadableBuffer, /) -> int:
        """How many bytes were written, at least one of them."""
        if self._has_failed:
            return memoryview(data).nbytes
        try:
            # It returns None for a pipe that is full, whatever the stubs say.
            while (written := cast("int | None", super().write(data))) is None:
                room = select.poll()
                room.register(self.fileno(), select.POLLOUT)
                room.poll()
        except OSError:
            self._has_failed = True
            raise
        return written


def _whole(stream: object) -> io.TextIOWrapper | None:
    """Return a stream that writes everything; None if `stream` is not Python's own."""
    if not isinstance(stream, io.TextIOWrapper) or stream not in (sys.__stdout__, sys.__stderr__):
        return None
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Waiting(stream.fileno(), "w", closefd=False)),
        encoding=stream.encoding,
        # A character that the encoding lacks is no reason to lose a verdict.
        errors="replace" if stream.errors == "strict" else stream.errors,
        line_buffering=stream.line_buffering or stream.write_through,
    )
