"""Keys of states, and the states that differ from one in names alone.

A key is a state's packed words as bytes, which identify it and compare as it does. Under a symmetry
a search keeps one state of each kind. A certificate has those, and each of them stands for all its
renamings, which are written out here: every permutation of the names.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from waterline.checker.problem.symmetry import Move, Names, Renamer, Symmetry, naming_of
from waterline.model.core.layout import Layout
from waterline.model.core.renaming import Holds, Sort

BYTES = 8
"""Bytes of a word."""


def words_of(key: bytes) -> tuple[int, ...]:
    """The packed words of a key, which has the most significant byte of each first."""
    return tuple(int.from_bytes(key[i : i + BYTES], "big") for i in range(0, len(key), BYTES))


def key_of(words: Iterable[int]) -> bytes:
    """The key of packed words."""
    return b"".join(word.to_bytes(BYTES, "big") for word in words)


class Renamings:
    """Writes out all renamings of states of a layout."""

    def __init__(self, layout: Layout, symmetry: Symmetry) -> None:
        self._layout = layout
        self._sorts = symmetry.sorts
        self._renamer = Renamer(layout)
        self._born = [f for f in layout.fields if naming_of(f).holds is Holds.BORN]
        self._moves: dict[int, list[list[Move]]] = {}

    def of(self, key: bytes) -> list[bytes]:
        """The keys of a state and of all that differ from it in names, itself first."""
        words = words_of(key)
        renamed = [key_of(self._renamer.rename(words, moves)) for moves in self._all_moves(words)]
        return list(dict.fromkeys((key, *renamed)))

    def _all_moves(self, words: tuple[int, ...]) -> list[list[Move]]:
        """For each permutation all moves; of names that are born one by one those that are."""
        born = -1
        if self._born and Sort.RECORD in self._sorts:
            element = self._layout.elements[self._born[0].name][()]
            born = (words[element.word] >> element.shift & element.mask) + element.lo
        if born not in self._moves:
            permutations = [list(self._permutations(sort, born)) for sort in self._sorts]
            self._moves[born] = [
                list(self._renamer.moves(dict(zip(self._sorts, chosen, strict=True))))
                for chosen in itertools.product(*permutations)
            ]
        return self._moves[born]

    def _permutations(self, sort: Sort, born: int) -> Iterator[Names]:
        size = self._layout.sizes[sort.value]
        free = born if sort == Sort.RECORD and born >= 0 else size
        rest = tuple(range(free, size))
        yield from ((*first, *rest) for first in itertools.permutations(range(free)))
