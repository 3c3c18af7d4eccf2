"""Segments of exchange files, and this program and its libraries, shipped to Spark's workers.

A task writes its candidates to a file of its own, and the owner of each reads its segments of all
such files. Only names, places and checksums pass through Spark.

On `local` the workers are on this machine and import what is here. On a cluster one archive goes
out: our packages and, where an executor lacks them or has others, llvmlite and NumPy as they are
installed here. Executors need the same minor version of Python on the same kind of processor.
"""

from __future__ import annotations

import functools
import gc
import hashlib
import importlib.metadata
import os
import platform
import secrets
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter, itemgetter
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from waterline.checker.compiler.cache import is_ours_alone, private_folder, trusted_cache
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.program_digest import PACKAGES, modules_of_package
from waterline.checker.search.engines import shipped_call
from waterline.checker.search.engines.processes import search_path
from waterline.checker.search.engines.shipped_call import Probe, ShippedCall
from waterline.checker.search.engines.spark_session import NoSpark
from waterline.checker.search.engines.task import LevelPlan, Report, explore, owner_at_hand
from waterline.checker.storage import disk_calls
from waterline.checker.storage.plain_files import Damaged, open_plain
from waterline.checker.storage.storage import bytes_of
from waterline.counterexamples.named_file import written_whole

_WORD_BYTES = 8


class CandidatesLost(Exception):
    """A file of candidates is missing, cut short, or changed: the level before is to be expanded
    again.
    """


@dataclass(frozen=True, slots=True)
class Segment:
    """`size` bytes of the file `name` from `offset` on, and their CRC-32."""

    name: str
    offset: int
    size: int
    crc: int


