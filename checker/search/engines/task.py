"""Task of a worker: the states of one owner, and the outbox of those it sends to others.

About four transitions lead to each new state, and as many to those that are known already. A worker
keeps the states that it has sent, across levels. It may drop one of these only while it is certain
that what it sent has arrived: see `Outbox.begin`.

A task is a function of its plan, the candidates it is sent, and files that never change. It writes
the new states of its owner and level under a name that depends on these two and on the attempt that
asks for them, at once, so that a task that is retried, or runs twice, changes nothing.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.problem_digest import problem_digest
from waterline.checker.compiler.program import load_program
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.expander import Expander, Findings, Tally
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.storage import programs
from waterline.checker.storage.arena import empty_table
from waterline.checker.storage.blocks import hashes
from waterline.checker.storage.entry_layout import widths_of
from waterline.checker.storage.explore_loop import BOX, home, recipe_of
from waterline.checker.storage.owner_table import OwnerTable
from waterline.checker.storage.plain_files import StateFile
from waterline.checker.storage.runs import Scratch, merge, share, sort_unique, unseen
from waterline.checker.storage.storage import Storage, bytes_of, checksum

BUFFER_BYTES = 1 << 18
"""How much one receiver's buffer holds at most."""
SLOTS_A_STATE = 16
"""Slots of the cache for each state that is expanded, if they are not too many."""
_SLOTS_MIN = 1 << 10
MERGED_ROWS = 1 << 22
"""States that are merged at a time, about, by ranges of hashes: most of them are held."""


