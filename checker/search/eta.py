"""ETA of a search, extrapolated from the growth of its levels.

The levels of a breadth-first search rise and fall roughly like a bell: the logarithm of the factor
from one level to the next falls about in a line. Two such lines are fitted, to the last 8 and to
the last 16 factors, and drawn on until no state is left. An estimate is given only if both nearly
agree.

Measured on the levels of 16 spaces of 22 thousand to 40 million states (tests/golden/levels.json);
8, 16 and how far apart they may be were chosen on 9 of them. The first estimate of the number of
states came after 5% to 65% of them, and was 0.79 to 1.09 of the truth; any later one 0.69 to 1.09,
and one after half of the states 0.81 to 1.07. The time is less certain: it also assumes that a
state costs what it did in the last 8 levels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from waterline.checker.search.engines.growth import LONG, SHORT, remaining
from waterline.checker.search.result import LevelSummary

_APART_MAX = 1.5


@dataclass(frozen=True, slots=True)
class Outlook:
    """An estimate: `states` there are in all, `seconds` to go; None where no level was timed."""

    states: float
    seconds: float | None


def outlook(levels: Sequence[LevelSummary]) -> Outlook | None:
    """Return an estimate after these levels; the last has not been expanded yet."""
    sizes = [level.states for level in levels]
    short, long = remaining(sizes, SHORT), remaining(sizes, LONG)
    if short is None or long is None:
        return None
    seen = sum(sizes)
    total, other = seen + short, seen + long
    if max(total, other) > _APART_MAX * min(total, other):
        return None
    states = math.sqrt(total * other)
    timed = [level for level in levels[-SHORT:] if level.seconds > 0]
    rate = (
        sum(level.states for level in timed) / sum(level.seconds for level in timed) if timed else 0
    )
    return Outlook(states, (states - seen) / rate if rate else None)
