"""The counterexample that most tests here explain, made ready once."""

from __future__ import annotations

import pytest

from checker.analysis.explain.chain import Chain, chain_of
from checker.problem.problem import Problem
from checker.search.engines.prepare import prepare
from counterexamples import Replayed, read_trace
from tests.support.recorded_traces import LOSS, problem_of, replayed_in


@pytest.fixture(scope="session")
def loss() -> tuple[Problem, Replayed]:
    """A record lost under hw, in twelve steps; what is compiled is ready."""
    trace = read_trace(LOSS)
    problem = problem_of(trace)
    prepare(problem)
    return problem, replayed_in(problem, trace)


@pytest.fixture(scope="session")
def chain(loss: tuple[Problem, Replayed]) -> Chain:
    """What the loss takes."""
    return chain_of(*loss)
