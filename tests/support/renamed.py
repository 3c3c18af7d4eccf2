"""Renaming as the fields declare it, written plainly: no words, no signatures, no shortcuts.

This is what the compiled canonical form is compared with. It reads a state as nested lists and
makes another state of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from model.core.layout import Field, Layout
from model.core.renaming import Holds, Naming, Sort
from model.core.state import State, as_dict
from tests.support.states import packed

Names = tuple[int, ...]
"""names[i] is the new index of index i; of a record the index is id-1."""


def born(state: State) -> int:
    """How many records may be renamed."""
    values = as_dict(state)
    counts = [values[f.name] for f in state.layout.fields if naming(f).holds is Holds.BORN]
    return int(counts[0])


def naming(field: Field) -> Naming:
    assert field.naming is not None
    return field.naming


def renamed(state: State, *, replicas: Names | None = None, records: Names | None = None) -> State:
    """`state` with other names; by default everybody keeps theirs."""
    new = {
        Sort.REPLICA: replicas or tuple(range(state.replicas)),
        Sort.RECORD: records or tuple(range(state.records)),
    }
    return _renamed(state.layout, as_dict(state), new)


def _renamed(layout: Layout, values: dict[str, Any], new: dict[Sort, Names]) -> State:
    return packed(layout, {f.name: _field(values[f.name], naming(f), new) for f in layout.fields})


def _field(value: Any, how: Naming, new: dict[Sort, Names]) -> Any:
    if not isinstance(value, list):
        return _element(value, how, new)
    rows = [
        [_element(element, how, new) for element in _moved(row, how.columns, new)]
        if isinstance(row, list)
        else _element(row, how, new)
        for row in value
    ]
    return _moved(rows, how.rows, new)


def _moved(elements: list[Any], sort: Sort | None, new: dict[Sort, Names]) -> list[Any]:
    if sort is None:
        return elements
    at = dict(zip(new[sort], elements, strict=True))
    return [at[i] for i in range(len(elements))]


def _element(value: int | None, how: Naming, new: dict[Sort, Names]) -> int | None:
    if value is None:
        return None
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
    values = as_dict(state)
    for first, second in itertools.product(replicas, records):
        yield _renamed(state.layout, values, {Sort.REPLICA: first, Sort.RECORD: second})
