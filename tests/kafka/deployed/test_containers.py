"""Brokers as containers: env files, Docker Compose, Kubernetes, and Terraform of MSK."""

from __future__ import annotations

from pathlib import Path

import pytest

from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.matrix.properties import configs_of

COMPOSE = """x-broker: &broker
  KAFKA_PROCESS_ROLES: broker,controller
  KAFKA_DEFAULT_REPLICATION_FACTOR: "3"
  KAFKA_MIN_INSYNC_REPLICAS: "2"
services:
  k1:
    image: apache/kafka:4.1.0
    environment: {<<: *broker, KAFKA_NODE_ID: "1"}
  k2:
    image: apache/kafka:4.1.0
    environment: {<<: *broker, KAFKA_NODE_ID: "2"}
  ui:
    image: provectuslabs/kafka-ui:latest
    environment: {KAFKA_CLUSTERS_0_BOOTSTRAPSERVERS: "k1:9092", KAFKA_REPLICATION_FACTOR: "1"}
  setup:
    image: apache/kafka:4.1.0
    command: kafka-topics --create
"""
STATEFUL = """apiVersion: v1
kind: ConfigMap
metadata: {name: env}
data: {KAFKA_PROCESS_ROLES: broker, KAFKA_MIN_INSYNC_REPLICAS: "2"}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: kafka}
spec:
  replicas: 2
  template:
    spec:
      containers:
        - image: confluentinc/cp-kafka:7.7.1
          envFrom: [{configMapRef: {name: env}}]
        - image: danielqsj/kafka-exporter:v1.7.0
"""
MSK = """resource "aws_msk_configuration" "a" {
  kafka_versions = ["2.6.1", "2.8.1"]
  server_properties = <<-PROPS
    default.replication.factor=3
    unclean.leader.election.enable=false
  PROPS
}
resource "aws_msk_cluster" "b" {
  kafka_version = "3.9.x.kraft"
}
"""


def read(tmp_path: Path, text: str, name: str) -> Deployment:
    path = tmp_path / name
    path.write_text(text)
    return read_deployment([path])


def refused(tmp_path: Path, text: str, name: str) -> tuple[str, ...]:
    with pytest.raises(BadConfig) as problem:
        read(tmp_path, text, name)
    return problem.value.mistakes


def values(deployment: Deployment) -> dict[str, str]:
    return {key: setting.value for key, setting in deployment.brokers.items()}


def test_services_that_are_brokers_are_read_and_the_others_are_not(tmp_path: Path) -> None:
    found = read(tmp_path, COMPOSE, "compose.yml")

    assert values(found) == {
        "process.roles": "broker,controller",
        "default.replication.factor": "3",
        "min.insync.replicas": "2",
        "kafka-version": "4.1.0",
    }
    assert found.brokers["min.insync.replicas"].origin == "compose.yml:4"
    assert found.notes == ()


def test_a_service_that_leaves_a_default_disagrees(tmp_path: Path) -> None:
    text = COMPOSE.replace('{<<: *broker, KAFKA_NODE_ID: "2"}', '{KAFKA_NODE_ID: "2"}')
    lines = refused(tmp_path, text, "compose.yml")

    assert [line.partition(",")[0] for line in lines] == [
        "compose.yml:3: default.replication.factor is '3'",
        "compose.yml:4: min.insync.replicas is '2'",
    ]
    assert "not set by the service k2, which then has Kafka's default, 1" in lines[0]


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (('KAFKA_NODE_ID: "1"}', 'KAFKA_NODE_ID: "1"}\n    env_file: [a.env]'), "by env_file"),
        (('REPLICAS: "2"', 'REPLICAS: "${MIN:-2}"'), "'${MIN:-2}'; that is a placeholder"),
        (("MIN_INSYNC_REPLICAS", "MIN_ISR"), "min.isr is no key of Kafka's"),
        (("  ui:", "  k1: {}\n  ui:"), "k1 stands twice"),
    ],
)
def test_what_compose_takes_from_elsewhere_is_refused(
    change: tuple[str, str], says: str, tmp_path: Path
) -> None:
    assert says in " ".join(refused(tmp_path, COMPOSE.replace(*change), "compose.yml"))


def test_bitnamis_image_takes_its_own_prefix(tmp_path: Path) -> None:
    text = """services:
  k:
    image: docker.io/bitnami/kafka:3.5.1-debian-11-r12
    environment:
      - KAFKA_ZOOKEEPER_CONNECT=zk:2181
      - KAFKA_CFG_MIN_INSYNC_REPLICAS=2
      - KAFKA_MIN_INSYNC_REPLICAS=1
      - KAFKA_CFG_MIN_INSYNC_REPLICAS=3
"""
    found = read(tmp_path, text, "compose.yml")

    assert values(found)["min.insync.replicas"] == "3"
    assert "stands twice, 2 at compose.yml:6 and 3 at compose.yml:8" in found.notes[0]
    assert configs_of(found)[0].protocol.title == "Kafka 3.5.1, ZooKeeper"
    assert found.broker_count is None
    fewer = read(tmp_path, text.replace("CFG_MIN_INSYNC_REPLICAS=3", "CFG_NODE_ID=3"), "c.yml")
    assert fewer.broker_count is None
    one = read(tmp_path, text.replace("CFG_MIN_INSYNC_REPLICAS=", "CFG_NODE_ID="), "c.yml")
    assert one.broker_count is not None
    assert one.broker_count.value == "1"


