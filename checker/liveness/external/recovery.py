"""Backward reachability over partitions: states without a way back.

From the good states, and from those with a cut step, bits travel back: two for each claim, all
claims at once. What is left of a claim are the states that neither has reached, as in
`checker.liveness.recovery`, and of these only the nearest are returned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

import numpy as np

from waterline.checker.compiler.origins import action_of
from waterline.checker.graph.adjacency import Mask, Numbers, Places, mask_of
from waterline.checker.graph.index import MISSING, Index
from waterline.checker.liveness.external.graph import PartedGraph
from waterline.checker.liveness.external.parts import ELSEWHERE, Part, Parts, Words64, has_bit
from waterline.checker.liveness.external.travelling import ALL_BITS, BITS, Flow
from waterline.checker.problem.packed_rows import Rows, StateWords, state_words
from waterline.checker.storage.blocks import owner_of_each

CLAIMS_AT_ONCE = BITS // 2


@dataclass(frozen=True, slots=True)
class Back:
    """A claim: the numbers of its predicates, and of the actions that lead back."""

    when: int
    good: int
    by: frozenset[int]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Number of stuck states that the claim covers, and the least depth of these; and the number of
    further ones, if no bound cut a step on the way.
    """

    stuck: int
    depth: int | None
    unjudged: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """The stuck states of the least depth: how many, the fewest faults, the least ones with so many
    faults.
    """

    states: int
    faults: int
    ends: tuple[StateWords, ...]


class WaysBack:
    """States with a way back, for claims about recovery, as many as travel at once.

    `actions` is how many the model has. Its construction runs all rounds.
    """

    def __init__(self, graph: PartedGraph, claims: Sequence[Back], actions: int) -> None:
        assert len(claims) <= CLAIMS_AT_ONCE
        self._graph, self._claims = graph, tuple(claims)
        flow = Flow(
            graph.parts,
            graph.name("back"),
            _Begun(self._claims),
            "into",
            passes=tuple(
                sum(_pair(i) for i, claim in enumerate(claims) if action in claim.by)
                for action in range(actions)
            ),
        )
        self._reached = graph.flow(flow, "going back from good states")

    def outcomes(self) -> list[Outcome]:
        """Return the outcome of each claim, in their order."""
        parts = self._graph.each(_Outcomes(self._reached, self._claims, self._graph.parts))
        return [
            Outcome(
                sum(each.stuck for each in found),
                min((each.depth for each in found if each.depth is not None), default=None),
                sum(each.unjudged for each in found),
            )
            for found in zip(*parts, strict=True)
        ]

    def nearest(
        self, number: int, depth: int, *, faults: Callable[[Rows], Numbers | Places], most: int
    ) -> Nearest:
        """Return the stuck states of a claim at the least depth that has any.

        `number` is the claim's index; `faults` returns the number of faults before each of some
        states. At most `most` ends are kept.
        """
        work = _Nearest(
            parts=self._graph.parts,
            reached=self._reached,
            claim=self._claims[number],
            number=number,
            depth=depth,
            faults=faults,
            most=most,
        )
        found = [each for each in self._graph.each(work) if each is not None]
        fewest = min(each.faults for each in found)
        ends = sorted(end for each in found if each.faults == fewest for end in each.ends)
        return Nearest(sum(each.states for each in found), fewest, tuple(ends[:most]))


def trapped_in(
    graph: PartedGraph, words: StateWords, by: Collection[int], actions: int
) -> tuple[int, frozenset[int]]:
    """How many states can be reached from one by these actions, and which of them are enabled."""
    flow = Flow(
        graph.parts,
        graph.name("trapped"),
        _From(words),
        "out",
        passes=tuple(int(action in by) for action in range(actions)),
    )
    reached = graph.flow(flow, "going on from a state without a way back")
    found = graph.each(_Trapped(reached, frozenset(by), graph.parts))
    return sum(states for states, _ in found), frozenset[int]().union(*(e for _, e in found))


def _pair(number: int) -> int:
    """The two bits of a claim: it can come back, and it may, for a step is cut."""
    return 0b11 << 2 * number


