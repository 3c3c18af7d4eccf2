"""Repairs: every single change is tried, and what is told of it is what a run of it says."""

from __future__ import annotations

import pytest

from tests.support.recorded_traces import entry_trace, problem_of
from waterline.checker.analysis.explain.repairs import Kind, candidates, repairs_of
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.problem.problem import Problem
from waterline.model.message.environment import FAULTS
from waterline.model.message.features import FEATURES, OF_FLUSS, TRUNCATIONS
from waterline.model.message.versions import version_of


@pytest.fixture(scope="module")
def acks_1() -> Problem:
    """A leader acknowledges alone, and dies."""
    return problem_of(entry_trace("acks-1"))


@pytest.mark.parametrize("more", [{}, {"reassignments": 1}, {"late-replay": True}])
def test_every_rule_is_a_candidate_or_means_nothing_alone(more: dict[str, object]) -> None:
    """But for those that begin with a step which is not there: they change nothing."""
    problem = problem_from(ProblemOptions(protocol="kraft", settings=more))
    found, nonsense = candidates(problem)

    tried = {c.description for c in found if c.kind is Kind.RULE} | {
        n.description for n in nonsense
    }
    named = {told.split()[1] for told in tried if told.startswith("--with")}

    steps = problem.model.contents
    of_kafka = {
        f.name
        for f in FEATURES
        if not f.bit & OF_FLUSS and (not f.begins_with or f.begins_with in steps)
    }
    assert named == {*TRUNCATIONS, *of_kafka} - {"truncate-on-fetch"}
    assert ("completes-when-added" in named) is ("reassignments" in more)
    assert "--without fencing" in tried
    assert "--with elr" in tried


def test_a_candidate_differs_in_one_thing(acks_1: Problem) -> None:
    found, _ = candidates(acks_1)
    model = acks_1.model
    rules = version_of(model.version)
    changes = []
    for candidate in found:
        theirs = version_of(candidate.spec.version)
        options = [n for n, value in candidate.spec.options if value != model.options[n]]
        bits = (theirs.features ^ rules.features).bit_count()
        changes.append(len(options) + bits + (theirs.truncation != rules.truncation))

    assert changes == [1] * len(found)
    assert not {"replicas", "records", "epochs"} & {c.description.split()[0][2:] for c in found}


def test_faults_are_taken_away_and_none_is_added(acks_1: Problem) -> None:
    found, _ = candidates(acks_1)

    faults = [dict(c.spec.options) for c in found if c.kind is Kind.FAULT]

    assert [options["restarts"] for options in faults] == [0]
    assert acks_1.model.options["restarts"] == 1
    assert len(FAULTS) > 1


def test_what_time_does_not_allow_is_not_explored(acks_1: Problem) -> None:
    [none] = repairs_of(acks_1, threads=1, seconds_max=1e-9)

    assert none.tried == ()
    assert len(none.unexplored) == len(candidates(acks_1)[0])
