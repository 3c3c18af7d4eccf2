"""Expected results of every version in every named environment: the claims violated there.

All other claims that apply hold, and all that must happen happens. These are findings of exhaustive
searches, compared with what is known of each version, and tested to stay; they are for the bounds
of `model.message.environment.ENVIRONMENTS` alone.
"""

from __future__ import annotations

from collections.abc import Mapping

_LOSS = (
    "no_committed_loss",
    "acknowledged_durable",
    "visible_hw",
    "candidates_complete",
    "leader_isr_complete",
)
_OUT_OF_REACH = (*_LOSS, "acknowledged_somewhere")
_GONE = (*_OUT_OF_REACH, "acknowledged_on_disk")
_ALL_OF_HW = (
    *_GONE,
    "no_divergence_below_hw",
    "log_matching",
    "consistent_read",
    "remote_leo_honest",
)
_UNFENCED_FETCHES = (
    *_GONE,
    "log_matching",
    "consistent_read",
    "remote_leo_honest",
    "epoch_cache_monotone",
    "no_endless_question",
    "hw_monotone",
)
"""A leader of the past goes by fetches that a session carries no epoch in (KAFKA-9338)."""
_OLD_REQUESTS = (*_GONE, "remote_leo_honest", "epoch_cache_monotone")
"""An old LeaderAndIsr makes a leader of the past, which writes in its epoch of the past."""
_LAST_REPLICA = (*_GONE, "consistent_read")
"""The last replica in sync comes back without its records, KIP-966. The last known leader too."""
_LAST_REPLICA_AND_OLD_LEO = (*_LAST_REPLICA, "remote_leo_honest")
"""Also, until its first fetch the leader takes a broker for what it was before; where fetches carry
the last epoch, the claim waits for that fetch."""
_LAST_REPLICA_AND_ITS_HW = (*_LAST_REPLICA_AND_OLD_LEO, "hw_monotone")
"""Until 2.4 a broker that truncated below its high watermark forgets it on leading."""

_NOBODY_LEADS = ("acknowledged_somewhere",)
"""All of ISR and ELR have crashed: no replica can be elected, not even one that has the record."""

_REPAIRED: Mapping[str, tuple[str, ...]] = {
    "kip320": (),
    "truncate-on-fetch": (),
    "kraft": (),
    "kip903": (),
    "elr": (),
    "elr-with-last-known-leader": (),
}
_REPAIRED_UNLESS_ALL_CRASH = {**_REPAIRED, "elr": _NOBODY_LEADS}
_LOSE_DISKS: Mapping[str, tuple[str, ...]] = {
    "hw": _LAST_REPLICA_AND_OLD_LEO,
    "epoch": _LAST_REPLICA_AND_OLD_LEO,
    "kip279": _LAST_REPLICA_AND_OLD_LEO,
    "kip279-code": _LAST_REPLICA_AND_OLD_LEO,
    "kip320-code": _LAST_REPLICA_AND_ITS_HW,
    "kip320": _LAST_REPLICA_AND_OLD_LEO,
    "truncate-on-fetch": _LAST_REPLICA,
    "kraft": _LAST_REPLICA,
    "kip903": _LAST_REPLICA,
    "elr": _NOBODY_LEADS,
    "elr-with-last-known-leader": _LAST_REPLICA,
}
_FALLS_TO_OLD_REQUESTS: Mapping[str, tuple[str, ...]] = {
    "hw": _ALL_OF_HW,
    "epoch": _OLD_REQUESTS,
    "kip279": _OLD_REQUESTS,
    "kip279-code": _OLD_REQUESTS,
    "kip320-code": _UNFENCED_FETCHES,
    **_REPAIRED,
}

EXPECTED: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "documented": {
        "hw": _ALL_OF_HW,
        "epoch": (),
        "kip279": (),
        "kip279-code": (),
        "kip320-code": (),
        **_REPAIRED_UNLESS_ALL_CRASH,
    },
    "adversarial": {**_FALLS_TO_OLD_REQUESTS, "elr": _NOBODY_LEADS},
    "power-loss": {
        **_LOSE_DISKS,
        "epoch": _LAST_REPLICA_AND_ITS_HW,
        "kip279": _LAST_REPLICA_AND_ITS_HW,
        "kip279-code": _LAST_REPLICA_AND_ITS_HW,
    },
    "lost-disk": _LOSE_DISKS,
    "rolling-restart": {
        "hw": (
            "no_committed_loss",
            "acknowledged_durable",
            "acknowledged_somewhere",
            "candidates_complete",
            "leader_isr_complete",
            "no_divergence_below_hw",
            "log_matching",
            "consistent_read",
            "remote_leo_honest",
        ),
        "epoch": ("remote_leo_honest",),
        "kip279": ("remote_leo_honest",),
        "kip279-code": ("remote_leo_honest",),
        "kip320-code": (),
        **_REPAIRED,
    },
    "zombie": _FALLS_TO_OLD_REQUESTS,
}
"""Environment, version, violated claims. The last version is Kafka 4.0 and later with ELR."""
