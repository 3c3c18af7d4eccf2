"""Batches of random walks in compiled code, and one walk repeated to record its steps."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.analysis.simulate import walk_loops as loops
from waterline.checker.analysis.simulate.coverage import Coverage, Sighting, nothing_seen
from waterline.checker.compiler.kernel import Kernel, kernel_of
from waterline.checker.compiler.machine import Functions, code_address
from waterline.checker.compiler.program import Recipe, load_program, own_recipe
from waterline.checker.compiler.values import constant
from waterline.checker.problem.packed_rows import Rows, StateWords, address, state_words
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.engines.expander import action_mask, claim_mask
from waterline.checker.search.fault_count import used_in_rows
from waterline.checker.storage.blocks import NUMBERS

DEPTH = 100
"""How many steps a walk has at most, by default."""


class Choosing(enum.Enum):
    """Way to choose steps at random, by its name as an option."""

    MIXED = "mixed"
    """Each of the other four in turn, from walk to walk."""
    STEPS = "steps"
    """Any step that is enabled, each as often as another."""
    ACTIONS = "actions"
    """An action with an enabled step, and then one of its steps."""
    PACES = "paces"
    """Like `ACTIONS`; in each walk every action has a pace of its own, for the whole walk."""
    RARE = "rare"
    """Like `PACES`, and steps from outside, such as faults, are rarer than the protocol's own."""

    @property
    def number(self) -> int:
        """Number of this way in compiled code."""
        return _NUMBERS[self]


