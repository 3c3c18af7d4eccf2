"""Rules that brokers of a Kafka release follow: a declaration for each range of releases.

A range is a text that `model.message.versions.version_of` reads, a version with the features added
and removed, and where that is decided. Every rule was looked up in Kafka's source at the tags
named; `unlike` lists behaviour that no feature expresses. The version that brokers speak to each
other decides (inter.broker.protocol.version with ZooKeeper, metadata.version under KRaft); it is
assumed to be that of the software.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from waterline.model.message.versions import spell

NEWEST_RELEASE = (4, 4)
"""The newest release, major and minor, whose rules are declared here; none is known of a newer."""
ZOOKEEPER_LAST = (3, 9)
"""The newest release that runs with ZooKeeper."""
KRAFT_READY = (3, 3)
"""The first release whose KRaft is for production."""
KRAFT_FIRST = (2, 8)
"""The oldest release that has KRaft, as a preview; for production it is from 3.3 on."""
ELIGIBLE_LEADER_REPLICAS_FIRST = (4, 0)
"""Oldest release that allows eligible.leader.replicas.version=1."""
ELIGIBLE_LEADER_REPLICAS_USUAL = (4, 1)
"""Oldest release that sets it for a new cluster."""
_ANSWERS_AFTER_THE_FETCH = ((0, 8, 0), (0, 8, 1), (1, 0, 0), (1, 0, 1), (1, 1, 0))
"""Releases whose fetch answers have the high watermark from after the fetch (in 0.8 by
KafkaApis.handleFetchRequest): in all others ReplicaManager.readFromLocalLog reads it before."""
LAST_MINORS = {0: 11, 1: 1, 2: 8, 3: 9}
"""The last minor release of each major one that has been followed by another."""
MANNERS = ("zookeeper", "kraft", "elr")

ReleaseNumber = tuple[int, ...]
"""(3, 9), or with the patch, (2, 8, 1). Without one, the first release of that minor."""


class UnknownRelease(ValueError):
    """No rules are declared for the release; the message says which ones are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """From the release `since` on, with or without KRaft and ELR, brokers follow `version`.

    `source` is where it was decided. `unlike` is what is known to differ and is not modelled.
    `heeds_unclean_election` is False if unclean.leader.election.enable has no effect: a controller
    of KRaft takes it for false until 3.9 (KAFKA-12670).
    """

    since: ReleaseNumber
    is_kraft: bool
    base: str
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    with_eligible_leader_replicas: bool = False
    heeds_unclean_election: bool = True
    source: str
    unlike: str = ""

    @property
    def version(self) -> str:
        """The version with its changes, as `version_of` reads it."""
        return spell(self.base, self.added, self.removed)


_ALTER_ISR = ("alter-partition", "maximal-isr")
_ON_FETCH = "KIP-595 (2.8.0), AbstractFetcherThread.truncateOnFetchResponse"
_SINCE_2_4 = (
    "truncation-lowers-hw",
    "refusal-tells-nothing",
    "moved-fetch-tries-hw",
    "changeable-reassignment",
)
_BEFORE_KRAFT_3_3 = ("partition-epoch-check", "steps-down")
_EMPTY_ISR = "With unclean election the ISR becomes empty when its last member dies"
_ISR_LIST = "Elected is the first in the list of the ISR"
_MOVES_EPOCH_START = (
    "Each record of the partition that its leader replays moves the start of the epoch to its LEO "
    "(KAFKA-13790)."
)
_STALE_MEMBER = (
    "The broker epoch of every member of the proposed ISR is checked, here of who is added."
)
_FLUSHED_LATER = (
    "The epoch checkpoint is written after the truncation, which a crash can prevent (KAFKA-16541)."
)
_ENTRY_REPLACED = (
    "A follower that led without writing, and appends a record of an older epoch, replaces that "
    "epoch's entry in its cache."
)
_NOT_SYNCED = (
    "After a truncation the epoch checkpoint is not flushed in 3.7 (KAFKA-15046), and is written "
    "later from 3.8 on (KAFKA-16541)."
)
_PREVIEW = "In this preview a leader that takes out a member raises no epoch."
_MIGRATION = "Until 3.9 a smaller ISR raises the epoch while a cluster leaves ZooKeeper."
_RECOVERY = "After an unclean election the leader is marked as recovering (KIP-704)."
_TIERED = (
    "From 4.3 on a new follower may begin at the last tiered offset (KIP-1023, off by default)."
)

