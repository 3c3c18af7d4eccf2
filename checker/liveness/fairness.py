"""Fairness: strongly connected parts of a graph where the awaited event never comes.

The loop is compiled; there arrays hold no negative numbers. One search, depth first: edge by edge,
without recursion. A state's label is at first when it was met, lowered to the least label that can
be reached from it among states that are in no component yet; once it is in one, the component's
number, which is greater than all these (Pearce 2016, "A space-efficient algorithm for finding
strongly connected components").

A weakly fair step, an action with its arguments, must be taken infinitely often, or be disabled
infinitely often (TLA+'s WF_vars). A strongly fair one must be taken infinitely often, or be
disabled from some moment on (SF_vars). So a behaviour stays forever in a single state only if no
fair step is enabled there: it stutters. And it stays forever among several states, going round,
only if they hold for each weakly fair step an edge that takes it or a state that does not enable
it, and for each strongly fair step that one of them enables an edge that takes it.

An infinite execution may choose its states, but in the end it stays within one strongly connected
component. A component meets a demand of weak fairness if some part of it does: it holds the edges
and states of the part. So one that does not is given up with all its parts. Strong fairness is
different: a part may avoid the states that enable a step. Where no edge of a component takes a
strongly fair step, no fair part of it has a state that enables the step. These states are removed,
and the components of the rest are examined in the same way, until nothing has to be removed: the
states of a Streett automaton's accepting runs (Emerson and Lei 1987). Each state of a fair part is
found, and a behaviour can visit all states of a part infinitely often.

Faults, and all else that bounds would limit, happen finitely often (`Model.finitely_often`): the
path to the part takes them, but no edge within it. A step that changes nothing does not count. A
step that is enabled and cut by a bound counts as enabled and is never taken: its target is unknown.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import ACTION_SHIFT, action_of
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue
from waterline.checker.graph.adjacency import Mask, Numbers, Places, mask_of
from waterline.checker.liveness.space import Space, actions_named
from waterline.checker.problem.packed_rows import address
from waterline.checker.storage.blocks import NUMBER, NUMBERS
from waterline.model.core.claim import fair_actions, strongly_fair_actions
from waterline.model.core.transition_system import Model


def label_states(
    first: Any, target: Any, states: int, label: Any, looked_at: Any, stack: Any, alone: Any
) -> int:
    """label[i], 0 before, becomes `states` less the number of the component of i.

    Returns how many components there are. The others are room for a number of each state, or a
    byte. `looked_at`: how many of its edges were followed. `stack`: the path at its start, at its
    end the states that were left and are in no component yet. `alone`: whether it reaches no state
    that was met before it and is in none.
    """
    found = 0
    waiting = states
    for start in range(states):
        if label[start] != 0:
            continue
        # All that was met before is in components.
        label[start] = 1
        looked_at[start] = 0
        alone[start] = 1
        stack[0] = start
        path = 1
        met = 2
        while path != 0:
            state = stack[path - 1]
            at = first[state] + looked_at[state]
            end = first[state + 1]
            least = label[state]
            other = 0
            while at < end:
                other = target[at]
                if label[other] == 0:
                    break
                least = min(least, label[other])
                at += 1
            if least != label[state]:
                label[state] = least
                alone[state] = 0
            if at < end:
                # The edge is looked at again once all that can be reached from there is labelled.
                looked_at[state] = at - first[state]
                label[other] = met
                looked_at[other] = 0
                alone[other] = 1
                stack[path] = other
                path += 1
                met += 1
                continue
            path -= 1
            if alone[state] == 0:
                waiting -= 1
                stack[waiting] = state
                continue
            number = states - found
            while waiting < states and label[stack[waiting]] >= least:
                label[stack[waiting]] = number
                waiting += 1
                met -= 1
            label[state] = number
            met -= 1
            found += 1
    return found


@functools.cache
def recipe() -> Recipe:
    """The loop as a program."""
    numbers, flags = ArrayValue("%", "i32"), ArrayValue("%", "i8")
    given = (NUMBERS, numbers, NUMBER, numbers, numbers, numbers, flags)
    return own_recipe((label_states, given))


def components(first: Places, target: Numbers) -> Numbers:
    """The number of each state's strongly connected component, from 0 on without a gap.

    The edges of state i lead to target[first[i]:first[i + 1]].
    """
    states = len(first) - 1
    label: Numbers = np.zeros(states, np.int32)
    looked_at: Numbers = np.empty(states, np.int32)
    stack: Numbers = np.empty(states, np.int32)
    alone: NDArray[np.bool_] = np.empty(states, np.bool_)
    load_program(recipe())["label_states"](
        address(first),
        address(target),
        states,
        address(label),
        address(looked_at),
        address(stack),
        address(alone),
    )
    number: Numbers = states - label
    return number


IN_NONE = -1


class FairSteps:
    """The fair steps of a space, numbered in their order.

    `of_edge` is the number of the one that an edge takes, `IN_NONE` for an edge that takes none or
    changes nothing. `of_cut` is the same of the pairs of states and cut steps.
    """

    def __init__(self, space: Space, model: Model) -> None:
        named = actions_named(model, fair_actions(model.enabled_actions))
        strong = actions_named(model, strongly_fair_actions(model.enabled_actions))
        endless = ~actions_named(model, model.finitely_often)
        moves = (space.source != space.target) & endless[action_of(space.step)]
        takes = named[action_of(space.step)] & moves
        cuts = named[action_of(space.cut_step)]
        occurs: Mask = np.zeros(len(model.actions) << ACTION_SHIFT, np.bool_)
        occurs[space.step[takes]] = occurs[space.cut_step[cuts]] = True
        self.space = space
        self.count = int(np.count_nonzero(occurs))
        """How many there are."""
        steps: Numbers = np.flatnonzero(occurs).astype(np.int32)
        self.is_strong: Mask = strong[action_of(steps)]
        """The strongly fair ones among them."""
        # There are millions of edges: to look a step up in a table is faster than to search it.
        self._numbers: Numbers = (np.cumsum(occurs) - 1).astype(np.int32)
        self.moves: Mask = moves
        """Edges that lead to another state, and can be taken forever."""
        self.of_edge = self._number(space.step, takes)
        self.of_cut = self._number(space.cut_step, cuts)
        self.enabled = mask_of(space.source[takes], len(space))
        """States that enable a fair step, within the bounds."""
        self.cut = mask_of(space.cut_state[cuts], len(space))
        """States that enable a fair step that a bound cuts."""

    def _number(self, steps: Numbers, fair: Mask) -> Numbers:
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
    """States, among some, where a behaviour can stay forever.

    `stutters`: in each of these by itself. `part` is the number of the strongly connected part of a
    state if a behaviour can go round in it forever, else `IN_NONE`. `unjudged` is how many more
    states there would be if no bound cut a fair step.
    """

    stutters: Mask
    part: Numbers
    unjudged: int

    @property
    def anywhere(self) -> Mask:
        """The states where it can stay, one way or the other."""
        goes_round: Mask = self.part != IN_NONE
        return self.stutters | goes_round


def staying(space: Space, fair: FairSteps, inside: Mask) -> Staying:
    """Find where a fair behaviour can stay forever without leaving the states `inside`."""
    stutters = inside & ~fair.enabled & ~fair.cut
    cut_short = inside & ~fair.enabled & fair.cut
    whole = _Components(space, fair, inside)
    part = _fair_parts(whole, cut_counts=True)
    only_cut: Mask = np.zeros(len(space), np.bool_)
    if (inside & fair.cut).any():
        only_cut = _fair_parts(whole, cut_counts=False) != IN_NONE
    unjudged = (cut_short | only_cut) & ~stutters & (part == IN_NONE)
    return Staying(stutters, part, int(np.count_nonzero(unjudged)))


def _fair_parts(whole: _Components, *, cut_counts: bool) -> Numbers:
    """The fair part of each state, `IN_NONE` where it is in none, by a number of one of its states.

    `cut_counts`: whether a step that is cut counts as enabled.
    """
    part: Numbers = np.full(len(whole.label), IN_NONE, np.int32)
    components = whole
    while True:
        candidate, neglects = components.judge(cut_counts=cut_counts)
        again = mask_of(components.label[neglects & candidate], len(components.least))
        fair = candidate & ~again[components.label]
        part[fair] = components.least[components.label[fair]]
        inside = candidate & again[components.label] & ~neglects
        if not inside.any():
            return part
        components = _Components(components.space, components.fair, inside)


class _Components:
    """The strongly connected components of several states, with the fair steps within them."""

    def __init__(self, space: Space, fair: FairSteps, inside: Mask) -> None:
        self.space, self.fair = space, fair
        edges = np.flatnonzero(inside[space.source] & inside[space.target] & fair.moves)
        self.label = _components(space, edges)
        """The component of each state."""
        self._sizes = np.bincount(self.label)
        self.least: Numbers = np.empty(len(self._sizes), np.int32)
        # Of several numbers that are written to one place the last stays.
        self.least[self.label[::-1]] = np.arange(len(self.label), dtype=np.int32)[::-1]
        """The first state of each component."""
        # A component of several states has an edge out of each. Of one state it has none: an edge
        # that leads back there changes nothing.
        self._kept: Mask = self._sizes > 1
        label = self.label
        within = edges[label[space.source[edges]] == label[space.target[edges]]]
        self._taken = _pairs(label[space.source[within]], fair.of_edge[within], fair)

    def judge(self, *, cut_counts: bool) -> tuple[Mask, Mask]:
        """The states of components that meet what weak fairness demands, and those that enable a
        strongly fair step which no edge of their component takes.
        """
        space, fair, label = self.space, self.fair, self.label
        places = np.flatnonzero(self._kept[label[space.source]] & (fair.of_edge != IN_NONE))
        states, steps = space.source[places], fair.of_edge[places]
        if cut_counts:
            some = fair.of_cut != IN_NONE
            states = np.concatenate((states, space.cut_state[some]))
            steps = np.concatenate((steps, fair.of_cut[some]))
        enabled = _pairs(label[states], steps, fair)
        is_fair = self._kept.copy()
        is_fair[_always_enabled(enabled, self._taken, self._sizes, fair)] = False
        neglects: Mask = np.zeros(len(label), np.bool_)
        if fair.is_strong.any():
            strong = fair.is_strong[steps]
            missing = ~np.isin(enabled[strong], self._taken)
            neglects[states[strong][missing]] = True
        return is_fair[label], neglects


def _components(space: Space, edges: Places) -> Numbers:
    """The strongly connected component of each state, by these edges."""
    counts = np.bincount(space.source[edges], minlength=len(space))
    # Edges are in the order of their sources.
    first: Places = np.concatenate(([0], np.cumsum(counts)))
    return components(first, space.target[edges])


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
