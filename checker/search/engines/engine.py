"""Interface between the search loop and an engine that holds the states.

An engine owns the visited states and the frontier. The loop alternates `absorb` and `expand`; what
comes back (`checker.search.engines.answers`) are small numbers. Every engine gives the same
answers, whatever its number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from waterline.checker.problem.packed_rows import Rows
    from waterline.checker.search.engines.answers import Arrivals, Expansion
    from waterline.checker.search.engines.over_files import FileEngine

_Found = TypeVar("_Found")


class Engine(Protocol):
    """Holds the states of one search, level by level.

    `name` is its name in reports; `can_shed` is True if states in memory could still be moved to
    files. `absorb` and `expand` raise `ModelFault` for a state that compiled code cannot evaluate,
    `Interrupted` if the level was cut short, and `EngineFailed`.
    """

    name: str

    @property
    def can_shed(self) -> bool: ...  # noqa: D102 - see above

    def absorb(self) -> Arrivals:
        """Find the next level's new states and check them; the first call: the initial states."""

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Make the successors of the last level; claims in `happened` need no more looking."""

    def over_level(self, depth: int, work: Callable[[Rows], _Found]) -> Iterator[_Found]:
        """Yield `work(part)` for each part of a level that has been absorbed, in no fixed order.

        Other processes may do the work: it must be picklable, and so must its results.
        """

    def over_files(self) -> FileEngine | None:
        """Return the engine over files of all levels absorbed; None if it cannot continue.

        States that are in memory leave it.
        """

    def close(self) -> None:
        """Let go of everything: memory, threads, sessions, temporary files."""
