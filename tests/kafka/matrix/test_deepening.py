"""Bounds are raised for a cell that shows no loss, until nothing is cut or its budget is used."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.grids import cell_of, explored
from waterline.checker.batch import in_memory
from waterline.checker.batch.in_memory import exploring
from waterline.checker.batch.question import UNWATCHED, Answer, Question, Watch, unexplored_answer
from waterline.checker.kafka.matrix.extent import describe_extent
from waterline.checker.kafka.matrix.grid import Grid, first_records, grid_over
from waterline.checker.kafka.matrix.matrix import explore_grid
from waterline.checker.kafka.matrix.outcome import Outcome, Standing
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.search.engines.engine import EngineChoice

LOCAL = EngineChoice(name="local")
NO_LOSS = ("no_committed_loss",)
OUT_OF_SYNC = grid_over(
    [],
    [("version", "kip903"), ("min.insync.replicas", "2"), ("faults", "disk out of sync")],
    records=1,
    invariants=("acknowledged_durable",),
)
"""Holds with leader epochs 0 to 3, which cut what comes after; breaks in epoch 5."""
POWER_LOSS = grid_over(
    [],
    [("version", "kip320"), ("min.insync.replicas", "2"), ("faults", "power loss")],
    records=1,
    invariants=("acknowledged_durable",),
)
"""Holds with one record, although no epoch is cut; breaks with two, of which one lets a follower
lag."""


def only_cell(grid: Grid) -> Outcome:
    [outcome] = explored(grid, LOCAL).outcomes
    return outcome


def test_what_holds_only_because_epochs_were_cut_is_found_to_break() -> None:
    cut = only_cell(OUT_OF_SYNC)
    raised = only_cell(replace(OUT_OF_SYNC, epochs_max=9))

    assert cut.standing is Standing.HOLDS
    assert cut.label == "holds e3"
    assert raised.label == "loses 19"
    assert raised.cell.environment.epochs == 6


def test_what_holds_only_because_records_were_few_is_found_to_break() -> None:
    alone = only_cell(POWER_LOSS)
    raised = only_cell(replace(POWER_LOSS, records_max=2))

    assert (alone.label, alone.is_cut_by_epochs) == ("holds", False)
    assert raised.label == "loses 12"
    assert raised.cell.environment.records == 2


@pytest.mark.parametrize(("states", "later"), [(5_000_000, True), (1_000_000, False)])
def test_rules_of_later_cells_are_optimised_at_once_where_cells_are_large(
    states: int, later: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first answer does not wait for that; what comes after it is expected to be as it was."""
    asked: list[bool] = []

    def noted(problem: object, *, optimised: bool, announce: object) -> None:
        asked.append(optimised)

    def answered(questions: Sequence[Question], *_: object, **__: object) -> list[Answer]:
        return [Answer(levels=(states,)) for _ in questions]

    monkeypatch.setattr(in_memory, "prepare", noted)
    monkeypatch.setattr(in_memory, "is_compiled", lambda problem: False)
    monkeypatch.setattr(in_memory, "explore_in_threads", answered)
    small = grid_over([], [("version", "elr"), ("faults", "none")])
    questions = [question_of(cell, small, stop_at_first=True) for cell in small.cells()]
    with exploring(LOCAL) as explorer:
        explorer(questions, UNWATCHED)
        explorer(questions, UNWATCHED)

    assert asked == [False] * len(questions) + [later] * len(questions)


