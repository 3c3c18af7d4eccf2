"""Sets, queues, logs and tables of three indices mean what Python's sets and lists do.

Each model is explored twice: by the checker, compiled, and by Python on the file as it stands.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import waterline
from tests.support.own import own_problem
from tests.support.plain_python import CutHere, asking, decoded, explored
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.checker.user_models.loading import load_text, read_own
from waterline.checker.user_models.vetting import exchange
from waterline.model.core.state import State
from waterline.model.own.state_class import call_within

HEAD = """\
from waterline import Action, Choice, Flag, Log, Name, Names, Number, Protocol, Queue, Set
from waterline import when, within

"""
CHANNELS = """
def channels(nodes: int = 2, room: int = 2) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Queue("wire", of=("ask", "yes", "no"), room=room, by=(node, node)),
            Queue("post", of=node, room=1),
            Set("told", of=node, by=node),
            Choice("last", "ask", "yes", "no", by=node),
            Number("count", 0, 1, by=(node, 2, 3)),
        ],
        actions=[
            Action(ask, source=node, target=node),
            Action(answer, source=node, target=node, word=("yes", "no")),
            Action(take, source=node, target=node),
            Action(shout, source=node),
            collect,
        ],
        always=[few],
    )


def ask(s, source, target):
    when(source != target and target not in s.told[source])
    s.told[source] |= {target}
    s.wire[source, target].send("ask")


def answer(s, source, target, word):
    when(s.wire[source, target] and s.wire[source, target][0] == "ask")
    s.wire[source, target].receive()
    reply(s, target, source, word)


def reply(s, source, target, word):
    if word == "yes" or len(s.wire[source, target]) == 0:
        s.wire[source, target].send(word)


def take(s, source, target):
    when(len(s.wire[source, target]) > 0)
    when(s.wire[source, target][-1] != "ask")
    word = s.wire[source, target].receive()
    s.last[target] = word
    s.told[target] -= {source}
    within(True or s.nodes)


def shout(s, source):
    when(source == 0)
    for other in s.nodes:
        if other not in s.told[source]:
            s.post.send(other)
            s.told[source].add(other)
    s.count[source, 1, 2] = len(s.told[source]) % 2


def collect(s, node):
    when(s.post and s.post[0] == node and "yes" not in s.wire[node, node])
    s.post.receive()
    s.told[node].clear()
    s.last[node] = "ask"


def few(s):
    return sum(len(s.told[node]) for node in s.nodes) < 3
""".replace("    within(True or s.nodes)\n", "")
LOGS = """
def logs(servers: int = 2, entries: int = 3) -> Protocol:
    server = Names("server", servers)
    return Protocol(
        fields=[
            Log("log", of=range(1, 3), room=entries, by=server),
            Log("copy", of=range(1, 3), room=entries),
            Set("have", of=entries + 1),
            Number("cut", 0, entries),
        ],
        actions=[
            Action(append, term=range(1, 3)),
            Action(truncate, kept=3),
            Action(replicate, source=server, target=server),
            Action(keep, end=4),
            Action(change, place=3),
            restore,
        ],
        always=[prefix, sorted_log],
    )


def append(s, server, term):
    when(not s.log[server] or s.log[server][-1] <= term)
    s.log[server].append(term)
    s.have = s.have | {len(s.log[server])}


def truncate(s, server, kept):
    when(kept < len(s.log[server]))
    s.log[server].truncate(kept)
    s.have = {n for n in range(4) if n <= kept} & s.have


def replicate(s, source, target):
    when(source != target and s.log[source] != s.log[target])
    length = len(s.log[target])
    if s.log[source][:length] == s.log[target]:
        s.log[target].append(s.log[source][length])
    else:
        same = 0
        for index in range(min(length, len(s.log[source]))):
            if s.log[source][: index + 1] == s.log[target][: index + 1]:
                same = index + 1
        s.cut = max(s.cut, same)
        s.log[target].truncate(same)


def keep(s, server, end):
    when(end <= len(s.log[server]) and s.copy != s.log[server][:end])
    s.copy = s.log[server][:end]


def change(s, server, place):
    when(place < len(s.log[server]) and s.log[server][place] == 1)
    when(2 not in s.log[server])
    s.log[server][place] = 2


def restore(s, server):
    when(s.have >= {1} and len(s.copy) > 1)
    s.log[server] = s.copy
    s.have = set()
    s.copy.clear()


