"""Surveys of the catalogue: what counts still, what is tried, and the document of the results."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.survey import survey
from lab.survey.__main__ import survey_command
from lab.survey.cells import Cell, count_of, in_order, read_cells, write_cells
from lab.survey.course_digest import course_digest
from lab.survey.document import to_markdown
from lab.survey.survey import Survey
from tests.lab.conftest import LabCommands
from waterline.checker.kafka.confirm.counterexample import search
from waterline.checker.kafka.confirm.course import Course, course_of
from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm, NoJars
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.checker.kafka.confirm.replay import Confirmation, Judgement
from waterline.checker.kafka.scenarios.catalogue import CATALOGUE, find_scenario, of_kafka

RESULTS = Path(__file__).parents[3] / "docs" / "released-brokers.jsonl"


def cell(scenario: str, release: str, judgement: str, **other: Any) -> Cell:
    told = {"step": 0, "reason": "", "traced": "hw", "course": "0", "seconds": 1.0}
    return Cell(scenario=scenario, release=release, judgement=judgement, **(told | other))


CELLS = [
    cell("zombie-follower", "0.11.0.3", "NOT_STEERABLE", step=7, reason="too early"),
    cell("refused-expansion", "4.2.0:elr", "CONFIRMED", waited=20.0, ended_by="Produce(leader=1)"),
    cell("kip-101-loss", "0.11.0.3", "HELD", step=10, reason="r1 LEO 1 instead of 0"),
    cell("kip-101-loss", "0.10.2.2", "CONFIRMED"),
    cell("kip-101-loss", "4.2.0:kraft", "HELD"),
]


def test_the_document_has_a_row_an_entry_and_says_why() -> None:
    text = to_markdown(CELLS, "results.jsonl")

    assert "2 CONFIRMED, 2 holds, 0 REFUTED, 1 not steerable." in text
    assert "--results results.jsonl --markdown" in text
    assert "| | scenario | 0.10.2.2 | 0.11.0.3 |" in text
    assert "| C1 | kip-101-loss | CONFIRMED | holds |" in text
    assert "| C5 | zombie-follower | - | not steerable 7 |" in text
    assert "| | scenario | 4.2.0:kraft | 4.2.0:elr |" in text
    assert "| C43 | refused-expansion | - | CONFIRMED (waited 20 s) |" in text
    assert "* refused-expansion on 4.2.0:elr: ended by Produce(leader=1)." in text
    assert "* zombie-follower on 0.11.0.3: too early." in text
    assert "parts at step 10, r1 LEO 1 instead of 0." in text
    assert "is the same up to its end, where nothing breaks." in text
    assert "Without any result: C1b kip-101-loss-by-moves," in text
    assert "no version breaks their claims: C36 shrunk-although-caught-up, C37" in text


def test_a_reason_stands_once_with_all_that_have_it() -> None:
    held = [
        cell(scenario, release, "HELD", step=10, reason="the same")
        for scenario in ("kip-101-loss", "kip-101-divergence")
        for release in ("2.1.1", "2.8.2")
    ]
    text = to_markdown([*CELLS, *held], "results.jsonl")

    assert "* kip-101-loss, kip-101-divergence on 2.1.1, 2.8.2: the trace of `hw` parts" in text


def test_results_are_the_same_after_reading_and_stand_in_order(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    write_cells(file, CELLS)
    lines = file.read_text().splitlines()

    assert read_cells(file) == in_order(CELLS)
    assert [json.loads(line)["release"] for line in lines] == [
        "0.10.2.2",
        "0.11.0.3",
        "4.2.0:kraft",
        "0.11.0.3",
        "4.2.0:elr",
    ]
    assert "waited" not in lines[0]
    assert read_cells(tmp_path / "nothing") == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"scenario": "C99"},
        {"release": "none"},
        {"judgement": "LOST"},
        {"step": "7"},
        {"more": 1},
    ],
)
def test_a_file_that_holds_no_results_is_refused(tmp_path: Path, wrong: dict[str, Any]) -> None:
    file = tmp_path / "other"
    write_cells(file, CELLS[3:4])
    line = json.loads(file.read_text()) | wrong
    file.write_text(json.dumps(line) + "\n")

    with pytest.raises(CannotConfirm, match="holds no results of the catalogue"):
        read_cells(file)


class Pretended:
    """Brokers on which everything is confirmed at once; what was tried on them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        self.results = tmp_path / "results.jsonl"
        self.tried: list[tuple[str, str]] = []
        self.told: list[str] = []
        self.failing: set[str] = set()
        self.unsteerable: set[str] = set()
        monkeypatch.setattr(survey, "class_path", self.class_path)
        monkeypatch.setattr(survey, "confirm_among_others", self.confirm)

    def class_path(self, release: KafkaRelease, **_: Any) -> list[Path]:
        if release.name == "1.1.9":
            raise NoJars("there is no Kafka 1.1.9")
        return []

    def confirm(self, course: Course, site: Any, clusters: Any) -> Confirmation:
        self.tried.append((course.trace.version, site.release.name))
        if course.trace.version in self.failing:
            raise BrokerFailed("r0 did not serve")
        cannot = self.unsteerable & {step.action for step in course.trace.steps}
        return Confirmation(
            judgement=Judgement.NOT_STEERABLE if cannot else Judgement.CONFIRMED,
            step=0,
            reason="",
            steps=(),
            evidence=None,
            seconds=1.0,
        )

    def add(self, *names: str, releases: tuple[str, ...], again: bool = False) -> Survey:
        made = Survey(self.results, None, self.told.append, lambda line: None)
        self.missing = made.add(
            [find_scenario(name) for name in names], [*map(kafka_release, releases)], again=again
        )
        return made


