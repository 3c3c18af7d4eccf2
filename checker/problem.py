"""What is to be checked: a model, its invariants, and what must be reachable."""

from __future__ import annotations

from dataclasses import dataclass

from checker.symmetry import Symmetry, require_symmetric
from invariants.claim import Invariant, Reachable
from model.transition_system import Model


@dataclass(frozen=True, slots=True)
class Problem:
    """A model and the claims about it.

    All `invariants` are compiled, so that a shape compiles once; `asked` names those that are
    checked, None for all. Those that do not apply to the version are never checked. Of states that
    differ by `symmetry` alone one is explored. Raises `CannotRename` where that would not be exact.
    """

    model: Model
    invariants: tuple[Invariant, ...]
    reachable: tuple[Reachable, ...] = ()
    asked: frozenset[str] | None = None
    symmetry: Symmetry = Symmetry.NONE

    def __post_init__(self) -> None:
        require_symmetric(self.model, self.symmetry)

    def is_asked(self, invariant: Invariant) -> bool:
        """Whether a verdict is wanted."""
        return self.asked is None or invariant.name in self.asked

    @property
    def applicable(self) -> tuple[Invariant, ...]:
        """The invariants that are asked for and say something about this version, in order."""
        settings = self.model.settings
        return tuple(i for i in self.invariants if self.is_asked(i) and i.applies(settings))
