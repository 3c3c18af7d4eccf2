"""The waiting states of a claim, with their distance from the initial states.

Equal to the result of `checker.liveness.lasso` on a whole graph.

Bits travel from the states where the waiting begins, one for each claim, and the round that reaches
a state is its distance. `[]<>q` waits from every state without q on, at the depth of that state.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.graph.adjacency import Mask
from waterline.checker.liveness.external.graph import PartedGraph
from waterline.checker.liveness.external.parts import Part, Parts, Words64, has_bit
from waterline.checker.liveness.external.travelling import BITS, Flow
from waterline.checker.problem.packed_rows import StateWords, state_words
from waterline.model.core.claim import Pattern

CLAIMS_AT_ONCE = BITS


@dataclass(frozen=True, slots=True)
class Wait:
    """A claim: the numbers of its predicates, and its pattern."""

    when: int
    then: int
    pattern: Pattern


@dataclass(frozen=True, slots=True)
class Arrival:
    """Where a claim waits, and after how many steps at the least.

    `reached` names the files that say so of the bit `number`, of `bits`.
    """

    wait: Wait
    reached: str
    number: int
    bits: int

    def __call__(self, part: Part) -> tuple[Mask, NDArray[np.int64]]:
        """Return an owner's waiting states, and the distance of each."""
        if self.wait.pattern is Pattern.ALWAYS_EVENTUALLY:
            return ~part.truth(self.wait.then), part.depth
        kept = part.parts.read(self.reached, part.owner, 1 + self.bits)
        return has_bit(kept[:, 0], self.number), kept[:, 1 + self.number].astype(np.int64)


def arrivals(graph: PartedGraph, waits: Sequence[Wait]) -> list[Arrival]:
    """Where each of the claims waits, as many as travel at once."""
    assert len(waits) <= CLAIMS_AT_ONCE
    travels = [wait for wait in waits if wait.pattern is not Pattern.ALWAYS_EVENTUALLY]
    reached = ""
    if travels:
        begun = _Begun(tuple(travels))
        flow = Flow(graph.parts, graph.name("waits"), begun, "out", timed=len(travels))
        reached = graph.flow(flow, "going on from where the waiting begins")
    return [
        Arrival(wait, reached, travels.index(wait) if wait in travels else 0, len(travels))
        for wait in waits
    ]


@dataclass(frozen=True, slots=True)
class _Begun:
    """Task that gives a claim's bit to the states where the waiting begins; the bit may reach all
    states without the awaited event.
    """

    waits: tuple[Wait, ...]

    def __call__(self, part: Part) -> Words64:
        given: Words64 = np.zeros((len(part), 2), np.uint64)
        for bit, wait in enumerate(self.waits):
            waits = ~part.truth(wait.then)
            begins = waits & (
                part.depth == 0 if wait.pattern is Pattern.EVENTUALLY else part.truth(wait.when)
            )
            given[waits, 0] |= np.uint64(1 << bit)
            given[begins, 1] |= np.uint64(1 << bit)
        return given


def way_to(graph: PartedGraph, arrival: Arrival, number: int, steps: int) -> list[int]:
    """The states on a shortest way to one that is so many steps far, back by the least states."""
    found: list[int] = []
    for far in reversed(range(steps)):
        [before] = graph.over([graph.parts.place(number)], _Before(graph.parts))
        owners: dict[int, list[int]] = {}
        for one in before:
            owner, place = graph.parts.place(one)
            owners.setdefault(owner, []).append(place)
        asked = [(owner, tuple(places)) for owner, places in sorted(owners.items())]
        least = [one for one in graph.over(asked, _Least(graph.parts, arrival, far)) if one]
        if not least:
            break
        _, number = min(least)
        found.append(number)
    return found


@dataclass(frozen=True, slots=True)
class _Before:
    """The states with a step into one."""

    parts: Parts

    def __call__(self, item: tuple[int, int]) -> list[int]:
        owner, place = item
        _, others, _ = Part(self.parts, owner).steps("into", np.array([place]))
        before: list[int] = np.unique(others).tolist()
        return before


@dataclass(frozen=True, slots=True)
class _Least:
    """The least of some of an owner's states at this distance, with its number."""

    parts: Parts
    arrival: Arrival
    far: int

    def __call__(self, item: tuple[int, tuple[int, ...]]) -> tuple[StateWords, int] | None:
        owner, few = item
        part, places = Part(self.parts, owner), np.array(few)
        inside, far = self.arrival(part)
        places = places[inside[places] & (far[places] == self.far)]
        numbers = self.parts.numbers(owner, places).tolist()
        return min(zip(map(state_words, part.rows[places]), numbers, strict=True), default=None)