@pytest.fixture
def brokers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Pretended:
    return Pretended(monkeypatch, tmp_path)


def test_a_survey_goes_on_where_it_was(brokers: Pretended) -> None:
    brokers.add("C1", releases=("0.10.2.2", "1.1.9"))
    found = brokers.add("C1", "C6u", releases=("0.10.2.2", "1.1.9"))

    assert [(each.scenario, each.traced) for each in found.cells] == [
        ("kip-101-loss", "hw"),
        ("undefined-epoch-unclean", "kip279"),
    ]
    assert brokers.missing == ["1.1.9"]
    assert brokers.tried == [("hw", "0.10.2.2"), ("kip279", "0.10.2.2")]
    assert read_cells(brokers.results) == in_order(found.cells)


def test_what_was_found_of_another_course_is_tried_again_or_dropped(brokers: Pretended) -> None:
    made = brokers.add("C1", "C12", releases=("0.10.2.2",))
    write_cells(brokers.results, [replace(each, course="another") for each in made.cells[:1]])
    brokers.tried.clear()
    again = brokers.add("C1", releases=("0.10.2.2",))

    assert len(brokers.tried) == 1
    assert again.cells == made.cells[:1]
    write_cells(brokers.results, [replace(made.cells[0], course="another"), made.cells[1]])
    last = Survey(brokers.results, None, brokers.told.append, lambda line: None)
    assert [each.scenario for each in last.drop_outdated()] == ["kip-101-loss"]
    assert read_cells(brokers.results) == made.cells[1:]


def test_what_counts_still_is_tried_again_where_that_is_asked_for(brokers: Pretended) -> None:
    brokers.add("C1", releases=("0.10.2.2",))
    found = brokers.add("C1", releases=("0.10.2.2",), again=True)

    assert len(brokers.tried) == 2
    assert len(found.cells) == 1


def test_a_cluster_that_does_not_come_up_does_not_end_a_survey(brokers: Pretended) -> None:
    brokers.failing = {"kip279"}
    found = brokers.add("C6u", "C1", releases=("0.10.2.2",))

    assert [each.scenario for each in found.cells] == ["kip-101-loss"]
    assert "not tried: r0 did not serve" in brokers.told


