"""The page of a run or of a trace: complete, self-contained, and with nothing of others' in it."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.confirmed_traces import TRACES, confirmed_in
from tests.support.own import example
from tests.support.pages import assert_needs_nothing_else
from tests.support.pictured import C21, DIVERGENCE, LOSS, story
from tests.support.sampling import drawn
from waterline.checker.checking.run import Run, run
from waterline.checker.cli.commands import command_of
from waterline.checker.cli.shared.options import fill
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.kafka.families import problem_for
from waterline.checker.report.pages.page import TooLongForPage, require_few_steps
from waterline.checker.report.pages.report import finding_page, run_page
from waterline.checker.report.pages.scenes import scenes_of
from waterline.checker.report.pages.templating import visible
from waterline.checker.search.engines.engine import EngineChoice
from waterline.counterexamples import from_json
from waterline.model.message.environment import Environment

SMALL = Environment(records=1, epochs=1, restarts=2)
NASTY = "</script><img src=x onerror=alert(1)>\x1b[2J"


def page_of(name: str) -> str:
    found = confirmed_in(name)
    return finding_page(found.problem, found.finding)


@pytest.fixture(scope="module")
def small_run() -> Run:
    return run(problem_for("hw", SMALL), EngineChoice(name="local"))


@pytest.mark.parametrize("name", [LOSS, C21, DIVERGENCE])
def test_a_page_is_well_formed_and_needs_nothing_else(name: str) -> None:
    assert_needs_nothing_else(page_of(name))


def test_a_trace_on_record_makes_a_page_with_all_its_steps() -> None:
    assert_pages_have_all_steps(drawn(TRACES, 8))


def assert_pages_have_all_steps(names: Iterable[str]) -> None:
    """The page of a trace has each of its steps."""
    for name in names:
        text = page_of(name)
        assert text.count("<article ") == story(name).steps + 1, name
        for step in range(1, story(name).steps + 1):
            assert f"<code>{story(name).replayed.moments[step - 1]}</code>" in text


@pytest.mark.parametrize("name", [LOSS, C21])
def test_no_arrow_of_a_page_can_break_and_its_signs_are_explained(name: str) -> None:
    text, _, _ = page_of(name).partition("<pre")
    shown = " ".join(html.unescape(re.sub(r"<[^>]*>", "", text.partition("<body")[2])).split())
    [legend] = re.findall(r'<p class="legend">(.*?)</p>', text, re.DOTALL)

    assert "HW 0 → 1" in shown
    assert "->" not in html.unescape(re.sub("<title>.*?</title>", "", text))
    for sign in ("new", "promised", "doomed", "gone", "hw", "leo", "leads", "fault"):
        assert re.search(rf'class="(?:line )?{sign}"', legend), sign
    assert "thick lane: takes itself for the leader" in shown


def test_the_file_on_the_page_is_the_trace() -> None:
    [file] = re.findall(r"<pre[^>]*>(.*?)</pre>", page_of(LOSS), re.DOTALL)
    text = file.replace("&#34;", '"').replace("&lt;", "<").replace("&amp;", "&")

    assert from_json(text) == confirmed_in(LOSS).finding.replayed.trace


def test_whatever_comes_from_elsewhere_is_escaped() -> None:
    found = confirmed_in(LOSS)
    nasty = replace(found.finding, sentence=NASTY, explanation=NASTY)
    text = finding_page(found.problem, nasty)

    assert "<img" not in text
    assert "\x1b" not in text
    assert r"\x1b[2J" in text
    assert_needs_nothing_else(text)


def test_controls_are_spelled_out_and_texts_are_left_alone() -> None:
    assert visible("a\x1b\u202eb\nc") == "a\\x1b\\u202eb\nc"
    assert visible("→ ✗ ä") == "→ ✗ ä"


def test_the_page_of_a_run_has_verdicts_bounds_and_every_counterexample(small_run: Run) -> None:
    text = run_page(small_run)
    result = small_run.result
    page = assert_needs_nothing_else(text)

    for found in result.invariants:
        assert f"<b>{found.name}</b>" in text
        if found.depth is not None:
            assert f"VIOLATED after {found.depth} step" in text
    assert f"{result.distinct:,}" in text
    assert "waterline check --protocol hw --records 1 --epochs 1 --engine local" in text
    assert {link.split("/")[0].removeprefix("#") for link in page.links} <= page.ids
    assert f"{len(result.violated)} claims violated" in text


def test_the_same_steps_are_on_the_page_once(small_run: Run) -> None:
    twice = replace(small_run, findings=(*small_run.findings, *small_run.findings))

    assert run_page(twice).count("<section") == run_page(small_run).count("<section")


def test_a_run_that_was_stopped_says_so(small_run: Run) -> None:
    stopped = replace(small_run.result, complete=False, stopped_by="max-states", invariants=[])
    text = run_page(replace(small_run, result=stopped, findings=()))

    assert "<b>INCOMPLETE</b>: stopped by max-states" in text
    assert "every claim holds" not in text


def test_a_page_has_its_limit() -> None:
    require_few_steps([2_000, 3_000])
    with pytest.raises(TooLongForPage, match=r"5,001 steps.* at most 5,000; step through .* view"):
        require_few_steps([2_001, 3_000])


def test_scenes_follow_the_record_that_is_lost() -> None:
    def kinds(state: int, lane: int) -> tuple[str, ...]:
        return scenes_of(story(LOSS))[state].lanes[lane].cells[0].kinds

    assert kinds(1, 0) == ()
    assert kinds(2, 0) == ("new",)
    assert kinds(5, 0) == ()
    assert kinds(6, 0) == ("promised", "doomed")
    assert kinds(9, 1) == ("promised", "doomed")
    assert kinds(10, 1) == ("gone",)


def test_marks_are_where_watermark_and_end_are() -> None:
    leader, follower = scenes_of(story(LOSS))[6].lanes

    assert [cell.marks for cell in leader.cells] == [(), ("HW", "LEO")]
    assert [cell.marks for cell in follower.cells] == [("HW",), ("LEO",)]


def test_a_fact_that_changed_is_marked_and_no_other() -> None:
    before, after = scenes_of(story(LOSS))[5:7]
    old = {fact.label: fact.value for fact in before.lanes[0].facts}

    for fact in after.lanes[0].facts:
        assert fact.is_changed == (old.get(fact.label) != fact.value)
    assert any(fact.is_changed for fact in after.lanes[0].facts)


def test_a_model_of_ones_own_has_a_page_too() -> None:
    problem = example("die_hard")
    done = run(problem, EngineChoice(name="local"))
    text = run_page(done)

    assert done.findings
    assert_needs_nothing_else(text)
    assert text.count("<article ") == len(done.findings[0].replayed.moments) + 1
    assert "waterline check --model die_hard.py:die_hard --set small=3" in text
    assert "sha256" not in text.split("Again: ")[1]


@pytest.mark.parametrize("name", TRACES)
def test_the_command_on_the_page_asks_the_same(name: str) -> None:
    """Its options, read as the command line reads them, make the same environment."""
    problem = confirmed_in(name).problem
    program, sub, *words = problem.to_command().split()
    options = command_of("check").make_context("check", words).params
    again = problem_from(fill(ProblemOptions, options))

    assert (program, sub) == ("waterline", "check")
    assert again.model.version == problem.model.version
    assert again.model.options == problem.model.options


def test_check_writes_the_page(tmp_path: Path) -> None:
    target = tmp_path / "page.html"
    small = "--protocol hw --records 1 --epochs 1 --moves 0 --engine local"
    code = command_of("check").main([*small.split(), "--html", str(target)], standalone_mode=False)

    assert code == 12
    assert "claims violated" in target.read_text(encoding="utf-8")


def test_what_is_explained_is_on_the_page_of_each_claim(small_run: Run) -> None:
    finding = small_run.findings[0]
    repaired = {"change": "--with <b>", "repairs": True, "distinct": 22131, "never_happens": ["x"]}
    left = {"change": "--without y", "repairs": False, "distinct": 7, "never_happens": []}
    value = {
        "steps": 12,
        "chain": {
            "causes": [{"step": 2, "sentence": "A record <i>.", "without": "Without it nothing."}],
            "chances": [{"after": 7, "up_to": 9, "sentence": "It is noticed."}],
        },
        "repairs": {"tried": [repaired, left], "unexplored": []},
    }
    text = run_page(small_run, {finding.invariant: value})
    name = next(iter(re.findall(r'href="#(trace-\d+)/2">Step 2</a>: A record &lt;i&gt;', text)))

    assert text.count('class="explained"') == 1
    assert f'href="#{name}/9">step 9</a>: It is noticed.' in text
    assert "1 of 2 tried" in text
    assert "<code>--with &lt;b&gt;</code>" in text
    assert "HOLDS in 22,131 states" in text
    assert "--without y" not in text
    assert_needs_nothing_else(text)


def test_the_page_says_that_no_trace_is_shorter(small_run: Run) -> None:
    [first, *_] = small_run.findings

    assert first.breaking is not None
    assert f"Shortest: {len(first.replayed.moments)} steps" in run_page(small_run)
