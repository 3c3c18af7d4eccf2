"""What a claim is: one sentence, one predicate, and whom it is about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from model.kit.state import State


def _always(settings: Any) -> bool:
    return True


def _promised(settings: Any) -> str | None:
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Breach:
    """What it is to an operator that a claim breaks; only such claims are asked of the matrix.

    `word` stands in a cell, `sentence` in its legend. The least `severity` is the worst.
    """

    word: str
    sentence: str
    severity: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Invariant:
    """A claim about every reachable state.

    `holds(state, settings)` is interpreted and compiled alike. `explain(state, settings)` says of
    one state that breaks the claim which broker and which offset. `applies(settings)` is False for
    a version that the claim has nothing to say about: then its verdict is NOT APPLICABLE. One that
    is not `default` is checked only where it is asked for by name.

    `contract(settings)` is why Kafka does not promise the claim with these settings, the setting
    first, as `acks=1: ...`; None where it does. `remark` says where it
    applies and what it does not say. What breaking it is to an operator is its `breach`.
    Claims are told in the order of their `rank`.
    """

    name: str
    sentence: str
    holds: Callable[[Any, Any], bool]
    explain: Callable[[State, Any], str]
    applies: Callable[[Any], bool] = _always
    default: bool = True
    contract: Callable[[Any], str | None] = _promised
    breach: Breach | None = None
    remark: str = ""
    rank: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionProperty:
    """A claim about every transition out of a reachable state.

    `keeps(before, after, settings)` is interpreted and compiled alike. `explain(before, after,
    settings)` says of one transition that breaks the claim which broker and which offset. The
    rest is as for an `Invariant`.
    """

    name: str
    sentence: str
    keeps: Callable[[Any, Any, Any], bool]
    explain: Callable[[State, State, Any], str]
    applies: Callable[[Any], bool] = _always
    default: bool = True
    contract: Callable[[Any], str | None] = _promised
    breach: Breach | None = None
    remark: str = ""
    rank: int = 0


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