class SegmentFile:
    """A new file in a folder for segments. It does not exist before the first."""

    def __init__(self, folder: Path) -> None:
        self.name = f"{secrets.token_hex(8)}.candidates"
        self._folder = folder
        self._file: BinaryIO | None = None
        self._size = 0

    def close(self) -> None:
        """Close the file for writing."""
        if self._file is not None:
            self._file.close()

    def write(self, block: bytes | memoryview) -> Segment:
        """Append a block."""
        if self._file is None:
            disk_calls.make_folder(self._folder)
            opened = open_plain(self._folder, self.name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            self._file = os.fdopen(opened, "wb")
        disk_calls.write(self._file, self._folder / self.name, block)
        segment = Segment(self.name, self._size, len(block), zlib.crc32(block))
        self._size += len(block)
        return segment


def read_segments(folder: Path, segments: Sequence[Segment], words: int) -> Rows:
    """The states of these segments, of so many words each. Raises `CandidatesLost`."""
    size = sum(segment.size for segment in segments)
    rows: Rows = np.empty((size // (words * _WORD_BYTES), words), np.uint64)
    room = bytes_of(rows)
    for name, of_file in groupby(segments, attrgetter("name")):
        try:
            opened = open_plain(folder, name)
        except (FileNotFoundError, Damaged) as problem:
            raise CandidatesLost(f"{folder / name} is missing") from problem
        with os.fdopen(opened, "rb", buffering=0) as file:
            for segment in of_file:
                part, room = room[: segment.size], room[segment.size :]
                file.seek(segment.offset)
                if not _fill(file, part) or zlib.crc32(part) != segment.crc:
                    raise CandidatesLost(f"{folder / name} is not what was written a moment ago")
    return rows


def _fill(file: Any, room: Any) -> bool:
    """Read until the room is full; return False if the file ends first."""
    while len(room):
        read = file.readinto(room)
        if not read:
            return False
        room = room[read:]
    return True


_INDEX_WORDS = 4
"""Words of a segment in an index: its part, offset, size and checksum."""


class Outgoing:
    """A file of candidates for so many owners. Each of them has an index of its segments there."""

    def __init__(self, folder: Path, owners: int) -> None:
        self._file = SegmentFile(folder)
        self._indices: list[list[tuple[int, ...]]] = [[] for _ in range(owners)]

    def add(self, owner: int, part: int, block: bytes | memoryview) -> None:
        """Append candidates of a part of an owner."""
        segment = self._file.write(block)
        self._indices[owner].append((part, segment.offset, segment.size, segment.crc))

    def write_indices(self) -> list[Segment | None]:
        """The index of each owner, None if nothing is for it."""
        return [
            self._file.write(np.array(index, np.uint64).tobytes()) if index else None
            for index in self._indices
        ]

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def receive(
    folder: Path, indices: Iterable[Segment | None], words: int
) -> Iterator[tuple[int, Rows]]:
    """Yield the candidates of each part, from the indices of all files. Raises `CandidatesLost`."""
    segments = [
        (part, Segment(index.name, *place))
        for index in indices
        if index is not None
        for part, *place in read_segments(folder, [index], _INDEX_WORDS).tolist()
    ]
    segments.sort(key=itemgetter(0))
    for part, same in groupby(segments, itemgetter(0)):
        yield part, read_segments(folder, [segment for _, segment in same], words)


def claim(folder: Path, task: int, wanted: Iterable[int]) -> int:
    """Return the first of these owners that no other task has, from now on this one's.

    A folder can be made once, on whatever machines see it. Another attempt at the same task finds
    what the first has claimed. Raises `CandidatesLost`.
    """
    disk_calls.make_folder(folder)
    names = {found.name for found in folder.iterdir()}
    for name in names:
        number, _, by = name.partition(".")
        if by == str(task):
            return int(number)
    for owner in wanted:
        if str(owner) not in names and disk_calls.make_new_folder(folder / str(owner)):
            disk_calls.make_new_folder(folder / f"{owner}.{task}")
            return owner
    raise CandidatesLost(f"task {task} has found every owner claimed in {folder}")


LIBRARIES = ("numpy", "llvmlite")
_SPARED = ("/tests/", "__pycache__/", ".dist-info/", ".pyi")


Task = Callable[[Iterator[Any]], Iterator[Any]]
"""A function of the items of a share."""


class Executors(Protocol):
    """Session whose executors may lack this program."""

    def add_archive(self, path: Path) -> None:
        """Send an archive to them, unpacked under the name of its stem."""

    def collect_with(self, call: Task, items: Sequence[Any], slices: int) -> list[Any]:
        """Return the results of a function that needs no module of ours, in so many shares."""

    @property
    def cores(self) -> int:
        """How many tasks run at a time."""


class Shipped:
    """Archive and search path that let workers find this program before the first task."""

    def __init__(self, archive: str | None, places: list[str]) -> None:
        self._archive = archive
        self._places = places

    @classmethod
    def here(cls) -> Shipped:
        """Workers on this machine import what is here."""
        return cls(None, search_path())

    @classmethod
    def to(cls, executors: Executors, *, describe: Callable[[str], None]) -> Shipped:
        """Send executors this program. Raises `NoSpark` if they cannot run it."""
        from pyspark import cloudpickle  # noqa: PLC0415 - an extra

        # Pickled by value: these few lines run before anything of ours can be imported there.
        cloudpickle.register_pickle_by_value(shipped_call)  # type: ignore[no-untyped-call]
        lacking = _lacking(executors)
        path = archive(lacking)
        executors.add_archive(path)
        describe(
            f"sent {path.stat().st_size / 1e6:.0f} MB to the executors: "
            f"{', '.join(('waterline', *lacking))}"
        )
        return cls(path.stem, [])

    def ship(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function with the way to find what it needs."""
        from pyspark.serializers import CloudPickleSerializer  # noqa: PLC0415

        packed = CloudPickleSerializer().dumps(function)  # type: ignore[no-untyped-call]
        return ShippedCall(self._archive, self._places, packed)


def _lacking(executors: Executors) -> list[str]:
    """Libraries that some executor has not, or has in another version. Raises `NoSpark`."""
    slots = 2 * executors.cores
    found = executors.collect_with(Probe(LIBRARIES), range(slots), slots)
    here = [importlib.metadata.version(name) for name in LIBRARIES]
    for host, python, machine, _ in found:
        if machine != platform.machine():
            raise NoSpark(f"{host} is a {machine}, this machine a {platform.machine()}")
        if python != list(sys.version_info[:2]):
            raise NoSpark(
                f"{host} runs Python {python[0]}.{python[1]}, this is "
                f"{sys.version_info[0]}.{sys.version_info[1]}; set PYSPARK_PYTHON to the same"
            )
    return [
        name
        for i, name in enumerate(LIBRARIES)
        if any(versions[i] != here[i] for *_, versions in found)
    ]


@functools.cache
def _settle() -> None:
    """Keep what a worker has loaded out of garbage collection.

    Spark collects after every task; to go through all modules each time takes longer than a small
    level.
    """
    gc.collect()
    gc.freeze()


class ShuffleTask:
    """`explore` with its plan, between two shuffles: candidates are blocks of bytes."""

    def __init__(self, plan: LevelPlan) -> None:
        self.plan = plan

    def __call__(self, owner: int, blocks: Any) -> Iterator[tuple[int, Any]]:
        """Yield (owner, (part, block)), or a report, from a partition's number and content.

        Spark keeps a worker only if its task has read all its input.
        """
        plan = self.plan
        received = [found for _, found in blocks]
        owners = len(plan.owners)
        if owner == owners:
            return
        received.sort(key=itemgetter(0))
        with _naming_the_place(plan):
            for to, found in explore(plan, owner, _taken_from(received)):
                if to == owners * plan.parts_sent:
                    yield owners, found
                else:
                    yield to // plan.parts_sent, (to % plan.parts_sent, bytes(found))
            _settle()


def _taken_from(blocks: list[Any]) -> Iterator[Any]:
    """Yield each block and drop the only other reference to it."""
    blocks.reverse()
    while blocks:
        yield blocks.pop()


class FileTask:
    """`explore` with its plan, between two folders: candidates are segments of files.

    `sent` are the indices of each owner in all files of the folder `given`.
    """

    def __init__(
        self, plan: LevelPlan, given: Path, sent: list[list[Segment | None]], made: Path
    ) -> None:
        self.plan = plan
        self.given = given
        self.sent = sent
        self.made = made

    def __call__(self, tasks: Iterator[int]) -> Iterator[tuple[Report, list[Segment | None]]]:
        """Yield an owner's report, and the index of each owner, from the numbers of tasks.

        Spark keeps a worker only if its task has read all its input.
        """
        plan = self.plan
        owners = len(plan.owners)
        words = plan.problem.model.layout.words
        for task in list(tasks):
            with _naming_the_place(plan), closing(Outgoing(self.made, owners)) as outgoing:
                owner = self._owner_of(task) if plan.tables else task
                candidates = receive(self.given, self.sent[owner], words)
                for to, found in explore(plan, owner, candidates):
                    if to == owners * plan.parts_sent:
                        yield found, outgoing.write_indices()
                    else:
                        outgoing.add(*divmod(to, plan.parts_sent), found)
                _settle()

    def _owner_of(self, task: int) -> int:
        """The owner whose table is at hand here, if no other task has taken it."""
        at_hand = owner_at_hand(self.plan)
        others = [(task + i) % len(self.plan.owners) for i in range(len(self.plan.owners))]
        wanted = others if at_hand is None else [at_hand, *others]
        return claim(self.made / "claims", task, wanted)


@contextmanager
def _naming_the_place(plan: LevelPlan) -> Iterator[None]:
    """A failed write names no file, and of an error the driver is sent only the text."""
    try:
        yield
    except OSError as problem:
        where = problem.filename or plan.storage.location
        raise OSError(problem.errno, problem.strerror, where) from problem


def archive(libraries: list[str]) -> Path:
    """A zip of our packages and of these libraries, made once for the same contents."""
    files = [(f"waterline/{p.relative_to(PACKAGES)}", p) for p in modules_of_package()]
    for name in libraries:
        for file in importlib.metadata.files(name) or ():
            path = Path(str(file.locate()))
            if not str(file).startswith("..") and not any(s in f"/{file}" for s in _SPARED):
                files.append((str(file), path))
    digest = hashlib.sha256()
    for name, path in files:
        digest.update(f"{name} {hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    # Executors run what is in it: where others could change it, it is made for this run alone.
    kept = trusted_cache() or private_folder()
    target: Path = kept / "shipping" / f"waterline-{digest.hexdigest()[:16]}.zip"
    if not (target.exists() and is_ours_alone(target.lstat()) and zipfile.is_zipfile(target)):
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with (
            written_whole(target) as written,
            zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
        ):
            for name, source in files:
                packed.write(source, name)
    return target
