"""File of a certificate's states: Parquet with one column, the keys in ascending order.

It is read a row group at a time. Keys that do not ascend are refused, so that each state is there
once and counting rows is counting states.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from waterline.checker.analysis.certificate.header import STATES, BadCertificate, Header
from waterline.counterexamples.named_file import BadFile, require_regular

COLUMN = "state"
PIECE_STATES = 1 << 11
"""States of a row group, which is what a process or a task judges at a time: a second or two."""


def schema_of(width: int) -> pa.Schema:
    """The one column, of keys that have `width` bytes."""
    return pa.schema([pa.field(COLUMN, pa.binary(width), nullable=False)])


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True, slots=True)
class StateFile:
    """The states in a file; keys have `width` bytes."""

    path: Path
    width: int

    def require(self, header: Header) -> None:
        """See that it is the file that the header was written for. Raises `BadCertificate`."""
        try:
            require_regular(self.path)
            digest = digest_of(self.path)
        except BadFile as problem:
            raise BadCertificate(str(problem)) from None
        except OSError as problem:
            raise BadCertificate(f"{self.path} cannot be read: {problem.strerror}") from None
        if digest != header.sha256:
            raise BadCertificate(
                f"{self.path} is damaged, or is not the file that the header is of: its SHA-256 "
                "differs; restore it, or make the certificate anew"
            )
        rows = self.rows
        if rows != header.states:
            raise BadCertificate(
                f"{self.path} has {rows:,} states, and the header says {header.states:,}"
            )

    @property
    def rows(self) -> int:
        """How many states the file says that it has."""
        return int(self._open().metadata.num_rows)

    def all_pieces(self) -> Iterator[bytes]:
        """Every piece in order, the next one beginning above the last. Raises `BadCertificate`."""
        file, last = self._open(), b""
        for number in range(file.metadata.num_row_groups):
            keys = _keys_in(file, number, self)
            if keys:
                self.require_ascending(last, keys[: self.width])
                last = keys[-self.width :]
            yield keys

    def require_ascending(self, key: bytes, following: bytes) -> None:
        """Raises `BadCertificate` where a key is not above the one before it."""
        if not key < following:
            raise BadCertificate(f"{self.path} is damaged: its states are not in ascending order")

    def _open(self) -> parquet.ParquetFile:
        if not self.path.is_file():
            raise BadCertificate(f"there is no {STATES} beside the header of {self.path.parent}")
        try:
            file = parquet.ParquetFile(self.path)
            if file.schema_arrow.equals(schema_of(self.width)):
                return file
        except (pa.ArrowException, OSError) as problem:
            raise self._damage(problem) from None
        raise BadCertificate(
            f"{self.path} has other columns than the one of a certificate's states"
        )

    def _damage(self, problem: Exception) -> BadCertificate:
        return BadCertificate(f"{self.path} is damaged: {str(problem).splitlines()[0]}")


def _keys_in(file: parquet.ParquetFile, number: int, of: StateFile) -> bytes:
    try:
        array = file.read_row_group(number).column(0).combine_chunks()
    except (pa.ArrowException, OSError) as problem:
        raise of._damage(problem) from None
    if not len(array):
        return b""
    data = array.buffers()[1]
    keys: bytes = data.slice(array.offset * of.width, len(array) * of.width).to_pybytes()
    last = keys[: of.width]
    for start in range(of.width, len(keys), of.width):
        key = keys[start : start + of.width]
        of.require_ascending(last, key)
        last = key
    return keys
