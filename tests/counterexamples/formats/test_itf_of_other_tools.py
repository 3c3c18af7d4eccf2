"""Traces in ITF that Quint and Apalache write: shown as they are, each mistake in one line."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.support.commands import Commands
from tests.support.confirmed_traces import FOLDER
from tests.support.viewing import seen
from waterline.checker.report.viewer.itf_app import ItfViewer
from waterline.counterexamples import BadTrace
from waterline.counterexamples.formats.itf_states import ItfTrace, itf_trace, trace_of_another_tool
from waterline.counterexamples.formats.itf_table import CELL_MAX, render_itf
from waterline.counterexamples.formats.itf_values import read_value

FILES = Path(__file__).parent / "itf"
QUINT, APALACHE = FILES / "quint.itf.json", FILES / "apalache.itf.json"


def read(path: Path) -> ItfTrace:
    found = trace_of_another_tool(path)
    assert found is not None
    return found


def printed(trace: ItfTrace, width: int = 80) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(render_itf(trace))
    return capture.get()


def of_states(*values: object, loop: int | None = None) -> ItfTrace:
    states = [{"x": value} for value in values]
    return itf_trace({"vars": ["x"], "states": states} | ({} if loop is None else {"loop": loop}))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"#bigint": "-3"}, "-3"),
        (7, "7"),
        (True, "true"),
        ("a\x1b[2J", '"a\\u001b[2J"'),
        ([1, [2]], "[1, [2]]"),
        ({"#tup": [1, "b"]}, '(1, "b")'),
        ({"#set": [10, 9, 10, {"#bigint": "9"}]}, "{9, 10}"),
        ({"#map": [[2, "b"], [1, "a"]]}, '{1 -> "a", 2 -> "b"}'),
        ({"b": 1, "a": {"#set": []}}, "(a: {}, b: 1)"),
        ({"tag": "Some", "value": {"#tup": [1]}}, "Some((1))"),
        ({"tag": "None", "value": {"#tup": []}}, "None"),
        ({"tag": "None", "value": {}}, "None"),
        ({"tag": "None", "value": "U_OF_UNIT"}, "None"),
        ({"tag": 1, "value": 2}, "(tag: 1, value: 2)"),
        ({"#unserializable": "Int"}, '<"Int" could not be written>'),
    ],
)
def test_a_value_is_text(value: object, text: str) -> None:
    assert read_value("x", value).text == text


def test_a_trace_of_quint_names_its_steps_and_marks_what_changed() -> None:
    text = printed(read(QUINT))

    assert 'State 1  take(node: "n2")' in text
    assert 'holder       Some("n2")*' in text
    assert 'sent["n2"]   1*' in text
    assert 'sent["n10"]  0\n' in text
    assert "mbt::" not in text
    assert "repeat" not in text


def test_a_trace_of_apalache_has_its_loop_marked_and_order_is_no_change() -> None:
    text = printed(read(APALACHE))

    assert "N: 2" in text
    assert "States 1 to 2 repeat for ever:\nState 1\n" in text
    assert text.endswith("After state 2 follows state 1 again.\n")
    *_, last = text.split("State 2\n")
    assert "round    2*" in last
    assert 'msgs     {(kind: "ask", term: 10), (kind: "ask", term: 9)}\n' in last


def test_a_part_that_is_not_always_there_has_a_row_all_the_time() -> None:
    long = "x" * 40
    text = printed(of_states({"#map": [[1, long]]}, {"#map": [[2, long], [1, long]]}))

    assert "x[2]  -\n" in text
    assert f'x[2]  "{long}"*\n' in text


def test_a_long_value_is_folded_and_shortened() -> None:
    text = printed(of_states([1] * CELL_MAX), width=80)

    assert max(map(len, text.splitlines())) <= 80
    assert "... (6,000 characters)" in text


def test_the_screen_shows_states_one_at_a_time() -> None:
    first, last = seen(ItfViewer(read(APALACHE))), seen(ItfViewer(read(APALACHE)), "G")
    looped = seen(ItfViewer(read(APALACHE)), "G", "l")
    changes = seen(ItfViewer(read(APALACHE)), "G", "t")

    assert "State 0  initial  of 2" in first
    assert "State 2" in last
    assert "1 to 2 repeat" in last
    assert "votes" in last
    assert "State 1" in looped
    assert "votes" not in changes
    assert "round" in changes


Change = Callable[[dict[str, Any]], object]
MISTAKES: dict[str, tuple[Change, str]] = {
    "no states": (lambda d: d.update(states=[]), "states is []; it must be a list with the init"),
    "states object": (lambda d: d.update(states={"a": 1}), "states is {'a': 1}; it must be a list"),
    "vars text": (lambda d: d.update(vars="x"), "vars is 'x'; it must be a list of names"),
    "var number": (lambda d: d["vars"].append(3), "vars[5] is 3; it must be a name of at most"),
    "var escape": (lambda d: d["vars"].append("\x1b"), "vars[5] is '\\x1b'; it must be a name"),
    "params": (lambda d: d.update(params={}), "params is {}; it must be a list of names"),
    "meta": (lambda d: d.update({"#meta": 1}), "#meta is 1; it must be an object"),
    "state list": (lambda d: d["states"].append([]), "states[3] is []; it must be an object"),
    "lacks": (lambda d: d["states"][1].pop("round"), "states[1] lacks 'round', which vars has"),
    "more": (lambda d: d["states"][1].update(z=1), "states[1] has 'z', which vars lacks"),
    "null": (lambda d: d["states"][1].update(round=None), "states[1].round is None, which ITF"),
    "float": (lambda d: d["states"][1].update(round=1.5), "states[1].round is 1.5, which ITF"),
    "bigint": (
        lambda d: d["states"][1].update(round={"#bigint": "1e5"}),
        "states[1].round.#bigint is '1e5'; it must be a whole number of at most 1,000 digits",
    ),
    "digits": (
        lambda d: d["states"][1].update(round={"#bigint": "1" * 1001}),
        "must be a whole number of at most 1,000 digits",
    ),
    "tup": (
        lambda d: d["states"][1].update(log={"#tup": 5}),
        "states[1].log.#tup is 5; it must be",
    ),
    "pair": (
        lambda d: d["states"][1].update(votes={"#map": [[1]]}),
        "states[1].votes.#map[0] is [1]; it must be an argument and its value",
    ),
    "argument twice": (
        lambda d: d["states"][1].update(votes={"#map": [[1, 2], [{"#bigint": "1"}, 3]]}),
        "states[1].votes.#map[1] is [{'#bigint': '1'}, 3]; the argument has a value already",
    ),
    "unknown": (lambda d: d["states"][1].update(log={"#bag": []}), "states[1].log.#bag is unknown"),
    "mixed": (
        lambda d: d["states"][1].update(log={"#set": [], "a": 1}),
        "#set must be alone in its object",
    ),
    "loop": (
        lambda d: d.update(loop=3),
        "loop is 3; it must be the number of a state, from 0 to 2",
    ),
    "loop true": (lambda d: d.update(loop=True), "loop is True; it must be the number of a state"),
    "deep": (
        lambda d: d["states"][1].update(log=json.loads("[" * 40 + "]" * 40)),
        "nested too deeply; a trace has at most 32 levels",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_that_names_the_place(mistake: str, tmp_path: Path) -> None:
    change, says = MISTAKES[mistake]
    document = copy.deepcopy(json.loads(APALACHE.read_text()))
    change(document)
    path = tmp_path / "trace.itf.json"
    path.write_text(json.dumps(document))

    with pytest.raises(BadTrace) as caught:
        trace_of_another_tool(path)

    assert str(caught.value).startswith(f"{path}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_command_prints_it_and_refuses_what_it_cannot_do(tmp_path: Path, cli: Commands) -> None:
    code, out, _ = cli("view", QUINT, name="waterline")
    assert code == 0
    assert "State 1  take" in out
    for more in (("--where", "x > 1"), ("--model", "lock.py")):
        code, _, err = cli("view", QUINT, *more, name="waterline")
        assert code == 2
        assert f"leave out {more[0]}" in err
    broken = tmp_path / "broken.itf.json"
    broken.write_text(APALACHE.read_text().replace('"loop": 1', '"loop": -1'))
    code, out, err = cli("view", broken, name="waterline")
    assert (code, out) == (2, "")
    assert "loop is -1" in err
    code, _, err = cli("convert", QUINT, "--to", "tlc", name="waterline")
    assert code == 2
    assert "`waterline view` alone" in err


def test_a_trace_of_ours_is_none_of_these() -> None:
    assert trace_of_another_tool(FOLDER / "hw-no_committed_loss-2r2n2e.json") is None
