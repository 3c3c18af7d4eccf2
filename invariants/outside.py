"""Evidence for claims from outside: from real brokers, by clients and from segments.

`outside` of a claim about states or steps returns True if an `Ending` shows a violation, and None
if the ending cannot show it. For a claim about behaviours it returns True if `Seen`, taken once
nothing is held back, shows the awaited condition.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Ending(Protocol):
    """Observations at the end of a trace."""

    @property
    def lost(self) -> tuple[str, ...]:
        """Records that were acknowledged or committed, and that no consumer reads."""

    @property
    def diverged(self) -> bool:
        """True if two segments differ below both high watermarks."""

    @property
    def was_read(self) -> bool:
        """True if a consumer could read; otherwise losses are unknown."""


def record_is_lost(ending: Ending) -> bool | None:
    """A record that was acknowledged, or committed, is missing from all reads."""
    return bool(ending.lost) if ending.was_read else None


def logs_differ(ending: Ending) -> bool:
    """Two segments differ below both high watermarks."""
    return ending.diverged


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """Observations of brokers while nothing is held back.

    `logs` are those of running brokers, `fetched` the brokers that have fetched since.
    `high_watermark` and `log_end` are the leader's, None if it shows none. `is_waiting`: a producer
    waits for an acknowledgement. `leads`: the controller's leader serves as such.
    """

    leader: int
    replicas: range
    logs: Mapping[int, Sequence[Any]]
    in_sync: frozenset[int]
    fetched: frozenset[int]
    high_watermark: str | None
    log_end: str | None
    is_waiting: bool
    leads: bool
