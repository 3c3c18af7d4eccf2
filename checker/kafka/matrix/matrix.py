"""A matrix: a grid with its outcomes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from waterline.checker.batch.question import Explorer
from waterline.checker.kafka.deployed.deployment import Deployment
from waterline.checker.kafka.matrix.advice import Advice
from waterline.checker.kafka.matrix.deepening import Follow, explore_raised, ignore_progress
from waterline.checker.kafka.matrix.grid import Grid
from waterline.checker.kafka.matrix.known_causes import Kin
from waterline.checker.kafka.matrix.outcome import Outcome, Standing
from waterline.checker.kafka.matrix.properties import Config
from waterline.checker.kafka.matrix.protocol_of import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """A grid and what came out, cell by cell. `interrupted`: the user ended it early."""

    grid: Grid
    outcomes: tuple[Outcome, ...]
    engine: str
    seconds: float
    interrupted: bool = False

    @property
    def complete(self) -> bool:
        """True if every cell has a result, and nothing was interrupted."""
        return not self.interrupted and self.count(Standing.INCOMPLETE) == 0

    @property
    def distinct(self) -> int:
        """States of all cells together, each at its last bounds."""
        return sum(outcome.answer.distinct for outcome in self.outcomes)

    def count(self, standing: Standing) -> int:
        """Return the number of cells with this standing."""
        return sum(outcome.standing is standing for outcome in self.outcomes)


def explore_grid(
    grid: Grid, explorer: Explorer, *, engine: str, follow: Follow = ignore_progress
) -> Matrix:
    """Explore every cell of a grid."""
    started = time.monotonic()
    raised = explore_raised(grid, list(grid.cells()), explorer, follow=follow)
    return Matrix(
        grid=grid,
        outcomes=tuple(
            o.instead_of(o.cell.size.instead_of(grid.size_asked(o.cell))) for o in raised.outcomes
        ),
        engine=engine,
        seconds=time.monotonic() - started,
        interrupted=raised.interrupted,
    )


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
