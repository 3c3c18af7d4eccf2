"""A cluster that runs: what is read of it, and that nothing but reading leaves the client."""

from __future__ import annotations

import gc
import time
import warnings
from pathlib import Path

import pytest

from checker.kafka.confirm.errors import CannotConfirm
from checker.kafka.confirm.jars import require_brokers
from checker.kafka.deployed.deployment import Copies
from checker.kafka.deployed.feature_levels import metadata_version
from checker.kafka.deployed.live import ALLOWED, read_cluster
from checker.kafka.deployed.reading import read_deployment
from checker.kafka.deployed.saved import read_saved, to_saved
from checker.kafka.deployed.setting import BadConfig
from checker.kafka.matrix.properties import configs_of
from tests.support.plain_clusters import HOST, create_topics, plain_broker

READING = {3, 18, 32}
"""Metadata, ApiVersions and DescribeConfigs, by Kafka's numbers of its APIs."""
RELEASES = {"4.2.0": "Kafka 4.2, KRaft, ELR", "2.8.2": "Kafka 2.8, ZooKeeper"}


@pytest.mark.slow
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
    saved = tmp_path / "cluster.json"
    saved.write_text(to_saved(found))
    configs = configs_of(found)
    [orders] = [config for config in configs if config.topics == ("orders",)]
    origins = {setting.key: setting.origin for setting in orders.settings}

    assert asked == READING
    assert {config.protocol.title for config in configs} == {RELEASES[release]}
    assert [topic.name for topic in found.topics] == ["audit", "orders"]
    assert [topic.partitions for topic in found.topics] == [2, 2]
    assert (orders.unclean, orders.yours.replicas) == ("true", 1)
    assert origins["unclean.leader.election.enable"] == "set for the topic"
    assert ("replica.lag.time.max.ms", "20000") in {(s.key, s.value) for s in found.unused}
    assert read_deployment([saved]) == found
    assert "127.0.0.1" not in saved.read_text()


def test_a_request_that_is_not_reading_never_leaves() -> None:
    from checker.kafka.deployed.live import _let_through_reading_alone  # noqa: PLC0415

    class DeleteTopicsRequest:
        pass

    class MetadataRequest:
        pass

    class Manager:
        def __init__(self) -> None:
            self.sent: list[object] = []

        def send(self, request: object) -> None:
            self.sent.append(request)

    class Client:
        def __init__(self) -> None:
            self._manager = Manager()

    client = Client()
    manager = client._manager
    _let_through_reading_alone(client)
    with pytest.raises(AssertionError, match="DeleteTopicsRequest would not only read"):
        manager.send(DeleteTopicsRequest())
    asked = MetadataRequest()
    manager.send(asked)

    assert manager.sent == [asked]
    assert all(name.startswith(("Describe", "Metadata", "ApiVersions", "List")) for name in ALLOWED)


def test_a_cluster_that_does_not_answer_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("kafka")
    monkeypatch.setattr("checker.kafka.deployed.live.ANSWER_MS_MAX", 300)

    with warnings.catch_warnings():
        # The client leaves sockets to the collector that never were connected.
        warnings.simplefilter("ignore", ResourceWarning)
        with pytest.raises(BadConfig) as refused:
            read_cluster("127.0.0.1:1")
        [line] = refused.value.mistakes
        del refused
        gc.collect()

    assert line.startswith("127.0.0.1:1 does not answer as a Kafka broker")
    assert "security.protocol" in line


def test_levels_of_metadata_are_those_of_kafka() -> None:
    """Levels as `MetadataVersion` of 4.4.0 has them."""
    assert {level: metadata_version(level) for level in (0, 7, 19, 25, 27, 29, 33, 99)} == {
        0: None,
        7: "3.3-IV3",
        19: "3.7-IV4",
        25: "4.0-IV3",
        27: "4.1-IV1",
        29: "4.2-IV1",
        33: "4.4-IV2",
        99: None,
    }


def test_settings_that_a_server_gives_without_being_asked_are_not_kept() -> None:
    """A server may answer with what it likes, also secrets: `--save` writes what is kept."""
    pytest.importorskip("kafka")
    from checker.kafka.deployed.live import _read  # noqa: PLC0415

    def entry(value: str) -> dict[str, str]:
        return {"value": value, "config_source": "STATIC_BROKER_CONFIG"}

    given = {"ssl.keystore.password": entry("hunter2"), "min.insync.replicas": entry("2")}
    partition = {"replica_nodes": [1, 2], "isr_nodes": [1], "leader_id": 1}

    class Manager:
        def run(self, *_: object) -> dict[str, object]:
            return {"brokers": [{"node_id": 1}]}

    class Client:
        _manager = Manager()
        _get_cluster_metadata = None

        def describe_configs(self, resources: list[object], **_: object) -> dict[str, object]:
            names = [str(resource.name) for resource in resources]  # type: ignore[attr-defined]
            kind = "topic" if names == ["orders"] else "broker"
            return {kind: dict.fromkeys(names, given)}

        def describe_features(self) -> dict[str, object]:
            return {}

        def describe_topics(self) -> list[dict[str, object]]:
            return [{"name": "orders", "error_code": 0, "partitions": [partition, partition]}]

    found = _read(Client())
    saved = to_saved(found)

    assert "hunter2" not in saved
    assert "ssl" not in saved
    assert found.brokers.keys() == {"min.insync.replicas"}
    assert found.topics[0].copies == (Copies(2, 1, 2),)
    assert read_saved(Path("saved.json"), saved) == found
