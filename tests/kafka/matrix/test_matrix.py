"""A grid of versions, settings and faults: its cells, what they mean, the ways to show them."""

from __future__ import annotations

import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Commands
from tests.support.grids import NAMES, SMALL, TINY, cell_of, explored, small_matrix, two_crashes
from tests.support.sampling import drawn
from waterline.checker.batch import in_memory
from waterline.checker.batch.in_memory import explore, explore_in_threads
from waterline.checker.batch.question import UNWATCHED, Answer, Watch
from waterline.checker.compiler.kernel import plan_of, program_of
from waterline.checker.kafka.families import problem_for
from waterline.checker.kafka.matrix.grid import (
    CLAIMS,
    FAULT,
    FAULTS,
    NO_FAULTS,
    UNCLEAN,
    Cell,
    grid_over,
)
from waterline.checker.kafka.matrix.matrix import Matrix
from waterline.checker.kafka.matrix.outcome import Standing, contract, judge
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.result import INTERRUPTED, Verdict
from waterline.checker.search.rule_errors import Failure, Raised
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import Environment
from waterline.model.message.versions import VERSIONS


def assert_compiled_once(cells: list[Cell]) -> list[Problem]:
    problems = [question_of(cell, SMALL).problem for cell in cells]

    assert len({program_of(plan_of(problem)).name for problem in problems}) == 1
    assert len({plan_of(replace(problem, shared=None)) for problem in problems}) == len(problems)
    return problems


def test_cells_are_compiled_once() -> None:
    first, *_ = assert_compiled_once(drawn(SMALL.cells(), 2))

    prepare(first)


@pytest.fixture
def matrix() -> Matrix:
    return small_matrix()


def test_a_grid_has_every_combination_once() -> None:
    grid = grid_over(NAMES, [("version", "hw"), ("version", "elr")])
    places = [cell.at() for cell in grid.cells()]

    assert len(set(places)) == len(places) == 2 * 3 * 2 * 2 * len(FAULTS)


def test_an_axis_that_is_not_gone_over_has_its_default() -> None:
    grid = grid_over(["version"], [("faults", "two crashes")])

    assert len(list(grid.cells())) == len(VERSIONS)
    assert {cell.environment.acks for cell in grid.cells()} == {"all"}
    assert {cell.environment.restarts for cell in grid.cells()} == {2}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_the_budgets_it_names_and_no_others(fault: Any) -> None:
    grid = grid_over([], [(FAULT, fault.name)])
    [cell] = grid.cells()
    options = cell.environment.options()
    usual = {**Environment().options(), **NO_FAULTS}
    sizes = {"replicas", "records", "epochs", "min-insync-replicas"}

    named = {**fault.options, **(fault.sized(2) if fault.sized else {})}

    assert {n: v for n, v in options.items() if v != usual[n] and n not in sizes} == {
        n: v for n, v in named.items() if n not in sizes
    }
    assert fault.sentence.endswith(".")


def test_all_cells_have_one_layout() -> None:
    problems = [cell.problem(SMALL.invariants) for cell in SMALL.cells()]

    assert len({problem.model.layout.digest for problem in problems}) == 1


@pytest.mark.parametrize(
    ("over", "only", "says"),
    [
        (["speed"], [], "axis is 'speed'; known: version, acks, min.insync.replicas"),
        ([], [("speed", "1")], "axis is 'speed'; known: version"),
        ([], [("acks", "2")], "acks is '2'; known: 0, 1, all"),
        ([], [("faults", "flood")], "faults is 'flood'; known: none, one crash"),
    ],
)
def test_what_is_unknown_is_refused_with_what_is_known(
    over: list[str], only: list[tuple[str, str]], says: str
) -> None:
    with pytest.raises(BadEnvironment, match=re.escape(says)):
        grid_over(over, only)


def test_a_grid_that_no_cluster_has_is_refused_before_anything_is_explored() -> None:
    with pytest.raises(BadEnvironment, match="min-insync-replicas is 2, more than"):
        grid_over(NAMES, replicas=1)


