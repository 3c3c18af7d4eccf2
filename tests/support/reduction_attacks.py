"""Small own models whose verdict a reduction must keep, as text: the shapes that misled it.

In `UNREACHED` a field that no claim reads never has its lowest value, and a rule asks whether it
has. In `WRITING` a call that writes stands inside a larger expression, where the order of
evaluation, and how often something is evaluated, decides what is written.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Attack:
    """The text of a model, and whether its claim holds in all reachable states."""

    text: str
    holds: bool


_MODEL = """from waterline import Choice, Flag, Name, Names, Number, Protocol, when


def attack() -> Protocol:
    node = Names("node", 2)
    return Protocol(
        fields=[
{fields}
        ],
        initial=begin,
        actions=[{actions}],
        always=[claim],
    )


{rules}

def claim(s):
    return {claim}
"""


@dataclass(frozen=True, slots=True)
class _Hidden:
    """Fields that never have their lowest values: how they begin and turn, and what is never so."""

    fields: tuple[str, ...]
    begins: str
    turns: str
    lowest: str


_HIDDEN = {
    "a name that is never None": _Hidden(
        ('Name("who", node, or_none=True)',), "s.who = 0", "s.who = 1 - s.who", "s.who is None"
    ),
    "a number": _Hidden(('Number("n", 0, 2)',), "s.n = 1", "s.n = 3 - s.n", "s.n == 0"),
    "a choice": _Hidden(
        ('Choice("c", "a", "b", "d")',),
        's.c = "b"',
        'if s.c == "b":\n    s.c = "d"\nelse:\n    s.c = "b"',
        's.c == "a"',
    ),
    "rows": _Hidden(
        ('Number("r", 0, 2, by=node)',),
        "for i in range(s.nodes):\n    s.r[i] = 1",
        "for i in range(s.nodes):\n    s.r[i] = 3 - s.r[i]",
        "any(s.r[i] == 0 for i in range(s.nodes))",
    ),
    "two flags of which one is set": _Hidden(
        ('Flag("p")', 'Flag("q")'),
        "s.p = True",
        "if s.p:\n    s.p = False\n    s.q = True\nelse:\n    s.p = True\n    s.q = False",
        "not s.p and not s.q",
    ),
    "phases": _Hidden(
        ('Number("phase", 0, 3)',), "s.phase = 1", "s.phase = s.phase % 3 + 1", "s.phase == 0"
    ),
}
_ASKED = {
    "undone": ("s.k = 2\nif {lowest}:\n    s.k = 0", False),
    "chosen": ("s.k = 0 if {lowest} else 2", False),
    "the other branch": ("if {lowest}:\n    s.k = 1\nelse:\n    s.k = 2", False),
    "negated": ("if not ({lowest}):\n    s.k = 2", False),
    "in a loop": (
        "for each in range(3):\n    if not ({lowest}) and s.k < 2:\n        s.k += 1",
        False,
    ),
    "by a function": ("s.k = 1 + there(s)", False),
    "by a variable": ("gone = {lowest}\nif not gone:\n    s.k = 2", False),
    "undone in a loop": (
        "s.k = 2\nfor each in range(2):\n    if {lowest}:\n        s.k = 0",
        False,
    ),
    "undone by a function": ("s.k = 2\nundo(s)", False),
    "undone at the end": ("s.k = 2\nif not ({lowest}):\n    return\ns.k = 0", False),
    "overdone": ("s.k = 1\nif {lowest}:\n    s.k = 2", True),
    "where it is false": ("if {lowest}:\n    s.k = 2\nelse:\n    s.k = 1", True),
}


def _unreached(hidden: _Hidden, asked: str, *, holds: bool) -> Attack:
    rules = [
        _rule("begin(s)", hidden.begins),
        _rule("turn(s)", hidden.turns),
        _rule("there(s)", f"return 0 if {hidden.lowest} else 1"),
        _rule("undo(s)", f"if {hidden.lowest}:\n    s.k = 0"),
        _rule("act(s)", "when(s.k == 0)\n" + asked.format(lowest=hidden.lowest)),
    ]
    return _attack(
        ('Number("k", 0, 2)', *hidden.fields), "turn, act", rules, "s.k != 2", holds=holds
    )


def _attack(
    fields: tuple[str, ...], actions: str, rules: list[str], claim: str, *, holds: bool
) -> Attack:
    text = _MODEL.format(
        fields="\n".join(f"            {field}," for field in fields),
        actions=actions,
        rules="\n".join(rules),
        claim=claim,
    )
    return Attack(text, holds)


def _rule(head: str, body: str) -> str:
    return f"def {head}:\n{textwrap.indent(body, '    ')}\n"


UNREACHED = {
    f"{kind}, {how}": _unreached(hidden, asked, holds=holds)
    for kind, hidden in _HIDDEN.items()
    for how, (asked, holds) in _ASKED.items()
}

_BUMP = _rule("bump(s)", "s.i += 1\nreturn s.i")
_HIT = "s.k != 2"
_WRITES = {
    "the middle of a comparison": ("if 0 < bump(s) < 2:\n    s.k = 2", _HIT, False),
    "the middle of two": ("if s.i < bump(s) <= 1 and s.i < 2:\n    s.k = 2", _HIT, False),
    "the end of a comparison": ("if s.i < 1 <= bump(s):\n    s.k = 2", _HIT, False),
    "an index that is added to": ("s.a[bump(s)] += 1", "s.a[1] != 2", False),
    "an index that is taken from": ("s.a[bump(s)] -= 1", "s.a[1] != 0", False),
    "what is added at an index that it moves": ("s.a[s.i] += bump(s)", "s.a[0] == 1", False),
    "what is assigned at an index that it moves": ("s.a[s.i] = bump(s) + 1", "s.a[1] != 2", False),
    "an index that is assigned to": ("s.a[bump(s)] = s.i", "s.a[1] != 0", False),
    "a sum, first": ("s.k = bump(s) + s.i", _HIT, False),
    "a sum, last": ("s.k = s.i + bump(s)", "s.k != 1", False),
    "a conjunction": ("if s.i == 0 and bump(s) == 1:\n    s.k = 2", _HIT, False),
    "a disjunction": ("if s.i == 1 or bump(s) == 1:\n    s.k = s.i + s.i", _HIT, False),
    "a condition": ("s.k = 2 if bump(s) == 1 else s.i", _HIT, False),
    "what is chosen": ("s.k = bump(s) + s.i if s.i == 0 else 0", _HIT, False),
    "an argument of max": ("s.k = max(s.i, bump(s)) + s.i", _HIT, False),
    "both sides": ("if bump(s) < bump(s):\n    s.k = 2", _HIT, False),
    "an argument of a function": ("put(s, bump(s), s.i + 1)", "s.a[1] != 2", False),
    "a range": ("for each in range(bump(s) + 1):\n    s.k = each + s.i", _HIT, False),
    "a negation": ("if not bump(s) == 2:\n    s.k = 2 * s.i", _HIT, False),
}


def _writing(body: str, claim: str, *, holds: bool) -> Attack:
    rules = [
        _rule("begin(s)", "s.a[1] = 1"),
        _BUMP,
        _rule("put(s, at, value)", "s.a[at] = value"),
        _rule("act(s)", f"when(s.i == 0)\n{body}"),
    ]
    fields = ('Number("i", 0, 2)', 'Number("k", 0, 2)', 'Number("a", 0, 2, by=3)')
    return _attack(fields, "act", rules, claim, holds=holds)


WRITING = {
    name: _writing(body, claim, holds=holds) for name, (body, claim, holds) in _WRITES.items()
}
