"""Storage of a run: a directory, or an object store or HDFS through pyarrow.fs.

Files are written whole or not at all, under names that are never written twice with other contents;
so a file that can be read is complete. Which files there are is never found out by looking: a file
is read because a manifest names it, or because the same process wrote it. Blocks of states are raw
little-endian words, with a checksum that is kept elsewhere. Nothing is ever unpickled.
"""

from __future__ import annotations

import os
import shutil
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import numpy as np

from waterline.checker.problem.distribution import require
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.storage import disk_calls
from waterline.checker.storage.plain_files import (
    ALL_OWNERS,
    StateFile,
    open_plain,
    require_own_folders,
)
from waterline.checker.storage.plain_files import Damaged as Damaged  # noqa: PLC0414 - readers meet it

_WORD_BYTES = 8
_BLOCK_BYTES = 16 << 20
Write = Callable[[bytes | memoryview], object]
_TEXT_BYTES_MAX = 256 << 20
"""Most bytes of a text; the manifest of a run with three million files has fewer."""


class BadLocation(Refused):
    """A location for a run's files that nothing can be kept at."""


def require_new(out: Path) -> None:
    """Raise `BadLocation` unless `out` is absent or an empty directory."""
    if out.exists() and not out.is_dir():
        raise BadLocation(f"{out} is a file; name a directory to write to")
    if out.is_dir() and any(out.iterdir()):
        raise BadLocation(f"{out} is not empty; name a new directory to write to")


@contextmanager
def written_aside(out: Path) -> Iterator[Path]:
    """A folder that takes its place at `out` when all went well; else nothing is left.

    Raises `BadLocation` where `out` is neither new nor empty.
    """
    require_new(out)
    # A link to a folder stands for that folder: only what is no link can be replaced.
    out = out.resolve()
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = out.parent / f".{out.name}.writing-{os.urandom(4).hex()}"
    folder.mkdir()
    try:
        yield folder
        folder.replace(out)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


class Storage(Protocol):
    """Files by name, names being relative paths with slashes."""

    location: str

    def read(self, name: str, words: int) -> Rows:
        """A block of states, mapped into memory where that can be. Raises `Damaged`."""

    def write(self, name: str, blocks: Iterable[Rows], *, owner: int = ALL_OWNERS) -> StateFile:
        """Write blocks one after the other, whole or not at all."""
        rows, crc = 0, 0
        with self.in_place_of(name) as write:
            for block in blocks:
                data = bytes_of(block)
                crc = zlib.crc32(data, crc)
                write(data)
                rows += len(block)
        return StateFile(name, rows, crc, owner)

    def in_place_of(self, name: str) -> AbstractContextManager[Write]:
        """Yield what writes to a new file, which replaces `name` if the block raises no error."""

    def settle(self, names: Iterable[str]) -> None:
        """Return once these files, all written, survive a power loss under their names."""

    def names(self) -> Iterator[str]:
        """Every file there is, to see whether there are any, or to remove some.

        A folder without any ends in a slash.
        """

    def read_text(self, name: str) -> str:
        """A small file. Raises `FileNotFoundError`, and `Damaged` where it is large."""

    def write_text(self, name: str, text: str) -> None:
        """Replace a small file at once."""
        with self.in_place_of(name) as write:
            write(text.encode())
        self.settle([name])

    def delete(self, names: Iterable[str]) -> None:
        """Remove files that may be there."""

    def remove_folder(self, name: str) -> None:
        """Remove a folder that may be there, with all that is in it."""

    def exists(self, name: str) -> bool:
        """True if there is such a file."""


def storage_at(location: str, *, durable: bool = False) -> Storage:
    """The storage at a path, or at a URI that pyarrow.fs understands.

    `durable` asks the disk to keep every file before it counts as written. Raises `BadLocation`.
    """
    if "://" not in location:
        return LocalStorage(Path(location).absolute(), durable=durable)
    uri = urlsplit(location)
    if uri.scheme != "file":
        return RemoteStorage(location)
    if uri.netloc not in ("", "localhost") or not uri.path:
        raise BadLocation(f"{location} names no folder of this machine; write file:///PATH")
    # A directory like any other: it can be locked, which what is reached through pyarrow cannot.
    return LocalStorage(Path(unquote(uri.path)), durable=durable)