def test_verdicts_are_those_of_single_runs() -> None:
    outcome = cell_of(two_crashes(), **{UNCLEAN: "false"})

    assert outcome.cell.environment == Environment(epochs=3)
    assert outcome.answer.distinct == 40_308
    assert {claim.name: claim.depth for claim in outcome.claims} == {
        "acknowledged_durable": 12,
        "acknowledged_on_disk": 13,
        "acknowledged_somewhere": 11,
        "leader_possible": None,
        "no_committed_loss": 12,
        "no_divergence_below_hw": 16,
        "log_matching": 15,
        "consistent_read": 13,
    }
    assert outcome.label == "loses 12"
    assert outcome.explanation.startswith("m1 was acknowledged")


def test_the_contract_excuses_what_kafka_does_not_promise() -> None:
    lone = Environment(acks="1")
    unclean = Environment(unclean_leader_election=True)

    assert "acks=1" in (contract("acknowledged_durable", "hw", lone) or "")
    assert "acks=0" in (contract("acknowledged_durable", "hw", Environment(acks="0")) or "")
    assert contract("no_committed_loss", "hw", lone) is None
    assert "unclean" in (contract("no_committed_loss", "hw", unclean) or "")
    assert contract("no_divergence_below_hw", "hw", unclean) is None
    assert contract("leader_possible", "hw", unclean) is None
    assert all(contract(claim.name, "hw", Environment()) is None for claim in CLAIMS)


@pytest.mark.parametrize(
    "claim", ["acknowledged_durable", "acknowledged_somewhere", "acknowledged_on_disk"]
)
@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"acks": "0"}, "acks=0"),
        ({"acks": "1"}, "acks=1"),
        ({"lost_disks": 1}, "min.insync.replicas=1"),
        ({"power_losses": 1, "lost_disks": 1, "min_insync_replicas": 2}, "min.insync.replicas=2"),
        ({"unclean_leader_election": True}, "unclean"),
        ({"lost_disks": 1, "disk_loss": "out-of-sync"}, None),
        ({"power_losses": 1, "disk_loss": "out-of-sync"}, "min.insync.replicas=1"),
        ({"lost_disks": 1, "min_insync_replicas": 2}, None),
        ({"restarts": 9}, None),
    ],
)
def test_all_claims_about_acknowledged_records_have_one_contract(
    claim: str, options: dict[str, Any], reason: str | None
) -> None:
    found = contract(claim, "hw", Environment(**options))

    assert found is None if reason is None else reason in (found or "")


def test_a_loss_that_clean_elections_have_too_is_not_excused_by_unclean_ones(
    matrix: Matrix,
) -> None:
    lost = cell_of(two_crashes(), **{UNCLEAN: "true"})
    excused = cell_of(matrix, version="hw", acks="all", faults="one crash", **{UNCLEAN: "true"})
    reasons = {claim.name: claim.contract for claim in excused.claims}

    assert lost.label == "loses 5"
    assert lost.worst is not None
    assert lost.worst.depth_clean == 12
    assert reasons["acknowledged_durable"] is not None
    assert reasons["no_divergence_below_hw"] is None


def test_acks_1_loses_within_the_contract(matrix: Matrix) -> None:
    outcome = cell_of(matrix, version="epoch", acks="1", faults="one crash", **{UNCLEAN: "false"})

    assert outcome.standing is Standing.CONTRACT
    assert outcome.label == "contract 4"
    assert outcome.replayed is not None


def test_a_cell_that_was_stopped_is_no_cell_that_holds() -> None:
    matrix = explored(replace(TINY, max_states=5), EngineChoice(name="local"))

    assert {outcome.label for outcome in matrix.outcomes} == {"?"}
    assert not matrix.complete


def test_every_broken_cell_has_a_counterexample_that_replays(matrix: Matrix) -> None:
    broken = [o for o in matrix.outcomes if o.worst is not None]

    assert broken
    for outcome in broken:
        assert outcome.replayed is not None
        assert outcome.worst is not None
        assert len(outcome.replayed.moments) == outcome.worst.depth


