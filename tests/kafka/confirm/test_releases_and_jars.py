"""Which releases there are, how their jars are had, and what is said where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from waterline.checker.kafka.confirm.errors import CannotConfirm, NoJars
from waterline.checker.kafka.confirm.jars import class_path
from waterline.checker.kafka.confirm.releases import kafka_release
from waterline.model.message.releases import release_named

RELEASE = kafka_release("0.10.2.2")


def quiet(line: str) -> None:
    """Nobody listens."""


@pytest.mark.parametrize(
    ("name", "rules", "spoken", "scala"),
    [
        ("0.10.2.2", "hw", None, "kafka_2.11"),
        ("0.11.0.3", "epoch", None, "kafka_2.11"),
        ("1.1.1", "epoch", None, "kafka_2.12"),
        ("2.1.1", "kip320-code", None, "kafka_2.12"),
        ("2.8.2", "kip320", "2.6", "kafka_2.13"),
        ("3.6.2", "kip320", "2.6", "kafka_2.13"),
        ("3.9.1", "kip320-with-hw-needs-min-isr-with-append-checks-epoch", "2.6", "kafka_2.13"),
    ],
)
def test_a_release_follows_the_rules_of_what_it_speaks(
    name: str, rules: str, spoken: str | None, scala: str
) -> None:
    release = kafka_release(name)

    assert (release.name, release.rules, release.spoken) == (name, rules, spoken)
    assert kafka_release(f"{name}:zookeeper") == release
    assert f"org.apache.kafka:{scala}:{name}" in release.artifacts
    assert not release.is_kraft


SINCE_3_8 = (
    "kip903-without-shrink-raises-epoch-without-completes-when-added-with-hw-needs-min-isr"
    "-with-recovers-future-log"
)
ON_3_9_1 = f"{SINCE_3_8}-with-append-checks-epoch"
ON_4 = f"{SINCE_3_8}-with-registration-removes-with-append-checks-epoch"
ON_4_3 = (
    "kip903-without-shrink-raises-epoch-with-hw-needs-min-isr-with-recovers-future-log"
    "-with-registration-removes"
    "-with-append-checks-epoch-with-shrink-waits-for-targets"
)
ELR = "elr-with-last-known-leader"
ELR_ON_4_3 = (
    "elr-without-new-directory-empties-elr-with-last-known-leader-with-completes-when-added"
    "-with-shrink-waits-for-targets"
)


@pytest.mark.parametrize(
    ("name", "rules", "title"),
    [
        ("3.9.1:kraft", ON_3_9_1, "Kafka 3.9.1, with KRaft"),
        ("3.9.2:kraft", ON_3_9_1, "Kafka 3.9.2, with KRaft"),
        (
            "4.0.0:kraft",
            ON_4.removesuffix("-with-append-checks-epoch"),
            "Kafka 4.0.0, without ELR",
        ),
        ("4.0.1:kraft", ON_4, "Kafka 4.0.1, without ELR"),
        ("4.0.2:kraft", ON_4, "Kafka 4.0.2, without ELR"),
        ("4.0.2:elr", f"{ELR}-with-last-known-leader-fenced", "Kafka 4.0.2, with ELR"),
        ("4.1.2:kraft", ON_4, "Kafka 4.1.2, without ELR"),
        ("4.2.0:kraft", ON_4, "Kafka 4.2.0, without ELR"),
        ("4.2.0:elr", ELR, "Kafka 4.2.0, with ELR"),
        ("4.2.1:kraft", ON_4, "Kafka 4.2.1, without ELR"),
        ("4.3.1:kraft", ON_4_3, "Kafka 4.3.1, without ELR"),
        ("4.4.0:kraft", ON_4_3, "Kafka 4.4.0, without ELR"),
        ("4.4.0:elr", ELR_ON_4_3, "Kafka 4.4.0, with ELR"),
    ],
)
def test_a_release_with_kraft_speaks_its_own_protocol(name: str, rules: str, title: str) -> None:
    release = kafka_release(name)

    assert (release.name, release.rules, release.title) == (name, rules, title)
    assert release.is_kraft
    assert release.spoken is None
    assert f"org.apache.kafka:kafka_2.13:{release.version}" in release.artifacts
    assert release.has_eligible_leader_replicas is name.endswith(":elr")


@pytest.mark.parametrize("name", ["4.0.2", "4.1.0", "4.2.0", "4.4.0"])
def test_a_release_without_a_manner_is_what_check_takes_it_for(name: str) -> None:
    meant = kafka_release(name)

    assert meant.rules == release_named(name)[0].version
    assert meant.has_eligible_leader_replicas is (name != "4.0.2")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("two", "must be a release"),
        ("3.9", "must be a release"),
        ("0.9.0.1", "the oldest that can be steered is 0.10.2.0"),
        ("9.9.9", "the newest that is, is 4.4"),
        ("../../x", "must be a release"),
        ("4.2.0:raft", "must be a release"),
        ("3.2.3:kraft", r"the oldest steered with KRaft is 3\.3\.0:kraft"),
        ("4.0.0:zookeeper", "has no ZooKeeper any more"),
        ("3.9.1:elr", "has no eligible leader replicas"),
    ],
)
def test_what_is_no_release_is_refused(name: str, complaint: str) -> None:
    with pytest.raises(CannotConfirm, match=complaint):
        kafka_release(name)


@pytest.fixture
def maven(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose `mvn` is the only one; and an empty cache."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("WATERLINE_CACHE", str(tmp_path / "cache"))
    return programs / "mvn"


def write_program(path: Path, text: str) -> None:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def test_jars_are_fetched_once_and_seen_to_be_unchanged(maven: Path, tmp_path: Path) -> None:
    jars = [tmp_path / "kafka_2.11-0.10.2.2.jar", tmp_path / "clients.jar"]
    for jar in jars:
        jar.write_text(jar.name)
    listed = "\\n".join(map(str, jars))
    write_program(
        maven,
        f"echo run >> {tmp_path}/runs\n"
        "for each do case $each in -Dmdep.outputFile=*) out=${each#*=};; esac; done\n"
        f"printf '{listed}' > $out",
    )

    def runs() -> int:
        return (tmp_path / "runs").read_text().count("run")

    first = class_path(RELEASE, folder=None, announce=quiet)
    again = class_path(RELEASE, folder=None, announce=quiet)
    after_two = runs()
    jars[1].write_text("changed")
    changed = class_path(RELEASE, folder=None, announce=quiet)

    assert first == again == changed == jars
    assert after_two == 1
    assert runs() == 2


def test_a_release_that_the_registry_does_not_have_is_named(maven: Path) -> None:
    write_program(maven, "echo '[ERROR] Could not find artifact org.apache.kafka:x in y'; exit 1")

    with pytest.raises(NoJars, match=r"there is no Kafka 0\.10\.2\.2 in the registry: Could not"):
        class_path(RELEASE, folder=None, announce=quiet)


def test_a_registry_that_does_not_answer_is_told_with_the_remedy(maven: Path) -> None:
    write_program(maven, "echo '[ERROR] Connection refused'; exit 1")

    with pytest.raises(NoJars, match=r"cannot be fetched: Connection refused; .*--jars"):
        class_path(RELEASE, folder=None, announce=quiet)


def test_without_maven_the_remedy_is_told(maven: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(maven.parent))

    with pytest.raises(NoJars, match=r"there is no mvn on the PATH: .*--jars"):
        class_path(RELEASE, folder=None, announce=quiet)


def test_a_folder_of_jars_must_hold_the_release(tmp_path: Path) -> None:
    (tmp_path / "kafka_2.11-0.11.0.3.jar").touch()

    with pytest.raises(NoJars, match=r"has no jar kafka_\*-0\.10\.2\.2\.jar"):
        class_path(RELEASE, folder=tmp_path, announce=quiet)


def test_a_folder_of_jars_is_taken_with_what_must_come_first(tmp_path: Path) -> None:
    release = kafka_release("2.1.1")
    for name in ("a.jar", "kafka_2.12-2.1.1.jar", "zookeeper-3.5.9.jar"):
        (tmp_path / name).touch()

    found = class_path(release, folder=tmp_path, announce=quiet)

    assert [jar.name for jar in found] == ["zookeeper-3.5.9.jar", "kafka_2.12-2.1.1.jar", "a.jar"]
