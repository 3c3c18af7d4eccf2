"""Answer of a search as plain values, for the cache and for other processes.

Counterexamples are recipes. A cached one proves nothing by itself: before it is shown, it is
replayed through the model and must break the claim.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import (
    InvariantResult,
    LevelSummary,
    ReachableResult,
    Result,
    Verdict,
)
from waterline.counterexamples import Trace, trace_of

if TYPE_CHECKING:
    from waterline.checker.checking.run import Run
    from waterline.checker.traces.finding import Finding


@dataclass(frozen=True, slots=True)
class Answer:
    """A result, and a trace for each claim that is violated. `is_kept`: from an earlier run."""

    result: Result
    traces: Mapping[str, Trace]
    is_kept: bool = False

    def finding(self, claim: str) -> Finding | None:
        """The counterexample to a claim, replayed and confirmed now; None if it is not violated."""
        # Only who looks at a counterexample needs what replays one.
        from waterline.checker.traces.finding import confirm_trace  # noqa: PLC0415

        if claim not in self.traces:
            return None
        problem = self.result.problem
        stated = next(each for each in problem.claims if each.name == claim)
        return confirm_trace(self.traces[claim], problem.model, stated)


@dataclass(frozen=True, slots=True)
class Trouble:
    """Reason for a missing result: the error of a rule, or a lack of the machine.

    `kind` is "raised", "refused" or "failed"; the command line distinguishes them.
    """

    kind: str
    message: str


def values_of(run: Run) -> dict[str, Any]:
    """A run as values that JSON has."""
    result = run.result
    return {
        "engine": result.engine,
        "complete": result.complete,
        "stopped_by": result.stopped_by,
        "claims": {r.name: [r.verdict.value, r.depth] for r in result.invariants},
        "reachable": {r.name: r.depth for r in result.reachable},
        "levels": [level.states for level in result.levels],
        "generated": result.generated,
        "fired": result.fired,
        "cut": result.cut,
        "always_cut": result.always_cut,
        "seconds": result.seconds,
        "traces": {
            finding.invariant: [
                finding.replayed.trace.initial,
                [[s.action, [v for _, v in s.arguments]] for s in finding.replayed.trace.steps],
                finding.replayed.trace.cycle,
            ]
            for finding in run.findings
        },
    }


def answer_from(values: Mapping[str, Any], problem: Problem, *, is_kept: bool = False) -> Answer:
    """Return the answer to the claims of `problem`, from the values of a search.

    The search may have had more claims. Raises `KeyError`, `TypeError` or `ValueError` for values
    that no run of this problem produces.
    """
    found = values["claims"]
    asked = problem.asked_names
    result = Result(
        problem=problem,
        engine=str(values["engine"]),
        complete=bool(values["complete"]),
        stopped_by=values["stopped_by"],
        invariants=[InvariantResult(n, Verdict(found[n][0]), found[n][1]) for n in asked],
        reachable=[ReachableResult(name, depth) for name, depth in values["reachable"].items()],
        levels=[
            LevelSummary(depth, int(states), str(values["engine"]))
            for depth, states in enumerate(values["levels"])
        ],
        generated=int(values["generated"]),
        fired=dict(values["fired"]),
        cut=dict(values["cut"]),
        always_cut=list(values["always_cut"]),
        deadlock=None,
        seconds=float(values["seconds"]),
    )
    traces = {
        name: trace_of(
            problem.model,
            name,
            ((action, tuple(arguments)) for action, arguments in steps),
            initial=initial,
            cycle=cycle,
        )
        for name, (initial, steps, cycle) in values["traces"].items()
        if name in asked
    }
    return Answer(result, traces, is_kept)


def answer_of(run: Run) -> Answer:
    """The answer that a run in this process is."""
    traces = {finding.invariant: finding.replayed.trace for finding in run.findings}
    return Answer(run.result, traces)
