"""A first look: common faults first, small bounds, and never a verdict that the search has not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.support.deployment_answers import FOLDER, answer_of
from tests.support.grids import explored
from waterline.checker.batch.question import Answer, Question, Watch, unexplored_answer
from waterline.checker.compiler.kernel import plan_of
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.matrix.advice import advice
from waterline.checker.kafka.matrix.grid import (
    BY_FREQUENCY,
    COMMON,
    FAULT,
    STATES_MAX_AT_FIRST,
    STATES_MAX_OF_A_TRIAL,
    Grid,
    grid_over,
)
from waterline.checker.kafka.matrix.known_causes import kin_of
from waterline.checker.kafka.matrix.matrix import explore_grid
from waterline.checker.kafka.matrix.outcome import Outcome, Standing, judge
from waterline.checker.kafka.matrix.properties import read_config
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.kafka.scenarios.repairs import REPAIRS, repair_version
from waterline.checker.search.engines.engine import EngineChoice

LOCAL = EngineChoice(name="local")
RARE = [value.name for value in BY_FREQUENCY if value.name not in COMMON]


def grid_of(*faults: str, version: str = "kip903", **asked: object) -> Grid:
    chosen = [("version", version), *((FAULT, fault) for fault in faults)]
    return replace(
        grid_over([FAULT], chosen, records=1, **asked),
        tries_unbounded=True,
        epochs_max=9,
        records_max=2,
    )


def test_common_faults_are_asked_about_before_others() -> None:
    """A call of their own, which needs one kernel: so their answers are there first."""
    calls: list[list[str]] = []

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        calls.append([question.name for question in questions])
        return [answer_of(None) for _ in questions]

    explore_grid(grid_of(*RARE, *COMMON).at_first(), explore, engine="local")

    assert [set(call) for call in calls] == [set(COMMON), set(RARE)]


def test_once_interrupted_nothing_more_is_asked_and_the_rest_is_unknown() -> None:
    calls: list[int] = []

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        calls.append(len(questions))
        return [answer_of(None), *map(unexplored_answer, questions[1:])]

    found = explore_grid(grid_of(*RARE, *COMMON).at_first(), explore, engine="local")

    assert calls == [len(COMMON)]
    assert found.interrupted
    assert [o.standing for o in found.outcomes].count(Standing.HOLDS) == 1


@pytest.mark.parametrize("version", ["kraft", "elr"])
def test_its_verdicts_are_those_of_the_same_bounds_in_any_order(version: str) -> None:
    grid = grid_of("one crash", "power loss", "lost disk", "taken directory", version=version)
    first = explored(grid.at_first(), LOCAL)
    bounded = {"tries_unbounded": False, "epochs_max": grid.epochs, "records_max": grid.records}
    whole = explored(replace(grid, **bounded), LOCAL)  # type: ignore[arg-type]  # its own fields

    assert [o.claims for o in first.outcomes] == [o.claims for o in whole.outcomes]
    assert all(o.unbounded is None and o.is_bounded for o in first.outcomes)


def test_a_smaller_size_has_fewer_states_in_a_first_look_alone() -> None:
    """Three replicas with a reassignment are explored as two, where no loss proves nothing."""
    grid = grid_of("reassigned again", "one crash", replicas=3)
    most = {
        is_first: {
            cell.coordinates[FAULT]: question_of(cell, each).budgets.max_states
            for cell in each.cells()
        }
        for is_first, each in ((True, grid.at_first()), (False, grid))
    }

    few = {"reassigned again": STATES_MAX_OF_A_TRIAL, "one crash": STATES_MAX_AT_FIRST}
    assert most == {True: few, False: dict.fromkeys(few, grid.max_states)}


def _too_large(grid: Grid) -> list[Outcome]:
    """Losses that took more states than a trial may have."""
    cells = list(grid.cells())
    found = replace(answer_of(5), levels=(STATES_MAX_OF_A_TRIAL + 1,))
    return judge(grid, cells, [found for _ in cells])


def test_what_a_trial_cannot_finish_is_not_tried_and_never_prevents() -> None:
    config = read_config(FOLDER / "combined-4.2.properties", acks="1")
    grid = replace(grid_of("one crash").at_first(), axes=config.axes(only=["one crash"]))
    asked: list[str] = []

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        asked.extend(question.name for question in questions)
        return [answer_of(None) for _ in questions]

    found = advice(config, grid, _too_large(grid), explore)

    assert asked == []
    assert found.recommendation is None
    assert found.unclosed == []
    assert {r.is_known or r.closes for r in found.tried["one crash"]} == {False}
    assert kin_of(grid, _too_large(grid), explore) == {}
    assert advice(config, replace(grid, first_look=False), _too_large(grid), explore).recommendation
    assert asked


@pytest.mark.parametrize("version", ["kraft", "kip903", "elr"])
def test_a_repair_of_the_catalogue_needs_no_kernel_of_its_own(version: str) -> None:
    grid = grid_of("one crash", version=version)
    [cell] = grid.cells()
    problem = question_of(cell, grid).problem
    repaired = {repair_version(problem.spec.version, repair) for repair in REPAIRS}
    plans = {
        plan_of(
            replace(
                MESSAGE.make(replace(problem.spec, version=each)),
                shared=problem.shared,
            )
        )
        for each in repaired
        if each is not None
    }

    assert plans == {plan_of(problem)}
