"""Weak fairness: strongly connected components in which the awaited event never comes.

A fair step, an action with its arguments, must be taken again and again, or be disabled again and
again (TLA+'s WF_vars). So a behaviour stays for ever in a single state only if no fair step is
enabled there: it stutters. And it stays for ever among several states, going round, only if for
each fair step they hold an edge that takes it or a state that does not enable it.

Which states it goes round among is left open, and no set but the strongly connected components has
to be looked at. An infinite execution stays within one component in the end. Where some part of it
is fair all of it is: it holds the edges and states that made the part fair. And all of it can be
gone round again and again, so that each of them comes by. (Under strong fairness a part may be fair
though the whole is not: a step that is enabled now and then has to be taken.)

Faults, and whatever else bounds would limit, happen finitely often (`Model.finitely_often`): the
path to the component takes them, and no edge within it. A step that changes nothing is no step. One
that is enabled and that a bound cuts counts as enabled and is never taken: what it would lead to is
not known.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from checker.compiler.origins import ACTION_SHIFT, action_of
from checker.liveness.adjacency import Mask, Numbers, Places, mask_of
from checker.liveness.space import Space, actions_named
from model.core.transition_system import Model

IN_NONE = -1


class FairSteps:
    """The weakly fair steps of a space, numbered in their order.

    `of_edge` is the number of the one that an edge takes, `IN_NONE` for an edge that takes none or
    changes nothing. `of_cut` is the same of the pairs of states and cut steps.
    """

    def __init__(self, space: Space, model: Model, fair: Collection[str]) -> None:
        named = actions_named(model, fair)
        endless = ~actions_named(model, model.finitely_often)
        moves = (space.source != space.target) & endless[action_of(space.step)]
        takes = named[action_of(space.step)] & moves
        cuts = named[action_of(space.cut_step)]
        occurs: Mask = np.zeros(len(model.actions) << ACTION_SHIFT, np.bool_)
        occurs[space.step[takes]] = occurs[space.cut_step[cuts]] = True
        self.space = space
        self.count = int(np.count_nonzero(occurs))
        """How many there are."""
        # There are millions of edges: to look a step up in a table is faster than to search it.
        self._numbers: Numbers = (np.cumsum(occurs) - 1).astype(np.int32)
        self.moves: Mask = moves
        """Which edges lead to another state, and can be taken for ever."""
        self.of_edge = self._numbered(space.step, takes)
        self.of_cut = self._numbered(space.cut_step, cuts)
        self.enabled = mask_of(space.source[takes], len(space))
        """Which states enable a fair step, within the bounds."""
        self.cut = mask_of(space.cut_state[cuts], len(space))
        """Which states enable a fair step that a bound cuts."""

    def _numbered(self, steps: Numbers, fair: Mask) -> Numbers:
        found: Numbers = np.full(len(steps), IN_NONE, np.int32)
        found[fair] = self._numbers[steps[fair]]
        return found

    def enabled_in(self, state: int) -> set[int]:
        """The numbers of the fair steps that a state enables, those that are cut included."""
        one: Numbers = np.array([state], np.int32)
        taken = self.of_edge[self.space.forwards.edges_of(one)]
        cut = self.of_cut[self.space.cuts.edges_of(one)]
        return {*taken.tolist(), *cut.tolist()} - {IN_NONE}


@dataclass(frozen=True, slots=True)
class Staying:
    """In which states, of some, a behaviour can stay for ever.

    `stutters`: in each of these by itself. `component` is the number of the one that a state
    belongs to if a behaviour can go round in it for ever, else `IN_NONE`. `unjudged` is how many
    more states there would be, did no bound cut a fair step.
    """

    stutters: Mask
    component: Numbers
    unjudged: int

    @property
    def anywhere(self) -> Mask:
        """In which states it can, one way or the other."""
        goes_round: Mask = self.component != IN_NONE
        return self.stutters | goes_round


def staying(space: Space, fair: FairSteps, inside: Mask) -> Staying:
    """Where a fair behaviour can stay for ever that never leaves the states inside."""
    stutters = inside & ~fair.enabled & ~fair.cut
    cut_short = inside & ~fair.enabled & fair.cut
    component, only_cut = _fair_components(space, fair, inside)
    unjudged = (cut_short | only_cut) & ~stutters & (component == IN_NONE)
    return Staying(stutters, component, int(np.count_nonzero(unjudged)))


def _fair_components(space: Space, fair: FairSteps, inside: Mask) -> tuple[Numbers, Mask]:
    """The fair component of each state, and the states whose component only a cut makes unfair."""
    edges = np.flatnonzero(inside[space.source] & inside[space.target] & fair.moves)
    label = _components(space, edges)
    sizes = np.bincount(label)
    # A component of several states has an edge out of each. Of one state it has none: an edge that
    # leads back there changes nothing.
    kept = sizes > 1
    within = edges[label[space.source[edges]] == label[space.target[edges]]]
    taken = _pairs(label[space.source[within]], fair.of_edge[within], fair)
    of_inside = np.flatnonzero(kept[label[space.source]] & (fair.of_edge != IN_NONE))
    enabled = _pairs(label[space.source[of_inside]], fair.of_edge[of_inside], fair)
    cut = _pairs(label[space.cut_state], fair.of_cut, fair)
    unfair = _always_enabled(np.concatenate((enabled, cut)), taken, sizes, fair)
    surely_unfair = _always_enabled(enabled, taken, sizes, fair)
    is_fair, is_cut = kept.copy(), kept.copy()
    is_fair[unfair] = False
    is_cut[surely_unfair] = False
    found: Numbers = np.where(is_fair[label], label, IN_NONE).astype(np.int32)
    only_cut: Mask = (is_cut & ~is_fair)[label]
    return found, only_cut


def _components(space: Space, edges: Places) -> Numbers:
    """The strongly connected component of each state, by these edges."""
    # Few runs ask for it, and it takes as long to import as all the rest.
    from scipy.sparse import csr_array  # noqa: PLC0415
    from scipy.sparse.csgraph import connected_components  # noqa: PLC0415

    states = len(space)
    counts = np.bincount(space.source[edges], minlength=states)
    # Edges are in the order of their sources.
    first: Numbers = np.concatenate(([0], np.cumsum(counts))).astype(np.int32)
    ones: NDArray[np.int8] = np.ones(len(edges), np.int8)
    graph = csr_array((ones, space.target[edges], first), shape=(states, states))
    _, label = connected_components(graph, directed=True, connection="strong")
    found: Numbers = label
    return found


def _pairs(components: Numbers, steps: Numbers, fair: FairSteps) -> Places:
    """Each component with a fair step, as one number, where there is such a step."""
    some = steps != IN_NONE
    pairs: Places = components[some].astype(np.int64) * fair.count + steps[some]
    return pairs


def _always_enabled(
    enabled: Places, taken: Places, sizes: NDArray[np.int64], fair: FairSteps
) -> Places:
    """The components in all of whose states a fair step is enabled that none of their edges takes.

    A state enables a step once at the most: it is cut, or it has the one edge that it has.
    """
    pairs, states = np.unique(enabled, return_counts=True)
    always = pairs[states == sizes[pairs // max(1, fair.count)]]
    if not len(always):
        return np.empty(0, np.int64)
    # Few are left, and many are taken: each of those is looked for among these.
    places = np.minimum(np.searchsorted(always, taken), len(always) - 1)
    met = mask_of(places[always[places] == taken], len(always))
    found: Places = always[~met] // fair.count
    return found
