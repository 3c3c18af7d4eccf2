"""What a newcomer declares wrongly is told with what to write instead."""

from __future__ import annotations

import pytest

from tests.support.commands import Commands
from tests.user_models.test_mistakes import RIGHT, written
from waterline.checker.user_models.loading import describe_declaration_error
from waterline.model import own
from waterline.model.own.fields import DeclaredField

MISTAKES = {
    "number of three": (
        'Number("taken", 0, 3)',
        'Number("taken", 3)',
        "lock.py:10: this Number has other arguments; Number takes the least and the "
        "greatest number, as term = Number(0, terms); in a list of fields a name comes first",
    ),
    "number with floats": (
        'Number("taken", 0, 3)',
        'Number("taken", 0, 3.5)',
        "lock.py:10: field taken goes up to 3.5; give a whole number from -2**62 to 2**62",
    ),
    "choice of a list": (
        'Choice("state", "idle", "working", by=client)',
        'Choice("state", ["idle", "working"], by=client)',
        "lock.py:8: field state has no choices; name them, as Choice('idle', 'busy')",
    ),
    "name of a count": (
        'Name("holder", client, or_none=True)',
        'Name("holder", clients, or_none=True)',
        "lock.py:9: field holder holds names of 2; give a sort of Names",
    ),
    "names by text": (
        "by=client)",
        'by="client")',
        "lock.py:8: field state is indexed by 'client'; use a sort of Names, or a number from 1",
    ),
    "by three": (
        "by=client)",
        "by=(client, client, client))",
        "lock.py:23:5: state has an element for each client and each client and each client"
        "; write s.state[client1, client2]",
    ),
    "field text": (
        'Number("taken", 0, 3)',
        '"taken"',
        "lock.py:6: 'taken' is no field; use Flag, Number, Choice or Name",
    ),
    "fields dict": (
        "fields=[",
        "fields={}, more=[",
        "lock.py:6: a Protocol has no 'more'; it has state, fields, actions, initial, "
        "always, every_step, sometimes, lemmas, fair, strongly_fair, recoverable, eventually, "
        "always_eventually, leads_to",
    ),
    "unknown claim kind": (
        "always=[one_works]",
        "invariants=[one_works]",
        "lock.py:6: a Protocol has no 'invariants'; it has state, fields, actions, initial, "
        "always, every_step, sometimes, lemmas, fair, strongly_fair, recoverable, eventually, "
        "always_eventually, leads_to",
    ),
    "always one function": (
        "always=[one_works]",
        "always=one_works",
        "lock.py:6: always is no list; write always=[one_works]",
    ),
    "actions called": (
        "actions=[take, give_back]",
        "actions=[take(), give_back]",
        "lock.py:12: take is called here; name it without brackets: take",
    ),
    "claims called": (
        "always=[one_works]",
        "always=[one_works()]",
        "lock.py:13: one_works is called here; name it without brackets: one_works",
    ),
    "claim in quotes": (
        "always=[one_works]",
        'always=["one_works"]',
        "lock.py:6: 'one_works' is text, and no function; write one_works, without quotes",
    ),
    "actions one": (
        "actions=[take, give_back]",
        "actions=take",
        "lock.py:6: actions is no list; write actions=[take]",
    ),
    "action twice": (
        "actions=[take, give_back]",
        "actions=[take, take]",
        "lock.py:6: there are two actions called 'take'; give each a name of its own",
    ),
    "leads_to one function": (
        "always=[one_works]",
        "leads_to=[one_works]",
        "lock.py:6: leads_to has one_works; give pairs of functions, as (waits, is_served)",
    ),
    "leads_to a flat pair": (
        "always=[one_works]",
        "leads_to=(one_works, works)",
        "lock.py:6: leads_to has one_works; give pairs of functions, as (waits, is_served)",
    ),
    "fair no action": (
        "always=[one_works]",
        "fair=[works]",
        "lock.py:6: fair has works, which is none of the actions; those are take, give_back",
    ),
    "hidden field": (
        'Number("taken", 0, 3)',
        'Number("taken", 0, 3, hidden=True)',
        "lock.py:10: this Number has no 'hidden': that would take states that differ for one, and "
        "never see what follows only from the others; write ghost=True for a field that only "
        "claims read, and make bounds smaller for fewer states",
    ),
    "view": (
        "always=[one_works]",
        "view=one_works",
        "lock.py:6: a Protocol has no 'view': that would take states that differ for one, and "
        "never see what follows only from the others; write ghost=True for a field that only "
        "claims read, and make bounds smaller for fewer states",
    ),
    "strongly fair no action": (
        "always=[one_works]",
        "strongly_fair=[works]",
        "lock.py:6: strongly_fair has works, which is none of the actions; those are take, "
        "give_back",
    ),
    "fair twice": (
        "always=[one_works]",
        "fair=[take, give_back], strongly_fair=[take]",
        "lock.py:6: take is in fair and in strongly_fair; leave it in strongly_fair alone, which "
        "demands all that fair does",
    ),
    "strongly fair no list": (
        "always=[one_works]",
        "strongly_fair=take",
        "lock.py:6: strongly_fair is no list; write strongly_fair=[take]",
    ),
    "initial list": (
        "always=[one_works]",
        "initial=[take]",
        "lock.py:6: initial is a list; name one function, as initial=start",
    ),
    "no return": (
        "    return Protocol(",
        "    Protocol(",
        "lock.py: lock returns no Protocol but None",
    ),
    "flag": (
        'Number("taken", 0, 3)',
        'Flag("taken", False)',
        "lock.py:10: this Flag has other arguments; Flag takes nothing but by=, as "
        "sent = Flag(by=nodes); it is False at first; in a list of fields a name comes first",
    ),
    "field name with space": (
        '"taken", 0',
        '"taken now", 0',
        "lock.py:10: a field is called 'taken now'; use letters, digits and _ alone",
    ),
    "field keyword": (
        '"taken", 0',
        '"class", 0',
        "lock.py:10: a field is called 'class', a word of Python's; call it otherwise",
    ),
    "field called words": (
        '"taken", 0',
        '"words", 0',
        "lock.py: words is what a state has of its own; call it otherwise",
    ),
    "names list": (
        'Names("client", clients)',
        'Names("client", ["a", "b"])',
        "lock.py:5: clients are ['a', 'b']; there must be one or more: say how many, as N"
        "ames('client', 2)",
    ),
    "names one arg": (
        'Names("client", clients)',
        "Names(clients)",
        "lock.py:5: this Names has other arguments; Names takes what one is called and how"
        " many there are, as nodes = Names('node', 3)",
    ),
    "bound text": (
        "clients: int = 2",
        'clients: str = "two"',
        "lock.py: bound clients of lock has no number and no truth as its default; write "
        "clients: int = 3, or state: type[State] for a class of fields",
    ),
    "not imported": (
        "import Action, Choice, Flag,",
        "import Action, Flag,",
        "lock.py:8: Choice is not imported; write from waterline import Choice",
    ),
    "import typo": (
        "import Action, Choice",
        "import Actions, Choice",
        "lock.py:2: waterline has no Actions; did you mean Action? It has "
        + ", ".join(name for name in own.__all__ if name != "BadProtocol"),
    ),
    "arg action missing": (
        "actions=[take, give_back]",
        "actions=[Action(take, clent=client), give_back]",
        "lock.py:19:1: take has no argument 'clent'; leave it out of Action",
    ),
    "arg action zero": (
        "actions=[take, give_back]",
        "actions=[Action(take, client=0), give_back]",
        "lock.py:12: argument client of take is of 0; give a sort of Names, a number n fo"
        "r 0..n-1, a range, or words as ('request', 'reply')",
    ),
    "arg action positional": (
        "actions=[take, give_back]",
        "actions=[Action(take, client), give_back]",
        "lock.py:12: this Action has other arguments; Action takes a function and what it"
        "s arguments range over, as Action(send, source=state.nodes)",
    ),
    "claim class": (
        "always=[one_works]",
        "always=[Choice]",
        "lock.py: Choice is a claim and no function of this file; write it there, at the "
        "top level, with def",
    ),
    "a number up to a sort": (
        'Number("taken", 0, 3)',
        'Number("taken", 0, client)',
        "lock.py:10: field taken goes up to clients, which are Names; write Name(clients), or a "
        "number: clients.count",
    ),
    "claim is an action": (
        "always=[one_works]",
        "always=[take]",
        "lock.py:19:1: take takes 2 arguments; let it take a state",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_is_one_line_that_names_the_remedy(mistake: str, cli: Commands) -> None:
    right, wrong, says = MISTAKES[mistake]
    assert right in RIGHT
    written(RIGHT.replace(right, wrong, 1))
    code, out, err = cli("--model", "lock.py", "--engine", "local")

    assert (code, out) == (2, "")
    first, *others = err.splitlines()
    assert first == f"error: {says}"
    assert all(line.startswith("error: lock.py:") for line in others)


KINDS = [
    name
    for name in own.__all__
    if isinstance(kind := getattr(own, name), type) and issubclass(kind, DeclaredField)
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_field_says_how_it_is_written(kind: str) -> None:
    """A new kind too: its docstring has an example."""
    with pytest.raises(TypeError) as raised:
        getattr(own, kind)(*["a"] * 9, never=1)
    described = describe_declaration_error(raised.value) or ""

    assert f"this {kind} " in described
    assert f" = {kind}(" in described
