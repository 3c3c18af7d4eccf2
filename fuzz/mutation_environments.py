"""Where mutants of the rules are searched: versions in environments, in stages, the cheapest first.

Together they take every step that there is and ask for every feature. What is interpreted has some
hundred to some thousand states, and kills most. Only what is left is compiled: all environments of
two replicas but those with late answers or late replay have one shape, so that a mutant is compiled
once for them.
"""

from __future__ import annotations

from typing import Any

from fuzz.observed import Setting

SECONDS_MAX = {"interpreted": 60, "compiled": 300}
"""A search that takes longer than this, compilation included, is in a loop without end."""


def _small(versions: str, **options: Any) -> tuple[Setting, ...]:
    """Interpreted: a record, an epoch and a crash, unless said otherwise."""
    circumstances = {"records": 1, "epochs": 1, "restarts": 1} | options
    return tuple(Setting(version, circumstances, "interpreted") for version in versions.split())


def _calm(versions: str, **options: Any) -> tuple[Setting, ...]:
    """The same without a crash."""
    return _small(versions, **{"restarts": 0} | options)


def _large(versions: str, **options: Any) -> tuple[Setting, ...]:
    """Compiled: two records and three epochs, unless said otherwise."""
    circumstances = {"epochs": 3} | options
    return tuple(Setting(version, circumstances, "compiled") for version in versions.split())


INTERPRETED = (
    # A crash, and who notices it; what producers wait for, what followers are told.
    *_small("hw epoch kip279 kip320-code kip320 truncate-on-fetch kraft kip903 elr"),
    *_small("hw epoch", restarts=2),
    *_small("hw epoch", epochs=2, restart_detection="none", acks="1"),
    *_small("hw epoch", epochs=2, restart_detection="any", acks="0"),
    *_small("hw epoch", epochs=2, hw_in_response="pre", min_insync_replicas=2),
    *_small("hw", records=2, unclean_leader_election=True),
    *_small("kraft-with-longest-log", epochs=2, unclean_leader_election=True),
    # Leadership moves: epochs without records, logs that part, fetches that wait.
    *_calm("hw epoch", records=2, moves=1),
    *_small("kip279-code kip320 truncate-on-fetch", epochs=2, moves=1),
    *_calm("kip279 kraft elr", epochs=2, moves=2),
    *_calm("hw epoch truncate-on-fetch", epochs=2, moves=2, parked_fetches=True),
    *_small("hw-with-fresh-remote-leo", epochs=2),
    *_calm("hw-with-keeps-waiting-producers", records=2, epochs=2, moves=2),
    *_small("hw-with-keeps-waiting-producers", epochs=1, moves=1, min_insync_replicas=2),
    *_calm("epoch-with-fresh-remote-leo-after-gap", epochs=2, moves=2),
    *_calm("kip279-with-truncate-after-gap", epochs=2, moves=2),
    # Requests, answers and decisions that are late.
    *_small("epoch kip320-code kip903 elr", requests_survive=True),
    *_small("kip903-without-stale-fetch-check", requests_survive=True),
    *_small("truncate-on-fetch", moves=1, requests_survive=True),
    *_small("truncate-on-fetch-without-diverging-guard", moves=1, requests_survive=True, acks="0"),
    *_small("kip320-without-truncate-every-epoch", epochs=2, requests_survive=True),
    *_calm("hw kip320 truncate-on-fetch kraft", epochs=2, moves=2, late_metadata=True),
    *_small("kraft elr", late_answers=True),
    # For whom outside the ISR the high watermark waits; several that leave at once.
    *_small("kip320 kraft elr", caught_up_wait=True, epochs=2),
    *_small("elr-with-departure-tries-hw", caught_up_wait=True),
    *_small("elr-with-refusal-tries-hw", caught_up_wait=True),
    *_calm("elr", replicas=3, epochs=0, min_insync_replicas=2),
    *_calm("kip320 kip903 elr", epochs=2, moves=2, late_booking="by-replica"),
    *_small("kip903", lost_disks=1, requests_survive=True, late_booking="by-replica"),
    *_calm("kip320 elr", epochs=2, moves=2, late_booking="by-id"),
    *_calm("kip320 elr", epochs=2, moves=2, late_booking="by-epoch", parked_fetches=True),
    *_calm("elr-with-fresh-replicas", epochs=2, moves=2, late_booking="by-replica"),
    *_small("kraft-without-partition-epoch-check elr", epochs=2, late_replay=True),
    *_small("elr-with-pending-survives-replay", late_answers=True, late_replay=True),
    # Fluss: a follower's high watermark is its log's end, and nobody that leads is news.
    *_small("fluss-0.9 fluss-main", epochs=2),
    *_calm("fluss-0.9 fluss-main", epochs=2, moves=2),
    *_calm("fluss-0.9 fluss-main", epochs=2, session_expiries=1, shutdowns=1),
    *_small("fluss-0.9", epochs=2, caught_up_wait=True, unfenced_registration=True),
    *_calm("fluss-0.9-without-truncate-leaderless", epochs=2, shutdowns=1),
    # Shutdowns; live brokers that are taken for dead.
    *_calm("hw kip320 kraft elr", shutdowns=1),
    *_calm("hw kip320 kraft elr", epochs=2, session_expiries=1),
    *_small("kip320 elr", session_expiries=1, acks="0"),
    # What is lost on disk.
    *_calm("epoch kip320 kraft elr", power_losses=1),
    *_calm("epoch kraft elr", lost_disks=1),
    *_calm("kraft", lost_disks=1, disk_loss="out-of-sync"),
    *_calm("epoch", replicas=1, epochs=2, power_losses=1, lost_disks=1),
    *_small("hw epoch", lost_checkpoints=1),
    # A log is moved to another directory of its broker.
    *_calm("kip320-code kip320 truncate-on-fetch", epochs=2, moves=2, directory_moves=1),
    *_calm("elr", power_losses=1, directory_moves=1),
    *_calm("kip320-with-moved-log-keeps-epochs", epochs=2, moves=2, directory_moves=1),
    *_calm("kip320-with-append-checks-older-epoch", records=2, epochs=2, moves=2, late_reads=True),
    # Replicas are reassigned; a log directory is taken out.
    *_calm("elr kraft", reassignments=2, min_insync_replicas=2),
    *_calm("elr-with-elr-only-replicas", reassignments=2, first_partition_replicas=2),
    *_calm("elr-with-completes-when-added-with-shrink-waits-for-targets", reassignments=2),
    *_small("elr", assigned=1, reassignments=1, unclean_leader_election=True),
    *_calm("elr", reassignments=1, caught_up_wait=True, late_booking="by-id"),
    *_calm("kraft", replicas=3, reassignments=1, epochs=1, election_order="any"),
    *_calm("elr elr-with-lost-directory-is-unclean", taken_directories=1, shutdowns=1),
    *_calm("elr-without-new-directory-empties-elr", taken_directories=1, shutdowns=1),
    *_calm("hw kip320 kip320-without-changeable-reassignment", assigned=1, reassignments=2),
    *_calm("kip320-with-alter-partition", replicas=3, assigned=1, reassignments=1, epochs=2),
    # A log directory fails; a log is moved step by step; min.insync.replicas is written.
    *_calm("elr", failed_directories=1, taken_directories=1, min_insync_replicas=2),
    *_calm(
        "kip320-code kip320 truncate-on-fetch epoch", moves=2, directory_moves=1, future_log=True
    ),
    *_small("elr", directory_moves=1, future_log=True, min_insync_replicas=2),
    *_small("elr-with-recovery-compares-ends", directory_moves=1, future_log=True),
    *_calm(
        "kip903-with-promotion-compares-epochs kip903-with-truncation-marks-future-log",
        epochs=2,
        moves=2,
        directory_moves=1,
        future_log=True,
    ),
    *_small("elr-with-last-known-leader", min_isr_writes=1, min_insync_replicas=2),
    # Three replicas, of which none fails.
    *_calm("kip320 elr", replicas=3, epochs=0),
    # Eligible leader replicas.
    *_small("elr", epochs=2, min_insync_replicas=2),
    *_small("elr", min_insync_replicas=2, controller_min_insync_replicas=1),
    *_calm("elr", power_losses=1, min_insync_replicas=2),
    *_small("elr-without-unclean-mark-kept", epochs=2, min_insync_replicas=2),
    *_small("elr", epochs=2, unfenced_registration=True, unclean_leader_election=True),
    *_small("elr", restarts=2, unfenced_registration=True, unclean_leader_election=True),
    *_small("elr-with-last-known-leader", restarts=2),
    *_small("elr-with-last-known-leader-with-last-known-leader-fenced", restarts=2),
    # A consumer; the one replica loses what it has read, and has other records there later.
    *_small("kip320", consumer=True),
    *_calm("epoch kip320", replicas=1, records=3, epochs=2, power_losses=1, consumer=True),
)

