"""A kind of field that only this test has: what a kind brings is all that rules need of it."""

from __future__ import annotations

import importlib
import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Commands
from tests.support.live import Both
from tests.support.own import own_problem
from tests.support.tally import Tally
from tests.user_models.test_plain_equals_checked import differences
from waterline.checker.checking.run import run
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.search import search
from waterline.checker.tla.kafka.module import export
from waterline.checker.traces.recording import record_trace
from waterline.checker.user_models.family import own_family
from waterline.counterexamples.formats import to_itf, to_tlc
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import as_json
from waterline.model.own.fields import Names
from waterline.model.own.layout import field_of
from waterline.models import instance
from waterline.testing import read_corpus

FILE = """\
from tests.support.tally import Tally
from waterline import Action, Fields, Names, Number, Protocol, when


class State(Fields):
    nodes = Names("node", 2)
    seen = Tally(of=range(1, 4), most=2, by=(nodes, 2))
    said = Tally(of=("yes", "no"), most=2, by=nodes)
    turns = Tally(of=2, most=1)
    last = Number(0, 6)


def counting(state: type[State]) -> Protocol:
    return Protocol(
        state=state,
        actions=[Action(hear, what=range(1, 4)), Action(forget, what=range(1, 4)), rest, turn],
        always=[few],
    )


def hear(s, node, what):
    s.seen[node, 1].add(what)
    s.last = len(s.seen[node, 1])


def forget(s, node, what):
    when(what in s.seen[node, 1] and s.seen[node, 1].count(what) == 2)
    s.seen[node, 1].remove(what)


def rest(s, node):
    when(len(s.seen[node, 1]) == 4 and "no" not in s.said[node])
    s.said[node].add("no")
    s.seen[node, 1].clear()


def turn(s):
    s.turns.add(0)


def few(s):
    return all(s.seen[n, 1].count(1) < 3 and 7 not in s.seen[n, 1] for n in s.nodes)
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "counting.py"
    path.write_text(FILE)
    return path


def test_it_is_checked_as_it_runs(file: Path) -> None:
    problem = own_problem(file)
    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine)

    assert result.complete
    assert result.distinct > 100
    assert result.cut["seen"] > 0
    assert result.cut["turns"] > 0
    assert differences(Both.of(file), 300) == []


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("s.seen[node, 1].clear()", "for n in s.seen[node, 1]: s.last = n", "a Tally, and no row"),
        ("s.seen[node, 1].clear()", "s.last = s.seen[node, 1][0]", "a Tally, and no row"),
        ("s.seen[node, 1].clear()", "s.seen[node, 1][0] = 1", "a Tally, and no row"),
        ("s.seen[node, 1].clear()", "s.seen[node, 1][0] += 1", "a Tally, and no row"),
        ("s.seen[node, 1].clear()", "s.seen[0, 0] = s.seen[1, 0]", "a Tally, and no row"),
        (
            'when(len(s.seen[node, 1]) == 4 and "no" not in s.said[node])',
            "when(s.seen[0, 0] == s.seen[1, 0])",
            "a Tally, and no row",
        ),
        (
            'when(len(s.seen[node, 1]) == 4 and "no" not in s.said[node])',
            "when(s.seen[node, 1])",
            "a Tally, and no row",
        ),
        (
            "s.seen[node, 1].clear()",
            "s.seen[node, 1].append(1)",
            r"write s.seen\[node, 1\].add\(...\)",
        ),
        ("s.seen[node, 1].clear()", "s.seen[node, 1].sort()", "a Tally, which has no sort"),
    ],
)
def test_what_only_a_row_of_values_has_is_refused(
    file: Path, old: str, new: str, complaint: str
) -> None:
    file.write_text(FILE.replace(old, new))

    with pytest.raises(BadEnvironment, match=complaint):
        own_problem(file)


def test_a_renaming_moves_places_and_leaves_counts_alone() -> None:
    nodes = Names("node", 3)
    naming = field_of(Tally("seen", of=nodes, most=2, by=nodes)).naming

    assert naming is not None
    assert (naming.rows, naming.columns, naming.of) == (nodes.sort, nodes.sort, None)


def test_without_bounds_values_are_not_numbered_anew_in_it(file: Path) -> None:
    of_tickets = FILE.replace("Number, Protocol", "Number, Opaque, Protocol").replace(
        "turns = Tally(of=2, most=1)",
        "tickets = Opaque('ticket', 2)\n    turns = Tally(of=tickets, most=1)",
    )

    with pytest.raises(BadEnvironment, match="tally turns has tickets, which are numbered anew"):
        own_family(of_tickets, "m.py").problem("counting", {"unbounded": True})


def test_it_is_exported_as_the_numbers_in_its_places(file: Path) -> None:
    module = export(own_problem(file))

    assert r"said \in [Node -> [0..1 -> 0..2]]" in module.text
    assert r"/\ said' = [said EXCEPT ![node][1] = said[node][1] + 1]" in module.text


def test_other_formats_have_its_data(file: Path) -> None:
    file.write_text(FILE.replace("count(1) < 3", 'count(1) < 3 and "no" not in s.said[n]'))
    problem = own_problem(file)
    (finding,) = run(problem, EngineChoice(name="local", threads=1)).findings
    recording = record_trace(finding.model, finding.replayed.trace, finding.replayed.states)
    [first, _] = json.loads(to_itf(recording))["states"][-1]["said"]["#map"]
    said = as_json(recording.states[-1]["said"])

    counts = [["yes", {"#bigint": "0"}], ["no", {"#bigint": "1"}]]
    assert first == [{"#bigint": "0"}, {"#map": counts}]
    assert 'said = (0 :> ("yes" :> 0 @@ "no" :> 1) @@ 1 :>' in to_tlc(recording)
    assert said == [{"yes": 0, "no": 1}, {"yes": 0, "no": 0}]


SAYING = """\
from tests.support.tally import Tally
from waterline import Action, Fields, Names, Protocol


