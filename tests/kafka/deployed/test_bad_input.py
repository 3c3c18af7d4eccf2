"""Files that cannot be used: each mistake a line with place, value and remedy, all at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import Commands
from waterline.checker.kafka.deployed.client_properties import client_arguments
from waterline.checker.kafka.deployed.deployment import BadConfig, Mistakes
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.matrix.properties import configs_of

HEAD = "apiVersion: kafka.strimzi.io/v1\nkind: Kafka\nmetadata: {name: one}\n"


def written(tmp_path: Path, text: str, name: str = "kafka.yaml") -> Path:
    path = tmp_path / name
    path.write_text(text)
    return path


def mistakes(*paths: Path, version: str | None = None) -> tuple[str, ...]:
    with pytest.raises(BadConfig) as refused:
        configs_of(read_deployment(paths), kafka_version=version)
    return refused.value.mistakes


FOUR = f"""{HEAD}spec:
  kafka:
    version: 4.2.0
    config:
      min.isr: 2
      replica.lag.time.max.ms: 30s
      default.replication.factor: 3 copies
      unclean.leader.election.enabled: true
"""


def test_four_mistakes_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    assert mistakes(written(tmp_path, FOUR)) == (
        "kafka.yaml:8: min.isr is no key of Kafka's, which ignores it; "
        "did you mean min.insync.replicas?",
        "kafka.yaml:9: replica.lag.time.max.ms is '30s'; "
        "Kafka takes a plain number of milliseconds, without a unit: 30000",
        "kafka.yaml:10: default.replication.factor is '3 copies'; "
        "Kafka takes a plain number, without a unit: 3",
        "kafka.yaml:11: unclean.leader.election.enabled is no key of Kafka's, which ignores it; "
        "did you mean unclean.leader.election.enable?",
    )


def test_keys_and_values_are_judged_together(tmp_path: Path) -> None:
    """What is wrong with a key does not hide what is wrong with its value, or with other lines."""
    text = FOUR.replace("min.isr: 2", "min.isr: two").replace("enabled: true", "enable: yes")
    found = Mistakes()
    deployment = read_deployment([written(tmp_path, text)], found)

    with pytest.raises(BadConfig) as refused:
        configs_of(deployment, found)

    assert [line.split(" is ")[0] for line in refused.value.mistakes] == [
        "kafka.yaml:8: min.isr",
        "kafka.yaml:9: replica.lag.time.max.ms",
        "kafka.yaml:10: default.replication.factor",
        "kafka.yaml:8: min.insync.replicas",
        "kafka.yaml:11: unclean.leader.election.enable",
    ]


def test_the_command_prints_a_line_for_each_and_exits_2(cli: Commands, tmp_path: Path) -> None:
    text = f"{FOUR}      acks: some\n"
    code, out, err = cli("matrix", "--config", written(tmp_path, text), name="waterline")

    assert (code, out) == (2, "")
    assert [line[:7] for line in err.splitlines()] == ["error: "] * 5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (f"{HEAD}a: &a [x]\n" + "b: [" + "*a, " * 300 + "]", "has more than 200 aliases"),
        (f"{HEAD}a: " + "[" * 60 + "]" * 60, "has more than 50 levels of nesting"),
        ("apiVersion: v1\nkind: Service\n", "has no Kafka, KafkaNodePool or KafkaTopic"),
        ("kind: Kafka\n", "is other YAML or JSON; of a chart's values give what"),
        (f"{HEAD}spec: {{kafka: {{version: [4}}}}", "it is no YAML"),
        (f"{HEAD}spec:\n  {{{{ .Values.kafka }}}}: 1", "it is a template"),
        (f"{HEAD}spec: {{zookeeper: {{}}}}", "kind Kafka without spec.kafka"),
        (f"{HEAD}spec: {{kafka: {{config: 'min.insync.replicas=2'}}}}", "write it as a mapping"),
        (f"{HEAD}spec: {{kafka: {{config: {{acks: [all]}}}}}}", "is no single value"),
        (f"{HEAD}spec: {{kafka: {{version: four}}}}", "is 'four'; write it as 2.8"),
        (f"{HEAD}spec: {{kafka: {{version: 5.0.0}}}}", "Kafka 5.0.0 is not modelled"),
        ("apiVersion: KAFKA_\nb: !!python/object/apply:os.system [ls]\nkind: x", "found: x"),
        (HEAD + "#" * ((1 << 20) + 1), "is larger than 1,048,576 bytes"),
    ],
)
def test_yaml_that_is_no_cluster_is_refused(text: str, says: str, tmp_path: Path) -> None:
    [line, *_] = mistakes(written(tmp_path, text))

    assert says in line
    assert "kafka.yaml" in line
    assert "\n" not in line


def test_an_alias_bomb_is_refused_before_it_grows(tmp_path: Path) -> None:
    lines = [HEAD, "a0: &a0 [x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30)]

    assert "aliases" in mistakes(written(tmp_path, "\n".join(lines)))[0]


def test_a_mapping_that_merges_itself_ends(tmp_path: Path) -> None:
    text = f"{HEAD}spec: &me\n  <<: *me\n  kafka: {{version: 4.2.0}}\n"

    assert read_deployment([written(tmp_path, text)]).brokers["kafka-version"].value == "4.2.0"


def test_more_replicas_than_brokers_are_a_mistake(tmp_path: Path) -> None:
    pool = "---\napiVersion: kafka.strimzi.io/v1\nkind: KafkaNodePool\n"
    pool += "spec: {replicas: 2, roles: [broker]}\n"
    config = "spec: {kafka: {version: 4.2.0, config: {default.replication.factor: 3}}}\n"

    [line] = mistakes(written(tmp_path, HEAD + config + pool))
    assert "default.replication.factor is '3'; there are 2 brokers (kafka.yaml:8)" in line


def test_two_clusters_are_not_read_as_one(tmp_path: Path) -> None:
    text = f"{HEAD}spec: {{kafka: {{version: 4.2.0}}}}\n"
    written(tmp_path, text, "a.yaml")
    written(tmp_path, text.replace("one", "two"), "b.yaml")

    assert mistakes(tmp_path) == ("2 clusters are described (one, two); give the files of one",)


def test_brokers_that_disagree_are_a_mistake_in_a_folder(tmp_path: Path) -> None:
    written(tmp_path, "min.insync.replicas=1\n", "a.properties")
    written(tmp_path, "min.insync.replicas=2\n", "b.properties")

    [line] = mistakes(tmp_path)
    assert line.startswith("b.properties:1: min.insync.replicas is '2', and '1' at a.properties:1")


def test_binary_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "00000000000000000000.log"
    path.write_bytes(b"\x00\x00\x00\x3d\x00")

    assert "is not text" in mistakes(path)[0]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"format": "waterline-deployment/9"}', "this reads waterline-deployment/2"),
        ('{"format": "waterline-deployment/2", "topics": [{"name": "t", "a": 1}]}', "field a;"),
        ('{"format": "waterline-deployment/2", "topics": [{}]}', "is no saved deployment"),
        ('{"format": "waterline-deployment/2", "brokers": 3, "topics": []}', "is no saved"),
    ],
)
def test_a_saved_file_that_was_changed_is_refused(text: str, says: str, tmp_path: Path) -> None:
    assert says in mistakes(written(tmp_path, text, "saved.json"))[0]


def test_topics_alone_that_refuse_every_write_have_no_answer(tmp_path: Path) -> None:
    text = "Topic: a\tPartitionCount: 1\tReplicationFactor: 1\tConfigs: min.insync.replicas=2\n"

    [line] = mistakes(written(tmp_path, text, "topics.txt"), version="3.6")
    assert line.startswith("no topic can be written with acks=all")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("security.protocol=TLS", "security.protocol must be one of"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=GSSAPI", "GSSAPI is not supported here"),
        ("security.protocol=SASL_SSL\nsasl.mechanism=PLAIN", "sasl.jaas.config needs username"),
        ("security.protocol=SSL\nssl.truststore.location=x.jks", "must be PEM here"),
    ],
)
def test_client_properties_that_cannot_be_used_are_refused(
    text: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(BadConfig, match=says):
        client_arguments(written(tmp_path, text, "client.properties"))


def test_client_properties_are_those_of_kafkas_tools(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "security.protocol=SASL_SSL\nsasl.mechanism=SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required "
        'username="reader" password="secret";\n'
        "ssl.truststore.type=PEM\nssl.truststore.location=/etc/ca.pem\n"
        "ssl.endpoint.identification.algorithm=\n",
        "client.properties",
    )

    assert client_arguments(path) == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "reader",
        "sasl_plain_password": "secret",
        "ssl_cafile": "/etc/ca.pem",
        "ssl_check_hostname": False,
    }
    assert client_arguments(None) == {}
