"""Engine on Spark, and the exchange of states between its tasks.

If a run is kept in a folder that all machines see, candidates are files there too, and Spark passes
on their places: to copy them from a worker to its JVM, from there to files, and back takes longer
than to explore. An object store does not suit so many small blocks: then they pass through Spark's
shuffle.

Only candidates pass from one level's tasks to the next (`checker.search.engines.spark`).
"""

from __future__ import annotations

import functools
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Protocol

from waterline.checker.compiler.predicate_loop import rules_of
from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.growth import SHORT, remaining
from waterline.checker.search.engines.over_files import GROWTH_TAKEN
from waterline.checker.search.engines.processes import memory_a_core
from waterline.checker.search.engines.shipped_call import itself, values
from waterline.checker.search.engines.shipping import FileTask, Outgoing, Segment, ShuffleTask
from waterline.checker.search.engines.spark_side import SparkSide
from waterline.checker.search.engines.task import LevelPlan, Report, load
from waterline.checker.search.engines.workers import GROWTH_EXPECTED, SENT_ROWS_MAX, WorkersLost
from waterline.checker.storage import disk_calls, programs
from waterline.checker.storage.entry_layout import widths_of
from waterline.checker.storage.storage import LocalStorage, Storage

RENEW_LEVELS = 24
"""After so many levels candidates are made anew, and Spark can forget all that it kept."""


_NEEDS_FOLDER = "--run-dir must be a folder there that all machines see"


class Exchange(Protocol):
    """Store of candidates until the next level's tasks read them.

    `rows_held` is how many states the tasks of the widest level to come hold, for each state of the
    level that is handed over.
    """

    rows_held: int

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Candidates of the driver, by owner."""

    def explore(self, plan: LevelPlan, late: Callable[[], bool]) -> list[Report]:
        """Run a task for every owner. Raises `WorkersLost`, and `Interrupted` once it is `late`."""

    def must_renew(self) -> bool:
        """True if candidates should be made anew from the files at this level."""

    def close(self) -> None:
        """Remove what is kept."""


class ShuffleExchange:
    """Spark's shuffle: a partition for each owner and one for reports.

    Spark keeps what a level's tasks pass on until the next level has read it; should an executor be
    lost with what it kept, candidates are made anew from the level's files, so nothing older is
    ever needed.
    """

    rows_held = 2 * GROWTH_EXPECTED

    def __init__(self, spark: SparkSide) -> None:
        self._spark = spark
        self._classic = spark.classic(_NEEDS_FOLDER)
        self._candidates: Any = None
        self._kept_levels = 0

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """An RDD with the driver's candidates."""
        slices: list[list[tuple[int, tuple[int, bytes]]]] = [[] for _ in range(owners + 1)]
        for owner, block in blocks:
            slices[owner].append((owner, (0, block)))

        def candidates() -> Any:
            return self._classic.context.parallelize(slices, owners + 1).flatMap(itself)

        self._candidates = self._spark.run("at the first level", candidates)
        self._kept_levels = 0

    def explore(self, plan: LevelPlan, late: Callable[[], bool]) -> list[Report]:
        """Run one job: a stage of a task for each owner, and a small task that gathers reports."""
        owners = len(plan.owners)
        if not plan.absorbs:
            self.send([], owners)
        task = self._classic.ship(ShuffleTask(plan))

        def level() -> tuple[Any, list[Report]]:
            explored = self._candidates.mapPartitionsWithIndex(task, preservesPartitioning=False)
            sent = explored.partitionBy(owners + 1, itself)
            return sent, self._classic.context.runJob(sent, values, [owners])

        reports: list[Report]
        self._candidates, reports = self._spark.run(f"at level {plan.depth}", level, until=late)
        self._kept_levels += 1
        return reports

    def must_renew(self) -> bool:
        """Now and then, so that Spark's record of how candidates came to be does not grow."""
        return self._kept_levels >= RENEW_LEVELS

    def close(self) -> None:
        """Spark forgets them with its context."""
        self._candidates = None


