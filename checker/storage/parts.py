"""Parquet table written in parts by threads.

The producer of rows hands over blocks and waits at most until a few files are written. The contents
of each file do not depend on the threads. Nothing is committed here: no reader looks into the
folder before it is complete.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Generic, TypeVar

import pyarrow as pa
from pyarrow import parquet

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
