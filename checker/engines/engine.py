"""The seam between the search loop and the machinery that holds its states.

An engine owns the visited states and the frontier. The loop alternates `absorb` and `expand`; what
comes back are small numbers. Every engine gives the same answers, whatever its number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from checker.engines.over_files import FileEngine
    from checker.rows import Rows
    from checker.store.level_files import LevelFiles

Words = tuple[int, ...]
Counts: TypeAlias = "NDArray[np.int64]"
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What a level consists of: `new` states never seen before, `broken` the least violating one of
    each invariant (by its number) that some of them violate. `on` names who explored the level.
    `files` hold it, where it has been written.
    """

    depth: int
    new: int
    broken: dict[int, Words] = field(default_factory=dict)
    on: str = "local"
    files: LevelFiles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Expansion:
    """What leads out of a level: transitions by action, transitions that each bound cut, by action
    and bound, claims that happened (by number), the least state without any transition. `broken` is
    the least state for each property (by its number) that some step out of it breaks.
    """

    fired: Counts
    cut: Counts
    happened: NDArray[np.bool_]
    deadlock: Words | None = None
    broken: dict[int, Words] = field(default_factory=dict)


class Engine(Protocol):
    """Holds the states of one search, level by level.

    `can_shed` is whether states in memory could still be moved to files.
    """

    name: str

    @property
    def can_shed(self) -> bool: ...  # noqa: D102 - see above

    def absorb(self) -> Arrivals:
        """Find the next level's new states and check them; the first call: the initial states."""

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Make the successors of the last level; claims in `happened` need no more looking."""

    def over_level(self, depth: int, work: Callable[[Rows], _Found]) -> Iterator[_Found]:
        """What `work` finds in each part of a level that has been absorbed, in no fixed order.

        Other processes may do the work: it must be picklable, and so must be what it finds.
        """

    def over_files(self) -> FileEngine | None:
        """What goes on over files of all levels that have been absorbed; None if nothing can.

        States that are in memory leave it.
        """

    def close(self) -> None:
        """Let go of everything: memory, threads, sessions, temporary files."""


class ModelFault(Exception):
    """Compiled code stepped outside a range in the state `words`, the least such of a level."""

    def __init__(self, words: Words) -> None:
        super().__init__(f"an access out of range in state {words}")
        self.words = words


class EngineFailed(Exception):
    """What an engine runs on broke down: no verdict of the model, and nothing may be concluded."""


class Interrupted(Exception):
    """A level was cut short, by a deadline or by the user; it does not count."""
