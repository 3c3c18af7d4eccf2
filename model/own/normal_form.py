"""Normal form of a user model's state without bounds, and what its arguments may be there.

Rules compare epochs by their order, and values for being the same. So epochs are numbered anew in
their order after each step, and values as they first appear; 0 and None stay. Epochs are numbered
by `stride`: between two of them, and below the first, there is room for as many new ones as a step
may bring. docs/unbounded.md has the argument.

The functions are made as text, for the fields of one model: so Python runs them, and the checker
compiles them, as it does the rules.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from waterline.model.core.layout import Field
from waterline.model.own.fields import Epochs, Opaque

NORMAL_FORM = "__normal_form__"
_CHUNK = 60
"""Number of epochs in one number of a set, a bit each."""


@dataclass(frozen=True, slots=True)
class Renamed:
    """A sort without bounds, and the fields of the layout that hold its epochs or values.

    `arguments` is how many of them one action takes at most.
    """

    sort: Epochs | Opaque
    fields: tuple[Field, ...]
    arguments: int

    @property
    def cells(self) -> int:
        """Maximum number of them in a state."""
        return sum(math.prod(field.shape) for field in self.fields)

    @property
    def stride(self) -> int:
        """Distance between epochs in normal form."""
        return self.arguments + 1

    @property
    def most(self) -> int:
        """The number for which a state has room: the highest epoch, or how many values there are.

        Those that a state has, and above them as many as a step may bring.
        """
        if isinstance(self.sort, Opaque):
            return max(1, self.cells + self.arguments)
        return max(1, self.cells * self.stride + self.arguments)

    @property
    def may_be(self) -> str:
        """The name of the function that says whether an argument may be this number."""
        return f"__may_be_{self.sort.name}__"


def functions_of(sorts: Sequence[Renamed]) -> list[ast.FunctionDef]:
    """The functions, those that others call before them; the last is the normal form."""
    lines: list[str] = []
    for each in sorts:
        lines += _may_be(each)
        lines += _of_values(each) if isinstance(each.sort, Opaque) else _of_epochs(each)
    lines += [f"def {NORMAL_FORM}(s, c):"]
    lines += [f"    __normal_{each.sort.name}__(s)" for each in sorts]
    made = ast.parse("\n".join(lines)).body
    return [each for each in made if isinstance(each, ast.FunctionDef)]


def _each_cell(fields: Sequence[Field], body: Sequence[str]) -> Iterator[str]:
    """The statements for every element of these fields, which `{cell}` stands for."""
    if not fields:
        yield "    pass"
    for field in fields:
        pad, index = "    ", list[str]()
        for letter, count in zip("ij", field.shape, strict=False):
            yield f"{pad}for {letter} in range({count}):"
            pad, index = f"{pad}    ", [*index, letter]
        cell = f"s.{field.name}[{', '.join(index)}]" if index else f"s.{field.name}"
        yield from (pad + line.replace("{cell}", cell) for line in body)


def _may_be(each: Renamed) -> Iterator[str]:
    """Yield the check that an argument is an existing value or stands in for all new ones.

    New values lie next to existing ones, and all between the same two are alike: `of` of them
    suffice for that many arguments of the action.
    """
    least = -1 if isinstance(each.sort, Opaque) else 0
    yield f"def {each.may_be}(s, one, of):"
    yield f"    most = {least}"
    yield from _each_cell(each.fields, ["most = max(most, {cell})"])
    if isinstance(each.sort, Opaque):
        yield "    return one <= most + of"
    else:
        yield f"    return 1 <= one <= most + of and one % {each.stride} <= of"


def _of_values(each: Renamed) -> Iterator[str]:
    """Opaque become 0, 1, ... as they first appear: each changes names with the one that had it."""
    name = each.sort.name
    yield f"def __exchange_{name}__(s, one, other):"
    exchanged = ["if {cell} == one:", "    {cell} = other"]
    exchanged += ["elif {cell} == other:", "    {cell} = one"]
    yield from _each_cell(each.fields, exchanged)
    yield f"def __normal_{name}__(s):"
    yield "    seen = 0"
    found = ["one = {cell}", "if one >= seen:", "    if one > seen:"]
    found += [f"        __exchange_{name}__(s, one, seen)", "    seen = seen + 1"]
    yield from _each_cell(each.fields, found)


def _of_epochs(each: Renamed) -> Iterator[str]:
    """Epochs become the stride, twice it, ... in their order."""
    name = each.sort.name
    chunks = range(each.most // _CHUNK + 1)
    sets = ", ".join(f"found{chunk}" for chunk in chunks)
    yield f"def __rank_{name}__({sets}, one):"
    yield "    smaller = 0"
    for chunk in chunks:
        first, last = chunk * _CHUNK, (chunk + 1) * _CHUNK - 1
        yield f"    if one > {last}:"
        yield f"        smaller = smaller + found{chunk}.bit_count()"
        yield f"    elif one > {first}:"
        yield f"        below = found{chunk} & ((1 << (one - {first})) - 1)"
        yield "        smaller = smaller + below.bit_count()"
    yield f"    return (smaller + 1) * {each.stride}"
    yield f"def __normal_{name}__(s):"
    yield from (f"    found{chunk} = 0" for chunk in chunks)
    noted = ["one = {cell}"]
    for chunk in chunks:
        first, last = max(1, chunk * _CHUNK), (chunk + 1) * _CHUNK - 1
        noted += [f"if {first} <= one <= {last}:"]
        noted += [f"    found{chunk} = found{chunk} | (1 << (one - {chunk * _CHUNK}))"]
    yield from _each_cell(each.fields, noted)
    named = ["if {cell} >= 1:", f"    {{cell}} = __rank_{name}__({sets}, {{cell}})"]
    yield from _each_cell(each.fields, named)
