"""Recovery (CTL's AG EF): backward reachability over the explored graph."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from waterline.checker.compiler.origins import action_of
from waterline.checker.graph.adjacency import Adjacency, Mask, Numbers, mask_of
from waterline.checker.liveness.space import Space, actions_named
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
