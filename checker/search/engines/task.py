"""Task of an owner in a level: absorb candidates, check new states, expand them.

A task is a function of its plan, the candidates it is sent, and files that never change. It writes
the new states of its owner and level under a name that depends on these two and on the attempt that
asks for them, at once, so that a task that is retried, or runs twice, changes nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.expander import Expander, Findings, Tally
from waterline.checker.search.engines.outbox import Outbox
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.storage import programs
from waterline.checker.storage.level_files import StateFile
from waterline.checker.storage.runs import Scratch, merge, share, sort_unique, unseen
from waterline.checker.storage.storage import Storage, checksum


class Superseded(Exception):
    """A task's candidates were used up two levels ago.

    Spark, having lost something, wants to make everything before it anew, level by level. The
    driver can do better: see `checker.search.engines.over_files`.
    """


class OtherRules(Exception):
    """A worker has other rules than the driver: its counts and verdicts would be wrong."""


@dataclass(frozen=True, slots=True)
class SortedFile:
    """A sorted file; an owner has all of it, or only its own range of hashes."""

    name: str
    whole: bool = True


@dataclass(frozen=True, slots=True)
class OwnerPlan:
    """The files of one owner: those of `merge` become the run `merged` before all are searched.

    `frontier` is what it expands, where a task only expands.
    """

    runs: tuple[SortedFile, ...] = ()
    merge: tuple[SortedFile, ...] = ()
    merged: str = ""
    frontier: tuple[SortedFile, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelPlan:
    """Orders for a level's tasks: to absorb it, to expand it, or both.

    `run` is a name that no other search has. `arrivals` is the name of the file of new states, with
    the owner's number to fill in; once there is one of the name `superseded`, the results of this
    level's tasks are no longer needed. `gathered_rows` is how many distinct candidates a task keeps
    before it passes them on. `rules` is the digest of the problem's rules, which a worker in
    another process must have too; "" where tasks run in the driver.
    """

    run: str
    problem: Problem
    storage: Storage
    depth: int
    owners: tuple[OwnerPlan, ...]
    absorbs: bool
    expands: bool
    arrivals: str
    superseded: str
    parts: int
    parts_sent: int
    sent_rows: int
    generation: str
    accepted: frozenset[str]
    rules: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """Findings of one task, small enough to be sent to the driver.

    `file` holds the new states; None if the task only expanded. `attempt` names the candidates it
    has sent; "" if it only absorbed.
    """

    owner: int
    file: StateFile | None
    findings: Findings
    tally: Tally
    attempt: str


def explore(
    plan: LevelPlan, owner: int, blocks: Iterable[tuple[int, Any]]
) -> Iterator[tuple[int, Any]]:
    """Absorb, check and expand one owner's share of a level.

    `blocks` are candidates with the number of their part, in ascending order. Yields (receiver,
    block) for candidates of the next level, where part p of owner o is receiver o * parts_sent + p;
    a block is valid until the next is requested. Last comes the report, as if for one receiver
    more.
    """
    if plan.storage.exists(plan.superseded.format(owner=owner)):
        raise Superseded(f"level {plan.depth} has been left behind")
    bench = _bench(plan)
    findings = Findings(plan.problem)
    tally = Tally(plan.problem)
    file: StateFile | None = None
    attempt = ""
    if plan.absorbs:
        frontier, file = _absorb(plan, owner, bench, blocks)
        for rows in frontier:
            bench.expander.inspect(rows, findings)
    else:
        frontier = [_read(plan, run, owner) for run in plan.owners[owner].frontier]
    receivers = len(plan.owners) * plan.parts_sent
    if plan.expands:
        attempt = bench.outbox.begin(plan.generation, plan.accepted, sum(map(len, frontier)))
        yield from bench.outbox.send(frontier, tally, receivers)
    yield receivers, Report(owner, file, findings, tally, attempt)


def _read(plan: LevelPlan, run: SortedFile, owner: int) -> Rows:
    rows = plan.storage.read(run.name, plan.problem.model.layout.words)
    return rows if run.whole else share(rows, len(plan.owners), owner)


def load(problem: Problem) -> None:
    """Make a worker ready, so that its first task need not wait for code to be loaded."""
    prepare(problem)
    programs.make_ready(programs.over_files(problem.model.layout.words))


class _Bench:
    """Memory that a worker keeps from one task to the next, because new memory is expensive."""

    def __init__(self, plan: LevelPlan) -> None:
        if plan.rules and problem_digest(plan.problem) != plan.rules:
            raise OtherRules(
                f"a worker has other rules of {plan.problem.model.name} than the driver: a module "
                "that they import was changed, or is another on the cluster; begin anew"
            )
        self.expander = Expander(plan.problem)
        self.outbox = Outbox(self.expander, slots_max=plan.sent_rows)
        self.scratch = Scratch()


_benches = threading.local()


def _bench(plan: LevelPlan) -> _Bench:
    """This thread's bench, made anew where the last task was of another kind."""
    kind = (plan.run, plan.sent_rows)
    if getattr(_benches, "kind", None) != kind:
        _benches.kind, _benches.bench = kind, None
        _benches.bench = _Bench(plan)
    bench: _Bench = _benches.bench
    return bench


def _absorb(
    plan: LevelPlan, owner: int, bench: _Bench, blocks: Iterable[tuple[int, Any]]
) -> tuple[list[Rows], StateFile]:
    """The owner's new states and their file; if a task has been here before, what it found."""
    name = plan.arrivals.format(owner=owner)
    if plan.storage.exists(name):
        rows = np.ascontiguousarray(plan.storage.read(name, bench.expander.layout.words))
        return [rows], StateFile(name, len(rows), checksum(rows), owner)
    found: list[Rows] = []

    def new() -> Iterator[Rows]:
        for rows in _not_visited(plan, owner, bench, blocks):
            found.append(rows)
            yield rows

    file = plan.storage.write(name, new(), owner=owner)
    return found, file


def _not_visited(
    plan: LevelPlan, owner: int, bench: _Bench, blocks: Iterable[tuple[int, Any]]
) -> Iterator[Rows]:
    """The candidates that the owner has not seen, sorted, part by part.

    A part is small enough for a processor's cache, which sorting and looking up depend on.
    """
    words = bench.expander.layout.words
    mine = plan.owners[owner]
    if mine.merge and not plan.storage.exists(mine.merged):
        runs = [_read(plan, run, owner) for run in mine.merge]
        plan.storage.write(mine.merged, merge(runs))
    runs = [_read(plan, run, owner) for run in mine.runs]
    if mine.merge:
        runs.append(plan.storage.read(mine.merged, words))
    ranges = len(plan.owners) * plan.parts
    for part, same in groupby(blocks, itemgetter(0)):
        received = [np.frombuffer(block, np.uint64).reshape(-1, words) for _, block in same]
        whole = received[0] if len(received) == 1 else np.concatenate(received)
        rows = sort_unique(whole, bench.scratch)
        within = [share(run, ranges, owner * plan.parts + part) for run in runs]
        found = unseen(rows, within)
        yield found.copy() if found is rows else found  # Sorting the next part overwrites `rows`.
