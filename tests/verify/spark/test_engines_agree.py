"""Spark and local say the same: counts, verdicts, traces, on any number of partitions."""

from __future__ import annotations

import functools
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.graph_model import graph_problem
from tests.support.object_store import InObjectStore
from tests.support.on_engines import explored, facts, on_spark
from waterline.checker.checking.run import RunRaised, counterexamples_of, run
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines import over_files, spark
from waterline.checker.search.engines.engine import EngineChoice, ModelFault
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.engines.over_files import FileEngine
from waterline.checker.search.engines.spark import SparkWorkers
from waterline.checker.search.rule_errors import explain_fault
from waterline.checker.search.search import Budgets, search
from waterline.model.atomic import AtomicEnvironment
from waterline.model.message.environment import Environment

pytestmark = pytest.mark.spark

BOUNDS = {
    "hw as documented": ("hw", Environment()),
    "epoch as documented": ("epoch", Environment()),
    "epoch, 3 replicas": ("epoch", Environment(replicas=3, records=1, restarts=1, moves=1)),
    "hw, unclean election": ("hw", Environment(epochs=1, unclean_leader_election=True)),
}


@functools.cache
def explored_locally(name: str, **budgets: Any) -> tuple[dict[str, Any], list[str]]:
    problem = problem_for(*BOUNDS[name])
    return explored(problem, MemoryEngine(problem), **budgets)


@pytest.mark.parametrize(
    ("name", "driver_levels"),
    [
        ("hw as documented", 0),
        ("epoch as documented", 22),
        ("epoch, 3 replicas", 22),
        ("hw, unclean election", 18),
    ],
)
def test_levels_on_spark_give_what_local_gives(
    name: str, driver_levels: int, spark_context: Any
) -> None:
    """All levels of one space, more than after which candidates are renewed; last ones of others.

    Those of three replicas are the largest: Spark gets them from the widest on.
    """
    problem = problem_for(*BOUNDS[name])
    engine = on_spark(problem, spark_context, 2, driver_levels)

    assert explored(problem, engine) == explored_locally(name)


@pytest.mark.parametrize("partitions", [1, 5])
def test_any_number_of_owners_finds_the_same(partitions: int, spark_context: Any) -> None:
    """Down to the last of the violations: which state is least is decided among owners."""
    name = "hw as documented"
    problem = problem_for(*BOUNDS[name])

    reached = explored(problem, on_spark(problem, spark_context, partitions), max_depth=16)

    assert reached == explored_locally(name, max_depth=16)
    assert len(reached[1]) > 5


def test_representatives_and_real_traces_are_the_same_on_spark(spark_context: Any) -> None:
    few = AtomicEnvironment(replicas=3, log_size=1, records=2, epochs=1)
    problem = problem_for("hw", few, symmetry=Symmetry.ALL)

    reached = explored(problem, on_spark(problem, spark_context, 2))

    assert reached == explored(problem, MemoryEngine(problem))
    assert len(reached[1]) > 0


def test_handing_over_in_the_middle_changes_nothing(spark_context: Any) -> None:
    problem = problem_for(*BOUNDS["hw as documented"])
    engine = on_spark(problem, spark_context, 3, 14)
    places = []
    with closing(engine):
        result = search(
            problem,
            engine,
            budgets=Budgets(max_depth=20),
            watch=lambda snapshot: places.append(snapshot.on),
        )

    assert facts(result) == explored_locally("hw as documented", max_depth=20)[0]
    assert places[13:15] == ["driver", "spark"]


