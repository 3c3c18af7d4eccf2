"""What is to be checked: a model, the claims about it, and what must be reachable."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from checker.symmetry import Symmetry, require_symmetric
from invariants.claim import ActionProperty, Invariant, Reachable
from model.transition_system import Model


@dataclass(frozen=True, slots=True)
class Problem:
    """A model and the claims about it: `invariants` of its states, `properties` of its transitions.

    All of them are compiled, so that a shape compiles once; `asked` names those that are checked,
    None for all but those that must be asked for. Those that do not apply to the version are never
    checked. Of states that differ by `symmetry` alone one is explored. Raises `CannotRename` where
    that would not be exact.
    """

    model: Model
    invariants: tuple[Invariant, ...]
    reachable: tuple[Reachable, ...] = ()
    properties: tuple[ActionProperty, ...] = field(default=(), kw_only=True)
    asked: frozenset[str] | None = None
    symmetry: Symmetry = Symmetry.NONE

    def __post_init__(self) -> None:
        require_symmetric(self.model, self.symmetry)

    @property
    def claims(self) -> tuple[Invariant | ActionProperty, ...]:
        """All that can have a verdict, in the order of the report."""
        return (*self.invariants, *self.properties)

    def is_asked(self, claim: Invariant | ActionProperty) -> bool:
        """Whether a verdict is wanted."""
        return claim.default if self.asked is None else claim.name in self.asked

    def is_checked(self, claim: Invariant | ActionProperty) -> bool:
        """Whether a verdict is wanted, and the version has what the claim is about."""
        return self.is_asked(claim) and claim.applies(self.model.settings)

    def asking_too(self, names: Iterable[str]) -> Problem:
        """The same problem, with the claims of these names checked beside those that are."""
        asked = {claim.name for claim in self.claims if self.is_asked(claim)}
        return replace(self, asked=frozenset(asked | set(names)))

    @property
    def applicable(self) -> tuple[Invariant, ...]:
        """The invariants that are checked, in order."""
        return tuple(claim for claim in self.invariants if self.is_checked(claim))

    @property
    def applicable_properties(self) -> tuple[ActionProperty, ...]:
        """The properties that are checked, in order."""
        return tuple(claim for claim in self.properties if self.is_checked(claim))
