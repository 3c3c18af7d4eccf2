"""Budgets: when a search stops early."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Budgets:
    """When to stop early; each acts at the end of a level. None means no limit.

    `max_states` distinct states, `max_seconds` since the start or the resumption, `max_depth`
    transitions: states at that depth are checked and not expanded. `memory_bytes` that cannot be
    kept even with the states on disk. `stop_at_first`: end after the first level with a violation,
    in its states or in the steps to them. `enough`: the same for one of these claims alone.
    """

    max_states: int | None = None
    max_seconds: float | None = None
    max_depth: int | None = None
    memory_bytes: int | None = None
    stop_at_first: bool = False
    enough: frozenset[str] = frozenset()


NO_BUDGETS = Budgets()
