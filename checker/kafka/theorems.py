"""Theorems about Kafka's versions: claims with the lemmas that prove them for any bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from waterline.checker.kafka.words import protocol_options
from waterline.checker.problem.wording import as_option
from waterline.checker.proof.loops import Form
from waterline.checker.proof.obligations import Theorem
from waterline.checker.proof.proving import Subject
from waterline.invariants import no_committed_loss
from waterline.invariants.lemmas import kip320, kip320_message, kraft, logs
from waterline.model.atomic import AtomicEnvironment, atomic_model
from waterline.model.atomic.history import describe, with_history
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.transition_system import Model
from waterline.model.message import history
from waterline.model.message.declared import option_of
from waterline.model.message.environment import FAULTS, Environment
from waterline.model.message.epochs import entry_and_end
from waterline.model.message.features import ALTER_PARTITION, ELR, has
from waterline.model.message.fetch import leader_fetch, takes_fetch
from waterline.model.message.high_watermark import advance_high_watermark
from waterline.model.message.isr import alter_partition
from waterline.model.message.model import message_model
from waterline.model.message.truncation import end_by_epochs
from waterline.model.message.versions import version_of

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


_OF_ANY = {"replicas": 3, "records": 1, "epochs": 2}
_OF_TWO = {"replicas": 2, "records": 2, "epochs": 3}


def message_subject_of(version: str) -> Subject:
    """The theorem about a version in the message grain, with its words. Raises `BadEnvironment`."""
    theorem = message_theorem_of(version)
    is_any = "replicas" in theorem.sizes
    searched = _OF_ANY if is_any else _OF_TWO
    replicas, records, epochs = searched.values()
    settings = theorem.model(searched).settings
    least, has_losses = settings.min_insync_replicas, settings.power_losses > 0
    losses = "power losses, " if has_losses else ""
    without = (
        f", with min.insync.replicas={least}; no disk is replaced"
        if has_losses
        else "; no disk or machine is lost"
    )
    within = f"{records} record{'s' * (records > 1)}, epochs 0 to {epochs}"
    return Subject(
        name=version,
        theorem=theorem,
        searched=searched,
        searched_in=f"of {replicas} replicas, {within}",
        small={**searched, "records": 2, "epochs": 2},
        scope=f"{'any number of' if is_any else '2'} replicas, logs of any length, any number of "
        f"records, leader epochs, process crashes, {losses}elections and moves of the "
        f"leader{without}",
        trusted="the translation of rules into terms (checker/proof), the solver, and that the "
        "model is Kafka's",
        check=f"waterline check {' '.join(protocol_options(version))} --replicas {replicas} "
        f"--records {records} --epochs {epochs} --moves 2 --election-order any "
        f"--invariant {no_committed_loss.CLAIM.name}"
        + (f" --min-insync-replicas {least} --power-losses 1" if has_losses else ""),
        options={"protocol": version, "grain": "message", "replicas": "any" if is_any else 2},
    )


def message_subject_within(version: str, options: Mapping[str, object]) -> Subject:
    """The theorem, if every behaviour of an environment with these options is one of its own.

    Sizes that fall away may be any, and so may budgets, which it does not count, but for those of
    faults that it leaves out. Raises `BadEnvironment`.
    """
    subject = message_subject_of(version)
    budgets = {option_of(name) for name in FAULTS}
    for name, value in subject.theorem.model(subject.searched).options.items():
        asked = options[name]
        if name in budgets:
            is_covered = asked == 0 or value != 0
        else:
            is_covered = asked == value or name in subject.theorem.sizes
        if not is_covered:
            raise BadEnvironment(
                f"the lemmas of {version} are about {as_option(name, value)}, and not about "
                f"{as_option(name, asked)}"
            )
    return subject


def message_theorem_of(version: str) -> Theorem:
    """The theorem about a version in the message grain.

    The lemmas are those of `kraft` if the controller changes the ISR, and those of `kip320` if the
    leader does. The model has no normal form and no budgets (`model.message.history`). What becomes
    of requests with acks=all is left open: nothing that is proved depends on it.
    """
    has_elr = has(version_of(version), ELR)

    def model(sizes: dict[str, int]) -> Model:
        environment = Environment(
            replicas=sizes.get("replicas", 2),
            records=sizes["records"],
            epochs=sizes["epochs"],
            min_insync_replicas=2 if has_elr else 1,
            election_order="any",
            moves=1,
            power_losses=1 if has_elr else 0,
        )
        return history.with_history(message_model(version, environment))

    asks = has(model(_OF_TWO).settings, ALTER_PARTITION)
    lemmas = kraft if asks else kip320_message
    split: tuple[Any, ...] = (leader_fetch, takes_fetch) if asks else (end_by_epochs,)
    if has_elr:
        split += (alter_partition, advance_high_watermark)
    return Theorem(
        model,
        {"replicas": 3, "records": 4, "epochs": 6} if asks else {"records": 3, "epochs": 5},
        lemmas.LEMMAS,
        claims=lemmas.CLAIMS,
        facts=logs.FACTS if asks else {},
        limits=("records",),
        forms={entry_and_end: Form(("least", "end"), logs.entry_values)},
        havoc=("acked", "unanswered"),
        apart=("answer_log",),
        split=split,
        # Of two brokers one is left, and that is no choice; who asks before it fetches is in range.
        never=() if asks else ("FenceAndElect", "RecvOutOfRange"),
        describe_history=history.describe,
    )
