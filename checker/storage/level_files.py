"""Files of a finished level, with their metadata."""

from __future__ import annotations

from dataclasses import dataclass

ALL_OWNERS = -1
"""The owner of a file that holds the states of all."""


@dataclass(frozen=True, slots=True)
class StateFile:
    """A file of states: its name within the storage, how many there are, and their CRC-32.

    `owner` is whose range of hashes it holds, of as many owners as its level had.
    """

    name: str
    rows: int
    crc: int
    owner: int = ALL_OWNERS


@dataclass(frozen=True, slots=True)
class LevelFiles:
    """A finished level: how many states, who explored it, and its files.

    Every file is sorted by hash. `owners` is how many equal ranges of hashes the files stand for, a
    file for each that is not empty; 0 where one file holds all.
    """

    depth: int
    states: int
    on: str
    owners: int
    files: tuple[StateFile, ...]
