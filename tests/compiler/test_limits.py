"""What leaves 64 bits, or loops without end, faults in both forms of a rule, in the same states."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.compiling import ALL_STATES, ARGUMENTS, FAULT, Both, small_layout
from tests.support.own import own_problem
from waterline.checker.search.engines.engine import ModelFault
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.rule_errors import Raised, explain_fault
from waterline.checker.search.search import search
from waterline.model.core.made import function_of
from waterline.model.own.limits import add_limits

HUGE = 1 << 62
LEAST = -(1 << 63)

LEAVES = {
    "a product": "HUGE * t.x",
    "a product of fields": "t.wide * t.wide",
    "a product compared": "HUGE * t.y >= 0",
    "a product of constants": "HUGE * 4 * t.one",
    "a sum": "HUGE + HUGE + t.x",
    "a sum of constants": "HUGE + HUGE",
    "a difference": "-HUGE - HUGE - t.y",
    "an opposite": "-(LEAST + t.y)",
    "an absolute value": "abs(LEAST + t.y)",
    "an absolute value of a constant": "abs(LEAST)",
    "a quotient": "LEAST // min(-1, t.x)",
    "a rest": "(LEAST + t.y) % -t.one",
    "a quotient of constants": "LEAST // -1",
    "a shift": "t.wide << 30",
    "a shift of a constant": "1 << 63",
    "a shift by a field": "HUGE << t.y",
    "a shift by more than there are bits": "0 << 64 + t.y",
    "within min": "min(HUGE * t.y, 1)",
    "an index": "t.row[HUGE * t.y]",
    "where a condition is true": "HUGE * t.y if t.y > 1 else 1",
    "after and": "t.y > 1 and HUGE * t.y > 0",
    "in a sum that is built up": "total(t)",
    "in a function that is called": "twice(t.far[0] * HUGE)",
    "a square again and again": "squares(t.y)",
    "a while without end": "endless(t.x)",
    "a while that stands still": "still(t.y)",
    "two loops, each short enough": "both_loops(t.y)",
    "a for that is too long": "long(t.y)",
    "a for down that is too long": "down(t.y)",
    "a for over all there is": "whole(t.y)",
}
STAYS = {
    "the greatest": "HUGE - 1 + HUGE",
    "the least": "-9223372036854775808 + t.y",
    "the least by itself": "LEAST // t.one",
    "a product that fits": "t.wide * t.y * 1000",
    "a product with zero": "HUGE * 0 * t.y",
    "a shift that fits": "t.wide << 20",
    "a shift to the last bit": "t.one << 62",
    "a shift of minus one": "-t.one << 63",
    "bits": "(HUGE | t.y) ^ ~t.wide & LEAST",
    "bits of the least": "(LEAST + t.one - 1).bit_count()",
    "what is not looked at": "t.y < 0 and HUGE * t.y > 0",
    "the branch not taken": "1 if t.y >= 0 else HUGE * 4",
    "a guarded product": "HUGE * t.one if t.y else 0",
    "a while with an end": "ends(t.y)",
    "as many rounds as may be": "as_many(100000)",
    "a for as long as may be": "as_long(100000)",
    "a for over nothing": "as_long(-HUGE)",
    "a for over a long range in steps": "steps(t.y)",
    "a loop left at once": "left(t.y)",
    "a rest of the least": "LEAST % (t.one + 1)",
}
FUNCTIONS = """
def total(t):
    n = 0
    for i in range(3):
        n += HUGE
    return n

def twice(n):
    return n + n

def squares(n):
    m = n
    for i in range(8):
        m = m * m
    return m

def endless(n):
    m = n
    while m < 9:
        m = m - 1 if m > -5 else 5
    return m

def still(n):
    while True:
        if n > 5:
            break
    return n

def both_loops(n):
    m = n
    while m < 60000:
        m += 1
    for i in range(60000):
        m -= 1
    return m

def long(n):
    m = 0
    for i in range(1 << 40 + n):
        m = i
    return m