_zookeeper = partial(Release, is_kraft=False)
_kraft = partial(Release, is_kraft=True)
_kraft_before_3_9 = partial(_kraft, heeds_unclean_election=False)
_elr = partial(_kraft, base="elr", with_eligible_leader_replicas=True)

RELEASES = (
    _zookeeper(
        since=(0, 8),
        base="hw",
        added=("fresh-remote-leo", "keeps-waiting-producers"),
        source="0.8.2.2 ReplicaManager.makeFollowers, Partition.makeLeader",
        unlike="A follower also lags by messages (replica.lag.max.messages). "
        f"{_EMPTY_ISR}; until 0.8.1 it cannot be switched off. {_ISR_LIST}: until 0.8.1 always, in "
        "0.8.2 in a controlled shutdown.",
    ),
    _zookeeper(
        since=(0, 9),
        base="hw",
        added=("keeps-waiting-producers",),
        source="KAFKA-2721 (0.9.0): 0.9.0.0 and 0.10.2.0 Partition.makeLeader",
        unlike=f"{_EMPTY_ISR}. {_ISR_LIST} in a controlled shutdown.",
    ),
    _zookeeper(
        since=(0, 10),
        base="hw",
        source="KAFKA-2960 (0.10.0), ReplicaManager.makeFollowers",
        unlike=f"{_EMPTY_ISR}.",
    ),
    _zookeeper(
        since=(0, 11),
        base="epoch",
        source="KIP-101 (0.11.0)",
        unlike=f"{_EMPTY_ISR}, until 1.1. With "
        "log.message.format.version below 0.11 followers truncate as in 0.10.",
    ),
    _zookeeper(since=(2, 0), base="kip279-code", source="KAFKA-6361 (2.0.0)"),
    _zookeeper(
        since=(2, 0, 1),
        base="kip279",
        added=(
            "epoch-on-leading",
            "truncate-after-gap",
            "isr-from-epoch-start",
            "truncate-out-of-range",
        ),
        source="KAFKA-7415, KAFKA-7164, KAFKA-7128, KAFKA-7414 (2.0.1)",
        unlike=_ENTRY_REPLACED,
    ),
    _zookeeper(
        since=(2, 1),
        base="kip320-code",
        source="KAFKA-7395, KAFKA-7152 (2.1.0); for consumers KAFKA-7747 (client 2.3.0)",
        unlike=_ENTRY_REPLACED,
    ),
    _zookeeper(
        since=(2, 4),
        base="kip320-code",
        added=_SINCE_2_4,
        source="KAFKA-8457, KAFKA-8400, KAFKA-8841 (2.4.0): the high watermark is a log's; KIP-455",
        unlike=_ENTRY_REPLACED,
    ),
    _zookeeper(
        since=(2, 5),
        base="kip320-code",
        added=(*_SINCE_2_4, "session-fencing"),
        source="KAFKA-9338 (2.5.0), FetchSession.CachedPartition",
        unlike=_ENTRY_REPLACED,
    ),
    _zookeeper(
        since=(2, 6, 1),
        base="kip320",
        source="KAFKA-10706 (2.6.1), Log.truncateTo",
    ),
    _zookeeper(
        since=(2, 7),
        base="kip320",
        added=_ALTER_ISR,
        source="KIP-497 (2.7.0, ApiVersion 2.7-IV2); followers still ask for epochs: 2.7.0 to "
        "2.7.2 ReplicaFetcherThread",
        unlike="Until 2.7.2 and 2.8.1 an answer that changes nothing leaves the request pending.",
    ),
    _zookeeper(
        since=(2, 8),
        base="truncate-on-fetch",
        added=_ALTER_ISR,
        removed=("diverging-guard",),
        source=f"{_ON_FETCH}; without KAFKA-13141",
    ),
    _zookeeper(
        since=(2, 8, 1),
        base="truncate-on-fetch",
        added=_ALTER_ISR,
        source="KAFKA-13141 (2.8.1, 3.0.0), ReplicaManager.updateFollowerFetchState",
    ),
    _zookeeper(
        since=(3, 3),
        base="truncate-on-fetch",
        added=(*_ALTER_ISR, "fenced-check"),
        source="KIP-841 (3.3.0), KafkaController.tryProcessAlterPartition: only live brokers",
    ),
    _zookeeper(
        since=(3, 7),
        base="truncate-on-fetch",
        added=(*_ALTER_ISR, "fenced-check", "hw-needs-min-isr"),
        source="KAFKA-15583 (3.7.0), Partition.maybeIncrementLeaderHW",
        unlike=_NOT_SYNCED,
    ),
    _zookeeper(
        since=(3, 9, 1),
        base="truncate-on-fetch",
        added=(*_ALTER_ISR, "fenced-check", "hw-needs-min-isr", "append-checks-epoch"),
        source="KAFKA-18723 (3.9.1), UnifiedLog.appendAsFollower",
        unlike=_FLUSHED_LATER,
    ),
    _kraft_before_3_9(
        since=(2, 8),
        base="kraft",
        removed=("fenced-check", "diverging-guard", *_BEFORE_KRAFT_3_3),
        source="2.8.0 ReplicationControlManager.alterIsr; without KAFKA-13141, KAFKA-13916",
        unlike=f"{_PREVIEW} {_MOVES_EPOCH_START}",
    ),
    _kraft_before_3_9(
        since=(2, 8, 1),
        base="kraft",
        removed=("fenced-check", *_BEFORE_KRAFT_3_3),
        source="2.8.1 ReplicationControlManager.alterIsr; KAFKA-13141 (2.8.1)",
        unlike=f"{_PREVIEW} {_MOVES_EPOCH_START}",
    ),
    _kraft_before_3_9(
        since=(3, 0),
        base="kraft",
        removed=("fenced-check", *_BEFORE_KRAFT_3_3),
        source="3.0.0 PartitionChangeBuilder.triggerLeaderEpochBumpIfNeeded; without KAFKA-13916, "
        "KAFKA-13858, KAFKA-13790",
        unlike=_MOVES_EPOCH_START,
    ),
    _kraft_before_3_9(
        since=(3, 3),
        base="kraft",
        source="KIP-841, KAFKA-13916, KAFKA-13858, KAFKA-13790 (3.3.0)",
    ),
    _kraft_before_3_9(
        since=(3, 5),
        base="kip903",
        removed=("stale-fetch-check",),
        source="KIP-903, KAFKA-14617 (3.5.0); without KAFKA-15221",
        unlike=_STALE_MEMBER,
    ),
    _kraft_before_3_9(
        since=(3, 6),
        base="kip903",
        removed=("shrink-raises-epoch", "stale-fetch-check"),
        source="KAFKA-15021 (3.6.0), MetadataVersion.isLeaderEpochBumpRequiredOnIsrShrink",
        unlike=f"{_MIGRATION} {_STALE_MEMBER}",
    ),
    _kraft_before_3_9(
        since=(3, 7),
        base="kip903",
        added=("hw-needs-min-isr",),
        removed=("shrink-raises-epoch",),
        source="KAFKA-15583, KAFKA-15221 (3.7.0), Partition.maybeIncrementLeaderHW",
        unlike=f"{_MIGRATION} {_NOT_SYNCED}",
    ),
    _kraft_before_3_9(
        since=(3, 7, 1),
        base="kip903",
        added=("hw-needs-min-isr", "recovers-future-log"),
        removed=("shrink-raises-epoch",),
        source="KAFKA-16082 (3.7.1), LogManager.recoverAbandonedFutureLogs; else as 3.7",
        unlike=f"{_MIGRATION} {_NOT_SYNCED}",
    ),
    _kraft_before_3_9(
        since=(3, 8),
        base="kip903",
        added=("hw-needs-min-isr", "recovers-future-log"),
        removed=("shrink-raises-epoch", "completes-when-added"),
        source="KAFKA-15665 (3.8.0), PartitionReassignmentReplicas; else as 3.7",
        unlike=f"{_MIGRATION} {_FLUSHED_LATER}",
    ),
    _kraft(
        since=(3, 9),
        base="kip903",
        added=("hw-needs-min-isr", "recovers-future-log"),
        removed=("shrink-raises-epoch", "completes-when-added"),
        source="KAFKA-12670 (3.9.0), ConfigurationControlManager; else as 3.7",
        unlike=f"{_MIGRATION} {_RECOVERY} {_FLUSHED_LATER}",
    ),
    _kraft(
        since=(3, 9, 1),
        base="kip903",
        added=("hw-needs-min-isr", "recovers-future-log", "append-checks-epoch"),
        removed=("shrink-raises-epoch", "completes-when-added"),
        source="KAFKA-18723 (3.9.1), UnifiedLog.appendAsFollower",
        unlike=f"{_MIGRATION} {_RECOVERY} {_FLUSHED_LATER}",
    ),
    _kraft(
        since=(4, 0),
        base="kip903",
        added=("hw-needs-min-isr", "recovers-future-log", "registration-removes"),
        removed=("shrink-raises-epoch", "completes-when-added"),
        source="KAFKA-18106, KAFKA-18635 (4.0.0), handleBrokerShutdown; without KAFKA-18723",
        unlike=f"{_RECOVERY} {_FLUSHED_LATER}",
    ),
    _elr(
        since=(4, 0),
        added=("last-known-leader", "last-known-leader-fenced"),
        removed=("append-checks-epoch",),
        source="KIP-966 (4.0.0), PartitionChangeBuilder; without KAFKA-19522, KAFKA-18723",
        unlike=f"{_RECOVERY} {_FLUSHED_LATER}",
    ),
    _kraft(
        since=(4, 0, 1),
        base="kip903",
        added=(
            "hw-needs-min-isr",
            "recovers-future-log",
            "registration-removes",
            "append-checks-epoch",
        ),
        removed=("shrink-raises-epoch", "completes-when-added"),
        source="KAFKA-18723 (4.0.1, 4.1.0), UnifiedLog.appendAsFollower",
        unlike=f"{_RECOVERY} {_TIERED} {_FLUSHED_LATER}",
    ),
    _elr(
        since=(4, 0, 1),
        added=("last-known-leader", "last-known-leader-fenced"),
        source="KAFKA-18723 (4.0.1), UnifiedLog.appendAsFollower; without KAFKA-19522",
        unlike=f"{_RECOVERY} {_FLUSHED_LATER}",
    ),
    _elr(
        since=(4, 1),
        added=("last-known-leader",),
        source="KAFKA-19522 (4.1.0), PartitionChangeBuilder.canElectLastKnownLeader",
        unlike=f"{_RECOVERY} {_TIERED} {_FLUSHED_LATER}",
    ),
    _kraft(
        since=(4, 3),
        base="kip903",
        added=(
            "hw-needs-min-isr",
            "recovers-future-log",
            "registration-removes",
            "append-checks-epoch",
            "shrink-waits-for-targets",
        ),
        removed=("shrink-raises-epoch",),
        source="KAFKA-19975 (4.3.0), PartitionReassignmentReplicas; compared up to 4.4.0",
        unlike=f"{_RECOVERY} {_TIERED} {_FLUSHED_LATER}",
    ),
    _elr(
        since=(4, 3),
        added=("last-known-leader", "completes-when-added", "shrink-waits-for-targets"),
        removed=("new-directory-empties-elr",),
        source="KAFKA-19975, pull request 20716 (4.3.0), ReplicationControlManager",
        unlike=f"{_RECOVERY} {_TIERED} {_FLUSHED_LATER}",
    ),
)
"""Oldest first, with ZooKeeper and then with KRaft; of those that fit the last is taken."""


