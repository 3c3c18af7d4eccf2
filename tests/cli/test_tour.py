"""The tour expects what comes out: `make check` ends with every stop as expected.

The large one is in tests/verify.
"""

from __future__ import annotations

import pytest

from waterline.checker.batch.checks import answer_of_run
from waterline.checker.checking.run import run
from waterline.checker.ci.judging import judge
from waterline.checker.cli.tour import Stop, stops
from waterline.checker.search.engines.engine import EngineChoice


@pytest.mark.parametrize("stop", list(stops())[:2], ids=lambda stop: stop.title)
def test_a_stop_comes_out_as_expected(stop: Stop) -> None:
    assert_comes_out(stop)


def assert_comes_out(stop: Stop) -> None:
    """On the local engine here: that Spark finds the same is tested elsewhere."""
    expected = stop.expectation
    done = run(expected.problem, EngineChoice(name="local"), budgets=expected.budgets)

    assert judge(expected, answer_of_run(done)).complaints == ()
    assert {finding.invariant for finding in done.findings} >= set(stop.shown)
    assert done.gravest is None or done.gravest.invariant in stop.shown
