"""Bags, and structs in bags, logs, sets and fields, mean what Python's lists of named tuples do."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Commands
from tests.support.live import Both
from tests.support.own import own_problem
from tests.user_models.test_containers import require_python_agrees
from tests.user_models.test_plain_equals_checked import differences
from waterline.checker.analysis.certificate.renaming import Renamings, key_of
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.model.core.errors import BadEnvironment
from waterline.state import unpack

NET = """\
from typing import NamedTuple

from waterline import Action, Bag, Fields, Log, Name, Names, Number, Protocol, Set, Struct, Value
from waterline import when, within


class Message(NamedTuple):
    kind: str
    source: int
    target: int
    term: int
    granted: bool = False


class Entry(NamedTuple):
    term: int
    leader: int | None


class State(Fields):
    nodes = Names("node", 2)
    top: int = 2
    room: int = 2

    _kinds = ("ask", "answer")
    _terms = range(1, top + 1)
    message = Struct(Message, kind=_kinds, source=nodes, target=nodes, term=_terms)
    entry = Struct(Entry, term=top + 1, leader=nodes)
    term = Number(0, top, by=nodes)
    voted = Name(nodes, or_none=True, by=nodes)
    votes = Set(of=nodes, by=nodes)
    wire = Bag(of=message, room=room)
    log = Log(of=entry, room=2)
    last = Value(of=entry, by=nodes)


def net(state: type[State]) -> Protocol:
    return Protocol(
        state=state,
        actions=[
            Action(ask, target=state.nodes),
            Action(answer, m=state.message),
            Action(count, m=state.message),
            lead,
        ],
        always=[current, few],
        sometimes=[two_asked],
    )


def ask(s: State, node: int, target: int) -> None:
    '''{node} asks {target}.'''
    when(node != target)
    within(s.term[node] < s.top)
    s.term[node] += 1
    s.votes[node] = {node}
    s.wire.send(Message("ask", node, target, s.term[node]))


def answer(s: State, m: Message) -> None:
    '''{m} is answered.'''
    when(m.kind == "ask" and m in s.wire)
    s.wire.remove(m)
    granted = m.term > s.term[m.target] or s.voted[m.target] is None
    if granted:
        s.voted[m.target] = m.source
        s.term[m.target] = max(m.term, s.term[m.target])
    send(s, Message(kind="answer", source=m.target, target=m.source, term=m.term, granted=granted))


def send(s: State, message: Message) -> None:
    if message.kind == "answer" and not message.granted and len(s.wire) == s.room - 1:
        s.wire.clear()
    s.wire.send(message)


def count(s: State, m: Message) -> None:
    '''{m} is counted.'''
    when(m in s.wire and m.kind == "answer")
    s.wire.remove(m)
    if m.granted and m.term == s.term[m.target]:
        s.votes[m.target].add(m.source)


def lead(s: State, node: int) -> None:
    '''{node} leads.'''
    when(len(s.votes[node]) == 2 and (not s.log or s.log[-1] != Entry(s.term[node], node)))
    s.log.append(Entry(term=s.term[node], leader=node))
    s.last[node] = s.log[-1]
    s.votes[node] = set()


def current(s: State) -> bool:
    '''No message is older than its target.'''
    return all(m.source != m.target and m.term >= s.term[m.target] for m in s.wire)


def few(s: State) -> bool:
    '''No two alike, and no entry of nobody.'''
    return not any(s.wire.count(m) > 1 for m in s.wire) and not any(
        entry.leader is None or entry == s.last[0] for entry in s.log
    )


def two_asked(s: State) -> bool:
    '''Both have asked in their first term, and nothing that cannot be is on its way.'''
    return (
        Message("ask", 0, 1, 1) in s.wire
        and Message("ask", 1, 0, 1) in s.wire
        and Message("ask", 0, 1, 7) not in s.wire
        and s.last[0].leader is None
    )
