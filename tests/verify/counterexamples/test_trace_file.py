"""Traces of any content survive being written."""

from __future__ import annotations

from hypothesis import given, settings

from tests.counterexamples.test_trace_file import TRACES
from waterline.counterexamples import Trace, from_json, to_json


@settings(max_examples=200)
@given(TRACES)
def test_a_trace_survives_being_written(trace: Trace) -> None:
    assert from_json(to_json(trace)) == trace
