"""A leader fails over. Another broker takes up leadership in a later epoch."""

from __future__ import annotations

from typing import Any

from model.core.claim import Reachable, first_sentence
from model.message.terms import LEADER


def happens(before: Any, after: Any, c: Any) -> bool:
    """A broker that did not lead does so now, and not in the first epoch."""
    for replica in range(after.replicas):
        if after.role[replica] == LEADER and before.role[replica] != LEADER:
            if after.known_epoch[replica] > 0:
                return True
    return False


CLAIM = Reachable(name="leader_fails_over", sentence=first_sentence(__doc__), happens=happens)
