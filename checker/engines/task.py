"""What one Spark task does: absorb an owner's candidates, check what is new, expand it.

A task is a function of its plan, the candidates it is sent, and immutable files. It writes the new
states of its owner and level under a name that depends on nothing else, atomically, so that a task
that is retried, or runs twice, changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from checker.compiled.expander import CHUNK_ROWS, Expander, Findings, Tally
from checker.engine import Counts, Words
from checker.problem import Problem
from checker.store.blocks import Rows, nothing_recent, scatter, width_of
from checker.store.runs import merge, read_run, sort_unique, unseen, write_run

FLUSH_ROWS = 1 << 20
"""Candidates for one owner that a task gathers before it sorts them and passes them on."""
_RECENT_SLOTS = 1 << 15


@dataclass(frozen=True, slots=True)
class OwnerPlan:
    """The files of one owner: `merge` become the run `merged` before `runs` are searched."""

    runs: tuple[str, ...]
    merge: tuple[str, ...] = ()
    merged: str = ""


@dataclass(frozen=True, slots=True)
class LevelPlan:
    """What a level's tasks are told. `arrivals` is a path with the owner's number to fill in."""

    problem: Problem
    owners: tuple[OwnerPlan, ...]
    arrivals: str
    happened: tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class Report:
    """What one task found, small enough to be sent to the driver."""

    owner: int
    new: int
    broken: dict[int, Words]
    fired: Counts
    cut: Counts
    happened: NDArray[np.bool_]
    deadlock: Words | None
    faults: list[Words]
    expansion_faults: list[Words]


def explore(
    plan: LevelPlan, owner: int, blocks: Iterable[tuple[int, bytes]]
) -> Iterator[tuple[int, Any]]:
    """Absorb, check and expand one owner's share of a level.

    Yields (owner', block) for candidates of the next level and, last, (owners, Report).
    """
    owners = len(plan.owners)
    blocks = list(blocks)  # Spark keeps a worker only if its task has read all its input.
    if owner == owners:
        return
    expander = Expander(plan.problem)
    new = _absorb(plan, owner, expander, blocks)
    findings = Findings(plan.problem)
    tally = Tally(plan.problem, np.array(plan.happened, np.bool_))
    expander.inspect(new, findings)
    yield from _candidates(expander, new, tally, owners)
    yield (
        owners,
        Report(
            owner=owner,
            new=len(new),
            broken=findings.as_dict(),
            fired=tally.fired,
            cut=tally.cut,
            happened=tally.happened,
            deadlock=tally.deadlock,
            faults=findings.faults,
            expansion_faults=tally.faults,
        ),
    )


def _absorb(
    plan: LevelPlan, owner: int, expander: Expander, blocks: Iterable[tuple[int, bytes]]
) -> Rows:
    """The owner's new states, written to its file; read from there if a task has done it before."""
    path = Path(plan.arrivals.format(owner=owner))
    if path.exists():
        return np.ascontiguousarray(read_run(path))
    words = len(expander.width)
    parts = [np.frombuffer(block, np.uint64).reshape(-1, words) for _, block in blocks]
    candidates = np.concatenate(parts) if parts else np.empty((0, words), np.uint64)
    mine = plan.owners[owner]
    runs = [read_run(Path(name)) for name in mine.runs]
    if mine.merge:
        merged = Path(mine.merged)
        if not merged.exists():
            write_run(merged, merge(expander.width, [read_run(Path(name)) for name in mine.merge]))
        runs.append(read_run(merged))
    new = unseen(expander.width, sort_unique(expander.width, candidates), runs)
    write_run(path, new)
    return new


def _candidates(
    expander: Expander, rows: Rows, tally: Tally, owners: int
) -> Iterator[tuple[int, bytes]]:
    """Successors of `rows`, sorted and distinct in each block, by owner."""
    width = expander.width
    recent = nothing_recent(width, _RECENT_SLOTS)
    out: Rows = np.empty_like(expander.out)
    owned: NDArray[np.int64] = np.empty(len(out), np.int64)
    ends: NDArray[np.int64] = np.zeros(owners, np.int64)
    gathered: list[list[Rows]] = [[] for _ in range(owners)]
    counts = [0] * owners
    for start in range(0, len(rows), CHUNK_ROWS):
        for written in expander.expand(rows[start : start + CHUNK_ROWS], tally):
            scatter(width, expander.out, written, recent, out, ends, owned)
            begin = 0
            for owner, end in enumerate(ends.tolist()):
                if end > begin:
                    gathered[owner].append(out[begin:end].copy())
                    counts[owner] += end - begin
                begin = end
                if counts[owner] >= FLUSH_ROWS:
                    yield owner, block_of(width, gathered[owner])
                    gathered[owner], counts[owner] = [], 0
    for owner, parts in enumerate(gathered):
        if parts:
            yield owner, block_of(width, parts)


def block_of(width: tuple[int, ...], parts: list[Rows]) -> bytes:
    """Candidates as bytes, sorted and distinct."""
    return sort_unique(width, np.concatenate(parts)).tobytes()


def split_by_owner(words: int, rows: Rows, owners: int) -> list[Rows]:
    """Rows grouped by owner, each group in no particular order."""
    width = width_of(words)
    out: Rows = np.empty_like(rows)
    ends: NDArray[np.int64] = np.zeros(owners, np.int64)
    owned: NDArray[np.int64] = np.empty(len(rows), np.int64)
    scatter(width, rows, len(rows), nothing_recent(width, 2), out, ends, owned)
    return [
        out[start:end] for start, end in zip([0, *ends[:-1].tolist()], ends.tolist(), strict=True)
    ]
