"""What a rule uses wrongly, the state, fields and other functions, is told with the remedy."""

from __future__ import annotations

import pytest

from tests.support.commands import Commands
from tests.user_models.test_mistakes import RIGHT, written

MISTAKES = {
    "two conditions": (
        "    when(s.holder is None)",
        "    when(s.holder is None, s.taken < 2)",
        "lock.py:20:5: `when` takes one condition; write when(s.holder is None and s.taken < 2)",
    ),
    "missing s": (
        "def take(s, client):",
        "def take(client):",
        "lock.py:19:1: take has no argument `s`, the state that it asks for holder; write d"
        "ef take(s, client)",
    ),
    "no argument": (
        "def take(s, client):",
        "def take():",
        "lock.py:19:1: take has no argument `s`, the state that it asks for holder; write d"
        "ef take(s)",
    ),
    "s forgotten": (
        "    s.taken += 1",
        "    taken += 1",
        "lock.py:24:5: `taken` is a field of the state; write s.taken",
    ),
    "s forgotten read": (
        "when(s.holder == client)",
        "when(holder == client)",
        "lock.py:28:10: `holder` is a field of the state; write s.holder",
    ),
    "s forgotten store": (
        "    s.holder = client",
        "    holder = client",
        "lock.py:22:5: `holder` is a field of the state; write s.holder",
    ),
    "name with text": (
        "s.holder == client",
        's.holder == "client0"',
        "lock.py:28:22: holder holds a client, and 'client0' is text; names are numbers in r"
        "ules: use an argument, or 0 for client0",
    ),
    "choice is": (
        's.state[c] == "working" for c in range(s.clients)) <= 1',
        's.state[c] is "working" for c in range(s.clients)) <= 1',
        "lock.py:34:16: `s.state[c] is 'working'` compares words with is; write == or !=",
    ),
    "&& ": (
        "s.taken < 3 and s.clients",
        "s.taken < 3 && s.clients",
        "lock.py:21:25: invalid syntax",
    ),
    "slice": (
        "    s.taken += 1",
        '    s.state[0:1] = "idle"',
        "lock.py:24:5: state has an element for each client; write s.state[client]",
    ),
    "action called from claim": (
        "    return before.taken <= after.taken",
        "    take(after, 0)\n    return before.taken <= after.taken",
        "lock.py:38:5: take is given `0` for client, and elsewhere something of another kin"
        "d; write a function for each",
    ),
    "action called from action": (
        "    s.taken += 1",
        "    s.taken += 1\n    give_back(s, client)",
        "lock.py:29:5: give_back has a `when`, and is a claim, or called by another rule; o"
        "nly an action has one: ask with `if`, or call a function of what both do",
    ),
    "wrong arity": (
        "when(s.holder is None)",
        "when(works())",
        "lock.py:20:10: `works()` gives works 0 arguments; write works(s)",
    ),
    "too many args": (
        "when(s.holder is None)",
        "when(works(s, client))",
        "lock.py:20:10: `works(s, client)` gives works 2 arguments; write works(s)",
    ),
    "default argument": (
        "def take(s, client):",
        "def take(s, client=0):",
        "lock.py:19:1: take has a decorator, a default or a *; use plain arguments",
    ),
    "star args": (
        "def take(s, client):",
        "def take(s, *client):",
        "lock.py:19:1: take has a decorator, a default or a *; use plain arguments",
    ),
    "shadow s": (
        "    s.holder = client\n",
        "    s = client\n    s.holder = client\n",
        "lock.py:19: take cannot be compiled: it changes its parameter `s`; use another name",
    ),
    "string method": (
        "    s.taken += 1",
        '    s.taken = s.state[client].index("w")',
        "lock.py:24:15: `s.state[client]` has no index; compare it with ==, or compute with it",
    ),
    "sorted": (
        "    s.taken += 1",
        "    s.taken = sorted(s.state)[0]",
        "lock.py:24:15: `sorted(s.state)` goes through a table as a whole; write a loop for "
        "client in s.clients, and s.state[client] in it",
    ),
    "enumerate": (
        "for c in range(s.clients)) <= 1",
        "for i, c in enumerate(s.state)) <= 1",
        "lock.py:34:52: `enumerate(s.state)` goes through a table as a whole; write a loop f"
        "or client in s.clients, and s.state[client] in it",
    ),
    "sum no generator": (
        'sum(s.state[c] == "working" for c in range(s.clients)) <= 1',
        "sum(s.state) <= 1",
        "lock.py:34:12: `sum(s.state)` goes through a table as a whole; write sum(s.state[cl"
        "ient] for client in s.clients)",
    ),
    "in table": (
        'sum(s.state[c] == "working" for c in range(s.clients)) <= 1',
        '"working" in s.state',
        "lock.py:34:12: `'working' in s.state` asks a table as a whole; write any(s.state[cl"
        "ient] == 'working' for client in s.clients)",
    ),
    "index count": (
        's.state[client] = "working"',
        's.state[client][0] = "working"',
        "lock.py:23:5: `s.state[client][0]` has an index behind an index; write s.state[client]",
    ),
    "index dot": (
        's.state[client] = "working"',
        's.state.client = "working"',
        "lock.py:23:5: state has an element for each client; write s.state[client]",
    ),
    "method attribute": (
        's.state[client] = "working"',
        's.set("state", client, "working")',
        "lock.py:23:5: take: the state has no field 'set'; it has state, holder, taken, clients",
    ),
    "when in claim": (
        "    return before.taken <= after.taken",
        "    when(before.taken < 3)\n    return before.taken <= after.taken",
        "lock.py:38:5: never_less has a `when`, and is a claim, or called by another rule; "
        "only an action has one: ask with `if`, or call a function of what both do",
    ),
    "when after write": (
        "    s.taken += 1",
        "    s.taken += 1\n    when(s.taken < 3)",
        "lock.py:22:5: the guard of take writes holder: it stands before a `when`; ask firs"
        "t, then write",
    ),
    "if return False": (
        "    when(s.holder is None)\n",
        "    if s.holder is not None:\n        return False\n",
        "lock.py:21:9: take is an action and says `return False`: nobody reads that; write "
        "return alone, or when(...) before what it changes",
    ),
    "assign to bound": (
        "    s.taken += 1",
        "    s.clients += 1",
        "lock.py:24:5: clients is a bound, and never changes; declare a Number, and write that",
    ),
    "assign argument elements": (
        "def never_less(before, after):",
        "def never_less(before, after, more):",
        "lock.py:37:1: never_less takes 3 arguments; let it take a state and the next",
    ),
    "claim three": (
        "def one_works(s):",
        "def one_works(s, client):",
        "lock.py:33:1: one_works takes 2 arguments; let it take a state",
    ),
    "claim zero": (
        "def one_works(s):",
        "def one_works():",
        "lock.py:33:1: one_works has no argument `s`, the state that it asks for state; wri"
        "te def one_works(s)",
    ),
    "claim None return": (
        '    return any(s.state[c] == "working" for c in range(s.clients))',
        "    return None",
        "lock.py:41:1: claim works returns nothing; return True or False",
    ),
    "claim no return value": (
        '    return any(s.state[c] == "working" for c in range(s.clients))',
        "    return",
        "lock.py:41:1: claim works returns nothing; return True or False",
    ),
    "claim prints": (
        '    return any(s.state[c] == "working" for c in range(s.clients))',
        "    print(s)\n    return True",
        "lock.py:42:5: a rule prints nothing; leave it out; a trace shows every state",
    ),
    "chained none": (
        "when(s.holder is None)",
        "when(not s.holder)",
        "lock.py:20:14: holder is a name, not true or false; write `is not None`",
    ),
    "self": (
        "def take(s, client):",
        "def take(self, client):",
        "lock.py:19:1: take has no argument `s`, the state that it asks for holder; write d"
        "ef take(s, client)",
    ),
}


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
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
