"""Faults of a configuration, grouped by the reason for which they lose something; worst first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from waterline.checker.kafka.deployed.keys import (
    ACKS,
    ELIGIBLE,
    MIN_INSYNC,
    REPLICATION,
    TOPIC_REPLICATION,
    UNCLEAN,
)
from waterline.checker.kafka.matrix.advice import Remedy, may_recommend
from waterline.checker.kafka.matrix.grid import FAULT, NO_FAULT
from waterline.checker.kafka.matrix.matrix import ConfigAnswer
from waterline.checker.kafka.matrix.outcome import Outcome, Standing
from waterline.checker.kafka.matrix.reason import Reason, harm_of, loss_of, lost_of, reasons_of
from waterline.checker.problem.wording import list_of, quantity

_FEW_REPLICAS = 2
"""Number of replicas that allows none to be down if all must be in sync: one more helps most."""
_CHANGEABLE = (ACKS, MIN_INSYNC, UNCLEAN, ELIGIBLE, REPLICATION, TOPIC_REPLICATION)


@dataclass(frozen=True, slots=True)
class Group:
    """Faults that do harm for one reason. `remedy` is what closes most of them, `closes` which."""

    reason: Reason
    outcomes: tuple[Outcome, ...]
    remedy: Remedy | None
    closes: tuple[str, ...]

    @property
    def losing(self) -> tuple[Outcome, ...]:
        """Outcomes that lose a record."""
        return tuple(outcome for outcome in self.outcomes if loss_of(outcome) is not None)

    @property
    def is_of_settings(self) -> bool:
        """True if a setting is to blame that can be changed without another release."""
        settings = self.reason.settings
        return bool(settings) and all(setting.key in _CHANGEABLE for setting in settings)


def groups_of(answer: ConfigAnswer) -> list[Group]:
    """The groups: what loses records first, then what a setting closes, then the most faults."""
    reasons = reasons_of(answer.config, answer.matrix.outcomes, answer.advice)
    found: dict[tuple[str, bool], list[Outcome]] = {}
    for outcome in answer.matrix.outcomes:
        fault = outcome.fault
        if fault in reasons:
            key = (reasons[fault].description, bool(_closing(answer, fault)))
            found.setdefault(key, []).append(outcome)
    groups = [
        _group(answer, reasons[outcomes[0].cell.coordinates[FAULT]], outcomes)
        for outcomes in found.values()
    ]
    return sorted(groups, key=lambda g: (not g.losing, g.reason.setting is None, -len(g.outcomes)))


def _group(answer: ConfigAnswer, reason: Reason, outcomes: Sequence[Outcome]) -> Group:
    faults = [outcome.fault for outcome in outcomes]
    closing: dict[tuple[tuple[str, str], ...], list[tuple[str, Remedy]]] = {}
    for fault in faults:
        for remedy in _closing(answer, fault):
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
    if best is None:
        return Group(reason, ordered, None, ())
    return Group(reason, ordered, best[0][1], tuple(fault for fault, _ in best))


def _closing(answer: ConfigAnswer, fault: str) -> list[Remedy]:
    """Return the remedies that prevent a fault and may be recommended."""
    tried = answer.advice.tried.get(fault, ())
    return [r for r in tried if r.closes and may_recommend(r.changes, answer.config)]


def _badness(outcome: Outcome) -> tuple[bool, int]:
    loss = loss_of(outcome) or harm_of(outcome)
    return loss_of(outcome) is None, (loss.depth or 0) if loss is not None else 0


def title_of(group: Group, answer: ConfigAnswer) -> str:
    """`min.insync.replicas=1 (server.properties:3) loses records`; or that nothing prevents it."""
    if not group.reason.settings:
        if answer.advice.interrupted:
            return "What prevents these is not known yet"
        if group.remedy is not None:
            return "No single setting or upgrade prevents these"
        return "No setting or upgrade that we tried prevents these"
    one = len(group.reason.settings) == 1
    if group.losing:
        return f"{group.reason.description} {'loses' if one else 'lose'} records"
    return f"{group.reason.description} {'does' if one else 'do'} harm, without a loss"


def without_remedy(group: Group, answer: ConfigAnswer) -> str:
    """`No setting or upgrade that we tried prevents it.`, and what was not tried to the end."""
    faults = [outcome.fault for outcome in group.outcomes]
    tried = [remedy for fault in faults for remedy in answer.advice.tried.get(fault, ())]
    if answer.advice.interrupted:
        return f"Interrupted before {'every' if tried else 'any'} remedy was tried."
    text = []
    if group.reason.settings:
        text.append("No setting or upgrade that we tried prevents it.")
    if not all(remedy.is_known for remedy in tried):
        few = " within these small bounds" if answer.matrix.grid.first_look else ""
        text.append(f"Some remedies were not explored to the end{few}.")
    if group.reason.settings and answer.config.yours.replicas < _FEW_REPLICAS:
        text.append("More replicas were not tried.")
    elif group.reason.settings and answer.config.yours.replicas == _FEW_REPLICAS:
        unclean = " and unclean elections off" if answer.config.unclean == "true" else ""
        text.append(f"Not tried: 3 replicas with {MIN_INSYNC}=2{unclean}.")
    return " ".join(text)


def known_causes(group: Group, answer: ConfigAnswer) -> Iterator[str]:
    """`Rolling restart: like C21 (...).`, where no setting is to blame."""
    faults: dict[str, list[str]] = {}
    for outcome in () if group.reason.settings else group.outcomes:
        fault = outcome.fault
        for kin in answer.kin.get(fault, ())[:1]:
            entry = f"{kin.scenario.number} ({kin.scenario.title})"
            faults.setdefault(entry, []).append(fault)
    for entry, those in faults.items():
        yield f"{', '.join(those).capitalize()}: like {entry}."


def precautions(group: Group, answer: ConfigAnswer) -> Iterator[str]:
    """Yield the actions to avoid until a release repairs the entries behind a group's losses."""
    found = _of_entries("precaution", group, answer)
    if found:
        yield "Until a release repairs these (docs/losses.md):"
        yield from (f"{number}: {text}" for number, text in found.items())


