"""Random functions in the language that rules are written in, for Hypothesis.

`fit` stands around every operation of the text that is interpreted, and raises where a number
leaves 64 bits: there compiled code faults.
"""

from __future__ import annotations

import ast
import functools
from typing import Any

from hypothesis import strategies as st

LEAST, GREATEST = -(1 << 63), (1 << 63) - 1
NAMES = ("p", "q")
READS = (
    "t.x",
    "t.y",
    "t.one",
    "t.wide",
    "t.width",
    "c.low",
    "c.none",
    "c.high",
    "a",
    "LOW",
    "HUGE",
    "(-HUGE)",
    "True",
    *NAMES,
)
BINARY = ("+", "-", "*", "//", "%", "&", "|", "^", "<<", ">>")
COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


class LeftSixtyFourBits(OverflowError):
    """A number does not fit 64 bits, or a shift is by more."""


def fit(number: Any) -> Any:
    """The number, if it fits."""
    if not LEAST <= number <= GREATEST:
        raise LeftSixtyFourBits
    return number


def shift(by: Any) -> Any:
    """By how much is shifted, if compiled code shifts so far to the left."""
    if by > 63:
        raise LeftSixtyFourBits
    return by


def rest(number: Any, by: Any) -> Any:
    """What is left over by a division of which the quotient fits."""
    fit(number // by)
    return number % by


def joined(*parts: st.SearchStrategy[str] | str) -> st.SearchStrategy[str]:
    """Texts one after the other."""
    given = [part if isinstance(part, st.SearchStrategy) else st.just(part) for part in parts]
    return st.tuples(*given).map("".join)


def operation(left: str, operator: str, right: str) -> str:
    """An operation, with what sees that it fits."""
    if operator == "%":
        return f"rest({left}, {right})"
    return f"fit({left} {operator} {f'shift({right})' if operator == '<<' else right})"


def expressions() -> st.SearchStrategy[str]:
    """A number, made of everything that makes one."""
    return _expressions()


@functools.cache
def _expressions() -> st.SearchStrategy[str]:
    numbers = st.integers(-9, 9).map(lambda n: f"({n})")
    leaves = st.one_of(numbers, st.sampled_from(READS))
    return st.recursive(leaves, _larger, max_leaves=8)


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    word = st.sampled_from((" and ", " or "))
    comparison = st.sampled_from([f" {c} " for c in COMPARISONS])
    extreme = st.sampled_from(("min", "max"))
    return st.one_of(
        st.builds(operation, inner, st.sampled_from(BINARY), inner),
        joined("(", inner, comparison, inner, ")"),
        joined("(", inner, comparison, inner, comparison, inner, ")"),
        joined("(", inner, word, inner, ")"),
        joined("(", inner, word, inner, word, inner, ")"),
        joined("(not ", inner, ")"),
        joined("fit(-", inner, ")"),
        joined("(~", inner, ")"),
        joined("(", inner, " if ", inner, " else ", inner, ")"),
        joined(extreme, "(", inner, ", ", inner, ")"),
        joined("fit(abs(", inner, "))"),
        joined(st.sampled_from(("int", "bool")), "(", inner, ")"),
        joined("(", inner, st.sampled_from((" in ", " not in ")), "(", inner, ", 2, -1))"),
        joined("t.row[", inner, "]"),
        joined("t.far[", inner, "]"),
        joined("t.table[", inner, ", ", inner, "]"),
        joined("helper(t, ", inner, ")"),
        joined("helper(t, ", inner, ", by=", inner, ")"),
        joined("c[", inner, "]"),
    )


HELPERS = """
LOW = -2
HUGE = 1 << 62


def helper(t, n, by=2):
    if n > by:
        return t.y
    return fit(n - by)


def pair(t, n):
    return n, t.x


def store(t, n):
    if n >= 0:
        t.y = n


"""


def statements(
    depth: int = 3, *, in_loop: bool = False, writes: bool = True
) -> st.SearchStrategy[list[str]]:
    """Some lines; without `writes` they only look at the state."""
    return st.lists(_statement(depth, in_loop, writes), min_size=1, max_size=3).map(
        lambda blocks: [line for block in blocks for line in block]
    )


@functools.cache
def _statement(depth: int, in_loop: bool, writes: bool) -> st.SearchStrategy[list[str]]:
    value = expressions()
    names: st.SearchStrategy[str] = st.sampled_from(NAMES)
    places = st.one_of(
        names,
        st.sampled_from(("t.x", "t.y", "t.wide", "t.one")),
        joined("t.row[", value, "]"),
        joined("t.far[", value, "]"),
        joined("t.table[", value, ", ", value, "]"),
    )
    places = places if writes else names
    lines = [
        joined(places, " = ", value),
        joined(places, st.sampled_from((" += ", " -= ", " |= ", " &= ")), value),
        joined("p, q = ", value, ", ", value),
        joined("p, q = pair(t, ", value, ")"),
    ]
    if writes:
        lines.append(joined("store(t, ", value, ")"))
    simple = st.one_of(*lines).map(lambda line: [line, "fit(p)", "fit(q)"])
    if depth == 0:
        return simple
    ends = [joined("return ", value)]
    if in_loop:
        ends += [st.just("break"), st.just("continue")]

    def body(inside: bool) -> st.SearchStrategy[list[str]]:
        last = st.one_of(*ends).map(lambda line: [line])
        some = statements(depth - 1, in_loop=inside, writes=writes)
        return st.tuples(some, st.one_of(st.just([]), last)).map(lambda both: [*both[0], *both[1]])

    return st.one_of(
        simple,
        st.builds(_nested, joined("if ", value, ":"), body(in_loop)),
        st.builds(
            lambda test, one, other: [*_nested(test, one), *_nested("else:", other)],
            joined("if ", value, ":"),
            body(in_loop),
            body(in_loop),
        ),
        st.builds(_nested, _loop(writes), body(inside=True)),
    )


def _loop(writes: bool) -> st.SearchStrategy[str]:
    name = st.sampled_from(("i", "j", "p") if writes else ("i", "j"))
    end = st.sampled_from(("3", "t.y", "t.x", "t.width", "6", "c.low"))
    step = st.sampled_from(("", ", 2", ", 3", ", -1", ", -2"))
    return st.one_of(
        joined("for ", name, " in range(", end, "):"),
        joined("for ", name, " in range(", end, ", ", end, step, "):"),
    )


def _nested(head: str, body: list[str]) -> list[str]:
    return [head, *(f"    {line}" for line in body)]


def function_of(body: list[str]) -> str:
    """The text of a function, to be interpreted."""
    lines = ["p = a", "q = t.x", *body, "return fit(p + q)"]
    return HELPERS + "def f(t, c, a):\n" + "".join(f"    {line}\n" for line in lines)


def as_compiled(text: str) -> str:
    """The same function without what sees that numbers fit."""
    lines = [line for line in text.splitlines() if line.strip() not in {"fit(p)", "fit(q)"}]
    text = "\n".join(lines).replace("fit(", "(").replace("shift(", "(") + "\n"
    return _Rests().visited(text) if "rest(" in text else text


class _Rests(ast.NodeTransformer):
    """Writes `a % b` for `rest(a, b)`."""

    def visited(self, text: str) -> str:
        return ast.unparse(self.visit(ast.parse(text))) + "\n"

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        match node:
            case ast.Call(func=ast.Name(id="rest"), args=[number, by]):
                return ast.BinOp(number, ast.Mod(), by)
        return node