STAGES = (
    INTERPRETED,
    (
        *_large("hw epoch"),
        *_large("hw epoch", unclean_leader_election=True),
        *_large("hw epoch kip279 kip279-code kip320 truncate-on-fetch", restarts=0, moves=3),
        *_large("hw epoch", acks="1"),
        *_large("hw epoch", acks="1", min_insync_replicas=2),
        *_large("hw epoch", acks="0"),
        *_large("hw epoch", hw_in_response="pre"),
        *_large("hw epoch", parked_fetches=True),
        *_large("hw epoch kraft elr", min_insync_replicas=2),
        *_large("hw epoch", restart_detection="none"),
        *_large("hw epoch", restart_detection="any"),
        *_large("hw epoch", moves=1, unclean_leader_election=True, parked_fetches=True),
        *_large("hw epoch truncate-on-fetch", restarts=0, moves=3, late_reads=True),
        *_large("hw-with-keeps-waiting-producers", restarts=1, moves=2),
        *_large("epoch kip903", restarts=1, moves=1, requests_survive=True),
        *_large("elr", restarts=1, unfenced_registration=True, unclean_leader_election=True),
        *_large("kraft elr", restarts=0, shutdowns=2, session_expiries=1),
        *_large("elr", epochs=2, restarts=1, lost_disks=1, min_insync_replicas=2),
    ),
    (
        *_large("hw epoch", records=3, moves=1, unclean_leader_election=True),
        *_large(
            "epoch kip320",
            records=3,
            epochs=1,
            restarts=0,
            session_expiries=1,
            unclean_leader_election=True,
            consumer=True,
        ),
    ),
    (
        *_large("hw epoch", replicas=3, records=1, epochs=2, restarts=1, moves=1),
        *_large("kip320", replicas=3, records=1, epochs=1, restarts=1, election_order="any"),
    ),
    (
        *_large("kip320 epoch-with-truncate-after-gap", epochs=2, moves=1, unbounded=True),
        *_large("kip320", epochs=2, unbounded=True, settled=False),
        *_large("hw-with-keeps-waiting-producers", records=2, epochs=2, moves=1, unbounded=True),
        *_large("kip320", epochs=2, moves=1, late_booking="by-id", unbounded=True),
    ),
)
"""Every stage costs more than the one before it: interpreting, then compiling for each shape."""
