"""Constant tables of a file that rules index, loop over and look into; `max` and `min` of what a
comprehension goes over; words in variables.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.fuzz.interpreted import Interpreted
from tests.support.live import Both
from tests.support.tla_modules import problem_of
from tests.user_models.test_plain_equals_checked import differences
from waterline.checker.checking.run import run
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.result import Budgets
from waterline.checker.search.search import search
from waterline.model.core.errors import BadEnvironment
from waterline.state import unpack

MODELS = Path(__file__).parents[1] / "tla" / "models"
HEAD = """\
from waterline import Choice, Fields, Flag, Log, Name, Names, Number, Protocol, Queue, Set, when

NEXT = (2, 0, 1)
ROWS = ((1, 2), (0,), ())
KEYED = {1: 2, -1: 0}
HEIR = {None: 2, 0: None}
COST = {"idle": 1}
WORDS = ("idle", "busy")
POOLS = ({"idle"}, {"idle", "busy"})


class Own(tuple):
    def __getitem__(self, index):
        return 1


OWN = Own((2, 0, 1))


class State(Fields):
    nodes = Names("node", 3)
    n = Number(-3, 3)
    k = Number(0, 2)
    holder = Name(nodes, or_none=True)
    state = Choice("idle", "busy")
    votes = Set(of=nodes)
    seen = Set(of=("busy", "idle"))


def made(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[move, vote, act])


def move(s: State, node: int) -> None:
    s.n = node - 1
    s.holder = node
    s.k = node


def vote(s: State, node: int) -> None:
    s.votes = s.votes ^ {node}


def nth(s: State, i: int) -> int:
    return NEXT[i]


def act(s: State) -> None:
"""


def both_of(tmp_path: Path, act: str) -> Both:
    file = tmp_path / "made.py"
    file.write_text(HEAD + "".join(f"    {line}\n" for line in act.splitlines()))
    return Both.of(file)


@pytest.mark.parametrize("name", ["tables", "constructs"])
def test_all_three_meanings_are_one(name: str) -> None:
    """Plain Python, interpreted, compiled: in the first states, and in counts of two levels."""
    both = Both.of(MODELS / f"{name}.py")
    problem, budgets = both.problem, Budgets(max_depth=2)

    assert differences(both, 60) == []
    for state in both.reached(60):
        plain = unpack(both.plain, state)
        for invariant, claim in zip(problem.invariants, both.plain.protocol.always, strict=True):
            assert claim(plain) == bool(invariant.holds(state, problem.model.settings))
    compiled = run(problem, EngineChoice(name="local", threads=1), budgets=budgets).result
    interpreted = search(problem, Interpreted(problem), budgets=budgets)
    assert (compiled.distinct, compiled.generated) == (interpreted.distinct, interpreted.generated)


@pytest.mark.parametrize(
    "act",
    [
        "s.k = NEXT[s.n]",
        "when(s.n >= 0)\ns.k = nth(s, s.n)",
        "s.k = NEXT[s.holder]",
        "s.k = ROWS[s.k][s.n]",
        "s.k = KEYED[s.n]",
        "s.holder = KEYED[s.n]",
        "s.k = COST[s.state]\ns.state = 'busy'",
        "s.holder = HEIR[s.holder]",
        "s.n = max(NEXT[v] for v in s.votes)",
        "s.n = min((v for v in s.votes if v > 1), default=s.k - 3)",
        "total = 0\nfor each in ROWS[s.k]:\n    total += each\ns.n = total + len(ROWS[s.n])",
        "word = WORDS[s.k]\ns.seen = POOLS[s.k] | {word}\ns.n = s.state in s.seen",
        "word = 'busy' if s.k else s.state\ns.state = word\ns.seen.add(word)",
        "for k in (2, 0):\n    if k != s.k:\n        s.k = k\n        break",
        "when((s.k, s.n) in ((0, -1), (1, 0)))\na, b = ((1, 2), (2, 0))[s.k]\ns.k = b",
    ],
)
def test_an_index_that_there_is_not_raises_where_it_does_in_python(
    act: str, tmp_path: Path
) -> None:
    both = both_of(tmp_path, act)

    assert differences(both, 60) == []
    assert any("after" in dict(both.checked(state).values()) for state in both.reached(9))


@pytest.mark.parametrize(
    ("act", "says"),
    [
        ("s.k = NEXT[5]", "there is no NEXT[5]; NEXT has elements 0 to 2"),
        ("s.k = COST['done']", "there is no COST['done']; COST has the keys 'idle'"),
        ("s.k = NEXT[s.state]", "`s.state` is no place of a tuple; index it with a number"),
        ("s.k = ROWS[s.k]", "`ROWS[s.k]` may be (1, 2), which has no meaning here"),
        ("s.state = ('idle', 'gone')[s.k]", "`('idle', 'gone')[s.k]` has other words"),
        ("s.k = OWN[s.k]", "`OWN` is Own, a kind of tuple of its own"),
    ],
)
def test_what_is_no_element_is_refused(act: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadEnvironment) as refused:
        both_of(tmp_path, act)

    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("act", "says"),
    [
        ("s.k = NEXT[s.holder]", "there is no `NEXT[s.holder]` here: NEXT has elements 0 to 2"),
        ("s.k = max(v for v in s.votes)", "there is nothing to take the max of"),
    ],
)
def test_an_error_names_the_table(act: str, says: str, tmp_path: Path) -> None:
    model = both_of(tmp_path, act).problem.model
    with pytest.raises(ZeroDivisionError) as raised:
        model.apply(model.initial[0], model.action("act"), ())

    from waterline.model.core.transition_system import describe_error  # noqa: PLC0415

    assert says in describe_error(raised.value, model.narration)


SCOPES = """\
from typing import NamedTuple
from waterline import Bag, Choice, Fields, Names, Number, Protocol, Queue, Set, Struct


