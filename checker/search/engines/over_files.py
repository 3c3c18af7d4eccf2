"""Engine over files, and when it merges the runs of an owner.

New states come as one run a level. Searching all of them costs more with each level, rewriting all
of them at each level costs more still. In between: a run is merged once the younger runs together
are larger. So a run that is left is as large as all younger ones together, and there are about as
many as the logarithm of the states. Each time a state is rewritten its run doubles, so that happens
about as often.

What has been written is enough to go on from. So three things that seem different are one: to take
over from a search in memory, to resume a run, and to recover when workers and what they were
passing on are lost. Duplicates are dropped by the tasks (`checker.search.engines.task`).

With a run directory every level is written as it is finished, and what a run that was resumed has
written before is there already. Without one there is a temporary directory, from the first level on
that has to be written.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Arrivals, EngineFailed, Expansion, ModelFault
from waterline.checker.search.engines.expander import Findings, Tally, initial_rows
from waterline.checker.search.engines.task import LevelPlan, OwnerPlan, Report, SortedFile
from waterline.checker.search.engines.workers import Workers, WorkersLost
from waterline.checker.storage.blocks import owner_of_each
from waterline.checker.storage.plain_files import LevelFiles, StateFile
from waterline.checker.storage.storage import LocalStorage, Storage, require_whole

if TYPE_CHECKING:
    from waterline.checker.storage.run_directory import RunDirectory


_ONLY_ATTEMPT = "t1"
_ONLY_WORK = "work"


class WrittenLevels:
    """Levels 0 to `depth` in files of states of `words` words; `depth` is -1 where there is none.

    `are_kept` says that each level is wanted as it is finished.
    """

    def __init__(self, words: int, directory: RunDirectory | None = None) -> None:
        self.words = words
        self.are_kept = directory is not None
        self._directory = directory
        self._temporary: Path | None = None
        self._levels: list[LevelFiles] = []

    def __len__(self) -> int:
        return len(self._levels)

    def __iter__(self) -> Iterator[LevelFiles]:
        return iter(self._levels)

    def __getitem__(self, depth: int) -> LevelFiles:
        return self._levels[depth]

    @property
    def depth(self) -> int:
        """The depth of the last level."""
        return len(self._levels) - 1

    @property
    def states(self) -> int:
        """How many states there are in all levels."""
        return sum(level.states for level in self._levels)

    @property
    def storage(self) -> Storage:
        """Where files are."""
        if self._directory is not None:
            return self._directory.storage
        if self._temporary is None:
            self._temporary = Path(tempfile.mkdtemp(prefix="waterline-"))
        return LocalStorage(self._temporary)

    @property
    def work(self) -> str:
        """The folder of what is of no use once the search has ended."""
        return self._directory.work if self._directory is not None else _ONLY_WORK

    def arrivals(self, depth: int) -> str:
        """The name of an owner's file of new states, with the owner's number to fill in."""
        return f"level-{depth:05d}/{self._attempt}-{{owner:05d}}.states"

    def close(self) -> None:
        """Remove what is temporary."""
        if self._temporary is not None:
            shutil.rmtree(self._temporary, ignore_errors=True)

    def restore(self, levels: Sequence[LevelFiles]) -> None:
        """Restore the levels that the run has written before."""
        self._levels = list(levels)

    def to_verify(self) -> tuple[Sequence[StateFile], partial[None]]:
        """All files, and what to do with each: raises `Damaged` if it is not what was written."""
        files = [file for level in self._levels for file in level.files]
        return files, partial(require_whole, self.storage, words=self.words)

    def read(self, file: StateFile) -> Rows:
        """The states of a file, sorted."""
        return self.storage.read(file.name, self.words)

    def write(self, blocks: Iterable[Rows], on: str) -> LevelFiles:
        """Write the next level, explored by the engine named `on`, to one file."""
        depth = len(self._levels)
        name = f"level-{depth:05d}/{self._attempt}-all.states"
        file = self.storage.write(name, iter(blocks))
        self.add(LevelFiles(depth, file.rows, on, 0, (file,)))
        return self._levels[-1]

    def add(self, level: LevelFiles) -> None:
        """Add one more level, which is written."""
        assert level.depth == len(self._levels)
        self._levels.append(level)

    @property
    def _attempt(self) -> str:
        """Prefix of the names of all files, as in `RunDirectory`."""
        return self._directory.attempt if self._directory is not None else _ONLY_ATTEMPT


class Tiers:
    """The runs of one owner, oldest and largest first, with their sizes."""

    def __init__(self) -> None:
        self.runs: list[tuple[SortedFile, int]] = []
        self.obsolete: list[str] = []
        """Merged runs that a later one has replaced."""
        self._merged: set[str] = set()

    def add(self, run: SortedFile, rows: int) -> None:
        """Add one more run."""
        self.runs.append((run, rows))

    def merged_names(self) -> list[str]:
        """Names of the runs that no level has as its file."""
        return [run.name for run, _ in self.runs if run.name in self._merged]

    @property
    def states(self) -> int:
        """How many states the runs have."""
        return sum(rows for _, rows in self.runs)

    def plan(self, merged: str, *, merged_max: int = sys.maxsize) -> OwnerPlan:
        """Return the runs to search at the next level, and those to merge into `merged` first.

        No more than `merged_max` states are rewritten.
        """
        keep = len(self.runs)
        younger = 0
        # Levels may shrink slowly: a run can be larger than the next, and smaller than the rest.
        for number in range(len(self.runs) - 1, -1, -1):
            size = self.runs[number][1]
            younger += size
            if size < younger - size and younger <= merged_max:
                keep = number
        kept, tail_runs = self.runs[:keep], self.runs[keep:]
        if not tail_runs:
            return OwnerPlan(runs=tuple(run for run, _ in self.runs))
        tail = sum(size for _, size in tail_runs)
        self.obsolete += [run.name for run, _ in tail_runs if run.name in self._merged]
        self._merged.add(merged)
        self.runs = [*kept, (SortedFile(merged), tail)]
        return OwnerPlan(
            runs=tuple(run for run, _ in kept),
            merge=tuple(run for run, _ in tail_runs),
            merged=merged,
        )


TRIES = 4
"""How often a level is explored before losing workers counts as a failure."""
SMALL_FRONTIER = 100_000
"""Below it, starting a level on a cluster takes longer than exploring it."""
GROWTH_TAKEN = 4
"""Once a level is so much larger than the one that workers began with, there may be more owners."""
MERGED_SMALL = 16 * SMALL_FRONTIER
"""Most states of an owner that are merged for the sake of a small level."""
CANDIDATES_A_STATE = 4
PART_BYTES = 4 << 20
_Found = TypeVar("_Found")


class FileEngine:
    """Breadth-first search by owners, from the first level or after those that are in files.

    `owners` None leaves their number to the workers. Levels that shrink below `SMALL_FRONTIER` are
    left to `helpers`, if there are any: they begin faster.
    """

    can_shed = False

    def __init__(
        self,
        problem: Problem,
        workers: Workers,
        levels: WrittenLevels,
        *,
        owners: int | None = None,
        helpers: Workers | None = None,
    ) -> None:
        self.problem = problem
        self.name = workers.name
        self.main = workers
        """The workers that explore levels that are not small."""
        self.workers = workers
        self.levels = levels
        self.depth = -1
        self._others = helpers
        self._is_small = False
        self._must_renew = False
        self._owners_wanted = owners
        self._tiers: list[Tiers] = []
        self._frontier_max = 0
        """The largest level for which there are owners enough."""
        self._run = uuid4().hex
        self._expanded: list[Report] | None = None
        self._parts = 1
        """Number of parts of each owner in the candidates that wait for the next level."""
        self._generation = uuid4().hex
        """Generation of candidates: a new one once some were lost or left behind."""
        self._accepted: frozenset[str] = frozenset()
        """The attempts that have sent these candidates."""

    @property
    def owners(self) -> int:
        """How many owners there are, once workers explore."""
        return len(self._tiers)

    def close(self) -> None:
        """End the workers and remove what is temporary."""
        self.workers.close()
        if self._others is not None:
            self._others.close()
        self.levels.close()

    def restore(self, levels: Sequence[LevelFiles]) -> None:
        """Go on after these levels. Raises `Damaged` if a file is not what was written."""
        self.levels.restore(levels)
        self.take_over()
        files, check = self.levels.to_verify()
        for _ in self.workers.over(files, check):
            pass

    def take_over(self) -> None:
        """Have the workers get ready, and give every owner its ranges of all that is visited."""
        self.depth = self.levels.depth
        self._divide(self._start())

    def _start(self) -> int:
        """Have the workers get ready for levels like the last; return the number of owners."""
        frontier = self.levels[-1].states if self.levels else 1
        self._frontier_max = max(GROWTH_TAKEN * frontier, SMALL_FRONTIER)
        owners = self.workers.start(
            self.levels.storage, self.levels.work, frontier=frontier, visited=self.levels.states
        )
        return self._owners_wanted or owners

    def _divide(self, owners: int) -> None:
        """Give so many owners their ranges of all levels, as they are in the levels' files."""
        self.levels.storage.delete([name for tiers in self._tiers for name in tiers.merged_names()])
        self._tiers = [Tiers() for _ in range(owners)]
        for level in self.levels:
            for number, tiers in enumerate(self._tiers):
                for run, rows in self._runs_of(level, number):
                    tiers.add(run, rows)

    def absorb(self) -> Arrivals:
        """The next level's new states, checked."""
        if not self._tiers:
            self.take_over()
        self._choose_workers()
        is_larger = bool(self.levels) and self.levels[-1].states > self._frontier_max
        # Workers in other processes would lose their tables, and are not bounded by `--memory`.
        if is_larger and self.main.rules == "" and (owners := self._start()) > self.owners:
            self._divide(owners)
            self._must_renew = True
        self.depth += 1
        # Where candidates are soon to be made anew, making them now would be in vain.
        plan = self._plan(absorbs=True, expands=not self.workers.renew())
        reports = self._explore(plan)
        self._expanded = reports if plan.expands else None
        findings = Findings(self.problem)
        for report in reports:
            findings.add(report.findings)
        if findings.faults:
            raise ModelFault.among(findings.faults)
        level = self._take_in(reports)
        return Arrivals(
            depth=self.depth,
            new=level.states,
            broken=findings.as_dict(),
            on=level.on,
            files=level,
        )

    def expand(self, happened: NDArray[np.bool_]) -> Expansion:
        """Expand the level, and make the candidates for the next."""
        if self._expanded is None:
            self._expanded = self._explore(self._plan(absorbs=False, expands=True))
        total = Tally(self.problem, happened)
        for report in self._expanded:
            total.add(report.tally)
        if total.faults:
            raise ModelFault.among(total.faults)
        return total.as_expansion()

    def over_level(self, depth: int, work: Callable[[Rows], _Found]) -> Iterator[_Found]:
        """Yield `work(part)` for each file of a level."""
        on_file = partial(_over_file, self.levels.storage, self.levels.words, work)
        yield from self.workers.over([file.name for file in self.levels[depth].files], on_file)

    def over(self, items: Sequence[Any], work: Callable[[Any], Any]) -> Iterator[Any]:
        """Yield `work(item)` for each item, in order.

        It runs on the workers of large levels, whichever explore now. `work`, the items and the
        results must be picklable.
        """
        yield from self.main.over(items, work)

    def _runs_of(self, level: LevelFiles, owner: int) -> Iterator[tuple[SortedFile, int]]:
        """The files of a level that may hold states of an owner, with how many about."""
        for file in level.files:
            if level.owners == self.owners:
                if file.owner == owner:
                    yield SortedFile(file.name), file.rows
            else:
                yield (
                    SortedFile(file.name, whole=False),
                    -(-file.rows * max(1, level.owners) // self.owners),
                )

    def _plan(self, *, absorbs: bool, expands: bool) -> LevelPlan:
        owners = []
        states = max((tiers.states for tiers in self._tiers), default=0)
        tables = absorbs and self.workers.keep_tables(self.owners, states)
        for number, tiers in enumerate(self._tiers):
            if tables:
                owners.append(OwnerPlan(runs=tuple(run for run, _ in tiers.runs)))
            elif absorbs:
                merged = f"{self.levels.work}/visited/{self.depth:05d}-{number:05d}.states"
                most = MERGED_SMALL if self._is_small else sys.maxsize
                owners.append(tiers.plan(merged, merged_max=most))
            else:
                frontier = self._runs_of(self.levels[-1], number)
                owners.append(OwnerPlan(frontier=tuple(run for run, _ in frontier)))
        return LevelPlan(
            run=self._run,
            problem=self.problem,
            storage=self.levels.storage,
            depth=self.depth,
            owners=tuple(owners),
            absorbs=absorbs,
            expands=expands,
            arrivals=self.levels.arrivals(self.depth),
            superseded=self.levels.arrivals(self.depth + 2),
            parts=self._parts,
            parts_sent=self._parts_for(self.levels[-1].states if self.levels else 1),
            sent_rows=self.workers.sent_rows,
            generation=self._generation,
            accepted=self._accepted,
            tables=tables,
            rules=self.workers.rules,
        )

    def _explore(self, plan: LevelPlan) -> list[Report]:
        """Have a level explored; if workers are lost, make its candidates anew from the files."""
        for tried in range(TRIES):
            try:
                if plan.absorbs and (tried > 0 or self.depth == 0 or self._must_renew):
                    self._make_candidates()
                    self._must_renew = False
                return self._run_plan(plan)
            except WorkersLost as lost:
                reason = lost
        raise EngineFailed(
            f"level {self.depth} was lost {TRIES} times on {self.workers.name}: {reason}"
        ) from reason

    def _run_plan(self, plan: LevelPlan) -> list[Report]:
        """Have it explored with the candidates that wait now. Raises `WorkersLost`."""
        plan = replace(
            plan, parts=self._parts, generation=self._generation, accepted=self._accepted
        )
        reports = sorted(self.workers.explore(plan), key=lambda report: report.owner)
        self._parts = plan.parts_sent
        self._accepted = frozenset(report.attempt for report in reports)
        return reports

    def _make_candidates(self) -> None:
        """The candidates of this level, from the level before or from the model."""
        self._generation = uuid4().hex
        if self.depth > 0:
            self.depth -= 1
            try:
                self._run_plan(self._plan(absorbs=False, expands=True))
            finally:
                self.depth += 1
            return
        rows = initial_rows(self.problem)
        numbers = owner_of_each(rows, self.owners)
        self.workers.send(
            [(owner, rows[numbers == owner].tobytes()) for owner in np.unique(numbers).tolist()],
            self.owners,
        )
        self._parts = 1

    def _parts_for(self, frontier: int) -> int:
        """Return how many parts let a processor's cache hold what an owner sorts at a time."""
        size = frontier * CANDIDATES_A_STATE * self.levels.words * 8 // max(1, self.owners)
        parts = 1
        while parts < self.workers.parts_max and size > parts * PART_BYTES:
            parts *= 2
        return parts

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
            self.workers.start(self.levels.storage, self.levels.work, frontier=frontier, visited=0)

    def _take_in(self, reports: Sequence[Report]) -> LevelFiles:
        """The new states' files are one more level, and one more run of each owner."""
        files: list[StateFile] = []
        for report in reports:
            if report.file is not None and report.file.rows:
                files.append(report.file)
                self._tiers[report.owner].add(SortedFile(report.file.name), report.file.rows)
        rows = sum(file.rows for file in files)
        level = LevelFiles(self.depth, rows, self.workers.name, self.owners, tuple(files))
        self.levels.add(level)
        for tiers in self._tiers:
            # Nothing reads these any more, now that the level which merged them is finished.
            self.levels.storage.delete(tiers.obsolete)
            tiers.obsolete = []
        return level


def _over_file(storage: Storage, words: int, work: Callable[[Rows], _Found], name: str) -> _Found:
    return work(storage.read(name, words))
