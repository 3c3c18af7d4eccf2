"""Decisions as controllers write them: with ZooKeeper, with KRaft, and as a dump of the log."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tests.support.logged_walks import Decided

TOPIC_ID = "uLLV-aeNTViofG-g5RisEg"


def zookeeper_line(decided: Decided, *, is_old: bool = False) -> str:
    """A line of state-change.log, as 3.9.1 writes it, or as 2.8.2 does."""
    members = ", ".join(map(str, decided.isr))
    states = ", ".join(f"BrokerState(brokerId={r}, brokerEpoch=-1)" for r in decided.isr)
    rest = (
        f"isr=List({members}), zkVersion={decided.number})"
        if is_old
        else f"isrWithBrokerEpoch=List({states}), leaderRecoveryState=RECOVERED, "
        f"partitionEpoch={decided.number})"
    )
    return (
        "[Controller id=7 epoch=1] Changed partition t-0 from OnlinePartition to OnlinePartition "
        f"with state LeaderAndIsr(leader={decided.leader}, leaderEpoch={decided.epoch}, {rest} "
        "(state.change.logger)"
    )


def kraft_line(before: Decided | None, decided: Decided, *, controller: int = 3000) -> str:
    """A line of controller.log: that of the creation where nothing was before."""
    said = f"[QuorumController id={controller}] "
    if before is None:
        return (
            f"{said}Replayed PartitionRecord for new partition t-0 with topic ID {TOPIC_ID} and "
            f"PartitionRegistration(replicas=[0, 1], directories=[a, b], isr={list(decided.isr)}, "
            f"removingReplicas=[], addingReplicas=[], elr=[], lastKnownElr=[], "
            f"leader={decided.leader}, leaderRecoveryState=RECOVERED, "
            f"leaderEpoch={decided.epoch}, partitionEpoch={decided.number})."
        )
    fields = [
        f"{name}: {old} -> {new}"
        for name, old, new in (
            ("isr", list(before.isr), list(decided.isr)),
            ("leader", before.leader, decided.leader),
            ("leaderEpoch", before.epoch, decided.epoch),
            ("partitionEpoch", before.number, decided.number),
        )
        if old != new
    ]
    return f"{said}partition change for t-0 with topic ID {TOPIC_ID}: {', '.join(fields)}"


def dump_of(decisions: Sequence[Decided], *, begin: int = 0, topic: str = "t") -> list[str]:
    """A dump of the metadata log with these decisions, as kafka-dump-log writes it."""
    records: list[tuple[str, dict[str, object]]] = [
        ("TOPIC_RECORD", {"name": topic, "topicId": TOPIC_ID}),
        ("REGISTER_BROKER_RECORD", {"brokerId": 0, "fenced": True}),
    ]
    before: Decided | None = None
    for each in decisions:
        at = {"partitionId": 0, "topicId": TOPIC_ID}
        if before is None:
            first = {"leader": each.leader, "leaderEpoch": each.epoch, "isr": list(each.isr)}
            first |= _assignment(None, each)
            records.append(("PARTITION_RECORD", at | first | {"partitionEpoch": each.number}))
        else:
            change: dict[str, object] = {}
            if before.isr != each.isr:
                change["isr"] = list(each.isr)
            if before.epoch != each.epoch:
                change["leader"] = each.leader
            change |= _assignment(before, each)
            records.append(("PARTITION_CHANGE_RECORD", at | change))
        records.append(("BROKER_REGISTRATION_CHANGE_RECORD", {"brokerId": 1, "fenced": -1}))
        before = each
    lines = [
        f"Dumping /data/__cluster_metadata-0/{begin:020d}.log",
        f"Log starting offset: {begin}",
    ]
    for offset, (kind, values) in enumerate(records, begin):
        payload = json.dumps({"type": kind, "version": 0, "data": values}, separators=(",", ":"))
        lines.append(
            f"baseOffset: {offset} lastOffset: {offset} count: 1 isControl: false position: 0"
        )
        lines.append(
            f"| offset: {offset} CreateTime: 1795759853720 keySize: -1 valueSize: 22 sequence: -1 "
            f"headerKeys: [] payload: {payload}"
        )
    return lines


def _assignment(before: Decided | None, decided: Decided) -> dict[str, object]:
    """What a record has of the replicas: what has changed, all of it where nothing was before."""
    names = {"replicas": "replicas", "addingReplicas": "adding", "removingReplicas": "removing"}
    return {
        name: list(new)
        for name, field in names.items()
        if (new := getattr(decided, field)) is not None
        and (before is None or new != getattr(before, field))
    }
