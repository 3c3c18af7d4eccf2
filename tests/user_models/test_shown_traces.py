"""What traces of own models look like: marks, actors, lanes, and values as a file has them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.own import own_problem
from waterline.checker.checking.run import run
from waterline.checker.problem.problem import asked_alone
from waterline.checker.report.pages.trace_sequence import sequence_in
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.traces.finding import Finding, confirm_trace
from waterline.checker.user_models.family import family_in
from waterline.counterexamples import NO_CLAIM, trace_of
from waterline.counterexamples.state_table import mark

TEXT = """\
from waterline import Choice, Flag, Name, Names, Number, Protocol, when


def two(clients: int = 2, servers: int = 2) -> Protocol:
    client = Names("client", clients)
    server = Names("server", servers)
    return Protocol(
        fields=[
            Name("holder", client, or_none=True),
            Choice("mode", "idle", "busy", by=server),
            Number("log", 0, 2, by=(server, 2)),
            Number("seen", 0, 2, by=3),
            Flag("ready"),
        ],
        actions=[send],
        always=[low],
    )


def send(s, client, server):
    \"\"\"{client} sends to {server}.\"\"\"
    when(s.mode[server] == "idle")
    s.mode[server] = "busy"
    s.holder = client
    s.log[server, 1] = 2
    s.seen[1] += 1
    s.ready = True


def low(s):
    return s.seen[1] < 2
"""
MODEL = ("--model", "two.py")


@pytest.fixture(autouse=True)
def written(cli: Commands) -> None:
    Path("two.py").write_text(TEXT)


def found() -> Finding:
    return run(own_problem(Path("two.py")), EngineChoice(name="local", threads=1)).findings[0]


@pytest.mark.parametrize(
    ("now", "was", "shown"),
    [
        ("0 2", "0 0", "0 2*"),
        ("2 0 1", "0 0 0", "2* 0 1*"),
        ("2", "1", "2*"),
        ("{a, b}", "{a, c}", "{a, b}*"),
        ("2 1", "2 1", "2 1"),
    ],
)
def test_the_mark_stands_at_the_element_that_changed(now: str, was: str, shown: str) -> None:
    assert mark(now, was, elements=True).plain == shown


def test_a_report_marks_elements_and_has_no_empty_table(cli: Commands) -> None:
    _, out, _ = cli(*MODEL, "--engine", "local")

    assert "server1   busy*   0 2*" in out
    assert "seen: 0 2* 0" in out
    assert "Must happen" not in out


def test_the_diagram_has_lanes_for_what_something_happens_to_and_arrows_to_it() -> None:
    sequence = sequence_in(found())
    arrows = [
        (sequence.lanes[m.sender], sequence.lanes[m.receiver], m.words)
        for m in sequence.messages
        if m.sent == 1
    ]

    assert sequence.lanes == ("server0", "server1", "client0", "state")
    assert arrows == [("client0", "server0", "send"), ("client0", "state", "send")]
    assert list(sequence.legend) == [
        "arrow: a message, or from who acts to what else the step names or changes"
    ]


CHANNELS = """\
from waterline import Action, Bag, Fields, Name, Names, Protocol, Queue, when


class State(Fields):
    nodes = Names("node", 3)
    values = Names("value", 2)
    wire = Queue(of=values, room=2, by=(nodes, nodes))
    net = Bag(of=values, room=2)
    chosen = Name(values, or_none=True, by=nodes)


def channels(state: type[State]) -> Protocol:
    through = [Action(each, to=state.nodes) for each in (send, receive, drop)]
    return Protocol(state=state, actions=[*through, post, take])


def send(s: State, node: int, to: int, value: int) -> None:
    \"\"\"{node} sends {value} to {to}.\"\"\"
    s.wire[node, to].send(value)


def receive(s: State, node: int, to: int) -> None:
    \"\"\"{to} hears from {node}.\"\"\"
    when(s.wire[node, to])
    s.chosen[to] = s.wire[node, to].receive()


def drop(s: State, node: int, to: int) -> None:
    \"\"\"{node} loses what it has sent to {to}.\"\"\"
    when(s.wire[node, to])
    s.wire[node, to].receive()


def post(s: State, node: int, value: int) -> None:
    \"\"\"{node} posts {value}.\"\"\"
    s.net.send(value)


def take(s: State, node: int, value: int) -> None:
    \"\"\"{node} takes {value}.\"\"\"
    when(value in s.net)
    s.net.remove(value)
    s.chosen[node] = value
"""


def test_messages_of_a_queue_and_of_a_bag_are_arrows_from_step_to_step() -> None:
    """Received, lost, taken by whoever takes it, and still on its way; values have no lanes."""
    Path("channels.py").write_text(CHANNELS)
    family = family_in(Path("channels.py"))
    problem = family.problem("channels", {}, [NO_CLAIM])
    calls = (
        ("send", (0, 1, 0)),
        ("send", (0, 2, 1)),
        ("post", (1, 1)),
        ("receive", (0, 1)),
        ("drop", (0, 2)),
        ("take", (2, 1)),
        ("send", (2, 0, 0)),
    )
    trace = trace_of(problem.model, NO_CLAIM, calls)
    sequence = sequence_in(confirm_trace(trace, problem.model, asked_alone(problem)))
    shown = [
        (sequence.lanes[m.sender], sequence.lanes[m.receiver], m.words, m.sent, m.arrived, m.lost)
        for m in sequence.messages
    ]

    assert sequence.lanes == ("node0", "node1", "node2")
    assert shown == [
        ("node0", "node1", "value0", 1, 4, None),
        ("node0", "node2", "value1", 2, None, 5),
        ("node1", "node2", "value1", 3, 6, None),
        ("node2", "node0", "value0", 7, None, None),
    ]
    assert [(note.step, sequence.lanes[note.lane], note.words) for note in sequence.notes] == [
        (4, "node1", "chosen value0"),
        (6, "node2", "chosen value1"),
    ]
