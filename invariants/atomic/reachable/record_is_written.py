"""A record is written: some leader appends one that was not there before."""

from __future__ import annotations

from typing import Any

from model.core.claim import Reachable


def happens(before: Any, after: Any, c: Any) -> bool:
    """More has been produced after the step than before."""
    return after.produced > before.produced


CLAIM = Reachable(name="record_is_written", sentence="A record is written.", happens=happens)
