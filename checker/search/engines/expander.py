"""Expander: runs the kernels of a problem over blocks of states.

An expander belongs to one thread: it owns the buffers that successors are written to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.kernel import canonicalise, kernel_of, optimising
from waterline.checker.compiler.loops import FAULT
from waterline.checker.compiler.machine import code_address
from waterline.checker.compiler.program import Optimising
from waterline.checker.problem.packed_rows import Rows, StateWords, address, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Counts, Expansion
from waterline.checker.storage import explore_loop
from waterline.checker.storage.explore_loop import CHUNK_ROWS
from waterline.model.core.claim import ActionProperty, Invariant

GoesOn: TypeAlias = Callable[[NDArray[np.int64]], int]
"""Goes on with a job; DONE, NO_ROOM or FAULTY of `checker.storage.explore_loop`."""


class Breaches:
    """Claims broken in a level, by number, of so many, and the least state for each."""

    def __init__(self, claims: int, words: int) -> None:
        self.broken: NDArray[np.bool_] = np.zeros(claims, np.bool_)
        self.least: Rows = np.zeros((claims, words), np.uint64)

    def note(self, number: int, words: StateWords) -> None:
        """Keep a state for a claim, if it is the least so far."""
        if not self.broken[number] or words < state_words(self.least[number]):
            self.broken[number] = True
            self.least[number] = words

    def note_all(self, other: Breaches) -> None:
        """Take in what was found in another part of the same level."""
        for number, words in other.as_dict().items():
            self.note(number, words)

    def as_dict(self) -> dict[int, StateWords]:
        """The states kept, by the claim's number."""
        return {int(i): state_words(self.least[i]) for i in np.flatnonzero(self.broken)}


class Tally:
    """Totals of a level's expansion; its breaches are those of properties."""

    def __init__(self, problem: Problem, happened: NDArray[np.bool_] | None = None) -> None:
        self.fired: Counts = np.zeros(len(problem.model.actions), np.int64)
        self.cut: Counts = np.zeros(cut_shape(problem), np.int64)
        self.happened: NDArray[np.bool_] = np.zeros(len(problem.reachable), np.bool_)
        if happened is not None:
            self.happened |= happened
        self.breaches = Breaches(len(problem.properties), problem.model.layout.words)
        self.deadlock: StateWords | None = None
        self.faults: list[StateWords] = []

    def add(self, other: Tally) -> None:
        """Take in another part of the same level."""
        self.fired += other.fired
        self.cut += other.cut
        self.happened |= other.happened
        self.breaches.note_all(other.breaches)
        self.deadlock = least(self.deadlock, other.deadlock)
        self.faults += other.faults

    def as_expansion(self) -> Expansion:
        """Return the engine's answer for a level without faults."""
        return Expansion(
            fired=self.fired,
            cut=self.cut,
            happened=self.happened,
            deadlock=self.deadlock,
            broken=self.breaches.as_dict(),
        )


def cut_shape(problem: Problem) -> tuple[int, int]:
    """Actions by bounds: the shape of the counts of transitions that were cut."""
    return len(problem.model.actions), len(problem.model.limits)


class Findings(Breaches):
    """Invariants that the states of a level violate, and states where one raised."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(len(problem.invariants), problem.model.layout.words)
        self.faults: list[StateWords] = []

    def add(self, other: Findings) -> None:
        """Take in what was found in another part of the same level."""
        self.note_all(other)
        self.faults += other.faults


def least(left: StateWords | None, right: StateWords | None) -> StateWords | None:
    """The smaller of two states, where there are any."""
    if left is None or right is None:
        return left or right
    return min(left, right)


def action_mask(problem: Problem) -> int:
    """Bit i is set when action i belongs to the version's table of contents."""
    model = problem.model
    return sum(1 << i for i, a in enumerate(model.actions) if a.name in model.contents)


def claim_mask(problem: Problem, claims: Sequence[Invariant | ActionProperty]) -> int:
    """Return a mask with bit i set if claim i of these is requested and applies to the version."""
    return sum(1 << i for i, claim in enumerate(claims) if problem.is_checked(claim))


def initial_rows(problem: Problem) -> Rows:
    """Where a search begins: the initial states, or what represents them, distinct and in order."""
    given = [state.words for state in problem.model.initial]
    rows: Rows = np.array(given, np.uint64).reshape(-1, problem.model.layout.words)
    canonicalise(problem, rows)
    return np.array(sorted({state_words(row) for row in rows}), np.uint64)


def chunks_of(rows: Rows) -> Iterator[Rows]:
    """A block in pieces that an expander has room for: C-contiguous, in order, none empty."""
    for first in range(0, len(rows), CHUNK_ROWS):
        yield np.ascontiguousarray(rows[first : first + CHUNK_ROWS])


