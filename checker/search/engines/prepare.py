"""Preparation of a search: kernels compiled or loaded before the clock starts.

First-run latency is part of the product, so it is announced and measured, not hidden in level 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from waterline.checker.compiler.cache import cache_directory, distrust
from waterline.checker.compiler.predicate_loop import rules_of
from waterline.checker.compiler.program import (
    is_at_hand,
    load_program,
    loaded_quickly,
    look_up_anew,
)
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.interrupts import Interrupts
from waterline.checker.sorts.check import require_well_sorted
from waterline.checker.storage import programs


def prepare(
    problem: Problem,
    *,
    threads: int = 1,
    optimised: bool = False,
    announce: Callable[[str], None] = lambda message: None,
) -> float:
    """Compile the problem's kernel, or load it; return the seconds it took.

    `threads` is how many will search in memory. A search optimises the rules in the background if
    it takes long; `optimised` does it at once. `announce` receives the reason to wait where nothing
    is cached for this problem, and why a cache is not used. Raises `IllSorted` if the normal form
    of the model would not be exact, and `KeyboardInterrupt` after the program that a Ctrl-C met.
    """
    started = time.monotonic()
    look_up_anew()
    require_well_sorted(problem)
    store = programs.in_memory(problem.model.layout.words, threads=threads)
    rules = rules_of(problem)
    if not all(map(is_at_hand, (*rules, *store))):
        if reason := distrust(cache_directory()):
            announce(f"{reason}; until then every run compiles")
        announce("compiling the rules (once for this question; about a second)")
    load = load_program if optimised else loaded_quickly
    interrupts = Interrupts()
    with interrupts.listen():
        for recipe in (*rules, *store):
            (load if recipe in rules else load_program)(recipe)
            interrupts.check()
    return time.monotonic() - started
