"""Ways back of recovery claims, and lassos: a shortest path to a fair cycle, and the cycle.

The prefix is a shortest path to the nearest state that begins an infinite fair execution without
the awaited event. Ties are broken by the fewest faults, then by stuttering, then by the least
state. The cycle is short, but not proved to be shortest: it repeatedly goes to the nearest edge or
state that meets an open demand of fairness, and in the end back; if the way back enables a strongly
fair step that was not taken, it goes on. Of several ways, the one with the least states and steps
is taken, so that all engines find the same.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

import numpy as np

from waterline.checker.compiler.origins import action_of
from waterline.checker.graph.adjacency import (
    NOT_REACHED,
    Adjacency,
    Mask,
    Numbers,
    Places,
    distances,
    mask_of,
)
from waterline.checker.liveness.fairness import FairSteps, Staying
from waterline.checker.liveness.space import Space, actions_named
from waterline.model.core.claim import Pattern
from waterline.model.core.transition_system import Model


@dataclass(frozen=True, slots=True)
class Recovery:
    """Outcome of one claim.

    `stuck` are the states without a way back that the claim covers, in order. `unjudged` is how
    many more there would be if no bound cut a step on the way.
    """

    stuck: Numbers
    unjudged: int


class Ways:
    """Steps that may lead back: those of actions with these names."""

    def __init__(self, space: Space, model: Model, by: Collection[str]) -> None:
        named = actions_named(model, by)
        self.space = space
        self.taken: Mask = named[action_of(space.step)]
        self.cut = mask_of(space.cut_state[named[action_of(space.cut_step)]], len(space))
        """Where one of them is enabled, and a bound cuts it: what is beyond may be good."""

    def recovery(self, good: Mask, when: Mask) -> Recovery:
        """Find the states without a way to a good one."""
        back = Adjacency(self._target, self._source, len(self.space))
        certain = back.reach(good)
        back_or_cut = back.reach(certain | self.cut)
        stuck: Numbers = np.flatnonzero(when & ~back_or_cut).astype(np.int32)
        return Recovery(stuck, int(np.count_nonzero(when & back_or_cut & ~certain)))

    def trapped_states(self, state: int) -> Mask:
        """All states that can be reached from one by these steps; itself is one of them."""
        begun = mask_of(np.array([state]), len(self.space))
        return Adjacency(self._source, self._target, len(self.space)).reach(begun)

    def enabled_in(self, states: Mask) -> set[int]:
        """The numbers of those of the actions that some of these states enable."""
        among = self.taken & states[self.space.source]
        return set(np.unique(action_of(self.space.step[among])).tolist())

    @property
    def _source(self) -> Numbers:
        return self.space.source[self.taken]

    @property
    def _target(self) -> Numbers:
        return self.space.target[self.taken]


@dataclass(frozen=True, slots=True)
class Lasso:
    """The state where the waiting begins, the edges on from there, and those that then repeat.

    Any shortest way to the first state will do: its length is the state's depth. Without repeated
    edges the behaviour stays forever in the state that the others lead to.
    """

    begins: int
    way: tuple[int, ...]
    cycle: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """States where a claimed event has not come yet.

    `since` are the states where the waiting begins, by their depth: the first of them begin in
    initial states. `arrived` is the number of steps to a state by way of them and of states without
    the event, `NOT_REACHED` for the others.
    """

    since: Mask
    arrived: Numbers

    @property
    def inside(self) -> Mask:
        """All waiting states."""
        reached: Mask = self.arrived != NOT_REACHED
        return reached


def waiting(space: Space, pattern: Pattern, when: Mask, then: Mask) -> Waiting:
    """Where a claim of this pattern waits for `then`.

    `[]<>q` is `true ~> q`: from every state on q is to come.
    """
    since = ~then
    if pattern is Pattern.EVENTUALLY:
        since &= space.depth == 0
    elif pattern is Pattern.LEADS_TO:
        since &= when
    states: Numbers = np.flatnonzero(since).astype(np.int32)
    depth = space.depth[states]
    begun = [states[depth == d] for d in range(int(depth.max(initial=-1)) + 1)]
    return Waiting(since, distances(space.forwards, begun, ~then))


def lasso_in(
    space: Space,
    fair: FairSteps,
    waits: Waiting,
    stays: Staying,
    faults: Callable[[Numbers], Numbers],
) -> Lasso | None:
    """The lasso of these states, None where no behaviour can stay anywhere.

    `faults` returns the number of faults before each of some states.
    """
    end = end_of(waits.arrived, stays, faults)
    return lasso_to(end, space, fair, waits.arrived, stays) if end is not None else None


def end_of(arrived: Numbers, stays: Staying, faults: Callable[[Numbers], Numbers]) -> int | None:
    """The state that the way leads to, None where no behaviour can stay anywhere.

    `arrived` is as in `Waiting`.
    """
    ends: Numbers = np.flatnonzero(stays.anywhere).astype(np.int32)
    if not len(ends):
        return None
    ends = ends[arrived[ends] == arrived[ends].min()]
    order = np.lexsort((ends, ~stays.stutters[ends], faults(ends)))
    return int(ends[order[0]])


def lasso_to(end: int, space: Space, fair: FairSteps, arrived: Numbers, stays: Staying) -> Lasso:
    """Return the way to a state where a behaviour can stay, and the cycle."""
    begins, way = _way(space, arrived, end)
    if stays.stutters[end]:
        return Lasso(begins, way, ())
    return Lasso(begins, way, _Round(space, fair, stays.part, end).edges())


def _way(space: Space, arrived: Numbers, end: int) -> tuple[int, tuple[int, ...]]:
    """A shortest way to a state from where the waiting begins, back by the least states.

    It is waited for as long as can be: only where no state before waits has it just begun.
    """
    edges: list[int] = []
    at, steps = end, int(arrived[end])
    while True:
        into = space.backwards.edges_of(np.array([at], np.int32))
        into = into[arrived[space.source[into]] == steps - 1] if steps else into[:0]
        if not len(into):
            return at, tuple(reversed(edges))
        edges.append(int(into.min()))
        at, steps = int(space.source[edges[-1]]), steps - 1


class _Round:
    """A way round through a fair part, from a state of it and back."""

    def __init__(self, space: Space, fair: FairSteps, part: Numbers, start: int) -> None:
        self._space, self._fair, self._start = space, fair, start
        self._within: Mask = part == part[start]
        self._strong = {*np.flatnonzero(fair.is_strong).tolist()}
        self._taken = set[int]()
        self._unmet = fair.enabled_in(start)
        """The steps still to be taken, or, if weakly fair, not to be enabled somewhere."""

    def edges(self) -> tuple[int, ...]:
        """The edges, in order."""
        at, found = self._start, list[int]()
        while self._unmet or at != self._start or not found:
            wanted = self._meets() if self._unmet else self._returns
            for edge in self._nearest(at, wanted):
                at = self._follow(edge)
                found.append(edge)
        return tuple(found)

    def _follow(self, edge: int) -> int:
        """Where an edge leads; notes what that meets, and what has to be met from then on."""
        target = int(self._space.target[edge])
        enabled = self._fair.enabled_in(target)
        self._taken.add(int(self._fair.of_edge[edge]))
        self._unmet &= enabled | self._strong
        self._unmet |= enabled & self._strong
        self._unmet -= self._taken
        return target

    def _returns(self, edges: Places) -> Mask:
        """Mark the edges that lead back to the start."""
        back: Mask = self._space.target[edges] == self._start
        return back

    def _meets(self) -> Callable[[Places], Mask]:
        """Mark edges that take an unmet step, or lead where a weakly fair one is not enabled."""
        fair, wanted = self._fair, np.array(sorted(self._unmet))
        weak = self._unmet - self._strong

        def meets(edges: Places) -> Mask:
            goals, which = np.unique(self._space.target[edges], return_inverse=True)
            lacking = [bool(weak - fair.enabled_in(goal)) for goal in goals.tolist()]
            hits: Mask = np.isin(fair.of_edge[edges], wanted) | np.array(lacking, np.bool_)[which]
            return hits

        return meets

    def _nearest(self, begun: int, wanted: Callable[[Places], Mask]) -> list[int]:
        """The edges of a shortest way from a state that ends with one that is wanted."""
        space = self._space
        came_by: dict[int, int] = {}
        frontier: Numbers = np.array([begun], np.int32)
        seen = ~self._within
        seen[begun] = True
        while len(frontier):
            edges = space.forwards.edges_of(frontier)
            edges = np.sort(edges[self._within[space.target[edges]] & self._fair.moves[edges]])
            hits = edges[wanted(edges)]
            if len(hits):
                return self._way(begun, int(hits[0]), came_by)
            goals, first = np.unique(space.target[edges], return_index=True)
            fresh = ~seen[goals]
            frontier = goals[fresh]
            came_by.update(zip(frontier.tolist(), edges[first[fresh]].tolist(), strict=True))
            seen[frontier] = True
        raise AssertionError("a fair part is strongly connected and meets every demand")

    def _way(self, begun: int, last: int, came_by: dict[int, int]) -> list[int]:
        edges = [last]
        while (at := int(self._space.source[edges[-1]])) != begun:
            edges.append(came_by[at])
        return edges[::-1]
