"""The figures of walks: kept, read again, and told in a document that has another author too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from lab.conform.__main__ import conform_command
from lab.conform.aiming import Plan
from lab.conform.circumstances import CIRCUMSTANCES
from lab.conform.conformance import begin
from lab.conform.conforming import begun_with, report
from lab.conform.figures import (
    TITLE,
    Figures,
    figures_of,
    to_markdown,
    write_markdown,
)
from lab.conform.kept_walks import (
    AIMED,
    CHANCE,
    Kept,
    KeptWalk,
    Question,
    keep,
    read_kept,
)
from lab.conform.outcomes import describe
from lab.survey.cells import Cell
from lab.survey.document import write_markdown as write_survey
from tests.lab.conftest import LabCommands
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.checker.kafka.confirm.stepping import KNOWN

PRODUCED, FETCHED = ("Produce", ("leo+",)), ("SendFetch", ("fetch=requested",))
NEVER, CANNOT = ("Crash", ("up-",)), ("WakeParked", ("fetch=answered",))
WAY = (("Produce", (0,)), ("SendFetch", (1,)))
PLAN = Plan(
    states=1234,
    complete=True,
    ways={PRODUCED: WAY[:1], FETCHED: WAY, NEVER: (("Crash", (0,)),)},
    unsteerable={CANNOT: "it cannot be held."},
    restrictions={"WakeParked": "it cannot be held."},
    made_by="fedcba",
)


def question(release: str) -> Question:
    return Question(release=release, circumstances="crashes", rules="hw", digest="0123456789")


def walks() -> list[KeptWalk]:
    """One by chance, one that a known difference ended, one in which a follower left."""
    return [
        KeptWalk(
            number=1,
            kind=CHANCE,
            seed=1,
            seconds=2.5,
            compared={describe(PRODUCED): 5, describe(FETCHED): 1},
        ),
        KeptWalk(number=1, kind=AIMED, seed=1, seconds=1.5, difference=KNOWN[0].name),
        KeptWalk(
            number=2,
            kind=AIMED,
            seed=1,
            seconds=1.0,
            compared={describe(FETCHED): 1},
            goal=describe(NEVER),
            not_held="a follower left",
        ),
    ]


def figures(*releases: str) -> list[Figures]:
    return figures_of(Kept(question(release), PLAN, walks()) for release in releases or ("2.1.1",))


def test_figures_count_steps_and_outcomes() -> None:
    [found] = figures()

    assert (found.walks, found.steps, found.seconds) == (3, 7, 5.0)
    assert found.by_action == {"Produce": 5, "SendFetch": 2}
    [each] = found.circumstances
    assert (each.outcomes, each.steerable, each.reachable) == (2, 3, 4)
    assert each.missing == {"Crash: up-": "a follower left"}
    assert each.unsteerable == {"WakeParked: fetch=answered": "it cannot be held."}


def test_releases_are_in_their_order() -> None:
    names = "4.2.0:elr", "0.10.2.2", "4.2.0", "3.9.1"

    assert [each.release for each in figures(*names)] == ["0.10.2.2", "3.9.1", "4.2.0:elr", "4.2.0"]


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    asked = question("2.1.1")
    for what in (*walks(), replace(PLAN, states=1), PLAN):
        keep(file, asked, what)
    [kept] = read_kept(file)

    assert (kept.question, kept.plan, kept.walks) == (asked, PLAN, walks())


def test_a_run_goes_on_from_what_was_kept(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    release = kafka_release("2.1.1")
    [fresh] = begin(release, CIRCUMSTANCES[:1]).tallied
    for what in (PLAN, *walks()):
        keep(file, fresh.question, what)
    [tally] = begun_with(release, CIRCUMSTANCES[:1], file).tallied

    assert tally.plan == PLAN
    assert tally.compared == {PRODUCED: 5, FETCHED: 2}
    assert (tally.missed[NEVER], tally.why_missed[NEVER]) == (1, "a follower left")


def test_walks_under_other_rules_are_not_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "results.jsonl"
    for what in walks():
        keep(file, question("2.1.1"), what)
    begun_with(kafka_release("2.8.2"), CIRCUMSTANCES[:1], file)  # Of another release.

    with pytest.raises(CannotConfirm, match=r"under other rules or bounds .* name another file"):
        begun_with(kafka_release("2.1.1"), CIRCUMSTANCES[:1], file)


@pytest.mark.parametrize(
    "text", ['{"scenario": "kip-101-loss"}', "[]", '{"question": {}}', "no JSON", '{"question": 1}']
)
def test_a_file_of_something_else_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "other").write_text(f"{text}\n")

    with pytest.raises(CannotConfirm, match="holds no results of conformance walks"):
        read_kept(tmp_path / "other")


def test_the_document_tells_what_was_compared_and_what_was_not() -> None:
    text = to_markdown(figures("2.1.1", "0.10.2.2"))

    assert (
        "| 0.10.2.2 | 3 | 7 | 2 of 3 | 4 | 1 | 0 |\n| 2.1.1 | 3 | 7 | 2 of 3 | 4 | 1 | 0 |"
    ) in text
    assert "| `Produce` | 5 | 5 |" in text
    assert "| crashes | 2 of 3 | 2 of 3 |" in text
    assert f"{KNOWN[0].description} 2 walks." in text
    assert "* 2.1.1, crashes: `Crash: up-`. a follower left." in text
    assert "* 2.1.1, crashes: `WakeParked: fetch=answered`. it cannot be held." in text
    assert "* 2.1.1, crashes, 1 times: a follower left." in text


def test_the_document_names_what_was_tried_and_counts_what_was_not() -> None:
    untried = [each for each in walks() if not each.goal]
    text = to_markdown(
        figures_of(
            [
                Kept(question("2.1.1"), PLAN, untried),
                Kept(question("2.8.2"), PLAN),  # Planned, and not walked yet.
            ]
        )
    )

    assert "* 2.1.1, crashes: 1 outcomes. No walk has aimed at them yet." in text
    assert "`Crash: up-`" not in text
    assert "2.8.2" not in text


def test_two_authors_leave_each_other_s_part_alone(tmp_path: Path) -> None:
    document = tmp_path / "kafka.md"
    found = Cell(
        scenario="kip-101-loss",
        release="0.10.2.2",
        judgement="CONFIRMED",
        step=0,
        reason="",
        traced="hw",
        course="0",
        seconds=5.0,
    )
    write_survey(document, [found], "results.jsonl")
    write_markdown(document, figures())
    once = document.read_text()
    write_survey(document, [found], "results.jsonl")
    write_markdown(document, figures())

    assert document.read_text() == once
    assert once.count(f"\n{TITLE}\n") == 1
    assert "| C1 | kip-101-loss | CONFIRMED |" in once


def test_a_terminal_is_told_the_same() -> None:
    lines = "\n".join(report(*figures()))

    assert "3 walks on Kafka 2.1.1" in lines
    assert (
        "2 of 3 outcomes compared that brokers can be steered to, 4 in all (1,234 states)" in lines
    )
    assert lines.endswith("7 steps compared in 5 s, 0 disagreements")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "--kafka"),
        (["--kafka", "soon"], "must be a release"),
        (["--kafka", "3.2.3:kraft"], "the oldest steered with KRaft is 3.3.0:kraft"),
        (["--kafka", "2.1.1", "--walks", "-1"], "--walks"),
        (["--kafka", "2.1.1", "--minutes", "0"], "--minutes"),
        (["--kafka", "2.1.1", "--plan"], "name that file too"),
        (["--kafka", "2.1.1", "--circumstances", "rain"], "there are crashes, three"),
        (["--kafka", "2.1.1", "--markdown", "out.md"], "name that file too"),
        (["--kafka", "2.1.1", "--trace", "no-such.json"], "no-such.json"),
        (["--kafka", "2.1.1", "--jars", "/no/such"], "/no/such"),
    ],
)
def test_bad_input_is_one_line(
    lab_command: LabCommands, arguments: list[str], complaint: str
) -> None:
    code, out, err = lab_command(conform_command, *arguments)
    last = err.splitlines()[-1]

    assert (code, out) == (2, "")
    assert last.startswith("error: ")
    assert complaint in last