"""

NET_FILE = NET.replace("'''", '"' * 3)


@pytest.fixture
def net(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(NET_FILE)
    return path


def test_bags_and_structs_are_those_of_plain_python(net: Path) -> None:
    require_python_agrees(net, "net", {"nodes": 2, "top": 2, "room": 2})


def test_every_step_runs_as_it_is_checked(net: Path) -> None:
    assert differences(Both.of(net, top=1), 200) == []


SYMMETRIC = {"[two_asked]": "[]", " or entry == s.last[0]": ""}


@pytest.fixture
def symmetric(net: Path) -> Path:
    text = net.read_text()
    for one, other in SYMMETRIC.items():
        text = text.replace(one, other)
    net.write_text(text)
    return net


def renamed(state: Any, to: tuple[int, ...]) -> Any:
    """A state whose nodes have other names, as a value in which the order of a bag is nothing."""
    froms = sorted(range(len(to)), key=to.__getitem__)
    by_node = (
        tuple(state.term[n] for n in froms),
        tuple(None if state.voted[n] is None else to[state.voted[n]] for n in froms),
        tuple(frozenset(to[m] for m in state.votes[n]) for n in froms),
        tuple(entry_of(state.last[n], to) for n in froms),
    )
    wire = (m._replace(source=to[m.source], target=to[m.target]) for m in state.wire)
    return by_node, frozenset(Counter(wire).items()), tuple(entry_of(e, to) for e in state.log)


def entry_of(entry: Any, to: tuple[int, ...]) -> Any:
    return entry if entry.leader is None else entry._replace(leader=to[entry.leader])


def test_symmetry_renames_what_is_within_structs(symmetric: Path) -> None:
    assert_renamed_within_structs(symmetric, {"nodes": 2, "top": 2})


def assert_renamed_within_structs(symmetric: Path, bounds: dict[str, int]) -> None:
    """The search keeps as many states as there are orbits of plain Python's states."""
    both = Both.of(symmetric, **bounds)
    permutations = list(itertools.permutations(range(bounds["nodes"])))
    orbits, count = set(), 0
    problem = own_problem(symmetric, "node", **bounds)
    renamings = Renamings(problem.model.layout, problem.symmetry)
    sizes = []
    for packed in both.reached(10_000):
        state = unpack(both.plain, packed)
        orbit = frozenset(renamed(state, to) for to in permutations)
        count += 1
        if orbit not in orbits:
            orbits.add(orbit)
            sizes.append((len(renamings.of(key_of(packed.words))), len(orbit)))
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)

    assert result.complete
    assert result.distinct == len(orbits) < count
    assert sum(len(orbit) for orbit in orbits) == count
    assert [one for one, _ in sizes] == [other for _, other in sizes]


def test_a_rule_that_goes_by_names_within_structs_is_found(net: Path) -> None:
    with pytest.raises(BadEnvironment, match="tells names apart"):
        own_problem(net, "node")


def test_a_counterexample_names_the_message(net: Path, cli: Commands) -> None:
    net.write_text(net.read_text().replace("m.term >= s.term[", "m.term > s.term["))
    _, out, _ = cli("--model", str(net), "--engine", "local")
    told = " ".join(out.split())

    assert "current is False here, for m = Message(kind=answer, source=node1, target=node0" in told
    assert "wire gets Message(kind=ask, source=node0, target=node1, term=1, granted=no)." in told


OUTSIDE = "term=m.term, granted", "term=m.term + 1, granted"


def test_a_part_that_is_out_of_its_domain_is_an_error_of_the_rule(net: Path, cli: Commands) -> None:
    net.write_text(net.read_text().replace(*OUTSIDE))
    code, out, err = cli("--model", str(net), "--engine", "local")
    line = 1 + net.read_text()[: net.read_text().index(OUTSIDE[1])].count("\n")

    assert code == 76
    assert (
        f"net.py:{line}: answer(m=Message(kind=ask, source=node0, target=node1, term=2, granted=no"
        in out + err
    )
    assert (
        "a part is out of its domain, Message(kind='ask' or 'answer', source=node0 to node1, "
        "target=node0 to node1, term=1 to 2, granted=True or False); guard the step" in out + err
    )


