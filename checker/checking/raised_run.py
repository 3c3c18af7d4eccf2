"""A run that ended in an error of a rule: its verdicts so far, and a shortest trace to the error.

No claim holds then, and one that was violated before stays so.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from waterline.checker.liveness.space import answers_of, asked_of
from waterline.checker.problem.packed_rows import Rows, StateWords, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import FAULTS_MAX, Engine, ModelFault
from waterline.checker.search.engines.expander import chunks_of
from waterline.checker.search.result import STOPPED_BY_ERROR, Result, Verdict
from waterline.checker.search.rule_errors import Failure, Raised, explain_fault
from waterline.checker.traces.fewest_actors import paths_to_breaking
from waterline.checker.traces.finding import Finding, raising_at
from waterline.checker.traces.violating_states import Breaking

_ERROR = "raises"


@dataclass(frozen=True, slots=True)
class RuleError:
    """The error of a rule, with its place and arguments, and a shortest trace there."""

    raised: Raised
    depth: int
    finding: Finding

    @property
    def failure(self) -> Failure:
        """The action or the claim, and its error."""
        return self.raised.failure


def rule_error(problem: Problem, engine: Engine, fault: ModelFault, depth: int) -> RuleError:
    """The error of a fault in states of this depth; `engine` has absorbed the levels before it.

    Raises `Disagreement`.
    """
    at = Breaking(depth, fault.states, len(fault.states), None)
    path = paths_to_breaking(problem, engine, {_ERROR: at})[_ERROR]
    found = raising_at(problem, path.initial, path.calls)
    if found is None:
        raise _explain_fault(problem, fault)
    finding, raised = found
    return RuleError(raised, depth, finding)


def _explain_fault(problem: Problem, fault: ModelFault) -> Raised:
    found = explain_fault(problem, fault)
    if not isinstance(found, Raised):
        raise found
    return found


def withdraw(result: Result) -> None:
    """Withdraw every "holds": a rule raised, so the state space is incomplete."""
    result.complete, result.stopped_by = False, STOPPED_BY_ERROR
    result.invariants = [
        replace(each, verdict=Verdict.INCOMPLETE) if each.verdict is Verdict.HOLDS else each
        for each in result.invariants
    ]


def fault_of_behaviours(problem: Problem, engine: Engine, result: Result) -> tuple[ModelFault, int]:
    """Return the least states at the least depth where a claim about behaviours faults.

    Returns the depth too. Such a claim must have faulted.
    """
    for level in result.levels:
        found = [
            state for part in engine.over_level(level.depth, _Faulting(problem)) for state in part
        ]
        if found:
            return ModelFault.among(found), level.depth
    raise AssertionError("no claim about behaviours faults in any level")


@dataclass(frozen=True, slots=True)
class _Faulting:
    """Finder of the least states of a block where such a claim faults; picklable."""

    problem: Problem

    def __call__(self, block: Rows) -> list[StateWords]:
        asked, found = asked_of(self.problem), list[StateWords]()
        if all(answers_of(self.problem, asked, chunk).fault is None for chunk in chunks_of(block)):
            return found
        for row in block[np.lexsort(block.T[::-1])]:
            alone = np.ascontiguousarray(row.reshape(1, -1))
            if answers_of(self.problem, asked, alone).fault is not None:
                found.append(state_words(row))
                if len(found) == FAULTS_MAX:
                    break
        return found
