"""A cluster that runs: what is read of it, and that nothing but reading leaves the client."""

from __future__ import annotations

import gc
import json
import warnings
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.support.deployment_answers import made_up, shown
from waterline.checker.ci.reports.config_findings import to_junit, to_sarif, workflow_commands
from waterline.checker.cli.matrix_deployment import exit_code
from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment
from waterline.checker.kafka.deployed.live import ALLOWED, read_cluster
from waterline.checker.kafka.deployed.release_text import metadata_version
from waterline.checker.kafka.deployed.saved import read_saved, to_saved
from waterline.checker.kafka.matrix.deployment_facts import elr_in_danger
from waterline.checker.kafka.matrix.files import deployment_object
from waterline.checker.kafka.matrix.findings import EMPTY_IN_ELR, ERROR, findings_of
from waterline.checker.kafka.matrix.matrix import DeploymentAnswer
from waterline.checker.kafka.matrix.properties import configs_of
from waterline.checker.kafka.now.partitions import cluster_of
from waterline.checker.report.pages.deployment_page import to_html


def test_a_request_that_is_not_reading_never_leaves() -> None:
    from waterline.checker.kafka.deployed.live import _let_through_reading_alone  # noqa: PLC0415

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
    monkeypatch.setattr("waterline.checker.kafka.deployed.live.ANSWER_MS_MAX", 300)

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


class Cluster:
    """A client of kafka-python whose cluster says these things; `asked` is what it was asked."""

    _get_cluster_metadata = None

    def __init__(self, given: dict[str, dict[str, str]], topics: list[dict[str, object]]) -> None:
        self.given, self.topics, self.asked = given, topics, list[str]()
        self.elr: dict[tuple[str, int], dict[str, object]] = {}
        self.adding: dict[tuple[str, int], dict[str, object]] = {}
        self.refused: dict[str, Exception] = {}
        self._manager = self

    def run(self, *_: object) -> dict[str, object]:
        return {"brokers": [{"node_id": number} for number in (1, 2, 3)]}

    def describe_configs(self, resources: list[object], **_: object) -> dict[str, object]:
        names = [str(resource.name) for resource in resources]  # type: ignore[attr-defined]
        kind = "topic" if names == [str(topic["name"]) for topic in self.topics] else "broker"
        return {kind: dict.fromkeys(names, self.given)}

    def describe_features(self) -> dict[str, object]:
        if not self.elr:
            return {}
        levels = {"metadata.version": 27, "eligible.leader.replicas.version": 1}
        return {k: {"finalized": (n, n), "supported": (1, n)} for k, n in levels.items()}

    def describe_topics(self) -> list[dict[str, object]]:
        return self.topics

    def list_partition_reassignments(self) -> dict[tuple[str, int], dict[str, object]]:
        self._ask("reassignments")
        return self.adding

    def describe_topic_partitions(
        self, topics: list[str], cursor: dict[str, object] | None = None
    ) -> dict[str, object]:
        """A page for each partition."""
        self._ask("partitions")
        known = [(name, number) for name, number in self.elr if name in topics]
        at = 0 if cursor is None else int(str(cursor["partition_index"]))
        page = [{"partition_index": known[at][1], **self.elr[known[at]]}]
        more = {"topic_name": known[at][0], "partition_index": at + 1}
        return {
            "topics": [{"name": known[at][0], "error_code": 0, "partitions": page}],
            "next_cursor": more if at + 1 < len(known) else None,
        }

    def _ask(self, what: str) -> None:
        self.asked.append(what)
        if what in self.refused:
            raise self.refused[what]


def endangered() -> Cluster:
    """ELR is on. In orders-0 the ELR is as it should be, in the others it is not."""
    described = [([1, 2], [2]), ([1, 2], [3]), ([1, 3], [3])]
    partitions = [{"replica_nodes": r, "isr_nodes": [1], "leader_id": 1} for r, _ in described]
    cluster = Cluster({}, [{"name": "orders", "error_code": 0, "partitions": partitions}])
    for number, (replicas, elr) in enumerate(described):
        cluster.elr["orders", number] = {"replica_nodes": replicas, "eligible_leader_replicas": elr}
    cluster.adding["orders", 2] = {"adding_replicas": [3]}
    return cluster


def _endangering(found: Deployment) -> list[tuple[str, int, str]]:
    """Partitions with brokers in their ELR that may be empty, and why."""
    return [
        (name, broker, "being added" if "being added" in text else "is no replica")
        for name, broker, _, text in elr_in_danger(found)
    ]


def test_a_broker_in_the_elr_that_may_be_empty_is_a_finding_of_its_partition() -> None:
    pytest.importorskip("kafka")
    from waterline.checker.kafka.deployed.live import _read  # noqa: PLC0415

    found = _read(endangered())
    answer = made_up(configs_of(found)[0], lambda cell: False)
    whole = DeploymentAnswer(found, (answer,))
    told = " ".join(" ".join(shown(whole)).split())
    findings = [f for f in findings_of(whole, Path("cluster")) if f.rule == EMPTY_IN_ELR]
    sarif = json.loads(to_sarif(findings, is_whole=True))["runs"][0]["results"]
    junit = ET.fromstring(to_junit(findings, whole))

    assert _endangering(found) == [("orders-1", 3, "is no replica"), ("orders-2", 3, "being added")]
    assert read_saved(Path("saved.json"), to_saved(found)) == found
    assert [(f.topics, f.value, f.level) for f in findings] == [
        ("orders-1", "3", ERROR),
        ("orders-2", "3", ERROR),
    ]
    assert "In danger now: orders-1: broker 3 is in the ELR and is no replica" in told
    assert "In danger now: orders-2: broker 3, which is being added, is in the ELR" in told
    assert "until Isr has min.insync.replicas members" in findings[0].message
    assert len({result["partialFingerprints"]["waterline/v1"] for result in sarif}) == 2
    assert junit.get("failures") == "2"
    assert len(list(workflow_commands(findings))) == 2
    assert (
        sum("docs/losses.md" in fact for fact in deployment_object(whole, findings)["facts"]) == 2
    )
    assert "orders-2: broker 3" in to_html(whole)
    assert exit_code(whole, "loss") == 12
    assert exit_code(whole, "setting") == exit_code(whole, "never") == 0


