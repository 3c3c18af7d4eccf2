"""Acknowledged records that some logs have, and words for those that they lack."""

from __future__ import annotations

from typing import Any

from waterline.model.core.state import State
from waterline.model.message.terms import NO_RECORD, contains, with_member


def lacking(s: Any, members: int) -> int:
    """The acknowledged records that no log of these replicas has, as a set of records."""
    missing: int = s.acked
    for replica in range(s.replicas):
        if contains(members, replica):
            for offset in range(s.leo[replica]):
                missing &= ~(1 << (s.log[replica, offset] - 1))
    return missing


def first_lacking(s: State, members: int) -> int:
    """The first acknowledged record that none of them has, or no record."""
    missing = lacking(s, members)
    return next(
        (r for r in range(1, missing.bit_length() + 1) if contains(missing, r - 1)), NO_RECORD
    )


def who_has(s: State, record: int) -> int:
    """The replicas, up or down, whose log has the record."""
    members = 0
    for replica in range(s.replicas):
        if record in [s.log[replica, offset] for offset in range(s.leo[replica])]:
            members = with_member(members, replica)
    return members


def replica_names(s: State, members: int) -> str:
    """`r0 and r2`."""
    return " and ".join(f"r{r}" for r in range(s.replicas) if contains(members, r))
