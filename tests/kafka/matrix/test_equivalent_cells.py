"""A cell whose states are those of another version is explored once, and told as it would be."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support.reached import depths_of_states
from tests.support.sampling import drawn
from tests.support.states import model_of
from waterline.checker.batch.in_memory import exploring
from waterline.checker.batch.question import (
    UNWATCHED,
    Answer,
    Explorer,
    Question,
    Watch,
    unexplored_answer,
)
from waterline.checker.kafka.matrix.deepening import asking_once
from waterline.checker.kafka.matrix.grid import Grid, grid_over
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import INTERRUPTED
from waterline.model.core.transition_system import Model
from waterline.model.message.features import FEATURES, Feature

BOTH = [("version", "kraft"), ("version", "kip903")]
WAITING = [feature for feature in FEATURES if feature.begins_with]


def grid_of(*faults: str) -> Grid:
    chosen = [*BOTH, *(("faults", fault) for fault in faults)]
    return grid_over(["version", "faults"], chosen, records=1)


def questions_of(grid: Grid) -> list[Question]:
    return [question_of(cell, grid) for cell in grid.cells()]


def counting(explorer: Explorer, asked: list[Question]) -> Explorer:
    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        asked.extend(questions)
        return explorer(questions, watch)

    return explore


def told(answer: Answer) -> Answer:
    return replace(answer, seconds=0.0)


@pytest.mark.parametrize(
    ("fault", "explored"), [("zombie", 1), ("leader moves", 1), ("one crash", 2), ("lost disk", 2)]
)
def test_answers_are_those_of_each_cell_alone(fault: str, explored: int) -> None:
    questions = questions_of(grid_of(fault))
    asked: list[Question] = []
    with exploring(EngineChoice(name="local")) as explorer:
        once = asking_once(counting(explorer, asked))(questions, UNWATCHED)
        alone = explorer(questions, UNWATCHED)

    assert len(asked) == explored
    assert [told(answer) for answer in once] == [told(answer) for answer in alone]


def test_where_the_rule_may_have_begun_both_are_explored() -> None:
    questions = questions_of(grid_of("zombie"))
    asked: list[Question] = []

    def somebody_restarts(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        return [Answer(fired=(("Restart", 1),)) for _ in questions]

    asking_once(counting(somebody_restarts, asked))(questions, UNWATCHED)

    assert [question.problem.model.version for question in asked] == ["kraft", "kip903"]


def test_what_raised_is_explored_under_its_own_version() -> None:
    questions = questions_of(grid_of("zombie"))
    asked: list[Question] = []

    def raising(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        return [Answer(raised_in=(1,)) for _ in questions]

    asking_once(counting(raising, asked))(questions, UNWATCHED)

    assert [question.problem.model.version for question in asked] == ["kraft", "kip903"]


def test_after_an_interrupt_nothing_more_is_asked() -> None:
    questions = questions_of(grid_of("zombie", "leader moves"))
    asked: list[Question] = []

    def interrupted(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        return list(map(unexplored_answer, questions))

    answers = asking_once(counting(interrupted, asked))(questions, UNWATCHED)

    assert len(asked) == 2
    assert [answer.stopped_by for answer in answers] == [INTERRUPTED] * 4


def test_whoever_watches_is_told_of_places_in_the_whole() -> None:
    questions = questions_of(grid_of("zombie", "lost disk"))
    heard: list[tuple[int, list[int]]] = []

    def explorer(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        watch.progress(1, range(1, len(questions)))
        return [Answer() for _ in questions]

    watch = Watch(progress=lambda done, now: heard.append((done, list(now or ()))))
    asking_once(explorer)(questions, watch)

    assert [question.problem.model.version for question in questions] == [
        "kraft",
        "kraft",
        "kip903",
        "kip903",
    ]
    assert heard == [(1, [1, 3]), (4, [])]


SOME = 400
"""So many states are compared step by step, from all over a space that is compared whole."""


def without_action(name: str, model: Model) -> Model:
    """The model in which nobody takes this action."""
    return replace(model, contents=tuple(each for each in model.contents if each != name))


WITHOUT = {
    "changeable-reassignment": ("kip320-without-changeable-reassignment",),
    "partition-epoch-check": ("kraft-without-partition-epoch-check",),
    "broker-epoch": ("kraft", "elr-without-stale-fetch-check-without-broker-epoch"),
    "stale-fetch-check": ("kip903-without-stale-fetch-check",),
    "registration-removes": ("elr-without-registration-removes",),
    "completes-when-added": ("elr",),
    "shrink-waits-for-targets": ("kip903",),
    "new-directory-empties-elr": ("elr-without-new-directory-empties-elr",),
    "elr-only-replicas": ("elr",),
    "lost-directory-is-unclean": ("elr",),
    "recovers-future-log": ("kip903",),
    "truncation-marks-future-log": ("elr",),
    "promotion-compares-epochs": ("elr",),
    "recovery-compares-ends": ("elr",),
    "pending-survives-replay": ("elr",),
}
"""By the rule that waits, versions that do not have it."""
THERE = {
    "Restart": {},
    "Replay": {"late_replay": True},
    "Reassign": {"reassignments": 1, "late_metadata": False},
    "DirectoryTaken": {"taken_directories": 1},
    "StartFutureLog": {"directory_moves": 1, "future_log": True},
}
"""By an action, the circumstances in which it is there."""


def test_every_rule_that_waits_has_versions_without_it() -> None:
    assert [feature.name for feature in WAITING] == list(WITHOUT)


OPTIONS: dict[str, dict[str, Any]] = {
    "crash and move": {"restarts": 1, "moves": 1, "requests_survive": True},
    "zombie": {
        "session_expiries": 1,
        "requests_survive": True,
        "late_metadata": True,
        "epochs": 1,
    },
    "shutdown and lost disk": {"shutdowns": 1, "lost_disks": 1},
}
WAITS = [
    pytest.param(version, feature, options, id=f"{version}-{feature.name}-{name}")
    for feature in WAITING
    for version in WITHOUT[feature.name]
    for name, options in OPTIONS.items()
]


def assert_a_rule_that_waits_changes_no_step(
    version: str, feature: Feature, options: dict[str, Any]
) -> None:
    bounds = {"replicas": 2, "records": 1, "epochs": 2, "restarts": 0, **options}
    bounds |= THERE[feature.begins_with]
    without = model_of(version, **bounds)
    having = model_of(f"{version}-with-{feature.name}", **bounds)
    before = without_action(feature.begins_with, without)
    before_having = without_action(feature.begins_with, having)
    depths = depths_of_states(Problem(before, (), ()))

    assert depths == depths_of_states(Problem(before_having, (), ()))
    # Two rules may lead to the same states by other steps, so the steps are compared as well.
    for state in random.Random(version).sample([*depths], min(len(depths), SOME)):
        assert [*before.successors(state)] == [*before_having.successors(state)]
    assert having.settings.features == without.settings.features | feature.bit
    assert feature.begins_with in without.contents
    assert len(depths) > 500


@pytest.mark.parametrize(("version", "feature", "options"), drawn(WAITS, 8))
def test_before_its_action_a_rule_that_waits_for_it_changes_no_step(
    version: str, feature: Feature, options: dict[str, Any]
) -> None:
    assert_a_rule_that_waits_changes_no_step(version, feature, options)
