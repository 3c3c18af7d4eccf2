"""What a step writes rests on what decided which way it went, and not only on what was computed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from checker.problem.problem import Problem
from checker.reduction.effects import Steps
from checker.reduction.generated import made
from checker.reduction.plan import CannotReduce
from checker.reduction.planning import decided
from checker.reduction.smaller import smaller_model
from fuzz.random_models import verdicts
from model.core.claim import Invariant
from tests.support.row_models import model_of

SET = ("s.other[i] == 0", "s.other[i] = 1")
PUT = "\n\ndef put(s, i):\n    s.count[i] = 2\n    return True\n"


@pytest.mark.parametrize(
    "effect",
    [
        "x = 0\n    if s.other[i] == 1:\n        x = 2\n    s.count[i] = x",
        "x = 0\n    if s.other[i] == 0:\n        x = 2\n    if x == 0:\n        s.count[i] = 2",
        "x = 0\n    for k in range(s.other[i]):\n        x = 2\n    s.count[i] = x",
        "x, y = 0, 0\n    if s.other[i] == 1:\n        x, y = 2, 2\n    s.count[i] = y",
        "x = put(s, i)\n    s.count[i] = x\n\ndef put(s, i):\n"
        "    if s.other[i] == 1:\n        return 2\n    return 0\n",
    ],
    ids=[
        "assigned in one branch",
        "left as it was in one branch",
        "assigned as often",
        "assigned among others",
        "returned",
    ],
)
def test_what_decides_what_a_variable_is_is_kept(effect: str) -> None:
    model = model_of(SET, ("s.on[i] == 0", effect))
    holds = made("def holds(s, c):\n    return s.count[0] != 2\n", {})["holds"]
    claim = Invariant(name="claim", sentence="", holds=holds, explain=lambda s, c: "")
    problem = Problem(model, (claim,))

    assert Steps.of(model).seen["step1", (0,)].made_of["count"] == {"other"}
    less = verdicts(replace(problem, model=smaller_model(model, decided(problem))))
    assert less is not None
    assert less[0] == {"claim": True}


@pytest.mark.parametrize(
    "effect",
    [
        f"s.other[i] == 1 and put(s, i){PUT}",
        f"s.other[i] != 1 or put(s, i){PUT}",
        f"x = put(s, i) if s.other[i] == 1 else False{PUT}",
    ],
    ids=[
        "written after and",
        "written after or",
        "written in a conditional expression",
    ],
)
def test_what_decides_whether_a_call_is_made_is_seen_and_no_reduction_rests_on_it(
    effect: str,
) -> None:
    model = model_of(SET, ("s.on[i] == 0", effect))

    assert Steps.of(model).seen["step1", (0,)].made_of["count"] == {"other"}
    with pytest.raises(CannotReduce, match="put writes, and is called inside a larger"):
        decided(Problem(model, ()))


@pytest.mark.parametrize(
    "expression",
    ["s.other[i] != 0 or 2 // s.count[i] == 1", "0 if s.other[i] != 0 else 2 // s.count[i]"],
    ids=["or", "conditional expression"],
)
def test_what_decides_whether_a_step_comes_to_what_may_raise_is_kept(expression: str) -> None:
    # No claim sees `other`, and it is never 0: were it put to 0, the step would divide by a count.
    model = model_of(
        ("s.other[i] == 1", "s.other[i] = 2"), ("s.on[i] == 0", f"s.on[i] = 1; {expression}")
    )
    begun = model.initial[0].draft()
    begun.other[0] = begun.other[1] = 1
    holds = made("def holds(s, c):\n    return s.on[0] + s.count[0] == 0\n", {})["holds"]
    claim = Invariant(name="claim", sentence="", holds=holds, explain=lambda s, c: "")
    problem = Problem(replace(model, initial=(begun.freeze(),)), (claim,))

    less = verdicts(replace(problem, model=smaller_model(problem.model, decided(problem))))

    assert less is not None
    assert less[0] == {"claim": True}
