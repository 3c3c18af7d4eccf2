"""What is wrong with a file is told in one line: file, line, what it is, what to write instead."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.commands import Commands
from waterline import Names

RIGHT = """\
from waterline import Action, Choice, Flag, Name, Names, Number, Protocol, when, within


def lock(clients: int = 2) -> Protocol:
    client = Names("client", clients)
    return Protocol(
        fields=[
            Choice("state", "idle", "working", by=client),
            Name("holder", client, or_none=True),
            Number("taken", 0, 3),
        ],
        actions=[take, give_back],
        always=[one_works],
        every_step=[never_less],
        sometimes=[works],
    )


def take(s, client):
    when(s.holder is None)
    within(s.taken < 3 and s.clients)
    s.holder = client
    s.state[client] = "working"
    s.taken += 1


def give_back(s, client):
    when(s.holder == client)
    s.holder = None
    s.state[client] = "idle"


def one_works(s):
    return sum(s.state[c] == "working" for c in range(s.clients)) <= 1


def never_less(before, after):
    return before.taken <= after.taken


def works(s):
    return any(s.state[c] == "working" for c in range(s.clients))
"""

MISTAKES = {
    "no Python": ("def lock", "def def lock", "lock.py:4:5: invalid syntax"),
    "no protocol": ("-> Protocol", "-> object", "lock.py declares no protocol"),
    "an error of its own": (
        "    client = Names",
        "    client = 1 / 0\n    client = Names",
        "lock.py:5: ZeroDivisionError: division by zero",
    ),
    "a file that ends the program": (
        "    client = Names",
        "    raise SystemExit(0)\n    client = Names",
        "lock.py:5: SystemExit: 0",
    ),
    "a bound without a default": (
        "clients: int = 2",
        "clients: int",
        "lock.py: bound clients of lock has no number and no truth as its default",
    ),
    "two fields of one name": (
        'Number("taken", 0, 3)',
        'Number("taken", 0, 3), Flag("taken")',
        "lock.py:6: there are two fields called 'taken'; give each a name of its own",
    ),
    "a field called like a bound": (
        '"taken", 0',
        '"clients", 0',
        "lock.py: field clients has the name of a bound or of a sort; rename one of them",
    ),
    "an empty range": ("0, 3)", "3, 0)", "lock.py:10: field taken goes from 3 to 0: that is empty"),
    "no names": ("= 2)", "= 0)", "lock.py:5: clients are 0; there must be one or more"),
    "an undeclared field": (
        "s.taken += 1",
        "s.token += 1",
        "lock.py:24:5: take: the state has no field 'token'; "
        "did you mean taken? It has state, holder, taken, clients",
    ),
    "a word that is no choice": (
        '= "working"',
        '= "workin"',
        "lock.py:23:23: state is never 'workin'; did you mean 'working'? "
        "It is one of 'idle', 'working'",
    ),
    "None of what is always there": (
        "or_none=True",
        "or_none=False",
        "lock.py:20:22: holder is never None; declare it with or_none=True",
    ),
    "text beside no field of choices": (
        "s.taken += 1",
        's.taken = "3"',
        "lock.py:24:15: '3' has no meaning here",
    ),
    "a guard that writes": (
        "    when(s.holder is None)",
        "    s.taken = 0\n    when(s.holder is None)",
        "lock.py:20:5: the guard of take writes taken: it stands before a `when`; "
        "ask first, then write",
    ),
    "a guard that writes an element": (
        "    when(s.holder is None)",
        '    s.state[client] = "idle"\n    when(s.holder is None)',
        "lock.py:20:5: the guard of take writes state: it stands before a `when`",
    ),
    "a guard that writes in what it calls": (
        "    when(s.holder is None)",
        "    when(cleared(s))",
        "lock.py:46: cleared cannot be compiled: it writes to taken, and only an effect may write",
    ),
    "a when within an if": (
        "    when(s.holder is None)",
        "    if s.taken:\n        when(s.holder is None)",
        "lock.py:21:9: take has a `when` within another statement; put it at the top level",
    ),
    "a within that names no bound": (
        "s.taken < 3 and s.clients",
        "s.taken < 3",
        "lock.py:21:5: a `within` of take names no bound; compare with one of s.clients",
    ),
    "a claim that returns a number": (
        "    return before.taken <= after.taken",
        "    return after.taken",
        "lock.py:38: never_less cannot be compiled: it returns no boolean; "
        "return a condition, True or False",
    ),
    "a claim that returns nothing": (
        "    return before.taken <= after.taken",
        "    before.taken <= after.taken",
        "lock.py:37:1: claim never_less returns nothing; return True or False",
    ),
    "a claim of too few states": (
        "def never_less(before, after):",
        "def never_less(after):\n    before = after",
        "lock.py:37:1: never_less takes 1 arguments; let it take a state and the next",
    ),
    "an argument that ranges over nothing": (
        "def give_back(s, client):",
        "def give_back(s, client, n):",
        "lock.py:27:1: give_back has an argument 'n', which is the name of no sort (client); "
        "say what it ranges over: Action(give_back, n=...)",
    ),
    "what cannot be compiled": (
        "s.taken += 1",
        "s.taken = len([1])",
        "lock.py:24:19: take has a list, which rules have not; declare a Log or a Queue, or ask "
        "with `in (1, 2)`",
    ),
    "a function of another file": (
        "    s.taken += 1",
        "    s.taken = dedent(1)",
        "lock.py:24:15: dedent is a function of another file; a model is one file: write it here",
    ),
    "an action of another file": (
        "actions=[take, give_back]",
        "actions=[take, dedent]",
        "lock.py: dedent is an action and no function of this file",
    ),
    "no first state": (
        "always=[one_works]",
        "initial=give_back, always=[one_works]",
        "lock.py: give_back makes no initial state; let a `when` of it be true",
    ),
    "a state that is too large": (
        '"taken", 0, 3)',
        '"taken", 0, 3), Number("much", 0, 2**60, by=20)',
        "lock.py: the state is too large: a state needs 1286 bits",
    ),
    "a table that is assigned to": (
        '    s.state[client] = "working"',
        '    s.state = "working"',
        "lock.py:23:5: state has an element for each client; write s.state[client]",
    ),
    "an element of one value": (
        "    s.holder = client",
        "    s.holder[client] = True",
        "lock.py:22:5: holder is one value, with no elements; write s.holder",
    ),
    "a truth where a name is held": (
        "    s.holder = client",
        "    s.holder = True",
        "lock.py:22:5: holder is never True; it holds a client, or None",
    ),
    "an index too many": (
        '    s.state[client] = "working"',
        '    s.state[client, client] = "working"',
        "lock.py:23:5: state has an element for each client; write s.state[client]",
    ),
    "a claim that does not always return": (
        "    return before.taken <= after.taken",
        "    if before.taken <= after.taken:\n        return True",
        "lock.py:37:1: claim never_less ends without a return where before.taken <= after.taken is "
        "False; return True or False there too",
    ),
    "an f-string": (
        "    s.taken += 1",
        '    s.taken += 1\n    f"{client} works"',
        "lock.py:25:5: an f-string cannot be compiled; "
        "a plain docstring may name an argument, as {client}",
    ),
    "a condition without when": (
        "    when(s.holder is None)",
        "    s.holder is None",
        "lock.py:20:5: `s.holder is None` alone does nothing; write when(s.holder is None)",
    ),
    "an assert": (
        "    when(s.holder is None)",
        "    assert s.holder is None",
        "lock.py:20:5: an action has `assert s.holder is None`; write when(s.holder is None)",
    ),
    "an action in quotes": (
        "actions=[take,",
        'actions=["take",',
        "lock.py:6: 'take' is text, and no function; write take, without quotes",
    ),
    "a claim that is a lambda": (
        "always=[one_works]",
        "always=[lambda s: s.taken < 3]",
        "lock.py:6: a claim is a lambda; write it with def: its name and docstring are shown",
    ),
    "a list": (
        "    s.taken += 1",
        "    s.state.append(1)",
        "lock.py:24:5: state has no append: it has an element for each client; "
        "assign to s.state[client]",
    ),
    "a loop over a table": (
        "for c in range(s.clients)) <= 1",
        "for c in s.state) <= 1",
        "lock.py:34:49: a loop over s.state, which is no range; "
        "write range(s.clients), and s.state[i] in it",
    ),
    "chance": (
        "    s.taken += 1",
        "    s.taken = random.randint(0, 3)",
        "lock.py:24:15: there is no chance in a rule; "
        "give the action an argument: it stands for any of its values",
    ),
    "a claim that writes": (
        "    return before.taken <= after.taken",
        "    after.taken = 1\n    return before.taken <= after.taken",
        "lock.py:38:5: never_less is a claim and writes taken; "
        "only an action may write; keep it in a variable",
    ),
    "an action that returns something": (
        "    s.taken += 1",
        "    s.taken += 1\n    return False",
        "lock.py:25:5: take is an action and says `return False`: nobody reads that; "
        "write return alone, or when(...) before what it changes",
    ),
    "a number that is too large": (
        "0, 3)",
        "0, 2**70)",
        "lock.py:10: field taken goes up to 1180591620717411303424; "
        "give a whole number from -2**62 to 2**62",
    ),
    "when that is not imported": (
        "Protocol, when, within",
        "Protocol, within",
        "lock.py:20:5: when is not imported; write from waterline import when",
    ),
    "print": (
        "    s.taken += 1",
        "    print(s.taken)",
        "lock.py:24:5: a rule prints nothing; leave it out; a trace shows every state",
    ),
    "the length of a table": (
        "    s.taken += 1",
        "    s.taken = len(s.state)",
        "lock.py:24:15: `len(s.state)` is always 2; write s.clients",
    ),
}
CLEARED = """

