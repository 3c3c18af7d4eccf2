"""What people, files and pages are told of a trace that goes on for ever, and of no way back."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.own import EXAMPLES, example
from tests.support.viewing import WIDE, seen
from waterline.checker.checking.run import run
from waterline.checker.kafka.narrative.story import story_of
from waterline.checker.problem.problem import Problem
from waterline.checker.report.viewer.app import Viewer
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.traces.finding import Finding

LOCAL = ("--engine", "local")
STARVES = "wants_it_leads_to_has_used_it.node1"
RING = ("--model", "token_ring.py", "--set", "greedy=true", "--set", "nodes=2")
LOCK = ("--model", "peterson.py", "--set", "gives_way=false")


@pytest.fixture(autouse=True)
def examples(cli: Commands) -> None:
    """The examples lie in the folder that commands run in."""
    for name in ("token_ring", "peterson"):
        shutil.copy(EXAMPLES / f"{name}.py", f"{name}.py")


def found(problem: Problem, claim: str) -> Finding:
    done = run(problem, EngineChoice(name="local", threads=1))
    return next(finding for finding in done.findings if finding.invariant == claim)


def test_the_report_says_which_steps_repeat(cli: Commands) -> None:
    code, out, _ = cli(*RING, *LOCAL, "--invariant", STARVES)

    assert code == 12
    assert f"{STARVES}   VIOLATED after 3 steps, for ever" in out
    assert "                  Steps 4 and 5 repeat for ever:\n4.  want" in out
    assert "has_used_it stays False for node1. Steps 4 and 5 repeat for ever.\n" in out
    assert "Shortest way to where it can go on so for ever: 3 steps; then a cycle of 2\n" in out


def test_the_report_says_that_nothing_goes_on_and_what_is_in_the_way(cli: Commands) -> None:
    code, out, _ = cli(*LOCK, *LOCAL, "--all")

    assert code == 12
    assert "For ever: no step is enabled that is sure to be taken" in out
    assert "2 steps; 1 state at that depth breaks the claim." in out
    assert "3 states can\nbe reached" in out or "states can be reached" in out


def test_json_has_the_cycle_and_what_a_bound_leaves_open(cli: Commands) -> None:
    _, out, _ = cli(*RING, *LOCAL, "--format", "json")
    claims = json.loads(out)["invariants"]

    assert claims[STARVES]["depth"] == 3
    assert claims[STARVES]["trace"]["cycle"] == 3
    assert claims[STARVES]["unjudged_states"] == 0


def test_a_written_lasso_is_viewed_and_converted(cli: Commands) -> None:
    cli(*RING, *LOCAL, "--trace-dir", "traces")
    trace = f"traces/token_ring-{STARVES}-nodes2-greedytrue.json"
    code, out, _ = cli("view", trace, "--model", "token_ring.py", name="waterline")

    assert code == 0
    assert "Steps 4 and 5 repeat for ever:\n\n4. want(node=0)" in out
    cli("convert", trace, "--to", "itf", "--output", "a.itf.json", *RING[:2], name="waterline")
    assert json.loads(Path("a.itf.json").read_text())["loop"] == 4


def test_a_behaviour_that_stays_for_ever_is_explained(cli: Commands) -> None:
    code, out, _ = cli(*LOCK, *LOCAL, "--explain", "--format", "json")
    explained = json.loads(out)["explanations"]["waits_leads_to_is_inside.process0"]

    assert code == 12
    # Both ask, and neither gives way.
    assert [(cause["action"], cause["arguments"]) for cause in explained["chain"]["causes"]] == [
        ("ask", {"process": 0}),
        ("ask", {"process": 1}),
    ]
    assert [each["change"] for each in explained["repairs"]["tried"] if each["repairs"]] == [
        "--set gives_way=true"
    ]


def test_a_page_marks_what_repeats(cli: Commands) -> None:
    cli(*RING, *LOCAL, "--invariant", STARVES, "--html", "page.html")
    page = Path("page.html").read_text()

    assert page.count('<em class="tag">repeats for ever</em>') == 2
    assert f"{STARVES} breaks for ever after 3 steps" in page
    assert "VIOLATED after 3 steps, for ever" in page


def test_the_viewer_marks_the_cycle() -> None:
    problem = example("token_ring", greedy=True, nodes=2)
    finding = found(problem, STARVES)
    claim = next(claim for claim in problem.claims if claim.name == STARVES)

    third, fourth, last = (
        seen(Viewer(story_of(finding), claim), *keys, size=WIDE) for keys in ("jjj", "jjjj", "G")
    )
    assert "repeats for ever" not in third
    assert "repeats for ever" in fourth
    assert "goes on with step 4" in last
    assert last.count("\N{CLOCKWISE OPEN CIRCLE ARROW}") == 2


def test_the_viewer_says_where_it_stays() -> None:
    problem = example("peterson", gives_way=False)
    finding = found(problem, "waits_leads_to_is_inside.process0")
    claim = next(claim for claim in problem.claims if claim.name == finding.invariant)

    assert "it stays here for ever" in seen(Viewer(story_of(finding), claim), "G")


def test_a_kind_that_is_not_claimed_cannot_be_asked(cli: Commands) -> None:
    shutil.copy(EXAMPLES / "die_hard.py", "die_hard.py")
    code, _, err = cli("--model", "die_hard.py", *LOCAL, "--liveness")

    assert code == 2
    assert "--liveness: nothing of the kind is claimed of die_hard.py; leave it out" in err


def test_a_symmetry_is_refused_beside_such_claims(cli: Commands) -> None:
    code, _, err = cli(*RING, *LOCAL, "--symmetry", "node")

    assert code == 2
    assert "leave out --symmetry" in err


def test_a_resumed_run_judges_what_it_was_begun_with(cli: Commands) -> None:
    cli(*RING, *LOCAL, "--run-dir", "kept", "--max-depth", "2")
    code, out, _ = cli(*RING[:2], *LOCAL, "--resume", "kept", "--liveness")

    assert code == 12
    assert f"{STARVES}   VIOLATED after 3 steps, for ever" in out
    other = cli(*RING[:2], *LOCAL, "--resume", "kept", "--recovery")
    assert other[0] == 2
