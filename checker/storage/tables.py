"""Arrow tables of states: decoded columns, in parts.

A number becomes an integer column, a row of numbers a list, a table a list of lists, each of the
smallest signed type that holds the declared range. A row that is not alive is null. The words
themselves become one binary column, most significant byte first: equal states have equal bytes, and
bytes compare as states do. Only the declarations of a layout are used; nothing is looped per state.

The producer of rows hands over blocks and waits at most until a few files are written. The contents
of each file do not depend on the threads. Nothing is committed here: no reader looks into the
folder before it is complete.

`states` has a row for each state, `steps` one for each transition. A step has the name of its
action, its arguments, and a text; all are looked up by one number.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from waterline.checker.compiler.origins import action_of, arguments_of, row_of, step_of
from waterline.checker.problem.packed_rows import Rows
from waterline.model.core.layout import WORD_BITS, Layout, Place
from waterline.model.core.transition_system import Model, call

_KINDS = (np.int8, np.int16, np.int32, np.int64)


def key_type(layout: Layout) -> Any:
    """The type of a column that identifies states."""
    return pa.binary(layout.words * WORD_BITS // 8)


def keys(rows: Rows) -> Any:
    """The words of each state as one value."""
    data = np.ascontiguousarray(rows.astype(">u8"))
    kind = pa.binary(rows.shape[1] * WORD_BITS // 8)
    return pa.FixedSizeBinaryArray.from_buffers(kind, len(rows), [None, pa.py_buffer(data)])


def field_columns(layout: Layout) -> list[Any]:
    """The columns that fields become, in the order they are declared."""
    columns = []
    for declared in layout.fields:
        place = layout.places[declared.name]
        kind = pa.from_numpy_dtype(_kind_of(place))
        for _ in place.shape:
            kind = pa.list_(kind)
        columns.append(pa.field(place.name, kind))
    return columns


def decode(layout: Layout, rows: Rows) -> list[Any]:
    """Return the columns of a block of states, in the order of `field_columns`."""
    words = [np.ascontiguousarray(rows[:, word]) for word in range(layout.words)]
    return [_column(layout, layout.places[declared.name], words) for declared in layout.fields]


def _kind_of(place: Place) -> type[np.signedinteger[Any]]:
    for kind in _KINDS:
        if np.iinfo(kind).min <= place.lo and place.hi <= np.iinfo(kind).max:
            return kind
    raise ValueError(f"field {place.name}: {place.lo}..{place.hi} fits no column of integers")


def _values(place: Place, words: list[NDArray[np.uint64]]) -> NDArray[Any]:
    """Every element: an array of states by the field's shape."""
    kind = _kind_of(place)
    out = np.empty((len(words[0]), *place.shape), kind)
    mask = np.uint64((1 << place.width) - 1)
    for index in np.ndindex(place.shape):
        bit = place.bit
        bit += sum(at * step for at, step in zip(index, (place.row, place.column), strict=False))
        word, shift = divmod(bit, WORD_BITS)
        # Taken modulo the type's size, as is the sum below: what comes out is within the range.
        out[:, *index] = (words[word] >> np.uint64(shift)) & mask
    with np.errstate(over="ignore"):
        out += kind(place.lo)
    return out


def _column(layout: Layout, place: Place, words: list[NDArray[np.uint64]]) -> Any:
    values = _values(place, words)
    if not place.shape:
        return pa.array(values)
    alive = None
    if place.alive is not None:
        decides = _values(layout.places[place.alive.field], words)
        alive = np.isin(decides, place.alive.values).ravel()
    states, extent = values.shape[:2]
    if len(place.shape) == 1:
        inner = pa.array(values.ravel(), mask=None if alive is None else ~alive)
    else:
        inner = _lists(values.reshape(states * extent, -1), alive)
    return pa.ListArray.from_arrays(_even_offsets(states, extent), inner)


def _lists(rows: NDArray[Any], alive: NDArray[np.bool_] | None) -> Any:
    """A list for each row, null where it is not alive."""
    if alive is None:
        return pa.ListArray.from_arrays(_even_offsets(*rows.shape), pa.array(rows.ravel()))
    # Parquet wants the nulls empty.
    ends = np.concatenate([[0], np.cumsum(alive)]) * rows.shape[1]
    return pa.ListArray.from_arrays(
        pa.array(ends.astype(np.int32)), pa.array(rows[alive].ravel()), mask=pa.array(~alive)
    )


def _even_offsets(lists: int, extent: int) -> Any:
    return pa.array(np.arange(lists + 1, dtype=np.int32) * np.int32(extent))


ROW_GROUP_ROWS = 1 << 17
"""Most rows of a block, and about those of a row group: what a thread holds decoded."""
PART_ROWS = 1 << 20
"""Rows of a file, about: what Spark reads in one task."""

_Block = TypeVar("_Block", bound=Sized)


class Parts(Generic[_Block]):
    """A folder of `part-NNNNN.parquet`, all of one schema; `encode` makes a batch of a block.

    `plain` names columns whose values hardly ever repeat: no dictionary is tried on them.
    """

    def __init__(
        self,
        folder: Path,
        schema: Any,
        encode: Callable[[_Block], Any],
        *,
        plain: tuple[str, ...] = (),
        threads: int = 0,
    ) -> None:
        folder.mkdir()
        self._folder = folder
        self._schema = schema
        self._encode = encode
        self._dictionaries = [_leaf(field) for field in schema if field.name not in plain]
        self._threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="parquet")
        self._given_up = threading.Event()
        self._writing: list[Future[None]] = []
        self._files = 0
        self._pending: list[_Block] = []
        self._pending_rows = 0

    def __enter__(self) -> Parts[_Block]:
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        """Write the rest, unless something failed."""
        try:
            if failed is None:
                if self._pending or not self._files:
                    self._hand_over()
                for part in self._writing:
                    part.result()
        finally:
            # Set at the end of a success, too, when nobody looks any more.
            self._given_up.set()
            self._pool.shutdown(wait=True, cancel_futures=True)

    def add(self, block: _Block) -> None:
        """Take in at most `ROW_GROUP_ROWS` rows."""
        self._pending.append(block)
        self._pending_rows += len(block)
        if self._pending_rows >= PART_ROWS:
            self._hand_over()

    def _hand_over(self) -> None:
        """Have what is pending written; wait if every thread has work already."""
        while len(self._writing) > self._threads:
            self._writing.pop(0).result()
        path = self._folder / f"part-{self._files:05d}.parquet"
        self._writing.append(self._pool.submit(self._write, path, self._pending))
        self._files += 1
        self._pending = []
        self._pending_rows = 0

    def _write(self, path: Path, blocks: list[_Block]) -> None:
        # Without Arrow's own schema a reader takes the plain types: text, not dictionaries of it.
        with parquet.ParquetWriter(
            path,
            self._schema,
            compression="zstd",
            use_dictionary=self._dictionaries,
            store_schema=False,
        ) as file:
            batches: list[Any] = []
            rows = 0
            for block in blocks:
                if self._given_up.is_set():
                    return
                batches.append(self._encode(block))
                rows += len(block)
                if rows >= ROW_GROUP_ROWS:
                    file.write_table(pa.Table.from_batches(batches, self._schema))
                    batches, rows = [], 0
            if batches:
                file.write_table(pa.Table.from_batches(batches, self._schema))


def _leaf(field: Any) -> str:
    """Return Parquet's name for the column that holds a field's values."""
    path, kind = str(field.name), field.type
    while pa.types.is_list(kind):
        path, kind = f"{path}.list.element", kind.value_type
    return path


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