def release_followed(
    number: ReleaseNumber, *, is_kraft: bool, eligible_leader_replicas: bool = False
) -> Release:
    """The declaration for a release. Raises `UnknownRelease` where there is none.

    `eligible_leader_replicas` is whether eligible.leader.replicas.version is 1.
    """
    described = ".".join(map(str, number))
    manner = "KRaft" if is_kraft else "ZooKeeper"
    if number[:2] > NEWEST_RELEASE:
        newest = ".".join(map(str, NEWEST_RELEASE))
        raise UnknownRelease(f"Kafka {described} is not modelled; the newest that is, is {newest}")
    last = LAST_MINORS.get(number[0])
    if last is not None and number[1] > last:
        raise UnknownRelease(
            f"there was no Kafka {described}; of {number[0]}.x the last is {number[0]}.{last}"
        )
    if not is_kraft and number[:2] > ZOOKEEPER_LAST:
        raise UnknownRelease(
            f"Kafka {described} has no ZooKeeper any more; the last that had it is 3.9"
        )
    if eligible_leader_replicas and number < ELIGIBLE_LEADER_REPLICAS_FIRST:
        raise UnknownRelease(f"Kafka {described} has no eligible leader replicas; 4.0 is the first")
    fitting = [
        release
        for release in RELEASES
        if release.is_kraft == is_kraft
        and release.since <= number
        and (eligible_leader_replicas or not release.with_eligible_leader_replicas)
    ]
    if not fitting:
        first = next(release.since for release in RELEASES if release.is_kraft == is_kraft)
        raise UnknownRelease(
            f"Kafka {described} with {manner} is not modelled; the oldest that is, is "
            f"{'.'.join(map(str, first))}"
        )
    return fitting[-1]


