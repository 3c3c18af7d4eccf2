"""Plain values of a state, for formats of other tools.

A field that is a set of names, a bit each, is a set here; one that is indexed is a function from
its index, over the rows that mean anything in this state. Records and the like count from 1.
"""

from __future__ import annotations

from typing import Any

from waterline.counterexamples.formats import Value
from waterline.model.core.layout import Field
from waterline.model.core.renaming import Holds, Naming, Sort
from waterline.model.core.state import State, as_dict

_UNNAMED = Naming()


def values_of(state: State) -> dict[str, Value]:
    """Every field by name, in the order of their declaration."""
    found = as_dict(state)
    return {field.name: _value(field, found[field.name]) for field in state.layout.fields}


def _value(field: Field, held: Any) -> Value:
    naming = field.naming or _UNNAMED
    if not field.shape:
        return _element(naming, held)
    rows = _function(naming.rows, held)
    if len(field.shape) == 1:
        return {key: _element(naming, value) for key, value in rows.items()}
    tables = {key: _function(naming.columns, row) for key, row in rows.items()}
    return {
        key: {column: _element(naming, value) for column, value in row.items()}
        for key, row in tables.items()
        if row
    }


def _function(sort: Sort | None, held: list[Any]) -> dict[int, Any]:
    """Return values by index, from 1 for such sorts; without those that are not alive."""
    first = 1 if sort is not None and sort.born else 0
    return {index: value for index, value in enumerate(held, start=first) if value is not None}


def _element(naming: Naming, held: int) -> Value:
    if naming.holds not in {Holds.REPLICAS, Holds.RECORDS}:
        return held
    first = 1 if naming.holds is Holds.RECORDS else 0
    return frozenset(bit + first for bit in range(held.bit_length()) if held >> bit & 1)
