"""The two grains of atomicity, each a family of models behind one interface.

`message`: a fetch's request and its answer are separate steps. `atomic`: the abstraction of the
published TLA+ specification. Everything else in the checker is told a grain and knows neither.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import invariants
from checker.problem import Problem
from checker.symmetry import Symmetry
from invariants import atomic as atomic_invariants
from invariants import reachable
from invariants.atomic import reachable as atomic_reachable
from invariants.claim import ActionProperty, Invariant, Reachable
from model import atomic
from model.atomic import AtomicEnvironment
from model.kit.renaming import CannotRename
from model.kit.transition_system import Model
from model.message import model as message
from model.message.environment import ENVIRONMENTS, BadEnvironment, Environment
from model.message.releases import is_released
from model.message.versions import VERSIONS, version_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Grain:
    """A family of models: its versions, its circumstances and what is claimed of it.

    `environment` is the class of its circumstances, `environments` those that have a name, the
    first being the default. `build(version, environment)` makes a model.
    """

    name: str
    model: str
    versions: Mapping[str, Any]
    environment: type[Environment] | type[AtomicEnvironment]
    environments: Mapping[str, Environment | AtomicEnvironment]
    invariants: Sequence[Invariant]
    properties: Sequence[ActionProperty]
    reachable: Sequence[Reachable]
    build: Callable[[str, Any], Model]

    @property
    def claims(self) -> tuple[Invariant | ActionProperty | Reachable, ...]:
        """Everything that is claimed of it."""
        return (*self.invariants, *self.properties, *self.reachable)

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its environment's options."""
        return tuple(self.environment().options())

    def problem(
        self,
        version: str,
        environment: Environment | AtomicEnvironment,
        names: Sequence[str] = (),
        *,
        symmetry: Symmetry = Symmetry.NONE,
    ) -> Problem:
        """The problem of checking `version`, with the invariants and properties named.

        Without names it is all but those that must be asked for. Raises `BadEnvironment` for an
        unknown version or claim, and for a symmetry that the environment does not have.
        """
        known = [i.name for i in self.invariants] + [p.name for p in self.properties]
        for name in names:
            if name not in known:
                raise BadEnvironment(f"invariant is {name!r}; known: {', '.join(known)}")
        asked = frozenset(names) if names else None
        model = self.build(version, environment)
        try:
            return Problem(
                model,
                tuple(self.invariants),
                tuple(self.reachable),
                properties=tuple(self.properties),
                asked=asked,
                symmetry=symmetry,
            )
        except CannotRename as problem:
            raise BadEnvironment(str(problem)) from None

    def knows(self, version: str) -> bool:
        """Whether there is such a version, with features switched or as it is named."""
        try:
            self.build(version, self.environment())
        except BadEnvironment:
            return False
        return True

    def is_released(self, version: str) -> bool:
        """Whether a Kafka had exactly these rules; a variant of the atomic grain has a name."""
        return version in self.versions or is_released(version_of(version))

    def environment_name(self, options: Mapping[str, object]) -> str | None:
        """What circumstances with these options are called, if they have a name."""
        for name, environment in self.environments.items():
            if environment.options() == dict(options):
                return name
        return None


MESSAGE = Grain(
    name="message",
    model=message.NAME,
    versions=VERSIONS,
    environment=Environment,
    environments=ENVIRONMENTS,
    invariants=invariants.ALL,
    properties=invariants.PROPERTIES,
    reachable=reachable.ALL,
    build=message.message_model,
)
ATOMIC = Grain(
    name="atomic",
    model=atomic.NAME,
    versions=atomic.VERSIONS,
    environment=AtomicEnvironment,
    environments={"published": AtomicEnvironment()},
    invariants=atomic_invariants.ALL,
    properties=(),
    reachable=atomic_reachable.ALL,
    build=atomic.atomic_model,
)
GRAINS = {grain.name: grain for grain in (MESSAGE, ATOMIC)}
_BY_MODEL = {grain.model: grain for grain in GRAINS.values()}


def grain_of(model: str) -> Grain:
    """The grain that a model of this name belongs to. Raises `BadEnvironment`."""
    if model not in _BY_MODEL:
        raise BadEnvironment(f"unknown model {model!r}; known: {', '.join(_BY_MODEL)}")
    return _BY_MODEL[model]


def problem_for(
    version: str,
    environment: Environment | AtomicEnvironment,
    names: Sequence[str] = (),
    *,
    symmetry: Symmetry = Symmetry.NONE,
) -> Problem:
    """The problem of checking `version` in `environment`, whose type tells the grain."""
    grain = ATOMIC if isinstance(environment, AtomicEnvironment) else MESSAGE
    return grain.problem(version, environment, names, symmetry=symmetry)
