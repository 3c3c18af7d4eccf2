"""Getting a problem ready to be searched: compiled, or loaded from the cache, before the clock
starts.

First-run latency is part of the product, so it is announced and measured, not hidden in level 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from checker.compiled.cache import cache_directory, distrust, repaired
from checker.compiled.expander import Expander, Findings, Tally
from checker.compiled.interrupting import ctrl_c_counts
from checker.compiled.kernel import is_compiled
from checker.problem import Problem
from checker.store import blocks


def prepare(problem: Problem, *, announce: Callable[[str], None] = lambda message: None) -> float:
    """Compile the problem's kernel, or load it; returns the seconds it took.

    `announce` is told what is waited for where nothing is cached for this problem, and why a cache
    is not used. Ctrl-C ends it at once or as soon as LLVM lets go.
    """
    started = time.monotonic()
    with ctrl_c_counts():
        if not is_compiled(problem):
            if reason := distrust(cache_directory()):
                announce(f"{reason}; until then every run compiles")
            announce("compiling the rules (once for this question; about a second)")
        expander = Expander(problem, chunk_rows=1)
        repaired(lambda: blocks.warm_up(expander.width), str(blocks.__file__))
        words = [state.words for state in problem.model.initial[:1]]
        rows = np.array(words, np.uint64)
        expander.inspect(rows, Findings(problem))
        for _ in expander.expand(rows, Tally(problem)):
            pass
    return time.monotonic() - started