def test_a_cluster_without_elr_is_not_asked_for_it() -> None:
    pytest.importorskip("kafka")
    from waterline.checker.kafka.deployed.live import _read  # noqa: PLC0415

    cluster = endangered()
    cluster.elr = {}

    assert _endangering(_read(cluster)) == []
    assert cluster.asked == []


@pytest.mark.parametrize("refused", ["reassignments", "partitions"])
def test_brokers_that_do_not_say_what_is_in_the_elr_are_named_and_nothing_is_concluded(
    refused: str,
) -> None:
    errors = pytest.importorskip("kafka.errors")
    from waterline.checker.kafka.deployed.live import _read  # noqa: PLC0415

    cluster = endangered()
    cluster.refused[refused] = errors.IncompatibleBrokerVersion("no such API")
    found = _read(cluster)
    [note] = [note for note in found.notes if "IncompatibleBrokerVersion" in note]

    assert "could not be read" in note
    assert ("kafka-topics --describe" in note) is (refused == "partitions")
    # What is no replica is seen without the reassignments.
    seen = {"reassignments": [("orders-1", 3, "is no replica")], "partitions": []}
    assert _endangering(found) == seen[refused]
    partitions = cluster_of(found, configs_of(found)).partitions
    assert {each.reason.partition(":")[0] for each in partitions} == {
        "its reassignment or ELR was not read"
    }


def test_partitions_are_read_with_their_brokers_where_they_are_asked_for() -> None:
    pytest.importorskip("kafka")
    from waterline.checker.kafka.deployed.live import _read  # noqa: PLC0415

    cluster = endangered()
    found = _read(cluster, with_partitions=True)
    without = _read(Cluster({}, cluster.topics), with_partitions=True)

    assert [each.number for each in found.nodes] == [1, 2, 3]
    first, second, third = found.topics[0].now
    assert (first.leader, first.replicas, first.isr, first.elr) == (1, (1, 2), (1,), (2,))
    assert second.elr == third.elr == third.adding == (3,)
    assert [each.elr for each in without.topics[0].now] == [()] * 3
    assert read_saved(Path("saved.json"), to_saved(found)) == found
    assert _read(Cluster({}, cluster.topics)).topics[0].now[0].adding is None


def test_a_replica_whose_broker_is_down_counts_as_a_broker() -> None:
    """A live run with one of three brokers down was refused: three replicas, two brokers."""
    pytest.importorskip("kafka")
    from waterline.checker.kafka.deployed.live import _read  # noqa: PLC0415

    partition = {"replica_nodes": [1, 2, 3, 4], "isr_nodes": [1, 2, 3], "leader_id": 1}
    topics: list[dict[str, object]] = [
        {"name": "orders", "error_code": 0, "partitions": [partition]}
    ]
    found = _read(Cluster({}, topics), with_partitions=True)

    assert [each.number for each in found.nodes] == [1, 2, 3]
    assert [config.yours.replicas for config in configs_of(found)] == [4]
    assert cluster_of(found, configs_of(found)).down == {4}


@pytest.mark.parametrize("refused", ["reassignments", "partitions"])
def test_partitions_of_which_a_part_is_not_given_are_no_answer(refused: str) -> None:
    errors = pytest.importorskip("kafka.errors")
    from waterline.checker.kafka.deployed.live import _read  # noqa: PLC0415

    cluster = endangered()
    cluster.refused[refused] = errors.ClusterAuthorizationFailedError("no")

    with pytest.raises(errors.ClusterAuthorizationFailedError):
        _read(cluster, with_partitions=True)


def test_settings_that_a_server_gives_without_being_asked_are_not_kept() -> None:
    """A server may answer with what it likes, also secrets: `--save` writes what is kept."""
    pytest.importorskip("kafka")
    from waterline.checker.kafka.deployed.live import _read  # noqa: PLC0415

    def entry(value: str) -> dict[str, str]:
        return {"value": value, "config_source": "STATIC_BROKER_CONFIG"}

    given = {"ssl.keystore.password": entry("hunter2"), "min.insync.replicas": entry("2")}
    partition = {"replica_nodes": [1, 2], "isr_nodes": [1], "leader_id": 1}

    topics: list[dict[str, object]] = [
        {"name": "orders", "error_code": 0, "partitions": [partition, partition]}
    ]
    found = _read(Cluster(given, topics))
    saved = to_saved(found)

    assert "hunter2" not in saved
    assert "ssl" not in saved
    assert found.brokers.keys() == {"min.insync.replicas"}
    assert [(p.replicas, p.isr) for p in found.topics[0].now] == [((1, 2), (1,))] * 2
    assert read_saved(Path("saved.json"), saved) == found
