"""A trace with its states as plain values, which is what the formats of other tools hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from waterline.counterexamples.trace import Trace

Value: TypeAlias = (
    "int | str | bool | frozenset[Any] | Mapping[Any, Value] | list[Value] | tuple[Value, ...]"
)
"""A number, a word, a truth value, a set, a function from numbers or words, or a sequence.

A row that is indexed is a function, a named tuple a record, any other tuple an option: empty, or
with what it holds.
"""


@runtime_checkable
class Record(Protocol):
    """A named tuple."""

    def _asdict(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class Recording:
    """`states` are the initial one and the one after each step, each a value for every variable.

    `picks` are the arguments of each step by name.
    """

    trace: Trace
    states: tuple[Mapping[str, Value], ...]
    picks: tuple[Mapping[str, Value], ...]


def in_order(members: frozenset[Any]) -> list[Any]:
    """The members of a set: numbers from the least one, others by their text."""
    return sorted(members, key=lambda each: (each if isinstance(each, int) else 0, str(each)))
