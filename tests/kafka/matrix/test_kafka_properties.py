"""A server.properties: what is read of it, what is refused, and what is answered about it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.commands import Commands
from tests.support.deployment_answers import FOLDER
from waterline.checker.kafka.deployed.deployment import BadConfig, Setting
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.matrix.properties import Config, configs_of, read_config

SERVER = "min.insync.replicas=1\n"
ZOOKEEPER_2_6 = (
    "kip320-code-with-truncation-lowers-hw-with-refusal-tells-nothing-with-moved-fetch-tries-hw"
    "-with-changeable-reassignment-with-session-fencing"
)
ZOOKEEPER_2_7 = "kip320-with-alter-partition-with-maximal-isr"
ZOOKEEPER_2_8 = "truncate-on-fetch-without-diverging-guard-with-alter-partition-with-maximal-isr"
ZOOKEEPER_2_8_1 = "truncate-on-fetch-with-alter-partition-with-maximal-isr"
ZOOKEEPER_3_4 = "truncate-on-fetch-with-alter-partition-with-maximal-isr-with-fenced-check"
KRAFT_3_7 = "kip903-without-shrink-raises-epoch-with-hw-needs-min-isr"
RECOVERS = "with-recovers-future-log"
KRAFT_3_8 = (
    "kip903-without-shrink-raises-epoch-without-completes-when-added-with-hw-needs-min-isr"
    f"-{RECOVERS}"
)
KRAFT_4_0 = f"{KRAFT_3_8}-with-registration-removes"
ELR_4_1 = "elr-with-last-known-leader"
SHRINK_WAITS = "with-shrink-waits-for-targets"
KRAFT_4_3 = (
    f"{KRAFT_3_7}-{RECOVERS}-with-registration-removes-with-append-checks-epoch-{SHRINK_WAITS}"
)
ELR_4_3 = (
    "elr-without-new-directory-empties-elr-with-last-known-leader-with-completes-when-added-"
    f"{SHRINK_WAITS}"
)


def written(tmp_path: Path, text: str | bytes, name: str = "server.properties") -> Path:
    path = tmp_path / name
    path.write_bytes(text.encode("iso-8859-1") if isinstance(text, str) else text)
    return path


def read_settings(path: Path) -> dict[str, Setting]:
    """The settings of one file, those of its only topic before those of brokers."""
    found = read_deployment([path])
    return {**found.brokers, **(found.topics[0].settings if found.topics else {})}


def config_of(tmp_path: Path, text: str, **options: str | int | None) -> Config:
    return read_config(written(tmp_path, text), **options)  # type: ignore[arg-type]


def source_of(config: Config, key: str) -> tuple[str, str]:
    [setting] = [setting for setting in config.settings if setting.key == key]
    return setting.value, setting.source


@pytest.mark.parametrize(
    "text",
    [
        "min.insync.replicas=2",
        "min.insync.replicas = 2  ",
        "min.insync.replicas: 2",
        "min.insync.replicas 2",
        "min.insync.replicas\\\n   =\\\n  2",
        "min.insync.replicas=1\nmin.insync.replicas=2",
        "# min.insync.replicas=3\n! and so on\n\nmin.insync.replicas=2\n#",
        "min.insync.replicas=\\u0032",
        "broker.id=1\r\nmin.insync.replicas=2\r\n",
        "name=Zoë\nmin.insync.replicas=2",
    ],
)
def test_a_value_is_read_as_java_reads_it(text: str, tmp_path: Path) -> None:
    found = read_settings(written(tmp_path, text))

    assert [(s.key, s.value, s.source) for s in found.values()] == [
        ("min.insync.replicas", "2", "server.properties")
    ]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"min.insync.replicas=1\x00", "is not text"),
        ("min.insync.replicas=1".encode("utf-16"), "UTF-16, which Kafka does not read"),
        (b"a" * ((1 << 20) + 1), "is larger than 1,048,576 bytes"),
        (b"", "is no file about brokers of Kafka: it is empty"),
        (b"broker.id=1\n", "names nothing that matters here"),
        (b"acks=\\u12", "is no .properties file"),
        (b"min.insync.replicas=abc", "min.insync.replicas is 'abc'; it must be a number"),
        (b"min.insync.replicas=0", "min.insync.replicas is '0'; it must be a number, 1 or more"),
        (b"min.insync.replicas=", "min.insync.replicas is ''; it must be a number"),
        (b"min.insync.replicas=99999999999", "it must be a number"),
        (
            b"min.insync.replicas=3\ndefault.replication.factor=2\nmetadata.version=3.6",
            "is '3'; that is more than default.replication.factor, which is 2",
        ),
        (b"default.replication.factor=-1", "default.replication.factor is '-1'"),
        (b"unclean.leader.election.enable=maybe", "is 'maybe'; it must be one of true, false"),
        (b"acks=2", "acks is '2'; it must be one of all, -1, 1, 0"),
        (b"inter.broker.protocol.version=new", "is 'new'; write it as 2.8 or 3.7-IV4"),
        (
            b"process.roles=broker\nmetadata.version=2.4",
            "with process.roles set, KRaft, it must be 2.8 or later",
        ),
    ],
)
def test_what_means_nothing_is_refused_by_name_and_value(
    text: bytes, says: str, tmp_path: Path
) -> None:
    with pytest.raises(BadConfig) as refused:
        read_config(written(tmp_path, text))

    assert says in str(refused.value)


@pytest.mark.parametrize(
    ("name", "says"), [("missing.properties", "cannot be read"), (".", "has no file that ends in")]
)
def test_what_cannot_be_read_is_refused(name: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=says):
        read_settings(tmp_path / name)


def test_acks_of_one_topic_are_those_of_its_producers(tmp_path: Path) -> None:
    deployment = read_deployment([FOLDER / "strimzi-topics.yaml"])
    acks_of = {"clicks": "1", "audit": "0"}

    found = configs_of(deployment, acks="all", acks_of=acks_of)
    assert {topic: each.acks for each in found for topic in each.topics or ("others",)} == {
        "others": "all",
        "sessions": "all",
        "clicks": "1",
        "audit": "0",
    }
    whole = replace(deployment, has_all_topics=True)
    with pytest.raises(BadConfig, match="--acks audit=0: the cluster has no topic audit; "):
        configs_of(whole, acks_of=acks_of)


def test_a_topic_wins_over_the_server_and_an_option_over_both(tmp_path: Path) -> None:
    server = written(tmp_path, "min.insync.replicas=1\nacks=0\ndefault.replication.factor=2")
    topic = written(tmp_path, "min.insync.replicas=2\nreplication.factor=3", "topic.properties")

    config = read_config(server, [topic], acks="1")

    assert source_of(config, "min.insync.replicas") == ("2", "topic.properties")
    assert source_of(config, "acks") == ("1", "--acks")
    assert source_of(config, "replication.factor") == ("3", "topic.properties")
    assert (config.yours.min_insync, config.acks, config.yours.replicas) == (2, "1", 3)


def test_what_nobody_says_is_told_as_a_default(tmp_path: Path) -> None:
    config = config_of(tmp_path, SERVER)

    assert source_of(config, "acks") == ("all", "default")
    assert source_of(config, "unclean.leader.election.enable") == ("false", "default")
    assert config.unclean == "false"
    assert config.explored.replicas == 3


def test_unclean_elections_were_kafkas_default_before_0_11(tmp_path: Path) -> None:
    old = config_of(tmp_path, SERVER, kafka_version="0.10.2")

    assert old.version == "hw"
    assert source_of(old, "unclean.leader.election.enable") == ("true", "default")


def test_replicas_that_no_file_says_are_those_that_are_asked_for(tmp_path: Path) -> None:
    said = {each.key: each for each in config_of(tmp_path, "acks=all", replicas=2).settings}

    factor = said["default.replication.factor"]
    assert (factor.value, factor.source) == ("2", "--replicas")


def test_no_more_replicas_are_explored_than_three_unless_asked_for(tmp_path: Path) -> None:
    text = "default.replication.factor=5\n"

    assert config_of(tmp_path, text).explored.replicas == 3
    assert config_of(tmp_path, text, replicas=2).explored.replicas == 2


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("inter.broker.protocol.version=0.9.0", "hw-with-keeps-waiting-producers"),
        ("inter.broker.protocol.version=0.10.2-IV0", "hw"),
        ("inter.broker.protocol.version=0.11.0", "epoch"),
        ("inter.broker.protocol.version=1.1", "epoch"),
        ("inter.broker.protocol.version=2.0-IV1", "kip279-code"),
        ("inter.broker.protocol.version=2.1", "kip320-code"),
        (
            "inter.broker.protocol.version=2.6",
            ZOOKEEPER_2_6,
        ),
        (
            "inter.broker.protocol.version=2.7",
            ZOOKEEPER_2_7,
        ),
        (
            "inter.broker.protocol.version=3.4",
            ZOOKEEPER_3_4,
        ),
        ("process.roles=broker\nmetadata.version=3.3-IV3", "kraft"),
        ("process.roles=broker\nmetadata.version=3.5", "kip903-without-stale-fetch-check"),
        ("metadata.version=4.0-IV3", KRAFT_4_0),
        ("metadata.version=4.1\neligible.leader.replicas.version=1", ELR_4_1),
        ("metadata.version=4.1", ELR_4_1),
        ("process.roles=broker\ninter.broker.protocol.version=3.4", "kraft"),
        (
            "process.roles=broker,controller",
            ELR_4_3,
        ),
        ("acks=all", ELR_4_3),
        (
            "process.roles=broker\neligible.leader.replicas.version=0",
            KRAFT_4_3,
        ),
        ("zookeeper.connect=zk:2181", f"{ZOOKEEPER_3_4}-with-hw-needs-min-isr"),
        ("zookeeper.connect=zk:2181\nprocess.roles=broker", ELR_4_3),
        ("inter.broker.protocol.version=2.8.1", ZOOKEEPER_2_8_1),
        ("inter.broker.protocol.version=2.8", ZOOKEEPER_2_8),
    ],
)
def test_a_release_follows_its_version_of_the_protocol(
    text: str, version: str, tmp_path: Path
) -> None:
    assert config_of(tmp_path, text).version == version


def test_a_release_given_as_an_option_wins(tmp_path: Path) -> None:
    config = config_of(tmp_path, "inter.broker.protocol.version=2.1", kafka_version="1.0")

    assert config.version == "epoch"
    assert source_of(config, "kafka-version") == ("1.0", "--kafka-version")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("process.roles=broker\nmetadata.version=5.0", "Kafka 5.0 is not modelled"),
        ("inter.broker.protocol.version=0.7", "Kafka 0.7 with ZooKeeper is not modelled"),
        (
            "process.roles=broker\nmetadata.version=3.9\neligible.leader.replicas.version=1",
            "Kafka 3.9 has no eligible leader replicas",
        ),
    ],
)
def test_a_release_that_is_not_modelled_is_not_taken_for_another(
    text: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(BadConfig, match=says):
        config_of(tmp_path, text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("min.insync.replica=2", "min.insync.replica is no key of Kafka's"),
        ("Min.Insync.Replicas=2", "did you mean min.insync.replicas?"),
        ("ack=all", "did you mean acks?"),
        ("default.replicaton.factor=3", "did you mean default.replication.factor?"),
        ("unclean.leader.election.enabled=true", "did you mean unclean.leader.election.enable?"),
    ],
)
def test_a_misspelt_key_beside_valid_ones_is_refused(text: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=re.escape(says)):
        read_settings(written(tmp_path, f"process.roles=broker\n{text}\n"))


def test_other_keys_of_kafka_are_no_misspelling(tmp_path: Path) -> None:
    others = (
        "unclean.leader.election.interval.ms",
        "offsets.topic.replication.factor",
        "transaction.state.log.min.isr",
        "inter.broker.listener.name",
        "log.message.format.version",
        "zookeeper.connection.timeout.ms",
        "security.inter.broker.protocol",
        "replica.lag.time.max.ms",
    )
    text = "acks=all\n" + "".join(f"{key}=1\n" for key in others)

    assert list(read_settings(written(tmp_path, text))) == ["acks"]


@pytest.mark.parametrize("text", ["03", "+3", "3"])
def test_a_number_is_read_as_java_reads_it(text: str, tmp_path: Path) -> None:
    assert config_of(tmp_path, f"default.replication.factor={text}").yours.replicas == 3


DESCRIBED = """\
Dynamic configs for topic orders are:
  cleanup.policy=delete sensitive=false synonyms={DEFAULT_CONFIG:log.cleanup.policy=delete}
  min.insync.replicas=2 sensitive=false synonyms={DYNAMIC_TOPIC_CONFIG:min.insync.replicas=2, \
STATIC_BROKER_CONFIG:min.insync.replicas=1, DEFAULT_CONFIG:min.insync.replicas=1}
"""


@pytest.mark.parametrize(
    "text",
    [
        DESCRIBED,
        DESCRIBED.replace("Dynamic", "All"),
        "Configs for topic 'orders' are cleanup.policy=compact,min.insync.replicas=2\n",
    ],
)
def test_what_kafka_configs_describes_is_read_by_the_value_in_effect(
    text: str, tmp_path: Path
) -> None:
    found = read_settings(written(tmp_path, text, "orders.txt"))

    assert [(s.key, s.value) for s in found.values()] == [("min.insync.replicas", "2")]
    assert found["min.insync.replicas"].source.endswith("orders.txt")


def test_topics_of_two_kinds_are_no_single_configuration(tmp_path: Path) -> None:
    text = DESCRIBED + DESCRIBED.replace("orders", "bills").replace("replicas=2 ", "replicas=1 ")

    with pytest.raises(BadConfig, match=r"has topics of 2 kinds .*orders; bills.*; keep one"):
        read_config(written(tmp_path, text))


def test_a_release_that_nobody_names_is_said_loudly(cli: Commands, tmp_path: Path) -> None:
    none = ("--only", "faults=none", "--details")
    _, quiet, _ = answered(cli, tmp_path, "metadata.version=4.0", *none)
    _, loud, _ = answered(cli, tmp_path, "min.insync.replicas=1", *none)

    assert "This is Kafka 4.0 with KRaft, without eligible leader replicas" in plain(quiet)
    assert "No file says so" not in plain(quiet)
    assert "This is Kafka 4.4 with KRaft" in plain(loud)
    assert "No file says so: it is the newest that is modelled." in plain(loud)
    assert plain(loud).startswith("Kafka 4.4, KRaft, ELR: none can lose an acknowledged record wh")


def test_a_setting_that_a_release_does_not_heed_is_told(tmp_path: Path) -> None:
    """KRaft's controller took unclean.leader.election.enable for false until 3.9 (KAFKA-12670)."""
    text = "process.roles=broker\nunclean.leader.election.enable=true\n"
    old = config_of(tmp_path, text, kafka_version="3.5")
    new = config_of(tmp_path, text, kafka_version="3.9")

    assert (old.unclean, new.unclean) == ("false", "true")
    assert any("does nothing in this release" in note for note in old.notes)
    assert not any("does nothing" in note for note in new.notes)


