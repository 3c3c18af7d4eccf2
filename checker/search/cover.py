"""Cover properties that already hold in an initial state."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.answers import ModelFault
from waterline.checker.search.rule_errors import begins


def happened_at_first(problem: Problem) -> NDArray[np.bool_]:
    """Return for each claim whether an initial state satisfies it. Raises `ModelFault`.

    Every initial state is judged, even after one has raised.
    """
    model, faults = problem.model, []
    happened = np.zeros(len(problem.reachable), np.bool_)
    for number, claim in enumerate(problem.reachable):
        for state in model.initial:
            try:
                happened[number] |= begins(claim, model, state)
            except Exception:  # Whatever it is, it is reported as that of any other claim.
                faults.append(state.words)
    if faults:
        raise ModelFault.among(set(faults))
    return happened
