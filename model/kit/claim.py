"""What a claim is: one sentence, one predicate, and whom it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.kit.state import State


def _always(settings: Any) -> bool:
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """A claim about every reachable state.

    `holds(state, settings)` is interpreted and compiled alike. `explain(state, settings)` says of
    one state that breaks the claim which broker and which offset. `applies(settings)` is False for
    a version that the claim has nothing to say about: then its verdict is NOT APPLICABLE. One that
    is not `default` is checked only where it is asked for by name.
    """

    name: str
    sentence: str
    holds: Callable[[Any, Any], bool]
    explain: Callable[[State, Any], str]
    applies: Callable[[Any], bool] = _always
    default: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionProperty:
    """A claim about every transition out of a reachable state.

    `keeps(before, after, settings)` is interpreted and compiled alike. `explain(before, after,
    settings)` says of one transition that breaks the claim which broker and which offset. `applies`
    and `default` are as for an `Invariant`.
    """

    name: str
    sentence: str
    keeps: Callable[[Any, Any, Any], bool]
    explain: Callable[[State, State, Any], str]
    applies: Callable[[Any], bool] = _always
    default: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Reachable:
    """A claim that something happens at least once: without it, that nothing bad happens is
    vacuous.

    `happens(before, after, settings)` looks at one transition. `applies(settings)` is False where
    it cannot be expected: then nothing is said of it.
    """

    name: str
    sentence: str
    happens: Callable[[Any, Any, Any], bool]
    applies: Callable[[Any], bool] = _always
