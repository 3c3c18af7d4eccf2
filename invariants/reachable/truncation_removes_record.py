"""A truncation removes a record. Some replica's log gets shorter."""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Reachable, first_sentence


def happens(before: Any, after: Any, c: Any) -> bool:
    """A LEO falls."""
    for replica in range(after.replicas):
        if after.leo[replica] < before.leo[replica]:
            return True
    return False


CLAIM = Reachable(
    name="truncation_removes_record",
    sentence=first_sentence(__doc__),
    happens=happens,
)