def test_an_executor_needs_neither_rich_nor_networkx() -> None:
    program = (
        "import waterline.checker.batch.in_memory, waterline.checker.kafka.matrix.questions, sys; "
        "print([m for m in ('rich', 'networkx', 'pyarrow', 'click') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout == b"[]\n"


def test_a_question_comes_to_another_process_whole() -> None:
    [cell, *_] = SMALL.cells()
    question = question_of(cell, SMALL)
    there = pickle.loads(pickle.dumps(question))

    assert there.key == question.key
    assert there.problem.model.options == cell.environment.options()


def test_what_an_action_raises_is_the_outcome_of_the_grid(monkeypatch: pytest.MonkeyPatch) -> None:
    [cell, *_] = TINY.cells()
    words = cell.problem(TINY.invariants).model.initial[0].words
    model = problem_for("hw", Environment()).model
    raised = Raised(Failure(KeyError(), call=("Crash", (0,))), model, model.initial[0])
    monkeypatch.setattr(
        "waterline.checker.kafka.matrix.outcome.explain_fault", lambda problem, fault: raised
    )

    with pytest.raises(Raised):
        judge(TINY, [cell], [Answer(raised_in=words)])


def test_an_interrupt_leaves_what_was_not_finished_incomplete() -> None:
    questions = [question_of(cell, SMALL) for cell in SMALL.cells()]

    def interrupted(done: int, under_way: object) -> None:
        if done == 2:
            raise KeyboardInterrupt

    answers = explore_in_threads(questions, Watch(progress=interrupted), threads=1)
    unfinished = [a for a in answers if a.stopped_by == INTERRUPTED]

    assert any(a.complete for a in answers)
    assert unfinished
    assert {verdict for a in unfinished for _, verdict, _ in a.verdicts} <= {
        Verdict.INCOMPLETE.value,
        Verdict.VIOLATED.value,
    }


def test_what_a_cell_runs_into_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(question: Any, late: Callable[[], bool]) -> Answer:
        raise MemoryError

    monkeypatch.setattr(in_memory, "explore", broken)
    [cell, *_] = TINY.cells()

    with pytest.raises(MemoryError):
        explore_in_threads([question_of(cell, TINY)] * 3, UNWATCHED, threads=2)


def arguments(tmp_path: Path) -> Iterator[object]:
    for kind in ("json", "csv", "html"):
        yield f"--{kind}"
        yield tmp_path / f"matrix.{kind}"


def test_the_command_completes_a_grid_with_violations_and_exits_0(
    cli: Commands, tmp_path: Path
) -> None:
    code, out, err = cli(
        *["matrix", "--over", "version", "--only", "version=hw,epoch"],
        *["--only", "faults=two crashes", *arguments(tmp_path)],
        name="waterline",
    )

    assert code == 0
    assert "loses 12" in out
    assert err.count("wrote") == 3
    assert json.loads((tmp_path / "matrix.json").read_text())["complete"] is True
    assert (tmp_path / "matrix.html").read_text().startswith("<!DOCTYPE html>")


def test_the_command_exits_20_where_a_cell_was_stopped(cli: Commands) -> None:
    code, out, _ = cli(
        *["matrix", "--over", "version", "--max-states", "100"],
        name="waterline",
    )

    assert code == 20
    assert "?" in out


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--over", "speed"], "axis is 'speed'; known: version"),
        (["--only", "version=raft"], "version is 'raft'; did you mean kraft?"),
        (["--only", "version"], "'version' chooses nothing; write version=hw,epoch"),
        (["--invariant", "good"], "invariant is 'good'; known: no_committed_loss"),
        (["--replicas", "1"], "min-insync-replicas is 2, more than the 1 replicas"),
        (["--acks", "1"], "--acks goes with --config; use --only acks=..."),
        (["--kafka-version", "2.0"], "--kafka-version goes with --config"),
        (["--json", "/nowhere/x"], "'--json': /nowhere/x cannot be written"),
    ],
)
def test_bad_usage_of_the_command_is_one_line_and_exit_2(
    given: list[str], says: str, cli: Commands
) -> None:
    code, out, err = cli("matrix", *given, name="waterline")

    assert code == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1


def test_an_answer_has_a_path_for_each_violated_claim_and_no_other() -> None:
    [cell] = grid_over([], [("version", "hw"), ("faults", "two crashes")]).cells()
    found = explore(question_of(cell, SMALL))

    violated = {name for name, verdict, _ in found.verdicts if verdict == "violated"}
    assert set(found.paths) == violated