class Vote(NamedTuple):
    to: int
    term: int


class State(Fields):
    nodes = Names("node", 2)
    wire = Bag(of=Struct(Vote, to=nodes, term=2), room=2)
    word = Choice("a", "b", "c")
    said = Set(of=("a", "b", "c"))
    queue = Queue(of=("b", "a"), room=2)


def made(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[act], always=[claim])


def act(s: State, node: int) -> None:
    s.wire.send(Vote(node, 1))
    if s.word in s.said and s.word not in s.queue:
        s.queue.send("a")
    s.said.add(s.word)
    s.word = "c" if s.word in ("a", "b") else "b"


def claim(s: State) -> bool:
    votes = 0
    for m in s.wire:
        votes += m.to
    return votes < 2 and any(m.term > 1 for m in s.wire) or {test}
"""


@pytest.mark.parametrize(
    "test",
    [
        "all(m < 2 for m in range(s.nodes)) and sum(m for m in range(3)) == 3",
        "any(m == 'b' for m in s.queue) or all(m.to < 2 for m in s.wire)",
        "any(m == 'b' or any(m.term == 1 for m in s.wire) for m in s.said)",
    ],
)
def test_a_name_may_stand_for_something_else_in_each_comprehension(
    test: str, tmp_path: Path
) -> None:
    file = tmp_path / "scopes.py"
    file.write_text(SCOPES.replace("{test}", test))
    both = Both.of(file)

    assert differences(both, 40) == []
    for state in both.reached(40):
        plain = unpack(both.plain, state)
        holds: Any = both.problem.invariants[0].holds
        assert both.plain.protocol.always[0](plain) == holds(state, both.problem.model.settings)


def test_a_constant_is_what_it_is_in_each_file() -> None:
    text = HEAD + "    s.k = NEXT[s.k]\n"
    one = problem_of(text)
    other = problem_of(text.replace("NEXT = (2, 0, 1)", "NEXT = (1, 1, 1)"))

    ks = [
        each.model.apply(each.model.initial[0], each.model.action("act"), ()).k
        for each in (one, other)
    ]
    assert ks == [2, 1]


LARGE = """\
from waterline import Fields, Number, Protocol

STEPS = tuple((n * 7) % 400 for n in range(400))
KEYED = {n * 3: n for n in range(100)}


class State(Fields):
    n = Number(-400, 400)
    m = Number(0, 99)


def large(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[go, ask])


def go(s: State) -> None:
    s.n = STEPS[s.n - 11] - 3


def ask(s: State) -> None:
    s.m = KEYED[s.n]
"""


def test_a_large_table_is_asked_in_halves(tmp_path: Path) -> None:
    file = tmp_path / "large.py"
    file.write_text(LARGE)

    assert differences(Both.of(file), 60) == []
