"""Facts about a cluster after a step, in one vocabulary for model and brokers.

Facts are texts by subject: `r0 log` is `m1@0 m2@1`. What one side cannot say it leaves out, and
only what both say is compared. `of_model` reads a state; `checker.kafka.confirm.observing` looks at
brokers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.model.core.state import State
from waterline.model.message.narration.phrases import awaited_records, epoch_cache
from waterline.model.message.roles import follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ANSWERED,
    IDLE,
    LEADER,
    NO_RECORD,
    NO_ROLE,
    OUT_OF_RANGE,
    REQUESTED,
    TRUNCATE_TO_HIGH_WATERMARK,
    contains,
)

Facts = dict[str, str]

NONE = "none"
ISR = "ISR"
ACKNOWLEDGED = "acknowledged"
WAITING = "waiting for acknowledgement"
EPOCH_CACHE = "epoch cache"
NO_ANSWER = "no answer"
"""Fact about a broker that runs and does not answer."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A fact on which model and brokers do not agree."""

    subject: str
    model: str
    kafka: str

    def __str__(self) -> str:
        return f"{self.subject}: {self.model} in the model, {self.kafka} in Kafka"


def differences(model: Mapping[str, str], kafka: Mapping[str, str]) -> list[Difference]:
    """Return the differences in facts that both have."""
    return [
        Difference(subject, said, kafka[subject])
        for subject, said in model.items()
        if subject in kafka and kafka[subject] != said
    ]


def of(broker: int, what: str) -> str:
    """The subject of a fact about a broker."""
    return f"r{broker} {what}"


def records_text(records: Iterable[tuple[str, int | None]]) -> str:
    """`m1@0 m2@1`; without the epoch where a log does not carry it."""
    text = [value if epoch is None else f"{value}@{epoch}" for value, epoch in records]
    return " ".join(text) or "empty"


def epochs_text(entries: Iterable[tuple[int, int]]) -> str:
    """An epoch cache: `0 from 0, 2 from 1`."""
    return ", ".join(f"{epoch} from {start}" for epoch, start in entries) or "empty"


def read_epochs_text(text: str) -> list[tuple[int, int]]:
    """The entries that `epochs_text` wrote."""
    if text == "empty":
        return []
    entries = (entry.split(" from ") for entry in text.split(", "))
    return [(int(epoch), int(start)) for epoch, start in entries]


def request_text(offset: int) -> str:
    """A fetch on its way."""
    return f"fetch from {offset}"


def answer_text(records: Iterable[str], high_watermark: int) -> str:
    """An answer on its way."""
    return " ".join(["answer", *records, f"HW {high_watermark}"])


OUT_OF_RANGE_TEXT = "answer out of range"


def names_text(names: Iterable[str]) -> str:
    """Several names, or none."""
    return " ".join(names) or NONE


def of_model(s: State, c: Settings, release: KafkaRelease) -> Facts:
    """Return the facts of a model state that brokers of the release can show."""
    facts: Facts = {}
    for replica in range(s.replicas):
        facts |= _of_broker(s, c, release, replica)
    facts[ISR] = names_text(f"r{each}" for each in range(s.replicas) if contains(s.isr, each))
    born = range(1, s.produced + 1)
    facts[ACKNOWLEDGED] = names_text(f"m{each}" for each in born if contains(s.acked, each - 1))
    facts[WAITING] = names_text(f"m{each}" for each in born if _is_awaited(s, each))
    return facts


def _of_broker(s: State, c: Settings, release: KafkaRelease, replica: int) -> Facts:
    is_up = s.up[replica] == 1
    facts = {
        of(replica, "is"): "up" if is_up else "down",
        of(replica, "LEO"): str(s.leo[replica]),
        of(replica, "log"): records_text(_log(s, replica, release)),
        of(replica, "checkpoint"): str(s.checkpoint[replica]),
    }
    if is_up:
        facts[of(replica, "leads")] = "yes" if s.role[replica] == LEADER else "no"
    if s.role[replica] == NO_ROLE:
        return facts
    # Brokers show no more than the log end, also where the high watermark is above it (until 2.4).
    facts[of(replica, "HW")] = str(min(s.hw[replica], s.leo[replica]))
    facts[of(replica, "epoch")] = str(s.known_epoch[replica])
    if c.truncation != TRUNCATE_TO_HIGH_WATERMARK:
        facts[of(replica, EPOCH_CACHE)] = epochs_text(epoch_cache(s, c, replica))
    if follows(s, replica) and (text := _in_flight(s, replica)):
        facts[of(replica, "on its way")] = text
    return facts


def _log(s: State, replica: int, release: KafkaRelease) -> list[tuple[str, int | None]]:
    records = [s.log[replica, offset] for offset in range(s.leo[replica])]
    carried = release.at_least(0, 11)
    return [(f"m{each}", s.record_epoch[each - 1] if carried else None) for each in records]


def _in_flight(s: State, follower: int) -> str:
    """Describe the follower's fetch in flight, "" if brokers do not show it in this form."""
    fetch = s.fetch[follower]
    if fetch == IDLE:
        return NONE
    if fetch == REQUESTED:
        return request_text(s.leo[follower])
    if fetch == ANSWERED:
        records = [s.answer_log[follower, i] for i in range(s.records)]
        text = [f"m{each}" for each in records if each != NO_RECORD]
        return answer_text(text, s.answer_offset[follower])
    return OUT_OF_RANGE_TEXT if fetch == OUT_OF_RANGE else ""


def _is_awaited(s: Any, record: int) -> bool:
    """True if a broker still owes the answer to this record's producer."""
    return any(record in awaited_records(s, replica) for replica in range(s.replicas))
