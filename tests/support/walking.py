"""Every reachable state of a model and its steps, interpreted: for small bounds."""

from __future__ import annotations

from collections.abc import Iterator

from waterline.model.core.state import State
from waterline.model.core.transition_system import Model, Step


def walk(model: Model) -> Iterator[tuple[State, list[Step]]]:
    """Every reachable state with its steps, breadth first."""
    seen = dict.fromkeys(model.initial)
    queue = list(seen)
    for state in queue:
        steps = list(model.successors(state))
        yield state, steps
        for step in steps:
            if step.after not in seen:
                seen[step.after] = None
                queue.append(step.after)
