"""Bounds and budgets: which of them a transition would exceed.

A transition that exceeds one is not taken; the search counts it as cut, so that a verdict can say
how tight its bounds were. Rules answer for the bounds; budgets of faults are counted for them
(`model.core.transition_system.Budget`).
"""

from __future__ import annotations

from waterline.model.core.transition_system import Budget
from waterline.model.message.bounds import Bounds
from waterline.model.message.declared import option_of
from waterline.model.message.environment import DECLARED, FAULTS, UNCOUNTED

WITHIN = 0
RECORDS = 1
EPOCHS = 2

NAMES = ("within", "records", "epochs", *map(option_of, FAULTS))

BUDGETS = {
    DECLARED[name].steps[0]: Budget(option_of(name), setting=name, used=f"{name}_used")
    for name in FAULTS
}
"""Budgets by the action that uses one up."""
BUDGETS["ReassignAndElect"] = BUDGETS["Reassign"]
BUDGETS["StartFutureLog"] = BUDGETS["DirectoryMove"]


_SHAPING = frozenset(FAULTS) & frozenset(Bounds.__dataclass_fields__)
"""Faults that take room in a state only if they are possible."""


def most_used(bounds: Bounds, budget: str) -> int:
    """Return how often a fault can have happened, whatever its budget, which the layout ignores.

    Faults that shape the state are an exception: it has room for them only if there are any.
    """
    if budget in _SHAPING and not getattr(bounds, budget):
        return 0
    if bounds.unbounded and budget in UNCOUNTED:
        return 1
    return DECLARED[budget].most or 0
