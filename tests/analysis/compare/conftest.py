"""What tests of comparisons share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.recorded_traces import problem_of, replayed_in
from waterline.checker.analysis.compare.comparison import Comparison, compare_models
from waterline.checker.kafka.families import MESSAGE
from waterline.counterexamples import Trace

Compare = Callable[..., Comparison]


@pytest.fixture(scope="session")
def compare() -> Compare:
    """A trace under another version, with other settings."""

    def made(trace: Trace, version: str | None = None, **settings: Any) -> Comparison:
        left = problem_of(trace)
        options = {**trace.environment, **{n.replace("_", "-"): v for n, v in settings.items()}}
        right = MESSAGE.problem(version or trace.version, options, [trace.invariant])
        return compare_models(left, replayed_in(left, trace), right)

    return made
