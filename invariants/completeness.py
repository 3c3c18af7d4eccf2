"""Completeness of a replica: it has everything that was ever committed."""

from __future__ import annotations

from typing import Any

from waterline.model.message.terms import contains


def is_complete(s: Any, replica: int) -> bool:
    """The replica's log begins with the exposed records."""
    if s.leo[replica] < s.exposed_end:
        return False
    for offset in range(s.exposed_end):
        if s.log[replica, offset] != s.exposed[offset]:
            return False
    return True


def first_incomplete(s: Any, members: int) -> int:
    """The first of the members that runs and is not complete; -1."""
    for replica in range(s.replicas):
        if contains(members, replica) and s.up[replica] == 1 and not is_complete(s, replica):
            return replica
    return -1


def missing(s: Any, replica: int) -> str:
    """Describe the first committed record that a replica lacks."""
    for offset in range(s.exposed_end):
        record = s.exposed[offset]
        if offset >= s.leo[replica]:
            return f"m{record}, committed at offset {offset}: its LEO is {s.leo[replica]}"
        if s.log[replica, offset] != record:
            other = s.log[replica, offset]
            return f"m{record}, committed at offset {offset}: it has m{other} there"
    return "nothing"
