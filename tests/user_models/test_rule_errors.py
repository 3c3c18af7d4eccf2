"""An error of a rule is told with its place and the way there, and the verdicts so far."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.commands import Commands
from tests.support.own import EXAMPLES
from waterline.counterexamples import from_json, to_json
from waterline.counterexamples.formats import from_itf

SCHEMA = json.loads((EXAMPLES.parent / "docs" / "schemas" / "trace.schema.json").read_text())
COUNTER = '''\
from waterline import Name, Names, Number, Protocol, when


def counts(nodes: int = 2, top: int = 3) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Number("count", 0, 2, by=node, doc="Its own."),
            Name("last", node, or_none=True),
            Number("all", 0, 9),
        ],
        actions=[count],
        always=[few, some],
    )


def count(s, node):
    """{node} counts."""
    when(s.all < s.top)
    s.all += 1
    s.count[node] += 1
    s.last = node


def few(s):
    """No node has counted twice."""
    return not any(s.count[n] > 1 for n in s.nodes)


def some(s):
    """Whatever is counted is less than all that is counted, twice."""
    return True
'''


def counter(old: str = "", new: str = "") -> None:
    assert old in COUNTER
    Path("counts.py").write_text(COUNTER.replace(old, new) if old else COUNTER)


CHECK = ("--model", "counts.py", "--engine", "local")


def test_the_report_has_the_error_the_way_there_and_the_verdicts_so_far(cli: Commands) -> None:
    counter()
    code, out, err = cli(*CHECK, "--trace-dir", "traces")
    line = (
        "counts.py:21: count(node=node0): s.count[node0] cannot be 3: it holds 0 to 2; "
        "declare a wider range, or guard the step"
    )

    assert code == 76
    assert f"error: {line}" in err.splitlines()
    assert line in " ".join(out.split())
    assert " few         VIOLATED after 2 steps" in out
    assert " some        INCOMPLETE" in out
    assert "HOLDS" not in out
    assert "3.  count  raises an error" in out
    assert "stopped by an error of a rule" in out
    assert sorted(path.name for path in Path("traces").iterdir()) == [
        "counts-few-nodes2-top3.json",
        "counts-rule-error-nodes2-top3.json",
    ]


@pytest.mark.parametrize("more", [(), ("--run-dir", "kept"), ("--symmetry", "node")])
def test_json_has_the_error_and_its_trace(more: tuple[str, ...], cli: Commands) -> None:
    counter()
    code, out, _ = cli(*CHECK, "--format", "json", *more)
    error = json.loads(out)["error"]

    assert code == 76
    assert json.loads(out)["stopped_by"] == "an error of a rule"
    assert error["action"] == "count"
    assert error["claim"] is None
    assert error["depth"] == 2
    node = error["arguments"]["node"]
    assert f"s.count[node{node}] cannot be 3" in error["message"]
    assert [step["arguments"] for step in error["trace"]["steps"]] == [{"node": node}] * 2
    assert error["trace"]["raises"] == {"action": "count", "arguments": {"node": node}}


def test_the_trace_file_is_shown_and_replayed(cli: Commands) -> None:
    counter()
    cli(*CHECK, "--trace-dir", "traces")
    file = Path("traces/counts-rule-error-nodes2-top3.json")
    code, out, _ = cli("view", file, "--model", "counts.py", name="waterline")
    trace = from_json(file.read_text())
    itf = cli("convert", file, "--model", "counts.py", "--to", "itf", name="waterline")[1]

    assert code == 0
    assert "counts (counts.py): 2 steps, then an error of a rule" in out
    assert "3. count(node=0)  raises an error" in out
    assert "s.count[node0] cannot be 3" in out
    assert to_json(trace) == file.read_text()
    jsonschema.validate(json.loads(file.read_text()), SCHEMA)
    assert from_itf(itf) == trace


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"node": 0}},\n', '"node": 1}},\n', "nothing raises an error after step 2"),
        ('"raises": {\n    "action": "count"', '"raises": {\n    "action": "go"', "nothing raises"),
        ('"raises": {', '"cycle": 1,\n  "raises": {', "it has a cycle and raises"),
        ('"action": "count",\n    "arguments"', '"claim": 3,\n    "arguments"', "raises"),
    ],
)
def test_a_trace_whose_end_raises_nothing_is_refused(
    old: str, new: str, says: str, cli: Commands
) -> None:
    counter()
    cli(*CHECK, "--trace-dir", "traces")
    file = Path("traces/counts-rule-error-nodes2-top3.json")
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, 1))
    code, _, err = cli("view", file, "--model", "counts.py", name="waterline")

    assert code == 2
    assert says in err


@pytest.mark.parametrize("command", ["explain", "compare"])
def test_there_is_nothing_to_explain_or_compare(command: str, cli: Commands) -> None:
    counter()
    cli(*CHECK, "--trace-dir", "traces")
    file = Path("traces/counts-rule-error-nodes2-top3.json")
    more = ("--set", "top=9") if command == "compare" else ()
    code, _, err = cli(command, file, "--model", "counts.py", *more, name="waterline")

    assert code == 2
    assert "ends in an error of a rule" in err


def test_a_page_shows_the_way_to_the_error(cli: Commands) -> None:
    counter()
    code, _, _ = cli(*CHECK, "--html", "run.html")

    assert code == 76
    assert "a rule raises an error after 2 steps" in Path("run.html").read_text()


def test_an_error_of_what_makes_the_initial_states_is_one_line(cli: Commands) -> None:
    counter("actions=[count],", "actions=[count], initial=start,")
    with Path("counts.py").open("a") as file:
        file.write("\n\ndef start(s, node):\n    s.count[node] = 2 + node\n")
    code, out, err = cli(*CHECK)

    assert (code, out) == (76, "")
    assert err.startswith(
        "error: counts.py:36: start(node=node1), which makes the initial states: "
        "s.count[node1] cannot be 3: it holds 0 to 2"
    )


@pytest.mark.parametrize(
    ("new", "says"),
    [
        (
            "s.count[s.last] += 1",
            "there is no s.count[None]: the index goes from node0 to node1; "
            "ask first whether the name is None",
        ),
        (
            "s.count[node + 1] += s.all // 2",
            "there is no s.count[2]: the index goes from node0 to node1; loop over s.nodes",
        ),
        ("s.last = s.all + 1", "s.last cannot be 2: it holds node0 to node1, or None"),
    ],
)
def test_an_index_is_told_as_the_rule_has_it(new: str, says: str, cli: Commands) -> None:
    counter("s.count[node] += 1", new)
    code, _, err = cli(*CHECK)

    assert code == 76
    assert says in err