def prefix(s):
    return all(s.log[server][:1] == s.copy[:1] for server in s.servers)


def sorted_log(s):
    return all(
        s.log[server][i] <= s.log[server][i + 1] for server in s.servers
        for i in range(len(s.log[server]) - 1)
    )
"""
SETS = """
def sets(nodes: int = 3, top: int = 2) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Set("one", of=node),
            Set("two", of=node, by=2),
            Set("spelt", of=("a", "b", "c")),
            Name("least", node, or_none=True),
            Number("sum", 0, 2),
            Flag("mark", by=(node, 2, 2)),
        ],
        actions=[insert, Action(unite, which=2), Action(differ, which=2), pick, spell, fill, flip],
        always=[in_one, disjoint, whole],
    )


def insert(s, node):
    when(node not in s.one and len(s.one) < s.top)
    s.one = s.one | {node}


def unite(s, which):
    when(not s.one <= s.two[which])
    s.two[which] |= s.one
    s.least = None
    for member in s.two[which]:
        if s.least is None:
            s.least = member


def differ(s, which):
    when(s.one & s.two[which])
    s.two[which] -= s.one
    s.one = s.one ^ s.two[1 - which]
    s.sum = min(2, sum(member for member in s.one) + sum(2 for member in s.two[0] if member > 0))


def pick(s, node):
    when(s.least in s.one and s.one > {node})
    s.one.discard(node)
    s.least = node if node in s.two[0] else None


def spell(s):
    when("b" not in s.spelt)
    s.spelt |= {"b"} if "a" in s.spelt else {"a"}
    if s.spelt == {"a", "b"}:
        s.spelt.add("c")


def fill(s):
    when(s.one < set(s.nodes))
    missing = set(s.nodes) - s.one
    most = largest(s, missing)
    within(s.sum < s.top + 9)
    s.one.add(most)


def largest(s, members):
    found = 0
    for member in members:
        found = member
    return found


def flip(s, node):
    when(node in s.two[1] and not s.mark[node, 1, 0])
    s.mark[node, 1, 0] = True
    s.mark[node, 0, 1] = s.mark[1 - node, 1, 0]


def in_one(s):
    return all(member < 1 or len(s.one) == 2 for member in s.one if member not in s.two[0])


def disjoint(s):
    return not (s.two[0] & s.two[1]) or s.one == s.two[0]


def whole(s):
    return s.spelt != {word_of(s)} if False else s.one != set(s.nodes) or s.least != 1
""".replace("s.spelt != {word_of(s)} if False else ", "")
FILES = {"channels": CHANNELS, "logs": LOGS, "sets": SETS}
BOUNDS: dict[str, dict[str, int]] = {
    "channels": {"nodes": 2, "room": 2},
    "logs": {"servers": 2, "entries": 2},
    "sets": {"nodes": 2, "top": 1},
}


def staying_below(condition: object) -> None:
    """`within`, whose bound is `top` in these files."""
    if not condition:
        raise CutHere("top")


def test_a_model_reaches_the_states_that_python_reaches(tmp_path: Path) -> None:
    path = tmp_path / "channels.py"
    path.write_text(HEAD + CHANNELS)
    require_python_agrees(path, "channels", {"nodes": 2, "room": 1})


def require_python_agrees(path: Path, name: str, bounds: dict[str, int]) -> None:
    """States, steps, cuts and claims are those of the same file run as plain Python."""
    problem = own_problem(path, **bounds)
    own = load_text(*read_own(path))
    names: dict[str, Any] = dict(own.names)
    protocol = call_within(names[name], bounds)
    for function in names.values():
        if hasattr(function, "__globals__") and function.__module__ == names[name].__module__:
            function.__globals__["when"] = asking
            function.__globals__["within"] = staying_below
    sizes = problem.model.layout.sizes
    expected, cut = explored(protocol, sizes)
    interpreted = dict.fromkeys(problem.model.initial)
    waiting: list[State] = list(interpreted)
    generated = len(waiting)
    while waiting:
        for step in problem.model.successors(waiting.pop()):
            generated += 1
            if step.after not in interpreted:
                interpreted[step.after] = None
                waiting.append(step.after)
    with closing(MemoryEngine(problem, threads=1)) as engine:
        result = search(problem, engine)
    found = {decoded(protocol.fields, state): state for state in interpreted}

    assert result.complete
    assert found.keys() == expected.keys()
    assert result.distinct == len(expected) > 100
    assert result.generated == generated
    assert {limit: count for limit, count in result.cut.items() if count} == dict(cut)
    for claim in problem.invariants:
        truths = {key: bool(names[claim.name](state)) for key, state in expected.items()}

        assert {key: bool(claim.holds(found[key], ())) for key in found} == truths
        assert len(set(truths.values())) == 2, claim.name


FAIR = """
def post(rooms: int = 1, goes_on: bool = True) -> Protocol:
    node = Names("node", 2)
    return Protocol(
        fields=[
            Queue("wire", of=2, room=rooms, by=node),
            Log("log", of=2, room=2, by=node),
        ],
        actions=[Action(put, value=2), take],
        fair=[take] if goes_on else [],
        leads_to=[(waits, is_taken)],
        recoverable=[drained] if goes_on else [],
    )


