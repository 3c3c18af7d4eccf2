"""Renaming as the fields declare it, written plainly: no signatures, no shortcuts.

This is what the compiled canonical form is compared with. A renaming is a list of moves, one for
each element of each field: from where to where, and what becomes of the value.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from model.core.layout import Element, Field, Index, Layout
from model.core.renaming import Holds, Naming, Sort
from model.core.state import State

Names = tuple[int, ...]
"""names[i] is the new index of index i; of a record the index is id-1."""


class Move(NamedTuple):
    """Of one element: where it lies, where it goes, and its new value by the old one.

    Values are as they are packed, less the least one of the field.
    """

    old: Element
    new: Element
    values: list[int]


def born(state: State) -> int:
    """How many records may be renamed."""
    return int(getattr(state, _counter(state.layout)))


@functools.cache
def _counter(layout: Layout) -> str:
    [name] = [f.name for f in layout.fields if naming(f).holds is Holds.BORN]
    return name


def naming(field: Field) -> Naming:
    assert field.naming is not None
    return field.naming


def renamed(state: State, *, replicas: Names | None = None, records: Names | None = None) -> State:
    """`state` with other names; by default everybody keeps theirs."""
    layout = state.layout
    everybody = tuple(range(state.replicas)), tuple(range(state.records))
    return _moved(state, moves(layout, replicas or everybody[0], records or everybody[1]))


def _moved(state: State, each: Iterable[Move]) -> State:
    """What lies in a row that is not alive means nothing: it is left out, and zero bits remain."""
    words = state.words
    result = [0] * len(words)
    for old, new, values in each:
        decides = old.decides
        if decides is None or words[decides.word] >> decides.shift & decides.mask in old.values:
            result[new.word] |= values[words[old.word] >> old.shift & old.mask] << new.shift
    return State(state.layout, tuple(result))


@functools.lru_cache(2000)
def moves(layout: Layout, replicas: Names, records: Names) -> list[Move]:
    """The renaming that gives replicas and records these names."""
    new = {Sort.REPLICA: replicas, Sort.RECORD: records}
    found: list[Move] = []
    for declared in layout.fields:
        how, elements = naming(declared), layout.elements[declared.name]
        values = [_value(v, how, new) for v in range(declared.lo, declared.hi + 1)]
        assert sorted(values) == [*range(declared.lo, declared.hi + 1)], declared.name
        packed = [value - declared.lo for value in values]
        for index in itertools.product(*map(range, declared.shape)):
            to = elements[_index(index, how, new)]
            found.append(Move(elements[index], to, packed))
    return found


def _index(index: tuple[int, ...], how: Naming, new: Mapping[Sort, Names]) -> Index:
    sorts = (how.rows, how.columns)
    return tuple(i if sort is None else new[sort][i] for i, sort in zip(index, sorts, strict=False))


def _value(value: int, how: Naming, new: Mapping[Sort, Names]) -> int:
    if how.holds is Holds.REPLICA:
        return value if value < 0 else new[Sort.REPLICA][value]
    if how.holds is Holds.RECORD:
        return value if value == 0 else new[Sort.RECORD][value - 1] + 1
    if how.holds in (Holds.REPLICAS, Holds.RECORDS):
        sort = Sort.REPLICA if how.holds is Holds.REPLICAS else Sort.RECORD
        return sum(1 << to for of, to in enumerate(new[sort]) if value >> of & 1)
    return value


def permutations(of: int, among: int) -> list[Names]:
    """All ways to exchange the first `of` names, the rest of `among` keeping theirs."""
    rest = tuple(range(of, among))
    return [(*first, *rest) for first in itertools.permutations(range(of))]


def transpositions(of: int, among: int) -> list[Names]:
    """All ways to exchange two of the first `of` names."""
    return [p for p in permutations(of, among) if sum(i != to for i, to in enumerate(p)) == 2]


def orbit(state: State, sorts: Iterable[Sort]) -> Iterator[State]:
    """Every state that differs from this one in names of these sorts alone."""
    chosen = set(sorts)
    replicas = permutations(state.replicas if Sort.REPLICA in chosen else 0, state.replicas)
    records = permutations(born(state) if Sort.RECORD in chosen else 0, state.records)
    for first, second in itertools.product(replicas, records):
        yield _moved(state, moves(state.layout, first, second))
