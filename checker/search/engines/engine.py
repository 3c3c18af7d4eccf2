"""Choice of an engine, its interface to the search loop, and its answers about a level.

The engines themselves are behind `checker.search.engines.engine.Engine`.

An engine owns the visited states and the frontier. The loop alternates `absorb` and `expand`; what
comes back (`checker.search.engines.engine`) are small numbers. Every engine gives the same
answers, whatever its number of workers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

from waterline.checker.problem.distribution import install_command, is_installed, require

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from waterline.checker.problem.packed_rows import Rows, StateWords
    from waterline.checker.storage.plain_files import LevelFiles


def default_engine() -> str:
    """Spark where it is installed, which is an extra, else this process."""
    return "spark" if is_installed("pyspark") else "local"


def require_spark() -> None:
    """Raises `Missing` where Spark is not installed."""
    require("pyspark", "spark", "--engine spark")


def lacks_spark() -> str:
    """How to install Spark; empty if it is installed."""
    return "" if is_installed("pyspark") else f"not installed: {install_command('spark')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """Which engine explores, and how: Spark unless it is not installed.

    `threads` 0 is one for each core. `master` None is this machine, or what spark-submit says;
    `settings` are Spark's, by name. `session` is a SparkSession or SparkContext that runs already:
    it is used, and left running, with workers that no longer look for modules in their working
    folder; those of a server of Spark Connect look where the server has them look.
    """

    name: str = field(default_factory=default_engine)
    threads: int = 0
    master: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    partitions: int | None = None
    driver_levels: int | None = None
    session: Any = None


def threads_of(asked: int) -> int:
    """How many threads there are; 0 asks for one for each core."""
    return asked or os.cpu_count() or 1


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

    def close(self) -> None:
        """Let go of everything: memory, threads, sessions, temporary files."""
