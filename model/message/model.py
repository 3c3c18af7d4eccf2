"""The message grain: fetch request and fetch answer are separate steps.

This is the model that `check` explores: a version of the protocol in an environment.
"""

from __future__ import annotations

from model.core.errors import BadEnvironment
from model.core.layout import TooLargeToPack
from model.core.renaming import Sort
from model.core.transition_system import Model
from model.message import limits
from model.message.cluster import initial_state, layout
from model.message.contents import ACTIONS, contents
from model.message.environment import Environment
from model.message.narration import narration
from model.message.normal_form import normalise
from model.message.settings import settings_of
from model.message.versions import BadVersion, version_of

NAME = "kafka-message"


def message_model(version: str, environment: Environment) -> Model:
    """Version `version` of the protocol in `environment`, as `model.message.versions.version_of`
    reads it.

    Raises `BadEnvironment` for an unknown version or bounds too large to pack.
    """
    try:
        rules = version_of(version)
    except BadVersion as problem:
        raise BadEnvironment(str(problem)) from None
    try:
        form = layout(environment.bounds)
    except TooLargeToPack as problem:
        raise BadEnvironment(
            f"replicas {environment.replicas}, records {environment.records} and epochs "
            f"{environment.epochs} together are too large to pack: {problem}; lower one of them"
        ) from None
    settings = settings_of(environment, rules)
    return Model(
        name=NAME,
        version=version,
        layout=form,
        settings=settings,
        actions=ACTIONS,
        contents=contents(settings),
        limits=limits.NAMES,
        initial=(initial_state(form),),
        narration=narration(settings),
        options=environment.options(),
        distinguishes_names=_distinguished_names(environment),
        normalise=normalise,
    )


def _distinguished_names(environment: Environment) -> dict[Sort, str]:
    """An election by assignment goes by the replicas' numbers."""
    if environment.election_order == "any" or environment.replicas == 1:
        return {}
    return {
        Sort.REPLICA: "with --election-order assignment an election tells replicas apart; "
        "add --election-order any"
    }
