"""Data sorts of fields: values that rules compare and copy, and do not compute with.

A model that keeps to this is data independent (Wolper 1986): renaming such values, in order where
their sort is ordered, leads to a state that behaves alike. `checker.sorts` checks that rules do.
Scalarsets (Ip and Dill 1993) are the unordered ones.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class DataSort:
    """Values that rules compare for equality only, or also for their order if `ordered`.

    `none` is the number for "no value", called `none_word` in rules; all renamings keep it, and it
    is the least of an ordered sort. It is None if a sort has no such number. `size` names the
    layout's size that limits the values, "" for none. `fresh` tells the author of a rule that
    computes a new value how to get one instead.
    """

    name: str
    none: int | None = None
    none_word: str = ""
    ordered: bool = False
    size: str = ""
    fresh: str = ""


class Form(enum.Enum):
    """Relation of a number to a sort."""

    VALUE = "value"
    INDEX = "index"
    """A value less one: an index of rows, and the value's bit in a set."""
    MEMBERS = "set"
    """A set of values, a bit each."""
    COUNT = "count"
    """The number of values so far."""
    ROOM = "room"
    """The highest value that there is room for."""


@dataclass(frozen=True, slots=True)
class Held:
    """Meaning of a field's elements, or of a trusted function's argument.

    A value that `may_be_gone` has no name once it is nowhere else: it can only be compared with one
    that has. `field` is the field that it must have been read from, "" for any.
    """

    sort: DataSort
    form: Form = Form.VALUE
    may_be_gone: bool = False
    field: str = ""


def _anywhere(settings: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Trusted:
    """A function that may look into values of a sort; `why` is the argument that it does no harm.

    `takes` says what its parameters must be, by name: all others are plain numbers, the state or
    the settings. `gives` is what it returns, None for a plain number. One that is `generic` is a
    function of plain numbers too, and is looked into where it is given nothing else.
    `where(settings)` is False where the argument does not hold.
    """

    function: Callable[..., Any]
    why: str
    takes: Mapping[str, Held] = field(default_factory=dict)
    gives: Held | None = None
    generic: bool = False
    where: Callable[[Any], bool] = _anywhere
