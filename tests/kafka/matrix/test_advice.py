"""What a loss is like, by experiment, the command that shows it, and what holds for no reason."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.grids import cell_of, explored
from waterline.checker.batch.in_memory import exploring
from waterline.checker.batch.question import Answer
from waterline.checker.kafka.matrix.advice import advice, upgrades
from waterline.checker.kafka.matrix.deepening import Raised
from waterline.checker.kafka.matrix.grid import CLAIMS, VERSION, Axis, Cell, Grid, Value, grid_over
from waterline.checker.kafka.matrix.known_causes import Kin, kin_of
from waterline.checker.kafka.matrix.matrix import Matrix
from waterline.checker.kafka.matrix.outcome import describe_command, judge, vacuity
from waterline.checker.kafka.matrix.properties import read_config
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Verdict
from waterline.model.message.environment import Environment
from waterline.model.message.releases import release_followed

LOCAL = EngineChoice(name="local")
RELEASED_4_0 = "elr-with-last-known-leader"
RELEASED_4_0_0 = release_followed((4, 0), is_kraft=True).version


def matrix_of(version: str, fault: str, **asked: object) -> Matrix:
    in_sync = str(asked.pop("in_sync", 1))
    only = [("faults", fault), ("min.insync.replicas", in_sync)]
    grid = grid_over([], only, **asked)
    axes = tuple(
        Axis(axis.name, (Value(version),), version) if axis.name == VERSION else axis
        for axis in grid.axes
    )
    return explored(replace(grid, axes=axes), LOCAL)


def kin(grid: Grid, matrix: Matrix) -> list[Kin]:
    with exploring(LOCAL) as explorer:
        [found] = kin_of(grid, matrix.outcomes, explorer).values() or [[]]
    return found


def test_a_loss_is_like_the_entry_whose_repair_closes_it() -> None:
    matrix = matrix_of("kraft", "disk out of sync", records=1, in_sync=2)
    found = kin(matrix.grid, matrix)

    assert [k.scenario.number for k in found] == ["C9"]
    assert found[0].steps is None


def test_a_loss_that_no_repair_closes_is_like_nothing() -> None:
    """One machine that loses its disk takes the only copy; no rule brings that back.

    Without the last known leader nobody leads, so that the leader lacks nothing; still it is gone.
    """
    matrix = matrix_of("elr", "lost disk", records=1)
    axes = tuple(
        Axis(axis.name, (Value(RELEASED_4_0),), RELEASED_4_0) if axis.name == VERSION else axis
        for axis in matrix.grid.axes
    )
    matrix = explored(replace(matrix.grid, axes=axes, replicas=1), LOCAL)

    assert matrix.outcomes[0].worst is not None
    assert kin(matrix.grid, matrix) == []


def test_an_experiment_that_was_not_finished_counts_only_beyond_the_loss() -> None:
    matrix = matrix_of("kraft", "disk out of sync", records=1, in_sync=2)
    hurried = kin(replace(matrix.grid, max_states=300), matrix)
    [outcome] = matrix.outcomes

    assert outcome.worst is not None
    assert all(k.steps is None or k.steps > outcome.worst.depth for k in hurried)


def test_out_of_reach_because_nobody_can_lead_is_no_leader_and_no_loss() -> None:
    outcome = cell_of(matrix_of("elr", "two crashes", records=1), version="elr")
    depths = {claim.name: claim.depth for claim in outcome.claims}

    assert depths["acknowledged_somewhere"] is not None
    assert outcome.label == f"no leader {depths['leader_possible']}"
    assert depths["acknowledged_on_disk"] is None


def test_the_command_of_a_cell_shows_its_loss(cli: Commands) -> None:
    [outcome] = matrix_of("hw", "two crashes").outcomes
    name, subcommand, *options = shlex.split(describe_command(outcome))
    code, out, _ = cli(*options)

    assert (name, subcommand) == ("waterline", "check")
    assert code == 12
    assert outcome.worst is not None
    assert f"VIOLATED after {outcome.worst.depth} steps" in out


def test_the_command_of_a_cell_can_name_the_release(cli: Commands) -> None:
    """`--kafka` alone would set the high watermark in answers to what that release has."""
    [outcome] = matrix_of(RELEASED_4_0_0, "disk out of sync", records=1, in_sync=2).outcomes
    command = describe_command(outcome, "4.0:kraft")
    code, out, _ = cli(*shlex.split(command)[2:])

    assert "--protocol" not in command
    assert code == 12
    assert outcome.worst is not None
    assert f"VIOLATED after {outcome.worst.depth} steps" in out


def test_what_closes_with_one_record_alone_is_not_recommended(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """min.insync.replicas=2 is made to lose with two records: the next best is recommended."""
    file = tmp_path / "server.properties"
    file.write_text(
        "metadata.version=4.2\neligible.leader.replicas.version=0\nmin.insync.replicas=1\n"
    )
    config = read_config(file)
    claims = tuple(claim.name for claim in CLAIMS)
    tried = []

    def made_up(grid: Grid, cells: Sequence[Cell], *_: object, **__: object) -> Raised:
        answers = []
        for cell in cells:
            records = max(cell.environment.records, grid.records_max)
            tried.append((cell.version, records))
            loses = cell.environment.min_insync_replicas == 2 and records > 1
            verdict = (Verdict.VIOLATED.value, 5) if loses else (Verdict.HOLDS.value, None)
            verdicts = tuple((name, *verdict) for name in claims)
            fired = (("Crash", 1), ("Move", 1))
            answers.append(Answer(verdicts=verdicts, complete=True, fired=fired))
        return Raised(tuple(judge(grid, cells, answers)))

    monkeypatch.setattr("waterline.checker.kafka.matrix.advice.explore_raised", made_up)
    grid = Grid(axes=config.axes(only=["two crashes"]), replicas=3, records=1, records_max=2)
    [broken] = judge(
        grid,
        list(grid.cells()),
        [Answer(verdicts=tuple((name, Verdict.VIOLATED.value, 9) for name in claims))],
    )
    with exploring(LOCAL) as explorer:
        found = advice(config, grid, [broken], explorer)

    assert found.recommendation is not None
    best = "set eligible.leader.replicas.version=1 (kafka-features.sh)"
    assert found.recommendation.changes.description == best
    labels = {remedy.changes.description: remedy.label for remedy in found.tried["two crashes"]}
    assert labels == {
        "set min.insync.replicas=2": "loses 5",
        best: "holds",
    }
    assert (config.version, 2) in tried


@pytest.mark.parametrize(
    ("environment", "never", "fired", "says"),
    [
        (Environment(restarts=1), (), {"Crash": 3}, None),
        (Environment(restarts=1), (), {"Crash": 0}, "no broker ever crashes"),
        (Environment(restarts=0, moves=1), (), {}, "leadership never moves"),
        (Environment(restarts=0, lost_disks=1), (), {"Crash": 1}, "no disk is ever lost"),
        (Environment(restarts=0), ("record_acknowledged",), {}, "no record is ever acknowledged"),
        (Environment(restarts=0), (), {}, None),
    ],
)
def test_a_cell_in_which_its_fault_never_happens_says_so(
    environment: Environment, never: tuple[str, ...], fired: dict[str, int], says: str | None
) -> None:
    told = vacuity(environment, never, fired)

    assert (told is None) == (says is None)
    assert (says or "") in (told or "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("metadata.version=4.2\neligible.leader.replicas.version=1", []),
        (
            "metadata.version=4.2\neligible.leader.replicas.version=0",
            ["set eligible.leader.replicas.version=1 (kafka-features.sh)"],
        ),
        (
            "process.roles=broker\nmetadata.version=3.5",
            [
                "upgrade to Kafka 4.4 with KRaft",
                "upgrade to Kafka 4.4 with KRaft, then "
                "set eligible.leader.replicas.version=1 (kafka-features.sh)",
            ],
        ),
        (
            "inter.broker.protocol.version=0.11.0",
            [
                "upgrade to Kafka 3.9 with ZooKeeper",
                "upgrade to Kafka 4.4 with KRaft",
                "upgrade to Kafka 4.4 with KRaft, then "
                "set eligible.leader.replicas.version=1 (kafka-features.sh)",
            ],
        ),
    ],
)
def test_upgrades_lead_to_other_rules_and_never_back(
    text: str, told: list[str], tmp_path: Path
) -> None:
    path = tmp_path / "server.properties"
    path.write_text(text)

    assert [upgrade.description for upgrade in upgrades(read_config(path))] == told
