"""Known and intended differences between the model and released code.

Each is listed in docs/model.md too. A walk that shows one ends there, since model and brokers are
not in the same state any more.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from waterline.checker.kafka.confirm.brokers import name_of
from waterline.checker.kafka.confirm.facts import (
    ACKNOWLEDGED,
    EPOCH_CACHE,
    ISR,
    WAITING,
    of,
    read_epochs_text,
)
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stepping import StepSeen
from waterline.model.message.environment import REPLICAS_MAX


@dataclass(frozen=True, slots=True)
class KnownDifference:
    """Known difference between the code and the model; `description` says where Kafka decides it.

    `shows` tells if a step that disagreed on brokers of a release is this difference.
    """

    name: str
    description: str
    shows: Callable[[StepSeen, KafkaRelease], bool]


def _fences_first_fetch(seen: StepSeen, release: KafkaRelease) -> bool:
    """The leader of another epoch answers with an error where the model has an answer."""
    if not release.at_least(2, 1) or release.at_least(2, 5):
        return False
    carried = (
        seen.model.get(of(int(fetched[1]), "epoch")) if (fetched := _FETCH(seen.call)) else None
    )
    if seen.stray_epoch is not None:
        carried = str(seen.stray_epoch)
    leading = {
        seen.model.get(of(replica, "epoch"))
        for replica in range(REPLICAS_MAX)
        if seen.model.get(of(replica, "leads")) == "yes"
    }
    return carried is not None and bool(leading) and carried not in leading


_FETCH = re.compile(r"LeaderFetch\(follower=(\d+)\)").fullmatch


def _forgets_entry_of_epoch(seen: StepSeen, release: KafkaRelease) -> bool:
    """The last entry of an epoch cache starts later than the model's, and nothing else differs."""
    if not release.at_least(2, 0, 1) or release.at_least(2, 6, 1) or seen.problem:
        return False
    if (received := re.fullmatch(r"RecvFetch\(follower=(\d+)\)", seen.call)) is None:
        return False
    cache = of(int(received[1]), EPOCH_CACHE)
    if [each.subject for each in seen.differences] != [cache]:
        return False
    said, shown = read_epochs_text(seen.model[cache]), read_epochs_text(seen.kafka[cache])
    return (
        bool(said and shown)
        and shown[:-1] == said[:-1]
        and shown[-1][0] == said[-1][0]
        and shown[-1][1] > said[-1][1]
    )


def _waits_for_who_caught_up(seen: StepSeen, release: KafkaRelease) -> bool:
    """A leader's high watermark is behind, and a broker outside the ISR runs that may be why."""
    if seen.problem or not seen.differences:
        return False
    running = {r for r in range(REPLICAS_MAX) if seen.model.get(of(r, "is")) == "up"}
    in_sync = seen.model.get(ISR, "").split()
    if all(name_of(replica) in in_sync for replica in running):
        return False
    behind = {
        of(r, "HW") for r in running if _is_less(seen.kafka.get(of(r, "HW")), seen, of(r, "HW"))
    }
    follows_from_it = {ACKNOWLEDGED, WAITING, *(of(r, "on its way") for r in running)}
    return bool(behind) and all(
        each.subject in behind or each.subject in follows_from_it for each in seen.differences
    )


def _is_less(shown: str | None, seen: StepSeen, subject: str) -> bool:
    said = seen.model.get(subject)
    return shown is not None and said is not None and int(shown) < int(said)


KNOWN = (
    KnownDifference(
        "waits-for-who-caught-up",
        "A leader's high watermark waits also for a replica outside the ISR that caught up within "
        "replica.lag.time.max.ms and is not fenced (Partition.maybeIncrementLeaderHW); here it "
        "does not.",
        _waits_for_who_caught_up,
    ),
    KnownDifference(
        "first-fetch-is-fenced",
        "From 2.1 to 2.4 the first fetch of a session carries the leader epoch and is fenced; "
        "here all count as later ones, which carry none (KAFKA-9338).",
        _fences_first_fetch,
    ),
    KnownDifference(
        "forgets-entry-of-epoch",
        "From 2.0.1 to 2.6.0 a follower that led an epoch without a record, and appends a record "
        "of an older epoch, replaces the entry of that older epoch too, so that it starts at this "
        "record (LeaderEpochFileCache.truncateAndAppend); here it starts at its first record.",
        _forgets_entry_of_epoch,
    ),
)


def known_difference(seen: StepSeen, release: KafkaRelease) -> KnownDifference | None:
    """Return the known difference that a step shows, None if it is a new one."""
    return next((each for each in KNOWN if each.shows(seen, release)), None)