def cleared(s):
    s.taken = 0
    return True
"""


def written(text: str) -> None:
    Path("lock.py").write_text(f"from textwrap import dedent\n{text}".replace("\n\n\n", "\n\n", 1))


def test_the_file_that_mistakes_are_made_in_is_right(cli: Commands) -> None:
    written(RIGHT + CLEARED)
    code, out, _ = cli("--model", "lock.py", "--engine", "local")

    assert code == 0
    assert "taken" not in out
    assert "clients: 2 cut" in out


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line(mistake: str, cli: Commands) -> None:
    right, wrong, says = MISTAKES[mistake]
    assert right in RIGHT
    written(RIGHT.replace(right, wrong, 1) + CLEARED)
    code, out, err = cli("--model", "lock.py", "--engine", "local")

    assert (code, out) == (2, "")
    assert err.startswith(f"error: {says}")
    assert all(line.startswith("error: lock.py") for line in err.splitlines())


def test_a_column_counts_letters_and_not_bytes(cli: Commands) -> None:
    written(RIGHT.replace("when(s.holder is None)", "when('é' != 'é' and s.hodler is None)"))
    assert "error: lock.py:20:25: " in cli("--model", "lock.py", "--engine", "local")[2]


MANY = """\
from waterline import Choice, Fields, Log, Names, Number, Protocol, Queue, when


