"""A trace with its states as plain values, which is what the formats of other tools hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from waterline.counterexamples.protocols import State
from waterline.counterexamples.replay import Replayed
from waterline.counterexamples.trace import Trace

Value: TypeAlias = "int | str | bool | frozenset[int] | Mapping[int, Value]"
"""A number, a text, a truth value, a set, or a function from numbers: a row that is indexed."""


@dataclass(frozen=True, slots=True)
class Recording:
    """`states` are the initial one and the one after each step, each a value for every variable."""

    trace: Trace
    states: tuple[Mapping[str, Value], ...]


def record(replayed: Replayed, values: Callable[[State], Mapping[str, Value]]) -> Recording:
    """The recording of a replayed trace; `values` says what a state of its model holds."""
    return Recording(replayed.trace, tuple(values(state) for state in replayed.states))