class FileExchange:
    """Files in a folder that all tasks see; each level has a folder of its own.

    The loss of an executor loses none of them. A task holds a part of them, and its new states.
    """

    rows_held = 2 * GROWTH_TAKEN

    def __init__(self, spark: SparkSide, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._level: Path | None = None
        self._sent: list[list[Segment | None]] = []
        """The indices of each owner in the files of `_level`."""

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """A file with the driver's candidates."""
        level = self._new_level()
        with closing(Outgoing(level, owners)) as outgoing:
            for owner, block in blocks:
                outgoing.add(owner, 0, block)
            self._keep(level, [outgoing.write_indices()])

    def explore(self, plan: LevelPlan, late: Callable[[], bool]) -> list[Report]:
        """Run one job of one stage: a task for each owner returns its report and indices."""
        owners = range(len(plan.owners))
        sent = self._sent if plan.absorbs else [[] for _ in owners]
        level = self._new_level()
        task = FileTask(plan, self._level or level, sent, level)
        when = f"at level {plan.depth}"
        try:
            found = self._spark.collect(when, owners, len(owners), task, until=late)
        except BaseException:
            disk_calls.remove_folder(level)
            raise
        if sorted(report.owner for report, _ in found) != list(owners):
            disk_calls.remove_folder(level)
            raise WorkersLost("two tasks have explored one owner's share")
        self._keep(level, [indices for _, indices in found])
        return [report for report, _ in found]

    def must_renew(self) -> bool:
        """Candidates are as safe as the files of levels."""
        return False

    def close(self) -> None:
        """Remove the folder."""
        disk_calls.remove_folder(self._folder)

    def _new_level(self) -> Path:
        # A level can be explored again: no two have a folder in common.
        return self._folder / secrets.token_hex(8)

    def _keep(self, level: Path, indices: list[list[Segment | None]]) -> None:
        """Keep the files with these indices for the next level, and remove those before."""
        if self._level is not None:
            disk_calls.remove_folder(self._level)
        self._level, self._sent = level, [list(of_owner) for of_owner in zip(*indices, strict=True)]


BOOT_FRONTIER = 500_000
"""Size of the frontier that starts the session."""
BOOT_TO_COME = 100_000_000
"""States to come, by the growth of levels, that start a session on this machine. There it takes
cores from the driver, which may end sooner than Spark is up: of 40 million states it did.
"""
HAND_OVER_FRONTIER = 50_000
"""Size of the frontier that the driver hands over to Spark, unless a number of levels is given."""
OWNERS_A_CORE = 1
TABLE_BITS_A_BYTE = 5
"""A table takes a byte a state for so many bits of it: 15 of 73, measured 14."""
CLUSTER_MEMORY_A_CORE = 2 << 30
"""Memory for Python assumed for each core of a cluster; `--partitions` overrides the estimate."""


def owners_for(rows: int, *, words: int, cores: int, memory_a_core: int) -> int:
    """How many owners there should be where tasks hold so many states together.

    One for each core, so that what a worker remembers of the states that it has sent stays valid
    (`checker.search.engines.task`), and so that it can keep a table; and so many that what a task
    holds takes no more than half of a core's memory.
    """
    return max(2, OWNERS_A_CORE * cores, -(-rows * 8 * words // (memory_a_core // 2)))


class SparkWorkers:
    """Tasks on Spark, as `choice` says. `deadline` returns True to cut a level short."""

    name = "spark"
    sent_rows = SENT_ROWS_MAX
    parts_max = 64

    def __init__(
        self,
        problem: Problem,
        choice: EngineChoice,
        *,
        on_wait: Callable[[str], None] = lambda reason: None,
        deadline: Callable[[], bool] | None = None,
    ) -> None:
        self.problem = problem
        self._driver_levels = choice.driver_levels
        self._late = deadline or (lambda: False)
        self._spark = SparkSide(choice, on_wait)
        self._exchange: Exchange | None = None
        self._sizes: dict[int, int] = {}
        """Size of each level that the driver may hand over."""

    def require(self, storage: Storage) -> None:
        """Refuse a storage that candidates cannot pass through here. Raises `NoSpark`."""
        if not isinstance(storage, LocalStorage):
            self._spark.classic(_NEEDS_FOLDER)

    @functools.cached_property
    def rules(self) -> str:
        """The digest of the rules, as this process imported them."""
        return problem_digest(self.problem)

    def is_wanted(self, depth: int, frontier: int) -> bool:
        """True if the driver should hand over before it expands a level of this size.

        That takes about as long as to explore what is visited, so more must be to come.
        """
        if self._driver_levels is not None:
            if depth + 2 >= self._driver_levels:
                self._start()
            return depth + 1 >= self._driver_levels
        self._sizes[depth] = frontier
        to_come = remaining(tuple(self._sizes.values()), SHORT)
        if to_come is not None and to_come < sum(self._sizes.values()):
            return False
        is_long = to_come is None or to_come >= BOOT_TO_COME or not self._spark.shares_cores
        if frontier >= BOOT_FRONTIER and is_long:
            self._start()
        return frontier >= HAND_OVER_FRONTIER and self._spark.is_up

    def start(self, storage: Storage, work: str, *, frontier: int, visited: int) -> int:
        """Wait for the workers; an owner for each core, more where memory asks for it."""
        self._start()
        words = self.problem.model.layout.words
        # All of it is compiled and optimised once here, and loaded by each worker.
        programs.make_ready((*programs.over_files(words), *rules_of(self.problem)))
        self._spark.wait()
        if self._exchange is None:
            self._exchange = self._exchange_in(storage, work)
        rows, memory = frontier * self._exchange.rows_held, self._memory_a_core()
        return owners_for(rows, words=words, cores=self._spark.cores, memory_a_core=memory)

    def _exchange_in(self, storage: Storage, work: str) -> Exchange:
        """Files where the storage is a folder, which all machines see, else Spark's shuffle."""
        if isinstance(storage, LocalStorage):
            return FileExchange(self._spark, storage.root / work / "exchange")
        return ShuffleExchange(self._spark)

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Candidates of this process."""
        assert self._exchange is not None
        self._exchange.send(blocks, owners)

    def explore(self, plan: LevelPlan) -> list[Report]:
        """Run one job, with a task for each owner."""
        assert self._exchange is not None
        return self._exchange.explore(plan, self._late)

    def renew(self) -> bool:
        """Where what Spark has to remember would grow."""
        return self._exchange is not None and self._exchange.must_renew()

    def keep_tables(self, owners: int, states: int) -> bool:
        """Where each worker has one owner, whose states take no more than half of its memory."""
        bits = sum(widths_of(self.problem.model.layout))
        room = self._memory_a_core() // 2 // (bits // TABLE_BITS_A_BYTE + 1)
        shares_files = isinstance(self._exchange, FileExchange)
        return shares_files and owners <= self._spark.cores and states <= room

    def _memory_a_core(self) -> int:
        return memory_a_core() if self._spark.is_local else CLUSTER_MEMORY_A_CORE

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Run one task for each item, or a few for many."""
        if items:
            slices = min(len(items), 4 * self._spark.cores)
            yield from self._spark.each("while reading levels", items, slices, work)

    def close(self) -> None:
        """Stop the session if it is ours."""
        self._spark.close()
        if self._exchange is not None:
            self._exchange.close()

    def _start(self) -> None:
        """Start Spark and have its workers load the model, while the driver explores."""

        def load_everywhere() -> None:
            problems = [self.problem] * self._spark.cores
            self._spark.each("while it loads the model", problems, self._spark.cores, load)

        self._spark.start(load_everywhere)
