"""Budget of one search within an explanation."""

from __future__ import annotations

import time
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How much one search may look at: distinct states, and until when (`time.monotonic`)."""

    states: int
    ends: float

    @property
    def is_over(self) -> bool:
        """True if the time is up."""
        return time.monotonic() > self.ends
