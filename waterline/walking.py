"""Random walks in plain Python, a step at a time."""

from __future__ import annotations

import random

from waterline.models import Declares, Model
from waterline.running import enabled, initials
from waterline.state import State
from waterline.trace import Trace


def simulate(model: Model | Declares | State, *, steps: int = 20, seed: int = 0) -> Trace:
    """A random walk from an initial state, or from the state that is given.

    Each step is any of those that are enabled, one as likely as another; the walk is shorter than
    `steps` where none is. The same seed makes the same walk. Rules run as plain Python, some
    thousand times slower than `waterline simulate` runs them: this is to look at a few walks.
    """
    chance = random.Random(seed)
    at = first = model if isinstance(model, State) else chance.choice(initials(model))
    taken = []
    for _ in range(steps):
        possible = enabled(at)
        if not possible:
            break
        taken.append(chance.choice(possible))
        at = taken[-1].after
    return Trace(first, tuple(taken))
