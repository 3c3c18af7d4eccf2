"""Spark and the local engine agree on one small space. tests/verify/spark has many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from tests.support.graph_model import graph_problem
from tests.support.on_engines import explored, on_spark
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.spark import owners_for
from waterline.checker.search.engines.spark_session import start_context
from waterline.checker.search.search import search
from waterline.model.message.environment import Environment


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Without the archive of Spark's classes, which costs more than it spares a single test."""
    context = start_context("local[2]", log=tmp_path_factory.mktemp("spark") / "spark.log")
    yield context
    context.stop()


@pytest.mark.spark
def test_levels_on_spark_give_what_local_gives(context: Any) -> None:
    """Five levels and the violations in them, handed over by the driver in the middle."""
    problem = problem_for("hw", Environment(records=1, epochs=1, restarts=1, moves=1))
    engine = on_spark(problem, context, 2, 8)

    facts, traces = explored(problem, engine, max_depth=13)

    assert (facts, traces) == explored(problem, MemoryEngine(problem), max_depth=13)
    assert facts["levels"][9:] == [133, 153, 173, 185, 182]
    assert len(traces) > 2


def test_a_space_that_never_outgrows_the_driver_starts_no_spark() -> None:
    problem = graph_problem([(0, 1), (1, 2)])
    engine = engine_for(problem, EngineChoice(master="spark://unreachable:1"))
    with closing(engine):
        result = search(problem, engine)

    assert [level.on for level in result.levels] == ["driver"] * 3


def test_there_are_owners_for_every_core_and_more_where_memory_is_short() -> None:
    plenty = owners_for(128_000_000, words=2, cores=2, memory_a_core=12 << 30)
    little = owners_for(128_000_000, words=2, cores=2, memory_a_core=1 << 30)

    assert plenty == 2
    assert little == 4
