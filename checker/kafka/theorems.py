"""Theorems about Kafka's versions: claims with the lemmas that prove them for any bounds."""

from __future__ import annotations

from waterline.checker.proof.obligations import Theorem
from waterline.checker.proof.proving import Subject
from waterline.invariants.lemmas import kip320
from waterline.model.atomic import AtomicEnvironment, atomic_model
from waterline.model.atomic.history import describe, with_history
from waterline.model.core.transition_system import Model

_DIFFERENT = {"replicas": 2, "log_size": 3, "records": 5, "epochs": 7}
"""Small sizes of all bounds: each falls away, as the fields alone depend on it."""
SEARCHED = {"replicas": 3, "log_size": 2, "records": 2, "epochs": 2}
"""Sizes within which the search tests claims and lemmas first."""
SMALL = {"replicas": 3, "log_size": 2, "records": 2, "epochs": 2}
"""Sizes of counterexamples to induction."""


def subject_of(version: str) -> Subject:
    """The theorem about a version, with its words."""
    replicas, records, epochs = (SEARCHED[name] for name in ("replicas", "records", "epochs"))
    return Subject(
        name=version,
        theorem=theorem_of(version),
        searched=SEARCHED,
        searched_in=f"of {replicas} replicas, {records} records, epochs 0 to {epochs}",
        small=SMALL,
        scope="any number of replicas, logs of any length, any number of records, leader epochs "
        "and elections",
        trusted="the translation of rules into terms (checker/proof), the solver, and that the "
        "model is Kafka's",
        check=f"waterline check --grain atomic --protocol {version} --replicas {replicas}",
        options={"protocol": version, "grain": "atomic", "replicas": "any"},
    )


def theorem_of(version: str) -> Theorem:
    """The theorem about a version in the atomic grain. Raises `BadEnvironment`.

    The lemmas are those of `kip320`: another version either fulfils them as well, or a step leads
    out of them.
    """

    def model(sizes: dict[str, int]) -> Model:
        return with_history(atomic_model(version, AtomicEnvironment(**sizes)))

    return Theorem(
        model, _DIFFERENT, kip320.LEMMAS, kip320.FOLLOWS, kip320.CLAIMS, describe_history=describe
    )
