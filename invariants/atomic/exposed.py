"""Records that a leader has exposed to consumers, and whether a set of replicas has them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from waterline.invariants.breaking import Breaking
from waterline.model.atomic.state import leads
from waterline.model.core.state import State
from waterline.model.message.terms import NO_REPLICA, contains


def has_exposed(s: Any, leader: int, replica: int) -> bool:
    """True if both hold the same record at every offset below the leader's high watermark."""
    hw = s.hw[leader]
    if hw > s.leo[leader] or hw > s.leo[replica]:
        return False
    for offset in range(hw):
        if s.log[leader, offset] != s.log[replica, offset]:
            return False
    return True


def first_without(s: Any, leader: int, members: int) -> int:
    """The first of `members` that lacks something this leader has exposed, or NO_REPLICA.

    A broker that believes that it leads exposes records; any other has nothing to answer for.
    """
    if not leads(s, leader):
        return NO_REPLICA
    for replica in range(s.replicas):
        if contains(members, replica) and not has_exposed(s, leader, replica):
            return replica
    return NO_REPLICA


def lacking(s: Any, leader: int, replica: int) -> str:
    """The lack as a sentence: which offset, and what each of the two has there."""
    for offset in range(s.hw[leader]):
        records = [
            f"m{s.log[r, offset]}" if offset < s.leo[r] else "nothing" for r in (leader, replica)
        ]
        if records[0] != records[1] or records[0] == "nothing":
            return (
                f"r{leader}, leading in epoch {s.known_epoch[leader]} with high watermark "
                f"{s.hw[leader]}, has {records[0]} at offset {offset}, but r{replica} has "
                f"{records[1]} there."
            )
    return f"r{replica} has all that r{leader} has exposed."


def first_exposed(s: State, pairs: Iterable[tuple[int, int]]) -> Breaking:
    """Locate the first replica, of (leader, replica) pairs, that lacks its leader's exposure."""
    for leader, replica in pairs:
        if replica == NO_REPLICA:
            continue
        for offset in range(s.hw[leader]):
            there = {r: s.log[r, offset] for r in (leader, replica) if offset < s.leo[r]}
            if len(set(there.values())) != 1 or len(there) != 2:
                return Breaking((leader, replica), (offset,), tuple(there.values()))
        return Breaking((leader, replica))
    return Breaking()
