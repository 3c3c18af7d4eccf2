"""Kafka's two families of models, one for each grain of atomicity.

`message`: a fetch's request and its answer are separate steps. `atomic`: the abstraction of the
published TLA+ specification.
"""

from __future__ import annotations

from collections.abc import Sequence

from waterline import invariants
from waterline.checker.kafka.words import ATOMIC_WORDS, MESSAGE_WORDS, condition
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.symmetry import Symmetry
from waterline.invariants import atomic as atomic_invariants
from waterline.invariants import reachable
from waterline.invariants.atomic import reachable as atomic_reachable
from waterline.invariants.expected import EXPECTED
from waterline.invariants.side_conditions import base_kept
from waterline.model import atomic
from waterline.model.atomic import AtomicEnvironment
from waterline.model.core.errors import BadEnvironment
from waterline.model.message import model as message
from waterline.model.message.environment import ENVIRONMENTS, Environment
from waterline.model.message.versions import NAMED


def _family_of(model: str) -> Family:
    return family_of(model)


SYMMETRIES = {
    symmetry.value: symmetry
    for symmetry in (Symmetry.NONE, Symmetry.REPLICAS, Symmetry.RECORDS, Symmetry.ALL)
}
MESSAGE = Family(
    name="message",
    model=message.NAME,
    versions=NAMED,
    environments=ENVIRONMENTS,
    from_options=Environment.from_options,
    invariants=invariants.ALL,
    properties=invariants.PROPERTIES,
    reachable=reachable.ALL,
    behaviours=invariants.BEHAVIOURS,
    side_conditions=(base_kept.SIDE_CONDITION,),
    build=message.message_model,
    words=MESSAGE_WORDS,
    symmetries=SYMMETRIES,
    symmetry=Symmetry.REPLICAS.value,
    condition=condition,
    expected=EXPECTED,
    origin=(_family_of, (message.NAME,)),
)
ATOMIC = Family(
    name="atomic",
    model=atomic.NAME,
    versions=atomic.VERSIONS,
    environments={"published": AtomicEnvironment()},
    from_options=AtomicEnvironment.from_options,
    invariants=atomic_invariants.ALL,
    properties=(),
    reachable=atomic_reachable.ALL,
    build=atomic.atomic_model,
    words=ATOMIC_WORDS,
    symmetries=SYMMETRIES,
    symmetry=Symmetry.REPLICAS.value,
    condition=condition,
    origin=(_family_of, (atomic.NAME,)),
)
GRAINS = {family.name: family for family in (MESSAGE, ATOMIC)}
"""By what `--grain` calls them."""


def family_of(model: str) -> Family:
    """The family that a model of this name belongs to. Raises `BadEnvironment`."""
    for family in GRAINS.values():
        if family.model == model:
            return family
    known = ", ".join(family.model for family in GRAINS.values())
    raise BadEnvironment(f"unknown model {model!r}; known: {known}")


def problem_for(
    version: str,
    environment: Environment | AtomicEnvironment,
    names: Sequence[str] = (),
    *,
    symmetry: Symmetry = Symmetry.NONE,
) -> Problem:
    """The problem of checking `version` in `environment`, whose type tells the family."""
    family = ATOMIC if isinstance(environment, AtomicEnvironment) else MESSAGE
    return family.problem(version, environment, names, symmetry=symmetry.value)