_NUMBERS = {
    Choosing.STEPS: loops.STEPS,
    Choosing.ACTIONS: loops.ACTIONS_FIRST,
    Choosing.PACES: loops.PACES,
    Choosing.RARE: loops.RARE,
    Choosing.MIXED: loops.MIXED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How walks are made: `seed` and a walk's number are all that its chance goes by.

    A walk has at most `depth` steps. `outside` names the actions that are done to the protocol
    (`checker.problem.words.Words`): a problem that was sent elsewhere may know them no more.
    """

    seed: int = 0
    depth: int = DEPTH
    choosing: Choosing = Choosing.MIXED
    outside: frozenset[str] = frozenset()


BATCH = 1024
"""Walks that take their steps together: their successors fit the processor's second-level cache."""
_NONE = -1


@functools.cache
def recipe_of(words: int) -> Recipe:
    """The loops of walks through states of so many words."""
    of_words = constant(words)
    return own_recipe((loops.begin, (NUMBERS, of_words)), (loops.walk, (NUMBERS, of_words)))


class Walker:
    """Makes walks of a problem as a plan says; belongs to one thread.

    What is compiled must be ready (`checker.search.engines.prepare`, and `recipe_of`).
    """

    def __init__(self, problem: Problem, plan: Plan) -> None:
        self.problem, self.plan = problem, plan
        self._words = problem.model.layout.words
        self._functions: Functions = load_program(recipe_of(self._words))
        self._arrays = _arrays(problem, plan)
        self._kernel = kernel_of(problem)
        self._job = _job(problem, plan, self._kernel, self._arrays)

    def batch(self, first: int, walks: int) -> Coverage:
        """Return the coverage of `walks` walks, at most `BATCH`; a fault ends them."""
        coverage = nothing_seen(self.problem, self.plan.depth)
        record: NDArray[np.int64] = np.zeros(0, np.int64)
        coverage.fault = self._run(first, walks, self.plan.depth, coverage, record)
        live, arrays = int(self._job[loops.LIVE]), self._arrays
        numbers = arrays["lanes"][:live, loops.NUMBER] - first
        arrays["lengths"][numbers] = self.plan.depth
        arrays["ended"][numbers] = arrays["rows"][:live]
        coverage.walks = walks
        coverage.lengths += np.bincount(arrays["lengths"][:walks], minlength=self.plan.depth + 1)
        for name in coverage.faults:
            used = used_in_rows(self.problem.model, name, arrays["ended"][:walks])
            coverage.faults[name] = np.bincount(used)
        for claim, (depth, walk, step, times) in enumerate(arrays["seen"].tolist()):
            if times:
                coverage.sightings[claim] = Sighting(depth, walk, step)
                coverage.broken_in[claim] = times
        return coverage

    def steps(self, number: int, depth: int) -> tuple[StateWords, list[int]]:
        """The initial state of a walk, and its first steps, as many as `depth` if it has them."""
        record = np.full(max(1, depth), _NONE, np.int64)
        coverage = nothing_seen(self.problem, self.plan.depth)
        self._begin(number, 1, 0, coverage, record)
        initial = state_words(self._arrays["rows"][0])
        fault = self._run(number, 1, depth, coverage, record)
        if fault is not None:
            raise ModelFault(fault)
        return initial, [step for step in record[:depth].tolist() if step != _NONE]

    def _begin(
        self, first: int, walks: int, depth: int, coverage: Coverage, record: NDArray[np.int64]
    ) -> int:
        job, arrays = self._job, self._arrays
        arrays["seen"][:] = _NONE
        arrays["seen"][:, loops.SEEN_WALKS] = 0
        arrays["broken"][:] = 0
        job[loops.FIRST], job[loops.LIVE] = first, walks
        job[loops.DEPTH], job[loops.DEPTH_MAX] = 0, depth
        job[loops.FIRED], job[loops.CUT] = address(coverage.fired), address(coverage.cut)
        job[loops.HAPPENED] = address(coverage.happened)
        job[loops.TAKEN] = address(coverage.taken)
        job[loops.SKETCH] = address(coverage.sketch)
        job[loops.RECORD] = address(record) if len(record) else 0
        return self._functions["begin"](address(job))

    def _run(
        self, first: int, walks: int, depth: int, coverage: Coverage, record: NDArray[np.int64]
    ) -> StateWords | None:
        """Begin and walk; the state whose claims or actions raise, if there is one."""
        how = self._begin(first, walks, depth, coverage, record)
        if how == loops.DONE:
            how = self._functions["walk"](address(self._job))
        if how == loops.DONE:
            return None
        in_rows = self._job[loops.WHERE] == address(self._arrays["rows"])
        block: Rows = self._arrays["rows" if in_rows else "out"]
        return state_words(block[int(self._job[loops.FAULTY])])


def _arrays(problem: Problem, plan: Plan) -> dict[str, NDArray[Any]]:
    """Return a walker's arrays, by name; one that is never written costs nothing."""
    model, words = problem.model, problem.model.layout.words
    most = max(1, kernel_of(problem).successors_max)
    claims = max(1, len(problem.invariants), len(problem.properties))
    whole, wide = np.int64, np.uint64
    return {
        "settings": np.array(model.settings, whole),
        "initial": np.array([state.words for state in model.initial], wide).reshape(-1, words),
        "is_outside": np.array([action.name in plan.outside for action in model.actions], np.bool_),
        "rows": np.zeros((BATCH, words), wide),
        "out": np.empty((BATCH * most, words), wide),
        "origin": np.empty(BATCH * most, whole),
        "dead": np.zeros(BATCH, np.bool_),
        "broken": np.zeros(claims, np.bool_),
        "least": np.zeros((claims, words), wide),
        "spare_out": np.empty((most, words), wide),
        "spare_origin": np.empty(most, whole),
        "spare_counts": np.zeros(len(model.actions) * max(1, len(model.limits)), whole),
        "spare_happened": np.ones(max(1, len(problem.reachable)), np.bool_),
        "lanes": np.zeros((BATCH, loops.LANE), whole),
        "seen": np.zeros((max(1, len(problem.judged)), loops.SEEN_WIDTH), whole),
        "ended": np.zeros((BATCH, words), wide),
        "lengths": np.zeros(BATCH, whole),
    }


def _job(
    problem: Problem, plan: Plan, kernel: Kernel, arrays: dict[str, NDArray[Any]]
) -> NDArray[np.int64]:
    """The job of a walker, but for what is another thing in every batch."""
    job: NDArray[np.int64] = np.zeros(loops.JOB, np.int64)
    invariants = claim_mask(problem, problem.invariants)
    properties = claim_mask(problem, problem.properties)
    numbers = {
        loops.EXPAND: code_address(kernel.expand),
        loops.INSPECT: code_address(kernel.inspect),
        loops.ACTIONS: action_mask(problem),
        loops.INVARIANTS: invariants,
        loops.PROPERTIES: properties,
        loops.INVARIANTS_ALL: len(problem.invariants),
        loops.PROPERTIES_ALL: len(problem.properties),
        loops.INITIALS: len(arrays["initial"]),
        loops.SEED: plan.seed,
        loops.WAY: plan.choosing.number,
        loops.SIZE: len(arrays["out"]),
        loops.SPARE_SIZE: len(arrays["spare_out"]),
    }
    places = {
        loops.SETTINGS: "settings",
        loops.INITIAL: "initial",
        loops.IS_OUTSIDE: "is_outside",
        loops.ROWS: "rows",
        loops.OUT: "out",
        loops.ORIGIN: "origin",
        loops.DEAD: "dead",
        loops.BROKEN: "broken",
        loops.LEAST: "least",
        loops.SPARE_OUT: "spare_out",
        loops.SPARE_ORIGIN: "spare_origin",
        loops.SPARE_COUNTS: "spare_counts",
        loops.SPARE_HAPPENED: "spare_happened",
        loops.LANES: "lanes",
        loops.SEEN: "seen",
        loops.ENDED: "ended",
        loops.LENGTHS: "lengths",
    }
    for place, number in numbers.items():
        job[place] = number
    for place, name in places.items():
        job[place] = address(arrays[name])
    return job
