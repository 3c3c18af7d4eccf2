"""The features that versions are made of: one rule each, with where Kafka decided on it.

A version is a way to truncate and a set of features; each can be switched alone, so that one can
ask what a rule is for. In the rules a feature is a bit of `c.features`, read by `has`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from waterline.model.message.terms import (
    TRUNCATE_BY_EPOCH,
    TRUNCATE_BY_EPOCHS,
    TRUNCATE_BY_EPOCHS_2_0,
    TRUNCATE_ON_FETCH,
    TRUNCATE_TO_HIGH_WATERMARK,
)

FENCING = 1 << 0
EPOCH_ON_LEADING = 1 << 1
EVERY_EPOCH = 1 << 2
ISR_FROM_EPOCH_START = 1 << 3
TRUNCATE_OUT_OF_RANGE = 1 << 4
CONSUMER_VALIDATION = 1 << 5
DIVERGING_GUARD = 1 << 6
ALTER_PARTITION = 1 << 7
MAXIMAL_ISR = 1 << 8
KRAFT = 1 << 9
SHRINK_RAISES_EPOCH = 1 << 10
FENCED_CHECK = 1 << 11
BROKER_EPOCH = 1 << 12
HW_NEEDS_MIN_ISR = 1 << 13
ELR = 1 << 14
LONGEST_LOG = 1 << 15
FRESH_REMOTE_LEO = 1 << 16
LAST_KNOWN_LEADER = 1 << 17
FRESH_REMOTE_LEO_AFTER_GAP = 1 << 18
SHRINK_ONLY_LAGGING = 1 << 19
TRUNCATION_LOWERS_HW = 1 << 20
SESSION_FENCING = 1 << 21
TRUNCATION_CLEARS_EPOCHS = 1 << 22
STALE_FETCH_CHECK = 1 << 23
REFUSAL_TELLS_NOTHING = 1 << 24
TRUNCATE_AFTER_GAP = 1 << 25
STEPS_DOWN = 1 << 26
LAST_KNOWN_LEADER_FENCED = 1 << 27
UNCLEAN_MARK_KEPT = 1 << 28
APPEND_CHECKS_EPOCH = 1 << 29
REGISTRATION_REMOVES = 1 << 30
MOVED_FETCH_TRIES_HW = 1 << 31
KEEPS_WAITING_PRODUCERS = 1 << 32
FRESH_REPLICAS = 1 << 37
REFUSAL_TRIES_HW = 1 << 40
DEPARTURE_TRIES_HW = 1 << 41
PARTITION_EPOCH_CHECK = 1 << 34
PENDING_SURVIVES_REPLAY = 1 << 36
APPEND_CHECKS_OLDER_EPOCH = 1 << 38
MOVED_LOG_KEEPS_EPOCHS = 1 << 39
COORDINATOR = 1 << 42
TRUNCATE_LEADERLESS = 1 << 43
FOLLOWER_HW_AT_END = 1 << 44
FRESH_ON_EVERY_NOTICE = 1 << 45
COMPLETES_WHEN_ADDED = 1 << 46
SHRINK_WAITS_FOR_TARGETS = 1 << 47
NEW_DIRECTORY_EMPTIES_ELR = 1 << 48
ELR_ONLY_REPLICAS = 1 << 49
LOST_DIRECTORY_IS_UNCLEAN = 1 << 50
CHANGEABLE_REASSIGNMENT = 1 << 33
RECOVERS_FUTURE_LOG = 1 << 51
TRUNCATION_MARKS_FUTURE_LOG = 1 << 52
PROMOTION_COMPARES_EPOCHS = 1 << 53
RECOVERY_COMPARES_ENDS = 1 << 54

OF_FLUSS = COORDINATOR | TRUNCATE_LEADERLESS | FOLLOWER_HW_AT_END | FRESH_ON_EVERY_NOTICE
"""Features that no Kafka has, and no proposal for Kafka."""


def has(c: Any, feature: int) -> bool:
    """True if the version has the feature."""
    return c.features & feature != 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Feature:
    """One rule that can be switched: its bit, its source, and what it needs.

    `needs` are features that it requires, `excludes` those that contradict it; `needs_truncation`
    are the ways to truncate that it requires, () for any. `begins_with` is an action of versions
    without the feature: until it is taken, a version behaves as without the feature. It is "" for
    none, and for a feature with an action of its own. The source of a rule that no release has says
    "never in Kafka".
    """

    name: str
    bit: int
    source: str
    sentence: str
    needs: int = 0
    excludes: int = 0
    needs_truncation: tuple[int, ...] = ()
    begins_with: str = ""


FEATURES = (
    Feature(
        name="keeps-waiting-producers",
        bit=KEEPS_WAITING_PRODUCERS,
        source="up to 0.9.0.1, undone by KAFKA-2960 (0.10.0.0), ReplicaManager.makeFollowers",
        sentence="Who stops leading leaves its producers waiting, and may answer as leader again.",
    ),
    Feature(
        name="fencing",
        bit=FENCING,
        source="KIP-320, KAFKA-7395 (2.1.0)",
        sentence="A leader refuses epoch questions and fetches that do not carry its own epoch.",
    ),
    Feature(
        name="epoch-on-leading",
        bit=EPOCH_ON_LEADING,
        source="KAFKA-7415 (2.0.1, 2.1.0), Partition.makeLeader",
        sentence="A new leader enters its epoch and LEO in its epoch cache before it writes.",
    ),
    Feature(
        name="truncate-every-epoch",
        bit=EVERY_EPOCH,
        source="KAFKA-7164 (2.0.1, 2.1.0), Partition.makeFollower",
        sentence="A follower truncates in every new epoch, also under the leader it had.",
    ),
    Feature(
        name="truncate-after-gap",
        bit=TRUNCATE_AFTER_GAP,
        source="KAFKA-7164 (2.0.1 alone), Partition.makeFollower",
        sentence="Under the leader it had, a follower truncates only where it missed an epoch.",
    ),
    Feature(
        name="isr-from-epoch-start",
        bit=ISR_FROM_EPOCH_START,
        source="KAFKA-7128 (2.0.1, 2.1.0), Partition.isFollowerInSync",
        sentence="A follower joins the ISR only once it has reached the start of the epoch.",
    ),
    Feature(
        name="truncate-out-of-range",
        bit=TRUNCATE_OUT_OF_RANGE,
        source="KAFKA-7414 (2.0.1, 2.1.0), AbstractFetcherThread.fetchOffsetAndTruncate",
        sentence="A follower beyond its leader's log truncates to its end; it does not exit.",
    ),
    Feature(
        name="consumer-validation",
        bit=CONSUMER_VALIDATION,
        source="KIP-320, KAFKA-7747 (client 2.3.0), Fetcher.validateOffsetsIfNeeded",
        sentence="A consumer asks for the end of the epoch of what it last read, and so notices.",
    ),
    Feature(
        name="shrink-only-lagging",
        bit=SHRINK_ONLY_LAGGING,
        source="KAFKA-7152 (2.1.0), Partition.getOutOfSyncReplicas",
        sentence="A leader takes out who lacks records, and nobody who has all, were it down.",
    ),
    Feature(
        name="truncation-lowers-hw",
        bit=TRUNCATION_LOWERS_HW,
        source="KAFKA-8457, pull request 7055 (2.4.0), Log.updateLogEndOffset",
        sentence="Truncation below the high watermark lowers it; before, a new leader forgot it.",
    ),
    Feature(
        name="refusal-tells-nothing",
        bit=REFUSAL_TELLS_NOTHING,
        source="KAFKA-8400 (2.4.0), ReplicaManager.updateFollowerFetchState",
        sentence="A fetch that is refused tells the leader nothing; before, it forgot the LEO.",
    ),
    Feature(
        name="moved-fetch-tries-hw",
        bit=MOVED_FETCH_TRIES_HW,
        source="KAFKA-8841 (2.4.0), Partition.updateFollowerFetchState",
        sentence="A fetch tries the high watermark only where it moves the LEO; before, each did.",
    ),
    Feature(
        name="changeable-reassignment",
        bit=CHANGEABLE_REASSIGNMENT,
        source="KIP-455, KAFKA-8345 (2.4.0), KafkaController.updateCurrentReassignment",
        sentence="A reassignment that is under way can be replaced or cancelled; before, it ended.",
        begins_with="Reassign",
    ),
    Feature(
        name="session-fencing",
        bit=SESSION_FENCING,
        source="KAFKA-9338 (2.5.0), FetchSession.CachedPartition",
        sentence="Fetches carry the leader epoch within a fetch session too: all are fenced.",
    ),
    Feature(
        name="truncation-clears-epochs",
        bit=TRUNCATION_CLEARS_EPOCHS,
        source="KAFKA-10706 (2.6.1, 2.7.0), Log.truncateTo",
        sentence="Truncation clears the epoch cache from the cut on, also where no record goes.",
    ),
    Feature(
        name="diverging-guard",
        bit=DIVERGING_GUARD,
        source="KAFKA-13141 (2.7.2, 2.8.1, 3.0.0), ReplicaManager.updateFollowerFetchState",
        sentence="A fetch that is answered with a diverging epoch tells the leader nothing.",
        needs_truncation=(TRUNCATE_ON_FETCH,),
    ),
    Feature(
        name="alter-partition",
        bit=ALTER_PARTITION,
        source="KIP-497 (2.7.0), AlterPartition",
        sentence="The leader asks the controller to change the ISR and waits for the answer.",
    ),
    Feature(
        name="maximal-isr",
        bit=MAXIMAL_ISR,
        source="KIP-497 (2.7.0), PendingExpandIsr",
        sentence="Until the answer, the high watermark waits for whoever was asked to be added.",
        needs=ALTER_PARTITION,
    ),
    Feature(
        name="kraft",
        bit=KRAFT,
        source="KIP-500, KIP-631 (3.3.0), ClusterControlManager.registerBroker",
        sentence="A broker comes back only after it was fenced; fencing alone raises no epoch.",
        needs=ALTER_PARTITION,
    ),
    Feature(
        name="steps-down",
        bit=STEPS_DOWN,
        source="KAFKA-13858 (3.3.0), ReplicaManager.applyLocalFollowersDelta",
        sentence="A broker that hears that nobody leads steps down, and forgets as any follower.",
        needs=KRAFT,
    ),
    Feature(
        name="partition-epoch-check",
        bit=PARTITION_EPOCH_CHECK,
        source="KAFKA-13790 (3.3.0), Partition.makeLeader",
        sentence="A leader skips a record of the partition that is older than what it knows.",
        needs=KRAFT,
        begins_with="Replay",
    ),
    Feature(
        name="shrink-raises-epoch",
        bit=SHRINK_RAISES_EPOCH,
        source="KAFKA-15021 (dropped in 3.6.0), PartitionChangeBuilder",
        sentence="Under KRaft a member that leaves the ISR raises the leader epoch.",
        needs=KRAFT,
    ),
    Feature(
        name="fenced-check",
        bit=FENCED_CHECK,
        source="KIP-841, KAFKA-13916 (3.3.0), ReplicationControlManager.validateAlterPartitionData",
        sentence="The controller takes no fenced or stopping broker into the ISR.",
        needs=ALTER_PARTITION,
    ),
    Feature(
        name="broker-epoch",
        bit=BROKER_EPOCH,
        source="KIP-903, KAFKA-14617 (3.5.0), ReplicationControlManager.ineligibleReplicasForIsr",
        sentence="The controller takes no broker that registered anew since the fetch.",
        needs=ALTER_PARTITION | KRAFT,
        begins_with="Restart",
    ),
    Feature(
        name="stale-fetch-check",
        bit=STALE_FETCH_CHECK,
        source="KAFKA-15221 (3.7.0), Replica.updateFetchStateOrThrow",
        sentence="A leader refuses a fetch older than the registration that it knows of.",
        needs=BROKER_EPOCH,
        begins_with="Restart",
    ),
    Feature(
        name="hw-needs-min-isr",
        bit=HW_NEEDS_MIN_ISR,
        source="KIP-966, KAFKA-15583 (3.7.0), Partition.maybeIncrementLeaderHW",
        sentence="The high watermark waits while the ISR has fewer than min.insync.replicas.",
    ),
    Feature(
        name="elr",
        bit=ELR,
        source="KIP-966 (4.0.0), PartitionChangeBuilder.maybePopulateTargetElr",
        sentence="Who leaves an ISR that is too small may still be elected, unless it crashed.",
        needs=ALTER_PARTITION | KRAFT,
    ),
    Feature(
        name="last-known-leader",
        bit=LAST_KNOWN_LEADER,
        source="KIP-966, KAFKA-15584 (4.0.0), PartitionChangeBuilder.canElectLastKnownLeader",
        sentence="With ISR and ELR empty the last leader is elected when back, whatever it lost.",
        needs=ELR,
    ),
    Feature(
        name="last-known-leader-fenced",
        bit=LAST_KNOWN_LEADER_FENCED,
        source="KAFKA-19522 (4.0 alone), PartitionChangeBuilder.canElectLastKnownLeader",
        sentence="The last known leader is elected also while it is fenced.",
        needs=LAST_KNOWN_LEADER,
    ),
    Feature(
        name="registration-removes",
        bit=REGISTRATION_REMOVES,
        source="KAFKA-18106, KAFKA-18635 (4.0.0), ClusterControlManager.registerBroker",
        sentence="Who registers anew leaves the ISR, also where it was not fenced before.",
        needs=KRAFT,
        begins_with="Restart",
    ),
    Feature(
        name="unclean-mark-kept",
        bit=UNCLEAN_MARK_KEPT,
        source="KAFKA-15375 (3.5.2, 3.6.0), LogManager.shutdown",
        sentence="Who ends while it recovers from a crash is not taken for shut down properly.",
        needs=ELR,
    ),
    Feature(
        name="append-checks-epoch",
        bit=APPEND_CHECKS_EPOCH,
        source="KAFKA-18723 (3.9.1, 4.0.1, 4.1.0), UnifiedLog.appendAsFollower",
        sentence="A follower appends no record of an epoch later than the one it knows.",
    ),
    Feature(
        name="completes-when-added",
        bit=COMPLETES_WHEN_ADDED,
        source="up to 3.7, undone by KAFKA-15665 (3.8.0); again KAFKA-19975 (4.3.0), "
        "PartitionReassignmentReplicas.maybeCompleteReassignment",
        sentence="A reassignment ends once all that it adds are in sync; else all targets must be.",
        needs=KRAFT,
        begins_with="Reassign",
    ),
    Feature(
        name="shrink-waits-for-targets",
        bit=SHRINK_WAITS_FOR_TARGETS,
        source="KAFKA-19975 (4.3.0), PartitionReassignmentReplicas.maybeCompleteReassignment",
        sentence="A reassignment that removes more than it adds ends with all targets in sync.",
        needs=COMPLETES_WHEN_ADDED,
        begins_with="Reassign",
    ),
    Feature(
        name="new-directory-empties-elr",
        bit=NEW_DIRECTORY_EMPTIES_ELR,
        source="4.0 to 4.2, undone by pull request 20716 (4.3.0), "
        "ReplicationControlManager.handleAssignReplicasToDirs",
        sentence="A broker that reports another log directory for its replica empties the ELR.",
        needs=ELR,
        begins_with="DirectoryTaken",
    ),
    Feature(
        name="elr-only-replicas",
        bit=ELR_ONLY_REPLICAS,
        source="a proposal, never in Kafka (C55), PartitionChangeBuilder.maybePopulateTargetElr",
        sentence="A broker that is no replica any more leaves the ELR as well.",
        needs=ELR,
        begins_with="Reassign",
    ),
    Feature(
        name="lost-directory-is-unclean",
        bit=LOST_DIRECTORY_IS_UNCLEAN,
        source="a proposal, never in Kafka (C57), ClusterControlManager.registerBroker",
        sentence="A broker that comes back without its replica's log directory leaves the ELR.",
        needs=ELR,
        begins_with="DirectoryTaken",
    ),
    Feature(
        name="recovers-future-log",
        bit=RECOVERS_FUTURE_LOG,
        source="KAFKA-16082 (3.7.1, 3.8.0), LogManager.recoverAbandonedFutureLogs",
        sentence="A broker that starts takes the future log for the log if metadata has its "
        "directory.",
        needs=KRAFT,
        begins_with="StartFutureLog",
    ),
    Feature(
        name="truncation-marks-future-log",
        bit=TRUNCATION_MARKS_FUTURE_LOG,
        source="a proposal, never in Kafka (C61), ReplicaFetcherThread.truncate",
        sentence="Each truncation of a log has its future log truncated, not the last one alone.",
        needs=EPOCH_ON_LEADING,
        begins_with="StartFutureLog",
    ),
    Feature(
        name="promotion-compares-epochs",
        bit=PROMOTION_COMPARES_EPOCHS,
        source="a proposal, never in Kafka (C61), Partition.maybeReplaceCurrentWithFutureReplica",
        sentence="A future log takes the log's place only if both end in the same epoch.",
        needs=EPOCH_ON_LEADING,
        begins_with="StartFutureLog",
    ),
    Feature(
        name="recovery-compares-ends",
        bit=RECOVERY_COMPARES_ENDS,
        source="a proposal, never in Kafka (C62), LogManager.recoverAbandonedFutureLogs",
        sentence="A broker that starts does not take a future log that is shorter than the log.",
        needs=RECOVERS_FUTURE_LOG,
        begins_with="StartFutureLog",
    ),
    Feature(
        name="refusal-tries-hw",
        bit=REFUSAL_TRIES_HW,
        source="a proposal, never in Kafka (C43 in docs/results/catalogue.md)",
        sentence="A leader whose change of the ISR is refused tries its high watermark.",
        needs=ALTER_PARTITION,
    ),
    Feature(
        name="departure-tries-hw",
        bit=DEPARTURE_TRIES_HW,
        source="a proposal, never in Kafka (C49 in docs/results/catalogue.md)",
        sentence="A leader tries its high watermark where it need not wait for a follower longer.",
        needs=ALTER_PARTITION,
    ),
    Feature(
        name="longest-log",
        bit=LONGEST_LOG,
        source="a proposal, never in Kafka (ocadaruma/kafka-spec)",
        sentence="An unclean election takes the longest log among the brokers that are up.",
    ),
    Feature(
        name="fresh-remote-leo",
        bit=FRESH_REMOTE_LEO,
        source="up to 0.8.2, undone by KAFKA-2721 (0.9.0), Partition.makeLeader",
        sentence="A leader forgets its followers' LEOs in every new epoch, also if it led before.",
    ),
    Feature(
        name="fresh-remote-leo-after-gap",
        bit=FRESH_REMOTE_LEO_AFTER_GAP,
        source="a proposal, never in Kafka (docs/losses.md)",
        sentence="A leader that leads on forgets its followers' LEOs where it missed an epoch.",
    ),
    Feature(
        name="fresh-replicas",
        bit=FRESH_REPLICAS,
        source="a proposal, never in Kafka (docs/losses.md), Partition.updateAssignmentAndIsr",
        sentence="A leader begins every epoch with new Replica objects, which know no LEO.",
    ),
    Feature(
        name="pending-survives-replay",
        bit=PENDING_SURVIVES_REPLAY,
        source="a proposal, never in Kafka",
        sentence="A record of what the leader knows leaves the change that it has asked for.",
        needs=KRAFT,
        begins_with="Replay",
    ),
    Feature(
        name="append-checks-older-epoch",
        bit=APPEND_CHECKS_OLDER_EPOCH,
        source="a proposal, never in Kafka (C45); beside KAFKA-18723",
        sentence="A follower appends no record of an epoch below the last one in its epoch cache.",
        needs_truncation=(TRUNCATE_BY_EPOCHS, TRUNCATE_ON_FETCH),
    ),
    Feature(
        name="moved-log-keeps-epochs",
        bit=MOVED_LOG_KEEPS_EPOCHS,
        source="a proposal, never in Kafka (KAFKA-20961, KAFKA-15608: open)",
        sentence="The copy of a log in another directory takes over the epoch cache.",
        needs=EPOCH_ON_LEADING,
    ),
    Feature(
        name="coordinator",
        bit=COORDINATOR,
        source="Fluss #662, #769, ReplicaStateMachine.doRemoveReplicaFromIsr",
        sentence="Fluss's coordinator: only a lost leader raises the epoch, and nobody that leads "
        "is news, also to who comes back and is elected then.",
        needs=ALTER_PARTITION,
        excludes=KRAFT,
    ),
    Feature(
        name="truncate-leaderless",
        bit=TRUNCATE_LEADERLESS,
        source="Fluss 0.9.1, ReplicaManager.makeFollowers",
        sentence="Who hears that nobody leads truncates to its high watermark all the same.",
        needs=COORDINATOR,
        needs_truncation=(TRUNCATE_TO_HIGH_WATERMARK,),
    ),
    Feature(
        name="follower-hw-at-end",
        bit=FOLLOWER_HW_AT_END,
        source="Fluss #676 for #674, ReplicaFetcherThread.processFetchResultFromLocalStorage",
        sentence="A follower's high watermark is the end of its own log, whatever the answer says.",
    ),
    Feature(
        name="fresh-on-every-notice",
        bit=FRESH_ON_EVERY_NOTICE,
        source="Fluss up to 0.9.1, undone by #3702, Replica.updateAssignmentAndIsr",
        sentence="A leader forgets its followers' LEOs with every notice, also in the same epoch.",
    ),
)
"""Every feature that can be switched, in the order of the Kafka releases; those of Fluss last."""

TRUNCATIONS = {
    "truncate-to-hw": TRUNCATE_TO_HIGH_WATERMARK,
    "truncate-by-epoch": TRUNCATE_BY_EPOCH,
    "truncate-by-epochs": TRUNCATE_BY_EPOCHS,
    "truncate-by-epochs-2.0": TRUNCATE_BY_EPOCHS_2_0,
    "truncate-on-fetch": TRUNCATE_ON_FETCH,
}
"""Ways to truncate: a version has exactly one, and `--with` one of them replaces it.

To the high watermark (up to 0.10.2), by one question (KIP-101, 0.11), by questions repeated until
both know the epoch (KIP-279 as proposed, and as first released in 2.0.0), by the fetch itself
(KIP-595, Kafka 2.8)."""
