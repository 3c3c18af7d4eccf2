"""Expectations, run and judged: what `gate` and `tour` do."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from checker.console.gate import Expectation, Outcome, judge
from checker.console.progress import Progress
from checker.run import Run, run


def judged(expectations: Sequence[Expectation], progress: Progress) -> list[Outcome]:
    """How each came out, up to the one in which the user ended it."""
    outcomes: list[Outcome] = []
    with suppress(KeyboardInterrupt):
        for expectation in expectations:
            progress.announce(f"{expectation.name} ...")
            done = run_expected(expectation, progress)
            if done.result.interrupted:
                break
            outcomes.append(judge(expectation, done))
    return outcomes


def run_expected(expectation: Expectation, progress: Progress) -> Run:
    """The run that an expectation is about."""
    return run(
        expectation.problem,
        expectation.choice,
        budgets=expectation.budgets,
        watch=progress.watch,
        announce=progress.announce,
    )
