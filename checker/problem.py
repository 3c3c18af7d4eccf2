"""What is to be checked: a model, its invariants, and what must be reachable."""

from __future__ import annotations

from dataclasses import dataclass

from invariants.claim import Invariant, Reachable
from model.transition_system import Model


@dataclass(frozen=True, slots=True)
class Problem:
    """A model and the claims about it. Claims that do not apply to its version are kept apart."""

    model: Model
    invariants: tuple[Invariant, ...]
    reachable: tuple[Reachable, ...] = ()

    @property
    def applicable(self) -> tuple[Invariant, ...]:
        """The invariants that say something about this version, in the order given."""
        return tuple(i for i in self.invariants if i.applies(self.model.settings))
