"""A kind of field that only this test has: what a kind brings is all that rules need of it."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

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
from waterline.model.own.fields import Names
from waterline.model.own.layout import field_of

FILE = """\
from tests.support.tally import Tally
from waterline import Action, Fields, Names, Number, Protocol, when


class State(Fields):
    nodes = Names("node", 2)
    seen = Tally(of=3, most=2, by=nodes)
    turns = Tally(of=2, most=1)
    last = Number(0, 6)


def counting(state: type[State]) -> Protocol:
    return Protocol(
        state=state,
        actions=[Action(hear, what=range(3)), Action(forget, what=range(3)), rest, turn],
        always=[few],
    )


def hear(s, node, what):
    s.seen[node].add(what)
    s.last = len(s.seen[node])


def forget(s, node, what):
    when(what in s.seen[node] and s.seen[node].count(what) == 2)
    s.seen[node].remove(what)


def rest(s, node):
    when(len(s.seen[node]) == 4)
    s.seen[node].clear()


def turn(s):
    s.turns.add(0)


def few(s):
    return all(s.seen[n].count(0) < 3 and 7 not in s.seen[n] for n in s.nodes)
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
        ("s.seen[node].clear()", "for n in s.seen[node]: s.last = n", "a Tally, and no row"),
        ("s.seen[node].clear()", "s.last = s.seen[node][0]", "a Tally, and no row"),
        ("s.seen[node].clear()", "s.seen[node][0] = 1", "a Tally, and no row"),
        ("s.seen[node].clear()", "s.seen[node][0] += 1", "a Tally, and no row"),
        ("s.seen[node].clear()", "s.seen[0] = s.seen[1]", "a Tally, and no row"),
        ("when(len(s.seen[node]) == 4)", "when(s.seen[0] == s.seen[1])", "a Tally, and no row"),
        ("when(len(s.seen[node]) == 4)", "when(s.seen[node])", "a Tally, and no row"),
        ("s.seen[node].clear()", "s.seen[node].append(1)", r"write s.seen\[node\].add\(...\)"),
        ("s.seen[node].clear()", "s.seen[node].sort()", "a Tally, which has no sort"),
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

    assert r"seen \in [Node -> [0..2 -> 0..2]]" in module.text
    assert r"/\ seen[node][what] < 2" in module.text


def test_other_formats_have_its_data(file: Path) -> None:
    file.write_text(FILE.replace("count(0) < 3", "count(0) < 1"))
    (finding,) = run(own_problem(file), EngineChoice(name="local", threads=1)).findings
    recording = record_trace(finding.model, finding.replayed.trace, finding.replayed.states)
    last = json.loads(to_itf(recording))["states"][-1]

    assert last["seen"]["#map"][0] == [
        {"#bigint": "0"},
        {
            "#map": [
                [{"#bigint": str(n)}, {"#bigint": str(count)}] for n, count in enumerate((1, 0, 0))
            ]
        },
    ]
    assert "seen = (0 :> (0 :> 1 @@ 1 :> 0 @@ 2 :> 0) @@ 1 :>" in to_tlc(recording)
