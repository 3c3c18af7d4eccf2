"""Typing rules of the sort check: which operations the values of a data sort take part in.

Each returns the result of an operation; a disallowed one is reported to `refuse`, in words, which
returns the value to continue with.
"""

from __future__ import annotations

import operator as python
from collections.abc import Callable, Sequence
from typing import Any

from waterline.checker.compiler.ir import OPERATIONS
from waterline.checker.sorts.values import (
    PLAIN,
    UNKNOWN,
    UNREACHED,
    Mixed,
    Plain,
    Sorted,
    Unknown,
    Unreached,
    Value,
    describe,
    is_none_of,
)
from waterline.model.core.layout import Field
from waterline.model.core.machine_numbers import BITS, fits
from waterline.model.core.sorts import DataSort, Form, Held

Refuse = Callable[[str, Sequence[Value]], Value]
"""Reports an error and the values concerned."""
_RELATIONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": python.eq,
    "!=": python.ne,
    "<": python.lt,
    "<=": python.le,
    ">": python.gt,
    ">=": python.ge,
}
_UNARY: dict[str, Callable[[Any], int]] = {
    "-": python.neg,
    "+": python.pos,
    "~": python.invert,
    "not": python.not_,
    "bit_count": int.bit_count,
}


def is_number(value: Value) -> bool:
    """True for a plain number, and for a value already refused or unreachable."""
    return isinstance(value, Plain | Unknown | Unreached)


def _constants(*values: Value) -> tuple[int, ...] | None:
    numbers = [value.constant for value in values if isinstance(value, Plain)]
    if len(numbers) < len(values) or None in numbers:
        return None
    return tuple(int(number) for number in numbers if number is not None)


def _fold(values: Sequence[Value], compute: Callable[..., int]) -> Value:
    """Return the result on plain numbers, if all are known."""
    for one in (UNREACHED, UNKNOWN):
        if one in values:
            return one
    numbers = _constants(*values)
    if numbers is None:
        return PLAIN
    try:
        number = int(compute(*numbers))
    except (ArithmeticError, ValueError):
        return PLAIN  # it faults as it runs
    return Plain(number) if fits(number) else PLAIN


def operate(operator: str, left: Value, right: Value, refuse: Refuse) -> Value:
    """`left operator right`, of two numbers."""
    if is_number(left) and is_number(right):
        if operator == "<<" and isinstance(right, Plain) and (right.constant or 0) > BITS:
            return PLAIN
        return _fold((left, right), OPERATIONS[operator])
    if UNKNOWN in (left, right):
        return UNKNOWN
    match left, operator, right:
        case (
            Sorted(held=Held(sort=sort, form=Form.VALUE, may_be_gone=False)),
            "-",
            Plain(constant=1),
        ) if _is_counted_from_one(sort):
            return Sorted(Held(sort, Form.INDEX))
        case Sorted(held=Held(sort=sort, form=Form.INDEX)), "+", Plain(constant=1):
            return Sorted(Held(sort))
        case Plain(constant=1), "<<", Sorted(held=Held(sort=sort, form=Form.INDEX)):
            return Sorted(Held(sort, Form.MEMBERS))
    if operator in ("&", "|", "^") and (of := _sets(left, right)) is not None:
        return Sorted(Held(of, Form.MEMBERS))
    return refuse(
        f"computes `{operator}` with {describe(left)} and {describe(right)}", (left, right)
    )


def _is_same(one: Held, other: Held) -> bool:
    return (one.sort, one.form) == (other.sort, other.form)


def _is_counted_from_one(sort: DataSort) -> bool:
    return not sort.ordered and sort.none == 0


def _sets(left: Value, right: Value) -> DataSort | None:
    """Return the sort of two sets, if both have the same."""
    for one, other in ((left, right), (right, left)):
        if isinstance(one, Sorted) and one.held.form is Form.MEMBERS:
            if is_none_of(other, one.held):
                return one.held.sort
            if isinstance(other, Sorted) and _is_same(one.held, other.held):
                return one.held.sort
    return None


