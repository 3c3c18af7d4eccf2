"""Kinds of files: what each is recognised as, and that none is read as another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment
from waterline.checker.kafka.deployed.reading import KINDS, kind_of, read_deployment
from waterline.checker.kafka.deployed.text_file import read_text
from waterline.checker.kafka.matrix.properties import configs_of

DOCUMENT = (Path(__file__).parents[3] / "docs" / "operators.md").read_text(encoding="utf-8")
HEAD = "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: one}\n"
BROKER = "process.roles=broker,controller\nnode.id=1\nmin.insync.replicas=2\n"


def read(tmp_path: Path, text: str | bytes, name: str = "server.properties") -> Deployment:
    return read_deployment([written(tmp_path, text, name)])


def written(tmp_path: Path, text: str | bytes, name: str) -> Path:
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refused(tmp_path: Path, text: str | bytes, name: str = "server.properties") -> str:
    with pytest.raises(BadConfig) as problem:
        read(tmp_path, text, name)
    return problem.value.mistakes[0]


def values(deployment: Deployment) -> dict[str, str]:
    return {key: setting.value for key, setting in deployment.brokers.items()}


def test_the_document_has_the_row_of_every_kind_in_the_order_of_the_code() -> None:
    table = DOCUMENT.partition("<!-- kinds -->")[2].partition("\n\nA cluster with ZooKeeper")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if " | " in line][1:]

    assert [(row[0], row[1]) for row in rows] == [(kind.name, kind.by) for kind in KINDS]
    assert [row[2].startswith("refused") for row in rows] == [kind.read is None for kind in KINDS]


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        (
            "a.txt",
            'resource "aws_msk_configuration" "a" {\n  min.insync.replicas = 1\n}',
            "Terraform",
        ),
        ("prod.tfvars", "min_insync_replicas = 2\n", "Terraform"),
        ("a.toml", '[kafka]\n"min.insync.replicas" = 2\n', "TOML, INI or another file of sections"),
        ("a.xml", "<config>\nmin.insync.replicas=2\n</config>", "XML"),
        ("start.sh", "#!/bin/sh\nexport KAFKA_MIN_INSYNC_REPLICAS=2\n", "a script"),
        (
            "Dockerfile",
            "FROM apache/kafka:3.9.0\nENV KAFKA_MIN_INSYNC_REPLICAS=2\n",
            "a Dockerfile",
        ),
        ("a.txt", "[2026-01-02 10:00:00,123] INFO min.insync.replicas = 2\n", "a log of Kafka"),
        (
            "a.txt",
            "ClusterId: x\nLeaderId: 1\nLeaderEpoch: 3\n",
            "output of `kafka-metadata-quorum",
        ),
        ("s.yaml", "Resources:\n  A:\n    Type: AWS::MSK::Configuration\n", "CloudFormation"),
        ("s.json", '{"Arn": "a", "ServerProperties": "bWlu"}', "CloudFormation"),
        ("values.yaml", "kafka:\n  min.insync.replicas: 2\n", "other YAML or JSON"),
        ("vars.txt", "kafka_broker:\n  min.insync.replicas: 2\n", "other YAML or JSON"),
        ("a.json", '{"min.insync.replicas": 2}', "other YAML or JSON"),
        ("worker.properties", "bootstrap.servers=a:1\nkey.converter=x\n", "Kafka Connect"),
        ("mm.properties", "clusters = a, b\nreplication.factor=1\n", "MirrorMaker"),
        ("zoo.properties", "dataDir=/tmp\nclientPort=2181\n", "ZooKeeper"),
        ("log.properties", "log4j.rootLogger=INFO, stdout\n", "log4j"),
        ("app.properties", "spring.kafka.producer.acks=1\nacks=1\n", "an application"),
        ("consumer.properties", "zookeeper.connect=a:1\ngroup.id=g\n", "`.properties` of a client"),
        ("server.txt", BROKER, "`.properties` of a broker"),
        ("k.env", "# x\nKAFKA_CFG_NODE_ID=1\nOTHER=2\n", "an env file of a broker"),
        ("app.env", "KAFKA_BROKERS=a:9092\nKAFKA_ACKS=1\n", "not recognised"),
        ("notes.txt", "The value of min insync replicas is 2.\n", "not recognised"),
        ("orders.properties", "replication.factor=3\n", "`.properties` of a topic"),
    ],
)
def test_a_file_is_what_it_is(name: str, text: str, kind: str, tmp_path: Path) -> None:
    found, what = kind_of(read_text(written(tmp_path, text, name)))

    assert what.startswith(kind)
    if found is None or found.read is None:
        assert re.search("no file about brokers|is .*; [a-z]", refused(tmp_path, text, name))


def test_a_text_around_settings_is_refused_at_its_line(tmp_path: Path) -> None:
    line = refused(tmp_path, f"{BROKER}The rest is in the wiki\n")

    assert line.startswith("server.properties:4: a line 'The rest is in the wiki' is none of")


def test_a_template_of_properties_is_refused(tmp_path: Path) -> None:
    assert "a template's" in refused(tmp_path, f"{BROKER}{{% if zk %}}\nzookeeper.connect=a\n")
    for value in ("{{ isr }}", "${MIN_ISR}", "$MIN_ISR", "@isr@"):
        text = BROKER.replace("replicas=2", f"replicas={value}")
        assert f"is {value!r}; that is a placeholder" in refused(tmp_path, text)


def test_of_a_key_that_stands_twice_in_properties_the_last_counts_and_that_is_said(
    tmp_path: Path,
) -> None:
    found = read(tmp_path, f"{BROKER}min.insync.replicas=1\n")

    assert values(found)["min.insync.replicas"] == "1"
    assert found.notes == (
        "min.insync.replicas stands twice, 2 at server.properties:3 and 1 at server.properties:4: "
        "the last counts, as in Kafka.",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("spec: {kafka: {config: {acks: 1, acks: all}}}", "acks stands twice (on this line)"),
        ("spec:\n  kafka: {}\nspec:\n  kafka: {}\n", "spec stands twice (lines 4 and 6)"),
        ("x: &a {b: 1}\nspec:\n  <<: *a\n  <<: *a\n", "<< stands twice (lines 6 and 7)"),
        (f"spec: {{kafka: {{}}}}\n---\n{HEAD}a: {{b: [{{c: 1, 'c': 2}}]}}", "c stands twice"),
    ],
)
def test_a_key_that_stands_twice_in_yaml_is_refused(text: str, says: str, tmp_path: Path) -> None:
    assert says in refused(tmp_path, HEAD + text, "kafka.yaml")


def test_a_key_beside_a_merged_one_stands_once(tmp_path: Path) -> None:
    text = (
        f"{HEAD}x: &a {{min.insync.replicas: 1}}\n"
        "spec: {kafka: {config: {<<: *a, min.insync.replicas: 2}}}\n"
    )

    assert values(read(tmp_path, text, "k.yaml"))["min.insync.replicas"] == "2"


def test_a_topics_key_in_a_brokers_file_is_a_mistake(tmp_path: Path) -> None:
    line = refused(tmp_path, f"{BROKER}replication.factor=3\n")

    assert "did you mean default.replication.factor?" in line


def test_brokers_that_leave_zookeeper_are_named(tmp_path: Path) -> None:
    text = f"{BROKER}zookeeper.connect=a:1\nzookeeper.metadata.migration.enable=true\n"

    assert "brokers leave ZooKeeper for KRaft" in read(tmp_path, text).notes[0]


def test_encodings_and_ends_of_lines_of_windows_are_read(tmp_path: Path) -> None:
    topics = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: \r\n"
    by_powershell = read(tmp_path, topics.encode("utf-16"), "topics.txt")

    assert [topic.name for topic in by_powershell.topics] == ["a"]
    assert values(read(tmp_path, BROKER.replace("\n", "\r\n")))["min.insync.replicas"] == "2"
    marked = b"\xef\xbb\xbf" + f"{HEAD}spec: {{kafka: {{version: 4.1.0}}}}\r\n".encode()
    assert values(read(tmp_path, marked, "k.yaml"))["kafka-version"] == "4.1.0"
    assert "byte order mark" in refused(tmp_path, b"\xef\xbb\xbf" + BROKER.encode())
    assert read(tmp_path, b"\xef\xbb\xbf# first\n" + BROKER.encode()).brokers


def test_a_folder_of_kafkas_own_files_is_read_for_the_broker(tmp_path: Path) -> None:
    for name, text in {
        "server.properties": BROKER,
        "consumer.properties": "bootstrap.servers=a:1\ngroup.id=g\n",
        "producer.properties": "bootstrap.servers=a:1\nacks=1\n",
        "connect-mirror-maker.properties": "clusters = A, B\nreplication.factor=1\n",
        "connect-log4j.properties": "log4j.rootLogger=INFO\n",
        "trogdor.conf": '{"_comment": ["x"]}',
    }.items():
        written(tmp_path, text, f"config/{name}")
    found = read_deployment([tmp_path / "config"])

    assert values(found).keys() == {"process.roles", "min.insync.replicas"}
    assert found.notes == (
        "producer.properties:2 has acks=1, and was not used: --acks asks.",
        "Left out of config: connect-log4j.properties (log4j), connect-mirror-maker.properties "
        "(MirrorMaker), consumer.properties (.properties of a client) and 2 more.",
    )


def test_acks_of_a_producer_count_where_its_file_is_named(tmp_path: Path) -> None:
    producer = written(tmp_path, "bootstrap.servers=a:1\nacks=1\n", "producer.properties")
    server = written(tmp_path, BROKER, "server.properties")

    assert values(read_deployment([server, producer]))["acks"] == "1"
    with pytest.raises(BadConfig, match="names nothing that matters"):
        read_deployment([producer])


def test_large_files_that_are_not_about_kafka_are_left_out(tmp_path: Path) -> None:
    large = "apiVersion: v1\nkind: Secret\n" + "# a line of a definition\n" * 50_000
    written(tmp_path, large, "crds.yaml")
    written(tmp_path, f"{large}---\n{HEAD}spec: {{kafka: {{version: 4.1.0}}}}\n", "kafka.yaml")
    written(tmp_path, b"\x00\x01", "key.txt")
    found = read_deployment([tmp_path])

    assert values(found)["kafka-version"] == "4.1.0"
    assert found.brokers["kafka-version"].place is not None
    assert found.brokers["kafka-version"].place.line == 50_007
    assert "crds.yaml (resources of Kubernetes)" in found.notes[-1]
    assert "key.txt (not text)" in found.notes[-1]


def test_a_folder_without_brokers_is_named_with_what_it_has(tmp_path: Path) -> None:
    written(tmp_path, "terraform {\n}\n", "main.tf")

    with pytest.raises(
        BadConfig, match=r"has no file about brokers of Kafka, but main.tf \(Terraf"
    ):
        read_deployment([tmp_path])


@pytest.mark.parametrize(
    ("written_as", "release"),
    [
        ("2.13-3.9.0", (3, 9, 0)),
        ("kafka_2.13-3.9.1", (3, 9, 1)),
        ("v3.9", (3, 9)),
        ("3.9.x", (3, 9)),
        ("3.9.0-IV0", (3, 9, 0)),
        ("7.6.1-ccs", (3, 6)),
        ("7.9.1-ce", (3, 9)),
        ("6.2.0-ccs", (2, 8)),
        ("CP-8.1-IV1A", (4, 1)),
    ],
)
def test_releases_are_read_as_people_write_them(
    written_as: str, release: tuple[int, ...], tmp_path: Path
) -> None:
    [config] = configs_of(read(tmp_path, "min.insync.replicas=1\n"), kafka_version=written_as)

    assert config.number == release


def test_a_release_of_confluents_without_its_suffix_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"Confluent Platform 7\.6\.1 has Kafka 3\.6"):
        configs_of(read(tmp_path, BROKER), kafka_version="7.6.1")


def test_features_of_confluents_tool_are_read(tmp_path: Path) -> None:
    text = (
        "Feature: confluent.metadata.version\tSupportedMinVersion: CP-7.3-IV3\t"
        "SupportedMaxVersion: CP-8.1-IV1A\tFinalizedVersionLevel: CP-8.0-IV2A\tEpoch: 9\n"
        "Feature: eligible.leader.replicas.version\tSupportedMinVersion: 0\t"
        "SupportedMaxVersion: 1\tFinalizedVersionLevel: 1\tEpoch: 9\n"
        "Feature: metadata.version\tSupportedMinVersion: 3.0-IV1\tSupportedMaxVersion: 4.0-IV3\t"
        "FinalizedVersionLevel: 0\tEpoch: 9\n"
    )
    [config] = configs_of(read(tmp_path, text, "features.txt"))

    assert config.protocol.title == "Kafka 4.0, KRaft, ELR"


def test_numbers_of_five_thousand_digits_are_mistakes(tmp_path: Path) -> None:
    digits = "9" * 5_000
    pool = (
        f"---\napiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\nspec: {{replicas: {digits}}}\n"
    )
    config = f"spec: {{kafka: {{config: {{default.replication.factor: {digits}}}}}}}\n"
    found = read(tmp_path, HEAD + config + pool, "kafka.yaml")

    with pytest.raises(BadConfig, match="it must be a number, 1 or more"):
        configs_of(found)
    zeros = read(tmp_path, f"{BROKER}default.replication.factor={'0' * 5_000}3\n")
    assert [config.yours.replicas for config in configs_of(zeros)] == [3]
    assert "without a unit" in refused(tmp_path, f"{BROKER}default.replication.factor=3x\n")
    read(tmp_path, f"{BROKER}replica.lag.time.max.ms={digits}ms\n")
