"""Produce requests: one record sent to a leader, and its late answer."""

from __future__ import annotations

from dataclasses import dataclass

from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.wire import PRODUCE, Pending, error_name, one_record

PRODUCE_SECONDS_MAX = 900.0
"""Time for which a leader waits for its followers: longer than any replay takes."""
ACKS = {"all": -1, "1": 1, "0": 0}


@dataclass(slots=True)
class PendingRecord:
    """Record sent by a producer: its leader and its outcome."""

    record: int
    leader: int
    pending: Pending

    @property
    def outcome(self) -> str:
        """Answer to the producer: see `describe_answer`."""
        return describe_answer(self.pending)


def describe_answer(pending: Pending | None) -> str:
    """Describe the answer to a producer: `waiting`, `acknowledged`, or the error."""
    if pending is None or not pending.is_over():
        return "waiting"
    if pending.answer is None:
        return "no answer"
    code = pending.answer.responses[0].partition_responses[0].error_code
    return error_name(code) if code else "acknowledged"


def send_record(port: int, topic: str, record: int, *, acks: str, release: KafkaRelease) -> Pending:
    """Send a record to the leader behind a port, as a producer of the release; do not wait.

    Its acknowledgement is what is pending, for `PRODUCE_SECONDS_MAX` at the most.
    """
    old = not release.at_least(0, 11)
    batch = one_record(_value_of(record), magic=1 if old else 2)
    values = {
        "acks": ACKS[acks],
        "timeout_ms": int(PRODUCE_SECONDS_MAX * 1000),
        "topic_data": [{"name": topic, "partition_data": [{"index": 0, "records": batch}]}],
    }
    return Pending(port, PRODUCE, 2 if old else 3, values, seconds=PRODUCE_SECONDS_MAX)


def _value_of(record: int) -> bytes:
    """Return the value of the record with this number."""
    return f"m{record}".encode()
