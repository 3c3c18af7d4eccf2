"""Violating states, and the predecessors of a state.

Nothing of it is kept during a search: the level before is expanded again. It is for few states, as
those that break a claim at the least depth and what leads to them.

A search that finds nothing pays nothing: after its end, the level is searched again for the claims
that are violated in it. All ways to a state took as many faults (`checker.search.fault_count`), so
a trace to one of these has the fewest of all shortest ones.

For a property, they are the states with a step that breaks it, and the faults are those after the
step.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import row_of
from waterline.checker.graph.edges import steps_out_of
from waterline.checker.problem.packed_rows import Rows, StateWords, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Engine
from waterline.checker.search.engines.expander import Expander, Findings, Tally
from waterline.checker.search.fault_count import counters, faults_in, faults_in_rows
from waterline.checker.search.result import Result
from waterline.checker.storage.blocks import hashes
from waterline.checker.storage.explore_loop import CHUNK_ROWS
from waterline.model.core.claim import ActionProperty
from waterline.model.core.state import State
from waterline.model.core.transition_system import Arguments


@dataclass(frozen=True, slots=True)
class Path:
    """An initial state, by its number, and the steps from there."""

    initial: int
    calls: tuple[tuple[str, Arguments], ...]


Ways = Mapping[StateWords, Sequence[tuple[StateWords, int]]]
"""Into each state the parents that lead there, each with the step, in no fixed order."""


def ways_into(problem: Problem, engine: Engine, depth: int, wanted: set[StateWords]) -> Ways:
    """From the level before `depth` into each of these states of that level."""
    found: dict[StateWords, list[tuple[StateWords, int]]] = {words: [] for words in wanted}
    for part in engine.over_level(depth - 1, _Finder(problem, tuple(sorted(wanted)))):
        for target, parent, step in part:
            found[target].append((parent, step))
    return found


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds every way into a wanted state from a block; other processes may do it."""

    problem: Problem
    wanted: tuple[StateWords, ...]

    def __call__(self, block: Rows) -> list[tuple[StateWords, StateWords, int]]:
        expander = Expander(self.problem)
        wanted: Rows = np.array(self.wanted, np.uint64)
        keys = hashes(wanted)
        order = np.argsort(keys, kind="stable")
        keys, known = keys[order], set(self.wanted)
        found: list[tuple[StateWords, StateWords, int]] = []
        for steps in steps_out_of(expander, block):
            for at in _candidates(steps.successors, keys).tolist():
                target = state_words(steps.successors[at])
                if target in known:
                    source = state_words(steps.sources[row_of(steps.origins[at])])
                    found.append((target, source, int(steps.step[at])))
        return found


