"""A survey of the catalogue, and its document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from checker.kafka.confirm import survey
from checker.kafka.confirm.counterexample import searched
from checker.kafka.confirm.errors import CannotConfirm, NoJars
from checker.kafka.confirm.releases import KafkaRelease, kafka_release
from checker.kafka.confirm.survey import Cell, read_cells, surveyed, to_markdown
from checker.kafka.scenarios.catalogue import find_scenario

CELLS = [
    Cell("kip-101-loss", "0.10.2.2", "CONFIRMED", 0, "lost", 5.0),
    Cell("kip-101-loss", "0.11.0.3", "HELD", 10, "they part", 6.0),
    Cell("zombie-follower", "0.11.0.3", "NOT_STEERABLE", 7, "too early", 7.0),
]


def test_the_document_has_a_row_an_entry_and_says_why() -> None:
    text = to_markdown(CELLS, ["0.10.2.2", "0.11.0.3"], ["9.9.9"])

    assert "1 CONFIRMED, 1 holds, 0 REFUTED, 1 not steerable." in text
    assert "| C1 | kip-101-loss | CONFIRMED | holds |" in text
    assert "| C5 | zombie-follower | - | not steerable 7 |" in text
    assert "* zombie-follower on 0.11.0.3: too early." in text
    assert "Not to be had: 9.9.9." in text


def test_a_survey_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[tuple[str, str]] = []

    def pretend(scenario: Any, release: KafkaRelease, *_: object) -> Cell:
        tried.append((scenario.name, release.name))
        if release.name == "1.1.9":
            raise NoJars("there is no Kafka 1.1.9")
        return Cell(scenario.name, release.name, "CONFIRMED", 0, "lost", 1.0)

    monkeypatch.setattr(survey, "_tried", pretend)
    scenarios = [find_scenario("C1"), find_scenario("C2")]
    releases = [kafka_release("0.10.2.2"), kafka_release("1.1.9")]

    def survey_all(those: list[Any]) -> tuple[list[Cell], list[str]]:
        return surveyed(
            those,
            releases,
            results=tmp_path / "results",
            jars=None,
            announce=lambda line: None,
            report=lambda line: None,
        )

    survey_all(scenarios[:1])
    cells, missing = survey_all(scenarios)

    assert [cell.scenario for cell in cells] == ["kip-101-loss", "kip-101-divergence"]
    assert missing == ["1.1.9"]
    assert tried == [
        ("kip-101-loss", "0.10.2.2"),
        ("kip-101-loss", "1.1.9"),
        ("kip-101-divergence", "0.10.2.2"),
        ("kip-101-loss", "1.1.9"),
    ]
    assert read_cells(tmp_path / "results") == cells


def test_a_file_that_holds_no_results_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text('{"scenario": 1}\n')

    with pytest.raises(CannotConfirm, match="holds no results of a survey"):
        read_cells(tmp_path / "other")


def test_a_reason_stands_once_with_all_that_have_it() -> None:
    held = [
        Cell(scenario, release, "HELD", 10, "the same", 1.0)
        for scenario in ("kip-101-loss", "kip-101-divergence")
        for release in ("2.1.1", "2.8.2")
    ]
    text = to_markdown([*CELLS, *held], ["0.10.2.2", "0.11.0.3", "2.1.1", "2.8.2"], [])

    assert "* kip-101-loss, kip-101-divergence on 2.1.1, 2.8.2: the same." in text
    assert "* kip-101-loss on 0.11.0.3: they part." in text


def test_rules_without_a_name_are_searched_before_another_version_is_taken() -> None:
    nameless = kafka_release("2.0.1").rules
    own = searched(find_scenario("last-replica-standing"), nameless, lambda line: None)
    others = searched(find_scenario("kip-279"), nameless, lambda line: None)

    assert own.problem.model.version == nameless
    assert others.problem.model.version == "epoch"
