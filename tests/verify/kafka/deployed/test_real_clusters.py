"""A cluster of real brokers: what is read of it, and that it is not changed."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from tests.support.plain_clusters import HOST, create_topics, plain_broker
from waterline.checker.kafka.confirm.errors import CannotConfirm
from waterline.checker.kafka.confirm.jars import require_brokers
from waterline.checker.kafka.deployed.live import read_cluster
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.deployed.saved import to_saved
from waterline.checker.kafka.matrix.properties import configs_of

READING = {3, 18, 32}
"""Metadata, ApiVersions and DescribeConfigs, by Kafka's numbers of its APIs."""
LIST_REASSIGNMENTS = 46
READING_ELR = {LIST_REASSIGNMENTS, 75}
"""ListPartitionReassignments and DescribeTopicPartitions, where eligible leader replicas are on."""
RELEASES = {"4.2.0": "Kafka 4.2, KRaft, ELR", "2.8.2": "Kafka 2.8, ZooKeeper"}


@pytest.mark.brokers
@pytest.mark.parametrize("release", RELEASES)
def test_a_real_cluster_is_read_and_not_changed(release: str, tmp_path: Path) -> None:
    try:
        require_brokers(release)
    except CannotConfirm as reason:
        pytest.skip(str(reason))
    with plain_broker(release) as plain:
        unclean = {"unclean.leader.election.enable": "true"}
        create_topics(plain, {"orders": unclean, "audit": {}})
        time.sleep(0.5)
        plain.asked.clear()
        found = read_cluster(f"{HOST}:{plain.port}")
        asked = set(plain.asked)
        plain.asked.clear()
        now = read_cluster(f"{HOST}:{plain.port}", with_partitions=True)
        asked_for_partitions = set(plain.asked)
    saved = tmp_path / "cluster.json"
    saved.write_text(to_saved(found))
    configs = configs_of(found)
    [orders] = [config for config in configs if config.topics == ("orders",)]
    origins = {setting.key: setting.origin for setting in orders.settings}

    assert asked == READING | (READING_ELR if "ELR" in RELEASES[release] else set())
    assert asked_for_partitions == asked | {LIST_REASSIGNMENTS}
    assert [[(p.leader, p.replicas, p.isr) for p in t.now] for t in now.topics] == [
        [(0, (0,), (0,)), (0, (0,), (0,))]
    ] * 2
    assert [each.number for each in now.nodes] == [0]
    assert not any("could not be read" in note for note in found.notes)
    assert {config.protocol.title for config in configs} == {RELEASES[release]}
    assert [topic.name for topic in found.topics] == ["audit", "orders"]
    assert [len(topic.now) for topic in found.topics] == [2, 2]
    assert (orders.unclean, orders.yours.replicas) == ("true", 1)
    assert origins["unclean.leader.election.enable"] == "set for the topic"
    assert ("replica.lag.time.max.ms", "20000") in {(s.key, s.value) for s in found.unused}
    assert read_deployment([saved]) == found
    assert "127.0.0.1" not in saved.read_text()
