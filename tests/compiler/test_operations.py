"""Every operation on every kind of operand, at the ends of its range too: as in Python.

Random functions draw such a pair seldom, and hardly ever where its sign or its rounding shows.
Some operations are tried here, all in tests/verify/compiler.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.compiling import ALL_STATES, ARGUMENTS, FAULT, Both, module_of, small_layout
from tests.support.sampling import drawn
from waterline.checker.compiler.program import load_program, own_recipe
from waterline.checker.storage.blocks import NUMBER

OPERANDS = ("t.x", "t.y", "t.row[1]", "t.table[a, 1]", "t.wide", "a", "3", "(-3)", "0", "(t.x < 2)")
BOUNDS = (-4, -3, -2, -1, 0, 1, 2, 3, 5, 6, 7)
DIVISORS = ("1", "7", "(-4)", "(t.y + 1)", "(-1 - t.y)", "(2 * t.x + 1)", "c.low")
SHIFTS = ("0", "5", "a", "t.y", "c.high", "(t.x + 3)", "(t.y * 9)")
OPERATIONS = {
    **{word: f"({{}} {word} {{}})" for word in ("+", "-", "*", "&", "|", "^")},
    **{word: f"({{}} {word} {{}})" for word in ("==", "!=", "<", "<=", ">", ">=", "and", "or")},
    "least": "min({}, {})",
    "greatest": "max({}, {})",
    "least of three": "min({0}, t.x, {1})",
    "greatest of three": "max({0}, {1}, t.row[2])",
    "distance": "abs({} - {})",
    "choice": "({} if t.x < a else {})",
    "known choice": "({} if c.none else {})",
    "choice by a number": "(5 if {} else {})",
    "not": "(not {} and {})",
    "opposites": "(-{} + ~{})",
    "chain": "({} <= t.x < {})",
    "other chain": "({} != t.y >= {})",
    "among": "({} in ({}, 2, -1))",
    "not among": "({} not in (t.y, {}))",
    "bits": "(({} | {}).bit_count())",
    "truth": "(bool({}) + int({}))",
    "absolute": "(abs({}) * 3 + abs({}))",
}


def terms() -> Iterator[tuple[str, list[str]]]:
    """For each operation what it comes to with every pair of operands that do not fault."""
    for name, form in OPERATIONS.items():
        pairs = itertools.product(OPERANDS, OPERANDS)
        fit = [pair for pair in pairs if name != "*" or pair.count("t.wide") < 2]
        yield name, [form.format(*pair) for pair in fit]
    for word, right in (("//", DIVISORS), ("%", DIVISORS), (">>", SHIFTS)):
        yield word, [f"({a} {word} {b})" for a, b in itertools.product(OPERANDS, right)]
    pairs = itertools.product(OPERANDS, SHIFTS)
    yield "<<", [f"({a} << {b})" for a, b in pairs if a != "t.wide" and b != "(t.y * 9)"]
    yield "element", [f"t.grid[{i}, {j}]" for i, j in itertools.product(("a", *"012"), repeat=2)]


def functions() -> Iterator[tuple[str, str]]:
    """A function for each operation, another that compares it; one that may fault has no other."""
    for name, found in terms():
        yield name, mixed(found)
        bounds = zip(
            found, itertools.cycle(("<", "==", ">=")), itertools.cycle(BOUNDS), strict=False
        )
        yield f"{name} compared", mixed([f"({term} {how} {least})" for term, how, least in bounds])
    for word, left in itertools.product(("//", "%", "<<", ">>"), ("5", "t.x", "c.low")):
        for right in ("t.x", "(t.x + 1)", "t.row[0]", "(t.x * 40)" if word == ">>" else "a"):
            yield f"{left} {word} {right}", f"def f(t, c, a):\n    return {left} {word} {right}\n"
    for i, j in itertools.product(("a", "t.x", "1"), ("a", "t.row[0]", "2")):
        place = f"t.grid[{i}, {j}]"
        lines = f"{place} = t.y * 3 + a\n    t.grid[2, 2 - a] -= 1\n    return {place}"
        yield f"stored in {place}", f"def f(t, c, a):\n    {lines}\n"


def mixed(terms: list[str]) -> str:
    """A function whose value depends on that of every term."""
    lines = [f"    m = (m * 7 + {term}) % 1000003\n" for term in terms]
    return f"def f(t, c, a):\n    m = 0\n{''.join(lines)}    return m\n"


FUNCTIONS = dict(functions())


@pytest.mark.parametrize("name", drawn(FUNCTIONS, 24))
def test_an_operation_means_what_it_means_in_python(name: str, tmp_path: Path) -> None:
    assert_same(name, tmp_path)


def assert_same(name: str, folder: Path) -> None:
    """A function comes to the same in every state, compiled and interpreted."""
    text = FUNCTIONS[name]
    varying = ("low", "high") if "c.low" in text else ()
    both = Both(module_of(text, folder).f, small_layout(), varying=varying)
    for number, state in enumerate(ALL_STATES):
        argument = number % ARGUMENTS
        expected = both.interpreted(state, argument)
        flat = both.flat(state, argument)

        assert both.compiled(state, argument) == expected
        assert flat in (None, expected if expected == FAULT else expected[0])


@pytest.mark.parametrize("bits", ["(t.y - t.y + 64)", "(64 + a)", "64", "(1 << 62)"])
def test_a_shift_to_the_left_by_all_bits_is_a_fault(bits: str, tmp_path: Path) -> None:
    """Python would need more than 64 bits."""
    both = Both(module_of(f"def f(t, c, a):\n    return 1 << {bits}\n", tmp_path).f, small_layout())

    assert both.compiled(ALL_STATES[0], 0) == FAULT
    assert both.flat(ALL_STATES[0], 0) in (None, FAULT)


def sum_of(entry: int, v1: int, v2: int) -> int:
    """Parameters with names that LLVM's text might use itself."""
    return (entry + v1) * v2 + v1


def test_parameters_may_have_any_name() -> None:
    compiled = load_program(own_recipe((sum_of, (NUMBER, NUMBER, NUMBER))))["sum_of"]

    assert compiled(2, 3, 5) == sum_of(2, 3, 5)
