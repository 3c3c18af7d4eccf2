"""The explored graph as arrays: every state, every step, and what is true of each state.

No edge is kept during a search. Once it has ended, the states are numbered in the order of their
words, and expanded again. So the numbers, and all that goes by them, are the same whoever explored
and in which order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from checker.behaviours.adjacency import Adjacency, Mask, Numbers
from checker.behaviours.index import Index
from checker.compiled.asking import Questions
from checker.compiled.origins import row_of, step_of
from checker.compiled.program import loaded
from checker.engines.engine import ModelFault, Words
from checker.engines.expander import Expander, Tally, words_of
from checker.problems.problem import Problem
from checker.rows import Rows, address
from checker.store.explore_loop import CHUNK_ROWS

EDGES_MAX = (1 << 31) - 1
"""As many as numbers of 32 bits tell apart; there are no more states than edges."""
_LIBRARY_BYTES = 30_000_000
"""What SciPy takes by itself."""


@dataclass(frozen=True)
class Space:
    """States by number, and edges sorted by the state that they leave and then by their step.

    `depth` is that of each state. `step` is as in `checker.compiled.origins`. `truths[i]` says of
    which states predicate i is true. `cut_state` and `cut_step` are pairs, sorted in the same way:
    a step that is enabled there, and that a bound cuts.
    """

    rows: Rows
    depth: Numbers
    source: Numbers
    target: Numbers
    step: Numbers
    truths: tuple[Mask, ...]
    cut_state: Numbers
    cut_step: Numbers

    def __len__(self) -> int:
        return len(self.rows)

    def words(self, state: int) -> Words:
        """A state as the plain value that identifies it."""
        return words_of(self.rows[state])

    @cached_property
    def forwards(self) -> Adjacency:
        """The edges out of each state."""
        return Adjacency(self.source, self.target, len(self))

    @cached_property
    def backwards(self) -> Adjacency:
        """The edges into each state, the other way round."""
        return Adjacency(self.target, self.source, len(self))

    @cached_property
    def cuts(self) -> Adjacency:
        """The cut steps of each state, as edges that lead nowhere."""
        return Adjacency(self.cut_state, self.cut_state, len(self))


def bytes_needed(states: int, transitions: int, words: int, predicates: int) -> int:
    """How much memory it takes to judge a graph, roughly, and rather too much than too little.

    The rows twice while they are sorted, and for each edge three numbers, twice while they are put
    together, with what the search for components makes of them. Of 4.4 million states and 15.2
    million steps it is 1.2 GB, and 1.1 GB were seen.
    """
    return _LIBRARY_BYTES + states * (16 * words + 56 + predicates) + transitions * 44


def space_of(problem: Problem, levels: Sequence[Iterable[Rows]], asked: Questions) -> Space:
    """The graph of the states in these levels, the blocks of each in any order.

    Raises `ModelFault` where something that is asked of a state steps out of range.
    """
    rows, depth = _numbered(levels, problem.model.layout.words)
    truths, cut_state, cut_step = _answers(problem, rows, asked)
    source, target, step = _edges(problem, rows)
    return Space(rows, depth, source, target, step, truths, cut_state, cut_step)


def _numbered(levels: Sequence[Iterable[Rows]], words: int) -> tuple[Rows, Numbers]:
    """All states in the order of their words, with their depths."""
    blocks, depths = [np.empty((0, words), np.uint64)], [np.empty(0, np.int32)]
    for depth, level in enumerate(levels):
        for block in level:
            blocks.append(block)
            depths.append(np.full(len(block), depth, np.int32))
    rows, depth_of = np.concatenate(blocks), np.concatenate(depths)
    order = np.lexsort(rows.T[::-1])
    return np.ascontiguousarray(rows[order]), depth_of[order]


def _edges(problem: Problem, rows: Rows) -> tuple[Numbers, Numbers, Numbers]:
    """Every step out of every state: source, target, step."""
    index, expander = Index(rows), Expander(problem)
    sources, targets, steps = ([np.empty(0, np.int32)] for _ in range(3))
    for first, chunk in _chunks(rows):
        tally = Tally(problem)
        for written in expander.expand(chunk, tally):
            origin = expander.origin[:written]
            order = np.argsort(origin, kind="stable")
            origin = origin[order]
            goals = index.numbers_of(expander.out[:written])
            sources.append((first + row_of(origin)).astype(np.int32))
            targets.append(goals[order])
            steps.append(step_of(origin).astype(np.int32))
        if tally.faults:
            raise ModelFault(min(tally.faults))
    return np.concatenate(sources), np.concatenate(targets), np.concatenate(steps)


def _answers(
    problem: Problem, rows: Rows, asked: Questions
) -> tuple[tuple[Mask, ...], Numbers, Numbers]:
    """The truths of all states, and pairs of states and steps that are cut there."""
    answer = loaded(asked.recipe)["answer"]
    settings = np.array(problem.model.settings, np.int64)
    predicates = len(asked.predicates)
    cut_steps: Numbers = np.array(asked.cut_steps, np.int32)
    truths: list[list[Mask]] = [[np.empty(0, np.bool_)] for _ in asked.predicates]
    states, steps = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    for first, chunk in _chunks(rows):
        answers: Mask = np.zeros((len(chunk), asked.columns), np.bool_)
        fault = answer(address(settings), address(chunk), 0, len(chunk), address(answers))
        if fault >= 0:
            raise ModelFault(words_of(chunk[fault]))
        for column, found in enumerate(truths):
            found.append(answers[:, column].copy())
        cut_row, cut_column = np.nonzero(answers[:, predicates : predicates + len(cut_steps)])
        states.append((first + cut_row).astype(np.int32))
        steps.append(cut_steps[cut_column])
    return (
        tuple(np.concatenate(found) for found in truths),
        np.concatenate(states),
        np.concatenate(steps),
    )


def _chunks(rows: Rows) -> Iterator[tuple[int, Rows]]:
    """Some rows at a time, with the number of the first."""
    for first in range(0, len(rows), CHUNK_ROWS):
        yield first, rows[first : first + CHUNK_ROWS]
