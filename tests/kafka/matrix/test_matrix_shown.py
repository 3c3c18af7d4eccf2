"""A matrix as a table, a page, JSON and CSV."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from tests.support.grids import TINY, cell_of, explored, small_matrix, two_crashes
from tests.support.pages import Page, assert_needs_nothing_else
from waterline.checker.kafka.families import problem_for
from waterline.checker.kafka.matrix.files import to_csv, to_object
from waterline.checker.kafka.matrix.grid import FAULTS, SETTINGS, UNCLEAN
from waterline.checker.kafka.matrix.matrix import Matrix
from waterline.checker.kafka.matrix.outcome import Standing
from waterline.checker.kafka.matrix.table import plain_answers, render_matrix
from waterline.checker.report.pages.matrix_page import to_html
from waterline.checker.search.engines.engine import EngineChoice
from waterline.counterexamples import from_json, replay
from waterline.model.message.environment import Environment
from waterline.model.message.versions import VERSIONS

DOCUMENT = Path(__file__).parents[3] / "docs" / "matrix.md"


@pytest.fixture
def matrix() -> Matrix:
    return small_matrix()


def shown(matrix: Matrix, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), color_system=None)
    console.print(render_matrix(matrix))
    return console.file.getvalue()  # type: ignore[attr-defined]


@pytest.mark.parametrize("width", [40, 80, 160])
def test_the_table_fits_the_screen_and_has_every_cell(matrix: Matrix, width: int) -> None:
    lines = shown(matrix, width).splitlines()
    labels = [outcome.label for outcome in matrix.outcomes]
    rows = " ".join(line for line in lines if any(line.find(f.name) >= 0 for f in FAULTS))

    assert max(map(len, lines)) <= width
    for label in set(labels):
        assert rows.count(label) >= labels.count(label), label


def test_many_versions_are_split_over_several_tables(matrix: Matrix) -> None:
    narrow, wide = shown(matrix, 30), shown(matrix, 80)

    assert narrow.count("power loss  ") > wide.count("power loss  ")


def test_verdicts_carry_their_bounds(matrix: Matrix) -> None:
    assert "2 replicas, 2 records, epochs 0 to 3" in shown(matrix, 160).splitlines()[-1]


def test_json_has_a_trace_for_every_broken_cell(matrix: Matrix) -> None:
    told = json.loads(json.dumps(to_object(matrix)))

    assert len(told["cells"]) == len(matrix.outcomes)
    for cell in told["cells"]:
        assert (cell["trace"] is not None) == (cell["worst"] is not None)
        if cell["trace"]:
            trace = from_json(json.dumps(cell["trace"]))
            environment = Environment.from_options(cell["bounds"])
            model = problem_for(cell["at"]["version"], environment).model
            assert len(replay(trace, model).moments) == cell["claims"][cell["worst"]]["depth"]


def test_csv_has_a_line_for_each_cell(matrix: Matrix) -> None:
    rows = list(csv.DictReader(io.StringIO(to_csv(matrix))))

    assert [row["standing"] for row in rows] == [o.standing.value for o in matrix.outcomes]
    assert [row["distinct"] for row in rows] == [str(o.answer.distinct) for o in matrix.outcomes]
    assert rows[0]["version"] == "hw"


def standings(page: Page) -> list[tuple[str, str | None]]:
    return [cell for cell in page.cells if cell[0] in {standing.value for standing in Standing}]


def test_the_page_is_well_formed_and_needs_nothing_else(matrix: Matrix) -> None:
    assert_needs_nothing_else(to_html(matrix))


def test_every_broken_cell_of_the_page_opens_its_trace(matrix: Matrix) -> None:
    page = Page(to_html(matrix))
    cells = standings(page)
    named = {link.removeprefix("#") for link in page.links if "/" not in link}

    assert len(cells) == len(matrix.outcomes)
    for standing, link in cells:
        assert (link is not None) == (standing in {"violated", "contract"})
        assert link is None or link.removeprefix("#") in page.ids
    assert named <= page.ids


def test_a_trace_leads_back_to_the_first_cell_that_it_is_of(matrix: Matrix) -> None:
    text = to_html(matrix)
    sections = re.findall(r'<section class="trace" id="(.*?)".*?</section>', text, re.DOTALL)

    assert sections
    for name in sections:
        section = text.split(f'<section class="trace" id="{name}"')[1].split("</section>")[0]
        first = re.findall(rf'<a id="(cell-\d+)" href="#{name}">', text)[0]
        assert re.findall(r'class="back" href="#(.*?)"', section) == [first, first]


def test_a_trace_on_the_page_tells_every_step() -> None:
    matrix = two_crashes()
    outcome = cell_of(matrix, **{UNCLEAN: "false"})
    section, *_ = [
        part.split("</section>")[0]
        for part in to_html(matrix).split("<section")
        if "hw: acknowledged_durable, after 12" in part
    ]

    assert section.count("<li ") == section.count("<article ") == 13
    assert outcome.replayed is not None
    for moment in outcome.replayed.moments:
        assert f"<code>{moment}</code>" in section
    assert "the log of leader r1 (epoch 1) does not have it: m1 is lost." in section


def test_whatever_is_told_on_the_page_is_escaped(matrix: Matrix) -> None:
    [first, *_] = [o for o in matrix.outcomes if o.replayed is not None]
    nasty = replace(first, explanation="<script>alert('&')</script>")

    text = to_html(
        replace(matrix, outcomes=(*(o for o in matrix.outcomes if o is not first), nasty))
    )

    assert text.count("<script") == 1
    assert "alert(" in text
    assert_needs_nothing_else(text)


def test_a_cell_that_was_stopped_does_not_look_like_one_that_holds() -> None:
    stopped = shown(explored(replace(TINY, max_states=5), EngineChoice(name="local")), 80)

    assert "?" in stopped
    assert "holds" not in stopped


def test_every_key_of_the_json_is_described(matrix: Matrix) -> None:
    told = to_object(matrix)
    cell = told["cells"][0]
    claim = next(iter(cell["claims"].values()))
    formats = DOCUMENT.with_name("formats.md").read_text(encoding="utf-8")
    described = set(re.findall(r"`([\w-]+)`", formats))

    assert {*told, *cell, *claim} <= described


def test_of_few_versions_a_sentence_says_what_each_loses_under_which_fault(matrix: Matrix) -> None:
    axes = tuple(
        axis.only(["elr"]) if axis.name == "version" else axis for axis in matrix.grid.axes
    )
    of_elr = tuple(o for o in matrix.outcomes if o.cell.version == "elr")
    alone = replace(matrix, grid=replace(matrix.grid, axes=axes), outcomes=of_elr)
    said = list(plain_answers(alone))

    assert list(plain_answers(matrix)) == []
    assert list(plain_answers(replace(alone, interrupted=True))) == []
    assert len(said) == len({tuple(o.cell.coordinates[n] for n in SETTINGS) for o in of_elr})
    for outcome in of_elr:
        at = ", ".join(f"{n}={outcome.cell.coordinates[n]}" for n in ("acks", UNCLEAN))
        [line] = [line for line in said if line.startswith(f"elr with {at}:")]
        fault = outcome.fault.replace("none", "no fault")
        [part] = [p for p in line.rstrip(".").split("; ") if re.search(rf"\b{fault}( \(|,|$)", p)]
        assert part.startswith("nothing breaks") is (outcome.standing is Standing.HOLDS)


def test_the_picture_in_the_documents_has_every_version_side_by_side_with_three_replicas() -> None:
    """With two replicas the newest version seems to hold where three lose."""
    picture = DOCUMENT.with_suffix(".svg").read_text(encoding="utf-8")
    texts = re.findall(r'<text [^>]*y="([\d.]+)"[^>]*>([^<]+)</text>', picture)
    lines: dict[str, list[str]] = {}
    for line, text in texts:
        lines.setdefault(line, []).append(text.replace("&#160;", " ").strip())

    assert any("3 replicas" in text for words in lines.values() for text in words)
    assert any(set(VERSIONS) <= {*" ".join(words).split()} for words in lines.values())
