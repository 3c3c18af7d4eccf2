"""Renaming as the fields declare it, written plainly: no signatures, no shortcuts.

This is what the compiled canonical form is compared with. A renaming is a list of moves, one for
each element of each field: from where to where, and what becomes of the value.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from waterline.model.core.layout import Element, Field, Index, Layout
from waterline.model.core.renaming import Holds, Naming, Sort
from waterline.model.core.state import State

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


def _all_moved(words: NDArray[np.uint64], each: Iterable[Move]) -> NDArray[np.uint64]:
    """As `_moved`, of many states at once: a row of words each."""
    result = np.zeros_like(words)
    for old, new, values in each:
        held = np.zeros(old.mask + 1, np.uint64)
        held[: len(values)] = values
        moved = held[words[:, old.word] >> old.shift & old.mask] << new.shift
        if (decides := old.decides) is not None:
            alive = np.zeros(decides.mask + 1, np.uint64)
            alive[list(old.values)] = 1
            moved *= alive[words[:, decides.word] >> decides.shift & decides.mask]
        result[:, new.word] |= moved
    return result


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


def renamings(state: State, sorts: Iterable[Sort]) -> Iterator[tuple[Names, Names]]:
    """All ways to exchange names of these sorts in a state: those of replicas, of records."""
    chosen = set(sorts)
    replicas = permutations(state.replicas if Sort.REPLICA in chosen else 0, state.replicas)
    records = permutations(born(state) if Sort.RECORD in chosen else 0, state.records)
    return itertools.product(replicas, records)


def orbit(state: State, sorts: Iterable[Sort]) -> Iterator[State]:
    """Every state that differs from this one in names of these sorts alone."""
    for replicas, records in renamings(state, sorts):
        yield _moved(state, moves(state.layout, replicas, records))


def least_of_orbits(states: Iterable[State], sorts: Iterable[Sort]) -> set[tuple[int, ...]]:
    """The least words in the orbit of each of these states, of one layout: one for each orbit."""
    found: set[tuple[int, ...]] = set()
    for _, group in itertools.groupby(sorted(states, key=born), born):
        first, *rest = group
        words = np.array([first.words, *(state.words for state in rest)], np.uint64)
        least = words
        for renaming in renamings(first, sorts):
            moved = _all_moved(words, moves(first.layout, *renaming))
            least = np.where(_is_less(moved, least)[:, np.newaxis], moved, least)
        found.update(map(tuple, least.tolist()))
    return found


def _is_less(some: NDArray[np.uint64], others: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Whether each row of words is less than its counterpart: the first that differ decide."""
    less = np.zeros(len(some), np.bool_)
    for word in reversed(range(some.shape[1])):
        one, other = some[:, word], others[:, word]
        less = (one < other) | (one == other) & less
    return less