def _is_any(steps: Places, actions: Collection[int]) -> Mask:
    found: Mask = np.isin(action_of(steps), sorted(actions))
    return found


@dataclass(frozen=True, slots=True)
class _Begun:
    """Gives a claim's first bit to good states and those with a step to where all is good, its
    second to those with a cut step; any state may have either.
    """

    claims: tuple[Back, ...]

    def __call__(self, part: Part) -> Words64:
        given: Words64 = np.zeros((len(part), 2), np.uint64)
        given[:, 0] = ALL_BITS
        at, others, steps = part.steps("out")
        ends = others == ELSEWHERE
        at, steps = at[ends], steps[ends]
        cut_at, cut_steps = part.cuts
        for i, claim in enumerate(self.claims):
            good = part.truth(claim.good) | mask_of(at[_is_any(steps, claim.by)], len(part))
            cut = mask_of(cut_at[_is_any(cut_steps, claim.by)], len(part))
            given[good, 1] |= np.uint64(1 << 2 * i)
            given[cut, 1] |= np.uint64(2 << 2 * i)
        return given


@dataclass(frozen=True, slots=True)
class _From:
    """Gives bit 0 to one state; any state may have it."""

    words: StateWords

    def __call__(self, part: Part) -> Words64:
        given: Words64 = np.zeros((len(part), 2), np.uint64)
        given[:, 0] = 1
        row: Rows = np.array([self.words], np.uint64)
        if owner_of_each(row, part.parts.owners)[0] == part.owner:
            place = Index(np.ascontiguousarray(part.rows)).numbers_of(row)[0]
            assert place != MISSING
            given[place, 1] = 1
        return given


def _mark_ways_back(parts: Parts, reached: str, owner: int, number: int) -> tuple[Mask, Mask]:
    """Mark an owner's states with a way back for certain, and those with one by a cut step."""
    bits = parts.column(reached, owner)
    return has_bit(bits, 2 * number), has_bit(bits, 2 * number + 1)


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """Task that counts an owner's outcomes for each claim, once the bits have travelled."""

    reached: str
    claims: tuple[Back, ...]
    parts: Parts

    def __call__(self, owner: int) -> list[Outcome]:
        part = Part(self.parts, owner)
        outcomes = []
        for number, claim in enumerate(self.claims):
            certain, cut = _mark_ways_back(self.parts, self.reached, owner, number)
            left = part.truth(claim.when) & ~certain
            depths = part.depth[left & ~cut]
            outcomes.append(
                Outcome(
                    len(depths),
                    int(depths.min()) if len(depths) else None,
                    int(np.count_nonzero(left & cut)),
                )
            )
        return outcomes


@dataclass(frozen=True, slots=True, kw_only=True)
class _Nearest:
    """An owner's stuck states of a claim at a depth; None where it has none."""

    parts: Parts
    reached: str
    claim: Back
    number: int
    depth: int
    faults: Callable[[Rows], Numbers | Places]
    most: int

    def __call__(self, owner: int) -> Nearest | None:
        part = Part(self.parts, owner)
        certain, cut = _mark_ways_back(self.parts, self.reached, owner, self.number)
        stuck = part.truth(self.claim.when) & ~certain & ~cut & (part.depth == self.depth)
        rows = np.ascontiguousarray(part.rows[stuck])
        if not len(rows):
            return None
        faults = self.faults(rows)
        fewest = rows[faults == faults.min()]
        least = fewest[np.lexsort(fewest.T[::-1])[: self.most]]
        return Nearest(len(rows), int(faults.min()), tuple(map(state_words, least)))


@dataclass(frozen=True, slots=True)
class _Trapped:
    """Task that counts an owner's reached states, and collects the actions that leave them."""

    reached: str
    by: frozenset[int]
    parts: Parts

    def __call__(self, owner: int) -> tuple[int, frozenset[int]]:
        part = Part(self.parts, owner)
        places = np.flatnonzero(self.parts.column(self.reached, owner))
        _, _, steps = part.steps("out", places)
        enabled = np.unique(action_of(steps[_is_any(steps, self.by)]))
        return len(places), frozenset(enabled.tolist())
