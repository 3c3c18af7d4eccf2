"""Writing of a certificate: all states of a finished search, sorted, and their header.

States are taken from the engine by ranges of their keys, so that no more than a few million are
sorted at a time. Where the ranges begin is decided by a sample of all states.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import parquet

from waterline.checker.analysis.certificate.certificate import (
    COLUMN,
    PIECE_STATES,
    digest_of,
    schema_of,
)
from waterline.checker.analysis.certificate.header import (
    HEADER,
    STATES,
    Header,
    Stated,
    describe_layout,
    to_text,
)
from waterline.checker.analysis.certificate.renaming import BYTES
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.search.engines.engine import Engine
from waterline.checker.search.result import Result
from waterline.checker.storage.storage import written_aside

RANGE_STATES = 1 << 22
"""About how many states are sorted at a time."""
SAMPLES_A_RANGE = 64
Keys = NDArray[np.bytes_]


def write_certificate(engine: Engine, result: Result, *, out: Path) -> None:
    """Write what `engine` has explored, and what came of it, to a new folder.

    Raises `BadLocation` where `out` is neither new nor empty.
    """
    problem = result.problem
    layout = problem.model.layout
    depths = [level.depth for level in result.levels if level.states]
    with written_aside(out) as folder:
        count = 0
        schema = schema_of(layout.words * BYTES)
        with parquet.ParquetWriter(
            folder / STATES,
            schema,
            compression="zstd",
            use_dictionary=False,
            column_encoding={COLUMN: "DELTA_BYTE_ARRAY"},
            store_schema=False,
        ) as file:
            for keys in _sort_keys(engine, depths, result.distinct):
                column = pa.FixedSizeBinaryArray.from_buffers(
                    schema.field(0).type, len(keys), [None, pa.py_buffer(keys)]
                )
                file.write_table(pa.Table.from_arrays([column], schema=schema), PIECE_STATES)
                count += len(keys)
        header = Header(
            spec=problem.spec,
            claims={
                each.name: Stated(each.verdict.value, each.depth) for each in result.invariants
            },
            states=count,
            layout=describe_layout(layout),
            sha256=digest_of(folder / STATES),
        )
        (folder / HEADER).write_text(to_text(header), encoding="utf-8")


def _sort_keys(engine: Engine, depths: list[int], states: int) -> Iterator[Keys]:
    """All keys in ascending order, a range at a time."""
    ranges = -(-states // RANGE_STATES)
    ends = _ends(engine, depths, states, ranges)
    for begin, end in zip([None, *ends], [*ends, None], strict=True):
        within = _Within(begin, end)
        parts = [keys for depth in depths for keys in engine.over_level(depth, within)]
        yield np.sort(np.concatenate(parts))


def _ends(engine: Engine, depths: list[int], states: int, ranges: int) -> list[bytes]:
    """Return the keys that separate each range from the next."""
    if ranges == 1:
        return []
    sampled = _EveryNth(max(1, states // (ranges * SAMPLES_A_RANGE)))
    samples = np.sort(
        np.concatenate([keys for depth in depths for keys in engine.over_level(depth, sampled)])
    )
    chosen = (len(samples) * number // ranges for number in range(1, ranges))
    return [bytes(samples[at]).ljust(samples.itemsize, b"\0") for at in chosen]


@dataclass(frozen=True, slots=True)
class _EveryNth:
    """Some of the keys of a block."""

    step: int

    def __call__(self, rows: Rows) -> Keys:
        return _keys(rows[:: self.step])


@dataclass(frozen=True, slots=True)
class _Within:
    """Filter for the keys of a block from `begin` to before `end`; None for no limit."""

    begin: bytes | None
    end: bytes | None

    def __call__(self, rows: Rows) -> Keys:
        keys = _keys(rows)
        if self.begin is not None:
            keys = keys[keys >= np.bytes_(self.begin)]
        return keys if self.end is None else keys[keys < np.bytes_(self.end)]


def _keys(rows: Rows) -> Keys:
    """Rows as byte strings, which compare as states do: all are of one length."""
    width = rows.shape[1] * BYTES
    keys: Keys = np.ascontiguousarray(rows.astype(">u8")).view(f"S{width}").ravel()
    return keys
