"""Functions that only look are written without branches, and still do what Python does first.

Each of them has a form without branches: to give up on one would be as right, and slower.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.compiling import ALL_STATES, ARGUMENTS, Both, module_of, small_layout

FUNCTIONS = {
    "the first turn that returns": """
    for i in range(3):
        if t.row[i] > 0:
            return i
    return -1
""",
    "the first of turns that are told by the state": """
    for i in range(t.x, 3):
        if t.y > i + a:
            return 10 + i
    return t.x
""",
    "backwards": """
    for i in range(3, 0, -1):
        if t.row[i - 1] == a:
            return i
    return 0
""",
    "break leaves the loop and goes on behind it": """
    found = 0
    for i in range(3):
        if t.row[i] < 0:
            break
        found += 1
    return found * 10 + a
""",
    "continue leaves the turn": """
    found = 0
    for i in range(3):
        if t.row[i] < 1:
            continue
        found += i + 1
    return found
""",
    "a loop in a loop": """
    for i in range(3):
        for j in range(2):
            if t.table[i, j] > t.y:
                return i * 2 + j
            if t.table[i, j] == a:
                break
    return 99
""",
    "a return behind conditions": """
    if t.x < 0:
        if t.y == 0:
            return 1
        if a == 2:
            return 2
    elif t.y > 3:
        return 3
    return 4
""",
    "both sides return": """
    if t.x < a:
        return t.y
    else:
        return t.x
""",
    "variables on two ways": """
    p = t.x
    if p > a:
        p = a
        q = 1
    else:
        q = p - 5
    p += q
    return p
""",
    "an index that is only sometimes in range": """
    if t.x < 0 or t.x > 2:
        return 7
    return t.row[t.x]
""",
    "an index behind and": """
    return t.x >= 0 and t.x < 3 and t.row[t.x] == a
""",
    "an index behind or": """
    return t.x < 0 or t.x > 2 or t.far[t.x] % 2 == a
""",
    "a fault that matters only sometimes": """
    if t.y > 3:
        return t.row[t.x]
    return 1 << t.x
""",
    "a choice": """
    return (t.row[t.x] if 0 <= t.x < 3 else -5) + (1 if a else 2)
""",
    "sometimes a truth, sometimes a number": """
    if t.x < 0:
        return t.y > a
    if t.x > 3:
        return True
    return t.y + 2
""",
    "truths and numbers side by side": """
    p, q = several(t, a)
    return p * 10 + q
""",
    "a choice of which one side is known": """
    return (t.y if c.none else t.x) + (a if c.low else 7) * 20
""",
    "calls": """
    return first(t, a) + first(t, 0) * 10
""",
    "tuples": """
    p, q = pair(t, a)
    return p - q
""",
    "numbers that change nothing, and those next to them": """
    one = (t.y & ~(1 << 0)) + (t.y & -1) * 10 + (t.y | 0) * 100 + (t.y ^ 0) * 1000
    return one + (t.y | 1) * 7 + (t.y ^ 1) * 3 + (t.y - 0) + (0 - t.y) * 5 + (0 + t.y) * 1 * 2
""",
    "bits": """
    return t.y.bit_count() + (t.wide >> 3) % 5
""",
    "values of and and or": """
    return (t.x and t.y) + (a or t.x) * 3
""",
}
HELPERS = """
def first(t, n):
    for i in range(3):
        if t.row[i] == n:
            return i
    return 3


def pair(t, n):
    if t.x == n:
        return t.y, n
    return n, t.x


def several(t, n):
    if t.x == n:
        return t.y > n, n
    if t.x > n:
        return n, t.y > 3
    return t.x < 0, False


def f(t, c, a):"""


@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_means_the_same_without_branches(text: str, tmp_path: Path) -> None:
    both = Both(module_of(HELPERS + text, tmp_path).f, small_layout())
    outcomes = set()
    for state in ALL_STATES:
        for argument in range(ARGUMENTS):
            expected = both.interpreted(state, argument)
            outcome = expected if isinstance(expected, str) else expected[0]
            outcomes.add(outcome)

            assert both.compiled(state, argument) == expected
            assert both.flat(state, argument) == outcome

    assert len(outcomes) > 1


def test_a_function_with_a_long_loop_keeps_its_branches(tmp_path: Path) -> None:
    text = "\n    for i in range(50):\n        if t.y == i:\n            return i\n    return -1\n"
    both = Both(module_of(HELPERS + text, tmp_path).f, small_layout())

    assert [both.flat(state, 0) for state in ALL_STATES] == [None] * len(ALL_STATES)
    assert all(both.compiled(s, 0) == both.interpreted(s, 0) for s in ALL_STATES)