class Outbox:
    """Buffers for receivers, and a cache of what was sent of at most `slots_max` states.

    The buffers together take no more than half of such a cache, or one state each.
    """

    def __init__(self, expander: Expander, *, slots_max: int) -> None:
        self._expander = expander
        self._words = expander.layout.words
        self._send = load_program(recipe_of(self._words))["send"]
        # One that is empty holds two states.
        self._slots_max = max(2, _power_of_two(slots_max + 1) // 2)
        self._cache: Rows = np.empty((0, self._words), np.uint64)
        self._buffers: Rows = np.empty((0, self._words), np.uint64)
        self._generation = ""
        self._unconfirmed: set[str] = set()
        """Attempts that began since the last that found all before it accepted."""

    def begin(self, generation: str, accepted: Set[str], states: int) -> str:
        """The name of a new attempt, which expands so many states.

        The cache is emptied unless every attempt whose states it holds was accepted, of the same
        generation: then each of these states is with its owner, or among the candidates that the
        owners absorb in this level. `accepted` are the attempts of the level before. A generation
        ends when candidates are lost.
        """
        wanted = min(self._slots_max, _power_of_two(max(_SLOTS_MIN, SLOTS_A_STATE * states)))
        holds = generation == self._generation and self._unconfirmed <= accepted
        if not holds or len(self._cache) < wanted:
            self._empty(wanted)
        attempt = secrets.token_hex(8)
        self._generation, self._unconfirmed = generation, {attempt}
        return attempt

    def send(
        self, frontier: Sequence[Rows], tally: Tally, receivers: int
    ) -> Iterator[tuple[int, memoryview]]:
        """Yield successors as (receiver, block). A block is valid until the next is requested."""
        room = max(1, min(BUFFER_BYTES // (8 * self._words), self._slots_max // (2 * receivers)))
        if receivers * room > len(self._buffers):
            self._buffers = np.empty((receivers * room, self._words), np.uint64)
        filled: NDArray[np.int64] = np.zeros(receivers, np.int64)
        box: NDArray[np.int64] = np.zeros(BOX, np.int64)
        box[:] = (
            address(self._cache),
            len(self._cache) - 1,
            address(self._buffers),
            receivers,
            room,
        )

        def go_on(job: NDArray[np.int64]) -> int:
            return int(self._send(address(box), address(filled), address(job)))

        for rows in frontier:
            for _ in self._expander.explore(rows, tally, go_on):
                yield from self._take(filled, room, room)
        yield from self._take(filled, room, 1)

    def _take(
        self, filled: NDArray[np.int64], room: int, least: int
    ) -> Iterator[tuple[int, memoryview]]:
        """Yield the contents of buffers that have at least `least` states, and empty them."""
        for receiver in np.flatnonzero(filled >= least).tolist():
            first = receiver * room
            yield receiver, bytes_of(self._buffers[first : first + int(filled[receiver])])
            filled[receiver] = 0

    def _empty(self, slots: int) -> None:
        """A cache of so many slots that holds nothing.

        Each slot holds a state that belongs in another: so nothing is found there.
        """
        if len(self._cache) != slots:
            self._cache = np.empty((0, self._words), np.uint64)  # Gone before the next is there.
            self._cache = empty_table(2 * slots * self._words).view(np.uint64).reshape(slots, -1)
        else:
            self._cache[:] = 0
        rows: Rows = np.zeros((2, self._words), np.uint64)
        at = home(int(hashes(rows[:1])[0]), slots - 1)
        while home(int(hashes(rows[1:])[0]), slots - 1) == at:
            rows[1, 0] += 1
        self._cache[at] = rows[1]


def _power_of_two(number: int) -> int:
    """The least power of two that is not less."""
    return 1 << (number - 1).bit_length()


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
    level's tasks are no longer needed. `tables` lets a worker keep its owner's states in memory.
    `rules` is the digest of the problem's rules, which a worker in another process must have too;
    "" where tasks run in the driver.
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
    tables: bool = False
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
        self.table: OwnerTable | None = None

    def taken_table(self, plan: LevelPlan, owner: int) -> OwnerTable | None:
        """The owner's table, with the states of the files to search; it is to be put back.

        None where tables are not for this level: then there is none from now on, either.
        One that has a file more than these, or another owner's, is not used: begin anew.
        """
        table, self.table = self.table, None
        if not plan.tables:
            return None
        runs = plan.owners[owner].runs
        owners, names = len(plan.owners), {run.name for run in runs}
        if table is None or (table.owners, table.owner) != (owners, owner) or table.files - names:
            table = OwnerTable(widths_of(plan.problem.model.layout), owners, owner)
        for run in runs:
            rows = _read(plan, run, owner)  # Also what is not needed now must be there.
            if run.name not in table.files:
                table.take_in(run.name, rows)
        return table


_benches = threading.local()


def owner_at_hand(plan: LevelPlan) -> int | None:
    """The owner whose table this thread has."""
    kind = getattr(_benches, "kind", None)
    table = _benches.bench.table if kind == (plan.run, plan.sent_rows) else None
    return table.owner if table is not None and table.owners == len(plan.owners) else None


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
    table = bench.taken_table(plan, owner)
    parts = _parts_of(blocks, bench.expander.layout.words)
    if table is None:
        of_parts = _not_in_runs(plan, owner, bench, parts)
    else:
        of_parts = (table.new(rows, part, plan.parts) for part, rows in parts)

    def new() -> Iterator[Rows]:
        for rows in of_parts:
            found.append(rows)
            yield rows

    file = plan.storage.write(name, new(), owner=owner)
    if table is not None:
        if file.rows:
            table.files.add(name)
        bench.table = table
    return found, file


def _parts_of(blocks: Iterable[tuple[int, Any]], words: int) -> Iterator[tuple[int, Rows]]:
    """The candidates of each part, with its number.

    A part is small enough for a processor's cache, which sorting and looking up depend on.
    """
    for part, same in groupby(blocks, itemgetter(0)):
        received = [np.frombuffer(block, np.uint64).reshape(-1, words) for _, block in same]
        yield part, received[0] if len(received) == 1 else np.concatenate(received)


def _not_in_runs(
    plan: LevelPlan, owner: int, bench: _Bench, parts: Iterable[tuple[int, Rows]]
) -> Iterator[Rows]:
    """The candidates that none of the owner's files has, sorted, part by part."""
    words = bench.expander.layout.words
    mine = plan.owners[owner]
    if mine.merge and not plan.storage.exists(mine.merged):
        plan.storage.write(mine.merged, _merge_runs(plan, owner))
    runs = [_read(plan, run, owner) for run in mine.runs]
    if mine.merge:
        runs.append(plan.storage.read(mine.merged, words))
    ranges = len(plan.owners) * plan.parts
    for part, received in parts:
        rows = sort_unique(received, bench.scratch)
        within = [share(run, ranges, owner * plan.parts + part) for run in runs]
        found = unseen(rows, within)
        yield found.copy() if found is rows else found  # Sorting the next part overwrites `rows`.


def _merge_runs(plan: LevelPlan, owner: int) -> Iterator[Rows]:
    """The states of the owner's runs that are to be one, range by range."""
    runs = [_read(plan, run, owner) for run in plan.owners[owner].merge]
    pieces = 1 + sum(map(len, runs)) // MERGED_ROWS
    for piece in range(owner * pieces, (owner + 1) * pieces):
        yield from merge([share(run, len(plan.owners) * pieces, piece) for run in runs])
