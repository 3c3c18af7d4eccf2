"""States to come of a search, from the growth of its levels: see `checker.search.eta`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import linear_regression

SHORT, LONG = 8, 16
"""How many factors the two lines of an outlook are fitted to."""
_SLOPE_LEAST = 0.005
"""A logarithm that falls by less in a level says nothing of the end."""
_STATES_MAX = 1e15


def remaining(sizes: Sequence[int], window: int) -> float | None:
    """States to come if the trend of the last `window` factors goes on; None if there is none."""
    if len(sizes) <= window:
        return None
    factors = [
        math.log(after / before)
        for before, after in zip(sizes[-window - 1 :], sizes[-window:], strict=False)
    ]
    slope, last = linear_regression(range(1 - window, 1), factors)
    if slope > -_SLOPE_LEAST:
        return None
    size, factor, total = float(sizes[-1]), last, 0.0
    while size >= 1:
        factor += slope
        size *= math.exp(factor)
        total += size
        if total > _STATES_MAX:
            return None
    return total
