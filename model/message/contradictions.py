"""Circumstances that contradict each other, each refused in one line with what to change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from waterline.model.core.errors import BadEnvironment
from waterline.model.message.declared import option_of

NAMES_MAX = 8
"""Records that have a name at one time where their number has no bound."""
_ONE_LOG = (
    ("unbounded", "without bounds a future log has no normal form"),
    ("power_losses", "what of a future log is on disk is not kept"),
    ("taken_directories", "which of a broker's two directories is taken out is not kept"),
    ("failed_directories", "which of a broker's two directories fails is not kept"),
)
"""Options that require a single log of the partition on each broker, and why."""


def require_consistent(given: Any) -> None:
    """Raises `BadEnvironment` with the first contradiction in an `Environment`."""
    for problem in (*_of_sizes(given), *_of_elections(given), *_of_faults(given)):
        raise BadEnvironment(problem)


def _of_sizes(given: Any) -> Iterator[str]:
    if given.min_insync_replicas > given.replicas:
        yield (
            f"min-insync-replicas is {given.min_insync_replicas}, more than the "
            f"{given.replicas} replicas there are; up to 3.6 acks=all is refused then, and from "
            f"3.7 on Kafka takes {given.replicas}, so write that"
        )
    if given.assigned > given.replicas:
        yield (
            f"assigned is {given.assigned}, more than the {given.replicas} brokers there are; "
            "raise replicas, which counts brokers here"
        )
    if given.unbounded and given.bounds.names > NAMES_MAX:
        yield (
            f"unbounded has names for {NAMES_MAX} records at one time; replicas "
            f"{given.replicas} times records {given.records} are {given.bounds.names}; lower one"
        )


def _of_elections(given: Any) -> Iterator[str]:
    if given.election_order != "any":
        return
    if given.session_expiries or given.shutdowns or given.unfenced_registration:
        yield (
            "election-order any has a winner to choose only where a dead broker is fenced; "
            "set session-expiries and shutdowns to 0 and leave unfenced-registration off, or "
            "leave election-order at assignment"
        )
    if given.reassignments and given.unclean_leader_election:
        yield (
            "reassignments cannot be with election-order any and unclean-leader-election: an "
            "unclean cancellation takes the first replica; leave one of them out"
        )


def _of_faults(given: Any) -> Iterator[str]:
    if given.unbounded and given.late_metadata:
        yield (
            "unbounded cannot be with late-metadata, where every past decision of the "
            "controller can still arrive, so that none is ever forgotten; leave one of them out"
        )
    if given.reassignments and given.late_metadata:
        yield (
            "reassignments cannot be with late-metadata: whose replica a past decision made "
            "is not kept; leave one of them out"
        )
    for name, why in _ONE_LOG:
        if given.future_log and getattr(given, name):
            yield f"future-log cannot be with {option_of(name)}: {why}; leave one of them out"
