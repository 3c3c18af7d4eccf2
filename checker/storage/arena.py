"""Memory that threads share, and their stop-the-world pauses.

What is to be done then is shared among those that wait.

Address space is reserved once, generously; memory is taken page by page as it is written. So no
array ever exists twice, and memory held is memory used. Under a limit on address space
(`ulimit -v`) less is reserved: about as much as the limit allows.
"""

from __future__ import annotations

import mmap
import resource
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows, address


class Standstill:
    """A pause of all threads, while `chores` are done side by side.

    `hurry` has them end their work soon. A chore that fails ends the work of all threads with its
    exception, now and later.
    """

    def __init__(
        self, chores: Callable[[], Sequence[Callable[[], None]]], hurry: Callable[[], None]
    ) -> None:
        self._chores = chores
        self._hurry = hurry
        self._changed = threading.Condition()
        self._number = 0
        self._working = 0
        self._is_asked_for = False
        self._left: list[Callable[[], None]] | None = None
        self._being_done = 0
        self._failure: BaseException | None = None

    @contextmanager
    def working(self) -> Iterator[int]:
        """Work that delays a standstill; it begins once a requested standstill is over.

        A thread may not nest it. Yields how many standstills there have been.
        """
        with self._changed:
            self._stand_still()
            self._working += 1
            number = self._number
        try:
            yield number
        finally:
            with self._changed:
                self._working -= 1
                if self._is_asked_for and not self._working:
                    self._changed.notify_all()

    def ask(self, number: int) -> None:
        """Let everybody stand still, unless they have since there had been so many standstills."""
        with self._changed:
            if number == self._number and not self._is_asked_for:
                self._is_asked_for = True
                self._hurry()

    def _stand_still(self) -> None:
        while self._is_asked_for and self._failure is None:
            if self._left is None and not self._working:
                self._left = list(self._chores())
            if self._left:
                self._do(self._left.pop())
            elif self._left is not None and not self._being_done:
                self._is_asked_for = False
                self._left = None
                self._number += 1
                self._changed.notify_all()
            else:
                self._changed.wait()
        if self._failure is not None:
            raise self._failure

    def _do(self, chore: Callable[[], None]) -> None:
        self._being_done += 1
        self._changed.release()
        failure: BaseException | None = None
        try:
            chore()
        except BaseException as raised:
            failure = raised
        self._changed.acquire()
        self._being_done -= 1
        if failure is not None:
            self._failure = self._failure or failure
        self._changed.notify_all()


WORD_BYTES = 8
_HUGE_BYTES = 2 << 20
_SLOT_BYTES = 4
CACHE_LINE_BYTES = 64
_SHARE_OF_LIMIT = 0.4
"""For states, of what a limit on address space leaves; most of the rest is for their tables."""


def rows_within_limit(words: int, owners: int) -> int | None:
    """How many states each owner should reserve at most; None where nothing limits it."""
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    left = max(0, limit - _address_space_used())
    return int(left * _SHARE_OF_LIMIT) // (owners * words * WORD_BYTES)


def _address_space_used() -> int:
    """Return this process's address space in bytes; 0 where the system does not report it."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:
        return 0
    return int(pages) * mmap.PAGESIZE


class TooManyStates(Exception):
    """There are more states than was reserved for them."""


class Reserve:
    """A block of at most `rows_max` states of `words` words; `rows` is the whole of it, at `place`.

    Raises `MemoryError` when the address space cannot be had.
    """

    __slots__ = ("_map", "place", "rows")

    def __init__(self, rows_max: int, words: int) -> None:
        size = rows_max * words * WORD_BYTES
        # Not counted against what the system is willing to promise, where it can be reported so.
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_NORESERVE", 0x4000)
        try:
            self._map = mmap.mmap(-1, size, flags=flags)
        except (OSError, ValueError) as problem:
            raise MemoryError(
                f"{size / 1e9:.1f} GB of address space cannot be reserved: {problem}; "
                "lift the limit on address space (ulimit -v)"
            ) from None
        self.rows: Rows = np.frombuffer(self._map, np.uint64).reshape(rows_max, words)
        self.place = address(self.rows)

    def release(self, start: int, stop: int) -> None:
        """Give back the memory of rows that are no longer needed; they read as zeros then."""
        row_bytes = self.rows.shape[1] * WORD_BYTES
        _release(self._map, start * row_bytes, stop * row_bytes)


class Zeros:
    """A block of bytes, zero at first, in large pages where they fill half of one or more.

    A table is read at random, so with small pages nearly each read would also miss the page table's
    cache. Large pages are allocated on the first write, or at once if `now`: a page that is read
    first and written later costs two faults, and the second interrupts all other threads.
    """

    __slots__ = ("_map", "_start", "bytes")

    def __init__(self, size: int, *, now: bool = True) -> None:
        self._map: mmap.mmap | None = None
        if size < _HUGE_BYTES // 2 or not hasattr(mmap, "MADV_HUGEPAGE"):
            room: NDArray[np.uint8] = np.empty(size + CACHE_LINE_BYTES, np.uint8)
            self._start = -address(room) % CACHE_LINE_BYTES
            now = True
        else:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
            self._map = mmap.mmap(-1, size + _HUGE_BYTES, flags=flags)
            room = np.frombuffer(self._map, np.uint8)
            self._start = -address(room) % _HUGE_BYTES
            # A large page at the end would be had as a whole.
            if large := size // _HUGE_BYTES * _HUGE_BYTES:
                self._map.madvise(mmap.MADV_HUGEPAGE, self._start, large)
        self.bytes: NDArray[np.uint8] = room[self._start : self._start + size]
        if now:
            self.bytes[:] = 0

    def release(self, start: int, stop: int) -> None:
        """Give back the memory of bytes that are no longer needed, where that is worth it."""
        if self._map is not None:
            _release(self._map, self._start + start, self._start + stop)


def _release(mapped: mmap.mmap, start: int, stop: int) -> None:
    first = -(-start // mmap.PAGESIZE) * mmap.PAGESIZE
    length = stop // mmap.PAGESIZE * mmap.PAGESIZE - first
    if length > 0 and hasattr(mmap, "MADV_DONTNEED"):
        mapped.madvise(mmap.MADV_DONTNEED, first, length)


def empty_table(slots: int) -> NDArray[np.uint32]:
    """A table of so many empty slots of 32 bits."""
    return Zeros(slots * _SLOT_BYTES).bytes.view(np.uint32)
