"""Encoding of names, choices and None as numbers, and of constant tables as functions.

To read an element of a table becomes a call of a function that compares the index with each that
there is. An index that there is not is an error of the rule.
"""

from __future__ import annotations

import ast
import copy
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from waterline.model.core.errors import nearest
from waterline.model.own.constants import (
    Table,
    describe,
    entries,
    fixed_value,
    is_number,
    place_of,
    table_of,
)
from waterline.model.own.fields import (
    MEMBERS_MAX,
    NONE,
    AnyField,
    Choice,
    Container,
    Flag,
    Name,
    Number,
    Set,
    Value,
)
from waterline.model.own.placed import parse_function
from waterline.model.own.syntax import (
    NUMBER,
    OF_SET,
    SET,
    Kind,
    Refuse,
    at,
    is_none,
    is_plain,
    on_line,
)

CHAIN_MAX = 16
"""Maximum number of elements compared one after the other."""
ENTRIES_MAX = 1024
"""Maximum number of elements of a table, including those of its rows."""


@dataclass(slots=True)
class Numbering(ast.NodeTransformer):
    """Writes numbers for the text and the None that are compared with fields, or stored in them.

    `kind` returns the kind of an expression, `taken` the words that a function of the file expects,
    by argument. `names` are constants of the file, some of them text. Raises what `refuse` makes
    for text that has no meaning in any field.
    """

    kind: Callable[[ast.expr], Kind]
    taken: Callable[[str], Mapping[int, Choice | Name]]
    names: Mapping[str, Any]
    refuse: Refuse
    made: dict[str, ast.FunctionDef] = field(default_factory=dict)
    """The functions that read tables, by name."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        """`s.state[rm] == "done"`, `s.leader is not None`, `s.state[rm] in ("a", "b")`"""
        operands = [node.left, *node.comparators]
        fields = [field for field in map(self._field, operands) if field is not None]
        # What holds several values comes first; of two choices, the one with more words.
        fields.sort(key=lambda each: -len(getattr(each, "values", ())))
        fields.sort(key=lambda each: not isinstance(each, Container))
        if fields and isinstance(fields[0], Choice | Name):
            if isinstance(fields[0], Choice) and any(
                isinstance(op, ast.Is | ast.IsNot) for op in node.ops
            ):
                what = f"`{ast.unparse(node)}` compares words with is"
                raise self.refuse(node, what, "write == or !=")
            node.left, *node.comparators = (self._number(fields[0], each) for each in operands)
            if isinstance(fields[0], Name):
                swapped = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}
                node.ops = [swapped[type(op)]() if type(op) in swapped else op for op in node.ops]
        elif fields and isinstance(fields[0], Container):
            node.left, *node.comparators = (self._member(fields[0], each) for each in operands)
        return self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """`s.seen | {"request"}`"""
        of = next(
            (f for f in map(self._field, (node.left, node.right)) if isinstance(f, Set)), None
        )
        if of is not None:
            node.left, node.right = self._member(of, node.left), self._member(of, node.right)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        """`s.seen |= {"request"}`"""
        field = self._field(node.target)
        if isinstance(field, Set):
            node.value = self._member(field, node.value)
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """`s.wire[a, b].send("request")`, `send(s, a, b, "request")`"""
        match node.func:
            case ast.Attribute(value=owner):
                field = self._field(owner)
                if isinstance(field, Container):
                    node.args = [self._member(field, each) for each in node.args]
            case ast.Name(id=called):
                for place, choice in self.taken(called).items():
                    if place < len(node.args):
                        node.args[place] = self._number(choice, node.args[place])
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`s.state[rm] = "done"`"""
        for target in node.targets:
            node.value = self._store(target, node.value)
        return self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        """`word: str = "done"`"""
        if node.value is not None:
            node.value = self._store(node.target, node.value)
        return self.generic_visit(node)

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`NEXT[node]`"""
        if (table := table_of(node, self.names)) is not None:
            own = self.kind(node)
            return self._read(table, node, own if isinstance(own, Choice) else None)
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """`EDGES[i].target`"""
        table = table_of(node, self.names)
        if table is not None and table.indices:
            return self._read(table, node, None)
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        """Text and None that are left have no meaning."""
        if isinstance(node.value, str):
            raise self.refuse(
                node,
                f"{node.value!r} has no meaning here",
                "compare text with a field of choices, or store it in one, directly",
            )
        if node.value is None:
            raise self.refuse(
                node,
                "None has no meaning here",
                "compare it with a field of names (or_none=True), or store it in one, directly",
            )
        return node

    def visit_Expr(self, node: ast.Expr) -> ast.AST | None:
        """A statement that is a text is a remark."""
        if isinstance(node.value, ast.Constant):
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> ast.AST:
        """`return None` ends an action."""
        if is_none(node.value):
            node.value = None
        return self.generic_visit(node)

    def _field(self, node: ast.expr) -> AnyField | None:
        """The field whose values an expression has: `s.leader`, `s.state[rm]`."""
        kind = self.kind(node)
        return kind if isinstance(kind, AnyField) else None

    def _store(self, target: ast.expr, value: ast.expr) -> ast.expr:
        """Return what an assignment stores in a field, or in a variable that holds words."""
        if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
            pairs = zip(target.elts, value.elts, strict=False)
            value.elts = [self._store(each, given) for each, given in pairs]
            return value
        field = self._field(target)
        if isinstance(field, Container):
            return self._member(field, value)
        return value if field is None else self._number(field, value)

    def _member(self, field: Container, node: ast.expr) -> ast.expr:
        """Return the number of a member of a set or a sequence; a written set keeps its form."""
        if isinstance(node, ast.BinOp) and self.kind(node) != NUMBER:
            node.left, node.right = self._member(field, node.left), self._member(field, node.right)
            return node
        return self._number(field.element, node)

    def _number(self, field: AnyField, node: ast.expr) -> ast.expr:
        """Return what a field keeps for this; anything but text and None stays the same."""
        if (table := table_of(node, self.names)) is not None and table.indices:
            return self._read(table, node, field)
        if isinstance(field, Choice) and is_plain(node):
            kind = self.kind(node)
            if isinstance(kind, Choice) and kind.values != field.values:
                return self._translate(kind, field, node)
        if isinstance(field, Name) and field.or_none and self._may_be_below(node):
            made = ast.Call(ast.Name("__named__", ast.Load()), [node], [])
            return ast.fix_missing_locations(ast.copy_location(made, node))
        if isinstance(node, ast.IfExp):
            node.body, node.orelse = (
                self._number(field, node.body),
                self._number(field, node.orelse),
            )
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            node.elts = [self._number(field, each) for each in node.elts]
        elif isinstance(node, ast.Name) and isinstance(self.names.get(node.id), str):
            text = ast.copy_location(ast.Constant(self.names[node.id]), node)
            return self._number(field, text)
        elif (
            isinstance(node, ast.Constant)
            and (number := self._kept_number(field, node, node.value)) is not None
        ):
            return ast.copy_location(ast.Constant(number), node)
        return node

    def _may_be_below(self, node: ast.expr) -> bool:
        """True if an expression is a number that may equal that of None, and then means None."""
        kind = self.kind(node)
        if isinstance(kind, Number):
            return kind.lo < 0
        # A number that is written there is no negative one: that is an operation.
        return kind == NUMBER and not isinstance(node, ast.Constant)

    @staticmethod
    def _translate(kind: Choice, field: Choice, node: ast.expr) -> ast.expr:
        """A word of other words, as a field keeps it; one that it has not is in nothing."""
        numbers = {word: number for number, word in enumerate(field.values)}
        *firsts, last = (ast.Constant(numbers.get(word, NONE - 1)) for word in kind.values)
        made: ast.expr = last
        for number, kept in enumerate(firsts):
            asked = ast.Compare(copy.deepcopy(node), [ast.Eq()], [ast.Constant(number)])
            made = ast.IfExp(asked, kept, made)
        return at(made, node)

    def _kept_number(self, field: AnyField, node: ast.expr, value: Any) -> int | None:
        if isinstance(value, str) and isinstance(field, Choice):
            if value in field.values:
                return field.values.index(value)
            near = nearest(value, field.values)
            instead = f"did you mean {near!r}? It" if near else "it"
            known = ", ".join(repr(each) for each in field.values)
            raise self.refuse(
                node, f"{field.name} is never {value!r}", f"{instead} is one of {known}"
            )
        if isinstance(value, str) and isinstance(field, Name):
            raise self.refuse(
                node,
                f"{field.name} holds a {field.of.name}, and {value!r} is text",
                f"names are numbers in rules: use an argument, or 0 for {field.of.describe(0)}",
            )
        if value is None and isinstance(field, Name):
            if field.or_none:
                return NONE
            raise self.refuse(node, f"{field.name} is never None", "declare it with or_none=True")
        return None

    # --- constant tables -------------------------------------------------------------------------

    def _read(self, table: Table, node: ast.expr, of: AnyField | None) -> ast.expr:
        """An element of a table, as a field keeps it."""
        leaves = table.leaves(self.names)
        if not leaves:
            what = f"there is no {ast.unparse(node)}"
            raise self.refuse(node, what, f"{table.name} has {describe(table.value)}")
        parts = [each for index in table.indices for each in _parts(index)]
        given = [each for each in parts if fixed_value(each, self.names) is None]
        kept = [self._leaf(each, node, of) for each in leaves]
        is_set = isinstance(leaves[0], frozenset | set)
        if not given:
            number = ast.Constant(kept[0])
            written = _set_of(kept[0]) if is_set else number
            return ast.fix_missing_locations(ast.copy_location(written, node))
        if len(leaves) > ENTRIES_MAX:
            what = f"{table.name} has {len(leaves)} elements"
            raise self.refuse(node, what, f"a table has at most {ENTRIES_MAX}")
        why = f"there is no `{ast.unparse(node)}` here: {table.name} has {describe(table.value)}"
        letters = {id(each): f"i{number}" for number, each in enumerate(given)}
        lines = [
            f"def read({', '.join(letters.values())}):",
            f"    {why + '; guard the step'!r}",
            *(f"    {line}" for line in self._ways(table.value, table.indices, node, of, letters)),
            "    missing = 0",
            "    return 1 // missing",
        ]
        made = parse_function(lines)
        digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:8]
        slug = "".join(letter if letter.isalnum() else "_" for letter in table.name)
        begins = OF_SET if is_set else "__of_"
        made.name = f"{begins}{slug}_line_{node.lineno}_{digest}__"
        self.made[made.name] = on_line(made, node)
        call = ast.Call(ast.Name(made.name, ast.Load()), [self.visit(each) for each in given], [])
        return ast.fix_missing_locations(ast.copy_location(call, node))

    def _ways(
        self,
        value: Any,
        indices: Sequence[ast.expr],
        node: ast.expr,
        of: AnyField | None,
        letters: Mapping[int, str],
    ) -> Iterator[str]:
        """Statements that return the element; they go on where there is none."""
        if not indices:
            yield f"return {self._leaf(value, node, of)}"
            return
        index, *rest = indices
        fixed = fixed_value(index, self.names)
        found: list[tuple[str, list[str]]] = []
        for key, each in entries(value):
            if fixed is not None:
                if place_of(fixed[0], value) == key:
                    yield from self._ways(each, rest, node, of, letters)
                continue
            within = list(self._ways(each, rest, node, of, letters))
            if isinstance(value, dict):
                asked = self._is_key(key, index, letters)
            else:
                asked = self._is_place(key, len(value), index, letters)
            if asked is not None and within:
                found.append((asked, within))
        yield from _one_of(found)

    def _is_place(self, place: int, count: int, index: ast.expr, letters: Mapping[int, str]) -> str:
        """Return the test that an index is this place; a number below 0 counts from the end."""
        kind = self.kind(index)
        if isinstance(index, ast.Tuple) or isinstance(kind, Choice | Value | Set) or kind == SET:
            what = f"`{ast.unparse(index)}` is no place of a tuple"
            raise self.refuse(index, what, "index it with a number")
        letter = letters[id(index)]
        counts = kind == NUMBER or isinstance(kind, Number | Flag)
        return f"{letter} == {place}" + (f" or {letter} == {place - count}" if counts else "")

    def _is_key(self, key: Any, index: ast.expr, letters: Mapping[int, str]) -> str | None:
        """Return the test that an index is this key of a dictionary; None if it never is."""
        keys, parts = key if isinstance(key, tuple) else (key,), _parts(index)
        if isinstance(key, tuple) and not isinstance(index, ast.Tuple):
            what = f"`{ast.unparse(index)}` stands for the key {key!r}"
            raise self.refuse(index, what, f"write its {len(keys)} parts, as [a, b]")
        if isinstance(key, tuple) != isinstance(index, ast.Tuple) or len(keys) != len(parts):
            return None
        asked = []
        for each, part in zip(keys, parts, strict=True):
            if (fixed := fixed_value(part, self.names)) is not None:
                if fixed[0] != each:
                    return None
            elif (number := self._number_of(each, part)) is not None:
                asked.append(f"{letters[id(part)]} == {number}")
            else:
                return None
        return " and ".join(asked)

    def _number_of(self, key: Any, index: ast.expr) -> int | None:
        """The number that an index has where it is this key; None where it never is."""
        kind = self.kind(index)
        if isinstance(key, str) and kind is None:
            what = f"it is not known of which words `{ast.unparse(index)}` is one"
            raise self.refuse(index, what, "index with a field of choices")
        if isinstance(kind, Choice):
            return kind.values.index(key) if key in kind.values else None
        if key is None:
            return NONE if isinstance(kind, Name) and kind.or_none else None
        if not is_number(key):
            return None
        # None is -1 too.
        counts = kind == NUMBER or isinstance(kind, Number | Flag)
        return int(key) if key >= 0 or counts else None

    def _leaf(self, value: Any, node: ast.expr, of: AnyField | None) -> int:
        """The number that stands for an element of a table."""
        of = of.element if isinstance(of, Container) else of
        if is_number(value):
            # None is -1, and no number is None.
            return int(value) if value >= 0 or not isinstance(of, Name) else NONE - 1
        if isinstance(value, frozenset | set):
            members = [self._leaf(each, node, of) for each in value]
            if all(0 <= each < MEMBERS_MAX for each in members):
                return sum(1 << each for each in members)
        elif of is not None and (number := self._kept_number(of, node, value)) is not None:
            return number
        what = f"`{ast.unparse(node)}` may be {value!r}, which has no meaning here"
        raise self.refuse(node, what, "index it as far as numbers, or words beside a field of them")


def _set_of(members: int) -> ast.expr:
    """A set as it is written."""
    numbers = [n for n in range(members.bit_length()) if members >> n & 1]
    if not numbers:
        return ast.Call(ast.Name("set", ast.Load()), [], [])
    return ast.Set([ast.Constant(n) for n in numbers])


def _parts(index: ast.expr) -> list[ast.expr]:
    return index.elts if isinstance(index, ast.Tuple) else [index]


def _one_of(found: Sequence[tuple[str, list[str]]]) -> Iterator[str]:
    """Statements that ask for one after the other; of many, first for halves of them."""
    if len(found) > CHAIN_MAX:
        half = len(found) // 2
        yield f"if {' or '.join(asked for asked, _ in found[:half])}:"
        yield from (f"    {line}" for line in _one_of(found[:half]))
        yield "else:"
        yield from (f"    {line}" for line in _one_of(found[half:]))
        return
    for asked, within in found:
        yield f"if {asked}:"
        yield from (f"    {line}" for line in within)
