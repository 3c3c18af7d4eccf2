"""A run under a symmetry says what the run without says, of fewer states, and in real names."""

from __future__ import annotations

import dataclasses
import functools
from contextlib import closing

import pytest

from tests.support.graph_model import graph_problem
from waterline.checker.checking.run import EngineChoice, Finding, counterexamples_of, run
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result
from waterline.checker.search.search import search
from waterline.checker.traces.fewest_actors import NotSymmetric, real_path, representative
from waterline.counterexamples import to_json
from waterline.model.atomic import AtomicEnvironment
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.layout import Field, Layout
from waterline.model.core.renaming import (
    BY_REPLICA,
    RECORD_AT_OFFSET,
    CannotRename,
    Holds,
    Naming,
    Sort,
)
from waterline.model.message.environment import Environment

EVERY_SYMMETRY = [Symmetry.REPLICAS, Symmetry.RECORDS, Symmetry.ALL]
ANY = Environment(election_order="any")
RUNS: dict[str, tuple[str, Environment | AtomicEnvironment]] = {
    "hw": ("hw", ANY),
    "epoch": ("epoch", ANY),
    "hw, unclean": (
        "hw",
        Environment(epochs=1, unclean_leader_election=True, election_order="any"),
    ),
    "hw, 3 replicas": (
        "hw",
        Environment(replicas=3, records=1, epochs=1, restarts=2, election_order="any"),
    ),
    "elr, 3 replicas": (
        "elr",
        Environment(replicas=3, records=1, epochs=1, restarts=1, election_order="any"),
    ),
    "elr, reassigned": (
        "elr",
        Environment(
            replicas=3, records=1, epochs=1, restarts=0, reassignments=1, election_order="any"
        ),
    ),
    "atomic hw": ("hw", AtomicEnvironment()),
    "atomic kip279, 3 replicas": ("kip279", AtomicEnvironment(replicas=3, records=1)),
}
UNBROKEN = {"epoch", "elr, reassigned"}
"""Where no claim breaks."""


@functools.cache
def explored(name: str, symmetry: Symmetry) -> tuple[Result, tuple[Finding, ...]]:
    problem = problem_for(*RUNS[name], symmetry=symmetry)
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)
        return result, counterexamples_of(problem, engine, result)


@pytest.mark.parametrize("symmetry", EVERY_SYMMETRY)
def test_verdicts_and_least_depths_are_those_of_the_whole_space(symmetry: Symmetry) -> None:
    assert_verdicts_are_those_of_the_whole_space("hw, unclean", symmetry)


@pytest.mark.parametrize("symmetry", EVERY_SYMMETRY)
def test_traces_are_as_short_begin_at_a_real_state_and_were_confirmed(symmetry: Symmetry) -> None:
    assert_traces_are_those_of_the_whole_space("hw, unclean", symmetry)


def assert_verdicts_are_those_of_the_whole_space(name: str, symmetry: Symmetry) -> None:
    """As well as the least depths."""
    whole, _ = explored(name, Symmetry.NONE)
    part, _ = explored(name, symmetry)

    assert [(i.name, i.verdict, i.depth) for i in part.invariants] == [
        (i.name, i.verdict, i.depth) for i in whole.invariants
    ]
    assert part.reachable == whole.reachable
    assert part.distinct <= whole.distinct
    assert part.distinct < whole.distinct or symmetry is Symmetry.RECORDS


def assert_traces_are_those_of_the_whole_space(name: str, symmetry: Symmetry) -> None:
    """They are as short, and begin at a real state.

    `counterexamples_of` has replayed them in the model, and seen the claim break at last.
    """
    whole, part = explored(name, Symmetry.NONE)[1], explored(name, symmetry)[1]
    initial = problem_for(*RUNS[name]).model.initial

    assert part
    assert [(f.invariant, len(f.replayed.moments)) for f in part] == [
        (f.invariant, len(f.replayed.moments)) for f in whole
    ]
    assert all(f.replayed.initial in initial for f in part)


