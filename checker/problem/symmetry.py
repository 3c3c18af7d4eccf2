"""Symmetry reduction: sorts whose names are interchangeable.

Of each set of such states the search keeps one representative. That is exact if no rule and no
claim distinguishes the names; a model declares where its rules do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from waterline.model.core.renaming import CannotRename, Sort
from waterline.model.core.transition_system import Model


@dataclass(frozen=True, slots=True)
class Symmetry:
    """Whose names do not count: `sorts`. `value` is what it is called on the command line.

    Those of Kafka have names here; another family may have one for each of its sorts.
    """

    value: str
    sorts: tuple[Sort, ...] = ()

    NONE: ClassVar[Symmetry]
    REPLICAS: ClassVar[Symmetry]
    RECORDS: ClassVar[Symmetry]
    ALL: ClassVar[Symmetry]


Symmetry.NONE = Symmetry("none")
Symmetry.REPLICAS = Symmetry("replicas", (Sort.REPLICA,))
Symmetry.RECORDS = Symmetry("records", (Sort.RECORD,))
Symmetry.ALL = Symmetry("all", (Sort.REPLICA, Sort.RECORD))


def require_symmetric(model: Model, symmetry: Symmetry) -> None:
    """Raise `CannotRename` if states cannot be renamed, or a rule distinguishes their names."""
    asked = f"symmetry {symmetry.value}"
    for sort in sorted(symmetry.sorts, key=lambda sort: sort.value):
        if sort.value not in model.layout.sizes:
            raise CannotRename(f"{asked}: model {model.name} has no {sort.value}")
        if sort in model.distinguishes_names:
            raise CannotRename(f"{asked} cannot be: {model.distinguishes_names[sort]}")
        for declared in model.layout.fields:
            if declared.naming is None:
                raise CannotRename(
                    f"{asked}: field {declared.name} of model {model.name} does not say how "
                    "renaming acts on it; leave out --symmetry, or give it at most two indices "
                    "(the places of a queue, a bag or a log are one), or make a set of structs "
                    "with names in them a bag"
                )
