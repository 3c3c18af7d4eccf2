"""How much a page shows, and what is said of more."""

from __future__ import annotations

from collections.abc import Iterable

from checker.errors import Refused

STEPS_MAX = 5_000
"""Most steps on one page: a browser has to hold all of them, a terminal has not."""


class TooLongForPage(Refused, ValueError):
    """The traces have more steps than a page shows."""


def require_few_steps(steps: Iterable[int]) -> None:
    """See that a page can hold traces of so many steps. Raises `TooLongForPage`."""
    total = sum(steps)
    if total > STEPS_MAX:
        raise TooLongForPage(
            f"the traces have {total:,} steps, and a page shows at most {STEPS_MAX:,}; "
            "step through them with waterline view"
        )
