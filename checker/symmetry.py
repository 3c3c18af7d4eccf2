"""Which states are taken for one because they differ in names alone.

Of each set of such states the search keeps one representative. That is exact where no rule and no
claim tells the names apart; a model says of itself where its rules do.
"""

from __future__ import annotations

import enum

from model.kit.renaming import CannotRename, Sort
from model.kit.transition_system import Model


class Symmetry(enum.Enum):
    """Whose names do not count. The value is what it is called on the command line."""

    NONE = "none"
    REPLICAS = "replicas"
    RECORDS = "records"
    ALL = "all"

    @property
    def sorts(self) -> frozenset[Sort]:
        """The sorts of names that are exchanged freely."""
        return frozenset(_SORTS[self])


_SORTS = {
    Symmetry.NONE: (),
    Symmetry.REPLICAS: (Sort.REPLICA,),
    Symmetry.RECORDS: (Sort.RECORD,),
    Symmetry.ALL: (Sort.REPLICA, Sort.RECORD),
}


def require_symmetric(model: Model, symmetry: Symmetry) -> None:
    """Raises `CannotRename` where states cannot be renamed, or a rule tells their names apart."""
    asked = f"symmetry {symmetry.value}"
    for sort in sorted(symmetry.sorts, key=lambda sort: sort.value):
        if sort.value not in model.layout.sizes:
            raise CannotRename(f"{asked}: model {model.name} has no {sort.value}")
        if sort in model.told_apart:
            raise CannotRename(f"{asked} cannot be: {model.told_apart[sort]}")
        for declared in model.layout.fields:
            if declared.naming is None:
                raise CannotRename(
                    f"{asked}: field {declared.name} of model {model.name} does not say how "
                    "renaming acts on it; give it a naming"
                )
