"""A search on one engine or another, and what of its result must not depend on which."""

from __future__ import annotations

from contextlib import closing
from typing import Any

from waterline.checker.checking.run import counterexamples_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.result import Result
from waterline.checker.search.search import Budgets, search
from waterline.counterexamples import to_json


def on_spark(problem: Problem, context: Any, partitions: int, driver_levels: int = 0) -> Any:
    """An engine on Spark, from the level after so many of the driver's."""
    choice = EngineChoice(session=context, partitions=partitions, driver_levels=driver_levels)
    return engine_for(problem, choice)


def facts(result: Result) -> dict[str, Any]:
    """All that must not depend on the engine."""
    return {
        "levels": [level.states for level in result.levels],
        "generated": result.generated,
        "actions": result.fired,
        "cut": result.cut,
        "invariants": result.invariants,
        "reachable": result.reachable,
        "deadlock": result.deadlock,
        "complete": result.complete,
    }


def explored(problem: Problem, engine: Any, **budgets: Any) -> tuple[dict[str, Any], list[str]]:
    """The facts of a search, and its traces."""
    with closing(engine):
        result = search(problem, engine, budgets=Budgets(**budgets))
        traces = [to_json(f.replayed.trace) for f in counterexamples_of(problem, engine, result)]
    return facts(result), traces
