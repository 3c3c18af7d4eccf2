"""Values of fields as plain Python has them, and the numbers that the checker keeps for them.

Another kind of field is one more case in each function here, in `waterline.containers`, where rules
change sets, queues and logs, and in `waterline.testing._plain`, which says what a corpus has.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

from waterline.model.core.state import OutOfRange
from waterline.model.own.fields import (
    NONE,
    AnyField,
    Choice,
    Flag,
    Name,
    Number,
    PlainField,
    SequenceField,
    Set,
)
from waterline.model.own.fields import Value as Made
from waterline.model.own.structs import describe_struct

Value = Any
"""True or False of a `Flag`, a word of a `Choice`, a number of a `Number`, a number or None of a
`Name`; a frozenset of such values of a `Set`, a tuple of them of a `Queue` or a `Log`.
"""
Kept = int | tuple[int, ...]
"""The checker's form of a value: a number; for a queue or a log, one for each value."""


def first_value(field: AnyField) -> Value:
    """Return the initial value of a field's element."""
    return decode(field, () if isinstance(field, SequenceField) else field.range[0])


def decode(  # noqa: PLR0911 - one for each kind
    field: AnyField, kept: Kept
) -> Value:
    """The value for which the checker keeps this."""
    if isinstance(field, SequenceField):
        assert isinstance(kept, tuple)
        return tuple(decode(field.element, each) for each in kept)
    assert isinstance(kept, int)
    match field:
        case Flag():
            return bool(kept)
        case Choice():
            return field.values[kept]
        case Name():
            return None if kept == NONE else kept
        case Set():
            return frozenset(decode(field.element, each) for each in field.members(kept))
        case Made(of=struct):
            parts = zip(struct.parts, struct.digits(kept), strict=True)
            return struct.kind(*(decode(part, each) for (_, part), each in parts))
    return kept


def encode(field: AnyField, value: Value) -> Kept:
    """Return the checker's form of a value that `accept` has returned."""
    match field:
        case Set():
            lo, _ = field.element.range
            return sum(1 << _number(field.element, each) - lo for each in value)
        case SequenceField():
            return tuple(_number(field.element, each) for each in value)
    return _number(field, value)


def _number(field: AnyField, value: Value) -> int:
    if isinstance(field, Choice):
        return field.values.index(value)
    if isinstance(field, Made):
        return field.of.number(
            [_number(part, each) for (_, part), each in zip(field.of.parts, value, strict=True)]
        )
    return NONE if value is None else int(value)


def accept(field: AnyField, value: object, element: str) -> Value:
    """The value as a state holds it. Raises `OutOfRange` for what is none of the field's.

    `element` is what the message calls it.
    """
    match field:
        case Set():
            if isinstance(value, set | frozenset):
                return frozenset(_accept_one(field.element, each, element) for each in value)
        case SequenceField():
            if isinstance(value, tuple | list) and len(value) <= field.room:
                held = tuple(_accept_one(field.element, each, element) for each in value)
                return in_order(field, held) if field.is_sorted else held
        case _:
            return _accept_one(field, value, element)
    raise _no_value(field, value, element)


def _accept_one(field: PlainField, value: object, element: str) -> Value:
    """Return one value: of a plain field, a member of a set, a value in a queue or a log."""
    match field:
        case Flag():
            if isinstance(value, int) and value in (0, 1):
                return bool(value)
        case Choice():
            if isinstance(value, str) and value in field.values:
                return value
        case Name():
            if value is None and field.or_none:
                return None
            if isinstance(value, int) and 0 <= value < field.of.count:
                return int(value)
        case Number():
            if isinstance(value, int) and field.lo <= value <= field.hi:
                return int(value)
        case Made(of=struct):
            if isinstance(value, struct.kind):
                parts = zip(struct.parts, value, strict=True)
                return struct.kind(
                    *(_accept_one(part, each, f"{element}: {name}") for (name, part), each in parts)
                )
    raise _no_value(field, value, element)


def in_order(bag: SequenceField, values: Iterable[Value]) -> tuple[Value, ...]:
    """The values of a bag in the order that the checker keeps them in: the greatest first."""
    return tuple(sorted(values, key=partial(_number, bag.element), reverse=True))


def _no_value(field: AnyField, value: object, element: str) -> OutOfRange:
    return OutOfRange(f"{element} cannot be {value!r}: it is {describe_range(field)}")


def describe_range(  # noqa: PLR0911 - one for each kind
    field: AnyField,
) -> str:
    """Describe the values that a field may have: `a number, 0 to 3`."""
    match field:
        case Flag():
            return "True or False"
        case Choice():
            return f"one of {', '.join(map(repr, field.values))}"
        case Name():
            names = f"the number of a {field.of.name}, 0 to {field.of.count - 1}"
            return f"{names}, or None" if field.or_none else names
        case Number():
            return f"a number, {field.lo} to {field.hi}"
        case Made(of=struct):
            return f"a {describe_struct(struct)}"
        case Set():
            return f"a set, each member {describe_range(field.element)}"
    return f"at most {field.room} values, each {describe_range(field.element)}"
