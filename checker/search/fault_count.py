"""Number of faults in a state, from the model's used budgets.

Every step with a budget counts its use in a field, so that all ways to a state took as many.
Replays of a trace load this module, and do not load NumPy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from waterline.model.core.layout import WORD_BITS
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from waterline.checker.problem.packed_rows import Rows


def counters(model: Model) -> tuple[str, ...]:
    """The fields that count; none where the model has no budgets, or does not count for good."""
    if model.concretise is not None:
        return ()
    used = (action.budget.used for action in model.actions if action.budget is not None)
    return tuple(dict.fromkeys(used))


def faults_in(model: Model, state: State) -> int:
    """Return the number of faults before a state."""
    return sum(int(getattr(state, name)) for name in counters(model))


def faults_in_rows(model: Model, rows: Rows) -> NDArray[np.int64]:
    """Return the number of faults before each row of a block."""
    total: NDArray[np.int64] = rows[:, 0].astype("int64")
    total[:] = 0
    for name in counters(model):
        total += used_in_rows(model, name, rows)
    return total


def used_in_rows(model: Model, name: str, rows: Rows) -> NDArray[np.int64]:
    """Return the value of a counting field in every row of a block."""
    place = model.layout.places[name]
    word, shift = divmod(place.bit, WORD_BITS)
    found = (rows[:, word] >> shift) & ((1 << place.width) - 1)
    return found.astype("int64") + place.lo


def sum_counts(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add two counts by number; one may be longer."""
    shorter, longer = sorted((left, right), key=len)
    total = longer.copy()
    total[: len(shorter)] += shorter
    return total
