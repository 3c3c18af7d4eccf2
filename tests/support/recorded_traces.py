"""Recorded traces with the problems that they answer."""

from __future__ import annotations

from pathlib import Path

from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import Replayed, Trace, read_trace

TRACES = Path(__file__).parents[2] / "examples" / "traces"
LOSS = TRACES / "hw-no_committed_loss-2r2n2e.json"


def entry_trace(name: str) -> Trace:
    """The trace of an entry of the catalogue."""
    return read_trace(TRACES / "scenarios" / f"{name}.json")


def problem_of(trace: Trace) -> Problem:
    """The problem that asks the trace's claim and nothing else."""
    return MESSAGE.problem(trace.version, trace.environment, [trace.invariant])


def replayed_in(problem: Problem, trace: Trace) -> Replayed:
    """The trace, seen to be a counterexample."""
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    return confirm_trace(trace, problem.model, claim).replayed
