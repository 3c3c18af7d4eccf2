"""Sets, queues and logs in plain Python: written as in a rule, and kept by a state."""

from __future__ import annotations

from typing import Any

import pytest

import waterline

HOLDERS = """
from waterline import Log, Names, Protocol, Queue, Set


def holders(nodes: int = 2) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Set("votes", of=node, by=node),
            Set("words", of=("b", "a")),
            Queue("wire", of=("ask", "tell"), room=2),
            Log("log", of=4, room=3, by=node),
        ],
        actions=[vote],
    )


def vote(s, node):
    s.votes[node] |= {node}
    s.wire.send("ask")
"""


@pytest.fixture
def draft(module_of: Any) -> Any:
    return waterline.copy(waterline.initial(module_of("holders.py", HOLDERS).holders))


def test_sets_queues_and_logs_are_written_as_in_a_rule(draft: Any) -> None:
    draft.votes[0].add(1)
    draft.votes[1] = draft.votes[0] | {0}
    draft.words = {"a", "b"}
    draft.wire.send("ask")
    draft.wire.send("tell")
    first = draft.wire.receive()
    draft.log[0].append(3)
    draft.log[0].append(2)
    draft.log[1] = draft.log[0][:1]
    draft.log[0][1] = 1
    state = waterline.freeze(draft)
    draft.log[0].truncate(0)

    assert first == "ask"
    assert state.votes == ({1}, {0, 1})
    assert list(state.words) == ["b", "a"]
    assert state.wire == ("tell",)
    assert state.log == ((3, 1), (3,))
    assert draft.log[0] == ()
    assert hash(state) == hash(waterline.replace(state))
    assert repr(state) == (
        "State(votes=({1}, {0, 1}), words={'b', 'a'}, wire=('tell',), log=((3, 1), (3,)))"
    )


def test_a_full_queue_is_a_bound(draft: Any) -> None:
    draft.wire.send("ask")
    draft.wire.send("ask")

    with pytest.raises(waterline.BeyondBound, match="wire is full") as caught:
        draft.wire.send("ask")
    assert caught.value.bound == "wire"


@pytest.mark.parametrize(
    ("does", "words"),
    [
        (lambda s: s.wire.receive(), "wire is empty"),
        (lambda s: s.wire.send("hello"), "wire cannot be"),
        (lambda s: s.votes[0].add(2), r"votes\[node0\] cannot be 2: it is the number of a node"),
        (lambda s: s.log[1].truncate(-1), r"log\[node1\] cannot keep -1"),
        (lambda s: s.log[1].append(4), r"log\[node1\] cannot be 4: it is a number, 0 to 3"),
        (lambda s: s.log[0][:-1], r"log\[node0\]\[:-1\]"),
        (lambda s: setattr(s, "wire", ("ask",) * 3), "at most 2 values"),
    ],
)
def test_what_a_set_a_queue_or_a_log_cannot_be_is_named(does: Any, words: str, draft: Any) -> None:
    with pytest.raises(waterline.OutOfRange, match=words):
        does(draft)


def test_a_state_keeps_its_sets_queues_and_logs(draft: Any) -> None:
    state = waterline.freeze(draft)

    for does in (
        lambda: state.votes[0].add(1),
        lambda: state.wire.send("ask"),
        lambda: state.log[0].append(1),
    ):
        with pytest.raises(AttributeError, match="a state is a value"):
            does()
