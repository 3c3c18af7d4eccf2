"""Proofs of claims of user models, from their texts."""

from __future__ import annotations

from collections.abc import Mapping

from waterline.checker.proof.proving import Proof, Verdict, never_happen, prove_all
from waterline.checker.user_models.loading import load_text
from waterline.checker.user_models.theorems import OwnTheorem, theorem_of
from waterline.model.own.state_class import Bound


def theorem_in(text: str, bounds: Mapping[str, Bound] | None = None) -> OwnTheorem:
    """The theorem of the first protocol of a text, with these bounds and its defaults."""
    own = load_text(text, "/models/drawn.py")
    version = next(iter(own.protocols))
    return theorem_of(own, version, own.bounds(version) | dict(bounds or {}))


def verdict_of(made: OwnTheorem) -> tuple[Verdict, Proof]:
    """The verdict by induction alone, without a search."""
    theorem, proof = made.theorem, Proof()
    small = theorem.within(theorem.sizes)
    proof.never = never_happen(small)
    prove_all(proof, theorem.induction(), small)
    return proof.verdict(theorem), proof
