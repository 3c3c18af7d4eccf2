"""Export of a run's states and steps as Parquet, decoded, each state with a parent.

The levels are gone through one by one, in pieces; no more than a few of these are in memory.
Parents are found as a trace finds them: the level before is expanded again and the least way into
each state is kept. The tables are written aside and take their place when all is done.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from waterline.checker.graph.edges import Steps, steps_out_of
from waterline.checker.problem.family import FindFamily
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.where import NOWHERE
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.engines.expander import Expander
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.identity import problem_of
from waterline.checker.search.rule_errors import explain_fault
from waterline.checker.storage.arrivals import LeastArrivals
from waterline.checker.storage.explore_loop import CHUNK_ROWS
from waterline.checker.storage.manifest import BadRun, Manifest, read_manifest
from waterline.checker.storage.plain_files import LevelFiles
from waterline.checker.storage.runs import share, sort_unique
from waterline.checker.storage.storage import (
    Damaged,
    Storage,
    require_whole,
    storage_at,
    written_aside,
)
from waterline.checker.storage.tables import (
    ROW_GROUP_ROWS,
    Parts,
    StateBlock,
    StateTable,
    StepBlock,
    StepTable,
)
from waterline.checker.traces.violating_states import breaking_rows

FORMAT = "waterline-states/1"
PIECE_STATES = 1 << 22
"""States whose parents are looked for at a time; for each piece the level before is expanded."""


@dataclass(frozen=True, slots=True)
class Exporting:
    """Progress of an export: through `done` of `total` states, now at `depth`.

    `doing` is "verifying", "states" or "steps"; each goes through all states.
    """

    doing: str
    depth: int
    done: int
    total: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Exported:
    """Result of an export: `picked` of all `states`, and the number of steps."""

    states: int
    picked: int
    steps: int | None
    complete: bool
    seconds: float


class KeptRun:
    """A run directory, to be read: its levels do not change, even while a run goes on in it.

    `find` finds the family of its model. Raises `BadRun` where there is nothing to export,
    `Damaged` if a file is not what was written.
    """

    def __init__(self, location: str, find: FindFamily) -> None:
        self.storage: Storage = storage_at(location)
        self.manifest: Manifest = read_manifest(self.storage)
        self.problem: Problem = problem_of(self.manifest.identity, location, find)
        if self.manifest.words != self.problem.model.layout.words:
            raise Damaged(
                f"{location}: the manifest is damaged: it says {self.manifest.words} words"
            )
        if not self.manifest.levels:
            raise BadRun(f"{location} has no finished level yet; there is nothing to export")

    @property
    def states(self) -> int:
        """How many there are."""
        return sum(level.states for level in self.manifest.levels)

    def chunks(self, level: LevelFiles) -> Iterator[Rows]:
        """A level as it is expanded, a few thousand states at a time."""
        for file in level.files:
            rows = self.storage.read(file.name, self.manifest.words)
            for start in range(0, len(rows), CHUNK_ROWS):
                # A copy: compiled code takes blocks that could be written to.
                yield np.array(rows[start : start + CHUNK_ROWS])

    def pieces(self, level: LevelFiles) -> Iterator[Rows]:
        """A level in the order of hashes, a few million states at a time."""
        count = -(-level.states // PIECE_STATES)
        for number in range(count):
            parts = []
            for file in level.files:
                rows = self.storage.read(file.name, self.manifest.words)
                parts.append(np.array(share(rows, count, number)))
            held = [part for part in parts if len(part)]
            if held:
                yield held[0] if len(held) == 1 else sort_unique(np.concatenate(held))


def export(
    location: str,
    out: Path,
    find: FindFamily,
    *,
    steps: bool = False,
    where: str | None = None,
    threads: int = 0,
    watch: Callable[[Exporting], None] = lambda progress: None,
    announce: Callable[[str], None] = lambda message: None,
) -> Exported:
    """Write the states of the run kept at `location` to `out`; with `steps`, its steps as well.

    `where` limits the states to those where the condition is true. Raises `BadRun`, `Damaged`,
    `BadCondition`, or `BadLocation` if `out` is taken.
    """
    kept = KeptRun(location, find)
    pick = Picker(kept.problem, find, where) if where is not None else None
    with written_aside(out) as folder:
        prepare(kept.problem, announce=announce)
        if pick is not None:
            prepare(pick.problem, announce=announce)
        started = time.monotonic()
        _verify(kept, _Clock(kept, "verifying", watch))
        clock = _Clock(kept, "states", watch)
        picked = _write_states(kept, folder / "states", threads, clock, pick)
        written = None
        if steps:
            written = _write_steps(kept, folder / "steps", threads, _Clock(kept, "steps", watch))
        seconds = time.monotonic() - started
        done = Exported(kept.states, picked, written, kept.manifest.complete, seconds)
        _describe(kept, done, where, folder / "export.json")
    return done


class Picker:
    """Filter for the states where a condition is true, in compiled code.

    Raises `BadCondition`, and `BadRun` if it may use names that the run does not distinguish.
    """

    def __init__(self, problem: Problem, find: FindFamily, where: str) -> None:
        if problem.symmetry.sorts:
            names = " and ".join(sorted(sort.value for sort in problem.symmetry.sorts))
            raise BadRun(
                f"--where may tell {names} apart, and of states that differ in them alone this run "
                "kept one; ask it of a run without --symmetry"
            )
        spec = replace(problem.spec, where=where.strip(), claims=frozenset([NOWHERE]))
        self.problem = spec.build(find)
        self._expander: Expander | None = None

    def pick(self, rows: Rows) -> Rows:
        """Return the rows that are picked, in their order."""
        if self._expander is None:
            self._expander = Expander(self.problem)
        number = [claim.name for claim in self.problem.invariants].index(NOWHERE)
        found = [*breaking_rows(rows, self._expander, number)]
        return np.concatenate(found) if found else rows[:0]


class _Clock:
    """Reports how far one part of the work is, and since when."""

    def __init__(self, kept: KeptRun, doing: str, watch: Callable[[Exporting], None]) -> None:
        self._total = kept.states
        self._doing = doing
        self._watch = watch
        self._started = time.monotonic()

    def report(self, depth: int, done: int) -> None:
        seconds = time.monotonic() - self._started
        self._watch(Exporting(self._doing, depth, done, self._total, seconds))


def _verify(kept: KeptRun, clock: _Clock) -> None:
    """Compare every file with what was written, before anything is made of it."""
    done = 0
    for level in kept.manifest.levels:
        for file in level.files:
            require_whole(kept.storage, file, kept.manifest.words)
        done += level.states
        clock.report(level.depth, done)


def _write_states(
    kept: KeptRun, folder: Path, threads: int, clock: _Clock, pick: Picker | None
) -> int:
    """Returns how many were written."""
    picked = 0
    table = StateTable(kept.problem.model)
    with Parts(folder, table.schema, table.encode, plain=table.plain, threads=threads) as parts:
        done = 0
        for level in kept.manifest.levels:
            for whole in kept.pieces(level):
                piece = whole if pick is None else pick.pick(whole)
                picked += len(piece)
                done += len(whole)
                if not len(piece):
                    continue
                found = _least_arrivals(kept, level.depth, piece)
                for start in range(0, len(piece), ROW_GROUP_ROWS):
                    some = slice(start, start + ROW_GROUP_ROWS)
                    parts.add(
                        StateBlock(level.depth, piece[some], found.parents[some], found.steps[some])
                    )
                clock.report(level.depth, done)
    return picked


def _least_arrivals(kept: KeptRun, depth: int, piece: Rows) -> LeastArrivals:
    """The least way into each state of a piece of a level. Raises `Damaged` if one has none."""
    found = LeastArrivals(piece)
    if depth == 0:
        return found
    for steps in _expand_level(kept, kept.manifest.levels[depth - 1]):
        found.offer(steps.successors, steps.origins, len(steps.origins), steps.sources)
    if (found.steps < 0).any():
        raise Damaged(
            f"{kept.storage.location}: level {depth} has a state that nothing in level "
            f"{depth - 1} leads to"
        )
    return found


def _write_steps(kept: KeptRun, folder: Path, threads: int, clock: _Clock) -> int:
    """Every transition within the bounds out of a level that was expanded.

    The last level of a run that was stopped was not: what it leads to is not among the states.
    """
    table = StepTable(kept.problem.model)
    levels = kept.manifest.levels if kept.manifest.complete else kept.manifest.levels[:-1]
    count = 0
    with Parts(folder, table.schema, table.encode, plain=table.plain, threads=threads) as parts:
        done = 0
        for level in levels:
            for steps in _expand_level(kept, level):
                targets, origins = steps.successors.copy(), steps.origins.copy()
                for start in range(0, len(origins), ROW_GROUP_ROWS):
                    some = slice(start, start + ROW_GROUP_ROWS)
                    parts.add(StepBlock(level.depth, steps.sources, targets[some], origins[some]))
                count += len(origins)
            done += level.states
            clock.report(level.depth, done)
    return count


def _expand_level(kept: KeptRun, level: LevelFiles) -> Iterator[Steps]:
    """A level's transitions, chunk by chunk."""
    expander = Expander(kept.problem)
    try:
        for chunk in kept.chunks(level):
            yield from steps_out_of(expander, chunk)
    except ModelFault as fault:
        raise explain_fault(kept.problem, fault) from None


def _describe(kept: KeptRun, done: Exported, where: str | None, path: Path) -> None:
    """Write a description of the tables next to them."""
    model = kept.problem.model
    values = {
        "format": FORMAT,
        "model": model.name,
        "protocol": model.version,
        "bounds": dict(model.options),
        "complete": done.complete,
        "states": done.picked,
        **({"where": where} if where is not None else {}),
        "steps": done.steps,
        "levels": [level.states for level in kept.manifest.levels],
        "columns": {field.name: field.doc for field in model.layout.fields},
    }
    path.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