def test_containers_of_kubernetes_are_read_with_their_config_map(tmp_path: Path) -> None:
    found = read(tmp_path, STATEFUL, "kafka.yaml")

    assert values(found) == {
        "process.roles": "broker",
        "min.insync.replicas": "2",
        "kafka-version": "3.7",
    }
    assert found.broker_count is not None
    assert found.broker_count.value == "2"
    alone = STATEFUL.partition("---\n")[2]
    assert "takes its environment from the ConfigMap env" in refused(tmp_path, alone, "k.yaml")[0]


def test_overrides_of_a_command_are_settings(tmp_path: Path) -> None:
    text = STATEFUL.partition("---\n")[2].replace(
        "envFrom: [{configMapRef: {name: env}}]",
        "command: [sh, -c, 'kafka-server-start.sh x --override min.insync.replicas=2']",
    )

    assert values(read(tmp_path, text, "k.yaml"))["min.insync.replicas"] == "2"


def test_a_value_that_kubernetes_takes_from_elsewhere_is_refused(tmp_path: Path) -> None:
    text = STATEFUL.partition("---\n")[2].replace(
        "envFrom: [{configMapRef: {name: env}}]",
        "env: [{name: KAFKA_MIN_INSYNC_REPLICAS, valueFrom: {secretKeyRef: {name: a, key: b}}}]",
    )

    assert "that is a placeholder" in refused(tmp_path, text, "k.yaml")[0]


def test_an_env_file_is_read_as_docker_does(tmp_path: Path) -> None:
    text = "# a\nexport KAFKA_PROCESS_ROLES='broker'\nKAFKA_MIN_INSYNC_REPLICAS=\"2\"\nOTHER=1\n"

    assert values(read(tmp_path, text, ".env")) == {
        "process.roles": "broker",
        "min.insync.replicas": "2",
    }


def test_terraform_of_msk_has_the_release_that_the_cluster_runs(tmp_path: Path) -> None:
    found = read(tmp_path, MSK, "main.tf")

    assert values(found) == {
        "default.replication.factor": "3",
        "unclean.leader.election.enable": "false",
        "kafka-version": "3.9.x",
        "process.roles": "broker,controller",
    }
    assert found.brokers["default.replication.factor"].origin == "main.tf:4"
    assert found.notes[0].startswith("main.tf does not set min.insync.replicas: Kafka's defaults")
    assert configs_of(found)[0].protocol.title == "Kafka 3.9, KRaft"


def test_terraform_without_the_text_is_refused(tmp_path: Path) -> None:
    text = MSK.replace("<<-PROPS", 'join("\\n", local.lines)')

    assert (
        "is Terraform; save the text of its server_properties"
        in refused(tmp_path, text, "main.tf")[0]
    )


def test_pools_and_topics_are_of_the_cluster_that_their_label_names(tmp_path: Path) -> None:
    head = "apiVersion: kafka.strimzi.io/v1\nkind: {kind}\nmetadata: {{name: {name}, labels: "
    head += "{{strimzi.io/cluster: {of}}}}}\nspec: {{replicas: {n}, roles: [broker]}}\n"
    (tmp_path / "kafka.yaml").write_text(
        "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: one}\n"
        "spec: {kafka: {version: 4.1.0, config: {default.replication.factor: 3}}}\n"
    )
    for kind, name, of, number in (
        ("KafkaNodePool", "a", "one", 2),
        ("KafkaNodePool", "b", "one", 2),
        ("KafkaNodePool", "c", "other", 9),
        ("KafkaTopic", "mine", "one", 3),
        ("KafkaTopic", "theirs", "other", 1),
    ):
        text = head.format(kind=kind, name=name, of=of, n=number)
        (tmp_path / f"{name}.yaml").write_text(text)
    found = read_deployment([tmp_path])
    named = read_deployment(sorted(tmp_path.iterdir(), reverse=True))

    assert found.broker_count is not None
    assert found.broker_count.value == "4"
    assert [topic.name for topic in found.topics] == ["mine"]
    assert found.notes == ("Left out, as of another cluster (other): 1 topic, theirs.",)
    assert named.broker_count is not None
    assert named.broker_count.value == "4"


def test_a_topic_that_two_dumps_describe_stands_twice(tmp_path: Path) -> None:
    line = "Topic: a\tPartitionCount: 1\tReplicationFactor: 2\tConfigs: \n"

    assert "topic a stands twice" in refused(tmp_path, line + line, "topics.txt")[0]


def test_an_application_with_variables_of_topics_is_no_broker(tmp_path: Path) -> None:
    app = (
        "  app:\n    image: example/app:1\n"
        "    environment: {KAFKA_NUM_PARTITIONS: 3, KAFKA_MIN_INSYNC_REPLICAS: 1}\n"
    )

    assert values(read(tmp_path, COMPOSE + app, "c.yml"))["min.insync.replicas"] == "2"


def test_a_topic_that_two_resources_are_for_stands_twice(tmp_path: Path) -> None:
    one = "apiVersion: kafka.strimzi.io/v1\nkind: KafkaTopic\nmetadata: {name: %s}\n"
    text = (one % "a") + "spec: {replicas: 3}\n---\n" + (one % "b") + "spec: {topicName: a}\n"

    assert (
        "KafkaTopic for the topic a stands twice (k.yaml:1 as well)"
        in refused(tmp_path, text, "k.yaml")[0]
    )
