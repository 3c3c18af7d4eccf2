"""A `sometimes` of a state is asked of every reachable one, also of those that begin and end."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.engines import WAYS, engine_for
from tests.support.own import own_problem
from waterline.checker.analysis.simulate.simulation import Wanted, simulate
from waterline.checker.analysis.simulate.walker import Choosing, Plan
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Budgets, ReachableResult
from waterline.checker.search.search import search

STARTS = """\
from waterline import Name, Names, Number, Protocol, when, within


def counted(nodes: int = 2, last: int = 3) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[Number("at", 0, 4), Name("first", node, or_none=True)],
        initial=begin,
        actions=[go_on],
        always=[is_there],
        sometimes=[here, moves],
    )


def begin(s, node):
    BEGIN


def go_on(s, node):
    when(s.at < 4)
    WITHIN
    s.at += 1
    s.first = node


def is_there(s):
    return s.at >= 0


def here(s):
    return HERE


def moves(before, after):
    return before.at == after.at
"""
LOCAL = ("--engine", "local", "--threads", "1")


def text_of(here: str, begin: str = "s.at = 0", within: str = "within(s.at < s.last)") -> str:
    return STARTS.replace("BEGIN", begin).replace("WITHIN", within).replace("HERE", here)


def written(text: str, folder: Path) -> Path:
    file = folder / "counted.py"
    file.write_text(text)
    return file


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    ("text", "depth"),
    [
        (text_of("s.at == 4", "s.at = 4"), 0),
        (text_of("s.at == 3", "s.at = 3"), 0),
        (text_of("s.at == 3", "s.at = 3 * node"), 0),
        (text_of("s.at == 0"), 0),
        (text_of("s.at == 1", "s.at = 3 * node"), 1),
        (text_of("s.at == 3"), 3),
        (text_of("s.at == 4"), None),
        (text_of("s.at == 4", within="when(True)"), 4),
        (text_of("s.at == 0", "s.at = 1"), None),
    ],
    ids=[
        "the first state has no step",
        "a bound cuts its steps",
        "of several first states one has none",
        "the first state goes on",
        "after a step from one of several",
        "a state at a bound",
        "beyond a bound",
        "a dead end",
        "never",
    ],
)
def test_it_happens_at_the_depth_of_the_first_state_where_it_is_so(
    text: str, depth: int | None, way: str, tmp_path: Path
) -> None:
    problem = own_problem(written(text, tmp_path))
    with closing(engine_for(problem, way)) as engine:
        result = search(problem, engine)

    assert result.reachable == [ReachableResult("here", depth), ReachableResult("moves", None)]


def test_it_has_happened_where_no_step_was_looked_at(tmp_path: Path) -> None:
    problem = own_problem(written(text_of("s.at == 0"), tmp_path))
    with closing(engine_for(problem, "one thread")) as engine:
        result = search(problem, engine, budgets=Budgets(max_depth=0))

    assert [found.depth for found in result.reachable] == [0, None]


def test_walks_begin_where_it_is_so(tmp_path: Path) -> None:
    problem = own_problem(written(text_of("s.at == 4", "s.at = 4"), tmp_path))
    plan = Plan(depth=5, seed=1, choosing=Choosing.STEPS)
    done = simulate(problem, EngineChoice(name="local", threads=1), plan, Wanted(walks=3))

    assert done.coverage.happened.tolist() == [True, False]


@pytest.mark.parametrize(
    "more", [(), ("--profile",), ("--run-dir", "kept"), ("--symmetry", "node")]
)
def test_it_is_reported_and_counted_as_the_start(more: tuple[str, ...], cli: Commands) -> None:
    written(text_of("s.at == 4", "s.at = 4"), Path())
    _, out, _ = cli("--model", "counted.py", *LOCAL, *more)
    again = ("--resume", "kept") if "--run-dir" in more else more
    _, kept, _ = cli("--model", "counted.py", *LOCAL, *again, "--format", "json")

    assert any("here" in line and "at the start" in line for line in out.splitlines())
    assert json.loads(kept)["reachable"] == {"here": 0, "moves": None}


def test_a_gate_takes_it_for_reached(cli: Commands) -> None:
    written(text_of("s.at == 4", "s.at = 4"), Path())
    text = '[[expect]]\nname = "own"\nmodel = "counted.py"\nverdicts = { is_there = "holds" }\n'
    Path("gate.toml").write_text(text)
    _, out, err = cli("gate", "gate.toml", "--allow-models", name="waterline")

    assert "moves was never reached" in out + err
    assert "here was never reached" not in out + err


def test_what_it_raises_in_the_first_state_is_told(cli: Commands) -> None:
    written(text_of("1 // s.at == 1"), Path())
    code, _, err = cli("--model", "counted.py", *LOCAL)

    assert code == 76
    assert "counted.py:31: claim here: a division by zero" in err


@pytest.mark.parametrize(
    "text",
    [
        text_of("s.first == 1"),
        text_of("s.at == 4 and s.first == 1", within="when(True)"),
        text_of("s.at == 9").replace("before.at == after.at", "after.first == 1"),
    ],
    ids=["of a state", "of a dead end", "of a step"],
)
def test_one_that_tells_names_apart_is_refused_under_a_symmetry(text: str, cli: Commands) -> None:
    written(text, Path())
    code, out, err = cli("--model", "counted.py", *LOCAL, "--symmetry", "node")

    assert code == 2
    assert out == ""
    assert err.count("\n") == 1
    assert "tells names apart, numbers 0 and 1 of the nodes" in err
