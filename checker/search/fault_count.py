"""Number of faults in a state, from the model's used budgets.

Every step with a budget counts its use in a field, so that all ways to a state took as many.
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
    import numpy as np  # noqa: PLC0415 - who replays a trace needs no arrays

    total: NDArray[np.int64] = np.zeros(len(rows), np.int64)
    for name in counters(model):
        total += used_in_rows(model, name, rows)
    return total


def used_in_rows(model: Model, name: str, rows: Rows) -> NDArray[np.int64]:
    """Return the value of a counting field in every row of a block."""
    import numpy as np  # noqa: PLC0415 - as above

    place = model.layout.places[name]
    word, shift = divmod(place.bit, WORD_BITS)
    found = (rows[:, word] >> np.uint64(shift)) & np.uint64((1 << place.width) - 1)
    return found.astype(np.int64) + place.lo


def sum_counts(left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.int64]:
    """Add two counts by number; one may be longer."""
    import numpy as np  # noqa: PLC0415 - as above

    total: NDArray[np.int64] = np.zeros(max(len(left), len(right)), np.int64)
    total[: len(left)] += left
    total[: len(right)] += right
    return total
