"""The features that versions are made of: one rule each, with where Kafka decided on it.

A version is a way to truncate and a set of features; each can be switched alone, so that one can
ask what a rule is for. In the rules a feature is a bit of `c.features`, read by `has`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Required, TypedDict, Unpack

from waterline.model.message.terms import (
    TRUNCATE_BY_EPOCH,
    TRUNCATE_BY_EPOCHS,
    TRUNCATE_BY_EPOCHS_2_0,
    TRUNCATE_ON_FETCH,
    TRUNCATE_TO_HIGH_WATERMARK,
)


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


class _Said(TypedDict, total=False):
    """The parts of a feature but its bit, for type checkers."""

    name: Required[str]
    source: Required[str]
    sentence: Required[str]
    needs: int
    excludes: int
    needs_truncation: tuple[int, ...]
    begins_with: str


_DECLARED: list[Feature] = []


def _declare(*, bit: int, **feature: Unpack[_Said]) -> int:
    """Declare a feature, in the order of the Kafka releases; return its bit, as rules read it."""
    _DECLARED.append(Feature(bit=1 << bit, **feature))
    return 1 << bit


KEEPS_WAITING_PRODUCERS = _declare(
    name="keeps-waiting-producers",
    bit=32,
    source="up to 0.9.0.1, undone by KAFKA-2960 (0.10.0.0), ReplicaManager.makeFollowers",
    sentence="Who stops leading leaves its producers waiting, and may answer as leader again.",
)
FENCING = _declare(
    name="fencing",
    bit=0,
    source="KIP-320, KAFKA-7395 (2.1.0)",
    sentence="A leader refuses epoch questions and fetches that do not carry its own epoch.",
)
EPOCH_ON_LEADING = _declare(
    name="epoch-on-leading",
    bit=1,
    source="KAFKA-7415 (2.0.1, 2.1.0), Partition.makeLeader",
    sentence="A new leader enters its epoch and LEO in its epoch cache before it writes.",
)
EVERY_EPOCH = _declare(
    name="truncate-every-epoch",
    bit=2,
    source="KAFKA-7164 (2.0.1, 2.1.0), Partition.makeFollower",
    sentence="A follower truncates in every new epoch, also under the leader it had.",
)
TRUNCATE_AFTER_GAP = _declare(
    name="truncate-after-gap",
    bit=25,
    source="KAFKA-7164 (2.0.1 alone), Partition.makeFollower",
    sentence="Under the leader it had, a follower truncates only where it missed an epoch.",
)
ISR_FROM_EPOCH_START = _declare(
    name="isr-from-epoch-start",
    bit=3,
    source="KAFKA-7128 (2.0.1, 2.1.0), Partition.isFollowerInSync",
    sentence="A follower joins the ISR only once it has reached the start of the epoch.",
)
TRUNCATE_OUT_OF_RANGE = _declare(
    name="truncate-out-of-range",
    bit=4,
    source="KAFKA-7414 (2.0.1, 2.1.0), AbstractFetcherThread.fetchOffsetAndTruncate",
    sentence="A follower beyond its leader's log truncates to its end; it does not exit.",
)
CONSUMER_VALIDATION = _declare(
    name="consumer-validation",
    bit=5,
    source="KIP-320, KAFKA-7747 (client 2.3.0), Fetcher.validateOffsetsIfNeeded",
    sentence="A consumer asks for the end of the epoch of what it last read, and so notices.",
)
SHRINK_ONLY_LAGGING = _declare(
    name="shrink-only-lagging",
    bit=19,
    source="KAFKA-7152 (2.1.0), Partition.getOutOfSyncReplicas",
    sentence="A leader takes out who lacks records, and nobody who has all, were it down.",
)
TRUNCATION_LOWERS_HW = _declare(
    name="truncation-lowers-hw",
    bit=20,
    source="KAFKA-8457, pull request 7055 (2.4.0), Log.updateLogEndOffset",
    sentence="Truncation below the high watermark lowers it; before, a new leader forgot it.",
)
REFUSAL_TELLS_NOTHING = _declare(
    name="refusal-tells-nothing",
    bit=24,
    source="KAFKA-8400 (2.4.0), ReplicaManager.updateFollowerFetchState",
    sentence="A fetch that is refused tells the leader nothing; before, it forgot the LEO.",
)
MOVED_FETCH_TRIES_HW = _declare(
    name="moved-fetch-tries-hw",
    bit=31,
    source="KAFKA-8841 (2.4.0), Partition.updateFollowerFetchState",
    sentence="A fetch tries the high watermark only where it moves the LEO; before, each did.",
)
CHANGEABLE_REASSIGNMENT = _declare(
    name="changeable-reassignment",
    bit=33,
    source="KIP-455, KAFKA-8345 (2.4.0), KafkaController.updateCurrentReassignment",
    sentence="A reassignment that is under way can be replaced or cancelled; before, it ended.",
    begins_with="Reassign",
)
SESSION_FENCING = _declare(
    name="session-fencing",
    bit=21,
    source="KAFKA-9338 (2.5.0), FetchSession.CachedPartition",
    sentence="Fetches carry the leader epoch within a fetch session too: all are fenced.",
)
TRUNCATION_CLEARS_EPOCHS = _declare(
    name="truncation-clears-epochs",
    bit=22,
    source="KAFKA-10706 (2.6.1, 2.7.0), Log.truncateTo",
    sentence="Truncation clears the epoch cache from the cut on, also where no record goes.",
)
DIVERGING_GUARD = _declare(
    name="diverging-guard",
    bit=6,
    source="KAFKA-13141 (2.7.2, 2.8.1, 3.0.0), ReplicaManager.updateFollowerFetchState",
    sentence="A fetch that is answered with a diverging epoch tells the leader nothing.",
    needs_truncation=(TRUNCATE_ON_FETCH,),
)
ALTER_PARTITION = _declare(
    name="alter-partition",
    bit=7,
    source="KIP-497 (2.7.0), AlterPartition",
    sentence="The leader asks the controller to change the ISR and waits for the answer.",
)
MAXIMAL_ISR = _declare(
    name="maximal-isr",
    bit=8,
    source="KIP-497 (2.7.0), PendingExpandIsr",
    sentence="Until the answer, the high watermark waits for whoever was asked to be added.",
    needs=ALTER_PARTITION,
)
KRAFT = _declare(
    name="kraft",
    bit=9,
    source="KIP-500, KIP-631 (3.3.0), ClusterControlManager.registerBroker",
    sentence="A broker comes back only after it was fenced; fencing alone raises no epoch.",
    needs=ALTER_PARTITION,
)
STEPS_DOWN = _declare(
    name="steps-down",
    bit=26,
    source="KAFKA-13858 (3.3.0), ReplicaManager.applyLocalFollowersDelta",
    sentence="A broker that hears that nobody leads steps down, and forgets as any follower.",
    needs=KRAFT,
)
PARTITION_EPOCH_CHECK = _declare(
    name="partition-epoch-check",
    bit=34,
    source="KAFKA-13790 (3.3.0), Partition.makeLeader",
    sentence="A leader skips a record of the partition that is older than what it knows.",
    needs=KRAFT,
    begins_with="Replay",
)
SHRINK_RAISES_EPOCH = _declare(
    name="shrink-raises-epoch",
    bit=10,
    source="KAFKA-15021 (dropped in 3.6.0), PartitionChangeBuilder",
    sentence="Under KRaft a member that leaves the ISR raises the leader epoch.",
    needs=KRAFT,
)
FENCED_CHECK = _declare(
    name="fenced-check",
    bit=11,
    source="KIP-841, KAFKA-13916 (3.3.0), ReplicationControlManager.validateAlterPartitionData",
    sentence="The controller takes no fenced or stopping broker into the ISR.",
    needs=ALTER_PARTITION,
)
BROKER_EPOCH = _declare(
    name="broker-epoch",
    bit=12,
    source="KIP-903, KAFKA-14617 (3.5.0), ReplicationControlManager.ineligibleReplicasForIsr",
    sentence="The controller takes no broker that registered anew since the fetch.",
    needs=ALTER_PARTITION | KRAFT,
    begins_with="Restart",
)
STALE_FETCH_CHECK = _declare(
    name="stale-fetch-check",
    bit=23,
    source="KAFKA-15221 (3.7.0), Replica.updateFetchStateOrThrow",
    sentence="A leader refuses a fetch older than the registration that it knows of.",
    needs=BROKER_EPOCH,
    begins_with="Restart",
)
HW_NEEDS_MIN_ISR = _declare(
    name="hw-needs-min-isr",
    bit=13,
    source="KIP-966, KAFKA-15583 (3.7.0), Partition.maybeIncrementLeaderHW",
    sentence="The high watermark waits while the ISR has fewer than min.insync.replicas.",
)
ELR = _declare(
    name="elr",
    bit=14,
    source="KIP-966 (4.0.0), PartitionChangeBuilder.maybePopulateTargetElr",
    sentence="Who leaves an ISR that is too small may still be elected, unless it crashed.",
    needs=ALTER_PARTITION | KRAFT,
)
LAST_KNOWN_LEADER = _declare(
    name="last-known-leader",
    bit=17,
    source="KIP-966, KAFKA-15584 (4.0.0), PartitionChangeBuilder.canElectLastKnownLeader",
    sentence="With ISR and ELR empty the last leader is elected when back, whatever it lost.",
    needs=ELR,
)
LAST_KNOWN_LEADER_FENCED = _declare(
    name="last-known-leader-fenced",
    bit=27,
    source="KAFKA-19522 (4.0 alone), PartitionChangeBuilder.canElectLastKnownLeader",
    sentence="The last known leader is elected also while it is fenced.",
    needs=LAST_KNOWN_LEADER,
)
REGISTRATION_REMOVES = _declare(
    name="registration-removes",
    bit=30,
    source="KAFKA-18106, KAFKA-18635 (4.0.0), ClusterControlManager.registerBroker",
    sentence="Who registers anew leaves the ISR, also where it was not fenced before.",
    needs=KRAFT,
    begins_with="Restart",
)
UNCLEAN_MARK_KEPT = _declare(
    name="unclean-mark-kept",
    bit=28,
    source="KAFKA-15375 (3.5.2, 3.6.0), LogManager.shutdown",
    sentence="Who ends while it recovers from a crash is not taken for shut down properly.",
    needs=ELR,
)
APPEND_CHECKS_EPOCH = _declare(
    name="append-checks-epoch",
    bit=29,
    source="KAFKA-18723 (3.9.1, 4.0.1, 4.1.0), UnifiedLog.appendAsFollower",
    sentence="A follower appends no record of an epoch later than the one it knows.",
)
COMPLETES_WHEN_ADDED = _declare(
    name="completes-when-added",
    bit=46,
    source="up to 3.7, undone by KAFKA-15665 (3.8.0); again KAFKA-19975 (4.3.0), "
    "PartitionReassignmentReplicas.maybeCompleteReassignment",
    sentence="A reassignment ends once all that it adds are in sync; else all targets must be.",
    needs=KRAFT,
    begins_with="Reassign",
)
SHRINK_WAITS_FOR_TARGETS = _declare(
    name="shrink-waits-for-targets",
    bit=47,
    source="KAFKA-19975 (4.3.0), PartitionReassignmentReplicas.maybeCompleteReassignment",
    sentence="A reassignment that removes more than it adds ends with all targets in sync.",
    needs=COMPLETES_WHEN_ADDED,
    begins_with="Reassign",
)
NEW_DIRECTORY_EMPTIES_ELR = _declare(
    name="new-directory-empties-elr",
    bit=48,
    source="4.0 to 4.2, undone by pull request 20716 (4.3.0), "
    "ReplicationControlManager.handleAssignReplicasToDirs",
    sentence="A broker that reports another log directory for its replica empties the ELR.",
    needs=ELR,
    begins_with="DirectoryTaken",
)
ELR_ONLY_REPLICAS = _declare(
    name="elr-only-replicas",
    bit=49,
    source="a proposal, never in Kafka (C55), PartitionChangeBuilder.maybePopulateTargetElr",
    sentence="A broker that is no replica any more leaves the ELR as well.",
    needs=ELR,
    begins_with="Reassign",
)
LOST_DIRECTORY_IS_UNCLEAN = _declare(
    name="lost-directory-is-unclean",
    bit=50,
    source="a proposal, never in Kafka (C57), ClusterControlManager.registerBroker",
    sentence="A broker that comes back without its replica's log directory leaves the ELR.",
    needs=ELR,
    begins_with="DirectoryTaken",
)
RECOVERS_FUTURE_LOG = _declare(
    name="recovers-future-log",
    bit=51,
    source="KAFKA-16082 (3.7.1, 3.8.0), LogManager.recoverAbandonedFutureLogs",
    sentence="A broker that starts takes the future log for the log if metadata has its directory.",
    needs=KRAFT,
    begins_with="StartFutureLog",
)
TRUNCATION_MARKS_FUTURE_LOG = _declare(
    name="truncation-marks-future-log",
    bit=52,
    source="a proposal, never in Kafka (C61), ReplicaFetcherThread.truncate",
    sentence="Each truncation of a log has its future log truncated, not the last one alone.",
    needs=EPOCH_ON_LEADING,
    begins_with="StartFutureLog",
)
PROMOTION_COMPARES_EPOCHS = _declare(
    name="promotion-compares-epochs",
    bit=53,
    source="a proposal, never in Kafka (C61), Partition.maybeReplaceCurrentWithFutureReplica",
    sentence="A future log takes the log's place only if both end in the same epoch.",
    needs=EPOCH_ON_LEADING,
    begins_with="StartFutureLog",
)
RECOVERY_COMPARES_ENDS = _declare(
    name="recovery-compares-ends",
    bit=54,
    source="a proposal, never in Kafka (C62), LogManager.recoverAbandonedFutureLogs",
    sentence="A broker that starts does not take a future log that is shorter than the log.",
    needs=RECOVERS_FUTURE_LOG,
    begins_with="StartFutureLog",
)
REFUSAL_TRIES_HW = _declare(
    name="refusal-tries-hw",
    bit=40,
    source="a proposal, never in Kafka (C43 in docs/results/catalogue.md)",
    sentence="A leader whose change of the ISR is refused tries its high watermark.",
    needs=ALTER_PARTITION,
)
DEPARTURE_TRIES_HW = _declare(
    name="departure-tries-hw",
    bit=41,
    source="a proposal, never in Kafka (C49 in docs/results/catalogue.md)",
    sentence="A leader tries its high watermark where it need not wait for a follower longer.",
    needs=ALTER_PARTITION,
)
LONGEST_LOG = _declare(
    name="longest-log",
    bit=15,
    source="a proposal, never in Kafka (ocadaruma/kafka-spec)",
    sentence="An unclean election takes the longest log among the brokers that are up.",
)
FRESH_REMOTE_LEO = _declare(
    name="fresh-remote-leo",
    bit=16,
    source="up to 0.8.2, undone by KAFKA-2721 (0.9.0), Partition.makeLeader",
    sentence="A leader forgets its followers' LEOs in every new epoch, also if it led before.",
)
FRESH_REMOTE_LEO_AFTER_GAP = _declare(
    name="fresh-remote-leo-after-gap",
    bit=18,
    source="a proposal, never in Kafka (docs/losses.md)",
    sentence="A leader that leads on forgets its followers' LEOs where it missed an epoch.",
)
FRESH_REPLICAS = _declare(
    name="fresh-replicas",
    bit=37,
    source="a proposal, never in Kafka (docs/losses.md), Partition.updateAssignmentAndIsr",
    sentence="A leader begins every epoch with new Replica objects, which know no LEO.",
)
PENDING_SURVIVES_REPLAY = _declare(
    name="pending-survives-replay",
    bit=36,
    source="a proposal, never in Kafka",
    sentence="A record of what the leader knows leaves the change that it has asked for.",
    needs=KRAFT,
    begins_with="Replay",
)
APPEND_CHECKS_OLDER_EPOCH = _declare(
    name="append-checks-older-epoch",
    bit=38,
    source="a proposal, never in Kafka (C45); beside KAFKA-18723",
    sentence="A follower appends no record of an epoch below the last one in its epoch cache.",
    needs_truncation=(TRUNCATE_BY_EPOCHS, TRUNCATE_ON_FETCH),
)
MOVED_LOG_KEEPS_EPOCHS = _declare(
    name="moved-log-keeps-epochs",
    bit=39,
    source="a proposal, never in Kafka (KAFKA-20961, KAFKA-15608: open)",
    sentence="The copy of a log in another directory takes over the epoch cache.",
    needs=EPOCH_ON_LEADING,
)
COORDINATOR = _declare(
    name="coordinator",
    bit=42,
    source="Fluss #662, #769, ReplicaStateMachine.doRemoveReplicaFromIsr",
    sentence="Fluss's coordinator: only a lost leader raises the epoch, and nobody that leads "
    "is news, also to who comes back and is elected then.",
    needs=ALTER_PARTITION,
    excludes=KRAFT,
)
TRUNCATE_LEADERLESS = _declare(
    name="truncate-leaderless",
    bit=43,
    source="Fluss 0.9.1, ReplicaManager.makeFollowers",
    sentence="Who hears that nobody leads truncates to its high watermark all the same.",
    needs=COORDINATOR,
    needs_truncation=(TRUNCATE_TO_HIGH_WATERMARK,),
)
FOLLOWER_HW_AT_END = _declare(
    name="follower-hw-at-end",
    bit=44,
    source="Fluss #676 for #674, ReplicaFetcherThread.processFetchResultFromLocalStorage",
    sentence="A follower's high watermark is the end of its own log, whatever the answer says.",
)
FRESH_ON_EVERY_NOTICE = _declare(
    name="fresh-on-every-notice",
    bit=45,
    source="Fluss up to 0.9.1, undone by #3702, Replica.updateAssignmentAndIsr",
    sentence="A leader forgets its followers' LEOs with every notice, also in the same epoch.",
)

FEATURES = tuple(_DECLARED)
"""Every feature that can be switched, in the order of the Kafka releases; those of Fluss last."""
OF_FLUSS = COORDINATOR | TRUNCATE_LEADERLESS | FOLLOWER_HW_AT_END | FRESH_ON_EVERY_NOTICE
"""Features that no Kafka has, and no proposal for Kafka."""

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