def put(s, node, value):
    s.wire[node].send(value)


def take(s, node):
    when(s.wire[node])
    value = s.wire[node].receive()
    s.log[node].append(value)


def waits(s, node):
    return len(s.wire[node]) > 0 and len(s.log[node]) == 0


def is_taken(s, node):
    return len(s.log[node]) > 0


def drained(s):
    return all(len(s.wire[node]) == 0 for node in s.nodes)
"""


@pytest.mark.parametrize("goes_on", [True, False])
def test_fairness_asks_whether_a_queue_is_full(goes_on: bool, tmp_path: Path) -> None:
    """A step that a full log cuts is no step that must be taken in the end."""
    path = tmp_path / "post.py"
    path.write_text(HEAD + FAIR)
    post = load_text(*read_own(path)).names["post"]
    result = waterline.check(waterline.instance(post, goes_on=goes_on))
    verdicts = set(result.verdicts.values())

    assert verdicts == ({"holds"} if goes_on else {"violated"})
    assert result.cut["log"] > 0
    assert result.distinct == 441


MAIL = """
def mail(nodes: int = 3, room: int = 2) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[Queue("inbox", of=node, room=room, by=node), Set("met", of=node, by=node)],
        actions=[Action(write, source=node, target=node), read],
        always=[knows_itself],
    )


def write(s, source, target):
    when(source != target and source not in s.met[target] and source not in s.inbox[target])
    s.inbox[target].send(source)


def read(s, node):
    when(s.inbox[node])
    s.met[node].add(s.inbox[node].receive())


def knows_itself(s):
    return all(node not in s.met[node] for node in s.nodes)
"""


def test_symmetry_renames_what_queues_and_sets_hold(tmp_path: Path) -> None:
    path = tmp_path / "mail.py"
    path.write_text(HEAD + MAIL)
    problem, renaming = own_problem(path), own_problem(path, "node")
    (sort,) = renaming.symmetry.sorts
    orbits, states = set(), set(problem.model.initial)
    waiting = list(states)
    while waiting:
        others = [waiting.pop()]
        for step in problem.model.successors(others[0]):
            if step.after not in states:
                states.add(step.after)
                waiting.append(step.after)
        for one in (0, 1, 0, 1, 0):
            others.append(exchange(others[-1], sort, one))
        orbits.add(min(other.words for other in others))
    with closing(MemoryEngine(renaming, threads=1)) as engine:
        result = search(renaming, engine)

    assert result.complete
    assert result.distinct == len(orbits) < len(states)


WORDS = """
def words(nodes: int = 1) -> Protocol:
    node = Names("node", nodes)
    return Protocol(
        fields=[
            Choice("last", "no", "yes", by=node),
            Queue("wire", of=("yes", "no"), room=1, by=node),
        ],
        actions=[act],
        always=[same],
    )


def act(s, node):
    when(not s.wire[node])
    note(s, node, "yes")


def note(s, node, word):
    s.last[node] = word
    s.wire[node].send(word)


def same(s):
    return not s.wire[0] or (s.wire[0][0] == "yes" and s.last[0] == "yes")
"""


def test_a_word_that_a_function_is_given_is_that_word_wherever_it_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "words.py"
    path.write_text(HEAD + WORDS)
    result = waterline.check(load_text(*read_own(path)).names["words"])

    assert result.holds
    assert result.distinct == 2
