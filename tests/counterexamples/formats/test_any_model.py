"""Traces of every sort of model in every format, but for pictures of long ones."""

from __future__ import annotations

import functools
from dataclasses import replace

import pytest

from tests.support.confirmed_traces import confirmed_in
from tests.support.own import example
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import ATOMIC
from waterline.checker.problem.problem import Problem
from waterline.checker.report.pages.formats import FORMATS, Converted
from waterline.checker.report.pages.trace_sequence import TooLongToDraw
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.traces.finding import Finding, confirm_trace
from waterline.counterexamples import TraceStep, from_json
from waterline.counterexamples.formats import from_itf

LOSS = "hw-no_committed_loss-2r2n2e.json"


@pytest.fixture(scope="module", params=["die_hard", "atomic"])
def found(request: pytest.FixtureRequest) -> tuple[Problem, Finding]:
    problem = (
        example("die_hard")
        if request.param == "die_hard"
        else ATOMIC.problem(
            "hw", {**ATOMIC.usual.options(), "replicas": 2, "log-size": 1, "records": 1}
        )
    )
    return problem, run(problem, EngineChoice(name="local")).findings[0]


@pytest.mark.parametrize("name", FORMATS)
def test_any_model_has_every_format(found: tuple[Problem, Finding], name: str) -> None:
    problem, finding = found
    text = FORMATS[name](Converted(problem=problem, finding=finding))

    assert text.endswith("\n")
    for step in finding.replayed.trace.steps:
        assert step.action in text
    if name == "itf":
        assert from_itf(text) == finding.replayed.trace
    if name == "json":
        assert from_json(text) == finding.replayed.trace


@functools.cache
def of_thousands_of_steps() -> Converted:
    loss = confirmed_in(LOSS)
    [claim] = [claim for claim in loss.problem.claims if loss.problem.is_asked(claim)]
    trace = loss.finding.replayed.trace
    fetch = [TraceStep(n, (("follower", 1),)) for n in ("SendFetch", "LeaderFetch", "RecvFetch")]
    steps = (*fetch * 350, *trace.steps)
    long = confirm_trace(replace(trace, steps=steps), loss.problem.model, claim)
    return Converted(problem=loss.problem, finding=long)


@pytest.mark.parametrize("name", ["svg", "mermaid"])
def test_thousands_of_steps_are_too_many_to_be_drawn(name: str) -> None:
    with pytest.raises(TooLongToDraw, match=r"1,062 steps, and a diagram .* at most 1,000"):
        FORMATS[name](of_thousands_of_steps())
