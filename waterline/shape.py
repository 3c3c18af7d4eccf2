"""The shape of a model's states: fields with their elements, and the numbers that rules read."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.model.core.errors import did_you_mean_or
from waterline.model.core.state import OutOfRange
from waterline.model.own.fields import AnyField, Names, extent

Index = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape of a model's states: fields, and the numbers that rules read."""

    fields: Mapping[str, AnyField]
    sizes: Mapping[str, int]
    bounds: Mapping[str, int]
    places: Mapping[str, Mapping[Index, int]] = field(init=False, repr=False, compare=False)
    """Elements of each field in order, by index; the one of a field without indices is ()."""

    def __post_init__(self) -> None:
        places = {
            name: {index: number for number, index in enumerate(itertools.product(*ranges))}
            for name, ranges in (
                (name, [range(extent) for extent in extents_of(declared)])
                for name, declared in self.fields.items()
            )
        }
        object.__setattr__(self, "places", places)

    def first_values(self) -> dict[str, list[Any]]:
        """Return the first value of every element, by field."""
        return {
            name: [declared.first] * len(self.places[name])
            for name, declared in self.fields.items()
        }

    def place(self, declared: AnyField, index: object) -> int:
        """Return the number of the element at an index. Raises `OutOfRange` where there is none."""
        given = index if isinstance(index, tuple) else (index,)
        # True == 1 and 1.0 == 1 for a dictionary; only whole numbers are indices.
        if all(isinstance(each, int) for each in given):
            found = self.places[declared.name].get(given)
            if found is not None:
                return found
        raise OutOfRange(
            f"{declared.name}[{', '.join(map(str, given))}]: {describe_elements(declared)}"
        )


def extents_of(declared: AnyField) -> tuple[int, ...]:
    """How many elements there are in each direction."""
    return tuple(map(extent, declared.indices))


def describe_elements(declared: AnyField) -> str:
    """`token has an element for each client, 0 to 1`"""
    if not declared.indices:
        return f"{declared.name} is one value, with no elements"
    by = [
        f"each {index.name}, 0 to {index.count - 1}"
        if isinstance(index, Names)
        else f"each number 0 to {index - 1}"
        for index in declared.indices
    ]
    return f"{declared.name} has an element for {' and '.join(by)}"


def element_name(declared: AnyField, index: Index) -> str:
    """`token[client1]`"""
    if not index:
        return declared.name
    by = zip(declared.indices, index, strict=True)
    words = (each.describe(i) if isinstance(each, Names) else str(i) for each, i in by)
    return f"{declared.name}[{', '.join(words)}]"


def nest(values: Sequence[Any], extents: Sequence[int]) -> tuple[Any, ...]:
    """The elements of a field in rows, as many as it has."""
    if len(extents) == 1:
        return tuple(values)
    rows, rest = len(values) // extents[0], extents[1:]
    return tuple(nest(values[i : i + rows], rest) for i in range(0, len(values), rows))


def in_rows(shown: Sequence[str], extents: Sequence[int]) -> str:
    """The elements of a field as Python writes tuples of tuples."""
    if len(extents) > 1:
        size = len(shown) // extents[0]
        shown = [in_rows(shown[i : i + size], extents[1:]) for i in range(0, len(shown), size)]
    return f"({', '.join(shown)}{',' if len(shown) == 1 else ''})"


def describe_unknown(name: str, shape: Shape) -> str:
    """Return the error that a state has no such field, and which one may be meant."""
    known = (*shape.fields, *shape.sizes)
    has = f"it has {', '.join(known)}"
    return f"the state has no field {name!r}; {did_you_mean_or(name, known, has)}"