def test_a_release_without_its_patch_is_told_where_one_changed_the_rules(
    tmp_path: Path,
) -> None:
    first = config_of(tmp_path, "inter.broker.protocol.version=2.8\nzookeeper.connect=zk:2181")
    patched = config_of(tmp_path, "inter.broker.protocol.version=2.8", kafka_version="2.8.1")

    assert "Taken for 2.8.0; from 2.8.1 on the rules are others" in " ".join(first.notes)
    assert not any("Taken for" in note for note in patched.notes)


def plain(out: str) -> str:
    return " ".join(out.split())


@pytest.mark.parametrize(
    ("release", "source"), [("2.8", "not said; 1 in producers before 3.0"), ("3.0", "default")]
)
def test_acks_that_nobody_says_are_not_a_default_of_producers_before_3_0(
    release: str, source: str, tmp_path: Path
) -> None:
    text = f"inter.broker.protocol.version={release}\nzookeeper.connect=z:2181"

    assert source_of(config_of(tmp_path, text), "acks") == ("all", source)


def answered(cli: Commands, tmp_path: Path, text: str, *options: object) -> tuple[int, str, str]:
    path = written(tmp_path, text)
    return cli("matrix", "--config", path, "--replicas", "2", *options, name="waterline")


def test_what_could_not_be_explored_closes_nothing(cli: Commands, tmp_path: Path) -> None:
    code, out, _ = answered(
        cli,
        tmp_path,
        "inter.broker.protocol.version=1.1\nacks=1",
        *["--only", "faults=one crash", "--max-states", "50", "--details"],
    )
    line = " ".join(out.split())

    assert code == 12, "what was found is so, although not all was explored"
    assert "1 of 1 fault can lose an acknowledged record; " not in line
    assert "To do first" not in line
    assert "one crash ? Stopped by max-states 50 after " in line
    assert "A record is lost" not in line.split("one crash ?")[1].split("Tried")[0]
    assert "Tried: set acks=all: ? (not explored in full)." in line


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["--only", "acks=all"], "--only acks does not go with --config"),
        (["--over", "version"], "--over does not go with --config"),
        (["--acks", "some"], "--acks: acks is 'some'; it must be one of"),
        (["--acks", "orders=2"], "--acks orders=2: acks is '2'; it must be one of"),
        (["--acks", "=1"], "'=1' says no acks; write all, or orders=1"),
        (["--kafka-version", "new"], "kafka-version is 'new'; write it as 2.8"),
        (["--only", "faults=flood"], "faults is 'flood'; known: none"),
        (["--topic-config", "/nowhere/topic.properties"], "cannot be read: No such file"),
    ],
)
def test_bad_usage_with_a_config_is_one_line_and_exit_2(
    given: list[str], says: str, cli: Commands, tmp_path: Path
) -> None:
    code, out, err = answered(cli, tmp_path, SERVER, *given)

    assert code == 2
    assert out == ""
    assert says in err
    assert err.count("\n") == 1
