"""Steps out of known states, as arrays, and the number of a state by its hash.

A search keeps no edge. Whatever looks at the graph afterwards expands the states again, by the
functions here. The loops of the index are compiled; there a number is a word of 64 bits, and
arithmetic wraps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.machine_words import shifted
from waterline.checker.compiler.origins import row_of, step_of
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import ArrayValue, constant
from waterline.checker.graph.adjacency import Numbers, Places
from waterline.checker.problem.packed_rows import Rows, address
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.engines.expander import Expander, Tally, chunks_of
from waterline.checker.storage.blocks import NUMBER, block_of, hash_row, same_row

MISSING = -1
"""The number of a state that is not there."""
_SLOTS_A_STATE = 2
"""Slots a state, so that it lies near the slot that its hash names."""


def slot_of(rows: Any, row: int, words: int, slots: int) -> int:
    """Where in a table a state is looked for first."""
    slot: int = shifted((hash_row(rows, row, words) & 0xFFFFFFFF) * slots, 32)
    return slot


def enter_rows(rows: Any, n: int, words: int, table: Any, slots: int) -> int:
    """Enter distinct rows by their numbers."""
    for row in range(n):
        at = slot_of(rows, row, words, slots)
        while table[at] != 0:
            at += 1
            if at == slots:
                at = 0
        table[at] = row + 1
    return 0


def find_rows(
    rows: Any, words: int, table: Any, slots: int, sought: Any, n: int, found: Any
) -> int:
    """found[i] becomes the number of sought[i], -1 of one that is not there."""
    for i in range(n):
        at = slot_of(sought, i, words, slots)
        while table[at] != 0 and not same_row(rows, table[at] - 1, sought, i, words):
            at += 1
            if at == slots:
                at = 0
        found[i] = table[at] - 1
    return 0


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The loops for states of so many words."""
    rows, numbers = block_of(words), ArrayValue("%", "i32")
    return own_recipe(
        (enter_rows, (rows, NUMBER, constant(words), numbers, NUMBER)),
        (find_rows, (rows, constant(words), numbers, NUMBER, rows, NUMBER, numbers)),
    )


class Index:
    """The numbers of distinct states."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows
        self._functions = load_program(recipe_of(rows.shape[1]))
        self._slots = max(1, _SLOTS_A_STATE * len(rows))
        self._table: NDArray[np.uint32] = np.zeros(self._slots, np.uint32)
        self._functions["enter_rows"](address(rows), len(rows), address(self._table), self._slots)

    def numbers_of(self, rows: Rows) -> Numbers:
        """The number of each state, `MISSING` for one that is none of these."""
        found: Numbers = np.empty(len(rows), np.int32)
        self._functions["find_rows"](
            address(self._rows),
            address(self._table),
            self._slots,
            address(rows),
            len(rows),
            address(found),
        )
        return found


def rows_in_order(parts: Sequence[Rows]) -> Rows:
    """The states of these parts, in the order of their words."""
    rows = np.concatenate(parts)
    return np.ascontiguousarray(rows[np.lexsort(rows.T[::-1])])


@dataclass(frozen=True, slots=True)
class Steps:
    """Some steps out of a block of states; valid until the next ones.

    `sources` is the chunk of the block that begins at row `first`, and `origins` (see
    `checker.compiler.origins`) count its rows. `tally` has what was noted of the chunk so far.
    """

    first: int
    sources: Rows
    origins: Places
    successors: Rows
    tally: Tally

    @property
    def source(self) -> Places:
        """The row of each step's source, in the block."""
        rows: Places = self.first + row_of(self.origins)
        return rows

    @property
    def step(self) -> Places:
        """The action of each step with its arguments, as one number."""
        steps: Places = step_of(self.origins)
        return steps


def steps_out_of(expander: Expander, rows: Rows) -> Iterator[Steps]:
    """Every step within the bounds out of each state, some at a time.

    Raises `ModelFault` for the least state of a chunk where an action or a claim raises.
    """
    first = 0
    for chunk in chunks_of(rows):
        tally = Tally(expander.problem)
        for written in expander.expand(chunk, tally):
            origins, successors = expander.origin[:written], expander.out[:written]
            yield Steps(first, chunk, origins, successors, tally)
        if tally.faults:
            raise ModelFault(min(tally.faults))
        first += len(chunk)


def edges_of(
    problem: Problem, rows: Rows, missing: Callable[[Rows], None]
) -> tuple[Numbers, Numbers, Numbers]:
    """Source, target and step of every edge, by source and then by step.

    States have the numbers of their rows. A target that is none of them is `len(rows)`; `missing`
    is called with these targets. Raises `ModelFault`.
    """
    index, expander = Index(rows), Expander(problem)
    sources, targets, taken = ([np.empty(0, np.int32)] for _ in range(3))
    for steps in steps_out_of(expander, rows):
        order = np.argsort(steps.origins, kind="stable")
        goals = index.numbers_of(steps.successors)
        outside = goals == MISSING
        missing(steps.successors[outside])
        goals[outside] = len(rows)
        sources.append(steps.source[order].astype(np.int32))
        targets.append(goals[order])
        taken.append(steps.step[order].astype(np.int32))
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(taken)
