"""Repairs: what is told of every single change is what a run of it says."""

from __future__ import annotations

import pytest

from tests.analysis.explain.test_repairs import acks_1
from waterline.checker.analysis.explain.repairs import Repairs, candidates, repairs_of
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.problem.problem import Problem
from waterline.checker.search.result import Verdict

__all__ = ["acks_1"]


@pytest.fixture(scope="module")
def repairs(acks_1: Problem) -> Repairs:
    [found] = repairs_of(acks_1, threads=1)
    return found


def test_what_repairs_is_what_holds(repairs: Repairs) -> None:
    assert [tried.candidate.description for tried in repairs.found] == [
        "--restarts 0",
        "--acks 0",
        "--acks all",
    ]
    assert all(tried.complete for tried in repairs.found)
    assert {t.verdict for t in repairs.tried} == {Verdict.HOLDS, Verdict.VIOLATED}
    assert repairs.undecided == ()


def test_what_never_happens_any_more_is_told(repairs: Repairs) -> None:
    never = {tried.candidate.description: tried.never for tried in repairs.found}

    assert never["--acks 0"] == ("record_acknowledged",)
    assert never["--acks all"] == ()


def test_several_claims_are_answered_by_the_same_searches() -> None:
    settings = {"records": 1, "epochs": 1, "acks": "1"}
    names = ("acknowledged_durable", "no_committed_loss")

    def asked(*names: str) -> Problem:
        return problem_from(ProblemOptions(protocol="hw", settings=settings, names=names))

    together = repairs_of(asked(*names), threads=1)
    alone = [repairs_of(asked(name), threads=1) for name in names]

    def found(repairs: Repairs) -> list[tuple[str, int]]:
        return [(tried.candidate.description, tried.states) for tried in repairs.found]

    expected = {each.claim: found(each) for [each] in alone}
    assert {each.claim: found(each) for each in together} == expected
    assert all(expected.values())


def test_what_a_budget_ends_is_not_decided(acks_1: Problem) -> None:
    [few] = repairs_of(acks_1, threads=1, states_max=1)

    assert few.found == ()
    assert len(few.undecided) == len(few.tried) == len(candidates(acks_1)[0])
