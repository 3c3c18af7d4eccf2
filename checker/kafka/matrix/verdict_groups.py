"""Faults of a configuration, grouped by the reason for which they lose something; worst first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from checker.kafka.deployed.keys import (
    ACKS,
    ELIGIBLE,
    MIN_INSYNC,
    REPLICATION,
    TOPIC_REPLICATION,
    UNCLEAN,
)
from checker.kafka.matrix.advice import Remedy, may_recommend
from checker.kafka.matrix.config_answer import ConfigAnswer
from checker.kafka.matrix.grid import FAULT
from checker.kafka.matrix.outcome import Outcome, Standing
from checker.kafka.matrix.reason import Reason, harm_of, loss_of, reasons_of
from checker.problem.wording import counted

_CHANGEABLE = (ACKS, MIN_INSYNC, UNCLEAN, ELIGIBLE, REPLICATION, TOPIC_REPLICATION)


@dataclass(frozen=True, slots=True)
class Group:
    """Faults that do harm for one reason. `remedy` is what closes most of them, `closes` which.

    `is_settled`: of every change that was tried it is known whether it closes them.
    """

    reason: Reason
    outcomes: tuple[Outcome, ...]
    remedy: Remedy | None
    closes: tuple[str, ...]
    is_settled: bool = True

    @property
    def losing(self) -> tuple[Outcome, ...]:
        """Those that lose a record."""
        return tuple(outcome for outcome in self.outcomes if loss_of(outcome) is not None)

    @property
    def is_of_settings(self) -> bool:
        """Whether a setting is to blame that can be changed without another release."""
        settings = self.reason.settings
        return bool(settings) and all(setting.key in _CHANGEABLE for setting in settings)


def groups_of(answer: ConfigAnswer) -> list[Group]:
    """The groups: what loses records first, then what a setting closes, then the most faults."""
    reasons = reasons_of(answer.config, answer.matrix.outcomes, answer.advice, answer.kin)
    found: dict[str, list[Outcome]] = {}
    for outcome in answer.matrix.outcomes:
        fault = outcome.cell.coordinates[FAULT]
        if fault in reasons:
            found.setdefault(reasons[fault].description, []).append(outcome)
    groups = [
        _group(answer, reasons[outcomes[0].cell.coordinates[FAULT]], outcomes)
        for outcomes in found.values()
    ]
    return sorted(groups, key=lambda g: (not g.losing, g.reason.setting is None, -len(g.outcomes)))


def _group(answer: ConfigAnswer, reason: Reason, outcomes: Sequence[Outcome]) -> Group:
    faults = [outcome.cell.coordinates[FAULT] for outcome in outcomes]
    closing: dict[tuple[tuple[str, str], ...], list[tuple[str, Remedy]]] = {}
    for fault in faults:
        for remedy in answer.advice.tried.get(fault, ()):
            if remedy.closes and may_recommend(remedy.changes, answer.config):
                closing.setdefault(remedy.changes.key, []).append((fault, remedy))
    recommended = answer.advice.recommendation
    blamed = {setting.key for setting in reason.settings}
    best = max(
        closing.values(),
        key=lambda found: (
            len(found),
            bool(blamed & found[0][1].changes.values.keys()),
            -len(found[0][1].changes.values),
            recommended is not None and found[0][1].changes.key == recommended.changes.key,
        ),
        default=None,
    )
    ordered = tuple(sorted(outcomes, key=_badness))
    tried = [remedy for fault in faults for remedy in answer.advice.tried.get(fault, ())]
    is_settled = all(remedy.is_known for remedy in tried) and not answer.advice.interrupted
    if best is None:
        return Group(reason, ordered, None, (), is_settled)
    closes = tuple(fault for fault, _ in best)
    return Group(reason, ordered, best[0][1], closes, is_settled)


def _badness(outcome: Outcome) -> tuple[bool, int]:
    loss = loss_of(outcome) or harm_of(outcome)
    return loss_of(outcome) is None, (loss.depth or 0) if loss is not None else 0


def title_of(group: Group, answer: ConfigAnswer) -> str:
    """`min.insync.replicas=1 (server.properties:3) loses records`; or that nothing closes it."""
    if not group.reason.settings:
        if not group.is_settled:
            return "Nothing was found within these bounds that closes these"
        return "No setting closes these; they are faults of the release's rules"
    what = "loses records" if group.losing else "does harm, and loses no record"
    return f"{group.reason.description} {what}"


def headline(answer: ConfigAnswer) -> str:
    """`5 of 10 faults can lose an acknowledged record.`"""
    outcomes = answer.matrix.outcomes
    losing = [outcome for outcome in outcomes if loss_of(outcome) is not None]
    harming = [outcome for outcome in outcomes if harm_of(outcome) is not None]
    unknown = [outcome for outcome in outcomes if outcome.standing is Standing.INCOMPLETE]
    unknown = [outcome for outcome in unknown if outcome not in losing]
    faults = counted(len(outcomes), "fault")
    if losing:
        text = f"{len(losing)} of {faults} can lose an acknowledged record"
    else:
        text = f"none of {faults} can lose an acknowledged record"
        if unknown:
            text = f"no loss found in {len(outcomes) - len(unknown)} of {faults}"
    if harming:
        text += f"; {len(harming)} more can do other harm"
    if unknown:
        text += f"; {len(unknown)} not explored to the end"
    return f"{text}."


def within(answer: ConfigAnswer) -> str:
    """`3 replicas, 1 record`: the smallest bounds that a verdict of the answer rests on."""
    records = min(outcome.cell.environment.records for outcome in answer.matrix.outcomes)
    return f"{counted(answer.config.replicas, 'replica')} and {counted(records, 'record')}"


def harmless(answer: ConfigAnswer) -> list[str]:
    """The faults under which nothing is broken, although they happen."""
    return [
        outcome.cell.coordinates[FAULT]
        for outcome in answer.matrix.outcomes
        if outcome.worst is None
        and outcome.standing is Standing.HOLDS
        and outcome.emptiness is None
    ]


def not_met(answer: ConfigAnswer) -> list[str]:
    """The faults that cannot happen here, or can do no harm, so that what holds says little."""
    return [
        outcome.cell.coordinates[FAULT]
        for outcome in answer.matrix.outcomes
        if outcome.emptiness is not None
    ]
