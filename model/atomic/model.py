"""The atomic grain as a transition system: a version of the protocol within bounds."""

from __future__ import annotations

from waterline.model.atomic.environment import AtomicEnvironment
from waterline.model.atomic.narration import NARRATION
from waterline.model.atomic.state import layout
from waterline.model.atomic.terms import LIMITS
from waterline.model.atomic.versions import ACTIONS, VERSIONS
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.layout import TooLargeToPack
from waterline.model.core.state import State
from waterline.model.core.transition_system import Model

NAME = "kafka-atomic"


def atomic_model(version: str, environment: AtomicEnvironment) -> Model:
    """Version `version` of the protocol within the bounds of `environment`.

    Raises `BadEnvironment` for an unknown version or bounds too large to pack.
    """
    rules = VERSIONS.get(version)
    if rules is None:
        raise BadEnvironment(f"unknown protocol {version!r}; known: {', '.join(VERSIONS)}")
    try:
        form = layout(environment)
    except TooLargeToPack as problem:
        wanted = ", ".join(f"{name} {value}" for name, value in environment.options().items())
        raise BadEnvironment(
            f"{wanted} together are too large to pack: {problem}; lower one of them"
        ) from None
    return Model(
        name=NAME,
        version=version,
        layout=form,
        settings=rules.settings,
        actions=ACTIONS,
        contents=rules.contents,
        limits=LIMITS,
        initial=(State(form),),  # empty logs, all replicas in sync, no leader and no epoch yet
        narration=NARRATION,
        options=environment.options(),
    )
