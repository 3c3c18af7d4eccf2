"""Location of a violation: brokers, offsets and records.

A claim's `explain` says it in words, and its `where` the same for a picture.
"""

from __future__ import annotations

from dataclasses import dataclass

from waterline.model.core.state import State
from waterline.model.message.terms import contains


@dataclass(frozen=True, slots=True)
class Breaking:
    """Brokers by number, offsets and records that a claim breaks at; each may be none."""

    brokers: tuple[int, ...] = ()
    offsets: tuple[int, ...] = ()
    records: tuple[int, ...] = ()


def brokers_in(s: State, members: int) -> tuple[int, ...]:
    """The replicas of a set."""
    return tuple(r for r in range(s.replicas) if contains(members, r))


def lacks_committed(s: State, replica: int) -> Breaking:
    """Locate the first offset where a replica lacks the record that was committed there."""
    for offset in range(s.exposed_end):
        if offset >= s.leo[replica] or s.log[replica, offset] != s.exposed[offset]:
            return Breaking((replica,), (offset,), (s.exposed[offset],))
    return Breaking((replica,))


def lacks_records(s: State, replicas: tuple[int, ...], missing: int) -> Breaking:
    """Replicas without a set of records, and where these were committed, if they were."""
    records = tuple(r + 1 for r in range(s.records) if contains(missing, r))
    offsets = tuple(o for o in range(s.exposed_end) if s.exposed[o] in records)
    return Breaking(replicas, offsets, records)
