"""Each kind of IR node has a rule that lowers to it, and each refusal its line and its remedy."""

from __future__ import annotations

import ast
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from waterline.checker.compiler import ir, lower
from waterline.checker.compiler.lower import lower_function
from waterline.checker.compiler.source import Source, sources_of

STATEMENTS = {
    "p = 1": ir.Assign,
    "p = q = 1": ir.Assign,
    "p: int = 1": ir.Assign,
    "p, s.row[0] = a, 1": ir.Assign,
    "s.x += a": ir.Update,
    "if a:\n    p = 1\nelif s.x:\n    p = 2": ir.If,
    "while a:\n    p = 1": ir.While,
    "for p in range(3):\n    s.x = p": ir.For,
    "return": ir.Return,
    "return a, 1": ir.Return,
    "while a:\n    break": ir.Break,
    "while a:\n    continue": ir.Continue,
    "f(s, a)": ir.Evaluate,
    "pass": ir.Pass,
    "raise ValueError": ir.Refused,
}
EXPRESSIONS = {
    "a": ir.Name,
    "s.x": ir.Attribute,
    "s.row[a]": ir.Element,
    "3": ir.Constant,
    "True": ir.Constant,
    "-9223372036854775808": ir.Constant,
    "f(s, a, n=1)": ir.Call,
    "a + 1": ir.Operation,
    "not a": ir.Unary,
    "a.bit_count()": ir.Unary,
    "a < 1": ir.Comparison,
    "0 <= a < 3": ir.Chain,
    "a in (1, 2)": ir.Contained,
    "a not in {1, 2}": ir.Contained,
    "a and s.x": ir.Both,
    "a or s.x": ir.Either,
    "1 if a else 2": ir.Choice,
    "(a, 1)": ir.Tuple,
    "'text'": ir.Refused,
}
OPERATORS = "use + - * // % << >> & | ^"
CALCULATE = "use whole numbers, conditions and functions of the module"
LOOP = "write a loop, or a function of its own"
STATEMENT = "use assignments, if, while, for over a range, break, continue, return, calls"
REFUSED = {
    "p = a ** 2": ("there is no compiled Pow", OPERATORS),
    "p = a / 2": ("there is no compiled Div", OPERATORS),
    "p = a @ a": ("there is no compiled MatMult", OPERATORS),
    "p **= 2": ("there is no compiled Pow", OPERATORS),
    "p = a is None": ("there is no compiled `Is`", "compare with == or !="),
    "p = 0 < a is True": ("there is no compiled `Is`", "compare with == or !="),
    "p = 0 < a in (1, 2)": ("`in` within a chain", "write two comparisons"),
    "p = 'text'": ("a constant that is no whole number has no compiled form", CALCULATE),
    "p = 1.5": ("a constant that is no whole number has no compiled form", CALCULATE),
    "p = f'{a}'": ("text has no compiled form", CALCULATE),
    "p = [1, 2]": ("a list has no compiled form", CALCULATE),
    "p = {1, 2}": ("a set has no compiled form", CALCULATE),
    "p = {1: 2}": ("a dictionary has no compiled form", CALCULATE),
    "p = [i for i in range(3)]": ("a list has no compiled form", LOOP),
    "p = {i for i in range(3)}": ("a set has no compiled form", LOOP),
    "p = {i: i for i in range(3)}": ("a dictionary has no compiled form", CALCULATE),
    "p = sum(i for i in range(3))": ("a generator has no compiled form", LOOP),
    "p = lambda: 1": ("a lambda has no compiled form", LOOP),
    "p = (q := 1)": ("`(q := 1)` has no compiled form", CALCULATE),
    "p = s.row[0:1]": ("`0:1` has no compiled form", CALCULATE),
    "[p, q] = 1, 2": ("`[p, q]` is assigned to", "assign to names and fields"),
    "p: int": ("there is no compiled form of `p: int`", STATEMENT),
    "assert a": ("there is no compiled form of `assert a`", STATEMENT),
    "import math": ("there is no compiled form of `import math`", STATEMENT),
    "with a:\n    pass": ("there is no compiled form of `with a:`", STATEMENT),
    "match a:\n    case _:\n        pass": ("there is no compiled form of `match a:`", STATEMENT),
    "for p in (1, 2):\n    pass": (
        "a loop over something else than a range",
        "write `for i in range(...)`",
    ),
    "for p, q in range(3):\n    pass": ("a loop over several names", "loop over one number"),
    "for p in range(3):\n    pass\nelse:\n    pass": ("`else` after a loop", "use a variable"),
    "while a:\n    break\nelse:\n    pass": ("`else` after a loop", "use a variable"),
}
LINE = 4
"""Where the first line of a body stands."""


