"""Origin of a successor as one number: row of its source, and step.

A step is an action and its arguments as one mixed-radix number. The functions take numbers and
arrays of them; in compiled code they are compiled.
"""

from __future__ import annotations

from typing import Any

from waterline.model.core.transition_system import Arguments, Model

ROW_SHIFT, ACTION_SHIFT = 24, 16
"""How many bits a step takes, and its arguments."""


def row_of(origin: Any) -> Any:
    """The row of the source, in the block that was expanded."""
    return origin >> ROW_SHIFT


def step_of(origin: Any) -> Any:
    """The step, whose order is the order of the actions and then of their arguments."""
    return origin & ((1 << ROW_SHIFT) - 1)


def action_of(step: Any) -> Any:
    """The number of a step's action."""
    return step >> ACTION_SHIFT


def arguments_of(step: Any) -> Any:
    """A step's arguments, packed."""
    return step & ((1 << ACTION_SHIFT) - 1)


def call_of(model: Model, step: int) -> tuple[str, Arguments]:
    """The action and the arguments that a step stands for."""
    action, digits = model.actions[action_of(step)], arguments_of(step)
    values = []
    for parameter in reversed(action.parameters):
        digits, value = divmod(digits, model.layout.sizes[parameter.over])
        values.append(value)
    return action.name, tuple(reversed(values))
