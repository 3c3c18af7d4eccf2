"""Account of a search in progress: steps taken, levels and cover."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from waterline.checker.problem.packed_rows import StateWords
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import Arrivals, Expansion, ModelFault
from waterline.checker.search.result import LevelSummary
from waterline.checker.search.rule_errors import begins
from waterline.model.core.layout import WORD_BITS


def happened_at_first(problem: Problem) -> NDArray[np.bool_]:
    """Return for each claim whether an initial state satisfies it. Raises `ModelFault`.

    Every initial state is judged, even after one has raised.
    """
    model, faults = problem.model, []
    happened = np.zeros(len(problem.reachable), np.bool_)
    for number, claim in enumerate(problem.reachable):
        for state in model.initial:
            try:
                happened[number] |= begins(claim, model, state)
            except Exception:  # Whatever it is, it is reported as that of any other claim.
                faults.append(state.words)
    if faults:
        raise ModelFault.among(set(faults))
    return happened


SHORT, LONG = 8, 16
"""How many factors the two lines are fitted to."""


class Account:
    """Levels, violations, counts and happenings up to the last level that was checked."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.levels: list[LevelSummary] = []
        self.broken: dict[str, tuple[int, StateWords]] = {}
        """By the claim's name, as in `InvariantResult`: depth, and the state that is kept."""
        self.fired = np.zeros(len(problem.model.actions), np.int64)
        self.cut = np.zeros((len(problem.model.actions), len(problem.model.limits)), np.int64)
        self.happened = np.zeros(len(problem.reachable), np.bool_)
        self.happened_at: dict[int, int] = {}
        self.deadlock: tuple[int, StateWords] | None = None
        self.seconds = 0.0

    def arrive(self, level: Arrivals, seconds: float) -> None:
        """A level has been checked, so long after the one before. Raises `ModelFault`."""
        self.levels.append(LevelSummary(level.depth, level.new, level.on, seconds))
        for number, words in level.broken.items():
            name = self.problem.invariants[number].name
            self.broken.setdefault(name, (level.depth, words))
        if level.depth == 0:
            self.happened |= (begun := happened_at_first(self.problem))
            self.happened_at |= dict.fromkeys(np.flatnonzero(begun).tolist(), 0)

    def leave(self, out: Expansion, depth: int) -> None:
        """A level has been expanded."""
        self.fired += out.fired
        self.cut += out.cut
        for number in np.flatnonzero(out.happened & ~self.happened):
            self.happened_at[int(number)] = depth + 1
        self.happened |= out.happened
        for broken, words in out.broken.items():
            name = self.problem.properties[broken].name
            self.broken.setdefault(name, (depth + 1, words))
        if out.deadlock is not None and self.deadlock is None:
            self.deadlock = (depth, out.deadlock)

    @property
    def distinct(self) -> int:
        """States so far."""
        return sum(level.states for level in self.levels)

    @property
    def generated(self) -> int:
        """Transitions so far, and one for each initial state."""
        return int(self.fired.sum()) + (self.levels[0].states if self.levels else 0)

    def as_values(self) -> dict[str, Any]:
        """Everything but the levels' sizes, by name, as plain values."""
        model = self.problem.model
        named = [action.name for action in model.actions]
        return {
            "broken": {name: [depth, list(words)] for name, (depth, words) in self.broken.items()},
            "fired": {name: int(n) for name, n in zip(named, self.fired, strict=True) if n},
            "cut": {
                name: {
                    model.limits[bound]: int(row[bound]) for bound in np.flatnonzero(row).tolist()
                }
                for name, row in zip(named, self.cut, strict=True)
                if row.any()
            },
            "happened_at": {
                self.problem.reachable[number].name: depth
                for number, depth in self.happened_at.items()
            },
            "deadlock": [self.deadlock[0], list(self.deadlock[1])] if self.deadlock else None,
            "seconds": round(self.seconds, 3),
            "level_seconds": [round(level.seconds, 3) for level in self.levels],
        }

    @classmethod
    def from_values(
        cls, problem: Problem, levels: list[LevelSummary], values: Mapping[str, Any]
    ) -> Account:
        """The inverse of `as_values`. Raises `ValueError`, naming what cannot be.

        `values` are of the types that `as_values` gives; `checker.storage.manifest` sees to that.
        """
        account = cls(problem)
        account.levels = [
            replace(level, seconds=float(seconds))
            for level, seconds in zip(levels, values["level_seconds"], strict=True)
        ]
        model = problem.model
        actions = {action.name: i for i, action in enumerate(model.actions)}
        bounds = {name: i for i, name in enumerate(model.limits)}
        checked = {claim.name: i for i, claim in enumerate(problem.claims)}
        claims = {claim.name: i for i, claim in enumerate(problem.reachable)}
        deepest = len(levels)
        for name, (depth, words) in values["broken"].items():
            where = f"broken.{name}"
            _index_of(name, checked, where)
            account.broken[name] = _state(depth, words, model.layout.words, deepest, where)
        for name, count in values["fired"].items():
            account.fired[_index_of(name, actions, f"fired.{name}")] = count
        for name, row in values["cut"].items():
            action = _index_of(name, actions, f"cut.{name}")
            for bound, count in row.items():
                account.cut[action, _index_of(bound, bounds, f"cut.{name}.{bound}")] = count
        for name, depth in values["happened_at"].items():
            claim = _index_of(name, claims, f"happened_at.{name}")
            account.happened_at[claim] = _depth(depth, deepest, f"happened_at.{name}")
            account.happened[claim] = True
        if values["deadlock"] is not None:
            depth, words = values["deadlock"]
            account.deadlock = _state(depth, words, model.layout.words, deepest, "deadlock")
        account.seconds = values["seconds"]
        reached = account.distinct - levels[0].states
        if int(account.fired.sum()) < reached:
            raise ValueError(
                f"fired adds up to {int(account.fired.sum()):,} transitions, "
                f"which cannot lead to {reached:,} states"
            )
        return account


def _index_of(name: str, names: Mapping[str, int], where: str) -> int:
    if name not in names:
        raise ValueError(f"{where}: nothing of this problem has this name")
    return names[name]


def _depth(depth: int, deepest: int, where: str) -> int:
    if depth > deepest:
        raise ValueError(f"{where} is at depth {depth}, beyond the last level")
    return depth


def _state(
    depth: int, words: Sequence[int], width: int, deepest: int, where: str
) -> tuple[int, StateWords]:
    if len(words) != width or max(words) >= 1 << WORD_BITS:
        raise ValueError(f"{where} has a state that is not of {width} words")
    return _depth(depth, deepest, where), tuple(words)