def operate_on_one(operator: str, operand: Value, refuse: Refuse) -> Value:
    """`not`, `-`, `+`, `~` of a number, or its `bit_count`."""
    if operator == "not":
        truth = truth_of(operand, refuse)
        return PLAIN if truth is None else Plain(int(not truth))
    if is_number(operand):
        return _fold((operand,), _UNARY[operator])
    if operator == "~" and isinstance(operand, Sorted) and operand.held.form is Form.MEMBERS:
        return operand
    return refuse(f"computes `{operator}` of {describe(operand)}", (operand,))


def compare(operator: str, left: Value, right: Value, refuse: Refuse) -> Value:
    """`left operator right`, a truth."""
    if is_number(left) and is_number(right):
        return _fold((left, right), _RELATIONS[operator])
    if UNKNOWN in (left, right) or _is_comparable(operator, left, right):
        return PLAIN
    return refuse(
        f"compares {describe(left)} with {describe(right)} by `{operator}`", (left, right)
    )


def _is_comparable(operator: str, left: Value, right: Value) -> bool:
    for one, other in ((left, right), (right, left)):
        if not isinstance(one, Sorted) or one.held.form in (Form.COUNT, Form.ROOM):
            continue
        held = one.held
        if operator not in ("==", "!=") and not (held.sort.ordered and held.form is Form.VALUE):
            return False
        if is_none_of(other, held):
            return not held.may_be_gone
        if isinstance(other, Sorted):
            gone = held.may_be_gone and other.held.may_be_gone
            return _is_same(held, other.held) and not gone
    return False


def extreme(name: str, numbers: Sequence[Value], refuse: Refuse) -> Value:
    """`min` or `max` of two numbers or more."""
    if all(map(is_number, numbers)):
        return _fold(numbers, min if name == "min" else max)
    if UNKNOWN in numbers:
        return UNKNOWN
    held = next((value.held for value in numbers if isinstance(value, Sorted)), None)
    if held is not None and held.sort.ordered and held.form is Form.VALUE:
        value = Held(held.sort, may_be_gone=held.may_be_gone)
        if all(is_accepted(number, value) for number in numbers):
            return Sorted(value)
    words = " and ".join(map(describe, numbers))
    return refuse(f"takes the {name} of {words}", numbers)


def truth_of(value: Value, refuse: Refuse) -> bool | None:
    """True if a number counts as true; None where that is not known."""
    if isinstance(value, Sorted | Mixed):
        refuse(f"takes {describe(value)} for a truth", (value,))
    elif isinstance(value, Plain) and value.constant is not None:
        return bool(value.constant)
    return None


def require_number(value: Value, what: str, refuse: Refuse) -> None:
    """Refuse a value of a sort."""
    if not is_number(value):
        refuse(f"{what} {describe(value)}", (value,))


def require_index(field: Field, indices: Sequence[Value], refuse: Refuse) -> None:
    """Refuse indices of other sorts than the field's."""
    for position, index in enumerate(indices):
        sort = field.indexed_by if position == 0 else None
        if sort is None:
            require_number(index, f"indexes {field.name} by", refuse)
        elif index != UNKNOWN and index != Sorted(Held(sort, Form.INDEX)):
            refuse(
                f"indexes {field.name}, which has a row for each {sort.name}, by {describe(index)}",
                (index, Sorted(Held(sort))),
            )


def is_accepted(value: Value, held: Held | None) -> bool:
    """True if a value can be where this is wanted: in a field, or as an argument."""
    if held is None:
        return is_number(value)
    if isinstance(value, Unknown | Unreached):
        return True
    if held.field and not (isinstance(value, Sorted) and value.held.field == held.field):
        return False
    if is_none_of(value, held):
        return True
    if not isinstance(value, Sorted) or held.form is Form.COUNT:
        return False
    found = value.held
    if found.may_be_gone and not held.may_be_gone:
        return False
    return _is_same(found, held)


def require_storable(field: Field, value: Value, refuse: Refuse) -> None:
    """Refuse a value that the field does not hold."""
    if not is_accepted(value, field.held):
        wanted = describe(PLAIN if field.held is None else Sorted(field.held))
        wrong = (value,) if field.held is None else (value, Sorted(field.held))
        refuse(f"stores {describe(value)} in {field.name}, which holds {wanted}", wrong)