MISTAKES = {
    "a part that is not there": (
        "m.granted and",
        "m.grantd and",
        "a Message has no part 'grantd'; did you mean granted? It has kind, source, target, term, "
        "granted",
    ),
    "a part that is assigned to": (
        "    s.wire.remove(m)\n    granted",
        "    m.term = 1\n    s.wire.remove(m)\n    granted",
        None,
    ),
    "a part that is left out": (
        "term=m.term, granted=granted",
        "granted=granted",
        "gives no term; write term=..., or give it a default in the class",
    ),
    "a part too many": (
        "granted=granted",
        "grantd=granted",
        "gives something else than its parts, each once; those are kind, source, target, term, "
        "granted",
    ),
    "a word that is none": (
        'kind="answer",',
        'kind="reply",',
        "kind is never 'reply'; it is one of 'ask', 'answer'",
    ),
    "a number for a word": (
        'kind="answer",',
        "kind=1,",
        "kind is one of its words, and `1` is a number; write 'ask' or 'answer'",
    ),
    "a word for a number": (
        "term=m.term, granted",
        "term=m.kind, granted",
        "kind is one of its words, no number; compare it with 'ask' or 'answer'",
    ),
    "a struct as a number": (
        "    s.term[node] += 1",
        "    s.term[node] = s.last[node]",
        "Entry is a struct, no number; read one of its parts",
    ),
    "a struct as a truth": (
        "    if m.granted and",
        "    if m and",
        "Message is a struct, not true or false; ask one of its parts",
    ),
    "structs that are ordered": (
        "m.term >= s.term[m.target]",
        "m >= m",
        "Message is a struct, no number; read one of its parts",
    ),
    "another struct": (
        "s.last[node] = s.log[-1]",
        's.last[node] = Message("ask", 0, 1, 1)',
        "is no Entry, and stands where one is wanted; write Entry(...), or read one that is kept",
    ),
    "a number for a struct": (
        "s.wire.remove(m)\n    granted",
        "s.wire.remove(3)\n    granted",
        "`3` is no Message, and stands where one is wanted; write Message(...), or read one that "
        "is kept",
    ),
    "a method of a struct": (
        "s.wire.remove(m)\n    granted",
        "s.wire.remove(m._replace(term=1))\n    granted",
        "Message has no _replace(...); write Message(...) with all its parts",
    ),
    "a place of a bag": (
        'Message("ask", 0, 1, 1) in s.wire',
        "s.wire[0].term == 1",
        "`s.wire[0]` reads a place of wire, and a bag has no order; give the action an argument, "
        "and ask whether it is in it",
    ),
    "a bag received of": (
        "s.wire.remove(m)\n    granted",
        "s.wire.receive()\n    granted",
        "wire is a Bag, which has no receive; write",
    ),
    "a bag that changes in a loop": (
        "s.wire.remove(m)\n    granted",
        "for each in s.wire:\n        s.wire.remove(each)\n    granted",
        "wire changes while a loop goes through it; change it after the loop",
    ),
    "a domain left out": (
        "leader=nodes)",
        ")",
        "net.py:28: part leader of Entry has no domain; write leader=... in Struct(Entry, ...)",
    ),
    "a domain too many": (
        "leader=nodes)",
        "leader=nodes, more=3)",
        "net.py:28: Entry has no part 'more'; it has term, leader",
    ),
    "no named tuple": (
        "class Entry(NamedTuple)",
        "class Entry",
        "net.py:28: Entry is no named tuple; write class Entry(NamedTuple) with a line for each "
        "part, as term: int",
    ),
    "two structs of one": (
        "last = Value(of=entry, by=nodes)",
        "last = Value(of=Struct(Entry, term=2, leader=nodes), by=nodes)",
        "there are two structs of Entry that differ; keep one, as entry = Struct(Entry, ...), or "
        "write two classes",
    ),
    "a set that is too large": (
        "votes = Set(of=nodes, by=nodes)",
        "votes = Set(of=nodes, by=nodes)\n    seen = Set(of=Struct(Message, kind=_kinds, "
        "source=nodes, target=nodes, term=9))",
        "set seen may have 144 members; at most 62 can be; use a Bag, or give the parts smaller "
        "domains",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(mistake: str, net: Path) -> None:
    right, wrong, says = MISTAKES[mistake]
    text = net.read_text()
    assert right in text
    net.write_text(text.replace(right, wrong, 1))
    with pytest.raises(BadEnvironment) as refused:
        own_problem(net)
    described = str(refused.value)

    assert re.match(r"\S*net\.py:", described)
    assert "\n" not in described
    assert says is None or says in described


def test_the_export_names_what_it_does_not_write(net: Path, cli: Commands) -> None:
    words = net.read_text().replace(
        "    log = Log(", '    more = Bag(of=("a", "b"), room=2)\n    log = Log('
    )
    net.write_text(words)
    arguments = ("export", "--model", str(net), "--to", "tla", "--out", "out")
    code, _, err = cli(*arguments, name="waterline")

    assert code == 2
    assert "field more is a Bag of words, which the export does not write" in err


def test_a_condition_names_what_it_does_not_read(net: Path, cli: Commands) -> None:
    for name, kind in (("wire", "Bag"), ("last", "Value")):
        code, _, err = cli("--model", str(net), "--where", f"s.{name} == 3")

        assert code == 2
        assert f"{name} is a {kind}, and a condition reads none" in err
