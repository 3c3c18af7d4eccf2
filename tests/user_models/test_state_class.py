"""A class of fields is a state: the same model as a list of fields, typed, within any bounds."""

from __future__ import annotations

import importlib
import pickle
from pathlib import Path

import pytest

import waterline
from tests.support.commands import Commands
from tests.support.own import EXAMPLES, own_problem
from waterline.checker.user_models.loading import load_text, read_own

CLASS = '''\
"""A lock."""

from waterline import Choice, Fields, Log, Name, Names, Number, Protocol, Set, when, within


class State(Fields):
    """A lock, and so many clients."""

    clients = Names("client", 2)
    taken_max: int = 3
    is_fair: bool = False

    _words = ("idle", "working")
    state = Choice(*_words, by=clients)
    holder = Name(clients, or_none=True)
    taken = Number(0, 2 * taken_max - 1 if taken_max > 3 else taken_max)
    waiting = Set(of=clients)
    seen = Log(of=range(1, taken_max + 1), room=taken_max)


def lock(state: type[State]) -> Protocol:
    """A lock."""
    return Protocol(
        state=state,
        actions=[take, give_back],
        always=[one_works],
        fair=[take] if state.is_fair else [],
    )


def take(s: State, client: int) -> None:
    """{client} takes the lock."""
    when(s.holder is None)
    within(s.taken < s.taken_max)
    s.taken += 1
    s.holder = client
    s.state[client] = "working"
    s.waiting = {client}
    s.seen.append(s.taken)


def give_back(s: State, client: int) -> None:
    """{client} gives it back."""
    when(s.holder == client)
    s.holder = None
    s.state[client] = "idle"
    s.waiting |= {client}


def one_works(s: State) -> bool:
    """At most one works."""
    return sum(s.state[client] == "working" for client in s.clients) <= 1
'''
LIST = (
    CLASS[: CLASS.index("class State")]
    + """\
def lock(clients: int = 2, taken_max: int = 3, is_fair: bool = False) -> Protocol:
    client = Names("client", clients)
    top = 2 * taken_max - 1 if taken_max > 3 else taken_max
    return Protocol(
        fields=[
            Choice("state", "idle", "working", by=client),
            Name("holder", client, or_none=True),
            Number("taken", 0, top),
            Set("waiting", of=client),
            Log("seen", of=range(1, taken_max + 1), room=taken_max),
        ],
        actions=[take, give_back],
        always=[one_works],
        fair=[take] if is_fair else [],
    )


"""
    + CLASS[CLASS.index("def take") :].replace(": State", "").replace(": int", "")
)


@pytest.mark.parametrize("bounds", [{}, {"clients": 3, "taken_max": 4, "is_fair": True}])
def test_a_class_is_the_same_model_as_a_list(bounds: dict[str, int], tmp_path: Path) -> None:
    models = []
    for name, text in (("one.py", CLASS), ("other.py", LIST)):
        (tmp_path / name).write_text(text)
        models.append(own_problem(tmp_path / name, **bounds).model)
    one, other = models

    assert one.layout == other.layout
    assert one.limits == other.limits
    assert {**one.options, "sha256": 0} == {**other.options, "sha256": 0}
    assert list(one.options) == list(other.options)
    assert one.initial[0].words == other.initial[0].words
    assert [action.weakly_fair for action in one.actions] == [
        action.weakly_fair for action in other.actions
    ]


def test_each_model_has_the_bounds_that_were_asked_for(tmp_path: Path) -> None:
    (tmp_path / "lock.py").write_text(CLASS)
    lock = load_text(*read_own(tmp_path / "lock.py")).names["lock"]
    wide = waterline.instance(lock, clients=4, taken_max=5)
    narrow = waterline.initial(lock)
    state = waterline.step(waterline.initial(wide), wide.actions[0].function, client=3)

    assert list(narrow.clients) == [0, 1]
    assert (state.clients, state.taken_max, state.is_fair) == (4, 5, False)
    assert state.holder == 3
    assert wide.protocol.fields[2].range == (0, 9)
    with pytest.raises(waterline.BadProtocol, match="has no bound 'client'; did you mean clients"):
        waterline.instance(lock, client=4)


def test_a_state_of_a_class_is_pickled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLES)
    raft = importlib.import_module("raft").raft
    state = waterline.initial(waterline.instance(raft, servers=2))

    assert pickle.loads(pickle.dumps(state)) == state
    assert waterline.copy(state).servers == 2