class State(Fields):
    nodes = Names("node", 2)
    said = Tally(of=("yes", "no"), most=1, by=nodes)


def saying(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[Action(say, word=("yes", "no"))])


def say(s, node, word):
    s.said[node].add(word)
"""


class Saying:
    def __init__(self) -> None:
        self.said = ([0, 0], [0, 0])

    def say(self, node: int, word: str) -> None:
        self.said[node][word == "no"] += 1

    def observe(self) -> dict[str, Any]:
        return {"said": tuple(map(tuple, self.said))}


def test_a_corpus_of_it_is_read_and_replayed(
    tmp_path: Path, cli: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, corpus = tmp_path / "saying.py", tmp_path / "saying.jsonl"
    file.write_text(SAYING)
    code, _, _ = cli("paths", "--model", str(file), "--output", str(corpus), name="waterline")
    monkeypatch.syspath_prepend(str(tmp_path))
    paths = read_corpus(instance(importlib.import_module("saying").saying), corpus)

    assert code == 0
    assert sum(map(len, paths)) >= 32  # 16 states; in each two of four steps, on average
    for path in paths:
        path.replay(Saying)


@pytest.mark.parametrize(
    ("step", "complaint"),
    [
        ("s.seen[node, 1].remove(3)", "s.seen[node0, 1] cannot count -1: it counts from 0 to 2"),
        ("s.seen[node, what + 1].add(1)", "there is no such element of s.seen; ask first how"),
        ("s.said[node + what].add('no')", "there is no s.said[2]: the index goes from node0"),
    ],
)
def test_an_error_names_the_element_as_it_is_written(
    file: Path, step: str, complaint: str, cli: Commands
) -> None:
    file.write_text(FILE.replace("s.seen[node, 1].add(what)", step))
    code, _, err = cli("--model", str(file), "--engine", "local")

    assert code == 76
    assert complaint in err
