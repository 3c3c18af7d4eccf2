"""Message passing along edges of the partitioned graph, in rounds.

In a round each owner reads the messages to its states and sends what is new to their neighbours.
Messages lie in files, by round: so a round can be repeated, and depends on nothing but the round
before. Nothing here knows of claims.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import action_of
from waterline.checker.graph.adjacency import Places
from waterline.checker.liveness.external.parts import (
    ELSEWHERE,
    NUMBER_BITS,
    Direction,
    Part,
    Parts,
    Slices,
    Words64,
    has_bit,
    read_mail,
)

BITS = 64
"""Most bits that travel at once."""
ALL_BITS = (1 << BITS) - 1
_ZERO, _ONE = np.uint64(0), np.uint64(1)


@dataclass(frozen=True, slots=True)
class Round:
    """A round of an owner: the owner's number, the round's, and the messages to it."""

    owner: int
    number: int
    mail: Slices


@dataclass(frozen=True, slots=True)
class RoundResult:
    """Result of a round of an owner: how many messages there are for each other owner, and how many
    states are concerned (see the task).
    """

    owner: int
    counts: tuple[int, ...]
    states: int


@dataclass(frozen=True, slots=True)
class Flow:
    """Bits that travel from state to state until none is new anywhere.

    `begin` returns for each of an owner's states the bits that it may have, and those that it
    begins with. `along` "into" they go to the states before, "out" to those after. `passes` are the
    bits that a step of each action lets pass. The step `labels[i]` gives bit i to the state that it
    takes the bits of a state to, if that state may have any. The first `timed` bits begin in a
    state at the round of its depth, and the round of each one's arrival is noted.

    The files `NAME-R` have a row for each state after round R: its bits, then the rounds.
    """

    parts: Parts
    name: str
    begin: Callable[[Part], Words64]
    along: Direction
    passes: tuple[int, ...] = ()
    labels: tuple[int, ...] = ()
    timed: int = 0

    @property
    def columns(self) -> int:
        """How many words a state has in the files of a round."""
        return 1 + self.timed

    def __call__(self, item: Round) -> RoundResult:
        """A round of an owner; `states` is in how many something is new."""
        parts, owner = self.parts, item.owner
        part = Part(parts, owner)
        if item.number == 0:
            given = self.begin(part)
            parts.write(f"{self.name}-given", owner, given)
            kept: Words64 = np.zeros((len(given), self.columns), np.uint64)
        else:
            given = parts.read(f"{self.name}-given", owner, 2)
            kept = parts.read(f"{self.name}-{item.number - 1}", owner, self.columns).copy()
        allowed, due = given.T
        came: Words64 = np.zeros(len(given), np.uint64)
        for block in read_mail(parts, f"{self.name}-mail-{item.number - 1}", item.mail, 2):
            np.bitwise_or.at(came, block[:, 0].astype(np.int64), block[:, 1])
        if self.timed:
            came |= np.where(part.depth == item.number, due, _ZERO)
        elif item.number == 0:
            came |= due
        outbox, states = Outbox(part, np.bitwise_or), 0
        is_first = item.number == 0
        while True:
            came &= allowed & ~kept[:, 0]
            kept[:, 0] |= came
            for bit in range(self.timed):
                kept[has_bit(came, bit), 1 + bit] = item.number
            tells = allowed != 0 if is_first and self.labels else came != 0
            states += int(np.count_nonzero(came))
            at, others, steps = part.steps(self.along, np.flatnonzero(tells))
            bits = self._passing(came[at], steps, is_first=is_first)
            mine, text = outbox.take(at, others, bits, keeps=not self.timed)
            if not len(mine):
                break
            came = np.zeros(len(given), np.uint64)
            np.bitwise_or.at(came, mine, text)
            is_first = False
        parts.write(f"{self.name}-{item.number}", owner, kept)
        return RoundResult(owner, outbox.post(f"{self.name}-mail-{item.number}"), states)

    def _passing(self, bits: Words64, steps: Places, *, is_first: bool) -> Words64:
        """Return the bits of their sources that the steps pass on, and those that they give."""
        if self.passes:
            bits &= np.array(self.passes, np.uint64)[action_of(steps)]
        if self.labels and is_first:
            bits |= bits_of(self.labels, steps)
        return bits


@dataclass(frozen=True, slots=True)
class Thinning:
    """Takes away states that none of those left leads to, or that lead to none of them.

    `along` "into" it goes back from ends: a state is taken away once no step out of it leads to one
    that is left. `along` "out" it goes on from beginnings. `begun` names the files of states to
    begin with, a word for each: 1 if it is one of them. `NAME-R` is the same after round R.
    """

    parts: Parts
    name: str
    begun: str
    along: Direction

    def __call__(self, item: Round) -> RoundResult:
        """A round of an owner; `states` is how many are left."""
        parts, owner, number = self.parts, item.owner, item.number
        part = Part(parts, owner)
        alive = parts.column(f"{self.name}-{number - 1}" if number else self.begun, owner) != 0
        left: NDArray[np.int64] = np.zeros(len(alive), np.int64)
        for block in read_mail(parts, f"{self.name}-mail-{number - 1}", item.mail, 2):
            np.add.at(left, block[:, 0].astype(np.int64), block[:, 1].astype(np.int64))
        # At first each says that it is there, from then on only that it is not there any more.
        if number > 1:
            left = parts.column(f"{self.name}-left-{number - 1}", owner).astype(np.int64) - left
        outbox = Outbox(part, np.add)
        while True:
            tells = alive & (left == 0) if number else alive
            if number:
                alive &= ~tells
            at, others, _ = part.steps(self.along, np.flatnonzero(tells))
            mine, _ = outbox.take(at, others, np.ones(len(at), np.uint64), keeps=number > 0)
            if not len(mine):
                break
            np.subtract.at(left, mine, 1)
        parts.write(f"{self.name}-{number}", owner, alive.astype(np.uint64))
        parts.write(f"{self.name}-left-{number}", owner, left.astype(np.uint64))
        counts = outbox.post(f"{self.name}-mail-{number}")
        return RoundResult(owner, counts, int(np.count_nonzero(alive)))


class Outbox:
    """Messages to the states of other owners, each sent once; `combined` joins two messages."""

    def __init__(self, part: Part, combined: np.ufunc) -> None:
        self._part, self._combined = part, combined
        self._numbers = [np.empty(0, np.int64)]
        self._payloads = [np.empty(0, np.uint64)]

    def take(
        self, at: Places, others: Places, payload: Words64, *, keeps: bool
    ) -> tuple[Places, Words64]:
        """Messages along steps: of those to its own states, if it `keeps` them, place and payload.

        It need not wait for the next round to be reported what it knows.
        """
        part, owners = self._part, self._part.parts.owners
        sent = (payload != 0) & (others != part.parts.numbers(part.owner, at))
        sent &= others != ELSEWHERE
        others, payload = others[sent], payload[sent]
        mine = (others % owners == part.owner) & keeps
        self._numbers.append(others[~mine])
        self._payloads.append(payload[~mine])
        return others[mine] // owners, payload[mine]

    def post(self, name: str) -> tuple[int, ...]:
        """Write it, owner by owner; how many messages for each."""
        parts, owners = self._part.parts, self._part.parts.owners
        numbers, payload = np.concatenate(self._numbers), np.concatenate(self._payloads)
        keys = (numbers % owners << NUMBER_BITS) | numbers // owners
        order = np.argsort(keys, kind="stable")
        keys, payload = keys[order], payload[order]
        firsts = np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1]))[: len(keys)])
        if len(firsts):
            payload = self._combined.reduceat(payload, firsts)
        keys = keys[firsts]
        places = (keys & ELSEWHERE).astype(np.uint64)
        parts.write(name, self._part.owner, np.column_stack((places, payload)))
        return tuple(np.bincount(keys >> NUMBER_BITS, minlength=owners).tolist())


def bits_of(labels: tuple[int, ...], steps: Places) -> Words64:
    """For each step the bit of its place among these, which are in order; none of another."""
    known = np.array(labels, np.int64)
    places = np.minimum(np.searchsorted(known, steps), len(known) - 1)
    bits = _ONE << places.astype(np.uint64)
    found: Words64 = np.where(known[places] == steps, bits, _ZERO)
    return found
