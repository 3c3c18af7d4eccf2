"""A record commits. Some leader's high watermark passes it."""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Reachable, first_sentence


def happens(before: Any, after: Any, c: Any) -> bool:
    """The step exposes a record."""
    return bool(after.exposed_end > before.exposed_end)


CLAIM = Reachable(name="record_commits", sentence=first_sentence(__doc__), happens=happens)
