"""What is not understood is refused, and only where a rule comes to it."""

from __future__ import annotations

import pytest

from checker.problem.problem import Problem
from checker.reduction.plan import CannotReduce
from checker.reduction.planning import decided
from tests.support.row_models import SWITCHED_ON, model_of

NOT_UNDERSTOOD = [
    "s.count[i] = len([s.on[i]])",
    "s.count[i] = s.on[i] @ 1",
    "while s.on[i] == 0:\n            s.on[i] = 1",
    "for k in s.count:\n            s.on[i] = 1",
    "s.count[i] = put(j=s.on[i])\n\ndef put(j):\n    return j\n",
    "s.count[i] = put(s.on[i])\n\ndef put(j, k=1):\n    return j\n",
    "s.unknown[i] = 1",
    "s.count[i] = s.unknown[i]",
    "s.count[i] = x\n        x = 1",
]
NAMES = [
    "a list",
    "an operator",
    "while",
    "a loop over a field",
    "an argument by name",
    "a default",
    "writing no field",
    "reading no field",
    "a variable that is not assigned yet",
]


@pytest.mark.parametrize("effect", NOT_UNDERSTOOD, ids=NAMES)
def test_what_is_not_understood_is_refused_where_it_is_reached(effect: str) -> None:
    reached = model_of(SWITCHED_ON, ("s.on[i] == 1", f"if c.most == 1:\n        {effect}"))
    ruled_out = model_of(SWITCHED_ON, ("s.on[i] == 1", f"if c.most == 2:\n        {effect}"))

    decided(Problem(ruled_out, ()))
    with pytest.raises(CannotReduce, match="--reduce cannot follow a rule"):
        decided(Problem(reached, ()))
