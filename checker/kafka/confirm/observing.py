"""Observation of brokers from outside: disks, answers, the controller's state.

The log is the content of segments. The high watermark is the answer to a debugging consumer
(replica -2, served by leaders and followers alike). The leader is the broker that serves a plain
consumer. The known epoch is the one whose fetch is not fenced (from 2.1 on).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from waterline.checker.kafka.confirm.decisions import TOPIC
from waterline.checker.kafka.confirm.errors import NoAnswer
from waterline.checker.kafka.confirm.facts import (
    ACKNOWLEDGED,
    EPOCH_CACHE,
    ISR,
    NO_ANSWER,
    NONE,
    OUT_OF_RANGE_TEXT,
    WAITING,
    Difference,
    Facts,
    answer_text,
    differences,
    epochs_text,
    names_text,
    of,
    records_text,
    request_text,
)
from waterline.checker.kafka.confirm.proxy import Exchange
from waterline.checker.kafka.confirm.stage import Stage
from waterline.checker.kafka.confirm.wire import FETCH, error_name, fetch, records_in

SETTLE_SECONDS = 4.0
"""Time limit for brokers to show the result of a step."""
ANSWER_SECONDS = 30.0
"""Time for which a running broker may give no answer. Until then it has shown nothing."""
EPOCHS_MAX = 8
DEBUGGING_CONSUMER = -2
DEBUGGING_FETCH = 11
"""Version of Fetch for the debugging consumer from 2.4 on; followers serve it too (KIP-392)."""
CONSUMER = -1
"""Replica id of a plain consumer."""
CONSUMER_FETCH, OLD_CONSUMER_FETCH = 4, 3
"""Versions of Fetch that releases from 0.11 to 4.x have, and 0.10."""
_FENCED = frozenset({74, 75})  # FENCED_LEADER_EPOCH, UNKNOWN_LEADER_EPOCH
_OUT_OF_RANGE = 1


def observe(stage: Stage) -> Facts:
    """Every fact that the brokers show now."""
    facts: Facts = {}
    for broker in stage.replicas:
        facts |= _of_broker(stage, broker)
    facts[ISR] = names_text(f"r{member}" for member in stage.controller.current().isr)
    outcomes = [(f"m{asked.record}", asked.outcome) for asked in stage.asked]
    facts[ACKNOWLEDGED] = names_text(name for name, what in outcomes if what == "acknowledged")
    facts[WAITING] = names_text(name for name, what in outcomes if what == "waiting")
    return facts


def compare(
    stage: Stage, model: Mapping[str, str], *, seconds: float = SETTLE_SECONDS
) -> tuple[Facts, list[Difference]]:
    """Observe brokers until they agree with the model or time is up; return facts and differences.

    Waits `ANSWER_SECONDS` for a broker that does not answer: a single request may take longer than
    brokers have to agree. The same holds for the file of an epoch cache: from 3.8 on it is written
    in the background after a truncation (KAFKA-16541).
    """
    start = time.monotonic()
    while True:
        facts = observe(stage)
        found = differences(model, facts)
        most = max(seconds, ANSWER_SECONDS) if _may_be_late(stage, found) else seconds
        if not found or time.monotonic() - start >= most:
            return facts, found
        time.sleep(0.1)


def _may_be_late(stage: Stage, found: Sequence[Difference]) -> bool:
    if any(each.kafka == NO_ANSWER for each in found):
        return True
    is_cache = bool(found) and all(each.subject.endswith(EPOCH_CACHE) for each in found)
    return is_cache and stage.release.at_least(3, 8)


def _of_broker(stage: Stage, broker: int) -> Facts:
    is_up = stage.brokers.is_up(broker)
    log = stage.log(broker)
    facts = {
        of(broker, "is"): "up" if is_up else "down",
        of(broker, "LEO"): str(log[-1].offset + 1 if log else 0),
        of(broker, "log"): records_text((record.value.decode(), record.epoch) for record in log),
        of(broker, "checkpoint"): str(
            read_checkpoint(stage.brokers.checkpoint_file(broker), stage.topic)
        ),
    }
    if not is_up:
        return facts
    if broker not in stage.epochs_learned and stage.reads_log_at_start:
        # It may lead or follow by what it read before its registration; to the model it knows
        # nothing yet.
        facts[of(broker, "leads")] = "no"
        return facts
    try:
        facts[of(broker, "leads")] = "yes" if _serves(stage, broker) else "no"
        facts |= _of_replica(stage, broker, len(log))
    except NoAnswer:
        facts[of(broker, "leads")] = NO_ANSWER
    return facts


def _of_replica(stage: Stage, broker: int, end: int) -> Facts:
    """Return the facts of a broker that has learned its role, none before that."""
    if broker not in stage.epochs_learned:
        return {}
    release = stage.release
    facts: Facts = {}
    text, epoch = _debugged_in_its_epoch(stage, broker)
    if not text.error_code:
        mark = text.high_watermark
        if not release.at_least(2, 4):
            # Until then a truncation leaves it above the end of the log. (docs/confirm.md)
            mark = min(mark, end)
        facts[of(broker, "HW")] = str(mark)
    if epoch:
        facts[of(broker, "epoch")] = epoch
    if release.at_least(0, 11):
        file = stage.brokers.partition(broker) / "leader-epoch-checkpoint"
        facts[of(broker, EPOCH_CACHE)] = epochs_text(read_epochs(file))
    if not any(stage.is_unread(broker, leader) for leader in stage.replicas if leader != broker):
        facts[of(broker, "on its way")] = _on_its_way(stage, broker)
    return facts


def read_checkpoint(file: Path, topic: str = TOPIC) -> int:
    """The partition's high watermark in a replication-offset-checkpoint, 0 where there is none."""
    for line in _lines_of(file):
        name, _, rest = line.partition(" ")
        if name == topic:
            return int(rest.split()[1])
    return 0