def test_where_brokers_shrink_the_isr_too_early_another_counterexample_is_taken(
    brokers: Pretended,
) -> None:
    brokers.unsteerable = {"ShrinkIsr"}
    [found] = brokers.add("C2", releases=("0.10.2.2",)).cells
    [again] = brokers.add("C2", releases=("0.10.2.2",)).cells

    assert found.judged is Judgement.CONFIRMED
    assert again == found
    assert brokers.tried == [("hw", "0.10.2.2"), ("hw", "0.10.2.2")]


def test_what_was_not_steerable_is_tried_again_while_there_is_another_counterexample(
    brokers: Pretended,
) -> None:
    [found] = brokers.add("C2", releases=("0.10.2.2",)).cells
    write_cells(brokers.results, [replace(found, judgement="NOT_STEERABLE")])
    brokers.unsteerable = {"ShrinkIsr"}
    brokers.add("C2", releases=("0.10.2.2",))
    first_tried = len(brokers.tried)
    [now] = brokers.add("C2", releases=("0.10.2.2",)).cells

    assert first_tried == 3
    assert len(brokers.tried) == first_tried
    assert now.judged is Judgement.CONFIRMED


def test_an_entry_without_a_counterexample_is_told_and_not_tried(brokers: Pretended) -> None:
    found = brokers.add("C37", releases=("0.10.2.2",))

    assert found.cells == []
    assert "has no counterexample" in brokers.told[0]


def test_the_same_steps_with_other_expectations_are_another_course(brokers: Pretended) -> None:
    found = brokers.add("C12", releases=("0.10.2.2", "2.1.1", "2.8.2"))
    digests = {each.release: each.course for each in found.cells}

    # From 0.11 on records carry epochs, and brokers keep them in a cache.
    assert digests["0.10.2.2"] != digests["2.1.1"]
    assert digests["2.8.2"] == digests["2.1.1"]


@pytest.mark.parametrize(
    "changed", [{"min_insync_replicas": 2}, {"unclean_leader_election": 1}, {"acks": 2}], ids=str
)
def test_how_brokers_are_set_and_written_to_is_in_the_digest(changed: dict[str, int]) -> None:
    """The steps and all that the model says after them are the same."""
    release, course = _course_of_c12()
    settings = course.model.settings._replace(**changed)
    other = replace(course, model=replace(course.model, settings=settings))

    assert course_digest(other, release) != course_digest(course, release)


def test_a_step_taken_in_place_of_another_is_in_the_digest() -> None:
    """As where followers that leave one after the other leave in one step."""
    release, course = _course_of_c12()
    first, *rest = course.replayed.moments
    moments = (replace(first, action="ShrinkTogether"), *rest)
    other = replace(course, replayed=replace(course.replayed, moments=moments))

    assert course_digest(other, release) != course_digest(course, release)


def _course_of_c12() -> tuple[KafkaRelease, Course]:
    release = kafka_release("0.10.2.2")
    found = search(find_scenario("C12"), release.rules, lambda line: None)
    return release, course_of(found.finding.replayed, found.problem.model, found.claim, release)


def test_cells_are_counted() -> None:
    assert count_of(CELLS) == "2 CONFIRMED, 2 holds, 0 REFUTED, 1 not steerable"


def test_rules_without_a_name_are_searched_before_another_version_is_taken() -> None:
    nameless = kafka_release("2.0.1").rules
    own = search(find_scenario("last-replica-standing"), nameless, lambda line: None)
    others = search(find_scenario("kip-279"), nameless, lambda line: None)

    assert own.problem.model.version == nameless
    assert others.problem.model.version == "epoch"


def test_no_release_of_kafka_is_tried_with_what_is_of_fluss_alone(
    lab_command: LabCommands, tmp_path: Path
) -> None:
    results = str(tmp_path / "results.jsonl")
    code, _, err = lab_command(survey_command, "C52", "--results", results)

    assert code == 2
    assert "use `waterline confirm --fluss 0.9.1 --scenario clean-reassignment`" in err
    alone = {entry.number for entry in CATALOGUE} - {entry.number for entry in of_kafka()}
    assert alone == {"C51", "C52", "C53", "C54"}
