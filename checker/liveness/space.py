"""The subgraph that liveness and recovery claims depend on, as arrays.

No edge is kept during a search. Afterwards, the states with an event still to come are taken out of
the levels, where they lie: by threads, or by Spark's tasks. A state where all events that any claim
awaits have come (`checker.compiler.predicate_loop`) violates none, and an execution that reaches it
waits no more; all of those are one more state, `elsewhere`. The others are numbered in the order of
their words, and expanded again. So the numbers, and everything that depends on them, are the same
for every engine and order of exploration.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from waterline.checker.compiler.predicate_loop import Questions, questions_for
from waterline.checker.compiler.program import Optimising, loaded_quickly
from waterline.checker.graph.adjacency import Adjacency, Mask, Numbers
from waterline.checker.graph.edges import edges_of
from waterline.checker.problem.packed_rows import Rows, StateWords, address, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.engines.expander import chunks_of
from waterline.model.core.transition_system import Model

EDGES_MAX = (1 << 31) - 1
"""Most edges: numbers of 32 bits distinguish as many. States are never more than edges."""
_NOWHERE_NEAR = np.iinfo(np.int32).max


class NotExplored(Exception):
    """A step leads to a state that the search has not reached: a bug of the checker."""


@dataclass(frozen=True)
class Space:
    """States by number, the last being `elsewhere`, and edges sorted by source and then by step.

    `depth` is that of each state. `step` is as in `checker.compiler.origins`. `truths[i]` marks the
    states where predicate i is true (two a claim: `model.core.claim.predicates_of`). In `elsewhere`
    the second of each claim (the awaited event) is true, and the first is not.

    `cut_state` and `cut_step` are pairs, sorted in the same way: a step that is enabled in that
    state, and that a bound cuts.
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
        return len(self.depth)

    def words(self, state: int) -> StateWords:
        """A state as the plain value that identifies it."""
        return state_words(self.rows[state])

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


@dataclass(frozen=True, slots=True)
class Gathered:
    """States of a block with an event still to come, and the predicates' truths in them.

    `cut_row` and `cut_step` are pairs of one of these rows and a step that a bound cuts. `faults`
    are states that a claim cannot evaluate.
    """

    rows: Rows
    truths: Mask
    cut_row: Numbers
    cut_step: Numbers
    faults: tuple[StateWords, ...] = ()


@dataclass(frozen=True, slots=True)
class Gatherer:
    """Goes through a block of a level; other processes may do it."""

    problem: Problem

    def __call__(self, block: Rows) -> Gathered:
        """Return the block's states with an event still to come."""
        asked = asked_of(self.problem)
        cut_steps: Numbers = np.array(asked.cut_steps, np.int32)
        rows, truths = [block[:0]], [np.zeros((0, len(asked.predicates)), np.bool_)]
        cuts = [np.zeros((0, len(cut_steps)), np.bool_)]
        faults: list[StateWords] = []
        for chunk in chunks_of(block):
            answers = answers_of(self.problem, asked, chunk)
            if answers.fault is not None:
                faults.append(answers.fault)
            waits = ~answers.all_has_come
            rows.append(chunk[waits])
            truths.append(answers.truths[waits])
            cuts.append(answers.cuts[waits])
        row, column = np.nonzero(np.concatenate(cuts))
        return Gathered(
            np.concatenate(rows),
            np.concatenate(truths),
            row.astype(np.int32),
            cut_steps[column],
            tuple(faults),
        )


def bytes_needed(states: int, transitions: int, words: int, predicates: int) -> int:
    """How much memory it takes to judge a graph, roughly, and rather too much than too little.

    The rows as they were gathered, twice more while they are sorted, and in a table; for each edge
    three numbers, twice while they are put together, with what the search for components makes of
    them. Of 2.6 million states and 9.1 million steps it is 0.88 GB, and 0.82 GB were seen.
    """
    return states * (32 * words + 64 + 2 * predicates) + transitions * 44


