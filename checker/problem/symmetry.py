"""Symmetry reduction: sorts whose names are interchangeable, and states under other names.

Of each set of such states the search keeps one representative. That is exact if no rule and no
claim distinguishes the names; a model declares where its rules do.

A renamed state is by the definition: every element moves to its new place with its new value. What
is compiled for a search under a symmetry has no part in it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

from waterline.model.core.layout import Element, Field, Layout
from waterline.model.core.renaming import CannotRename, Digit, Holds, Naming, Sort
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


Names = tuple[int, ...]
"""names[i] is the new index of index i; of a sort whose names are counted from 1 it is name-1."""
Move = tuple[Element, Element, tuple[int, ...]]
"""An element, where it is after the renaming, and what each of its packed values becomes there."""


class Renamer:
    """Renames states of a layout, given as packed words."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._sorted = [
            [layout.elements[each.name][(*row, j)] for j in range(each.shape[-1])]
            for each in layout.fields
            if naming_of(each).is_sorted
            for row in itertools.product(*map(range, each.shape[:-1]))
        ]
        """The places of what descends in them, as a bag."""

    def moves(self, new: Mapping[Sort, Names]) -> Iterator[Move]:
        """Yield, of each element, where a renaming puts it and what its values become."""
        for field in self._layout.fields:
            naming, elements = naming_of(field), self._layout.elements[field.name]
            becomes = _values(field, naming, new)
            for index in itertools.product(*map(range, field.shape)):
                sorts = (naming.rows, naming.columns)[: len(index)]
                to = tuple(
                    i if sort is None or sort not in new else new[sort][i]
                    for i, sort in zip(index, sorts, strict=True)
                )
                yield elements[index], elements[to], becomes

    def rename(self, words: Sequence[int], moves: Sequence[Move]) -> tuple[int, ...]:
        """The state that these moves make of a state."""
        out = [0] * len(words)
        for source, target, becomes in moves:
            decides = source.decides
            if decides is None or (
                words[decides.word] >> decides.shift & decides.mask in source.values
            ):
                value = words[source.word] >> source.shift & source.mask
                out[target.word] |= becomes[value] << target.shift
        for places in self._sorted:
            held = sorted((out[e.word] >> e.shift & e.mask for e in places), reverse=True)
            for element, value in zip(places, held, strict=True):
                out[element.word] &= ~(element.mask << element.shift)
                out[element.word] |= value << element.shift
        return tuple(out)


def naming_of(field: Field) -> Naming:
    """Return the naming that a field states, or one that renames nothing."""
    return field.naming or Naming()


def _values(field: Field, naming: Naming, new: Mapping[Sort, Names]) -> tuple[int, ...]:
    """Return the new value of each packed value of a field."""
    if naming.holds is Holds.DIGITS:
        numbers = range(field.lo, field.hi + 1)
        return tuple(renamed_number(naming.digits, new, number) - field.lo for number in numbers)
    is_record = naming.holds in (Holds.RECORD, Holds.RECORDS)
    names = new.get(Sort.RECORD if is_record else naming.of or Sort.REPLICA)
    rename = _RENAME.get(naming.holds)
    values = range(field.hi - field.lo + 1)
    if names is None or rename is None:
        return tuple(values)
    return tuple(rename(names, value + field.lo) - field.lo for value in values)


def _name(names: Names, value: int, *, first: int) -> int:
    """A name, counted from `first`; anything below is none."""
    return value if value < first else names[value - first] + first


def renamed_number(digits: Sequence[Digit], new: Mapping[Sort, Names], number: int) -> int:
    """Rename the digits of a number that are names; a number below 0 has none."""
    if number < 0 or not digits:
        return number
    made, weight = 0, 1
    for digit in reversed(digits):
        number, least = divmod(number, digit.size)
        value, names = least + digit.lo, new.get(digit.of) if digit.of is not None else None
        if names is not None:
            value = _name(names, value, first=0)
        made += (value - digit.lo) * weight
        weight *= digit.size
    return made


def _members(names: Names, members: int) -> int:
    return sum(1 << to for of, to in enumerate(names) if members >> of & 1)


_RENAME: Mapping[Holds, Callable[[Names, int], int]] = {
    Holds.REPLICA: partial(_name, first=0),
    Holds.REPLICAS: _members,
    Holds.RECORD: partial(_name, first=1),
    Holds.RECORDS: _members,
}
