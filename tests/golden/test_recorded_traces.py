"""The recorded counterexamples in examples/traces: what they show, and what repairs it."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import pytest

from waterline import invariants
from waterline.checker.checking.run import EngineChoice, Run, run
from waterline.checker.kafka.families import family_of, problem_for
from waterline.counterexamples import (
    Trace,
    confirm,
    first_difference,
    follow,
    read_trace,
    to_json,
)
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model

TRACES = Path(__file__).parents[2] / "examples" / "traces"
FILES = sorted(TRACES.glob("*.json"))
CLAIMS = {invariant.name: invariant for invariant in invariants.ALL}
DIFFERS_AFTER = {"no_committed_loss": 10, "no_divergence_below_hw": 11}


def read(name: str) -> Trace:
    return read_trace(TRACES / name)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_ends_in_the_first_state_that_breaks_its_claim(path: Path) -> None:
    trace = read_trace(path)
    model = family_of(trace.model).problem(trace.version, trace.environment).model
    claim = CLAIMS[trace.invariant]

    replayed = confirm(trace, model, lambda state: claim.holds(state, model.settings))

    assert claim.explain(replayed.states[-1], model.settings)


def assert_found_byte_for_byte(path: Path) -> None:
    trace = read_trace(path)

    done = _explored(trace.version, tuple(trace.environment.items()))

    found = next(f for f in done.findings if f.invariant == trace.invariant)
    assert to_json(found.replayed.trace) == path.read_text()


@pytest.mark.parametrize(
    "path", [path for path in FILES if path.stem.endswith("2r2n2e")], ids=lambda path: path.stem
)
def test_each_is_what_the_search_finds_byte_for_byte(path: Path) -> None:
    assert_found_byte_for_byte(path)


@functools.cache
def _explored(version: str, environment: tuple[tuple[str, Any], ...]) -> Run:
    """Several traces are of one search."""
    problem = problem_for(version, Environment.from_options(dict(environment)))
    return run(problem, EngineChoice(name="local"))


@pytest.mark.parametrize("invariant", DIFFERS_AFTER)
def test_the_same_choices_under_epoch_end_safe(invariant: str) -> None:
    """Step by step `epoch` offers the choices of `hw`; the effect of one step differs.

    Where a later choice is no longer offered, that is because nothing was truncated.
    """
    trace = read(f"hw-{invariant}-2r2n2e.json")
    hw = family_of(trace.model).problem("hw", trace.environment).model
    epoch = message_model("epoch", Environment.from_options(dict(trace.environment)))

    followed = follow(trace, epoch)

    for claim in invariants.ALL:
        assert all(claim.holds(state, epoch.settings) for state in followed.replayed.states)
    assert first_difference(trace, hw, epoch) == DIFFERS_AFTER[invariant]
    assert trace.steps[DIFFERS_AFTER[invariant] - 1].action == "Learn"


def test_the_shortest_loss_is_fully_enabled_under_epoch() -> None:
    trace = read("hw-no_committed_loss-2r2n2e.json")
    epoch = message_model("epoch", Environment.from_options(dict(trace.environment)))

    assert follow(trace, epoch).refusal is None
