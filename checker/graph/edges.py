"""Steps out of known states, as arrays.

A search keeps no edge. Whatever looks at the graph afterwards expands the states again, by the
functions here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from waterline.checker.compiler.origins import row_of, step_of
from waterline.checker.graph.adjacency import Numbers, Places
from waterline.checker.graph.index import MISSING, Index
from waterline.checker.problem.packed_rows import Rows
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.engines.expander import Expander, Tally, chunks_of


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
