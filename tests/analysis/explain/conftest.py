"""The counterexample that most tests here explain, made ready once."""

from __future__ import annotations

import pytest

from tests.support.recorded_traces import LOSS, problem_of, replayed_in
from waterline.checker.analysis.explain.chain import Chain, chain_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.prepare import prepare
from waterline.counterexamples import Replayed, read_trace


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