def down(n):
    m = n
    for i in range(HUGE, 0, -1):
        m = 1
    return m

def whole(n):
    m = n
    for i in range(LEAST, LEAST + HUGE + HUGE + 7):
        m = 1
    return m

def ends(n):
    m = n
    while m < 1000:
        m += 1 + n
    return m

def as_many(n):
    m = 0
    while m < n:
        m += 1
    return m

def as_long(n):
    m = 0
    for i in range(n):
        m = i
    return m

def steps(n):
    m = 0
    for i in range(n, HUGE, HUGE // 5):
        m += 1
    return m

def left(n):
    while True:
        return n
    return 0
"""


def both_of(expression: str) -> Both:
    """The expression as a rule of a model of one's own: as it is compiled, and as it runs."""
    names = {"__name__": "rules", "HUGE": HUGE, "LEAST": LEAST}
    tree = ast.parse(f"{FUNCTIONS}\ndef f(t, c, a):\n    return {expression}\n")
    for function in tree.body:
        assert isinstance(function, ast.FunctionDef)
        made = function_of(function, "rules.py", names, runs=add_limits(function, names))
        names[function.name] = made
    return Both(names["f"], small_layout())


def outcomes_of(expression: str) -> list[bool]:
    """In which states it faults, which are the same both ways."""
    both = both_of(expression)
    found = []
    for number, state in enumerate(ALL_STATES[:12]):
        argument = number % ARGUMENTS
        expected = both.interpreted(state, argument)
        flat = both.flat(state, argument)

        assert both.compiled(state, argument) == expected
        assert flat is None or flat == (FAULT if expected == FAULT else expected[0])
        found.append(expected == FAULT)
    return found


@pytest.mark.parametrize("expression", LEAVES.values(), ids=LEAVES)
def test_what_leaves_its_limits_faults_in_both_forms(expression: str) -> None:
    assert any(outcomes_of(expression))


@pytest.mark.parametrize("expression", STAYS.values(), ids=STAYS)
def test_what_stays_within_its_limits_means_what_it_does_in_python(expression: str) -> None:
    assert not any(outcomes_of(expression))


MODEL = """\
from waterline import Number, Protocol, when

BIG = 1 << 62


def counts(top: int = 3) -> Protocol:
    return Protocol(fields=[Number("x", 0, top)], actions=[step], always=[fine])


def step(s):
    when(s.x < s.top)
    {effect}
    s.x += 1


def fine(s):
    return {claim}
"""
FAULTS = {
    "a claim": (
        {"claim": "BIG * s.x >= 0"},
        r"counts.py:17: claim fine: 9223372036854775808 needs more than 64 bits; "
        r"use smaller numbers$",
    ),
    "an effect": (
        {"effect": "s.x = 4 * BIG * s.x"},
        r"counts.py:12: step\(\): 18446744073709551616 needs ",
    ),
    "a while": (
        {"effect": "while s.x < 9: s.x = 0"},
        r"counts.py:12: step\(\): its loops go round more than 100,000 times; "
        r"let the `while` end, ",
    ),
    "a for": (
        {"effect": "for i in range(1 << 40): s.x = 0"},
        r"counts.py:12: step\(\): a loop over range\(0, 1099511627776\) ",
    ),
}


@pytest.mark.parametrize(("change", "says"), FAULTS.values(), ids=FAULTS)
def test_a_run_names_the_line_that_leaves_a_limit(
    change: dict[str, str], says: str, tmp_path: Path
) -> None:
    file = tmp_path / "counts.py"
    file.write_text(MODEL.format(**{"effect": "s.x += 0", "claim": "True", **change}))
    problem = own_problem(file)
    engine = MemoryEngine(problem, threads=1)
    with pytest.raises((Raised, ModelFault)) as found:
        search(problem, engine)
    engine.close()
    error = found.value if isinstance(found.value, Raised) else explain_fault(problem, found.value)

    assert isinstance(error, Raised)
    assert re.search(says, str(error))
