"""The answer of `ask` as plain values for JSON: `docs/schemas/ask.schema.json`."""

from __future__ import annotations

from typing import Any

from waterline.checker.kafka.now.asking import Answer, Harm, difference
from waterline.checker.kafka.now.further import Loss
from waterline.checker.kafka.now.partitions import Cluster

FORMAT = "waterline-ask/1"


def answer_object(answer: Answer, exit_code: int) -> dict[str, Any]:
    """Return the answer with the names of all partitions, and brokers by their numbers."""
    cluster, before, after, order = answer.cluster, answer.before, answer.after, answer.order
    worse = difference(before, after) if before is not None and after is not None else None
    return {
        "format": FORMAT,
        "release": answer.title,
        "question": answer.question or None,
        "exit_code": exit_code,
        "faults": answer.faults,
        "partitions": len(cluster.partitions),
        "brokers": [{"broker": each, "rack": rack} for each, rack in cluster.racks.items()],
        "down": sorted(cluster.down),
        "dangers": list(cluster.dangers),
        "notes": list(cluster.notes),
        "now": _harm(before, cluster) if before is not None else None,
        "meanwhile": _harm(after, cluster) if after is not None else None,
        "newly": worse
        and {
            "unavailable": list(worse.unavailable),
            "refusing": list(worse.refusing),
            "losing": _losing(worse.losing, cluster),
        },
        "order": order
        and {
            "now": list(order.now),
            "later": list(order.later),
            "refused": list(order.refused),
            "unsure": list(order.unsure),
        },
    }


def _harm(harm: Harm, cluster: Cluster) -> dict[str, Any]:
    return {
        "unavailable": list(harm.unavailable),
        "refusing": list(harm.refusing),
        "losing": _losing({name: each.losses for name, each in harm.losing.items()}, cluster),
        "unknown": dict(harm.unknown),
    }


def _losing(losing: dict[str, tuple[Loss, ...]], cluster: Cluster) -> dict[str, list[Any]]:
    brokers = {each.name: each.brokers for each in cluster.partitions}
    return {
        name: [
            {
                "faults": list(loss.faults),
                "brokers": [brokers[name][place] for place in loss.places],
                "if_power": loss.if_power,
                "steps": list(loss.steps),
            }
            for loss in losses
        ]
        for name, losses in losing.items()
    }
