"""A version in an environment, and what of its search is compared with that of altered rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fuzz.interpreted import Interpreted
from waterline import invariants
from waterline.checker.problem.problem import Problem
from waterline.checker.search.budgets import Budgets
from waterline.checker.search.engines.engine import Engine
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result
from waterline.checker.search.search import search
from waterline.invariants import reachable
from waterline.model.message.environment import Environment
from waterline.model.message.model import message_model


@dataclass(frozen=True, slots=True)
class Setting:
    """A version in an environment, and how it is searched: interpreted or compiled."""

    version: str
    options: dict[str, Any]
    engine: str

    @property
    def name(self) -> str:
        """`hw acks=1 (compiled)`"""
        words = [f"{option}={value}" for option, value in self.options.items()]
        return " ".join([self.version, *words, f"({self.engine})"])


def problem_of(setting: Setting) -> Problem:
    """Every claim about states and steps, of this version in this environment."""
    asked = message_model(setting.version, Environment(**setting.options))
    properties = invariants.PROPERTIES
    return Problem(asked, invariants.ALL, reachable.ALL, properties=properties)


def observe(setting: Setting, states_max: int | None = None) -> dict[str, Any]:
    """What a run of the setting counts and concludes; a run past `states_max` is cut short."""
    problem = problem_of(setting)
    compiled = setting.engine == "compiled"
    engine: Engine = MemoryEngine(problem, threads=1) if compiled else Interpreted(problem)
    try:
        return summary(search(problem, engine, budgets=Budgets(max_states=states_max)))
    finally:
        engine.close()


def summary(result: Result) -> dict[str, Any]:
    """The part of a result that is compared, as plain values."""
    return {
        "complete": result.complete,
        "distinct": result.distinct,
        "generated": result.generated,
        "depth": result.depth,
        **{f"fired {name}": count for name, count in result.fired.items()},
        **{f"cut by {name}": count for name, count in result.cut.items()},
        **{i.name: [i.verdict.value, i.depth] for i in result.invariants},
        **{claim.name: claim.depth for claim in result.reachable},
    }


def difference(expected: dict[str, Any], found: dict[str, Any]) -> str | None:
    """The first thing in which two runs differ, or None."""
    if not found["complete"]:
        return f"distinct {expected['distinct']} -> more"
    for name, value in expected.items():
        if found[name] != value:
            return f"{name} {value} -> {found[name]}"
    return None
