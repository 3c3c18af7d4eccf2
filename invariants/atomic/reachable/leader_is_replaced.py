"""A leader is replaced. Another replica takes up leadership after the first epoch."""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.quorum import leads
from waterline.model.core.claim import Reachable, first_sentence


def happens(before: Any, after: Any, c: Any) -> bool:
    """A replica that did not lead does so now, and not in the first epoch."""
    for replica in range(after.replicas):
        if leads(after, replica) and not leads(before, replica) and after.known_epoch[replica] > 0:
            return True
    return False


CLAIM = Reachable(name="leader_is_replaced", sentence=first_sentence(__doc__), happens=happens)
