"""Answer about one configuration, and about a whole deployment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterline.checker.kafka.deployed.deployment import Deployment
from waterline.checker.kafka.matrix.advice import Advice
from waterline.checker.kafka.matrix.known_causes import Kin
from waterline.checker.kafka.matrix.matrix import Matrix
from waterline.checker.kafka.matrix.properties import Config
from waterline.checker.kafka.matrix.protocol_of import Protocol


@dataclass(frozen=True, slots=True)
class ConfigAnswer:
    """A configuration over every fault; for each that breaks a claim what was tried, and its like
    in the catalogue.

    Where another size stands for it, what holds there is not known of it.
    """

    config: Config
    matrix: Matrix
    advice: Advice = field(default_factory=Advice)
    kin: Mapping[str, Sequence[Kin]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        yours = self.config.yours
        outcomes = (o.instead_of(o.cell.size.instead_of(yours)) for o in self.matrix.outcomes)
        object.__setattr__(self, "matrix", replace(self.matrix, outcomes=tuple(outcomes)))


@dataclass(frozen=True, slots=True)
class DeploymentAnswer:
    """An answer for each class of topics of a deployment, and what was read of it."""

    deployment: Deployment
    answers: tuple[ConfigAnswer, ...]

    @property
    def protocol(self) -> Protocol:
        """The release, which is that of all classes."""
        return self.answers[0].config.protocol

    @property
    def complete(self) -> bool:
        """True if every cell of every class has a verdict."""
        return all(answer.matrix.complete for answer in self.answers)

    @property
    def interrupted(self) -> bool:
        """True if it was ended early."""
        return any(answer.matrix.interrupted for answer in self.answers)