@pytest.mark.parametrize(
    "problem",
    [
        graph_problem([(0, 1), (1, 2), (2, 0), (2, 2)]),
        graph_problem([(0, 9), (0, 4), (0, 7), (9, 4)], bad=[9, 4, 7], initial=(3, 0, 3)),
        graph_problem([(0, 1), (0, 2), (1, 3), (2, 3)], bad=[0], worse=[3], leads_to_goal=[2]),
        graph_problem([(0, 6), (0, 5), (1, 2)], beyond=[6]),
        graph_problem([(0, 9), (0, 4), (9, 0), (4, 4), (4, 0)], steep_from=[9, 4], steep_to=[0, 4]),
    ],
    ids=[
        "cycle",
        "two violations at one depth",
        "diamond, violated at once",
        "deadlock, cut",
        "two broken steps at one depth",
    ],
)
def test_tiny_graphs_come_out_alike(problem: Problem, spark_context: Any) -> None:
    engine = on_spark(problem, spark_context, 3)

    assert explored(problem, engine) == explored(problem, MemoryEngine(problem))


def test_budgets_stop_both_engines_after_the_same_level(spark_context: Any) -> None:
    problem = graph_problem([(i, i + 1) for i in range(9)], bad=[7])
    engine = on_spark(problem, spark_context, 2)

    reached = explored(problem, engine, max_depth=3)

    assert reached == explored(problem, MemoryEngine(problem), max_depth=3)
    assert reached[0]["levels"] == [1, 1, 1, 1]


@pytest.mark.parametrize("marked", ["breaks", "divides", "poisons", "trips"])
def test_what_an_action_or_claim_raises_is_the_outcome_on_spark_too(
    marked: str, spark_context: Any
) -> None:
    problem = graph_problem([(0, 1), (0, 2), (1, 3), (2, 3)], **{marked: [2, 1]})
    outcomes = []
    for engine in (
        MemoryEngine(problem),
        on_spark(problem, spark_context, 3),
    ):
        with closing(engine), pytest.raises(ModelFault) as fault:
            search(problem, engine)
        outcomes.append(str(explain_fault(problem, fault.value)))

    assert outcomes[0] == outcomes[1]
    assert any(said in outcomes[0] for said in ("a division by zero", "cannot be 48"))


def test_the_trace_to_an_error_of_a_rule_is_the_same_on_spark(spark_context: Any) -> None:
    edges = [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)]
    problem = graph_problem(edges, breaks=[4])
    traces = []
    for choice in (
        EngineChoice(name="local", threads=1),
        EngineChoice(session=spark_context, partitions=2, driver_levels=1),
    ):
        with pytest.raises(RunRaised) as raised:
            run(problem, choice)
        assert raised.value.run.error is not None
        assert raised.value.run.error.finding is not None
        traces.append(raised.value.run.error.finding.replayed.trace)

    assert traces[0] == traces[1]
    assert len(traces[0].steps) == 3


def test_candidates_pass_through_the_shuffle_where_levels_are_in_an_object_store(
    spark_context: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spark, "RENEW_LEVELS", 7)
    monkeypatch.setattr(over_files, "PART_BYTES", 2_000)
    name = "hw, unclean election"
    problem = problem_for(*BOUNDS[name])
    choice = EngineChoice(session=spark_context)
    levels = InObjectStore(problem.model.layout.words, tmp_path)
    engine = FileEngine(problem, SparkWorkers(problem, choice), levels, owners=3)

    reached = explored(problem, engine)

    assert reached == explored_locally(name)
    assert reached[0]["complete"]


def test_a_deadline_ends_the_run_and_not_the_search_for_traces(spark_context: Any) -> None:
    problem = problem_for(*BOUNDS["hw as documented"])
    late: list[int] = []

    def watch(snapshot: Any) -> None:
        if snapshot.depth == 16:
            late.append(snapshot.depth)

    choice = EngineChoice(session=spark_context, partitions=2, driver_levels=12)
    with closing(engine_for(problem, choice, deadline=lambda: bool(late))) as engine:
        result = search(problem, engine, budgets=Budgets(max_seconds=60), watch=watch)
        found = [f.invariant for f in counterexamples_of(problem, engine, result)]

    assert result.stopped_by == "max-time 60 s"
    assert result.depth == 16
    assert "no_committed_loss" in found
    assert spark_context.parallelize(range(3), 2).sum() == 3
