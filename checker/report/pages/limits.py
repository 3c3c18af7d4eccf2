"""Limits of a page, and the remark on what is beyond them."""

from __future__ import annotations

from collections.abc import Iterable

from waterline.checker.problem.errors import Refused

STEPS_MAX = 5_000
"""Most steps on one page: a browser has to hold all of them, a terminal has not."""
DRAWN_STEPS_MAX = 1_000
"""Most steps of a diagram: a longer one is unreadable."""


class TooLongToDraw(Refused, ValueError):
    """A trace has more steps than a diagram shows."""


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


def require_drawable(steps: int) -> None:
    """See that a trace of so many steps makes a diagram. Raises `TooLongToDraw`."""
    if steps > DRAWN_STEPS_MAX:
        raise TooLongToDraw(
            f"the trace has {steps:,} steps, and a diagram shows at most {DRAWN_STEPS_MAX:,}; "
            "step through it with waterline view"
        )