def test_a_cell_that_no_epoch_is_cut_from_is_explored_once() -> None:
    asked: list[int] = []
    grid = grid_over([], [("version", "elr"), ("faults", "none")], epochs_max=9)

    with exploring(LOCAL) as explorer:

        def counting(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            asked.append(len(questions))
            return explorer(questions, watch)

        [outcome] = explore_grid(grid, counting, engine="local").outcomes

    assert asked == [1]
    assert outcome.label == "holds"


def test_the_smallest_cell_comes_first_then_the_largest_and_outcomes_keep_their_order() -> None:
    asked: list[str] = []
    only = [("faults", name) for name in ("one crash", "zombie", "none", "two crashes")]
    grid = grid_over([], [("version", "elr"), *only], records=1, invariants=NO_LOSS)

    def unanswered(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        asked.extend(question.name for question in questions)
        return [unexplored_answer(question, "max-states") for question in questions]

    outcomes = explore_grid(grid, unanswered, engine="local").outcomes

    assert asked == ["none", "zombie", "two crashes", "one crash"]
    assert [outcome.cell for outcome in outcomes] == list(grid.cells())


def test_a_bound_that_is_too_large_for_the_budget_leaves_what_is_known_of_the_smaller() -> None:
    grid = grid_over([], [("version", "kip903"), ("faults", "two crashes")], records=1)
    outcome = only_cell(replace(grid, epochs_max=9, max_states=9_000))

    assert outcome.answer.complete
    assert outcome.label == "holds e3"
    assert outcome.unfinished is not None
    assert outcome.unfinished.epochs == 6
    assert outcome.unfinished.stopped_by == "max-states 9000"


def test_a_record_more_that_was_not_finished_is_told_in_the_label() -> None:
    grid = grid_over(
        [],
        [("version", "kip903"), ("faults", "one crash")],
        records=1,
        records_max=2,
        max_states=5_000,
    )

    assert only_cell(grid).label == "holds r1"


def test_a_loss_beyond_the_budget_still_counts() -> None:
    """The larger bounds are not finished, but what they broke they broke."""
    outcome = only_cell(replace(POWER_LOSS, records_max=2, max_states=3_000))

    assert not outcome.answer.complete
    assert outcome.label == "loses 12"


def test_a_loss_that_is_promised_ends_the_raising() -> None:
    grid = grid_over([], [("version", "hw"), ("faults", "two crashes")], epochs_max=9)

    assert only_cell(grid).cell.environment.epochs == 3


def test_an_interrupt_keeps_what_smaller_bounds_have_shown() -> None:
    grid = grid_over(
        ["version"],
        [("version", "kip903"), ("version", "kip320"), ("faults", "two crashes")],
        records=1,
        records_max=2,
    )
    rungs = 0

    with exploring(LOCAL) as explorer:

        def interrupted(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            nonlocal rungs
            rungs += 1
            if rungs > 1:
                return list(map(unexplored_answer, questions))
            return explorer(questions, watch)

        matrix = explore_grid(grid, interrupted, engine="local")

    assert rungs == 2
    assert matrix.interrupted
    assert not matrix.complete
    assert cell_of(matrix, version="kip320").label == "holds e3 r1"


@pytest.mark.parametrize(("replicas", "first"), [(1, 3), (2, 3), (3, 1), (4, 1)])
def test_many_replicas_begin_with_one_record(replicas: int, first: int) -> None:
    assert first_records(replicas, 3) == first


def without_bounds(version: str, fault: str, min_insync: str = "1") -> Grid:
    """One cell that is explored without bounds where it shows no loss."""
    values = [("version", version), ("faults", fault), ("min.insync.replicas", min_insync)]
    return grid_over([], values, tries_unbounded=True)


def test_what_holds_without_bounds_has_no_bound_in_its_label() -> None:
    outcome = only_cell(without_bounds("kip320", "leader moves"))

    assert outcome.unbounded is not None
    assert outcome.unbounded.confirms
    assert (outcome.label, outcome.is_bounded) == ("holds", False)
    assert next(describe_extent(outcome)).startswith(
        "Holds for any number of moves, epochs and produced records; 2 replicas"
    )


def test_what_takes_more_faults_than_the_cell_names_is_no_violation_of_it() -> None:
    outcome = only_cell(without_bounds("elr", "one crash", "2"))

    assert outcome.unbounded is not None
    assert outcome.unbounded.breaks == (("acknowledged_somewhere", 8), ("leader_possible", 2))
    assert outcome.label == "holds r2"
    assert "With more faults than these acknowledged_somewhere breaks after 8 steps" in " ".join(
        describe_extent(outcome)
    )


def test_circumstances_that_have_bounds_alone_say_why() -> None:
    outcome = only_cell(replace(without_bounds("hw", "zombie"), max_states=50_000))

    assert outcome.unbounded is None or "late-metadata" in outcome.unbounded.why


def test_one_crash_and_two_are_one_search_without_bounds() -> None:
    values = [("version", "elr"), *(("faults", f"{n}") for n in ("one crash", "two crashes"))]
    grid = grid_over(["faults"], values, records=1, tries_unbounded=True, invariants=NO_LOSS)
    unbounded: list[int] = []

    with exploring(LOCAL) as explorer:

        def counting(questions: Sequence[Question], watch: Watch) -> list[Answer]:
            if questions[0].problem.model.options["unbounded"]:
                unbounded.append(len(questions))
            return explorer(questions, watch)

        outcomes = explore_grid(grid, counting, engine="local").outcomes

    assert unbounded == [1]
    assert [outcome.label for outcome in outcomes] == ["holds", "holds"]
