"""Output of Kafka's tools for clusters of any size, as TopicCommand prints it."""

from __future__ import annotations


def topics_output(count: int) -> str:
    """What `kafka-topics --describe` prints of so many topics, of four kinds and a refused one."""
    lines = []
    for number in range(count):
        name = f"topic-{number:03}"
        replicas = [1 + (number + step) % 3 for step in range(1 if number % 100 == 7 else 2)]
        configs = "segment.bytes=1073741824"
        if number % 4 == 1 and len(replicas) == 2:
            configs = "cleanup.policy=compact,delete,min.insync.replicas=2"
        elif number % 50 == 2:
            configs = "unclean.leader.election.enable=true,retention.ms=86400000"
        elif number == 399:
            configs = "min.insync.replicas=3"
        listed = ",".join(map(str, replicas))
        in_sync = listed if number % 90 else listed[0]
        lines.append(
            f"Topic: {name}\tTopicId: {number:022}\tPartitionCount: 2\t"
            f"ReplicationFactor: {len(replicas)}\tConfigs: {configs}"
        )
        lines += [
            f"\tTopic: {name}\tPartition: {partition}\tLeader: {replicas[0]}\t"
            f"Replicas: {listed}\tIsr: {in_sync}\tElr: \tLastKnownElr: "
            for partition in range(2)
        ]
    return "\n".join(lines) + "\n"
