"""Structs as TLA+'s records, `[to |-> 0, term |-> 1]`.

The rule being read has one number for a struct, whose digits are the parts. The functions that make
that number, and take a digit out of it, become records and their fields here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from waterline.checker.tla.forming import member, plus
from waterline.checker.tla.kinds import WHOLE, Kind, Records, Typed, as_kind, of_field
from waterline.checker.tla.naming import Naming
from waterline.checker.tla.text import flat
from waterline.checker.tla.tree import Atom, Infix, Member, Number, Record, Tree
from waterline.model.own.fields import Choice, Struct


def records_of(
    struct: Struct[Any],
    listed: Mapping[tuple[str, ...], Atom],
    sorts: Mapping[str, Atom],
    naming: Naming,
) -> tuple[Records, list[str]]:
    """The kind of a struct's records; and the lines that define all of them, and their order.

    `listed` are the tuples of words that there are in the module.
    """
    parts: list[tuple[str, Kind, int, int]] = []
    sets: list[str] = []
    each = naming.top("struct").name
    number: Tree = Number(0)
    for (name, part), size in zip(struct.parts, struct.sizes, strict=True):
        words = listed.get(part.values, Atom("")) if isinstance(part, Choice) else Atom("")
        kind, values = of_field(part, *part.range, words, sorts)
        parts.append((name, kind, part.range[0], size))
        sets.append(f"{name}: {flat(values)}")
        digit = as_kind(Typed(Member(Atom(each), name), kind), WHOLE)
        digit = plus(digit, Number(-part.range[0])) if part.range[0] else digit
        number = digit if number == Number(0) else plus(Infix("*", number, Number(size)), digit)
    found = Records(
        struct.name,
        tuple(parts),
        naming.top(f"{struct.name}Structs"),
        naming.top(f"NumberOf{struct.name}"),
    )
    return found, [
        f"{found.all.name} ==",
        f"  [{', '.join(sets)}]",
        f"{found.number.name}({each}) ==",
        f"  {flat(number)}",
    ]


def call_struct(kind: Records, part: Sequence[str], given: Sequence[Typed]) -> Typed:
    """Return the struct with these parts; or the part of the given struct that has this name."""
    if not part:
        values = zip(kind.parts, given, strict=True)
        made = tuple((of[0], as_kind(value, of[1])) for of, value in values)
        return Typed(Record(made), kind)
    (name,), (struct,) = part, given
    (of_part,) = (of for each, of, _, _ in kind.parts if each == name)
    return Typed(member(as_kind(struct, kind), name), of_part)
