"""The ISR shrinks and grows back. Every replica starts in it, so a member that joins had left."""

from __future__ import annotations

from typing import Any

from waterline.model.core.claim import Reachable, first_sentence


def happens(before: Any, after: Any, c: Any) -> bool:
    """The ISR gains a member and keeps those it had."""
    return bool(after.isr != before.isr and after.isr & before.isr == before.isr)


CLAIM = Reachable(name="isr_grows_back", sentence=first_sentence(__doc__), happens=happens)
