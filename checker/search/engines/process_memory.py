"""Memory use of this process."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")


def anonymous_bytes() -> int:
    """Bytes held now that could not be read again from a file.

    Pages of mapped files are left out: the system drops them when memory is short. Where the system
    does not report them, the peak stands in.
    """
    resident, shared = _pages()
    return (resident - shared) * _PAGE_BYTES if resident else peak_resident_bytes()


def resident_bytes() -> int:
    """Bytes resident now, mapped files included; 0 where the system does not report them."""
    return _pages()[0] * _PAGE_BYTES


def _pages() -> tuple[int, int]:
    """Return resident pages, and how many of them are of files; zeros if unknown."""
    try:
        _, resident, shared = Path("/proc/self/statm").read_text().split()[:3]
    except OSError:
        return 0, 0
    return int(resident), int(shared)


def peak_resident_bytes() -> int:
    """The most that was ever resident, mapped files included."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def memory_a_core() -> int:
    """This machine's memory, by its number of cores."""
    return os.sysconf("SC_PHYS_PAGES") * _PAGE_BYTES // (os.cpu_count() or 1)
