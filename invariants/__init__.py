"""Claims about the protocol: one module a claim, its sentence first, the predicate under it.

A module of this package that has a `CLAIM` is in the catalogue, at the place that its rank says.
"""

import importlib
import pkgutil

from waterline.model.core.claim import (
    ActionProperty,
    Behaviour,
    Breach,
    Claim,
    Invariant,
    Reachable,
    Recoverable,
    Temporal,
)


def _claims() -> list[Claim]:
    """The claims of all modules of the package, in the order of their rank."""
    names = [found.name for found in pkgutil.iter_modules(__path__) if not found.ispkg]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    claims = [module.CLAIM for module in modules if hasattr(module, "CLAIM")]
    return sorted(claims, key=lambda claim: claim.rank)


_CLAIMS = _claims()
ALL: tuple[Invariant, ...] = tuple(claim for claim in _CLAIMS if isinstance(claim, Invariant))
"""About every reachable state."""
PROPERTIES: tuple[ActionProperty, ...] = tuple(
    claim for claim in _CLAIMS if isinstance(claim, ActionProperty)
)
"""About every step out of one."""
BEHAVIOURS: tuple[Behaviour, ...] = tuple(
    claim for claim in _CLAIMS if isinstance(claim, Recoverable | Temporal)
)
"""About what they lead to: ways back, and whole behaviours."""

__all__ = [
    "ALL",
    "BEHAVIOURS",
    "PROPERTIES",
    "ActionProperty",
    "Breach",
    "Invariant",
    "Reachable",
    "Recoverable",
    "Temporal",
]
