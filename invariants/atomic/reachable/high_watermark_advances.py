"""A leader's HW advances. A record is committed."""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.quorum import leads
from waterline.model.core.claim import Reachable, first_sentence


def happens(before: Any, after: Any, c: Any) -> bool:
    """The high watermark of a replica that leads rises."""
    for replica in range(after.replicas):
        if leads(after, replica) and after.hw[replica] > before.hw[replica]:
            return True
    return False


CLAIM = Reachable(name="high_watermark_advances", sentence=first_sentence(__doc__), happens=happens)
