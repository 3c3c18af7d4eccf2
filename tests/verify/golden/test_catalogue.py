"""The catalogue as its gate explores it: what falls, what stands, which trace, which document.

The answers are kept: `make gate` with the same cache does not explore the catalogue again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.documents import catalogue
from tests.golden.test_scenarios import SHOWN, TRACES, by_name
from waterline.checker.ci import judging
from waterline.checker.ci.reading import read_gate
from waterline.checker.ci.searching import Manner, judge_all
from waterline.checker.cli.gate_options import asking
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE
from waterline.checker.kafka.scenarios.running import Outcome
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.kafka.scenarios.table import to_markdown
from waterline.counterexamples import to_json

ROOT = Path(__file__).parents[3]
Judged = dict[tuple[str, str], judging.Outcome]


@pytest.fixture(scope="module")
def found() -> Judged:
    """How each entry came out, by its number and the version."""
    expectations = read_gate(ROOT / "gates" / "catalogue.toml", asking())
    return {
        (outcome.expectation.name.split()[0], outcome.expectation.problem.model.version): outcome
        for outcome in judge_all(expectations, Manner())
    }


@pytest.mark.parametrize("scenario", CATALOGUE, ids=by_name)
def test_each_comes_out_as_told(scenario: Scenario, found: Judged) -> None:
    outcomes = [found[scenario.number, version] for version in scenario.versions]

    assert [outcome.complaints for outcome in outcomes] == [()] * len(outcomes)


@pytest.mark.parametrize("scenario", SHOWN, ids=by_name)
def test_the_recorded_trace_is_the_one_that_is_found(scenario: Scenario, found: Judged) -> None:
    answer = found[scenario.number, scenario.falls[0]].answer
    assert answer is not None
    finding = answer.finding(scenario.claim)

    assert finding is not None
    recorded = (TRACES / f"{scenario.name}.json").read_text()
    assert to_json(finding.replayed.trace) == recorded


def test_the_record_is_what_came_out(found: Judged) -> None:
    outcomes = [
        told(scenario, version, found[scenario.number, version])
        for scenario in CATALOGUE
        for version in scenario.versions
    ]

    recorded = catalogue.outcomes(catalogue.read())
    assert to_markdown(outcomes) == to_markdown(recorded)


def told(scenario: Scenario, version: str, outcome: judging.Outcome) -> Outcome:
    """The outcome as `waterline scenarios --run` tells it."""
    assert outcome.answer is not None
    result = outcome.answer.result
    [judgement] = [each for each in result.invariants if each.name == scenario.claim]
    return Outcome(
        scenario=scenario,
        version=version,
        verdict=judgement.verdict,
        depth=judgement.depth,
        states=result.distinct,
        complete=result.complete,
        seconds=result.seconds,
        finding=None,
    )
