"""Abstract values of the sort check: plain numbers, values of a data sort, and what holds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waterline.model.core.layout import Field
from waterline.model.core.sorts import Form, Held


@dataclass(frozen=True, slots=True)
class Plain:
    """A number of no sort; `constant` where it can be one alone."""

    constant: int | None = None


@dataclass(frozen=True, slots=True)
class Sorted:
    """A number that has to do with a data sort."""

    held: Held


@dataclass(frozen=True, slots=True)
class Mixed:
    """A number that is this on one way here, and that on another."""

    one: str
    other: str


@dataclass(frozen=True, slots=True)
class Unknown:
    """Value of a refused expression: further errors in it are not reported."""


@dataclass(frozen=True, slots=True)
class Unreached:
    """Value of a call that does not return."""


@dataclass(frozen=True, slots=True)
class StateOf:
    """A state."""


@dataclass(frozen=True, slots=True)
class SettingsOf:
    """The settings."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A field with a shape."""

    field: Field


@dataclass(frozen=True, slots=True)
class Items:
    """Several values side by side."""

    items: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Thing:
    """Something of Python's own: a function, a module, a tuple of constants.

    `known` is where the compiler found it (`checker.compiler.resolution.Known`).
    """

    known: Any


Value = Plain | Sorted | Mixed | Unknown | Unreached | StateOf | SettingsOf | Rows | Items | Thing
PLAIN = Plain()
UNKNOWN = Unknown()
UNREACHED = Unreached()


def describe(value: Value) -> str:
    """A value in words: `an epoch`, `a number`."""
    match value:
        case Sorted(held=held):
            return _describe(held)
        case Plain(constant=int(number)):
            return str(int(number))
        case Mixed(one=one, other=other):
            return f"{one} or {other}"
        case Items():
            return "several values"
    return "a number"


def _describe(held: Held) -> str:
    sort = held.sort.name
    match held.form:
        case Form.INDEX:
            return f"the index of {_article(sort)}"
        case Form.MEMBERS:
            return f"a set of {sort}s"
        case Form.COUNT:
            return f"the number of {sort}s so far"
        case Form.ROOM:
            return f"the highest {sort} that there is room for"
    return f"{_article(sort)} that may be nowhere" if held.may_be_gone else _article(sort)


def _article(name: str) -> str:
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"


def is_none_of(value: Value, held: Held) -> bool:
    """True if it is the constant that is of this sort too: no value, or the empty set."""
    if not isinstance(value, Plain) or value.constant is None:
        return False
    if held.form is Form.MEMBERS:
        return value.constant == 0
    return held.form is Form.VALUE and value.constant == held.sort.none


def join(one: Value, other: Value) -> Value:
    """Return the value after two paths meet."""
    if one == other or isinstance(other, Unreached):
        return one
    if isinstance(one, Unreached):
        return other
    match one, other:
        case (Unknown(), _) | (_, Unknown()):
            return UNKNOWN
        case (Mixed(), _):
            return one
        case (_, Mixed()):
            return other
        case Plain(), Plain():
            return PLAIN
        case Sorted(held=held), Plain() if is_none_of(other, held):
            return Sorted(_anywhere(held))
        case Plain(), Sorted(held=held) if is_none_of(one, held):
            return Sorted(_anywhere(held))
        case Sorted(held=a), Sorted(held=b) if (a.sort, a.form) == (b.sort, b.form):
            where = a.field if a.field == b.field else ""
            return Sorted(Held(a.sort, a.form, a.may_be_gone or b.may_be_gone, where))
        case Items(items=a), Items(items=b) if len(a) == len(b):
            return Items(tuple(map(join, a, b)))
    return Mixed(describe(one), describe(other))


def _anywhere(held: Held) -> Held:
    return Held(held.sort, held.form, held.may_be_gone)
