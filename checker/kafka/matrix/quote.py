"""One sentence about a class of topics that can stand in a README or a runbook, with its bounds.

Each fault of the answer is in exactly one of its clauses: no loss, loss, other harm, not known. It
says "no record is lost" of those alone that were explored to the end in the size that it names.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from waterline.checker.kafka.matrix.matrix import ConfigAnswer
from waterline.checker.kafka.matrix.outcome import Outcome
from waterline.checker.kafka.matrix.reason import harm_of, loss_of, lost_of
from waterline.checker.kafka.matrix.verdict_groups import harmless, within
from waterline.checker.problem.wording import quantity

LINK = "https://github.com/OWNER/waterline/blob/main/docs/operators.md"
_PHRASES = {
    "none": "leadership as it is, without a fault",
    "one crash": "one broker crash",
    "two crashes": "two broker crashes",
    "leader moves": "two planned moves of leadership",
    "crash and move": "a broker crash and a planned move of leadership",
    "rolling restart": "restarts of two brokers and a planned move of leadership",
    "zombie": "live brokers that the controller believes dead",
    "power loss": "a power loss of one machine",
    "disk out of sync": "a lost disk of a broker out of sync and a broker crash",
    "lost disk": "one lost disk",
    "reassignment": "a reassignment of replicas and a broker crash",
    "reassigned again": "two reassignments of replicas and a broker crash",
    "replication factor": "a change of the replication factor and a broker restart",
    "taken directory": "restarts of two brokers, one with a log directory fewer",
}
_ANY_NUMBER = {
    "one crash": "any number of broker crashes",
    "two crashes": "any number of broker crashes",
    "leader moves": "any number of planned moves of leadership",
    "crash and move": "any number of broker crashes and planned moves of leadership",
    "rolling restart": "any number of broker restarts and planned moves of leadership",
}
"""The same faults where they were explored without bounds."""


def quotation(answer: ConfigAnswer) -> str:
    """Return `With 3 replicas, acks=all, ...: no acknowledged record is lost by ...`, one line."""
    config = answer.config
    unclean = "on" if config.unclean == "true" else "off"
    size = f"{quantity(config.yours.replicas, 'replica')}, acks={config.acks}"
    size += f", min.insync.replicas={config.yours.min_insync}, unclean elections {unclean}"
    clauses = "; ".join(_clauses(answer))
    bounds = f"{within(answer)}{_without_bounds(answer)}"
    return (
        f"With {size}, {config.protocol.title}: {clauses}. That is about every order of events in "
        f"a model of Kafka's replication with {bounds}, and not about larger bounds, other faults "
        f"or mistakes of the code (Waterline, {LINK})."
    )


def _without_bounds(answer: ConfigAnswer) -> str:
    found = [o for o in answer.matrix.outcomes if _is_of_any_number(o)]
    if not found:
        return ""
    records = min(outcome.cell.environment.records for outcome in found)
    return f' ("any number": at most {quantity(records, "record")} in a log at one time)'


def _clauses(answer: ConfigAnswer) -> Iterator[str]:
    """Yield a clause for each kind of outcome, with its faults."""
    held = set(harmless(answer))
    safe: list[Outcome] = []
    losing: dict[str, list[Outcome]] = {}
    harming: list[Outcome] = []
    unknown: list[Outcome] = []
    for outcome in answer.matrix.outcomes:
        if loss_of(outcome) is not None:
            losing.setdefault(lost_of(outcome), []).append(outcome)
        elif harm_of(outcome) is not None:
            harming.append(outcome)
        elif outcome.fault in held and answer.config.acks != "0":
            safe.append(outcome)
        else:
            unknown.append(outcome)
    if safe:
        yield f"no acknowledged record is lost by {_alternatives(safe)}"
    there = f"explored as {answer.config.explored}, " if answer.config.stand_in else ""
    for record, outcomes in losing.items():
        yield f"{there}{record} can be lost by {_alternatives(outcomes)}"
    if harming:
        yield f"other harm can be done by {_alternatives(harming)}"
    if unknown:
        yield f"it is not known which records are lost by {_alternatives(unknown)}"


def _alternatives(outcomes: Sequence[Outcome]) -> str:
    return ", or by ".join(dict.fromkeys(map(_phrase, outcomes)))


def _phrase(outcome: Outcome) -> str:
    fault = outcome.fault
    return _ANY_NUMBER[fault] if _is_of_any_number(outcome) else _PHRASES[fault]


def _is_of_any_number(outcome: Outcome) -> bool:
    is_known = outcome.worst is None and not outcome.is_bounded and not outcome.stand_in
    return is_known and outcome.fault in _ANY_NUMBER
