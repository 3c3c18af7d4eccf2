"""Models of one's own as values: the functions of a file, not only its text."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import waterline
from tests.support.own import EXAMPLES, own_problem
from waterline.checker.problem.problem import Problem
from waterline.checker.user_models.loading import load_text, read_own
from waterline.model.core.state import State
from waterline.model.core.transition_system import Parameter
from waterline.models import value_of, values_of
from waterline.state import unpack

PAGE = (EXAMPLES.parent / "docs" / "own-models.md").read_text(encoding="utf-8")


def lease_text() -> str:
    """The file of the tutorial."""
    return PAGE.split("<!-- file: lease.py -->\n```python\n")[1].split("```")[0]


def live(file: Path, **bounds: int | bool) -> waterline.Model:
    """The first protocol of a file, by its function."""
    own = load_text(*read_own(file))
    return waterline.instance(next(iter(own.protocols.values())), **bounds)


@dataclass(frozen=True, slots=True)
class Both:
    """A model in both forms: as the checker interprets it, and as plain Python runs it."""

    problem: Problem
    plain: waterline.Model

    @staticmethod
    def of(file: Path, **bounds: int | bool) -> Both:
        return Both(own_problem(file, **bounds), live(file, **bounds))

    def reached(self, states_max: int) -> Iterator[State]:
        """The first states breadth first, as the checker reaches them; a rule may raise."""
        model = self.problem.model
        seen = dict.fromkeys(model.initial)
        frontier = list(seen)
        while frontier:
            for state in frontier:
                yield state
                states_max -= 1
                if not states_max:
                    return
            arrived = dict.fromkeys(
                outcome[1]
                for state in frontier
                for outcome in (packed for _, packed in self.packed_outcomes(state))
                if outcome[0] == "after"
            )
            frontier = [state for state in arrived if state not in seen]
            seen |= dict.fromkeys(frontier)

    def packed_outcomes(self, state: State) -> Iterator[tuple[str, tuple[str, Any]]]:
        """What the checker makes of every action with all arguments."""
        model = self.problem.model
        for action in model.enabled_actions:
            for arguments in model.bindings(action):
                if all(map(self._is_called_in_python, action.parameters, arguments)):
                    yield f"{action.name}{arguments}", self._packed(state, action, arguments)

    def _is_called_in_python(self, parameter: Parameter, value: int) -> bool:
        """Python tries neither the epoch that is none, nor the one above the highest."""
        held, sizes = parameter.held, self.problem.model.layout.sizes
        return held is None or not held.sort.ordered or 1 <= value <= sizes[held.sort.size]

    def _packed(self, state: State, action: Any, arguments: Any) -> tuple[str, Any]:
        model = self.problem.model
        try:
            if not model.is_enabled(state, action, arguments):
                return "not enabled", ""
            if bound := model.exceeded_limit(state, action, arguments):
                return "cut", model.limits[bound]
            return "after", model.apply(state, action, arguments)
        except Exception:
            return "raised", ""

    def checked(self, state: State) -> dict[str, tuple[str, Any]]:
        """The same, with plain states."""
        return {
            called: (what, unpack(self.plain, found) if what == "after" else found)
            for called, (what, found) in self.packed_outcomes(state)
        }

    def run(self, state: State) -> dict[str, tuple[str, Any]]:
        """What plain Python makes of every action with all arguments."""
        before = unpack(self.plain, state)
        found = {}
        for action in self.plain.actions:
            ranges = [list(values_of(over)) for _, over in action.over]
            # The checker counts epochs by themselves, and all else from 0.
            counted = [
                values if isinstance(over, waterline.Epochs) else range(len(values))
                for values, (_, over) in zip(ranges, action.over, strict=True)
            ]
            for numbers in itertools.product(*counted):
                given = {
                    name: value_of(over, number)
                    for (name, over), number in zip(action.over, numbers, strict=True)
                }
                found[f"{action.name}{numbers}"] = _outcome(before, action.function, given)
        return found


def _outcome(before: waterline.State, function: Any, given: dict[str, Any]) -> tuple[str, Any]:
    try:
        return "after", waterline.step(before, function, **given)
    except waterline.NotEnabled:
        return "not enabled", ""
    except waterline.BeyondBound as beyond:
        return "cut", beyond.bound
    except Exception:
        return "raised", ""
