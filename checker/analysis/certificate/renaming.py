"""States that differ from one in names alone, as the fields of a layout declare them.

Under a symmetry a search keeps one state of each such kind. A certificate has those, and each of
them stands for all its renamings, which are written out here by the definition: every permutation
of the names, no signatures, no representative.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from waterline.checker.analysis.certificate.keys import key_of, words_of
from waterline.checker.problem.symmetry import Symmetry
from waterline.model.core.layout import Element, Field, Layout
from waterline.model.core.renaming import Digit, Holds, Naming, Sort

Names = tuple[int, ...]
"""names[i] is the new index of index i; of a sort whose names are counted from 1 it is name-1."""
Move = tuple[Element, Element, tuple[int, ...]]
"""An element, where it is after the renaming, and what each of its packed values becomes there."""


class Renamings:
    """Writes out all renamings of states of a layout."""

    def __init__(self, layout: Layout, symmetry: Symmetry) -> None:
        self._layout = layout
        self._sorts = symmetry.sorts
        self._born = [f for f in layout.fields if _naming(f).holds is Holds.BORN]
        self._moves: dict[int, list[list[Move]]] = {}
        self._sorted = [
            [layout.elements[each.name][(*row, j)] for j in range(each.shape[-1])]
            for each in layout.fields
            if _naming(each).is_sorted
            for row in itertools.product(*map(range, each.shape[:-1]))
        ]
        """The places of what descends in them, as a bag."""

    def of(self, key: bytes) -> list[bytes]:
        """The keys of a state and of all that differ from it in names, itself first."""
        words = words_of(key)
        renamed = [key_of(self._rename(words, moves)) for moves in self._all_moves(words)]
        return list(dict.fromkeys((key, *renamed)))

    def _rename(self, words: tuple[int, ...], moves: list[Move]) -> list[int]:
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
        return out

    def _all_moves(self, words: tuple[int, ...]) -> list[list[Move]]:
        """For each permutation all moves; of names that are born one by one those that are."""
        born = -1
        if self._born and Sort.RECORD in self._sorts:
            element = self._layout.elements[self._born[0].name][()]
            born = (words[element.word] >> element.shift & element.mask) + element.lo
        if born not in self._moves:
            permutations = [list(self._permutations(sort, born)) for sort in self._sorts]
            self._moves[born] = [
                list(self._moves_of(dict(zip(self._sorts, chosen, strict=True))))
                for chosen in itertools.product(*permutations)
            ]
        return self._moves[born]

    def _permutations(self, sort: Sort, born: int) -> Iterator[Names]:
        size = self._layout.sizes[sort.value]
        free = born if sort == Sort.RECORD and born >= 0 else size
        rest = tuple(range(free, size))
        yield from ((*first, *rest) for first in itertools.permutations(range(free)))

    def _moves_of(self, new: Mapping[Sort, Names]) -> Iterator[Move]:
        for field in self._layout.fields:
            naming, elements = _naming(field), self._layout.elements[field.name]
            becomes = _values(field, naming, new)
            for index in itertools.product(*map(range, field.shape)):
                sorts = (naming.rows, naming.columns)[: len(index)]
                to = tuple(
                    i if sort is None or sort not in new else new[sort][i]
                    for i, sort in zip(index, sorts, strict=True)
                )
                yield elements[index], elements[to], becomes


def _naming(field: Field) -> Naming:
    return field.naming or Naming()


def _values(field: Field, naming: Naming, new: Mapping[Sort, Names]) -> tuple[int, ...]:
    """Return the new value of each packed value of a field."""
    if naming.holds is Holds.DIGITS:
        numbers = range(field.lo, field.hi + 1)
        return tuple(_number(naming.digits, new, number) - field.lo for number in numbers)
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


def _number(digits: Sequence[Digit], new: Mapping[Sort, Names], number: int) -> int:
    """Rename the digits of a number that are names; a number below 0 has none."""
    if number < 0:
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
