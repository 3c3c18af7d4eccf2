"""Coverage of random walks, as numbers that add up over batches, threads and tasks."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from waterline.checker.analysis.simulate.hyperloglog import empty_sketch, estimate
from waterline.checker.problem.packed_rows import StateWords
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.expander import cut_shape
from waterline.checker.search.fault_count import counters, sum_counts


@dataclass(frozen=True, slots=True, order=True)
class Sighting:
    """Place where a claim broke: steps taken, the number of the walk, and the last step (-1: none).

    For a property the last step is unknown here: it is one out of the state before.
    """

    depth: int
    walk: int
    step: int


@dataclass(slots=True, kw_only=True)
class Coverage:
    """Coverage of so many walks.

    `taken` are steps by action, `fired` those that were enabled in some state on the way, `cut`
    those that a bound cut, by action and bound. `lengths[d]` is the number of walks of d steps.
    `spent` is how many used up each budget, by the field that counts it, and then how many used so
    many faults in all. `sketch` counts the distinct states of the walks. `sightings` and
    `broken_in` are by the claim's number among all that have a verdict: the first place where it
    breaks, and the number of walks that break it.
    """

    walks: int = 0
    fired: NDArray[np.int64]
    cut: NDArray[np.int64]
    taken: NDArray[np.int64]
    happened: NDArray[np.bool_]
    lengths: NDArray[np.int64]
    faults: dict[str, NDArray[np.int64]]
    sketch: NDArray[np.int32] = field(default_factory=empty_sketch)
    sightings: dict[int, Sighting] = field(default_factory=dict)
    broken_in: dict[int, int] = field(default_factory=dict)
    fault: StateWords | None = None

    @property
    def steps(self) -> int:
        """How many steps were taken."""
        return int(self.taken.sum())

    @property
    def distinct(self) -> float:
        """About how many different states walks went through."""
        return estimate(self.sketch)

    def add(self, other: Coverage) -> None:
        """Take in what other walks saw."""
        self.walks += other.walks
        self.fired += other.fired
        self.cut += other.cut
        self.taken += other.taken
        self.happened |= other.happened
        self.lengths += other.lengths
        for name, used in other.faults.items():
            self.faults[name] = sum_counts(self.faults[name], used)
        np.maximum(self.sketch, other.sketch, out=self.sketch)
        for claim, sighting in other.sightings.items():
            self.sightings[claim] = min(self.sightings.get(claim, sighting), sighting)
            self.broken_in[claim] = self.broken_in.get(claim, 0) + other.broken_in[claim]
        if self.fault is None:
            self.fault = other.fault


def nothing_seen(problem: Problem, depth: int) -> Coverage:
    """Return the coverage of no walks."""
    actions = len(problem.model.actions)
    return Coverage(
        fired=np.zeros(actions, np.int64),
        cut=np.zeros(cut_shape(problem), np.int64),
        taken=np.zeros(actions, np.int64),
        happened=np.zeros(len(problem.reachable), np.bool_),
        lengths=np.zeros(depth + 1, np.int64),
        faults={name: np.zeros(1, np.int64) for name in counters(problem.model)},
    )
