"""Values of user models in the formats of other tools: words, None, structs, sets, sequences."""

from __future__ import annotations

import json

import pytest

from tests.support.own import own_problem
from tests.support.tla_text import states_of
from waterline.checker.checking.run import run
from waterline.checker.report.pages.formats import FORMATS, Converted
from waterline.checker.search.engines.engine import EngineChoice
from waterline.counterexamples.formats import from_itf

BALLOT = '''
from typing import NamedTuple

from waterline import Action, Bag, Choice, Fields, Log, Name, Names, Protocol, Set, Struct, Value
from waterline import when


class Vote(NamedTuple):
    to: int | None
    term: int


class Ballots(Fields):
    """A state with a field of each kind, for a few nodes."""

    nodes = Names("node", 2)
    phase = Choice("idle", "voting", "done")
    leader = Name(nodes, or_none=True, by=nodes)
    last = Value(of=Struct(Vote, to=nodes, term=range(2, 4)))
    wire = Bag(of=Struct(Vote, to=nodes, term=range(2, 4)), room=2)
    seen = Set(of=Struct(Vote, to=nodes, term=range(2, 4)))
    said = Set(of=("yes", "no"))
    log = Log(of=("yes", "no"), room=2, by=nodes)


def ballots(state: type[Ballots]) -> Protocol:
    """Nodes vote."""
    return Protocol(
        state=state,
        actions=[Action(vote, term=range(2, 4), word=("no", "yes"))],
        always=[is_not_over],
    )


def vote(s: Ballots, node: int, term: int, word: str) -> None:
    """{node} votes."""
    when(s.phase == "idle")
    when(word == "yes")
    s.phase = "done"
    s.leader[node] = node
    s.last = Vote(to=node, term=term)
    s.wire.send(Vote(to=None, term=3))
    s.seen.add(Vote(to=None, term=term))
    s.seen.add(Vote(to=node, term=2))
    s.said.add("yes")
    s.said.add("no")
    s.log[node].append(word)


def is_not_over(s: Ballots) -> bool:
    """It is not over."""
    return s.phase != "done"
'''


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Converted:
    file = tmp_path_factory.mktemp("model") / "ballots.py"
    file.write_text(BALLOT)
    problem = own_problem(file)
    [finding] = run(problem, EngineChoice(name="local")).findings
    return Converted(problem=problem, finding=finding)


def some(value: object) -> dict[str, object]:
    return {"tag": "Some", "value": value}


def number(value: int) -> dict[str, str]:
    return {"#bigint": str(value)}


NONE = {"tag": "None", "value": {"#tup": []}}


def test_itf_has_them_as_quint_writes_them(found: Converted) -> None:
    text = FORMATS["itf"](found)
    first, last = json.loads(text)["states"]

    assert first["phase"] == "idle"
    assert first["leader"] == {"#map": [[number(0), NONE], [number(1), NONE]]}
    assert last["mbt::actionTaken"] == "vote"
    assert last["mbt::nondetPicks"] == {
        "node": some(number(0)),
        "term": some(number(2)),
        "word": some("yes"),
    }
    assert last["leader"] == {"#map": [[number(0), some(number(0))], [number(1), NONE]]}
    assert last["last"] == {"to": some(number(0)), "term": number(2)}
    assert last["wire"] == [{"to": NONE, "term": number(3)}]
    assert last["seen"] == {
        "#set": [{"to": NONE, "term": number(2)}, {"to": some(number(0)), "term": number(2)}]
    }
    assert last["said"] == {"#set": ["no", "yes"]}
    assert last["log"] == {"#map": [[number(0), ["yes"]], [number(1), []]]}


def test_the_choices_survive_itf_although_words_are_counted_in_them(found: Converted) -> None:
    assert from_itf(FORMATS["itf"](found)) == found.finding.replayed.trace


def test_what_tlc_would_print_has_them_too(found: Converted) -> None:
    (_, first), (led, last) = states_of(FORMATS["tlc"](found))

    assert first["leader"] == {0: None, 1: None}
    assert led.startswith('vote(0,2,"yes")')
    assert last["last"] == {"to": 0, "term": 2}
    assert last["wire"] == {1: {"to": None, "term": 3}}
    assert last["seen"] == [{"to": None, "term": 2}, {"to": 0, "term": 2}]
    assert last["said"] == {"yes", "no"}
    assert last["log"] == {0: {1: "yes"}, 1: {}}
