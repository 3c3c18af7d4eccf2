"""The catalogue: what its entries say, and their recorded traces."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from waterline import invariants
from waterline.checker.compiler.kernel import plan_of
from waterline.checker.kafka.families import family_of, problem_for
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.checker.kafka.scenarios.running import shared_by_shape
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.traces.finding import confirm_trace
from waterline.counterexamples import NotACounterexample, TraceError, read_trace
from waterline.model.core.claim import Claim
from waterline.model.message.versions import version_of

TRACES = Path(__file__).parents[2] / "examples" / "traces" / "scenarios"
CLAIMS: dict[str, Claim] = {
    claim.name: claim for claim in (*invariants.ALL, *invariants.PROPERTIES, *invariants.BEHAVIOURS)
}


def by_name(scenario: Scenario) -> str:
    return f"{scenario.number}-{scenario.name}"


SHOWN = [scenario for scenario in CATALOGUE if scenario.falls]
"""Those of which something comes, and so a trace."""


def test_the_entry_that_tells_what_an_unclean_election_loses_has_one() -> None:
    [leads_again] = [s for s in CATALOGUE if s.number == "C39"]
    [number] = re.findall(r"\bC\d+\b", leads_again.remark)
    [loss] = [s for s in CATALOGUE if s.number == number]

    assert loss.claim == "acknowledged_durable"
    assert loss.options["unclean-leader-election"]


@pytest.mark.parametrize("scenario", SHOWN, ids=by_name)
def test_the_recorded_trace_replays_and_ends_in_the_first_breach(scenario: Scenario) -> None:
    trace = read_trace(TRACES / f"{scenario.name}.json")
    model = family_of(trace.model).problem(trace.version, trace.environment).model

    found = confirm_trace(trace, model, CLAIMS[trace.invariant])

    assert trace.version == scenario.falls[0]
    assert trace.invariant == scenario.claim
    assert found.explanation


@pytest.mark.parametrize("scenario", [s for s in SHOWN if s.stands], ids=by_name)
def test_under_a_version_that_stands_the_recorded_steps_break_nothing(scenario: Scenario) -> None:
    """Either a step is not offered any more, or the same choices end safe."""
    trace = read_trace(TRACES / f"{scenario.name}.json")
    for version in scenario.stands:
        model = family_of(trace.model).problem(version, trace.environment).model
        with pytest.raises((TraceError, NotACounterexample)):
            confirm_trace(trace, model, CLAIMS[trace.invariant])


def test_the_trace_of_an_older_epoch_ends_safe_where_the_follower_checks_for_it() -> None:
    """Its space is too large to be among those under which an entry stands."""
    trace = read_trace(TRACES / "late-read-older-epoch.json")
    version = f"{trace.version}-with-append-checks-older-epoch"
    model = family_of(trace.model).problem(version, trace.environment).model

    with pytest.raises((TraceError, NotACounterexample)):
        confirm_trace(trace, model, CLAIMS[trace.invariant])


@pytest.mark.parametrize("scenario", CATALOGUE, ids=by_name)
def test_an_entry_says_what_it_is_about(scenario: Scenario) -> None:
    assert scenario.versions
    assert not set(scenario.falls) & set(scenario.stands)
    assert all(version_of(version) for version in scenario.versions)
    assert scenario.claim in CLAIMS
    assert scenario.environment.options()
    assert scenario.story.endswith(".")


def test_spaces_of_one_shape_are_explored_by_one_kernel_whichever_are_run() -> None:
    shared = shared_by_shape()
    plans = {
        plan_of(replace(problem, shared=shared[problem.model.layout]))
        for scenario in CATALOGUE
        for version in scenario.versions
        for problem in [problem_for(version, scenario.environment, [scenario.claim])]
    }

    assert len(plans) == len(shared) == 28
    assert shared_by_shape(CATALOGUE[:1]) == shared


def test_every_documented_scenario_is_there() -> None:
    numbers = [scenario.number for scenario in CATALOGUE]

    assert {f"C{n}" for n in range(1, 21)} <= set(numbers)
    assert len(set(numbers)) == len(numbers)
    assert len({scenario.name for scenario in CATALOGUE}) == len(CATALOGUE)


KIP_320 = ("fencing", "epoch-on-leading", "truncate-every-epoch", "isr-from-epoch-start")


@pytest.mark.parametrize("feature", KIP_320)
def test_each_feature_of_kip_320_is_needed_where_all_of_them_stand(feature: str) -> None:
    """Two replicas are enough for the first two, the others take three."""
    needing = [s for s in CATALOGUE if f"kip320-without-{feature}" in s.falls]

    assert any("kip320" in scenario.stands for scenario in needing)