def read_epochs(file: Path) -> list[tuple[int, int]]:
    """The entries of a leader-epoch-checkpoint, none where there is none."""
    entries = []
    for line in _lines_of(file)[2:]:
        epoch, _, start = line.partition(" ")
        entries.append((int(epoch), int(start)))
    return entries


def _lines_of(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="ascii").splitlines()
    except FileNotFoundError:
        return []


def read_as_debugger(stage: Stage, broker: int, epoch: int = -1) -> Any:
    """Return the answer to a debugging consumer: the whole log and its high watermark."""
    release = stage.release
    # From 2.4 on a consumer that reads from a follower must say that it knows of racks (KIP-392).
    version = DEBUGGING_FETCH if release.at_least(2, 4) else 9 if release.at_least(2, 1) else 4
    version = version if release.at_least(0, 11) else OLD_CONSUMER_FETCH
    return fetch(
        stage.brokers.ports[broker], DEBUGGING_CONSUMER, version, epoch=epoch, topic=stage.topic
    )


def _serves(stage: Stage, broker: int) -> bool:
    version = CONSUMER_FETCH if stage.release.at_least(0, 11) else OLD_CONSUMER_FETCH
    return not fetch(stage.brokers.ports[broker], CONSUMER, version, topic=stage.topic).error_code


def _debugged_in_its_epoch(stage: Stage, broker: int) -> tuple[Any, str]:
    """Return the answer to a debugging consumer and, from 2.1 on, the epoch that the broker knows.

    Tries the epoch that the broker learned last first, so one request usually does for both.
    """
    if not stage.release.at_least(2, 1):
        return read_as_debugger(stage, broker), ""
    expected = stage.epochs_learned[broker]
    text = read_as_debugger(stage, broker, expected)
    if text.error_code not in _FENCED:
        return text, str(expected)
    return read_as_debugger(stage, broker), _known_epoch(stage, broker)


def _known_epoch(stage: Stage, broker: int) -> str:
    for epoch in range(EPOCHS_MAX):
        if read_as_debugger(stage, broker, epoch).error_code not in _FENCED:
            return str(epoch)
    return f"above {EPOCHS_MAX - 1}"


def _on_its_way(stage: Stage, follower: int) -> str:
    """The follower's one request that counts as sent, or the answer to it."""
    for leader in stage.replicas:
        if leader != follower:
            exchange = stage.exchange(follower, leader)
            if exchange is not None:
                return exchange_text(exchange)
    return NONE


def exchange_text(exchange: Exchange) -> str:
    """A request of a follower, or the answer to it, in the words of facts."""
    if exchange.request.key != FETCH:
        return "question about its epoch"
    if exchange.answer is None:
        return request_text(exchange.request.body.topics[0].partitions[0].fetch_offset)
    text = exchange.answer.responses[0].partitions[0]
    if text.error_code == _OUT_OF_RANGE:
        return OUT_OF_RANGE_TEXT
    if text.error_code:
        return f"answer {error_name(text.error_code)}"
    names = [record.value.decode() for record in records_in(text.records)]
    return answer_text(names, text.high_watermark)
