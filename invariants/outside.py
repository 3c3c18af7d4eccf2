"""What shows a claim's end outside: on real brokers, read by clients and from segments.

`outside` of a claim about states or steps says of an `Ending` whether the claim is seen to be
broken; None: that is not to be seen. Of a claim about behaviours it says of what is `Seen`, once
nothing is held back, whether what the claim says comes has come.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol


class Ending(Protocol):
    """What was read at the end of a trace."""

    @property
    def lost(self) -> tuple[str, ...]:
        """Records that were acknowledged or committed, and that no consumer reads."""

    @property
    def diverged(self) -> bool:
        """Whether two segments differ below both high watermarks."""

    @property
    def was_read(self) -> bool:
        """Whether a consumer could read at all; without that nothing is said of losses."""


def record_is_lost(ending: Ending) -> bool | None:
    """A record that was acknowledged, or committed, is read by nobody."""
    return bool(ending.lost) if ending.was_read else None


def logs_differ(ending: Ending) -> bool:
    """Two segments differ below both high watermarks."""
    return ending.diverged


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What brokers show while nothing is held back.

    `logs` are those of brokers that run, `fetched` the brokers that have fetched since.
    `high_watermark` and `log_end` are the leader's, None where it shows none. `is_waiting`: a
    producer waits for an acknowledgement. `leads`: the controller's leader serves as such.
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
