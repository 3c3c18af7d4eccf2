"""Rows of what operators do: known losses are found, and what was not explored is not answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.kafka.matrix.test_sizes import deployed
from tests.support.deployment_answers import answer_of, made_up, shown
from tests.support.grids import explored
from waterline.checker.batch.question import Answer, Question, Watch
from waterline.checker.kafka.matrix.grid import FAULT, OF_OPERATORS, Grid, axes_of, grid_over
from waterline.checker.kafka.matrix.known_causes import Kin
from waterline.checker.kafka.matrix.matrix import DeploymentAnswer, Matrix, explore_grid
from waterline.checker.kafka.matrix.outcome import Standing
from waterline.checker.kafka.matrix.properties import configs_of
from waterline.checker.kafka.matrix.questions import question_of
from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.checker.kafka.scenarios.repairs import REPAIRS
from waterline.checker.report.pages.deployment_page import to_html
from waterline.checker.search.engines.engine import EngineChoice
from waterline.model.message.versions import FLUSS

ROWS = [fault.name for fault in OF_OPERATORS]
SETTINGS = "process.roles=broker metadata.version={} eligible.leader.replicas.version={} {}"
SIZE = "default.replication.factor=2 min.insync.replicas=2"


def grid_of(version: str, elr: str, *faults: str) -> Grid:
    text = SETTINGS.format(version, elr, SIZE)
    if elr == "zookeeper":
        text = f"zookeeper.connect=x kafka-version={version} {SIZE}"
    [config] = configs_of(deployed(text))
    return Grid(axes=config.axes(only=faults), replicas=2, records=1, worst_is_enough=True)


@pytest.mark.parametrize(
    ("version", "elr", "labels"),
    [
        ("4.2", "1", ["loses 6", "loses 13"]),
        ("4.4", "1", ["loses 6", "loses 13"]),
        # What a partition 0 with more replicas has to say is about ELR alone (C56).
        ("4.4", "0", ["holds e3", "loses 13"]),
        ("3.9", "zookeeper", ["holds e3", "loses 13"]),
    ],
)
def test_losses_of_the_catalogue_are_found(version: str, elr: str, labels: list[str]) -> None:
    grid = grid_of(version, elr, "replication factor", "taken directory")
    found = explored(grid, EngineChoice(name="local"))

    assert [outcome.label for outcome in found.outcomes] == labels


def asked_of(grid: Grid, asked: list[Question]) -> Matrix:
    """The grid, of which every cell holds with the bounds cutting nothing."""

    def explore(questions: Sequence[Question], watch: Watch) -> list[Answer]:
        asked.extend(questions)
        return [answer_of(None) for _ in questions]

    return explore_grid(grid, explore, engine="local")


def test_every_row_is_explored_under_zookeeper_as_well() -> None:
    asked: list[Question] = []
    grid = grid_over([FAULT], [("version", "hw"), *((FAULT, row) for row in ROWS)])
    found = asked_of(grid, asked)

    assert sorted({question.name for question in asked}) == sorted(ROWS)
    assert found.complete


def test_three_brokers_begin_with_one_record_and_are_raised() -> None:
    """A first look ends with one; so does nothing that has all its records from the beginning."""
    rows = ("reassignment", "replication factor")
    grid = replace(grid_of("4.4", "0", *rows), records=2, records_max=2)
    seen: dict[bool, list[tuple[str, object, object]]] = {}
    for is_first in (True, False):
        asked: list[Question] = []
        asked_of(grid.at_first() if is_first else grid, asked)
        options = [question.problem.model.options for question in asked]
        seen[is_first] = [
            (question.name, each["replicas"], each["records"])
            for question, each in zip(asked, options, strict=True)
        ]

    assert seen[True] == [("reassignment", 3, 1), ("replication factor", 2, 2)]
    assert seen[False] == [*seen[True], ("reassignment", 3, 2)]


def test_a_grid_of_three_replicas_says_which_cells_are_of_two() -> None:
    grid = grid_over([FAULT], [("version", "elr"), *((FAULT, row) for row in ROWS)], replicas=3)
    found = asked_of(grid, [])
    sizes = {o.fault: (o.cell.size.replicas, o.label) for o in found.outcomes}

    assert sizes == {**dict.fromkeys(ROWS[:3], (2, "?")), "taken directory": (3, "holds")}
    assert {o.standing for o in found.outcomes[:3]} == {Standing.INCOMPLETE}


def test_the_rules_of_reassignment_are_compiled_for_its_rows_alone() -> None:
    """All other cells share a kernel without them, as before there were such rows."""
    grid = grid_over([FAULT], [("version", "elr")])
    steps = {
        cell.coordinates[FAULT]: question_of(cell, grid).problem.shared.actions  # type: ignore[union-attr]
        for cell in grid.cells()
    }

    assert {name for name, actions in steps.items() if "Reassign" in actions} == set(ROWS[:3])
    assert {name for name, actions in steps.items() if "DirectoryTaken" in actions} == {ROWS[3]}


def test_fluss_has_no_such_rows() -> None:
    [axis] = [axis for axis in axes_of(FLUSS) if axis.name == FAULT]

    assert not set(ROWS) & {value.name for value in axis.values}


@pytest.mark.parametrize("entry", ["C55", "C57", "C22"])
def test_what_not_to_do_until_it_is_repaired_is_said_of_a_loss_that_is_like_the_entry(
    entry: str,
) -> None:
    """Not because ELR is on: only where the loss is gone with the entry's repair."""
    [config] = configs_of(deployed(SETTINGS.format("4.2", "1", SIZE)))
    [repair] = [repair for repair in REPAIRS if repair.entry == entry]
    kin = {"reassigned again": [Kin(find_scenario(entry), repair, None)]}
    lost = made_up(config, lambda cell: cell.coordinates[FAULT] == "reassigned again")
    told = {}
    for number, answer in enumerate((lost, made_up(config, lambda cell: False))):
        whole = DeploymentAnswer(deployed(""), (replace(answer, kin=kin),))
        lines = shown(whole)
        told[number] = " ".join(" ".join(lines).split()), to_html(whole)
        assert max(map(len, lines)) <= 80
    commands = {
        "C55": "C55: do not add replicas to a partition that kafka-topics.sh --bootstrap-server",
        "C57": "C57: remove or wipe a log directory of a broker only while every partition",
    }

    for text in told[0]:
        assert ("Until a release repairs these" in text) is (entry in commands)
        assert commands.get(entry, "") in text
        assert ("(docs/losses.md)" in text) is (entry in commands)
    assert ("How C5" in told[0][1]) is (entry in commands)
    assert all("Until a release" not in text for text in told[1])
