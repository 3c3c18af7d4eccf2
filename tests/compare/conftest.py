"""What tests of comparisons share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from recorded_traces import problem_of, replayed_in
from told import Told

from checker.compare.comparison import Comparison, compared
from checker.kafka.families import MESSAGE
from counterexamples import Trace

Compare = Callable[..., Comparison]


@pytest.fixture(scope="session")
def compare() -> Compare:
    """A trace under another version, with other settings."""

    def made(trace: Trace, version: str | None = None, **settings: Any) -> Comparison:
        left = problem_of(trace)
        options = {**trace.environment, **{n.replace("_", "-"): v for n, v in settings.items()}}
        right = MESSAGE.problem_of(version or trace.version, options, [trace.invariant])
        return compared(left, replayed_in(left, trace), right)

    return made


@pytest.fixture
def told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Told:
    """Commands on 80 columns, in a folder of their own."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)
    return Told(capsys, monkeypatch)
