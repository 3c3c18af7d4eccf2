"""Files and tools' output as people have them: what is read, where it is from, what it comes to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.operators import topics_output
from waterline.checker.kafka.deployed.deployment import Place
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.deployed.saved import read_saved, to_saved
from waterline.checker.kafka.matrix.deployment_facts import elr_in_danger, facts_of
from waterline.checker.kafka.matrix.properties import (
    Config,
    configs_of,
    describe_topics,
    unwritable,
)
from waterline.checker.kafka.matrix.protocol_of import protocol_of, version_option

FOLDER = Path(__file__).parents[2] / "golden" / "deployed"

Row = tuple[str, int, int, str, tuple[str, ...]]
"""Release in words, replicas, min.insync.replicas, unclean elections, topics."""
EXPECTED: dict[tuple[str, ...], tuple[str | None, list[Row]]] = {
    ("strimzi-three-brokers.yaml",): (None, [("Kafka 4.3.0, KRaft, ELR", 3, 2, "false", ())]),
    ("strimzi-single-node.yaml",): (None, [("Kafka 4.3.2, KRaft, ELR", 1, 1, "false", ())]),
    ("strimzi-topics.yaml",): (
        None,
        [
            ("Kafka 4.4.0, KRaft, ELR", 2, 1, "true", ("clicks",)),
            ("Kafka 4.4.0, KRaft, ELR", 1, 1, "false", ("sessions",)),
            ("Kafka 4.4.0, KRaft, ELR", 2, 1, "false", ()),
        ],
    ),
    ("strimzi-zookeeper.yaml",): (None, [("Kafka 3.7.0, ZooKeeper", 2, 1, "true", ())]),
    ("confluent.yaml",): (None, [("Kafka 3.9, KRaft", 2, 1, "false", ())]),
    ("msk.properties",): ("3.6.0", [("Kafka 3.6.0, ZooKeeper", 2, 1, "true", ())]),
    # KRaft takes unclean.leader.election.enable for false before 3.9 (KAFKA-12670).
    ("msk.properties", ""): ("3.7.x.kraft", [("Kafka 3.7, KRaft", 2, 1, "false", ())]),
    ("features.txt", "brokers.txt", "topics.txt"): (
        None,
        [
            ("Kafka 4.1, KRaft, no ELR", 2, 2, "false", ("payments", "metrics")),
            ("Kafka 4.1, KRaft, no ELR", 1, 1, "false", ("audit",)),
            ("Kafka 4.1, KRaft, no ELR", 2, 1, "true", ("clicks",)),
        ],
    ),
    ("orders-topic.txt",): ("4.0:elr", [("Kafka 4.0, KRaft, ELR", 3, 1, "true", ("orders",))]),
    ("broker-2.8.properties",): (None, [("Kafka 2.8, ZooKeeper", 2, 2, "false", ())]),
    ("combined-4.2.properties",): (None, [("Kafka 4.2, KRaft, ELR", 3, 2, "false", ())]),
    ("combined-4.2.properties", "features.txt"): (
        None,
        [("Kafka 4.1, KRaft, no ELR", 3, 2, "false", ())],
    ),
}


def read(*names: str, version: str | None = None) -> list[Config]:
    paths = [FOLDER / name for name in names if name]
    return configs_of(read_deployment(paths), kafka_version=version)


@pytest.mark.parametrize("names", EXPECTED, ids="+".join)
def test_a_file_comes_to_the_release_and_the_settings_that_it_says(names: tuple[str, ...]) -> None:
    version, rows = EXPECTED[names]
    found = read(*names, version=version)

    assert [
        (c.protocol.title, c.yours.replicas, c.yours.min_insync, c.unclean, c.topics) for c in found
    ] == rows


def test_each_setting_says_the_line_that_it_is_from() -> None:
    [clicks, *_] = read("strimzi-topics.yaml")
    origins = {setting.key: setting.origin for setting in clicks.settings}
    lines = (FOLDER / "strimzi-topics.yaml").read_text().splitlines()

    assert origins["acks"] == "default"
    for key in ("min.insync.replicas", "unclean.leader.election.enable"):
        assert key in lines[int(origins[key].rpartition(":")[2]) - 1]
    assert origins["unclean.leader.election.enable"].startswith("the topic's own")
    assert origins["replication.factor"] == "strimzi-topics.yaml:38"
    assert origins["eligible.leader.replicas.version"] == "default of a new cluster"


def test_what_touches_durability_and_is_not_modelled_is_listed() -> None:
    found = read_deployment([FOLDER / "strimzi-zookeeper.yaml"]).unused

    assert [(setting.key, setting.value) for setting in found] == [
        ("log.flush.interval.messages", "1"),
        ("replica.lag.time.max.ms", "30000"),
        ("controlled.shutdown.enable", "true"),
    ]


@pytest.mark.parametrize(
    ("version", "said"),
    [
        ("3.6:kraft", "acks=all is always refused, since min.insync.replicas is more than the "),
        ("3.7:kraft", "min.insync.replicas is more than the replicas, so Kafka takes as many as "),
    ],
)
def test_what_is_so_now_is_said_of_topics(version: str, said: str) -> None:
    deployment = read_deployment([FOLDER / "topics.txt"])
    protocol = protocol_of(version_option(version))
    *facts, refused = facts_of(deployment, protocol)

    assert facts == [
        "Without a leader now: 1 partition of audit.",
        "With fewer replicas in sync than replicas now: 2 partitions of payments and audit.",
        "acks=all is refused now: 1 partition of payments has 1 of 2 in sync.",
        "One replica, so one lost disk loses all: audit.",
    ]
    assert refused.startswith(said)
    assert refused.endswith(": metrics.")


def test_replicas_that_a_reassignment_adds_are_not_missing(tmp_path: Path) -> None:
    """TopicCommand lists them among Replicas, and again as Adding Replicas."""
    path = tmp_path / "topics.txt"
    path.write_text(
        "Topic: a\tTopicId: x\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"
        "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 3,1,2\tIsr: 1,2\tAdding Replicas: 3\t"
        "Removing Replicas: \tElr: N/A\tLastKnownElr: N/A\n"
    )
    [topic] = read_deployment([path]).topics

    assert [len(each.isr) - len(each.replicas) for each in topic.now] == [0]
    assert topic.settings["replication.factor"].value == "2"


def test_partitions_with_fewer_replicas_are_a_kind_of_their_own(tmp_path: Path) -> None:
    text = (
        "Topic: mixed\tPartitionCount: 3\tReplicationFactor: 3\tConfigs: min.insync.replicas=2\n"
        "\tTopic: mixed\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1\tElr: N/A\n"
        "\tTopic: mixed\tPartition: 1\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: \n"
        "\tTopic: mixed\tPartition: 2\tLeader: 2\tReplicas: 2\tIsr: 2\n"
    )
    path = tmp_path / "topics.txt"
    path.write_text(text)
    found = read_deployment([path])
    configs = configs_of(found, kafka_version="4.1:kraft")

    assert found.topics[0].settings["replication.factor"].origin == "topics.txt:4"
    assert list(facts_of(found, configs[0].protocol))[1:3] == [
        "acks=all is refused now, with fewer in sync than min.insync.replicas: 2 partitions of "
        "mixed.",
        "One replica, so one lost disk loses all: 1 partition of mixed.",
    ]
    assert sorted((config.yours.replicas, config.topics) for config in configs) == [
        (1, ("mixed (1 partition with 1 replica)",)),
        (2, ("mixed (1 partition with 2 replicas)",)),
        (3, ("mixed (1 partition with 3 replicas)",)),
    ]
    assert "eligible.leader.replicas.version" not in found.brokers


def test_observers_of_confluent_server_are_no_replicas_in_sync(tmp_path: Path) -> None:
    path = tmp_path / "topics.txt"
    path.write_text(
        "Topic: a\tPartitionCount: 1\tReplicationFactor: 4\tConfigs: min.insync.replicas=2\n"
        "\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3,4\tIsr: 1,2\tOffline: \t"
        "Observers: 3,4\n"
    )
    [topic] = read_deployment([path]).topics

    assert [len(each.isr) - len(each.replicas) for each in topic.now] == [0]
    assert topic.settings["replication.factor"].value == "2"


def test_a_list_of_partitions_alone_is_not_taken_for_all_topics(tmp_path: Path) -> None:
    path = tmp_path / "under-replicated.txt"
    path.write_text("\tTopic: a\tPartition: 0\tLeader: 1\tReplicas: 1,2,3\tIsr: 1\n")
    deployment = read_deployment([path])

    assert not deployment.has_all_topics
    assert "lists partitions alone" in deployment.notes[0]
    assert [config.topics for config in configs_of(deployment)] == [("a",)]


def test_output_that_was_copied_with_spaces_is_read_as_with_tabs(tmp_path: Path) -> None:
    path = tmp_path / "topics.txt"
    path.write_text((FOLDER / "topics.txt").read_text().expandtabs(4))

    assert read_deployment([path]).topics == tuple(
        replace(
            topic,
            settings={
                k: replace(s, place=replace(s.place, file=str(path)))
                for k, s in topic.settings.items()
            },
            now=tuple(replace(p, place=replace(p.place, file=str(path))) for p in topic.now),
        )
        for topic in read_deployment([FOLDER / "topics.txt"]).topics
    )


def test_four_hundred_topics_are_a_few_classes(tmp_path: Path) -> None:
    path = tmp_path / "topics.txt"
    path.write_text(topics_output(400))
    deployment = read_deployment([path])
    found = configs_of(deployment, kafka_version="3.6:zookeeper")
    topics = [name for config in found for name in config.topics]
    topics += unwritable(deployment, found[0].protocol)

    assert len(deployment.topics) == 400
    assert len(found) == 4
    assert sorted(topics) == sorted(topic.name for topic in deployment.topics)
    assert describe_topics(found[0].topics).endswith(" more")


def test_a_folder_is_read_as_one_cluster_and_leaves_out_what_is_not_kafkas(tmp_path: Path) -> None:
    for number, document in enumerate(
        (FOLDER / "strimzi-topics.yaml").read_text().split("\n---\n")
    ):
        (tmp_path / f"{number}.yaml").write_text(document)
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "values.yaml").write_text("replicaCount: {{ .Values.count }}\n")

    assert [c.topics for c in configs_of(read_deployment([tmp_path]))] == [
        ("clicks",),
        ("sessions",),
        (),
    ]


def test_of_three_brokers_files_that_agree_the_settings_are_those(tmp_path: Path) -> None:
    for broker in range(3):
        text = f"node.id={broker}\nprocess.roles=broker\nmin.insync.replicas=2\n"
        (tmp_path / f"broker-{broker}.properties").write_text(text)

    assert [c.yours.min_insync for c in configs_of(read_deployment([tmp_path]))] == [2]


def test_kubectl_prints_a_list_and_json_and_both_are_read(tmp_path: Path) -> None:
    import json  # noqa: PLC0415

    kafka = {
        "apiVersion": "kafka.strimzi.io/v1",
        "kind": "Kafka",
        "metadata": {"name": "one"},
        "spec": {"kafka": {"version": "4.10.1", "config": {"min.insync.replicas": 2}}},
    }
    path = tmp_path / "kafka.json"
    path.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [kafka]}))

    deployment = read_deployment([path])
    assert deployment.brokers["min.insync.replicas"].value == "2"
    assert deployment.brokers["kafka-version"].value == "4.10.1"


def test_anchors_and_merges_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "kafka.yaml"
    path.write_text(
        "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: one}\n"
        "x: &usual {min.insync.replicas: 2, default.replication.factor: 3}\n"
        "spec: {kafka: {version: 4.2.0, config: {<<: *usual, min.insync.replicas: 1}}}\n"
    )

    brokers = read_deployment([path]).brokers
    assert brokers["min.insync.replicas"].value == "1"
    assert brokers["default.replication.factor"].value == "3"


def test_what_was_saved_is_read_as_it_was() -> None:
    names = ("features.txt", "brokers.txt", "topics.txt")
    deployment = read_deployment([FOLDER / name for name in names])

    assert read_saved(Path("saved.json"), to_saved(deployment)) == deployment


@pytest.mark.parametrize(
    ("version", "least", "origin"),
    [
        ("4.1:elr", 1, "default of controller.properties"),
        ("4.1:kraft", 2, "broker.properties:2"),
        ("3.9:kraft", 2, "broker.properties:2"),
    ],
)
def test_with_elr_the_static_value_of_controllers_is_the_clusters(
    version: str, least: int, origin: str, tmp_path: Path
) -> None:
    broker = "process.roles=broker\nmin.insync.replicas=2\ndefault.replication.factor=3\n"
    (tmp_path / "broker.properties").write_text(broker)
    (tmp_path / "controller.properties").write_text("process.roles=controller\nnode.id=1\n")
    found = read_deployment([tmp_path])
    [config] = configs_of(found, kafka_version=version)
    setting = config.setting("min.insync.replicas")

    assert setting is not None
    assert (config.yours.min_insync, setting.origin) == (least, origin)
    assert read_saved(Path("saved.json"), to_saved(found)) == found


ELR_OUTPUT = """\
Topic: orders\tTopicId: x\tPartitionCount: 3\tReplicationFactor: 2\tConfigs: min.insync.replicas=2
\tTopic: orders\tPartition: 0\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: 2\tLastKnownElr:
\tTopic: orders\tPartition: 1\tLeader: 1\tReplicas: 1,2\tIsr: 1\tElr: 3\tLastKnownElr:
\tTopic: orders\tPartition: 2\tLeader: 1\tReplicas: 1,3\tIsr: 1\tElr: 3\tLastKnownElr: {}
"""


@pytest.mark.parametrize("adding", ["", "\tAdding Replicas: 3\tRemoving Replicas: "])
def test_kafka_topics_shows_which_broker_in_the_elr_may_be_empty(
    adding: str, tmp_path: Path
) -> None:
    path = tmp_path / "topics.txt"
    path.write_text(ELR_OUTPUT.format(adding))
    found = read_deployment([path])
    seen = [(*each, "being added" in text) for *each, text in elr_in_danger(found)]
    removed = ("orders-1", 3, Place(str(path), 3), False)
    added = ("orders-2", 3, Place(str(path), 4), True)

    assert seen == ([removed, added] if adding else [removed])
    assert read_saved(path, to_saved(found)) == found