class State(Fields):
    nodes = Names("node", 2)
    wire = Queue(of=("ask", "yes"), room=2, by=nodes)
    log = Log(of=3, room=2, by=nodes)
    n = Number(0, 3)
    c = Choice("a", "b")


def many(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[go, back], always=[ok, fine], eventually=[end])


def go(s: State, node: int) -> None:
    when(s.nn > 1)  #!
    s.wire[node].pop(0)  #!
    if s.n:
        print(s.n)  #!
        s.c = "z"  #!
    s.n = helper(s)


def helper(s: State) -> int:
    x = [1]  #!
    return s.n


def back(s: State, node: int) -> None:
    s.c += 1  #!
    s.n = helper(s)


def ok(s: State) -> bool:
    return s.c == "q"  #!


def fine(s: State) -> bool:
    assert s.n < 3  #!
    return s.log[0] == 1  #!


def end(s: State) -> bool:
    return s.m == 1  #!
"""
COMPILED = """\
from waterline import Fields, Number, Protocol
class State(Fields):
    n = Number(0, 3)
def many(state: type[State]) -> Protocol:
    return Protocol(state=state, actions=[go], always=[ok])
def go(s: State) -> None:
    s.n = unknown  #!
def ok(s: State) -> bool:
    return s.n  #!
