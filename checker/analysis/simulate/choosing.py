"""Choice of the next step of a random walk, and the settings of a simulation."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from waterline.checker.analysis.simulate import walk_loops as loops

DEPTH = 100
"""How many steps a walk has at most, by default."""


class Choosing(enum.Enum):
    """Way to choose steps at random, by its name as an option."""

    MIXED = "mixed"
    """Each of the other four in turn, from walk to walk."""
    STEPS = "steps"
    """Any step that is enabled, each as often as another."""
    ACTIONS = "actions"
    """An action with an enabled step, and then one of its steps."""
    PACES = "paces"
    """Like `ACTIONS`; in each walk every action has a pace of its own, for the whole walk."""
    RARE = "rare"
    """Like `PACES`, and steps from outside, such as faults, are rarer than the protocol's own."""

    @property
    def number(self) -> int:
        """Number of this way in compiled code."""
        return _NUMBERS[self]


_NUMBERS = {
    Choosing.STEPS: loops.STEPS,
    Choosing.ACTIONS: loops.ACTIONS_FIRST,
    Choosing.PACES: loops.PACES,
    Choosing.RARE: loops.RARE,
    Choosing.MIXED: loops.MIXED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How walks are made: `seed` and a walk's number are all that its chance goes by.

    A walk has at most `depth` steps. `outside` names the actions that are done to the protocol
    (`checker.problem.words.Words`): a problem that was sent elsewhere may know them no more.
    """

    seed: int = 0
    depth: int = DEPTH
    choosing: Choosing = Choosing.MIXED
    outside: frozenset[str] = frozenset()
