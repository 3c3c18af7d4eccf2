"""States of the atomic grain for tests: models within small bounds, and states made by hand."""

from __future__ import annotations

from typing import Any

from tests.support.states import packed
from waterline.model.atomic import VERSIONS, AtomicEnvironment, atomic_model
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import Model

EVERY_VERSION = list(VERSIONS)


def cluster(version: str, **bounds: int) -> Model:
    """A version within the default bounds, but for `bounds`."""
    return atomic_model(version, AtomicEnvironment(**bounds))


def by_hand(model: Model, **fields: Any) -> State:
    """The initial state with other values in some fields; a row is a list of its first elements."""
    return packed(model.layout, as_dict(model.initial[0]) | fields)
