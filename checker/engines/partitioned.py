"""The search beyond one process's memory: owners, their files, and workers that explore them.

It begins in memory, in this process. When that is outgrown, every level is written out in files
sorted by hash, and from then on workers (threads over files, or Spark) explore each level owner by
owner. What has been written is enough to go on from: that is how a search is handed over, how it is
resumed, and how it recovers when workers and what they were passing on are lost.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from checker.engine import Arrivals, EngineFailed, Expansion, ModelFault
from checker.engines.memory import MemoryEngine, OutOfMemory
from checker.engines.task import LevelPlan, OwnerPlan, Report, Run
from checker.engines.tiers import Tiers
from checker.expander import Findings, Tally, initial_rows
from checker.problem import Problem
from checker.rows import Rows
from checker.store.blocks import owner_of_each
from checker.store.level_files import LevelFiles, StateFile
from checker.store.storage import LocalStorage, Storage, require_whole
from checker.store.visited import TooManyStates

if TYPE_CHECKING:
    # Executors load this module, and not what a manifest is read with.
    from checker.store.run_directory import RunDirectory

TRIES = 4
"""How often a level is explored before losing workers counts as a failure."""
SMALL_FRONTIER = 100_000
"""Below it, starting a level on a cluster takes longer than exploring it."""
_Found = TypeVar("_Found")


class WorkersLost(Exception):
    """Some workers are gone, and with them the candidates they held; a level may be tried again."""


class Workers(Protocol):
    """Whoever explores levels: threads over files, or Spark.

    `name` is how the report calls them. Candidates go from one `explore` to the next by their
    hands; `send` is for the first. A task should not keep more than `gathered_rows` of them.
    """

    name: str
    gathered_rows: int

    def start(self, storage: Storage, work: str, *, frontier: int, visited: int) -> int:
        """Get ready, and say how many owners there should be.

        `work` is a folder of the storage that only this attempt uses.
        """

    def send(self, blocks: Sequence[tuple[int, bytes]], owners: int) -> None:
        """Candidates that this process made, by owner."""

    def explore(self, plan: LevelPlan) -> list[Report]:
        """Run `task.explore` for every owner. Raises `WorkersLost`."""

    def renew(self) -> bool:
        """Whether candidates should rather be made anew from the files at this level."""

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """What `work` makes of each item, anywhere."""

    def close(self) -> None:
        """Let go of everything."""


class PartitionedEngine:
    """Breadth-first search by owners.

    `memory` explores first, unless every level is for the workers; before it expands a level,
    `outgrown(depth, states of the level)` says whether to hand over. With a `directory` every level
    is written as it is finished; without one files go to a temporary directory once there are any.
    Levels that shrink below `SMALL_FRONTIER` are left to `helpers`, if there are any: they begin
    faster.
    """

    def __init__(
        self,
        problem: Problem,
        workers: Workers,
        *,
        name: str,
        memory: MemoryEngine,
        begins_in_memory: bool = True,
        memory_name: str,
        outgrown: Callable[[int, int], bool] = lambda depth, pending: False,
        directory: RunDirectory | None = None,
        owners: int | None = None,
        helpers: Workers | None = None,
    ) -> None:
        self.problem = problem
        self.name = name
        self.workers = workers
        self._others = helpers
        self._is_small = False
        self._must_renew = False
        self.words = problem.model.layout.words
        self.depth = -1
        self.levels: list[LevelFiles] = []
        self._memory: MemoryEngine | None = memory
        self._memory_name = memory_name
        self._begins_in_memory = begins_in_memory
        self._outgrown = outgrown
        self._directory = directory
        self._temporary: Path | None = None
        self._owners_wanted = owners
        self._tiers: list[Tiers] = []
        self._run = uuid4().hex
        self._expanded: list[Report] | None = None

    @property
    def can_shed(self) -> bool:
        """Whether states are still in memory."""
        return self._memory is not None

    @property
    def owners(self) -> int:
        """How many owners there are, once workers explore."""
        return len(self._tiers)

    @property
    def storage(self) -> Storage:
        """Where files go."""
        if self._directory is not None:
            return self._directory.storage
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="waterline-"))
        return LocalStorage(self._temporary)

    def close(self) -> None:
        """End the workers and remove what is temporary."""
        if self._memory is not None:
            self._memory.close()
        self.workers.close()
        if self._others is not None:
            self._others.close()
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def restore(self, levels: Sequence[LevelFiles]) -> None:
        """Go on after these levels. Raises `Damaged` if a file is not what was written."""
        assert self._memory is not None
        self.levels = list(levels)
        self.depth = len(levels) - 1
        check = partial(require_whole, self.storage, words=self.words)
        if self._begins_in_memory and not self._outgrown(self.depth, levels[-1].states):
            files = [file for level in levels for file in level.files]
            for _ in self._memory.over(files, check):
                pass
            try:
                self._memory.restore(
                    [self.storage.read(file.name, self.words) for file in level.files]
                    for level in levels
                )
                return
            except (OutOfMemory, TooManyStates):
                self._leave_memory()
        else:
            self._leave_memory()
            for _ in self.workers.over([f for level in levels for f in level.files], check):
                pass

    def absorb(self) -> Arrivals:
        """The next level's new states, checked."""
        if self._memory is not None and self.depth < 0 and not self._begins_in_memory:
            self._leave_memory()
        if self._memory is not None:
            return self._absorb_in_memory(self._memory)
        self._choose_workers()
        self.depth += 1
        # Where candidates are soon to be made anew, making them now would be in vain.
        plan = self._plan(absorbs=True, expands=not self.workers.renew())
        reports = self._explore(plan)
        self._expanded = reports if plan.expands else None
        findings = Findings(self.problem)
        for report in reports:
            findings.add(report.findings)
        if findings.faults:
            raise ModelFault(min(findings.faults))
        self._take_in(reports)
        return Arrivals(
            depth=self.depth,
            new=self.levels[-1].states,
            broken=findings.as_dict(),
            on=self.levels[-1].on,
            files=self.levels[-1],
        )

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """What leads out of the level; makes the candidates for the next."""
        if self._memory is not None:
            try:
                if not self._outgrown(self.depth, self._memory.frontier):
                    return self._memory.expand(happened)
            except (OutOfMemory, TooManyStates):
                pass
            self._hand_over()
        if self._expanded is None:
            self._expanded = self._explore(self._plan(absorbs=False, expands=True))
        total = Tally(self.problem, happened)
        for report in self._expanded:
            total.add(report.tally)
        if total.faults:
            raise ModelFault(min(total.faults))
        return total.as_expansion()

    def over_level(self, depth: int, work: Callable[[Rows], _Found]) -> Iterator[_Found]:
        """What `work` finds in each file of a level, or in each part of it in memory."""
        if self._memory is not None:
            yield from self._memory.over_level(depth, work)
            return
        on_file = partial(_over_file, self.storage, self.words, work)
        yield from self.workers.over([file.name for file in self.levels[depth].files], on_file)

    def _absorb_in_memory(self, memory: MemoryEngine) -> Arrivals:
        found = memory.absorb()
        self.depth = found.depth
        files = None
        if self._directory is not None and found.new:
            files = self._write(found.depth)
        return Arrivals(
            depth=found.depth,
            new=found.new,
            broken=found.broken,
            on=self._memory_name,
            files=files,
        )

    def _write(self, depth: int) -> LevelFiles:
        """Write a level that is in memory."""
        assert self._memory is not None
        name = f"level-{depth:05d}/{self._attempt}-all.states"
        file = self.storage.write(name, self._memory.sorted_level(depth))
        level = LevelFiles(depth, file.rows, self._memory_name, 0, (file,))
        self.levels.append(level)
        return level

    @property
    def _attempt(self) -> str:
        """What the names of all files begin with, as in `RunDirectory`."""
        return self._directory.attempt if self._directory is not None else "t1"

    @property
    def _work(self) -> str:
        return self._directory.work if self._directory is not None else "work"

    def _hand_over(self) -> None:
        """Write out what is in memory and not yet written, and leave the rest to the workers."""
        assert self._memory is not None
        for depth in range(len(self.levels), self.depth + 1):
            self._write(depth)
        self._leave_memory()

    def _leave_memory(self) -> None:
        assert self._memory is not None
        self._memory.close()
        self._memory = None
        frontier = self.levels[-1].states if self.levels else 1
        visited = sum(level.states for level in self.levels)
        owners = self.workers.start(self.storage, self._work, frontier=frontier, visited=visited)
        self._divide(self._owners_wanted or owners)

    def _divide(self, owners: int) -> None:
        """Give every owner its ranges of all that is visited."""
        self._tiers = [Tiers() for _ in range(owners)]
        for level in self.levels:
            for number, tiers in enumerate(self._tiers):
                for run, rows in self._runs_of(level, number):
                    tiers.add(run, rows)

    def _runs_of(self, level: LevelFiles, owner: int) -> Iterator[tuple[Run, int]]:
        """The files of a level that may hold states of an owner, with how many about."""
        for file in level.files:
            if level.owners == self.owners:
                if file.owner == owner:
                    yield Run(file.name), file.rows
            else:
                yield (
                    Run(file.name, whole=False),
                    -(-file.rows * max(1, level.owners) // self.owners),
                )

    def _plan(self, *, absorbs: bool, expands: bool) -> LevelPlan:
        owners = []
        for number, tiers in enumerate(self._tiers):
            if absorbs:
                owners.append(
                    tiers.plan(f"{self._work}/visited/{self.depth:05d}-{number:05d}.states")
                )
            else:
                frontier = self._runs_of(self.levels[-1], number)
                owners.append(OwnerPlan(frontier=tuple(run for run, _ in frontier)))
        return LevelPlan(
            run=self._run,
            problem=self.problem,
            storage=self.storage,
            depth=self.depth,
            owners=tuple(owners),
            absorbs=absorbs,
            expands=expands,
            arrivals=self._arrivals(self.depth),
            superseded=self._arrivals(self.depth + 2),
            gathered_rows=self.workers.gathered_rows,
        )

    def _arrivals(self, depth: int) -> str:
        """The name of an owner's file of new states."""
        return f"level-{depth:05d}/{self._attempt}-{{owner:05d}}.states"

    def _explore(self, plan: LevelPlan) -> list[Report]:
        """Have a level explored; if workers are lost, make its candidates anew from the files."""
        for tried in range(TRIES):
            try:
                if plan.absorbs and (tried > 0 or self.depth == 0 or self._must_renew):
                    self._make_candidates()
                    self._must_renew = False
                return sorted(self.workers.explore(plan), key=lambda report: report.owner)
            except WorkersLost as lost:
                reason = lost
        raise EngineFailed(
            f"level {self.depth} was lost {TRIES} times on {self.workers.name}: {reason}"
        ) from reason

    def _make_candidates(self) -> None:
        """The candidates of this level, from the level before or from the model."""
        if self.depth > 0:
            self.depth -= 1
            try:
                self.workers.explore(self._plan(absorbs=False, expands=True))
            finally:
                self.depth += 1
            return
        rows = initial_rows(self.problem)
        numbers = owner_of_each(rows, self.owners)
        self.workers.send(
            [(owner, rows[numbers == owner].tobytes()) for owner in np.unique(numbers).tolist()],
            self.owners,
        )

    def _choose_workers(self) -> None:
        """Let the other workers go on where a level is for them: all they need is the files."""
        if self._others is None or not self.levels:
            return
        frontier = self.levels[-1].states
        shrinks = len(self.levels) < 2 or frontier < self.levels[-2].states
        if self._is_small:
            changes = frontier > SMALL_FRONTIER * 4
        else:
            changes = frontier < SMALL_FRONTIER and shrinks
        if changes:
            self.workers, self._others = self._others, self.workers
            self._is_small = not self._is_small
            self._must_renew = True
            self.workers.start(self.storage, self._work, frontier=frontier, visited=0)

    def _take_in(self, reports: Sequence[Report]) -> None:
        """The new states' files are one more level, and one more run of each owner."""
        files: list[StateFile] = []
        for report in reports:
            if report.file is not None and report.file.rows:
                files.append(report.file)
                self._tiers[report.owner].add(Run(report.file.name), report.file.rows)
        rows = sum(file.rows for file in files)
        self.levels.append(
            LevelFiles(self.depth, rows, self.workers.name, self.owners, tuple(files))
        )
        for tiers in self._tiers:
            # Nothing reads these any more, now that the level which merged them is finished.
            self.storage.delete(tiers.obsolete)
            tiers.obsolete = []


def _over_file(storage: Storage, words: int, work: Callable[[Rows], _Found], name: str) -> _Found:
    return work(storage.read(name, words))
