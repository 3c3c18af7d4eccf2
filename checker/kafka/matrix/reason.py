"""Reason of a loss: the setting that permits it, or the rule that the release lacks.

A setting is named where Kafka promises nothing with it (`invariants.contract`), or where the cell
with that setting changed, all else as it is, was explored and holds. Nothing is blamed by
resemblance.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from waterline.checker.kafka.deployed.deployment import Setting
from waterline.checker.kafka.deployed.keys import (
    ACKS,
    BROKER,
    ELIGIBLE,
    METADATA,
    MIN_INSYNC,
    REPLICATION,
    SOFTWARE,
    TOPIC_REPLICATION,
    UNCLEAN,
)
from waterline.checker.kafka.matrix.advice import ELIGIBLE_ON, Advice, Remedy
from waterline.checker.kafka.matrix.grid import VERSION
from waterline.checker.kafka.matrix.outcome import ClaimOutcome, Outcome, badness, contract
from waterline.checker.kafka.matrix.properties import Config
from waterline.model.message.environment import Environment

_ACKNOWLEDGED = ("acknowledged_durable", "acknowledged_on_disk", "acknowledged_somewhere")
LOSSES = (*_ACKNOWLEDGED, "no_committed_loss")
"""Claims that are broken where an acknowledged, or a committed, record is lost."""
_OUT_OF_REACH = "acknowledged_somewhere"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a fault loses something.

    `settings` are those to blame, together; none: neither a setting alone closes the fault, nor an
    upgrade.
    """

    settings: tuple[Setting, ...]

    @property
    def setting(self) -> Setting | None:
        """The first of them."""
        return next(iter(self.settings), None)

    @property
    def description(self) -> str:
        """`unclean.leader.election.enable=true (topic.properties:3)`"""
        if not self.settings:
            return "no setting closes it"
        return " and ".join(f"{name_setting(s)} ({s.origin})" for s in self.settings)


def name_setting(setting: Setting) -> str:
    """`min.insync.replicas=1`, `Kafka 3.9`"""
    if setting.key == SOFTWARE:
        return f"Kafka {setting.value}"
    return f"{setting.key}={setting.value}"


def loss_of(outcome: Outcome) -> ClaimOutcome | None:
    """The worst claim about acknowledged or committed records that is broken, promised or not."""
    broken = [c for c in outcome.claims if c.is_violated and c.name in LOSSES]
    worst = outcome.worst
    if worst is not None and worst in broken:
        return worst
    # A record is out of reach because nobody can lead: that is no loss yet.
    if worst is not None and worst.contract is None and worst.name == "leader_possible":
        broken = [claim for claim in broken if claim.name != _OUT_OF_REACH]
    return min(broken, key=badness, default=None)


def losses_among(depths: Mapping[str, int]) -> list[str]:
    """Return the claims about lost records that break at these depths, the worst first.

    A record is not lost yet if it is out of reach only because no replica can lead.
    """
    leaderless = depths.get("leader_possible")
    return [
        name
        for name in LOSSES
        if name in depths
        and not (name == _OUT_OF_REACH and leaderless is not None and leaderless <= depths[name])
    ]


def record_lost(broken: Collection[str]) -> str:
    """`an acknowledged record`, where one of these claims says so, or `a committed record`."""
    kind = "an acknowledged" if set(_ACKNOWLEDGED) & set(broken) else "a committed"
    return f"{kind} record"


def lost_of(outcome: Outcome) -> str:
    """Return the words for the record that an outcome loses; "" for none."""
    loss = loss_of(outcome)
    if loss is None:
        return ""
    broken = {claim.name for claim in outcome.claims if claim.is_violated}
    return record_lost({loss.name, *(broken - {_OUT_OF_REACH})})


def harm_of(outcome: Outcome) -> ClaimOutcome | None:
    """Return the broken claim if no record is lost: diverging logs, no possible leader."""
    return outcome.worst if loss_of(outcome) is None else None


def reasons_of(config: Config, outcomes: Sequence[Outcome], advice: Advice) -> dict[str, Reason]:
    """Return the reason for each fault that breaks a claim."""
    found = {}
    for outcome in outcomes:
        if outcome.worst is None:
            continue
        fault = outcome.fault
        found[fault] = Reason(tuple(_blamed_settings(config, outcome, advice.tried.get(fault, ()))))
    return found


def _blamed_settings(
    config: Config, outcome: Outcome, tried: Sequence[Remedy]
) -> Iterator[Setting]:
    """The settings that permit the loss, or else the one that closes the fault, changed alone."""
    worst = outcome.worst
    assert worst is not None
    alone = [remedy for remedy in tried if remedy.closes and len(remedy.changes.values) == 1]
    closing = [key for remedy in alone for key in remedy.changes.values]
    permitting = _permitting(outcome, worst) if worst.contract else ()
    keys: tuple[str, ...] = permitting or tuple(key for key in closing if key != VERSION)[:1]
    if not keys and any(remedy.changes.description == ELIGIBLE_ON for remedy in alone):
        keys = (ELIGIBLE,) if config.setting(ELIGIBLE) else ()
    if worst.contract and config.yours.replicas == 1:
        keys = (TOPIC_REPLICATION, REPLICATION)
    if not keys and closing:
        keys = tuple(k for k in (SOFTWARE, METADATA, BROKER) if config.setting(k) is not None)[:1]
    for key in keys:
        setting = config.setting(key)
        if setting is not None:
            yield setting


def _permitting(outcome: Outcome, claim: ClaimOutcome) -> tuple[str, ...]:
    """The fewest settings without which the claim would be promised."""
    environment, version = outcome.cell.environment, outcome.cell.version
    stricter = _stricter(environment)
    for count in range(1, len(stricter) + 1):
        for keys in itertools.combinations(stricter, count):
            changed = {name: value for key in keys for name, value in stricter[key].items()}
            if contract(claim.name, version, replace(environment, **changed)) is None:
                return keys
    return ()


def _stricter(environment: Environment) -> dict[str, dict[str, Any]]:
    """Return, for each setting that could be stricter, the changed fields of the environment."""
    found: dict[str, dict[str, Any]] = {}
    if environment.unclean_leader_election:
        found[UNCLEAN] = {"unclean_leader_election": False}
    if environment.acks != "all":
        found[ACKS] = {"acks": "all"}
    more = environment.min_insync_replicas + 1
    if more <= environment.replicas:
        found[MIN_INSYNC] = {"min_insync_replicas": more}
    return found