def signs(group: Group, answer: ConfigAnswer) -> Iterator[str]:
    """Yield what logs and tools show where the entries behind a group's losses have happened."""
    for number, text in _of_entries("sign", group, answer).items():
        yield f"How {number} shows: {text}"


def _of_entries(name: str, group: Group, answer: ConfigAnswer) -> dict[str, str]:
    """Return a text of each entry that has it, by its number."""
    faults = [outcome.fault for outcome in group.losing]
    entries = [kin.scenario for fault in faults for kin in answer.kin.get(fault, ())]
    texts = {entry.number: getattr(entry, name) for entry in entries}
    return {number: text for number, text in texts.items() if text}


def headline(answer: ConfigAnswer) -> str:
    """`5 of 9 faults can lose an acknowledged record.`; which size was explored comes first."""
    before = f"explored as {answer.config.stand_in}: " if answer.config.stand_in else ""
    if answer.config.acks == "0":
        before += "with acks=0 nothing is acknowledged, and any fault may lose records unseen: "
    return f"{before}{'; '.join(_counts(answer))}."


def _counts(answer: ConfigAnswer) -> Iterator[str]:
    """Yield how many faults lose a record, do other harm, and are unknown."""
    outcomes = answer.matrix.outcomes
    harming = [outcome for outcome in outcomes if harm_of(outcome) is not None]
    unknown = _unknown(answer)
    faults = quantity(len(outcomes), "fault")
    losing = [
        f"{lost_of(outcome)}{_there(outcome, answer)}" for outcome in outcomes if lost_of(outcome)
    ]
    for number, (record, count) in enumerate(Counter(sorted(losing)).most_common()):
        of = "more" if number else f"of {faults}"
        yield f"{count} {of} can lose {record}"
    if not losing:
        record = "a committed record" if answer.config.acks == "0" else "an acknowledged record"
        if [outcome.fault for outcome in outcomes] == [NO_FAULT]:
            yield f"none can lose {record} while nothing fails"
        elif answer.config.stand_in:
            yield "no loss was found there"
        elif unknown:
            yield f"no loss found in {len(outcomes) - len(unknown)} of {faults}"
        else:
            yield f"none of {faults} can lose {record}"
    if harming:
        yield f"{len(harming)} more can do other harm"
    for where, number in Counter(map(_missing_conclusion, unknown)).items():
        yield f"{number} not explored{where}"


def _there(outcome: Outcome, answer: ConfigAnswer) -> str:
    """A smaller size with as many in sync is part of the larger: what loses there loses here."""
    is_yours = outcome.cell.size.min_insync == answer.config.yours.min_insync
    return "" if is_yours else " there"


def _missing_conclusion(outcome: Outcome) -> str:
    return " in your size" if outcome.stand_in else " to the end"


def loses(answer: ConfigAnswer) -> bool:
    """True if some fault loses a record, or no producer learns of it."""
    return answer.config.acks == "0" or any(map(loss_of, answer.matrix.outcomes))


def unexplored_faults(answer: ConfigAnswer) -> list[str]:
    """Return the faults without a conclusion."""
    return [outcome.fault for outcome in _unknown(answer)]


def _unknown(answer: ConfigAnswer) -> list[Outcome]:
    return [
        outcome
        for outcome in answer.matrix.outcomes
        if outcome.standing is Standing.INCOMPLETE and loss_of(outcome) is None
    ]


def why_unexplored(answer: ConfigAnswer) -> dict[str, list[str]]:
    """Return the faults without a conclusion by reason; "" for an unfinished search."""
    found: dict[str, list[str]] = {}
    for outcome in _unknown(answer):
        size = f"explored as {outcome.stand_in}" if outcome.stand_in else ""
        found.setdefault(size, []).append(outcome.fault)
    return found


def within(answer: ConfigAnswer) -> str:
    """`3 replicas, 1 record, leader epochs 0 to 3`: the smallest bounds that a verdict rests on.

    Epochs are named where later ones were cut, and faults that were explored with fewer replicas.
    """
    records = min(outcome.cell.environment.records for outcome in answer.matrix.outcomes)
    smaller: dict[str, list[str]] = {}
    for outcome in answer.matrix.outcomes:
        size = outcome.cell.size
        if size.replicas < answer.config.explored.replicas:
            named = smaller.setdefault(quantity(size.replicas, "replica"), [])
            named.append(outcome.fault)
    few = "".join(f"; {list_of(faults, 9)} with {size}" for size, faults in smaller.items())
    cut = [
        outcome.cell.environment.epochs
        for outcome in answer.matrix.outcomes
        if outcome.worst is None and outcome.is_bounded and outcome.is_cut_by_epochs
    ]
    epochs = f", leader epochs 0 to {min(cut)}" if cut else ""
    return f"{answer.config.explored_in_words}, {quantity(records, 'record')}{epochs}{few}"


def harmless(answer: ConfigAnswer) -> list[str]:
    """Return the faults that happen and break nothing."""
    return [
        outcome.fault
        for outcome in answer.matrix.outcomes
        if outcome.worst is None
        and outcome.standing is Standing.HOLDS
        and outcome.emptiness is None
    ]


def not_met(answer: ConfigAnswer) -> list[str]:
    """The faults that cannot happen here, or can do no harm, so that what holds says little."""
    return [outcome.fault for outcome in answer.matrix.outcomes if outcome.emptiness is not None]