def test_a_trace_does_not_depend_on_the_number_of_threads_and_names_no_symmetry() -> None:
    problem = problem_for(*RUNS["atomic kip279, 3 replicas"], symmetry=Symmetry.ALL)
    again = run(problem, EngineChoice(name="local", threads=2))
    once = explored("atomic kip279, 3 replicas", Symmetry.ALL)[1]

    assert [to_json(f.replayed.trace) for f in again.findings] == [
        to_json(f.replayed.trace) for f in once
    ]
    assert not any("symmetry" in to_json(f.replayed.trace) for f in once)


def test_replicas_alone_leave_what_tlc_leaves_under_its_symmetry() -> None:
    assert left_by_replicas("hw", epochs=1) == (11_453, 20)


def left_by_replicas(version: str, **bounds: int) -> tuple[int, int]:
    """How many states are left, and how deep they are.

    TLC's Permutations(Replicas), on the published text; its depth is one more.
    """
    environment = AtomicEnvironment(replicas=3, **bounds)
    problem = problem_for(version, environment, symmetry=Symmetry.REPLICAS)
    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)
    return result.distinct, result.depth


@pytest.mark.parametrize("symmetry", [Symmetry.REPLICAS, Symmetry.ALL])
def test_an_order_of_assignment_is_refused_with_its_remedy(symmetry: Symmetry) -> None:
    with pytest.raises(BadEnvironment, match="add --election-order any"):
        problem_for("hw", Environment(), symmetry=symmetry)


def test_records_are_alike_whoever_is_elected_and_one_replica_is_like_itself() -> None:
    by_assignment = problem_for("hw", Environment(), symmetry=Symmetry.RECORDS)
    alone = problem_for("hw", Environment(replicas=1), symmetry=Symmetry.ALL)

    assert not by_assignment.model.distinguishes_names.keys() & by_assignment.symmetry.sorts
    assert representative(alone, alone.model.initial[0]) == alone.model.initial[0].words


def test_a_model_that_declares_nothing_is_refused() -> None:
    with pytest.raises(CannotRename, match="model graph has no replicas"):
        dataclasses.replace(graph_problem([(0, 1)]), symmetry=Symmetry.REPLICAS)


def test_a_field_that_does_not_say_how_it_is_renamed_is_refused_by_name() -> None:
    problem = problem_for("hw", ANY)
    fields = [
        dataclasses.replace(f, naming=None) if f.name == "hw" else f
        for f in problem.model.layout.fields
    ]
    layout = Layout(fields, sizes=problem.model.layout.sizes)
    model = dataclasses.replace(problem.model, layout=layout)

    with pytest.raises(CannotRename, match="field hw of model kafka-message does not say how"):
        Problem(model, problem.invariants, symmetry=Symmetry.REPLICAS)


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        (Field(name="f", doc="", hi=1, shape=(2,), naming=BY_REPLICA), "not indexed by all rep"),
        (Field(name="f", doc="", hi=9, naming=RECORD_AT_OFFSET), "0..9 is not the range of"),
        (Field(name="f", doc="", hi=6, naming=Naming(holds=Holds.REPLICAS)), "0..6 is not"),
        (Field(name="f", doc="", hi=2, shape=(3,), naming=Naming(holds=Holds.BORN)), "one number"),
        (
            Field(
                name="f", doc="", hi=2, shape=(2,), naming=Naming(Sort.RECORD, None, Holds.RECORD)
            ),
            "records that name records",
        ),
    ],
)
def test_a_declaration_that_cannot_be_is_refused(field: Field, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        Layout([field], sizes={"replicas": 3, "records": 2})


def test_a_path_that_no_real_steps_follow_is_an_error_of_its_own() -> None:
    problem = problem_for("hw", ANY, symmetry=Symmetry.REPLICAS)
    first = representative(problem, problem.model.initial[0])

    with pytest.raises(NotSymmetric, match="no step out of"):
        real_path(problem, [first, first])
