"""OWCTY, one-way-catch-them-young (Fisler et al. 2001), both ways and for each fair action.

A fair part of several states (`checker.liveness.fairness`) has an inner step out of each of its
states and into each. For every fair step, an inner path leads from each state, and to each, through
that step or through a state that does not enable it. So repeatedly remove every state without one
of these steps or paths. A step that is cut counts as not enabled, so components stay that only a
cut makes unfair. A state of a fair part that enables a strongly fair step has inner paths to, and
from, an edge that takes it; a state that does not enable it demands nothing. When no more states
can be removed, the last component on any path is fair or made unfair by a cut: every path from its
states stays within it. So claims that hold, and that no bound leaves open, leave no state.

The verdict on the remaining states is that on all. Every part stays whole that is fair or that only
a cut makes unfair, and the steps enabled in each remaining state are known. So a remaining part is
fair if it is a fair part of the whole. Among the removed states where a behaviour can stutter, only
two facts count: the first one in the order of `checker.liveness.lasso`, which is brought
separately, and the number of those left open by a cut.

Steps that are taken finitely often (`Model.finitely_often`) count here as if they could be taken
forever. A part that is fair without them meets every demand by its own steps, so it stays; the
remaining states are judged without them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from waterline.checker.compiler.origins import action_of
from waterline.checker.graph.adjacency import Mask, Numbers, Places, mask_of
from waterline.checker.liveness.external.graph import PartedGraph
from waterline.checker.liveness.external.parts import DIRECTIONS, Part, Parts, Words64
from waterline.checker.liveness.external.travelling import BITS, Flow, Thinning, bits_of
from waterline.checker.liveness.external.waiting import Arrival
from waterline.checker.problem.packed_rows import Rows, StateWords, state_words

Faults = Callable[[Rows], "Numbers | Places"]


@dataclass(frozen=True, slots=True)
class Brought:
    """Some states of an owner, with all that is known of them; `cut_row` are rows of these.

    `cut_short` is the number of other waiting states where a cut leaves open whether a behaviour
    stays.
    """

    rows: Rows
    numbers: Places
    depth: Places
    far: Places
    truths: Mask
    cut_row: Places
    cut_step: Places
    cut_short: int


@dataclass(frozen=True, slots=True)
class Left:
    """Number of the remaining states, and their files; and the number of the first state where a
    behaviour stutters, if any.
    """

    states: int
    files: str
    stutters: int | None


def left_of(
    graph: PartedGraph,
    arrival: Arrival,
    fair: Collection[int],
    faults: Faults,
    fits: Callable[[int], bool],
    strongly_fair: Collection[int] = (),
) -> Left:
    """Where a claim waits, without what is taken away until it `fits`, or nothing more can be.

    `fair` are the numbers of the actions that are fair, `strongly_fair` those of the strongly fair.
    """
    files = graph.name("left")
    seen = graph.each(_Look(graph.parts, arrival, frozenset(fair), faults, files))
    states = sum(count for count, _ in seen)
    first = min((key for _, key in seen if key is not None), default=None)
    weak = [step for step in graph.taken if action_of(step) in fair]
    strong = [step for step in weak if action_of(step) in strongly_fair]
    demands = [*_demands(weak, strong=False), *_demands(strong, strong=True)]
    trimmer = _Trimmer(graph, files, states, fits)
    while trimmer.thin() and trimmer.meeting(demands):
        pass
    return Left(trimmer.states, trimmer.files, first[-1] if first is not None else None)


def _demands(steps: Sequence[int], *, strong: bool) -> list[_Demand]:
    """Split the demands of steps into groups of as many bits as can travel together."""
    return [
        _Demand(tuple(steps[at : at + BITS]), strong=strong) for at in range(0, len(steps), BITS)
    ]


@dataclass(frozen=True, slots=True)
class _Demand:
    """Demands of some fair steps, in order: each state has a way to and from an edge that takes one
    of them, or, unless it is `strong`, a state that does not enable it. Where a state does not
    enable it, a strong demand is met.
    """

    steps: tuple[int, ...]
    strong: bool


@dataclass
class _Trimmer:
    """The remaining states, fewer after each round."""

    graph: PartedGraph
    files: str
    states: int
    fits: Callable[[int], bool]

    @property
    def is_done(self) -> bool:
        """Whether no more has to be taken away."""
        return self.states == 0 or self.fits(self.states)

    def thin(self) -> bool:
        """Take away what leads nowhere, and what nothing leads to; whether more is to be done."""
        graph = self.graph
        for along in DIRECTIONS:
            if self.is_done:
                break
            thinning = Thinning(graph.parts, graph.name("thin"), self.files, along)
            doing = "taking away states that no cycle goes through"
            files, self.states = graph.thin(thinning, doing, self.fits)
            self._replace(files)
        return not self.is_done

    def meeting(self, demands: Sequence[_Demand]) -> bool:
        """Take away what cannot meet the demands of fair steps, of some at a time; whether that was
        anything.
        """
        before, graph = self.states, self.graph
        for demand, along in product(demands, DIRECTIONS):
            if self.is_done:
                break
            begun = _Begun(self.files, demand)
            flow = Flow(graph.parts, graph.name("meet"), begun, along, labels=demand.steps)
            reached = graph.flow(flow, "taking away states in which no behaviour stays fair")
            files = graph.name("left")
            kept = graph.each(_Sift(graph.parts, self.files, reached, files, demand))
            self.states = sum(kept)
            self._replace(files)
            graph.parts.delete(reached)
        return self.states < before

    def _replace(self, files: str) -> None:
        self.graph.parts.delete(self.files)
        self.files = files


def bring(graph: PartedGraph, arrival: Arrival, fair: Collection[int], left: Left) -> list[Brought]:
    """Return all remaining states, and the first state where a behaviour stutters."""
    more = [left.stutters] if left.stutters is not None else []
    return _bring(graph, arrival, fair, left.files, more)


def bring_these(
    graph: PartedGraph, arrival: Arrival, fair: Collection[int], numbers: Places
) -> list[Brought]:
    """These states."""
    return _bring(graph, arrival, fair, None, numbers.tolist())


def _bring(
    graph: PartedGraph,
    arrival: Arrival,
    fair: Collection[int],
    files: str | None,
    numbers: Sequence[int],
) -> list[Brought]:
    places = tuple(graph.parts.place(number) for number in numbers)
    return graph.each(_Bring(graph.parts, arrival, frozenset(fair), files, places))


def _standing(part: Part, fair: Collection[int]) -> tuple[Mask, Mask]:
    """Return two sets of states without an enabled, state-changing fair step: those where no fair
    step is cut by a bound (stuttering is possible), and those where one is (undecided).
    """
    wanted = sorted(fair)
    at, others, steps = part.steps("out")
    moves = np.isin(action_of(steps), wanted) & (others != part.numbers[at])
    enabled = mask_of(at[moves], len(part))
    cut_at, cut_steps = part.cuts
    cut = mask_of(cut_at[np.isin(action_of(cut_steps), wanted)], len(part))
    return ~enabled & ~cut, ~enabled & cut


@dataclass(frozen=True, slots=True)
class _Look:
    """Task that writes the waiting states. Returns how many there are, and the first of those where
    a behaviour stutters: its distance, its faults, its words, its number.
    """

    parts: Parts
    arrival: Arrival
    fair: frozenset[int]
    faults: Faults
    files: str

    def __call__(self, owner: int) -> tuple[int, tuple[int, int, StateWords, int] | None]:
        part = Part(self.parts, owner)
        inside, far = self.arrival(part)
        self.parts.write(self.files, owner, inside.astype(np.uint64))
        stutters = inside & _standing(part, self.fair)[0]
        count = int(np.count_nonzero(inside))
        if not stutters.any():
            return count, None
        nearest = np.flatnonzero(stutters & (far == far[stutters].min()))
        rows = np.ascontiguousarray(part.rows[nearest])
        faults = self.faults(rows)
        first = int(np.lexsort((*rows.T[::-1], faults))[0])
        number = int(part.numbers[nearest[first]])
        words = state_words(rows[first])
        return count, (int(far[nearest[first]]), int(faults[first]), words, number)


@dataclass(frozen=True, slots=True)
class _Begun:
    """Bits that may travel among the remaining states, and those that begin in each of them."""

    files: str
    demand: _Demand

    def __call__(self, part: Part) -> Words64:
        left = part.parts.column(self.files, part.owner) != 0
        given: Words64 = np.zeros((len(part), 2), np.uint64)
        given[left, 0] = _all_of(self.demand)
        if not self.demand.strong:
            given[:, 1] = _not_enabled(part, self.demand)
        return given


def _all_of(demand: _Demand) -> np.uint64:
    """The bits of all its steps."""
    return np.uint64((1 << len(demand.steps)) - 1)


def _not_enabled(part: Part, demand: _Demand) -> Words64:
    """Return for each state the bits of the steps that it does not enable, cut ones included."""
    at, others, steps = part.steps("out")
    moves = others != part.numbers[at]
    enabled: Words64 = np.zeros(len(part), np.uint64)
    np.bitwise_or.at(enabled, at[moves], bits_of(demand.steps, steps[moves]))
    missing: Words64 = ~enabled & _all_of(demand)
    return missing


@dataclass(frozen=True, slots=True)
class _Sift:
    """Keeps what is left and meets the demand; how many states those are."""

    parts: Parts
    files: str
    reached: str
    kept: str
    demand: _Demand

    def __call__(self, owner: int) -> int:
        met = self.parts.column(self.reached, owner)
        if self.demand.strong:
            met = met | _not_enabled(Part(self.parts, owner), self.demand)
        left = self.parts.column(self.files, owner) != 0
        left &= met == _all_of(self.demand)
        self.parts.write(self.kept, owner, left.astype(np.uint64))
        return int(np.count_nonzero(left))


@dataclass(frozen=True, slots=True)
class _Bring:
    """Reads some states: those in `files`, if any, and those at `places`, of whichever owner."""

    parts: Parts
    arrival: Arrival
    fair: frozenset[int]
    files: str | None
    places: tuple[tuple[int, int], ...]

    def __call__(self, owner: int) -> Brought:
        part = Part(self.parts, owner)
        inside, far = self.arrival(part)
        mine = [place for whose, place in self.places if whose == owner]
        wanted = mask_of(np.array(mine, np.int64), len(part))
        if self.files is not None:
            wanted |= self.parts.column(self.files, owner) != 0
        cut_short = inside & _standing(part, self.fair)[1] & ~wanted
        places = np.flatnonzero(wanted)
        row_at = np.cumsum(wanted) - 1
        cut_at, cut_steps = part.cuts
        is_cut = wanted[cut_at]
        truths = [part.truth(number)[places] for number in range(self.parts.predicates)]
        return Brought(
            np.ascontiguousarray(part.rows[places]),
            self.parts.numbers(owner, places),
            part.depth[places],
            far[places],
            np.column_stack(truths),
            row_at[cut_at[is_cut]],
            cut_steps[is_cut],
            int(np.count_nonzero(cut_short)),
        )