MISTAKES = {
    "no field": (
        "    taken = Number(0",
        "    other = 'text'\n    taken = Number(0",
        "lock.py:16: other is no field, no sort of Names and no bound; write other = Number(0, 3), "
        "or _other for a value that only the class uses",
    ),
    "two fields": (
        "    taken = Number(0",
        "    holder = Number(0, 3)\n    taken = Number(0",
        "lock.py:16: there are two of the name holder; give each a name of its own",
    ),
    "a field and a bound": (
        "    taken = Number(0",
        "    taken_max = Number(0, 3)\n    taken = Number(0",
        "lock.py:16: there are two of the name taken_max; give each a name of its own",
    ),
    "named as what a state has": (
        "    taken = Number(0",
        "    freeze = Number(0, 3)\n    taken = Number(0",
        "lock.py:16: freeze is what a state has already; call it otherwise, as freeze_",
    ),
    "a function": (
        "    taken = Number(0",
        "    def more(s): return s\n\n    taken = Number(0",
        "lock.py:16: more is a function within the class; write rules at the top level of the file",
    ),
    "a kind": (
        "    taken = Number(0",
        "    more = Number\n    taken = Number(0",
        "lock.py:16: more is a kind of field; write more = Number(...)",
    ),
    "no value": (
        "    taken = Number(0",
        "    more: int\n    taken = Number(0",
        "lock.py:6: more has no value; write more: int = 3, or more = Flag()",
    ),
    "a name given": (
        "    holder = Name(clients",
        '    holder = Name("holder", clients',
        "lock.py:15: field holder is given a name, 'holder'; in a class its name is holder: leave "
        "it out of the brackets",
    ),
    "a choice's name given": (
        "    state = Choice(",
        '    state = Choice("state", ',
        "lock.py:14: field state has its own name among its words; in a class leave the name out, "
        "or call the field otherwise",
    ),
    "a word twice": (
        '_words = ("idle", "working")',
        '_words = ("idle", "working", "idle")',
        "lock.py:14: field state has a choice twice; give each once",
    ),
    "an empty domain": (
        "    waiting = Set(of=clients)",
        "    waiting = Set(of=range(1, 3))",
        "lock.py:17: set waiting has members from 1 on; begin with 0, as range(3)",
    ),
    "a sort called by one": (
        'clients = Names("client", 2)',
        'client = Names("client", 2)',
        "lock.py:9: client is what one of them is called; call the sort by its plural, as clients "
        "= Names('client', 2)",
    ),
    "other arguments": (
        "    waiting = Set(of=clients)",
        "    waiting = Set()",
        "lock.py:17: this Set has other arguments; Set takes what its members are of, as votes = "
        "Set(of=nodes); in a list of fields a name comes first",
    ),
    "made of another": (
        "def lock(",
        "class More(State):\n    more = Number(0, 3)\n\n\ndef lock(",
        "lock.py:21: More is made of another class of fields; write all of them in one, as class "
        "More(Fields)",
    ),
    "no fields": (
        "def lock(",
        "class More(Fields):\n    more: int = 3\n\n\ndef lock(",
        "lock.py:21: More has no fields; a state is made of at least one",
    ),
    "no class taken": (
        "def lock(state: type[State])",
        "state = State\n\n\ndef lock()",
        "lock.py: lock has to be given State within its bounds; write def lock(state: type[State]) "
        "and Protocol(state=state, ...)",
    ),
    "another class declared": (
        "state=state",
        "state=State",
        None,
    ),
    "bounds beside": (
        "def lock(state: type[State])",
        "def lock(state: type[State], more: int = 3)",
        "lock.py: lock takes more beside State; the bounds stand in the class: write more: int = 3 "
        "there",
    ),
    "fields beside": (
        "state=state",
        'state=state, fields=[Number("x", 0, 3)]',
        "lock.py:23: there are fields beside the class State; leave them out",
    ),
    "an instance": (
        "state=state",
        "state=State()",
        None,
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(mistake: str, tmp_path: Path, cli: Commands) -> None:
    right, wrong, says = MISTAKES[mistake]
    assert right in CLASS
    Path("lock.py").write_text(CLASS.replace(right, wrong, 1))
    code, out, err = cli("--model", "lock.py", "--engine", "local", "--set", "clients=3")

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says is None or err == f"error: {says}\n"


@pytest.mark.parametrize(
    ("state", "says"),
    [
        (
            "class State:\n    n = 1",
            "m.py:7: m takes State, which is no class of fields; write class State(Fields):",
        ),
        (
            "class State(Fields):\n    views = Epochs('view', 2)\n    n = Number(0, views)",
            "m.py:5: field n goes up to views, which are Epochs; write Epoch(views), or a number: "
            "views.highest",
        ),
    ],
)
def test_what_is_no_class_of_fields_or_no_number_is_named(
    state: str, says: str, cli: Commands
) -> None:
    Path("m.py").write_text(
        f"from waterline import *\n\n{state}\n\n"
        + "\n" * (7 - 5 - state.count("\n"))
        + "def m(state: type[State]) -> Protocol:\n"
        "    return Protocol(state=state, actions=[go])\ndef go(s):\n    s.n = 1\n"
    )
    code, out, err = cli("--model", "m.py", "--engine", "local")

    assert (code, out, err) == (2, "", f"error: {says}\n")
