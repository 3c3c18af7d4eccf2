"""Getting a problem ready to be searched: compiled, or loaded from the cache, before the clock
starts.

First-run latency is part of the product, so it is announced and measured, not hidden in level 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from checker.compiled.expander import Expander, Findings, Tally
from checker.compiled.kernel import is_cached, mark_cached
from checker.problem import Problem
from checker.store.blocks import warm_up
from checker.wording import told_sizes


def prepare(problem: Problem, *, announce: Callable[[str], None] = lambda message: None) -> float:
    """Compile the problem's kernels, or load them; returns the seconds it took.

    `announce` is told what is waited for where nothing is cached for this shape.
    """
    if not is_cached(problem):
        sizes = told_sizes(problem.model)
        announce(f"compiling the model for {sizes} (once for these; about twenty seconds)")
    started = time.monotonic()
    expander = Expander(problem, chunk_rows=1)
    warm_up(expander.width)
    words = [state.words for state in problem.model.initial[:1]]
    rows = np.array(words, np.uint64)
    expander.inspect(rows, Findings(problem))
    for _ in expander.expand(rows, Tally(problem)):
        pass
    mark_cached(problem)
    return time.monotonic() - started
