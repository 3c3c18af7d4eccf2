"""Outbox of candidate states, dealt to receivers; a state that was sent before is dropped.

About four transitions lead to each new state, and as many to those that are known already. A worker
keeps the states that it has sent, across levels. It may drop one of these only while it is certain
that what it sent has arrived: see `Outbox.begin`.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Sequence, Set

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.program import load_program
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.search.engines.expander import Expander, Tally
from waterline.checker.storage.arena import empty_table
from waterline.checker.storage.blocks import hashes
from waterline.checker.storage.sent import recipe_of
from waterline.checker.storage.sent_loops import BOX, home
from waterline.checker.storage.storage import bytes_of

BUFFER_BYTES = 1 << 18
"""How much one receiver's buffer holds at most."""
SLOTS_A_STATE = 16
"""Slots of the cache for each state that is expanded, if they are not too many."""
_SLOTS_MIN = 1 << 10


class Outbox:
    """Buffers for receivers, and a cache of what was sent of at most `slots_max` states.

    The buffers together take no more than half of such a cache, or one state each.
    """

    def __init__(self, expander: Expander, *, slots_max: int) -> None:
        self._expander = expander
        self._words = expander.layout.words
        self._send = load_program(recipe_of(self._words))["send"]
        # One that is empty holds two states.
        self._slots_max = max(2, _power_of_two(slots_max + 1) // 2)
        self._cache: Rows = np.empty((0, self._words), np.uint64)
        self._buffers: Rows = np.empty((0, self._words), np.uint64)
        self._generation = ""
        self._unconfirmed: set[str] = set()
        """Attempts that began since the last that found all before it accepted."""

    def begin(self, generation: str, accepted: Set[str], states: int) -> str:
        """The name of a new attempt, which expands so many states.

        The cache is emptied unless every attempt whose states it holds was accepted, of the same
        generation: then each of these states is with its owner, or among the candidates that the
        owners absorb in this level. `accepted` are the attempts of the level before. A generation
        ends when candidates are lost.
        """
        wanted = min(self._slots_max, _power_of_two(max(_SLOTS_MIN, SLOTS_A_STATE * states)))
        holds = generation == self._generation and self._unconfirmed <= accepted
        if not holds or len(self._cache) < wanted:
            self._empty(wanted)
        attempt = secrets.token_hex(8)
        self._generation, self._unconfirmed = generation, {attempt}
        return attempt

    def send(
        self, frontier: Sequence[Rows], tally: Tally, receivers: int
    ) -> Iterator[tuple[int, memoryview]]:
        """Yield successors as (receiver, block). A block is valid until the next is requested."""
        room = max(1, min(BUFFER_BYTES // (8 * self._words), self._slots_max // (2 * receivers)))
        if receivers * room > len(self._buffers):
            self._buffers = np.empty((receivers * room, self._words), np.uint64)
        filled: NDArray[np.int64] = np.zeros(receivers, np.int64)
        box: NDArray[np.int64] = np.zeros(BOX, np.int64)
        box[:] = (
            address(self._cache),
            len(self._cache) - 1,
            address(self._buffers),
            receivers,
            room,
        )

        def go_on(job: NDArray[np.int64]) -> int:
            return int(self._send(address(box), address(filled), address(job)))

        for rows in frontier:
            for _ in self._expander.explore(rows, tally, go_on):
                yield from self._take(filled, room, room)
        yield from self._take(filled, room, 1)

    def _take(
        self, filled: NDArray[np.int64], room: int, least: int
    ) -> Iterator[tuple[int, memoryview]]:
        """Yield the contents of buffers that have at least `least` states, and empty them."""
        for receiver in np.flatnonzero(filled >= least).tolist():
            first = receiver * room
            yield receiver, bytes_of(self._buffers[first : first + int(filled[receiver])])
            filled[receiver] = 0

    def _empty(self, slots: int) -> None:
        """A cache of so many slots that holds nothing.

        Each slot holds a state that belongs in another: so nothing is found there.
        """
        if len(self._cache) != slots:
            self._cache = np.empty((0, self._words), np.uint64)  # Gone before the next is there.
            self._cache = empty_table(2 * slots * self._words).view(np.uint64).reshape(slots, -1)
        else:
            self._cache[:] = 0
        rows: Rows = np.zeros((2, self._words), np.uint64)
        at = home(int(hashes(rows[:1])[0]), slots - 1)
        while home(int(hashes(rows[1:])[0]), slots - 1) == at:
            rows[1, 0] += 1
        self._cache[at] = rows[1]


def _power_of_two(number: int) -> int:
    """The least power of two that is not less."""
    return 1 << (number - 1).bit_length()
