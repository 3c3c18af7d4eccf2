"""What is written wrong about sets, queues and logs is one line that says what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.own import own_problem
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import OutOfRange
from waterline.model.core.transition_system import describe_error

FILE = """\
from waterline import Action, Choice, Flag, Log, Name, Names, Number, Protocol, Queue, Set
from waterline import when, within


def p(nodes: int = 2) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Queue("wire", of=("ask", "yes"), room=2, by=node),
            Queue("post", of=node, room=2),
            Log("log", of=range(1, 4), room=2, by=node),
            Log("other", of=range(0, 4), room=2),
            Set("seen", of=node, by=node),
            Set("spelt", of=("a", "b")),
            Name("leader", node, or_none=True),
            Number("count", 0, 3),
            Number("cube", 0, 1, by=(node, 2, 2)),
            Flag("done"),
            Choice("answer", "no", "yes", "ask"),
            Choice("mood", "no", "ask"),
        ],
        actions=[act],
        always=[claim],
    )


def helper(s, members):
    return len(members)


def note(s, node, word):
    s.answer = word
    s.wire[node].send(word)


def act(s, node):
    when(not s.done)
    {rule}
    s.done = True


def claim(s):
    return {claim}
"""
MISTAKES = {
    "pop": ("s.post.pop()", "no pop; write s.post.receive(), which takes the first"),
    "pop of a log": ("s.log[node].pop()", "write s.log[node].truncate(len(s.log[node]) - 1)"),
    "remove of a set": ("s.seen[node].remove(0)", "no remove; write s.seen[node].discard(...)"),
    "an element of a queue": ("s.wire[node][0] = 'ask'", "what is in it never changes; receive"),
    "a slice with a negative end": (
        "when(s.log[node][:-1] == s.other[:1])",
        "no slice does; write [: len(s.log[node]) - 1]",
    ),
    "an empty list for a log": ("s.log[node] = []", "log is a Log; write s.log[node].clear()"),
    "a list for a queue": ("s.post = [0]", "write s.post.clear(), then s.post.send(...)"),
    "more of a log": ("s.log[node] += [1]", "write s.log[node].append(...)"),
    "+ of a set": ("s.seen[node] += {0}", "a set has no +; write s.seen[node] |= {0}"),
    "a dictionary for a set": ("s.seen[node] = {}", "write set(): {} is a dictionary"),
    "a list for a set": ("s.seen[node] = [0, 1]", "seen is a set; write {0, 1}"),
    "a sequence as a value": ("s.count = s.log[node]", "is a sequence, and stands where a value"),
    "a queue without its index": ("s.wire.send('ask')", "wire has an element for each node"),
    "append to a queue": ("s.wire[node].append('ask')", "wire is a Queue, which has no append"),
    "send to a log": ("s.log[node].send(1)", "log is a Log, which has no send"),
    "another word": ("s.wire[node].send('no')", "wire is never 'no'"),
    "a number for a word": ("s.wire[node].send(1)", "`1` is a number"),
    "a word for a number": ("s.log[node].append('ask')", "'ask' has no meaning here"),
    "send without a value": ("s.post.send()", "is given 0 arguments"),
    "receive with one": ("s.post.receive(node)", "is given 1 arguments"),
    "a value of add": ("s.count = s.seen[node].add(node)", "has no value"),
    "a number for a set": ("s.seen[node] = node", "seen is a set, and `node` is none"),
    "a set for a number": ("s.count = {node}", "count is no set"),
    "a set for a name": ("s.leader = s.seen[node]", "leader is no set"),
    "a set plus a set": ("s.seen[node] = s.seen[node] + {node}", "which has no such operation"),
    "a set and a number": ("s.seen[node] = s.seen[node] | 1", "is no set, and stands beside one"),
    "a set compared with a number": ("when(s.seen[node] == 1)", "is no set, and stands beside one"),
    "remove": ("s.seen[node].remove(node)", "seen is a Set, which has no remove"),
    "a word of no set": ("when('c' in s.spelt)", "spelt is never 'c'"),
    "a list": ("when(s.log[node] == [1])", "compares a sequence with something else"),
    "other values": ("when(s.log[node] == s.other)", "compares sequences of other values"),
    "a copy of other values": (
        "s.other = s.log[node]",
        "is not given a sequence of the same values",
    ),
    "a slice from": ("when(s.log[node][1:] == s.log[node])", "is no beginning of a sequence"),
    "a sequence given": ("s.count = helper(s, s.log[node])", "is a sequence, and stands where"),
    "changed in its loop": (
        "for each in s.post:\n        s.post.receive()",
        "post changes while a loop goes through it",
    ),
    "a receive before a when": ("s.post.receive()\n    when(s.count == 0)", "writes post"),
    "two kinds of arguments": (
        "s.count = helper(s, s.seen[node])\n    s.count = helper(s, 3)",
        "helper is given `3` for members, and elsewhere something of another kind",
    ),
    "a word given, and kept in two places with other words": (
        "note(s, node, 'yes')",
        "wire is one of its words, and `word` has other words",
    ),
    "the same by its name": (
        "note(s, node, word='yes')",
        "'yes' has no meaning here",
    ),
    "words of two choices": (
        "word = s.answer\n    if s.done:\n        word = s.mood\n    s.answer = word",
        "`word` is one of the words of answer in one place, and `s.mood` in another",
    ),
    "too few indices": ("s.cube[node, 1] = 1", "cube has an element for each node and each of 2"),
    "an element added to": ("s.log[node][0] += 1", "is changed in its place"),
}


def problem_with(tmp_path: Path, rule: str, claim: str = "True") -> object:
    path = tmp_path / "p.py"
    path.write_text(FILE.replace("{rule}", rule).replace("{claim}", claim))
    return own_problem(path)


@pytest.mark.parametrize("mistake", list(MISTAKES))
def test_a_mistake_names_what_to_write(mistake: str, tmp_path: Path) -> None:
    rule, message = MISTAKES[mistake]

    with pytest.raises(BadEnvironment) as refused:
        problem_with(tmp_path, rule)

    assert message in str(refused.value)
    assert "p.py:" in str(refused.value)
    assert ";" in str(refused.value)


def test_a_claim_changes_nothing(tmp_path: Path) -> None:
    with pytest.raises(BadEnvironment, match="claim is a claim and changes post"):
        problem_with(tmp_path, "pass", "s.post.receive() == 0")


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ("s.post.receive()", "s.post is empty: write when(s.post) first"),
        ("s.count = s.log[node][0]", "s.log[node0] is empty: write when(s.log[a]) first"),
        (
            "s.log[node].append(4)",
            "s.log[node0] cannot hold 4: it holds at most 2 values, each 1 to 3",
        ),
        ("s.log[node].append(0)", "s.log[node0] cannot hold that: it holds at most 2 values"),
        ("s.cube[node, 2, 0] = 1", "there is no such element of s.cube"),
    ],
)
def test_an_error_names_the_element_as_the_rule_does(
    rule: str, expected: str, tmp_path: Path
) -> None:
    model = problem_with(tmp_path, rule).model  # type: ignore[attr-defined]

    with pytest.raises(OutOfRange) as raised:
        list(model.successors(model.initial[0]))

    assert describe_error(raised.value, model.narration).startswith(expected)


@pytest.mark.parametrize(
    "rule",
    [
        "s.post.receive()",
        "s.count = s.log[node][0]",
        "s.count = s.log[node][-1]",
        "s.log[node].append(4)",
        "s.log[node].append(0)",
        "s.post.send(s.leader)",
        "s.seen[node].add(2)",
        "s.seen[node] = {s.leader}",
        "s.log[node].truncate(s.count - 1)",
        "when(s.log[node][: s.count - 1] == s.log[node])",
        "s.cube[node, 2, 0] = 1",
        "s.cube[node, s.count - 1, 1] = 1",
    ],
)
def test_what_is_outside_is_an_error_of_the_rule(rule: str, tmp_path: Path) -> None:
    model = problem_with(tmp_path, rule).model  # type: ignore[attr-defined]

    with pytest.raises((OutOfRange, ValueError, OverflowError)):
        list(model.successors(model.initial[0]))
