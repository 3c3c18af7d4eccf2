"""A recorded trace with its problem, confirmed as a counterexample."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from waterline.checker.cli.shared.own_options import finder
from waterline.checker.problem.problem import Problem, asked_alone
from waterline.checker.traces.finding import Finding, confirm_raising, confirm_trace
from waterline.counterexamples import BadTrace, Trace, from_json, read_trace
from waterline.counterexamples.formats import from_itf, is_itf
from waterline.counterexamples.formats.itf_states import trace_of_another_tool
from waterline.model.core.claim import Claim
from waterline.model.core.errors import BadEnvironment


@dataclass(frozen=True, slots=True)
class Recorded:
    """A finding, and its problem, which asks its claim and nothing else."""

    problem: Problem
    finding: Finding

    @property
    def claim(self) -> Claim:
        """The one that the trace breaks."""
        return asked_alone(self.problem)


def load_counterexample(path: Path, own_model: str | None) -> Recorded:
    """The counterexample in a file, of Kafka's models or of `own_model`.

    Raises `BadTrace`, and what `checker.traces.finding.confirm_trace` raises.
    """
    if trace_of_another_tool(path) is not None:
        raise BadTrace(
            f"{path} is a trace of another tool, whose model is not known; such a trace is for "
            "`waterline view` alone"
        )
    trace = read_trace(path, parse=_parse)
    try:
        family = finder(own_model)(trace.model)
        problem = family.problem(trace.version, trace.environment, [trace.invariant])
    except BadEnvironment as problem_found:
        raise BadTrace(f"{path}: {problem_found}") from None
    if trace.raises is not None:
        return Recorded(problem, confirm_raising(trace, problem))
    return Recorded(problem, confirm_trace(trace, problem.model, asked_alone(problem)))


def _parse(text: str) -> Trace:
    """A trace file of ours, or one that was converted to ITF."""
    return from_itf(text) if is_itf(text) else from_json(text)