def space_of(problem: Problem, parts: Iterable[tuple[int, Gathered]]) -> Space:
    """Return the graph of the gathered states, in any order, each part with its depth.

    Raises `ModelFault` if a predicate could not be evaluated in a state.
    """
    given = list(parts)
    faults = [fault for _, part in given for fault in part.faults]
    if faults:
        raise ModelFault(min(faults))
    asked = asked_of(problem)
    rows: Rows = np.concatenate(
        [np.empty((0, problem.model.layout.words), np.uint64), *(part.rows for _, part in given)]
    )
    order = np.lexsort(rows.T[::-1])
    place: Numbers = np.empty(len(rows), np.int32)
    place[order] = np.arange(len(rows), dtype=np.int32)
    depths = [np.full(len(part.rows), depth, np.int32) for depth, part in given]
    depth = np.concatenate([np.empty(0, np.int32), *depths])[order]
    elsewhere = np.arange(len(asked.predicates)) % 2 == 1
    truths = np.concatenate(
        [np.zeros((0, len(asked.predicates)), np.bool_), *(part.truths for _, part in given)]
    )[order]
    starts = np.cumsum([0, *(len(part.rows) for _, part in given)])
    none: Numbers = np.empty(0, np.int32)
    at = [start + part.cut_row for start, (_, part) in zip(starts[:-1], given, strict=True)]
    cut_state = place[np.concatenate([none, *at]).astype(np.int64)]
    cut_step = np.concatenate([none, *(part.cut_step for _, part in given)])
    by_state = np.lexsort((cut_step, cut_state))
    rows = np.ascontiguousarray(rows[order])
    source, target, step = edges_of(problem, rows, partial(_require_elsewhere, problem))
    return Space(
        rows,
        np.append(depth, np.int32(_NOWHERE_NEAR)),
        source,
        target,
        step,
        tuple(
            np.append(column, is_true) for column, is_true in zip(truths.T, elsewhere, strict=True)
        ),
        cut_state[by_state],
        cut_step[by_state],
    )


def _require_elsewhere(problem: Problem, rows: Rows) -> None:
    """Raise `NotExplored` unless every awaited event has come in all of these states."""
    asked = asked_of(problem)
    for chunk in chunks_of(rows):
        if not answers_of(problem, asked, chunk).all_has_come.all():
            raise NotExplored("a step leads out of the states that were explored")


def actions_named(model: Model, names: Collection[str]) -> Mask:
    """Mark a model's actions that have one of these names."""
    return np.array([action.name in names for action in model.actions], np.bool_)


def asked_of(problem: Problem) -> Questions:
    """Return the predicates of a problem's claims about behaviours, to evaluate in every state."""
    asked = questions_for(problem)
    assert asked is not None, "no claim about behaviours is checked"
    return asked


@dataclass(frozen=True, slots=True)
class Answers:
    """Answers for some states, a row each.

    `truths` has a column for each predicate, `cuts` one for each step of `Questions.cut_steps`:
    True if it is enabled, and a bound cuts it. `fault` is the first state that a claim cannot
    evaluate; those after it are unanswered.
    """

    truths: Mask
    cuts: Mask
    fault: StateWords | None

    @property
    def all_has_come(self) -> Mask:
        """The states where every awaited event has come: the claims' second predicates."""
        come: Mask = np.logical_and.reduce(self.truths[:, 1::2], axis=1)
        return come


def answers_of(problem: Problem, asked: Questions, rows: Rows) -> Answers:
    """Evaluate the questions in these states, in compiled code."""
    settings = np.array(problem.model.settings, np.int64)
    answers: Mask = np.zeros((len(rows), asked.columns), np.bool_)
    functions, counted = loaded_quickly(asked.recipe), Optimising([asked.recipe])
    started = time.monotonic()
    fault = functions["answer"](address(settings), address(rows), 0, len(rows), address(answers))
    counted.note_work(time.monotonic() - started)
    cuts_begin, cuts_end = len(asked.predicates), len(asked.predicates) + len(asked.cut_steps)
    return Answers(
        answers[:, :cuts_begin],
        answers[:, cuts_begin:cuts_end],
        state_words(rows[fault]) if fault >= 0 else None,
    )
