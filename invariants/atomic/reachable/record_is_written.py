"""A record is written. Some leader appends one that was not there before."""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Reachable, first_sentence


def happens(before: Any, after: Any, c: Any) -> bool:
    """The step produces a record."""
    return after.produced > before.produced


CLAIM = Reachable(name="record_is_written", sentence=first_sentence(__doc__), happens=happens)
