"""Where a run keeps its files: a directory, or through pyarrow.fs an object store or HDFS.

Files are written whole or not at all, under names that are never written twice with other contents;
so whoever can read one, reads all of it. Blocks of states are raw little-endian words, with a
checksum that is kept elsewhere. Nothing is ever unpickled.
"""

from __future__ import annotations

import os
import tempfile
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from checker.store.blocks import Rows

_WORD_BYTES = 8
_BLOCK_BYTES = 16 << 20


class Damaged(Exception):
    """A file of a run is not what was written: missing, cut short, or changed."""


class BadLocation(Exception):
    """A location for a run's files that nothing can be kept at."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """A file of states: its name within the storage, how many there are, and their CRC-32."""

    name: str
    rows: int
    crc: int


class Storage(Protocol):
    """Files by name, names being relative paths with slashes."""

    location: str

    def read(self, name: str, words: int) -> Rows:
        """A block of states, mapped into memory where that can be. Raises `Damaged`."""

    def write(self, name: str, blocks: Iterable[Rows]) -> StateFile:
        """Write blocks one after the other, whole or not at all."""

    def read_text(self, name: str) -> str:
        """A small file. Raises `FileNotFoundError`."""

    def write_text(self, name: str, text: str) -> None:
        """Replace a small file at once."""

    def delete(self, names: Iterable[str]) -> None:
        """Remove files that may be there."""

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""


def storage_at(location: str, *, durable: bool = False) -> Storage:
    """The storage at a path, or at a URI that pyarrow.fs understands.

    `durable` asks the disk to keep every file before it counts as written. Raises `BadLocation`.
    """
    if "://" not in location:
        return LocalStorage(Path(location).absolute(), durable=durable)
    return RemoteStorage(location)


class LocalStorage:
    """A directory of this machine, or one that all machines see under this path."""

    def __init__(self, root: Path, *, durable: bool = False) -> None:
        self.root = root
        self.location = str(root)
        self.durable = durable

    def read(self, name: str, words: int) -> Rows:
        """A block of states, mapped into memory."""
        path = self.root / name
        try:
            size = path.stat().st_size
        except FileNotFoundError:
            raise Damaged(f"{path} is missing") from None
        if size % (words * _WORD_BYTES):
            raise Damaged(f"{path} is cut short: {size} bytes are no whole number of states")
        if size == 0:
            return np.empty((0, words), np.uint64)
        mapped = np.memmap(path, "<u8", "r")
        return np.asarray(mapped).reshape(-1, words)

    def write(self, name: str, blocks: Iterable[Rows]) -> StateFile:
        """Write to a file aside and rename it."""
        rows, crc = 0, 0
        with _aside(self.root / name, self.durable) as file:
            for block in blocks:
                data = _bytes_of(block)
                crc = zlib.crc32(data, crc)
                file.write(data)
                rows += len(block)
        return StateFile(name, rows, crc)

    def read_text(self, name: str) -> str:
        """A small file."""
        return (self.root / name).read_text(encoding="utf-8")

    def write_text(self, name: str, text: str) -> None:
        """Replace a small file by renaming another over it."""
        with _aside(self.root / name, self.durable) as file:
            file.write(text.encode())

    def delete(self, names: Iterable[str]) -> None:
        """Remove files that may be there."""
        for name in names:
            (self.root / name).unlink(missing_ok=True)

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        return (self.root / name).exists()


class _aside:  # noqa: N801 - used as a function, like contextlib.suppress
    """A file that takes its place under `path` when all went well."""

    def __init__(self, path: Path, durable: bool) -> None:
        self.path = path
        self.durable = durable

    def __enter__(self) -> Any:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        handle, self.temporary = tempfile.mkstemp(dir=self.path.parent, prefix=".writing-")
        self.file = os.fdopen(handle, "wb")
        return self.file

    def __exit__(self, failed: object, *_: object) -> None:
        try:
            if failed is None and self.durable:
                self.file.flush()
                os.fsync(self.file.fileno())
            self.file.close()
            if failed is None:
                # mkstemp lets only its owner read; others on a cluster may have to.
                Path(self.temporary).chmod(0o644)
                Path(self.temporary).replace(self.path)
        finally:
            Path(self.temporary).unlink(missing_ok=True)


class RemoteStorage:
    """An object store or HDFS, through pyarrow.fs. A file is read whole.

    An object appears when its stream is closed; elsewhere it is written aside and moved.
    """

    def __init__(self, location: str) -> None:
        from pyarrow import fs  # noqa: PLC0415 - a third of a second, only where needed

        self.location = location
        try:
            self._files, self._root = fs.FileSystem.from_uri(location)
        except Exception as problem:
            told = str(problem).splitlines()[0]
            raise BadLocation(f"nothing can be kept at {location}: {told}") from None
        self._appears_whole = isinstance(self._files, (fs.S3FileSystem, fs.GcsFileSystem))

    def __reduce__(self) -> tuple[Any, ...]:
        return (RemoteStorage, (self.location,))

    def read(self, name: str, words: int) -> Rows:
        """A block of states, read into memory."""
        try:
            with self._files.open_input_file(self._path(name)) as file:
                data = file.read()
        except FileNotFoundError:
            raise Damaged(f"{self.location}/{name} is missing") from None
        if len(data) % (words * _WORD_BYTES):
            raise Damaged(
                f"{self.location}/{name} is cut short: "
                f"{len(data)} bytes are no whole number of states"
            )
        return np.frombuffer(data, "<u8").reshape(-1, words)

    def write(self, name: str, blocks: Iterable[Rows]) -> StateFile:
        """Write a stream; it counts from when it is closed, or moved to its name."""
        rows, crc = 0, 0
        aside = self._aside(name)
        with self._files.open_output_stream(aside) as file:
            for block in blocks:
                data = _bytes_of(block)
                crc = zlib.crc32(data, crc)
                file.write(data)
                rows += len(block)
        self._settle(aside, name)
        return StateFile(name, rows, crc)

    def read_text(self, name: str) -> str:
        """A small file."""
        with self._files.open_input_file(self._path(name)) as file:
            text: str = file.read().decode()
            return text

    def write_text(self, name: str, text: str) -> None:
        """Replace a small file."""
        aside = self._aside(name)
        with self._files.open_output_stream(aside) as file:
            file.write(text.encode())
        self._settle(aside, name)

    def delete(self, names: Iterable[str]) -> None:
        """Remove files that may be there."""
        for name in names:
            if self.exists(name):
                self._files.delete_file(self._path(name))

    def exists(self, name: str) -> bool:
        """Whether there is such a file."""
        from pyarrow import fs  # noqa: PLC0415

        found = self._files.get_file_info(self._path(name)).type
        return bool(found != fs.FileType.NotFound)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _aside(self, name: str) -> str:
        path = self._path(name)
        self._files.create_dir(path.rsplit("/", 1)[0], recursive=True)
        return path if self._appears_whole else f"{path}.writing-{os.urandom(4).hex()}"

    def _settle(self, aside: str, name: str) -> None:
        if aside != self._path(name):
            self._files.move(aside, self._path(name))


def _bytes_of(rows: Rows) -> memoryview:
    """A block as it lies in its file, without a copy."""
    whole: Any = np.ascontiguousarray(rows)
    return memoryview(whole).cast("B") if len(rows) else memoryview(b"")


def checksum(rows: Rows) -> int:
    """The CRC-32 of a block of states, as it lies in its file."""
    crc = 0
    per_block = max(1, _BLOCK_BYTES // (rows.shape[1] * _WORD_BYTES))
    for start in range(0, len(rows), per_block):
        crc = zlib.crc32(_bytes_of(rows[start : start + per_block]), crc)
    return crc


def require_whole(storage: Storage, file: StateFile, words: int) -> None:
    """Read a file and compare it with what was written. Raises `Damaged`, naming the file."""
    rows = storage.read(file.name, words)
    where = f"{storage.location}/{file.name}"
    if len(rows) != file.rows:
        raise Damaged(f"{where} has {len(rows):,} states, {file.rows:,} were written")
    if checksum(rows) != file.crc:
        raise Damaged(f"{where} is not what was written: its checksum differs")
