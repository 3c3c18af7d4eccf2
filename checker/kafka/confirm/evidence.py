"""Evidence from outside at the end of a trace: acknowledgements, reads, segments.

Every broker that was down is started and learns the leader; then a consumer reads from the leader,
a producer has its answer, and segments are read as bytes.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from waterline.checker.kafka.confirm.decisions import TOPIC
from waterline.checker.kafka.confirm.errors import NoAnswer
from waterline.checker.kafka.confirm.facts import ACKNOWLEDGED, NONE, Facts, names_text, of
from waterline.checker.kafka.confirm.observing import (
    CONSUMER,
    CONSUMER_FETCH,
    OLD_CONSUMER_FETCH,
    read_as_debugger,
)
from waterline.checker.kafka.confirm.proxy import wait_until
from waterline.checker.kafka.confirm.stage import Stage, StepFailed
from waterline.checker.kafka.confirm.staging import heal
from waterline.checker.kafka.confirm.wire import FETCH, error_name, fetch, records_in
from waterline.model.core.claim import Claim

CATCH_UP_SECONDS_MAX = 20.0
ASK_SECONDS_MAX = 5.0


@dataclass(frozen=True, slots=True)
class Evidence:
    """Observations at the end: in words, with the lost records and whether logs differ."""

    lines: tuple[str, ...]
    lost: tuple[str, ...]
    diverged: bool
    was_read: bool
    """True if a consumer could read; otherwise losses are unknown."""

    def shows(self, claim: Claim) -> bool | None:
        """True if this is the end that breaks the claim; None: it is not to be seen outside."""
        return claim.outside(self) if claim.outside is not None else None


def gather_evidence(stage: Stage, facts: Facts, committed: set[str], leader: int) -> Evidence:
    """Look at the segments, then let the cluster recover, and read.

    `committed` are the records that were below a leader's high watermark at some step. `leader` is
    the controller's, -1 where there is none: then nothing can be read.
    """
    acknowledged = [] if facts[ACKNOWLEDGED] == NONE else facts[ACKNOWLEDGED].split()
    lines = [f"Acknowledged to the producer: {names_text(acknowledged)}."]
    lines += [
        f"m{asked.record} was not acknowledged: {asked.outcome}."
        for asked in stage.asked
        if asked.outcome != "acknowledged"
    ]
    parting = _parting(stage, facts, leader)
    if parting:
        lines.append(parting)
    if leader < 0:
        return Evidence((*lines, "Nobody leads: nothing can be read."), (), bool(parting), False)
    try:
        heal(stage, leader)
        read = _read(stage, leader)
    except (StepFailed, NoAnswer) as problem:
        lines.append(f"The cluster did not recover: {problem}.")
        return Evidence(tuple(lines), (), bool(parting), False)
    lines.append(f"Everybody up again, a consumer reads from leader r{leader}: {names_text(read)}.")
    owed = sorted({*acknowledged, *committed})
    lost = tuple(name for name in owed if name not in read)
    for name in lost:
        lines.append(_where(stage, name, is_acknowledged=name in acknowledged))
    if owed and not lost:
        lines.append("Nothing that was acknowledged or committed is lost.")
    return Evidence(tuple(lines), lost, bool(parting), True)


def _where(stage: Stage, name: str, *, is_acknowledged: bool) -> str:
    holders = [
        f"r{broker}"
        for broker in stage.replicas
        if name in {record.value.decode() for record in stage.log(broker)}
    ]
    kept = f"in the log of {' '.join(holders)} alone" if holders else "in no broker's log"
    return f"{name} was {'acknowledged' if is_acknowledged else 'committed'}, and is {kept}."


def _parting(stage: Stage, facts: Facts, leader: int) -> str:
    """Say where a follower's log differs from the leader's below both HWs, "" for nowhere."""
    if leader < 0 or of(leader, "HW") not in facts:
        return ""
    for follower in stage.replicas:
        if of(follower, "HW") not in facts or not _fetches(stage, follower, leader):
            continue
        mark = min(int(facts[of(leader, "HW")]), int(facts[of(follower, "HW")]))
        pairs = zip(stage.log(leader), stage.log(follower), strict=False)
        for offset, (one, other) in enumerate(itertools.islice(pairs, mark)):
            if (one.value, one.epoch) != (other.value, other.epoch):
                return (
                    f"At offset {offset} the segment of leader r{leader} has {one.value.decode()} "
                    f"and that of r{follower} has {other.value.decode()}; both high watermarks are "
                    "above it."
                )
    return ""


def _fetches(stage: Stage, follower: int, leader: int) -> bool:
    """True if it follows this leader, in the leader's epoch, and is done with truncating.

    Logs of others may differ: they have still to be truncated.
    """
    learned = stage.epochs_learned
    if follower == leader or learned.get(follower, -1) != learned.get(leader, -2):
        return False
    link = stage.links[follower, leader]
    link.wait_for(lambda now: now is not None, ASK_SECONDS_MAX)  # It may have just lost one.
    exchange = link.current
    return exchange is not None and exchange.request.key == FETCH


def _read(stage: Stage, leader: int) -> list[str]:
    """Return the records that a consumer reads from the leader once its whole log is committed."""

    def is_committed() -> bool:
        stage.answer_as_kafka()
        log = stage.log(leader)
        text = read_as_debugger(stage, leader)
        return not text.error_code and text.high_watermark == (log[-1].offset + 1 if log else 0)

    if not wait_until(is_committed, CATCH_UP_SECONDS_MAX, every=0.2):
        raise StepFailed(f"r{leader}'s followers catch up", "its high watermark stays behind")
    version = CONSUMER_FETCH if stage.release.at_least(0, 11) else OLD_CONSUMER_FETCH
    return consume(stage.brokers.ports[leader], version, stage.topic)


def consume(
    port: int, version: int = CONSUMER_FETCH, topic: str = TOPIC, *, index: int = 0
) -> list[str]:
    """Return all records that a consumer reads of the partition from the broker on `port`.

    Only leaders serve a consumer, and only below their high watermark. Raises `NoAnswer`.
    """
    read: list[str] = []
    while True:
        text = fetch(port, CONSUMER, version, offset=len(read), topic=topic, index=index)
        if text.error_code:
            raise NoAnswer(f"a consumer is refused: {error_name(text.error_code)}")
        # A fetch may bring a whole batch, of which the consumer skips what it has.
        records = [each for each in records_in(text.records) if each.offset >= len(read)]
        if not records:
            return read
        read += [record.value.decode() for record in records]


def committed_in(stage: Stage, facts: Facts) -> set[str]:
    """Return the records below the high watermark of any leader."""
    found: set[str] = set()
    for broker in stage.replicas:
        if facts.get(of(broker, "leads")) == "yes" and of(broker, "HW") in facts:
            log = stage.log(broker)[: int(facts[of(broker, "HW")])]
            found |= {record.value.decode() for record in log}
    return found
