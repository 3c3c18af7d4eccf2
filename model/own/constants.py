"""Constant tables that rules index by variables: `NEXT[node]`, `COST[s.state[n]]`, `PAIRS[i][1]`.

A table is a tuple, a list or a dictionary of the file, or of a module that it imports; what it
holds may be tables again. `model.own.values` writes what reads one.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections import namedtuple
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.model.own.fields import Choice
from waterline.model.own.syntax import NUMBER, SET, Kind

_TUPLE = ("__getitem__", "__iter__", "__contains__", "__len__", "__eq__", "__getattribute__")
_INT = tuple(f"__{way}__" for way in ("eq", "ne", "lt", "le", "gt", "ge", "bool", "int", "index"))
_FIELD = type(vars(namedtuple("_Sample", "field"))["field"])


@dataclass(frozen=True, slots=True)
class Table:
    """A constant as a rule names it, and the indices that stand behind it."""

    name: str
    value: Any
    indices: tuple[ast.expr, ...] = ()

    def leaves(self, names: Mapping[str, Any]) -> list[Any]:
        """Return all possible values, as far as the indices are constants."""
        found = [self.value]
        for index in self.indices:
            fixed = fixed_value(index, names)
            found = [
                each
                for value in found
                for key, each in entries(value)
                if fixed is None or place_of(fixed[0], value) == key
            ]
        return found


def table_of(node: ast.expr, names: Mapping[str, Any]) -> Table | None:
    """The constant table that an expression is an element of, or names as a whole."""
    match node:
        case ast.Subscript(value=owner, slice=index):
            found = table_of(owner, names)
            if isinstance(owner, ast.Tuple | ast.List) and (fixed := fixed_value(owner, names)):
                found = Table(ast.unparse(owner), fixed[0])
            if found is not None and any(map(is_table, found.leaves(names))):
                return Table(found.name, found.value, (*found.indices, index))
            return None
        case ast.Attribute(value=owner, attr=part) if found := table_of(owner, names):
            kinds = {type(each) for each in found.leaves(names)}
            named = getattr(next(iter(kinds), None), "_fields", ())
            read = inspect.getattr_static(next(iter(kinds)), part) if part in named else None
            if len(kinds) == 1 and type(read) is _FIELD:  # and no property in its place
                place = ast.copy_location(ast.Constant(named.index(part)), node)
                return Table(found.name, found.value, (*found.indices, place))
            return None
    thing = constant_of(node, names)
    return Table(ast.unparse(node), thing) if is_table(thing) else None


def constant_of(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """Return the value of a name of the file, a module or a class; None for anything else."""
    match node:
        case ast.Name(id=name):
            return names.get(name)
        case ast.Attribute(value=owner, attr=name):
            thing = constant_of(owner, names)
            if isinstance(thing, types.ModuleType | type):
                return vars(thing).get(name)
    return None


def is_table(thing: object) -> bool:
    """True if it has elements by index, and reads them by Python's own methods only."""
    return type(thing) in (list, dict) or _is_plain(thing, tuple, _TUPLE)


def is_number(thing: object) -> bool:
    """True for a whole number, also in an enumeration without operators of its own."""
    return _is_plain(thing, int, _INT)


def _is_plain(thing: object, kind: type, ways: Sequence[str]) -> bool:
    own = type(thing)
    return isinstance(thing, kind) and all(getattr(own, w) is getattr(kind, w) for w in ways)


def entries(thing: Any) -> Sequence[tuple[Any, Any]]:
    """The indices that a table has, each with its element."""
    if not is_table(thing):
        return ()
    return list(thing.items() if isinstance(thing, dict) else enumerate(thing))


def map_table(thing: Any, depth: int, made: Callable[[Any], Any]) -> Any:
    """The table with something else in the place of what stands `depth` indices below it."""
    if depth == 0:
        return made(thing)
    if isinstance(thing, dict):
        return {key: map_table(each, depth - 1, made) for key, each in thing.items()}
    return tuple(map_table(each, depth - 1, made) for each in thing) if is_table(thing) else thing


def fixed_value(node: ast.expr, names: Mapping[str, Any]) -> tuple[Any] | None:
    """The value of an index that is written there; None for one that a rule computes."""
    match node:
        case ast.Constant(value=value):
            return (value,)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() as number)):
            return (-number,)
        case ast.Tuple(elts=items) | ast.List(elts=items):
            found = [fixed_value(each, names) for each in items]
            return None if None in found else (tuple(each[0] for each in found if each),)
    constant = constant_of(node, names)
    return (constant,) if isinstance(constant, int | str) else None


def place_of(fixed: Any, value: Any) -> Any:
    """Return the place of an index, which may count from the end."""
    is_counted = not isinstance(value, dict) and isinstance(fixed, int) and fixed < 0
    return len(value) + fixed if is_counted else fixed


def describe(thing: Any) -> str:
    """`elements 0 to 2`, `the keys 'idle', 'busy'`"""
    keys = [key for key, _ in entries(thing)]
    if not isinstance(thing, dict):
        return f"elements 0 to {keys[-1]}" if keys else "no elements"
    shown = ", ".join(map(repr, keys[:6])) + (", ..." if len(keys) > 6 else "")
    return f"the keys {shown}"


def kind_of(table: Table, names: Mapping[str, Any]) -> Kind:
    """Return the common kind of the elements: numbers, words or sets; None if they differ."""
    leaves = table.leaves(names)
    if leaves and all(type(each) is str for each in leaves):
        return Choice(table.name, *dict.fromkeys(leaves))
    if leaves and all(isinstance(each, frozenset | set) for each in leaves):
        return SET
    return NUMBER if leaves and all(map(is_number, leaves)) else None