def _candidates(rows: Rows, keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return the rows with the hash of a wanted state."""
    sought = hashes(np.ascontiguousarray(rows))
    places = np.minimum(np.searchsorted(keys, sought), len(keys) - 1)
    return np.flatnonzero(keys[places] == sought)


ENDS_MAX = 200
"""How many of the states with the fewest faults are kept: the least ones, of more."""
_FEW = 64
"""Rows that are judged one by one once some of them are known to break a claim."""


@dataclass(frozen=True, slots=True)
class Breaking:
    """How many states break a claim at the depth, and those of them that took the fewest faults.

    `ends` are these, in order. `faults` is how many it took, None where the model counts none.
    `of_steps`: a step out of the states breaks the claim, which is a property.
    """

    depth: int
    ends: tuple[StateWords, ...]
    states: int
    faults: int | None
    of_steps: bool = False


@dataclass(frozen=True, slots=True)
class _Part:
    """A part of a level: how many states break a claim, and the first in order."""

    states: int
    faults: int
    ends: tuple[StateWords, ...]


def breaking_states(problem: Problem, engine: Engine, result: Result) -> dict[str, Breaking]:
    """For each violated claim the states that a trace may lead to; of a property those before
    the step. `engine` has absorbed their levels.
    """
    of_steps = {claim.name for claim in problem.properties}
    at: dict[int, list[str]] = defaultdict(list)
    for found in result.violated:
        assert found.depth is not None
        at[found.depth - 1 if found.name in of_steps else found.depth].append(found.name)
    counts = bool(counters(problem.model))
    breaking: dict[str, Breaking] = {}
    for depth, names in at.items():
        parts: dict[str, list[_Part]] = defaultdict(list)
        for found_in_part in engine.over_level(depth, _Looker(problem, tuple(names))):
            for name, part in found_in_part.items():
                parts[name].append(part)
        for name in names:
            fewest = min(part.faults for part in parts[name])
            ends = sorted(end for p in parts[name] if p.faults == fewest for end in p.ends)
            breaking[name] = Breaking(
                depth,
                tuple(ends[:ENDS_MAX]),
                sum(part.states for part in parts[name]),
                fewest if counts else None,
                name in of_steps,
            )
    return breaking


def all_breaking(
    problem: Problem, engine: Engine, name: str, found: Breaking
) -> tuple[tuple[int, StateWords], ...]:
    """Every state that a shortest trace of the claim may lead to, after how many faults; in order.

    Of a property every state before the step. The least `ENDS_MAX`, of more.
    """
    states: list[tuple[int, StateWords]] = []
    for part in engine.over_level(found.depth, _Lister(problem, name)):
        states = sorted((*states, *part))[:ENDS_MAX]
    return tuple(states)


@dataclass(frozen=True, slots=True)
class _Lister:
    """Lists what breaks one claim in a block of a level; other processes may do it."""

    problem: Problem
    name: str

    def __call__(self, block: Rows) -> list[tuple[int, StateWords]]:
        expander, rows = Expander(self.problem), list[Rows]()
        for number, invariant in enumerate(self.problem.invariants):
            if invariant.name == self.name:
                rows += breaking_rows(block, expander, number)
        for number, claim in enumerate(self.problem.properties):
            if claim.name == self.name:
                rows += _breaking(block, partial(_is_left_wrongly, expander, number))
        if not rows:
            return []
        whole = np.concatenate(rows)
        faults = faults_in_rows(self.problem.model, whole).tolist()
        return sorted(zip(faults, map(state_words, whole), strict=True))[:ENDS_MAX]


@dataclass(frozen=True, slots=True)
class _Looker:
    """Looks through a block of a level for some claims; other processes may do it."""

    problem: Problem
    names: tuple[str, ...]

    def __call__(self, block: Rows) -> dict[str, _Part]:
        expander = Expander(self.problem)
        found: dict[str, _Part] = {}
        for number, invariant in enumerate(self.problem.invariants):
            if invariant.name in self.names:
                rows = [*breaking_rows(block, expander, number)]
                self._note(found, invariant.name, rows)
        for number, claim in enumerate(self.problem.properties):
            if claim.name in self.names:
                rows = [*_breaking(block, partial(_is_left_wrongly, expander, number))]
                self._note(found, claim.name, rows, claim)
        return found

    def _note(
        self,
        found: dict[str, _Part],
        name: str,
        rows: list[Rows],
        claim: ActionProperty | None = None,
    ) -> None:
        if not rows:
            return
        whole = np.concatenate(rows)
        before = faults_in_rows(self.problem.model, whole)
        faults = int(before.min())
        ends = [state_words(row) for row in whole[before == faults]]
        if claim is not None:
            pairs = zip(before.tolist(), map(state_words, whole), strict=True)
            faults, ends = self._fewest_after(sorted(pairs), claim)
        found[name] = _Part(len(whole), faults, tuple(sorted(ends)[:ENDS_MAX]))

    def _fewest_after(
        self, states: list[tuple[int, StateWords]], claim: ActionProperty
    ) -> tuple[int, list[StateWords]]:
        """The fewest faults after a step that breaks the property, and the states before those.

        `states` are in the order of the faults before: a step takes one at most.
        """
        model, fewest, ends, without = self.problem.model, sys.maxsize, list[StateWords](), 0
        for before, words in states:
            # Those whose last step is no fault come in order, so that more of them change nothing.
            if before > fewest or without == ENDS_MAX:
                break
            state = State(model.layout, words)
            after = min(
                faults_in(model, step.after)
                for step in model.successors(state)
                if not claim.keeps(state, step.outcome, model.settings)
            )
            if after < fewest:
                fewest, ends = after, []
            if after == fewest:
                ends.append(words)
                without += before == fewest
        return fewest, ends


def breaking_rows(block: Rows, expander: Expander, number: int) -> Iterator[Rows]:
    """The rows of a block that violate the invariant of this number, one by one."""
    yield from _breaking(block, partial(_violates, expander, number))


def _breaking(block: Rows, breaks: Callable[[Rows], bool]) -> Iterator[Rows]:
    """The rows of a block that break a claim, one by one: most pieces have none."""
    for rows in _pieces(block, CHUNK_ROWS):
        if breaks(rows):
            for few in _pieces(rows, _FEW):
                if breaks(few):
                    yield from filter(breaks, _pieces(few, 1))


def _violates(expander: Expander, number: int, rows: Rows) -> bool:
    """True if some row violates the invariant of this number."""
    findings = Findings(expander.problem)
    expander.inspect(rows, findings)
    return bool(findings.broken[number])


def _is_left_wrongly(expander: Expander, number: int, rows: Rows) -> bool:
    """True if a step out of some row breaks the property of this number."""
    tally = Tally(expander.problem)
    for _ in expander.expand(rows, tally):
        pass
    return bool(tally.breaches.broken[number])


def _pieces(rows: Rows, size: int) -> Iterator[Rows]:
    for at in range(0, len(rows), size):
        yield np.ascontiguousarray(rows[at : at + size])
