"""Traces that TLC wrote, as text and as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Commands
from waterline.counterexamples.formats.itf_states import ItfTrace, trace_of_another_tool
from waterline.counterexamples.trace import BadTrace

TEXT = r"""TLC2 Version 2.18 of 20 March 2023
Error: Temporal properties were violated.

Error: The following behavior constitutes a counter-example:

State 1: <Initial predicate>
/\ x = 0
/\ f = (0 :> <<TRUE, "q\"\\">> @@ 1 :> <<>>)
/\ r = [a |-> -1, b |-> {m2, m1}]

State 2: <Inc(1) line 12, col 8 to line 14, col 30 of module M>
/\ x = 12345678901234567890
/\ f = ( 0 :> <<1,
          2>> @@
  1 :> {} )
/\ r = 1..3

END
5 states generated, 5 distinct states found, 2 states left on queue.
"""
STATES = [
    {"x": "0", "f": r'{0 -> [true, "q\"\\"], 1 -> []}', "r": "(a: -1, b: {m1, m2})"},
    {"x": "12345678901234567890", "f": "{0 -> [1, 2], 1 -> {}}", "r": "{1, 2, 3}"},
]
PLACE = "<Inc line 1, col 8 to line 2, col 3 of module M>"


def trace_in(tmp_path: Path, text: str) -> ItfTrace:
    file = tmp_path / "trace"
    file.write_text(text)
    found = trace_of_another_tool(file)
    assert found is not None
    return found


def shown(trace: ItfTrace) -> list[dict[str, str]]:
    return [{name: each.values[name].text for name in trace.variables} for each in trace.states]


@pytest.mark.parametrize(
    ("end", "loop"),
    [
        ("State 3: Stuttering", 1),
        (f"Back to state 1: {PLACE}", 0),
        (f"1: Back to state: {PLACE}", 0),
        ("State 1: <Initial predicate>\n/\\ x = 5", None),
        ("", None),
    ],
)
def test_the_text_is_read(end: str, loop: int | None, tmp_path: Path) -> None:
    trace = trace_in(tmp_path, TEXT.replace("END", end))

    assert shown(trace) == STATES
    assert [each.taken for each in trace.states] == ["", "Inc(1)"]
    assert trace.loop == loop
    assert trace.described["description"] == "Temporal properties were violated."
    assert trace.form == "of TLC"


def test_lines_for_the_toolbox_are_left_out(tmp_path: Path) -> None:
    text = TEXT.replace("State 1:", "@!@!@STARTMSG 2217:4 @!@!@\n1:").replace("State 2:", "2:")

    assert shown(trace_in(tmp_path, text.replace("END", "@!@!@ENDMSG 2217 @!@!@"))) == STATES


NUMBERED: list[tuple[int, dict[str, Any]]] = [
    (1, {"x": 0}),
    (2, {"x": [1, "a"]}),
    (3, {"x": {"k": True}}),
]


def dump(*pairs: tuple[int, int]) -> dict[str, Any]:
    states = dict(NUMBERED)
    action = {"name": "Inc", "parameters": ["p"], "context": {"p": 7}}
    steps = [[[a, states[a]], action, [b, states[b]]] for a, b in pairs]
    return {"vars": ["x"], "state": NUMBERED, "action": steps}


@pytest.mark.parametrize(
    ("document", "loop"), [(dump((1, 2), (2, 3)), None), (dump((1, 2), (2, 3), (3, 2)), 1)]
)
def test_the_json_is_read(document: dict[str, Any], loop: int | None, tmp_path: Path) -> None:
    for whole in (document, {"counterexample": document}):
        trace = trace_in(tmp_path, json.dumps(whole))

        assert shown(trace) == [{"x": "0"}, {"x": '[1, "a"]'}, {"x": "(k: true)"}]
        assert [each.taken for each in trace.states] == ["", "Inc(p: 7)", "Inc(p: 7)"]
        assert trace.loop == loop


FIRST = "State 1: <Initial predicate>\n/\\ x = "


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (FIRST + "<<1", "state 1.x has 'nothing' where TLC writes a value"),
        (FIRST + "[y \\in S |-> 1]", "state 1.x has '\\\\in S |-> 1]' where"),
        (FIRST + "<<" * 40, "state 1.x is nested too deeply"),
        ('{"state": [5], "action": []}', "state has 5; it must have pairs"),
        ('{"state": [[1, {"x": 0}]], "action": [5]}', "action has 5; it must have"),
        ('{"state": [], "action": []}', "vars is []"),
    ],
)
def test_a_mistake_is_one_line(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadTrace) as refused:
        trace_in(tmp_path, text)

    assert says in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1


@pytest.mark.parametrize("command", [("convert", "--to", "itf"), ("explain",)])
def test_other_commands_say_whose_trace_it_is(command: tuple[str, ...], cli: Commands) -> None:
    Path("trace.out").write_text(TEXT)

    code, _, err = cli(command[0], "trace.out", *command[1:], name="waterline")

    assert code == 2
    assert "is a trace of another tool" in " ".join(err.split())
