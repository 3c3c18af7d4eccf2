"""Partitions of the graph: each owner of a hash range has its states and edges in files.

A state's number says whose it is and its place there. All columns are words of 64 bits, as in the
files of states; a step lies in one word with the number of the state at its other end. Files are
written once, under names that depend on who writes them: a task that is tried again writes the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import ROW_SHIFT
from waterline.checker.graph.adjacency import Mask, Places, spans
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.storage.storage import Storage

Words64: TypeAlias = "NDArray[np.uint64]"
NUMBER_BITS = 64 - ROW_SHIFT
ELSEWHERE = (1 << NUMBER_BITS) - 1
"""The number of all states with no event still to come."""
Direction = Literal["into", "out"]
"""Steps of a state: those into it, from states before, or those out of it."""
DIRECTIONS: tuple[Direction, Direction] = ("into", "out")
_SHIFT = np.uint64(ROW_SHIFT)
_STEP = np.uint64((1 << ROW_SHIFT) - 1)
_BITS = 64


@dataclass(frozen=True, slots=True)
class Parts:
    """Where the parts are: a folder of a storage that every task reaches.

    `words` is how many words a state has, `predicates` of how many predicates the truths are kept.
    """

    storage: Storage
    folder: str
    owners: int
    words: int
    predicates: int

    def write(self, what: str, owner: int, *blocks: Words64) -> None:
        """A file of an owner."""
        self.storage.write(self._name(what, owner), blocks)

    def read(self, what: str, owner: int, columns: int = 1) -> Words64:
        """A file of an owner, by rows of so many words."""
        return self.storage.read(self._name(what, owner), columns)

    def column(self, what: str, owner: int) -> Words64:
        """A file of single words."""
        return self.read(what, owner)[:, 0]

    def delete(self, *what: str) -> None:
        """These files of all owners."""
        self.storage.delete(self._name(one, owner) for one in what for owner in range(self.owners))

    def _name(self, what: str, owner: int) -> str:
        return f"{self.folder}/{what}-{owner:05d}"

    def numbers(self, owner: int, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """The numbers of states by their places with an owner."""
        return places * self.owners + owner

    def place(self, number: int) -> tuple[int, int]:
        """Whose a state is, and its place there."""
        place, owner = divmod(number, self.owners)
        return owner, place


class Part:
    """One owner's part of the graph, read on demand."""

    def __init__(self, parts: Parts, owner: int) -> None:
        self.parts, self.owner = parts, owner

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def rows(self) -> Rows:
        """Its states, by depth and then by hash."""
        return self.parts.read("states", self.owner, self.parts.words)

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """The depth of each."""
        return self._facts[:, 0].astype(np.int64)

    def truth(self, number: int) -> Mask:
        """Return the states where a predicate is true."""
        word, bit = divmod(number, _BITS)
        return has_bit(self._facts[:, 1 + word], bit)

    @cached_property
    def _facts(self) -> Words64:
        return self.parts.read("facts", self.owner, 1 + -(-self.parts.predicates // _BITS))

    @cached_property
    def cuts(self) -> tuple[Places, Places]:
        """Pairs of a place and a step that is enabled there, and that a bound cuts."""
        return unpack(self.parts.column("cuts", self.owner))

    @property
    def numbers(self) -> NDArray[np.int64]:
        """The number of each."""
        return self.parts.numbers(self.owner, np.arange(len(self)))

    def steps(
        self, along: Direction, places: Places | None = None
    ) -> tuple[Places, Places, Places]:
        """The steps into or out of some states, or all: the place, the other end, the step."""
        first = self.parts.column(f"{along}-first", self.owner).astype(np.int64)
        packed = self.parts.column(along, self.owner)
        if places is None:
            other, step = unpack(packed)
            return np.repeat(np.arange(len(first) - 1), np.diff(first)), other, step
        where, counts = spans(first, places)
        other, step = unpack(packed[where])
        return np.repeat(places, counts), other, step


def has_bit(words: Words64, bit: int) -> Mask:
    """Mark the words with a bit set; bit 0 is the lowest."""
    found: Mask = (words >> np.uint64(bit)) & np.uint64(1) != 0
    return found


def pack(others: Places, steps: Places) -> Words64:
    """States, by place or number, each in a word with a step."""
    words: Words64 = (others.astype(np.uint64) << _SHIFT) | steps.astype(np.uint64)
    return words


def unpack(words: Words64) -> tuple[Places, Places]:
    """Invert `pack`."""
    return (words >> _SHIFT).astype(np.int64), (words & _STEP).astype(np.int64)


def packed_facts(depths: Places, truths: Mask) -> Words64:
    """Depths and truths as they are kept."""
    found: Words64 = np.zeros((len(truths), 1 + -(-truths.shape[1] // _BITS)), np.uint64)
    found[:, 0] = depths
    for number, column in enumerate(truths.T):
        word, bit = divmod(number, _BITS)
        found[:, 1 + word] |= column.astype(np.uint64) << np.uint64(bit)
    return found


Slices: TypeAlias = tuple[tuple[int, int, int], ...]
"""Rows of files for one receiver: (owner of the file, first row, number of rows)."""


def mail_of(counts: Sequence[Sequence[int]], owner: int) -> Slices:
    """Return the rows meant for an owner, from files with these counts for each owner."""
    return tuple(
        (sender, sum(row[:owner]), row[owner]) for sender, row in enumerate(counts) if row[owner]
    )


def read_mail(parts: Parts, what: str, mail: Slices, columns: int) -> list[Words64]:
    """These rows, sender by sender."""
    return [
        parts.read(what, sender, columns)[first : first + count] for sender, first, count in mail
    ]
