"""Segments of exchange files: candidates on their way from one task to another.

A task writes its candidates to a file of its own, and the owner of each reads its segments of all
such files. Only names, places and checksums pass through Spark.
"""

from __future__ import annotations

import os
import secrets
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from waterline.checker.problem.packed_rows import Rows
from waterline.checker.storage import disk_calls
from waterline.checker.storage.plain_files import Damaged, open_plain
from waterline.checker.storage.storage import bytes_of

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
        self._folder = folder
        self._name = f"{secrets.token_hex(8)}.candidates"
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
            opened = open_plain(self._folder, self._name, os.O_WRONLY | os.O_CREAT | os.O_EXCL)
            self._file = os.fdopen(opened, "wb")
        disk_calls.write(self._file, self._folder / self._name, block)
        segment = Segment(self._name, self._size, len(block), zlib.crc32(block))
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
