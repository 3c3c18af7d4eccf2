"""Conditions from the command line: `s.leo[0] > 1 and s.hw[1] == 0`.

The language is that of expressions in a file of one's own, less its functions: text and None are
numbered, and comprehensions unfolded, by what does so there. A condition is never evaluated as
Python finds it: `model.own.condition_tree` reads it and makes a tree of what it knows, and only
that is made a function, which is interpreted and compiled like any claim.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from waterline.model.core.errors import BadCondition
from waterline.model.core.layout import Layout
from waterline.model.core.made import function_of
from waterline.model.core.state import State
from waterline.model.own.comprehensions import Unfolding
from waterline.model.own.condition_tree import Reader
from waterline.model.own.fields import (
    AnyField,
    Choice,
    Container,
    DeclaredField,
    Flag,
    Name,
    Number,
    Value,
)
from waterline.model.own.syntax import element_of
from waterline.model.own.values import Numbering

TEXT_MAX = 200
"""Characters of a condition: a trace holds it as an option."""


@dataclass(frozen=True, slots=True)
class Condition:
    """A condition about a state: `holds(state, settings)`, and its opposite `fails`.

    Both are interpreted and compiled alike, and neither raises: a comparison with an element that
    does not exist, or has no meaning in the state, is false.
    """

    text: str
    holds: Callable[[Any, Any], bool] = field(compare=False)
    fails: Callable[[Any, Any], bool] = field(compare=False)
    read: tuple[tuple[str, str, tuple[int, ...]], ...] = field(compare=False)
    """Reads with constant indices: as written, the field, the indices."""
    declared: Mapping[str, AnyField] = field(compare=False)
    """Fields of a user's model, which decide how a value is shown."""

    def values(self, state: State) -> str:
        """Return `s.leo[0] is 2, s.hw[1] is 0`: the values of the reads with constant indices."""
        described = []
        for written, name, index in self.read:
            try:
                value = getattr(state, name)
                found = value[index[0] if len(index) == 1 else index] if index else value
                if name in self.declared:
                    found = self.declared[name].describe(found)
            except ValueError:
                found = "nothing"
            described.append(f"{written} is {found}")
        return ", ".join(dict.fromkeys(described))


def condition(
    text: str, layout: Layout, settings: Any, terms: Mapping[str, object] | None = None
) -> Condition:
    """Return the condition `text` for this layout and these settings. Raises `BadCondition`.

    `terms` are the other names that it may use besides `s`, the state, and `c`, the settings:
    numbers, functions of numbers, and the fields of a user's model as declared.
    """
    text = text.strip()
    if not text:
        raise BadCondition("", 1, "there is nothing; write one, as s.leo[0] > 1")
    if len(text) > TEXT_MAX or not text.isascii() or not text.isprintable():
        column = next((i + 1 for i, char in enumerate(text) if not _is_plain(char)), TEXT_MAX + 1)
        shown = "".join(char if _is_plain(char) else "?" for char in text[:TEXT_MAX])
        raise BadCondition(shown, column, f"write at most {TEXT_MAX} printable ASCII characters")
    terms = terms or {}
    reader = Reader(
        text=text,
        layout=layout,
        settings=settings,
        numbers={name: value for name, value in terms.items() if isinstance(value, int)},
        functions={name: value for name, value in terms.items() if callable(value)},
        fields={
            name: value
            for name, value in terms.items()
            if isinstance(value, Flag | Number | Choice | Name)
        },
    )
    try:
        parsed = _parse(text)
        for node in ast.walk(parsed):
            if isinstance(node, ast.Attribute):
                _require_plain(text, node, terms.get(node.attr))
        tree = reader.truth(parsed)
        holds = _make(reader, "condition", tree)
        fails = _make(reader, "no_condition", ast.UnaryOp(ast.Not(), tree))
    except (RecursionError, MemoryError):
        raise BadCondition(text, 1, "it is nested too deeply; write less") from None
    return Condition(text, holds, fails, tuple(reader.read), reader.fields)


def _require_plain(text: str, node: ast.Attribute, declared: object) -> None:
    """Refuse fields whose elements are not those of the layout."""
    if isinstance(declared, Container | Value) or (
        isinstance(declared, DeclaredField) and len(declared.extents) > 2
    ):
        what = "has more than two indices"
        if isinstance(declared, Container | Value):
            what = f"is a {type(declared).__name__}"
        raise BadCondition(
            text,
            node.col_offset + 1,
            f"{node.attr} {what}, and a condition reads none; make it a claim of the file",
        )


def _is_plain(char: str) -> bool:
    return char.isascii() and char.isprintable()


def _parse(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except SyntaxError as problem:
        column = min(problem.offset or len(text) + 1, len(text) + 1)
        raise BadCondition(text, column, f"it is no expression ({problem.msg})") from None
    except ValueError as problem:
        raise BadCondition(text, 1, f"it is no expression ({problem})") from None


def _make(reader: Reader, name: str, tree: ast.expr) -> Any:
    """Return the function (s, c) with the value of the tree."""
    arguments = ast.arguments([], [ast.arg("s"), ast.arg("c")], None, [], [], None, [])
    body = ast.Return(copy.deepcopy(tree))
    made = ast.FunctionDef(name, arguments, [body], [], None, lineno=1, col_offset=0)
    made = ast.fix_missing_locations(made)
    numbering = Numbering(
        lambda node: element_of(node, reader.fields), lambda called: {}, {}, reader.refuse
    )
    made = numbering.visit(made)
    names: dict[str, Any] = {"__name__": "condition", **reader.functions}
    unfolding = Unfolding(taken=names)
    made = ast.fix_missing_locations(unfolding.visit(made))
    for loop_name, loop in unfolding.loops.items():
        loop.lineno = made.lineno
        names[loop_name] = function_of(ast.fix_missing_locations(loop), "<condition>", names)
    return function_of(made, "<condition>", names)