def release_named(text: str) -> tuple[Release, str]:
    """Return the declaration for `2.3.1`, `3.7:zookeeper`, `3.7:kraft` or `4.0:elr`, and the high
    watermark of its fetch answers, as in the option hw-in-response.

    By default a release is with ZooKeeper up to 3.2 and with KRaft from 3.3 on, and with eligible
    leader replicas from 4.1 on, like a new cluster of it. Raises `UnknownRelease`.
    """
    matched = re.fullmatch(r"(\d{1,3}(?:\.\d{1,3}){1,3})(?::(\w+))?", text)
    if matched is None or matched[2] not in (None, *MANNERS):
        raise UnknownRelease(
            f"{text!r} is no release; write it as 2.3.1, or with its manner as 3.7:"
            f"{', 3.7:'.join(MANNERS[:2])} or 4.0:{MANNERS[2]}"
        )
    number = tuple(map(int, matched[1].split(".")))
    manner = matched[2] or _usual_manner(number)
    release = release_followed(
        number, is_kraft=manner != "zookeeper", eligible_leader_replicas=manner == "elr"
    )
    return release, "post" if (*number, 0)[:3] in _ANSWERS_AFTER_THE_FETCH else "pre"


def _usual_manner(number: ReleaseNumber) -> str:
    if number < KRAFT_READY:
        return "zookeeper"
    return "kraft" if number < ELIGIBLE_LEADER_REPLICAS_USUAL else "elr"
