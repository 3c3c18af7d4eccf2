"""Recording of a trace: the states and arguments of its model, as the formats of other tools hold.

A user model says itself what its values are; those of Kafka's follow from the layout of a state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from waterline.counterexamples import Trace
from waterline.counterexamples.formats import Recording, Value
from waterline.model.core.layout import Field
from waterline.model.core.renaming import Holds, Naming, Sort
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import Arguments, Model

_UNNAMED = Naming()


def record_trace(model: Model, trace: Trace, states: Sequence[State]) -> Recording:
    """The recording of a trace of a model, which goes through these states."""
    values = model.narration.values or values_of
    calls = ((step.action, tuple(value for _, value in step.arguments)) for step in trace.steps)
    return Recording(
        trace,
        tuple(values(state) for state in states),
        tuple(named_arguments(model, *call) for call in calls),
    )


def named_arguments(model: Model, action: str, arguments: Arguments) -> Mapping[str, Value]:
    """The arguments of a call by name."""
    if model.narration.arguments is None:
        return dict(model.action(action).name_arguments(arguments))
    return model.narration.arguments(action, arguments)


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
