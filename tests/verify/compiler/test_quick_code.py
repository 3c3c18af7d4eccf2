"""Code that is not optimised finds the same, with both grains, faults, and up to symmetry."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from tests.compiler.test_quick_code import anew, assert_the_same_when_optimised
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.symmetry import Symmetry
from waterline.model.atomic import AtomicEnvironment
from waterline.model.message.environment import Environment

__all__ = ["anew"]

SMALL: dict[str, Any] = {"records": 1, "epochs": 2, "restarts": 1}
PROBLEMS = {
    "hw": problem_for("hw", Environment(**SMALL)),
    "kip320": problem_for("kip320", Environment(**SMALL, moves=1, lost_disks=1)),
    "elr": problem_for("elr", Environment(**SMALL, session_expiries=1, requests_survive=True)),
    "fluss-main": problem_for("fluss-main", Environment(**SMALL)),
    "atomic epoch": problem_for("epoch", AtomicEnvironment(replicas=3, records=2, epochs=2)),
    "symmetry": replace(
        problem_for("kip903", Environment(**{**SMALL, "records": 2})), symmetry=Symmetry.RECORDS
    ),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_code_that_is_not_optimised_finds_the_same(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_the_same_when_optimised(PROBLEMS[name], monkeypatch)
