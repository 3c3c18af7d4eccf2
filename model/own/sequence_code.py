"""Functions of queues and logs, written for one field: its places are elements of the field.

The values of a sequence stand in its first places; a place without a value holds the number below
all values. So equal sequences are equal numbers, and none of a lowered sequence is hidden.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import Any, ClassVar

from waterline.model.core.made import note_operation
from waterline.model.own.names import Names
from waterline.model.own.placed import Code, parse_function


@dataclass(frozen=True, slots=True)
class SequenceCode(Code):
    """The operations of queues, bags and logs."""

    takes: ClassVar = {
        "at": "k",
        "put": "kx",
        "add": "x",
        "truncate": "n",
        "contains": "x",
        "count": "x",
        "remove": "x",
    }

    def _length(self) -> list[str]:
        return [
            "n = 0",
            f"for p in range({self.field.room}):",
            f"    if {self._place('p')} != {self.field.empty}:",
            "        n = p + 1",
            "return n",
        ]

    def _counted(self) -> list[str]:
        return [f"n = {self.length}({', '.join(['s', *self.indices])})"]

    def _found(self) -> list[str]:
        """`k` is the place of a value, counted from the end if it is below 0; or outside."""
        return [
            *self._counted(),
            "if k < 0:",
            "    k = k + n",
            "if k < 0 or k >= n:",
            f"    k = {self.field.room}",
        ]

    def _at(self) -> list[str]:
        return [*self._found(), f"return {self._place('k')}"]

    def _put(self) -> list[str]:
        return [*self._found(), *self._refused(), f"{self._place('k')} = x"]

    def _add(self) -> list[str]:
        added = [*self._counted(), "k = n", *self._refused(), f"{self._place('k')} = x"]
        return [*added, *self._sorted()] if self.field.is_sorted else added

    def _sorted(self) -> list[str]:
        """The greatest value of a bag comes first: the last one goes to its place."""
        room, here, there = self.field.room, self._place("k - 1"), self._place("k")
        return [
            f"for p in range({room - 1}):",
            f"    k = {room - 1} - p",
            f"    if {here} < {there}:",
            f"        y = {here}",
            f"        {here} = {there}",
            f"        {there} = y",
        ]

    def _remove(self) -> list[str]:
        room = self.field.room
        return [
            f"k = {room}",
            f"for p in range({room}):",
            f"    if {self._place('p')} == x:",
            "        k = p",
            *self._refused(),
            f"{self._place('k')} = {self.field.empty}",
            f"for p in range({room - 1}):",
            "    if p >= k:",
            f"        {self._place('p')} = {self._place('p + 1')}",
            f"        {self._place('p + 1')} = {self.field.empty}",
        ]

    def _count(self) -> list[str]:
        return [
            "n = 0",
            f"for p in range({self.field.room}):",
            f"    if {self._place('p')} == x and x != {self.field.empty}:",
            "        n = n + 1",
            "return n",
        ]

    def _refused(self) -> list[str]:
        """Reject the number for an empty place, which is not a value."""
        return [f"if x == {self.field.empty}:", f"    k = {self.field.room}"]

    def _receive(self) -> list[str]:
        room = self.field.room
        first, following = self._place("0"), self._place("p + 1")
        return [
            f"x = {first}",
            f"if x == {self.field.empty}:",
            f"    return {self._place(str(room))}",
            f"for p in range({room - 1}):",
            f"    {self._place('p')} = {following}",
            f"{self._place(str(room - 1))} = {self.field.empty}",
            "return x",
        ]

    def _is_full(self) -> list[str]:
        return [*self._counted(), f"return n >= {self.field.room}"]

    def _truncate(self) -> list[str]:
        return [
            "if n < 0:",
            f"    {self._place(str(self.field.room))} = {self.field.empty}",
            f"for p in range({self.field.room}):",
            "    if p >= n:",
            f"        {self._place('p')} = {self.field.empty}",
        ]

    def _contains(self) -> list[str]:
        return [
            f"for p in range({self.field.room}):",
            f"    if {self._place('p')} == x:",
            f"        return x != {self.field.empty}",
            "return False",
        ]


def in_first_places(field: Any, shape: tuple[int, ...], name: str) -> ast.FunctionDef:
    """Return the test that the values of a field stand in its first places; of a bag, in order.

    `shape` is that of the field in a layout.
    """
    (*rows, room), lines, indices = shape, [f"def {name}(s, c):"], list[str]()
    for number, count in enumerate(rows):
        is_sort = len(field.indices) == 1 and isinstance(field.indices[0], Names)
        over = f"s.{field.indices[0].plural}" if is_sort else str(count)
        lines.append(f"{'    ' * (number + 1)}for i{number} in range({over}):")
        indices.append(f"i{number}")
    pad = "    " * (len(rows) + 1)
    here, there = (f"s.{field.name}[{', '.join([*indices, p])}]" for p in ("p", "p + 1"))
    test = f"{here} < {there}" if field.is_sorted else f"{here} == {field.empty} != {there}"
    lines += [f"{pad}for p in range({room - 1}):", f"{pad}    if {test}:"]
    lines += [f"{pad}        return False", "    return True"]
    return parse_function(lines)


def equal(left: Any, right: Any, name: str) -> ast.FunctionDef:
    """Return the test that the first `n` values of one are the first `m` of the other, as a
    function of `s`, indices, `n`, then `t`, indices, `m`.
    """
    i = [f"i{number}" for number in range(len(left.indices))]
    j = [f"j{number}" for number in range(len(right.indices))]
    here, there = ", ".join([*i, "p"]), ", ".join([*j, "p"])
    lines = [
        f"def {name}({', '.join(['s', *i, 'n', 't', *j, 'm'])}):",
        "    if n < 0 or m < 0:",
        f"        return s.{left.name}[{', '.join([*i, str(left.room)])}] == 0",
        f"    for p in range({max(left.room, right.room)}):",
        f"        x = {left.empty}",
        f"        y = {left.empty}",
        f"        if p < n and p < {left.room}:",
        f"            x = s.{left.name}[{here}]",
        f"        if p < m and p < {right.room}:",
        f"            y = t.{right.name}[{there}]",
        "        if x != y:",
        "            return False",
        "    return True",
    ]
    return note_operation(parse_function(lines), "same", left.name, right.name)


def copy_function(target: Any, source: Any, name: str) -> ast.FunctionDef:
    """The target becomes the first `n` values of the source: `s`, indices, `t`, indices, `n`."""
    i = [f"i{number}" for number in range(len(target.indices))]
    j = [f"j{number}" for number in range(len(source.indices))]
    here, there = ", ".join([*i, "p"]), ", ".join([*j, "p"])
    lines = [
        f"def {name}({', '.join(['s', *i, 't', *j, 'n'])}):",
        "    if n < 0:",
        f"        s.{target.name}[{', '.join([*i, str(target.room)])}] = {target.empty}",
        f"    for p in range({max(target.room, source.room)}):",
        f"        x = {source.empty}",
        f"        if p < n and p < {source.room}:",
        f"            x = t.{source.name}[{there}]",
        f"        if p < {target.room} or x != {source.empty}:",
        f"            s.{target.name}[{here}] = x",
    ]
    return note_operation(parse_function(lines), "copy", target.name, source.name)
