"""The figures of walks: kept, read again, and told in a document that has another author too."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from checker.kafka.confirm.cells import Cell
from checker.kafka.confirm.circumstances import CIRCUMSTANCES
from checker.kafka.confirm.conformance import Conformance, begun
from checker.kafka.confirm.conforming import report
from checker.kafka.confirm.errors import CannotConfirm
from checker.kafka.confirm.figures import (
    TITLE,
    Figures,
    figures_of,
    keep,
    read_figures,
    to_markdown,
    write_markdown,
)
from checker.kafka.confirm.known_differences import KNOWN
from checker.kafka.confirm.releases import kafka_release
from checker.kafka.confirm.survey_document import write_markdown as write_survey
from tests.support.commands import Commands

PRODUCED, FETCHED = ("Produce", ("leo+",)), ("SendFetch", ("fetch=requested",))
NEVER = ("Crash", ("up-",))


def compared(release: str) -> Conformance:
    found = begun(kafka_release(release), CIRCUMSTANCES[:1])
    [tally] = found.tallied
    tally.walks = 3
    tally.compared = Counter({PRODUCED: 5, FETCHED: 2})
    tally.ways = {PRODUCED: [], FETCHED: [], NEVER: []}
    tally.states, tally.complete = 1234, True
    tally.differences[KNOWN[0].name] = 2
    tally.not_held["a follower left"] = 1
    return found


def figures(release: str = "2.1.1") -> Figures:
    return figures_of(compared(release), seed=1)


def test_figures_count_steps_and_outcomes() -> None:
    told = figures()

    assert (told.walks, told.steps) == (3, 7)
    assert told.by_action == {"Produce": 5, "SendFetch": 2}
    [each] = told.circumstances
    assert (each.outcomes, each.reachable) == (2, 3)
    assert each.missing == ["Crash: up-"]


def test_figures_are_the_same_after_they_were_kept(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    keep(file, figures("2.1.1"))
    keep(file, figures("0.10.2.2"))
    keep(file, figures("2.1.1"))

    assert read_figures(file) == [figures("2.1.1"), figures("0.10.2.2")]


def test_runs_of_a_release_are_added_up(tmp_path: Path) -> None:
    file = tmp_path / "figures.jsonl"
    other = compared("2.1.1")
    other.tallied[0].compared = Counter({NEVER: 4})
    keep(file, figures("2.1.1"))
    keep(file, figures_of(other, seed=2))
    [both] = read_figures(file)
    [each] = both.circumstances

    assert (both.walks, both.steps) == (6, 11)
    assert (each.outcomes, each.reachable, each.missing) == (3, 3, [])
    assert each.differences == {KNOWN[0].name: 4}


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "other").write_text('{"scenario": "kip-101-loss"}\n')

    with pytest.raises(CannotConfirm, match="holds no figures of conformance walks"):
        read_figures(tmp_path / "other")


def test_the_document_tells_what_was_compared_and_what_was_not() -> None:
    text = to_markdown([figures("2.1.1"), figures("0.10.2.2")])

    assert "| 0.10.2.2 | 3 | 7 | 2 of 3 | 2 | 0 |\n| 2.1.1 | 3 | 7 | 2 of 3 | 2 | 0 |" in text
    assert "| `Produce` | 5 | 5 |" in text
    assert "| crashes | 2 of 3 | 2 of 3 |" in text
    assert f"{KNOWN[0].description} 4 walks." in text
    assert "* 2.1.1, crashes, 1 times: a follower left." in text


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
    write_markdown(document, [figures()])
    once = document.read_text()
    write_survey(document, [found], "results.jsonl")
    write_markdown(document, [figures()])

    assert document.read_text() == once
    assert once.count(f"\n{TITLE}\n") == 1
    assert "| C1 | kip-101-loss | CONFIRMED |" in once


def test_a_terminal_is_told_the_same() -> None:
    lines = "\n".join(report(figures()))

    assert "3 walks on Kafka 2.1.1, seed 1" in lines
    assert "2 of 3 outcomes compared (1,234 states)" in lines
    assert lines.endswith("7 steps compared in 0 s, 0 disagreements")


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "--kafka"),
        (["--kafka", "soon"], "must be a release"),
        (["--kafka", "3.8.1:kraft"], "the oldest steered with KRaft is 3.9.0:kraft"),
        (["--kafka", "2.1.1", "--walks", "0"], "--walks"),
        (["--kafka", "2.1.1", "--circumstances", "rain"], "there are crashes, three"),
        (["--kafka", "2.1.1", "--markdown", "out.md"], "name that file too"),
        (["--kafka", "2.1.1", "--trace", "no-such.json"], "no-such.json"),
        (["--kafka", "2.1.1", "--jars", "/no/such"], "/no/such"),
    ],
)
def test_bad_input_is_one_line(cli: Commands, arguments: list[str], complaint: str) -> None:
    code, out, err = cli("conform", *arguments, name="waterline")
    last = err.splitlines()[-1]

    assert (code, out) == (2, "")
    assert last.startswith("error: ")
    assert complaint in last
