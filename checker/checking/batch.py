"""Batch of checks in this process, one after the other: problems of one shape share a kernel."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace

from waterline.checker.checking.run import Run, run
from waterline.checker.problem.problem import Problem, Shared, sharing_by_shape
from waterline.checker.search.budgets import Budgets
from waterline.checker.search.engines.choice import EngineChoice, threads_of
from waterline.checker.search.engines.prepare import prepare
from waterline.model.core.layout import Layout


def run_batch(
    questions: Sequence[tuple[Problem, Budgets]],
    *,
    threads: int,
    shared: Mapping[Layout, Shared] | None = None,
    seconds_max: float = math.inf,
    announce: Callable[[str], None] = lambda message: None,
    watch: Callable[[int, int], None] = lambda done, of: None,
) -> list[Run]:
    """The runs of the first ones: of all, unless Ctrl-C or the seconds for all of them end it.

    `shared` says by shape what kernels are made for, None for what these problems have between
    them. What is compiled for the first one does not count as its time. `watch` receives how many
    are done, of how many. Raises as `run` does.
    """
    if shared is None:
        shared = sharing_by_shape(problem for problem, _ in questions)
    choice = EngineChoice(name="local", threads=threads)
    ends = math.inf
    runs: list[Run] = []
    with suppress(KeyboardInterrupt):
        for number, (problem, budgets) in enumerate(questions):
            watch(number, len(questions))
            shareable = replace(problem, shared=shared[problem.model.layout])
            prepare(shareable, threads=threads_of(threads), announce=announce)
            if number == 0:
                ends = time.monotonic() + seconds_max
            left = ends - time.monotonic()
            if left <= 0:
                break
            within = budgets if left == math.inf else replace(budgets, max_seconds=left)
            done = run(shareable, choice, budgets=within, announce=announce)
            if done.result.interrupted:
                break
            runs.append(done)
    watch(len(runs), len(questions))
    return runs
