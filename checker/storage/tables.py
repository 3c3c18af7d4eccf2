"""Schemas of the exported tables `states` and `steps`.

`states` has a row for each state, `steps` one for each transition. A step has the name of its
action, its arguments, and a text; all are looked up by one number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from waterline.checker.compiler.origins import action_of, arguments_of, row_of, step_of
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.storage.decoding import decode, field_columns, key_type, keys
from waterline.model.core.transition_system import Model, call

_STEP_COLUMNS = (
    pa.field("action", pa.dictionary(pa.int32(), pa.string())),
    pa.field("arguments", pa.list_(pa.int8())),
    pa.field("step", pa.dictionary(pa.int32(), pa.string())),
)


@dataclass(frozen=True, slots=True)
class StateBlock:
    """States of one depth; the least parent of each, and the code of the step from there."""

    depth: int
    rows: Rows
    parents: Rows
    codes: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class StepBlock:
    """Transitions out of states of one depth; an origin is the row of `sources`, then the code."""

    depth: int
    sources: Rows
    targets: Rows
    origins: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.targets)


class _Calls:
    """Every call of every action of a model, to be taken by the codes that kernels write."""

    def __init__(self, model: Model) -> None:
        calls = [(a, arguments) for a in model.actions for arguments in model.bindings(a)]
        counts = [sum(1 for _ in model.bindings(action)) for action in model.actions]
        self._first = np.cumsum([0, *counts[:-1]])
        self._names = pa.array([action.name for action in model.actions], pa.string())
        self._arguments = pa.array([arguments for _, arguments in calls], pa.list_(pa.int8()))
        self._texts = pa.array([call(action, arguments) for action, arguments in calls])

    def columns(self, codes: NDArray[Any]) -> list[Any]:
        """Action, arguments and text; null where a code is negative."""
        none = codes < 0
        actions = np.where(none, 0, action_of(codes)).astype(np.int32)
        numbers = np.where(none, 0, self._first[actions] + arguments_of(codes))
        taken = pa.array(numbers.astype(np.int32), mask=none)
        named = pa.DictionaryArray.from_arrays(pa.array(actions, mask=none), self._names)
        return [
            named,
            self._arguments.take(taken),
            pa.DictionaryArray.from_arrays(taken, self._texts),
        ]


class StateTable:
    """`states`: depth, identity, every field, and the least way there."""

    plain = ("state", "parent")

    def __init__(self, model: Model) -> None:
        self._layout = model.layout
        self._calls = _Calls(model)
        ours = [
            pa.field("depth", pa.int32()),
            pa.field("state", key_type(model.layout)),
        ]
        whence = [pa.field("parent", key_type(model.layout)), *_STEP_COLUMNS]
        self.schema = pa.schema([*ours, *field_columns(model.layout), *whence])
        doubled = {name for name in self.schema.names if self.schema.names.count(name) > 1}
        if doubled:
            raise ValueError(f"fields with the name of a column: {', '.join(sorted(doubled))}")

    def encode(self, block: StateBlock) -> Any:
        """A batch of a block."""
        calls = self._calls.columns(block.codes)
        parents = pa.nulls(len(block), key_type(self._layout))
        if block.depth > 0:
            parents = keys(block.parents)
        columns = [
            pa.array(np.full(len(block), block.depth, np.int32)),
            keys(block.rows),
            *decode(self._layout, block.rows),
            parents,
            *calls,
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)


class StepTable:
    """Table `steps`: source and target of each step, the depth of its source, and its action."""

    plain = ("source", "target")

    def __init__(self, model: Model) -> None:
        self._calls = _Calls(model)
        key = key_type(model.layout)
        self.schema = pa.schema(
            [
                pa.field("depth", pa.int32()),
                pa.field("source", key),
                pa.field("target", key),
                *_STEP_COLUMNS,
            ]
        )

    def encode(self, block: StepBlock) -> Any:
        """A batch of a block."""
        columns = [
            pa.array(np.full(len(block), block.depth, np.int32)),
            keys(block.sources[row_of(block.origins)]),
            keys(block.targets),
            *self._calls.columns(step_of(block.origins)),
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self.schema)
