"""Cover properties that already hold in an initial state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from checker.problem.problem import Problem
from checker.search.rule_errors import Raised
from model.core.claim import Reachable
from model.core.state import State


def happened_at_first(problem: Problem) -> NDArray[np.bool_]:
    """Of each claim whether an initial state is enough for it. Raises `Raised`."""
    return np.array(
        [
            any(_begun(problem, claim, s) for s in problem.model.initial)
            for claim in problem.reachable
        ],
        np.bool_,
    )


def _begun(problem: Problem, claim: Reachable, state: State) -> bool:
    if claim.begun is None:
        return False
    try:
        return bool(claim.begun(state, problem.model.settings))
    except Exception as error:
        raise Raised(claim.name, problem.model, state, error) from error
