"""The counterexample that most tests here explain, made ready once."""

from __future__ import annotations

from pathlib import Path

import pytest
from recorded_traces import LOSS, problem_of, replayed_in
from told import Told

from checker.engines.prepare import prepare
from checker.explain.chain import Chain, chain_of
from checker.problems.problem import Problem
from counterexamples import Replayed, read_trace


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


@pytest.fixture
def told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Told:
    """Commands on 80 columns, in a folder of their own."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return Told(capsys, monkeypatch)
