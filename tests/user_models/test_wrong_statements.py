"""What Python has and rules have not is told with what to write instead."""

from __future__ import annotations

import pytest

from tests.support.commands import Commands
from tests.user_models.test_mistakes import RIGHT, written

DEEP = """

def deep(s, n):
    return deep(s, n - 1) if n else 0
"""
MISTAKES = {
    "& mix": (
        "s.taken < 3 and s.clients",
        "s.taken < 3 & s.clients > 0",
        "lock.py:21:22: `s.taken < 3 & s.clients > 0` compares with `3 & s.clients`; write `"
        "and` between the comparisons",
    ),
    "list display": (
        "    s.taken += 1",
        "    xs = [1, 2]\n    s.taken += 1",
        "lock.py:24:10: take has a list, which rules have not; declare a Log or a Queue, or "
        "ask with `in (1, 2)`",
    ),
    "dict display": (
        "    s.taken += 1",
        "    xs = {1: 2}\n    s.taken += xs[1]",
        "lock.py:24:10: take has a dictionary, which rules have not; declare a field, by=..."
        " what it is asked for",
    ),
    "list comp": (
        "    s.taken += 1",
        "    s.taken += len([c for c in s.clients])",
        "lock.py:24:20: take has a list, which rules have not; write a loop, or all, any, "
        "sum, max or min of what would be in it",
    ),
    "nested def": (
        "    s.taken += 1",
        "    def f():\n        return 1\n    s.taken += f()",
        "lock.py:24:5: take has a function within it, which rules have not; write it at the"
        " top level of the file, and call it",
    ),
    "lambda in rule": (
        "    s.taken += 1",
        "    f = lambda x: x\n    s.taken += f(1)",
        "lock.py:24:9: take has a lambda, which rules have not; write a function at the top"
        " level of the file, and call it",
    ),
    "global": (
        "    s.taken += 1",
        "    global COUNT\n    COUNT = 1\n    s.taken += 1",
        "lock.py:24:5: take has a global variable, which rules have not; declare a field, a"
        "nd assign to that of the state",
    ),
    "try": (
        "    s.taken += 1",
        "    try:\n        s.taken += 1\n    except ValueError:\n        pass",
        "lock.py:24:5: take has a try, which rules have not; nothing is caught in a rule; a"
        "sk first, with if or when",
    ),
    "with": (
        "    s.taken += 1",
        '    with open("x") as f:\n        s.taken += 1',
        "lock.py:24:5: take has a with, which rules have not; there is nothing to open in a"
        " rule; leave it out",
    ),
    "del": (
        "    s.taken += 1",
        "    del s.taken",
        "lock.py:24:5: take has a del, which rules have not; assign another value, as None "
        "to a field of names with or_none=True",
    ),
    "assert in claim": (
        "    return before.taken <= after.taken",
        "    assert before.taken <= after.taken\n    return True",
        "lock.py:38:5: a claim has `assert before.taken <= after.taken`; write return befor"
        "e.taken <= after.taken",
    ),
    "raise": (
        "    s.taken += 1",
        '    raise ValueError("x")',
        "lock.py:24:5: take has a raise, which rules have not; say in a claim (always) what"
        " must not be",
    ),
    "import in rule": (
        "    s.taken += 1",
        "    import math\n    s.taken += 1",
        "lock.py:24:5: take has an import, which rules have not; write it at the top of the file; "
        "a rule uses nothing of other files but constants",
    ),
    "yield": (
        "    s.taken += 1",
        "    yield s.taken",
        "lock.py:24:5: take has a yield, which rules have not; give the action an argument:"
        " it stands for any of its values",
    ),
    "match": (
        "    s.taken += 1",
        "    match s.taken:\n        case 0:\n            s.taken = 1",
        "lock.py:24:5: take has a match, which rules have not; write if and elif",
    ),
    "walrus": (
        "    s.taken += 1",
        "    s.taken = (n := 1)",
        "lock.py:24:16: take has a `:=`, which rules have not; assign on a line of its own",
    ),
    "recursion": (
        "    s.taken += 1",
        "    s.taken += deep(s, 3)",
        "lock.py:45: deep cannot be compiled: it calls itself; write a loop",
    ),
    "unknown function": (
        "    s.taken += 1",
        "    s.taken += increase(s.taken)",
        "lock.py:24: take cannot be compiled: `increase` is not defined; define it, or na"
        "me another",
    ),
    "unknown name": (
        "    s.taken += 1",
        "    s.taken += step",
        "lock.py:24: take cannot be compiled: `step` is not defined; define it, or name another",
    ),
    "float": (
        "    s.taken += 1",
        "    s.taken += 0.5",
        "lock.py:24:16: 0.5 is no whole number; count in smaller units",
    ),
    "true division": (
        "    s.taken += 1",
        "    s.taken = s.taken / 2",
        "lock.py:24:15: `s.taken / 2`: `/` makes fractions; numbers are whole: write //",
    ),
    "power": (
        "    s.taken += 1",
        "    s.taken = s.taken ** 2",
        "lock.py:24:15: `s.taken ** 2`: there is no `**`; multiply, or write 1 << n for a po"
        "wer of two",
    ),
    "abs etc": (
        "    s.taken += 1",
        "    s.taken = round(s.taken)",
        "lock.py:24: take cannot be compiled: `round` is nothing that can be compiled; us"
        "e min, max, abs, int, bool, range",
    ),
    "isinstance": (
        "when(s.holder == client)",
        "when(isinstance(s.holder, int))",
        "lock.py:28: give_back cannot be compiled: `isinstance` is nothing that can be co"
        "mpiled; use min, max, abs, int, bool, range",
    ),
    "unused var": (
        "    s.taken += 1",
        "    s.taken += n\n    n = 1",
        "lock.py:24: take cannot be compiled: `n` may have no value here; give it one bef"
        "ore, on every way that leads here",
    ),
    "delete tok": (
        "    s.taken += 1",
        "    s.taken = None",
        "lock.py:24:15: None has no meaning here; compare it with a field of names (or_none="
        "True), or store it in one, directly",
    ),
    "step range 0": (
        "    s.taken += 1",
        "    for i in range(0, 3, 0):\n        s.taken += 1",
        "lock.py:24: take cannot be compiled: a step that is not known, or zero; use a co"
        "nstant that is not zero",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_it_is_one_line_that_names_the_remedy(mistake: str, cli: Commands) -> None:
    right, wrong, says = MISTAKES[mistake]
    assert right in RIGHT
    written(RIGHT.replace(right, wrong, 1) + DEEP)
    code, out, err = cli("--model", "lock.py", "--engine", "local")

    assert (code, out) == (2, "")
    assert err == f"error: {says}\n"