"""


@pytest.mark.parametrize("text", [MANY, COMPILED])
def test_all_mistakes_are_found_at_once(text: str, cli: Commands) -> None:
    Path("many.py").write_text(text)
    code, out, err = cli("--model", "many.py", "--engine", "local")

    marked = [n for n, line in enumerate(text.splitlines(), start=1) if "#!" in line]
    assert (code, out) == (2, "")
    assert [int(line.split(":")[2]) for line in err.splitlines()] == marked


def test_a_value_out_of_its_range_names_the_action_the_line_and_the_state(cli: Commands) -> None:
    written(RIGHT.replace("    within(s.taken < 3 and s.clients)\n", ""))
    code, out, err = cli("--model", "lock.py", "--engine", "local")

    assert code == 76
    assert err.splitlines()[-1] == (
        "error: lock.py:23: take(client=client0): s.taken cannot be 4: it holds 0 to 3; "
        "declare a wider range, or guard the step"
    )
    assert "7.  take" in out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--model", "no.py"], "no.py"),
        (["--model", "lock.toml"], "lock.toml is no model: its name does not end in .py"),
        (["--model", "lock.py:key"], "lock.py has no 'key'; it has lock"),
        (["--model", "lock.py", "--set", "clients"], "'clients' sets no bound; write NAME=3"),
        (["--model", "lock.py", "--set", "keys=2"], "lock has no bound 'keys'; it has clients"),
        (["--model", "lock.py", "--set", "clients=true"], "clients is True; it must be a whole"),
        (["--model", "lock.py", "--replicas", 3], "--replicas is about Kafka's models"),
        (
            ["--model", "lock.py", "--symmetry", "key"],
            "symmetry is 'key'; lock.py has none, client",
        ),
        (["--model", "lock.py", "--invariant", "key"], "invariant is 'key'; known: one_works"),
        (["--set", "clients=2"], "--set sets a bound of --model FILE; name the file"),
    ],
    ids=str,
)
def test_an_option_that_means_nothing_is_told(
    arguments: list[str], says: str, cli: Commands
) -> None:
    written(RIGHT)
    code, _, err = cli(*arguments, "--engine", "local")

    assert code == 2
    assert says in err


def test_several_protocols_are_told_apart_by_name(cli: Commands) -> None:
    written(f"{RIGHT}\n\ndef large(clients: int = 3) -> Protocol:\n    return lock(clients)\n")
    code, _, err = cli("--model", "lock.py", "--engine", "local")
    named, out, _ = cli("--model", "lock.py:large", "--engine", "local")

    assert code == 2
    assert "lock.py has several protocols; name one: lock.py:lock, lock.py:large" in err
    assert named == 0
    assert "large in lock.py" in out


def test_rules_that_go_by_names_are_refused_under_a_symmetry(cli: Commands) -> None:
    written(RIGHT.replace("when(s.holder is None)", "when(s.holder is None and client == 0)"))
    code, _, err = cli("--model", "lock.py", "--engine", "local", "--symmetry")

    describe_answers = "state[client0] idle, state[client1] idle, holder none"
    assert code == 2
    assert f"take tells names apart, numbers 0 and 1 of the clients, in {describe_answers}" in err


def test_a_file_may_import_the_whole_and_leave_its_annotations_as_text(cli: Commands) -> None:
    _, _, text = RIGHT.partition("\n")
    for name in ("Choice(", "Name(", "Names(", "Number(", "Protocol", "when(", "within("):
        text = text.replace(f" {name}", f" waterline.{name}")
    Path("lock.py").write_text(f"from __future__ import annotations\n\nimport waterline\n{text}")
    code, out, err = cli("--model", "lock.py", "--engine", "local")

    assert text.count("waterline.") == 9
    assert code == 0, err
    assert "clients: 2 cut" in out


def test_a_sort_in_a_loop_stands_for_its_members(cli: Commands) -> None:
    def distinct(text: str) -> str:
        written(text)
        code, out, err = cli("--model", "lock.py", "--engine", "local")
        assert code == 0, err
        return next(line for line in out.splitlines() if line.startswith("Distinct"))

    assert RIGHT.count("range(s.clients)") == 2
    assert distinct(RIGHT.replace("range(s.clients)", "s.clients")) == distinct(RIGHT)


@pytest.mark.parametrize(
    ("name", "plural"),
    [
        ("node", "nodes"),
        ("process", "processes"),
        ("box", "boxes"),
        ("reply", "replies"),
        ("key", "keys"),
        ("branch", "branches"),
    ],
)
def test_the_plural_of_a_sort_is_english(name: str, plural: str) -> None:
    assert Names(name, 2).plural == plural


def test_one_step_is_no_steps(cli: Commands) -> None:
    written(RIGHT.replace("    return sum(", "    return 0 == sum("))
    code, out, _ = cli("--model", "lock.py", "--engine", "local")

    assert code == 12
    assert "VIOLATED after 1 step\n" in re.sub(" +\n", "\n", out)
