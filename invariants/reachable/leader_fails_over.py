"""A leader fails over. Another broker takes up leadership in a later epoch."""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Reachable, first_sentence
from waterline.model.message.terms import LEADER, NO_EPOCH, NO_RECORD


def succeeds(s: Any, epoch: int) -> bool:
    """True if a broker knows an earlier epoch, or has a record of one."""
    for replica in range(s.replicas):
        if s.known_epoch[replica] != NO_EPOCH and s.known_epoch[replica] < epoch:
            return True
        for offset in range(s.leo[replica]):
            record = s.log[replica, offset]
            if record != NO_RECORD and s.record_epoch[record - 1] < epoch:
                return True
    return False


def happens(before: Any, after: Any, c: Any) -> bool:
    """A broker becomes leader, in an epoch later than the first that any broker knows."""
    for replica in range(after.replicas):
        if after.role[replica] == LEADER and before.role[replica] != LEADER:
            if succeeds(before, after.known_epoch[replica]):
                return True
    return False


CLAIM = Reachable(name="leader_fails_over", sentence=first_sentence(__doc__), happens=happens)