class LocalStorage(Storage):
    """A directory of this machine, or one that all machines see under this path."""

    def __init__(self, root: Path, *, durable: bool = False) -> None:
        self.root = root
        self.location = str(root)
        self.durable = durable

    def read(self, name: str, words: int) -> Rows:
        """A block of states, mapped into memory."""
        path = self.root / name
        try:
            opened = open_plain(self.root, name)
        except FileNotFoundError:
            raise Damaged(f"{path} is missing") from None
        with os.fdopen(opened, "rb") as file:
            size = os.fstat(opened).st_size
            if size % (words * _WORD_BYTES):
                raise Damaged(f"{path} is cut short: {size} bytes are no whole number of states")
            if size == 0:
                return np.empty((0, words), np.uint64)
            mapped = np.memmap(file, "<u8", "r")
        return np.asarray(mapped).reshape(-1, words)

    def settle(self, names: Iterable[str]) -> None:
        """Their contents are synchronised as they are written; here the folders that name them."""
        if not self.durable:
            return
        folders = {(self.root / name).parent for name in names}
        for folder in sorted(folders - {self.root}):
            disk_calls.synchronise_folder(folder)
        disk_calls.synchronise_folder(self.root)

    def make_root(self) -> None:
        """The directory itself, and those it lies in, so that they survive a power loss, too."""
        missing = [folder for folder in (self.root, *self.root.parents) if not folder.exists()]
        disk_calls.make_folder(self.root)
        for folder in missing:
            disk_calls.synchronise_folder(folder.parent)

    def names(self) -> Iterator[str]:
        """Every file below the root, and every empty folder."""
        for folder, folders, files in os.walk(self.root):
            within = Path(folder).relative_to(self.root)
            for file in files:
                yield (within / file).as_posix()
            if not folders and not files and folder != str(self.root):
                yield f"{within.as_posix()}/"

    def read_text(self, name: str) -> str:
        """A small file. Raises `Damaged` where it is large, or no plain file."""
        with os.fdopen(open_plain(self.root, name), "rb") as file:
            _require_small(os.fstat(file.fileno()).st_size, f"{self.root / name}")
            return file.read(_TEXT_BYTES_MAX).decode()

    def delete(self, names: Iterable[str]) -> None:
        """Remove files that may be there."""
        for name in names:
            disk_calls.remove(self.root / name)

    def remove_folder(self, name: str) -> None:
        """Remove a folder, as far as that is possible."""
        disk_calls.remove_folder(self.root / name)

    def exists(self, name: str) -> bool:
        """True if there is such a file."""
        return (self.root / name).exists()

    @contextmanager
    def in_place_of(self, name: str) -> Iterator[Write]:
        """Write to a file aside and rename it."""
        path = self.root / name
        require_own_folders(self.root, name)
        disk_calls.make_folder(path.parent)
        file, aside = disk_calls.open_aside(path.parent)
        try:
            with file:
                yield lambda data: disk_calls.write(file, aside, data)
                if self.durable:
                    disk_calls.synchronise(file, aside)
            disk_calls.rename(aside, path)
        except BaseException:
            with suppress(OSError):
                disk_calls.remove(aside)
            raise


class RemoteStorage(Storage):
    """An object store or HDFS, through pyarrow.fs. A file is read whole.

    An object appears when its stream is closed; elsewhere it is written aside and moved.
    """

    def __init__(self, location: str) -> None:
        require("pyarrow", "arrow", f"a run at {location}")
        from pyarrow import fs  # noqa: PLC0415 - a third of a second, only where needed

        self.location, self._fs = location, fs
        try:
            self._files, self._root = fs.FileSystem.from_uri(location)
        except Exception as problem:
            described = str(problem).splitlines()[0]
            raise BadLocation(f"nothing can be kept at {location}: {described}") from None
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

    @contextmanager
    def in_place_of(self, name: str) -> Iterator[Write]:
        """Write a stream; it counts from when it is closed, or moved to its name."""
        path = self._path(name)
        self._files.create_dir(path.rsplit("/", 1)[0], recursive=True)
        aside = path if self._appears_whole else f"{path}.writing-{os.urandom(4).hex()}"
        with self._files.open_output_stream(aside) as file:
            yield file.write
        if aside != path:
            self._files.move(aside, path)

    def settle(self, names: Iterable[str]) -> None:
        """Do nothing: such a store is durable already."""

    def names(self) -> Iterator[str]:
        """Every file below the root."""
        below = self._fs.FileSelector(self._root, recursive=True, allow_not_found=True)
        for found in self._files.get_file_info(below):
            if found.type == self._fs.FileType.File:
                yield found.path.removeprefix(self._root).lstrip("/")

    def read_text(self, name: str) -> str:
        """A small file."""
        with self._files.open_input_file(self._path(name)) as file:
            _require_small(file.size(), f"{self.location}/{name}")
            text: str = file.read().decode()
            return text

    def delete(self, names: Iterable[str]) -> None:
        """Remove files that may be there."""
        for name in names:
            if self.exists(name):
                self._files.delete_file(self._path(name))

    def remove_folder(self, name: str) -> None:
        """Remove a folder that may be there."""
        with suppress(FileNotFoundError):
            self._files.delete_dir(self._path(name))

    def exists(self, name: str) -> bool:
        """True if there is such a file."""
        found = self._files.get_file_info(self._path(name)).type
        return bool(found != self._fs.FileType.NotFound)

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"


def _require_small(size: int, where: str) -> None:
    if size > _TEXT_BYTES_MAX:
        raise Damaged(f"{where} has {size:,} bytes; a run writes {_TEXT_BYTES_MAX:,} at most")


def bytes_of(rows: Rows) -> memoryview:
    """A block as it lies in its file, without a copy."""
    whole: Any = np.ascontiguousarray(rows)
    return memoryview(whole).cast("B") if len(rows) else memoryview(b"")


def checksum(rows: Rows) -> int:
    """The CRC-32 of a block of states, as it lies in its file."""
    crc = 0
    per_block = max(1, _BLOCK_BYTES // (rows.shape[1] * _WORD_BYTES))
    for start in range(0, len(rows), per_block):
        crc = zlib.crc32(bytes_of(rows[start : start + per_block]), crc)
    return crc


def require_whole(storage: Storage, file: StateFile, words: int) -> None:
    """Read a file and compare it with what was written. Raises `Damaged`, naming the file."""
    rows = storage.read(file.name, words)
    where = f"{storage.location}/{file.name}"
    if len(rows) != file.rows:
        raise Damaged(f"{where} has {len(rows):,} states, {file.rows:,} were written")
    if checksum(rows) != file.crc:
        raise Damaged(f"{where} is not what was written: its checksum differs")
