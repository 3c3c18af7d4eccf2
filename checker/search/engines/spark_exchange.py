"""Exchange of candidates between the tasks of one level and those of the next, on Spark.

If a run is kept in a folder that all machines see, candidates are files there too, and Spark passes
on their places: to copy them from a worker to its JVM, from there to files, and back takes longer
than to explore. An object store does not suit so many small blocks: then they pass through Spark's
shuffle.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import closing
from operator import itemgetter
from pathlib import Path
from typing import Any, Protocol

from waterline.checker.search.engines.segments import Segment, SegmentFile
from waterline.checker.search.engines.shipped_call import itself, values
from waterline.checker.search.engines.shipping import FileTask, ShuffleTask
from waterline.checker.search.engines.spark_side import SparkSide
from waterline.checker.search.engines.task import LevelPlan, Report
from waterline.checker.storage import disk_calls

RENEW_LEVELS = 24
"""After so many levels candidates are made anew, and Spark can forget all that it kept."""


class Exchange(Protocol):
    """Store of candidates until the next level's tasks read them."""

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Candidates of the driver, by owner."""

    def explore(self, plan: LevelPlan, late: Callable[[], bool]) -> list[Report]:
        """Run a task for every owner. Raises `WorkersLost`, and `Interrupted` once it is `late`."""

    def must_renew(self) -> bool:
        """Whether candidates should be made anew from the files at this level."""

    def close(self) -> None:
        """Remove what is kept."""


class ShuffleExchange:
    """Spark's shuffle: a partition for each owner and one for reports.

    Spark keeps what a level's tasks pass on until the next level has read it; should an executor be
    lost with what it kept, candidates are made anew from the level's files, so nothing older is
    ever needed.
    """

    def __init__(self, spark: SparkSide) -> None:
        self._spark = spark
        self._candidates: Any = None
        self._kept_levels = 0

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """An RDD with the driver's candidates."""
        slices: list[list[tuple[int, tuple[int, bytes]]]] = [[] for _ in range(owners + 1)]
        for owner, block in blocks:
            slices[owner].append((owner, (0, block)))

        def candidates() -> Any:
            return self._spark.context.parallelize(slices, owners + 1).flatMap(itself)

        self._candidates = self._spark.run("at the first level", candidates)
        self._kept_levels = 0

    def explore(self, plan: LevelPlan, late: Callable[[], bool]) -> list[Report]:
        """Run one job: a stage of a task for each owner, and a small task that gathers reports."""
        owners = len(plan.owners)
        if not plan.absorbs:
            self.send([], owners)
        task = self._spark.ship(ShuffleTask(plan))

        def level() -> tuple[Any, list[Report]]:
            explored = self._candidates.mapPartitionsWithIndex(task, preservesPartitioning=False)
            sent = explored.partitionBy(owners + 1, itself)
            return sent, self._spark.context.runJob(sent, values, [owners])

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

    The loss of an executor loses none of them.
    """

    def __init__(self, spark: SparkSide, folder: Path) -> None:
        self._spark = spark
        self._folder = folder
        self._level: Path | None = None
        self._segments: list[list[tuple[int, Segment]]] = []
        """The segments of each owner, in `_level`, with the numbers of their parts, in order."""

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """A file with the driver's candidates."""
        level = self._new_level()
        sent: list[list[tuple[int, Segment]]] = [[] for _ in range(owners)]
        with closing(SegmentFile(level)) as file:
            for owner, block in blocks:
                sent[owner].append((0, file.write(block)))
        self._keep(level, sent)

    def explore(self, plan: LevelPlan, late: Callable[[], bool]) -> list[Report]:
        """Run one job of one stage: a task for each owner returns its report and segments."""
        owners = len(plan.owners)
        given = self._segments if plan.absorbs else [[] for _ in range(owners)]
        level = self._new_level()
        task = self._spark.ship(FileTask(plan, self._level or level, level))

        def job() -> list[tuple[Report, list[tuple[int, Segment]]]]:
            tasks = self._spark.context.parallelize(list(enumerate(given)), owners)
            found: list[Any] = tasks.mapPartitions(task).collect()
            return found

        try:
            found = self._spark.run(f"at level {plan.depth}", job, until=late)
        except BaseException:
            disk_calls.remove_folder(level)
            raise
        sent: list[list[tuple[int, Segment]]] = [[] for _ in range(owners)]
        for _, segments in found:
            for receiver, segment in segments:
                sent[receiver // plan.parts_sent].append((receiver % plan.parts_sent, segment))
        for of_owner in sent:
            of_owner.sort(key=itemgetter(0))
        self._keep(level, sent)
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

    def _keep(self, level: Path, segments: list[list[tuple[int, Segment]]]) -> None:
        """Keep these for the next level, and remove those before."""
        if self._level is not None:
            disk_calls.remove_folder(self._level)
        self._level, self._segments = level, segments
