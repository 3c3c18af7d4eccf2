"""Answers of an engine about a level: arrivals, successors, errors.

The engines themselves are behind `checker.search.engines.engine.Engine`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from waterline.checker.problem.packed_rows import StateWords
    from waterline.checker.storage.level_files import LevelFiles

Counts: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """A level: `new` states never seen before, `broken` the least violating one of each invariant
    (by its number) that some of them violate. `on` names the engine that explored the level.
    `files` hold it, if it has been written.
    """

    depth: int
    new: int
    broken: dict[int, StateWords] = field(default_factory=dict)
    on: str = "local"
    files: LevelFiles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """Steps out of a level: transitions by action, transitions that each bound cut, by action and
    bound, claims that happened (by number), the least state without any transition. `broken` is the
    least state for each property (by its number) that some step out of it breaks.
    """

    fired: Counts
    cut: Counts
    happened: NDArray[np.bool_]
    deadlock: StateWords | None = None
    broken: dict[int, StateWords] = field(default_factory=dict)


FAULTS_MAX = 200
"""How many faulting states of a level are kept: the least ones, of more."""


class ModelFault(Exception):
    """Compiled code stepped outside a range in the state `words`, the least such of a level.

    `states` are those of the level, in order, where they are known.
    """

    def __init__(self, words: StateWords, states: Sequence[StateWords] = ()) -> None:
        super().__init__(f"an access out of range in state {words}")
        self.words = words
        self.states = tuple(states) or (words,)

    @classmethod
    def among(cls, faults: Iterable[StateWords]) -> ModelFault:
        """Return the fault of a level where these states fault."""
        states = sorted(faults)[:FAULTS_MAX]
        return cls(states[0], states)


class EngineFailed(Exception):
    """Breakdown of an engine's platform: no verdict, and nothing may be concluded."""


class Interrupted(Exception):
    """A level was cut short, by a deadline or by the user; it does not count."""
