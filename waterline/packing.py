"""Plain states of the checker's packed ones."""

from __future__ import annotations

from waterline.model.core.state import State as Packed
from waterline.model.own.narration import element
from waterline.models import Model
from waterline.state import State
from waterline.values import decode


def unpack(model: Model, state: Packed) -> State:
    """The plain state that a packed one of this model is."""
    shape = model.shape
    values = {
        name: [decode(declared, element(state, declared, i)) for i in shape.places[name]]
        for name, declared in shape.fields.items()
    }
    return State(model, values)