class Expander:
    """Successors and verdicts for blocks of states, in compiled code."""

    def __init__(self, problem: Problem, *, chunk_rows: int = CHUNK_ROWS) -> None:
        self.problem = problem
        self.layout = problem.model.layout
        self.kernel = kernel_of(problem)
        self._optimising: Optimising | None = optimising(problem)
        self._settings: NDArray[np.int64] = np.array(problem.model.settings, np.int64)
        self.actions = action_mask(problem)
        self.invariants = claim_mask(problem, problem.invariants)
        self.properties = claim_mask(problem, problem.properties)
        # Room for the most that a chunk can have. What is never written costs nothing.
        room = chunk_rows * max(1, self.kernel.successors_max)
        self.out: Rows = np.empty((room, self.layout.words), np.uint64)
        self.origin: NDArray[np.int64] = np.empty(room, np.int64)
        self._job: NDArray[np.int64] = np.zeros(explore_loop.JOB, np.int64)
        self._job[: explore_loop.ROWS] = (
            *self._code(),
            address(self._settings),
            self.actions,
            self.properties,
            address(self.out),
            len(self.out),
            address(self.origin),
        )

    def _code(self) -> tuple[int, int]:
        return code_address(self.kernel.expand), code_address(self.kernel.canonical)

    @contextmanager
    def _working(self) -> Iterator[None]:
        """Optimised code once there is some; until then what is worked counts towards it."""
        if self._optimising is None:
            yield
            return
        if self._optimising.is_done:
            # Not `kernel_of`: a name may have been rebound since the search began.
            made = self._optimising.functions
            self.kernel = replace(
                self.kernel,
                expand=made["expand"],
                inspect=made["inspect"],
                canonical=made.get("canonical"),
            )
            code = self._code()
            self._job[: len(code)] = code
            self._optimising = None
            yield
            return
        started = time.monotonic()
        yield
        self._optimising.note_work(time.monotonic() - started)

    def expand(self, rows: Rows, tally: Tally) -> Iterator[int]:
        """Write the successors of `rows` to `self.out`, and where from to `self.origin`.

        Every applicable property is evaluated on each. Under a symmetry it is their representatives
        that are written then.
        Yields how many there are, as often as the buffer is full: once for a chunk, unless a row in
        which an action steps out of range is noted in the tally and skipped.
        """
        dead = np.zeros(len(rows), np.bool_)
        row = 0
        while row < len(rows):
            with self._working():
                following, written, ended = self._expand_from(rows, row, tally, dead)
            if written:
                canonicalise(self.problem, self.out[:written])
                yield written
            if ended == FAULT:
                tally.faults.append(state_words(rows[following]))
                following += 1
            row = following
        if dead.any():
            tally.deadlock = least(tally.deadlock, min(state_words(r) for r in rows[dead]))

    def _expand_from(
        self, rows: Rows, row: int, tally: Tally, dead: NDArray[np.bool_]
    ) -> tuple[int, int, int]:
        end: NDArray[np.int64] = np.zeros(2, np.int64)
        ended = self.kernel.expand(
            address(self._settings),
            self.actions,
            self.properties,
            address(rows),
            row,
            len(rows),
            address(self.out),
            len(self.out),
            address(self.origin),
            address(tally.fired),
            address(tally.cut),
            address(tally.happened),
            address(dead),
            address(tally.breaches.broken),
            address(tally.breaches.least),
            address(end),
        )
        return int(end[0]), int(end[1]), ended

    def explore(self, rows: Rows, tally: Tally, go_on: GoesOn) -> Iterator[None]:
        """Have the successors of `rows` made and kept by compiled code.

        The same as `expand`, without coming back to Python for each chunk. `go_on` is given a job
        of `checker.storage.explore_loop`, and says how it ended. Yields whenever it ends for want
        of room, which is to be made then.
        """
        dead = np.zeros(len(rows), np.bool_)
        job = self._job
        job[explore_loop.ROWS :] = (
            address(rows),
            len(rows),
            address(tally.fired),
            address(tally.cut),
            address(tally.happened),
            address(dead),
            address(tally.breaches.broken),
            address(tally.breaches.least),
            *(0, 0, 0, 0),
        )
        while (ended := self._gone_on(go_on, job)) != explore_loop.DONE:
            if ended == explore_loop.NO_ROOM:
                yield
            else:
                row = int(job[explore_loop.ROW])
                tally.faults.append(state_words(rows[row]))
                job[explore_loop.ROW] = row + 1
        if dead.any():
            tally.deadlock = least(tally.deadlock, min(state_words(r) for r in rows[dead]))

    def _gone_on(self, go_on: GoesOn, job: NDArray[np.int64]) -> int:
        with self._working():
            return go_on(job)

    def inspect(self, rows: Rows, findings: Findings) -> None:
        """Evaluate every applicable invariant in every row."""
        row = 0
        while row < len(rows):
            with self._working():
                fault = self.kernel.inspect(
                    address(self._settings),
                    self.invariants,
                    address(rows),
                    row,
                    len(rows),
                    address(findings.broken),
                    address(findings.least),
                )
            if fault < 0:
                return
            findings.faults.append(state_words(rows[fault]))
            row = fault + 1