def function_of(body: str) -> ir.Function:
    """The IR of a function with this body, whose first line is LINE."""
    lines = "".join(f"    {line}\n" for line in body.splitlines())
    return lower_function(source_of(f"\n\ndef f(s, a):\n{lines}"))


def source_of(text: str) -> Source:
    return sources_of(text, {})["f"]


def nodes(node: object) -> Iterator[ir.Node]:
    """Every node of a tree, those in a `Refused` included."""
    if isinstance(node, tuple):
        for each in node:
            yield from nodes(each)
    elif isinstance(node, ir.Node):
        yield node
        for field in dataclasses.fields(node):
            yield from nodes(getattr(node, field.name))


@pytest.mark.parametrize(("body", "kind"), STATEMENTS.items(), ids=STATEMENTS)
def test_a_statement_lowers_to(body: str, kind: type[ir.Node]) -> None:
    function = function_of(body)

    assert kind in {type(node) for node in function.statements()}


@pytest.mark.parametrize(("text", "kind"), EXPRESSIONS.items(), ids=EXPRESSIONS)
def test_an_expression_lowers_to(text: str, kind: type[ir.Node]) -> None:
    (statement,) = function_of(f"return {text}").body

    assert isinstance(statement, ir.Return)
    assert type(statement.value) is kind


def test_every_kind_of_node_has_a_rule_above() -> None:
    assert set(STATEMENTS.values()) == set(get_args(ir.Statement))
    assert set(EXPRESSIONS.values()) == set(get_args(ir.Expression))


@pytest.mark.parametrize(("body", "said"), REFUSED.items(), ids=REFUSED)
def test_a_refusal_has_its_line_and_its_remedy(body: str, said: tuple[str, str]) -> None:
    refused = [node for node in nodes(function_of(f"pass\n{body}")) if isinstance(node, ir.Refused)]

    assert [(node.line, node.what, node.instead) for node in refused] == [(LINE + 1, *said)]


def test_every_refusal_of_the_module_is_among_these() -> None:
    """Each has its remedy written beside it, so a remedy that none of these shows is a new one."""
    text = Path(lower.__file__).read_text(encoding="utf-8")
    remedies = {
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.match(r"(use|write|assign|loop|compare) ", node.value)
    }

    assert remedies - {instead for _, instead in REFUSED.values()} == {"use plain parameters"}


@pytest.mark.parametrize(
    "text",
    [
        "def f(*s): pass",
        "def f(**s): pass",
        "def f(s, /): pass",
        "def f(*, s): pass",
        "@g\ndef f(s): pass",
    ],
)
def test_parameters_are_plain(text: str) -> None:
    (refused,) = lower_function(source_of(text)).body

    assert isinstance(refused, ir.Refused)
    assert (refused.line, refused.instead) == (text.count("\n") + 1, "use plain parameters")


def test_docstrings_are_left_out() -> None:
    function = function_of('"""What it does."""\nreturn 1')

    assert [type(node) for node in function.body] == [ir.Return]


def test_what_a_refusal_stands_in_is_looked_at_first() -> None:
    """`a ** [1]`: the list is wrong before the operator is."""
    (statement,) = function_of("return a ** [1]").body

    assert isinstance(statement, ir.Return)
    assert isinstance(statement.value, ir.Refused)
    assert [type(node) for node in statement.value.after] == [ir.Name, ir.Refused]


def test_a_function_is_lowered_once() -> None:
    source = source_of("def f(s): pass")

    assert lower_function(source) is lower_function(source)
