"""Files of brokers with KRaft, as kafka-storage would leave them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from waterline.checker.kafka.confirm.brokers import BrokerSettings
from waterline.checker.kafka.confirm.kraft.brokers import KraftBrokers, cluster_id
from waterline.checker.kafka.confirm.processes import Processes

SETTINGS = BrokerSettings(
    min_insync_replicas=2, unclean_leader_election=False, lag_ms=6_000, fetch_wait_ms=0
)


@pytest.mark.parametrize("first", [0x00, 0x7F, 0xF7, 0xF8, 0xFB, 0xFC, 0xFF])
def test_no_cluster_is_named_like_an_option(first: int) -> None:
    name = cluster_id(UUID(bytes=bytes([first]) + bytes(15)))

    assert len(name) == 22
    assert not name.startswith("-")


@pytest.fixture
def brokers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KraftBrokers:
    java = tmp_path / "home" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.touch(mode=0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    return KraftBrokers([7000, 7001], SETTINGS, tmp_path, Processes(tmp_path, []), [9000, 9001])


def test_every_broker_has_a_controller_s_port_of_its_own(
    brokers: KraftBrokers, tmp_path: Path
) -> None:
    lines = [(tmp_path / f"r{each}.properties").read_text().splitlines() for each in range(2)]

    assert "controller.quorum.voters=3000@127.0.0.1:7000" in lines[0]
    assert "controller.quorum.voters=3000@127.0.0.1:7001" in lines[1]
    assert "listeners=PLAINTEXT://127.0.0.1:9001" in lines[1]
    assert "replica.lag.time.max.ms=6000" in lines[0]


def test_a_log_is_looked_for_in_every_log_directory(tmp_path: Path, brokers: KraftBrokers) -> None:
    settings = replace(SETTINGS, log_directories=2)
    (tmp_path / "two").mkdir()
    two = KraftBrokers([7000], settings, tmp_path / "two", Processes(tmp_path, []), [9000])
    first, second = two.directories(0)
    named = (tmp_path / "two" / "r0.properties").read_text().splitlines()

    assert f"log.dirs={first},{second}" in named
    assert (first / "meta.properties").read_text() != (second / "meta.properties").read_text()
    assert two.data(0) == first
    (second / f"{two.topic}-0").mkdir()
    assert two.data(0) == second
    assert two.checkpoint_file(0) == second / "replication-offset-checkpoint"
    assert len(brokers.directories(0)) == 1


def test_the_directory_of_the_log_is_taken_out_of_the_settings(
    tmp_path: Path, brokers: KraftBrokers
) -> None:
    settings = replace(SETTINGS, log_directories=2)
    (tmp_path / "two").mkdir()
    two = KraftBrokers([7000], settings, tmp_path / "two", Processes(tmp_path, []), [9000])
    first, second = two.directories(0)
    (second / f"{two.topic}-0").mkdir()
    two.take_directory(0)
    named = (tmp_path / "two" / "r0.properties").read_text().splitlines()

    assert [line for line in named if line.startswith("log.dirs")] == [f"log.dirs={first}"]
    assert two.directories(0) == [first]
    assert two.segment(0) == b""


def test_a_lost_disk_is_formatted_and_leaves_the_metadata_log(
    brokers: KraftBrokers, tmp_path: Path
) -> None:
    disk, metadata = brokers.data(0), tmp_path / "metadata-0"
    before = (disk / "meta.properties").read_text()
    (disk / "t-0").mkdir()
    (metadata / "log").touch()
    brokers.empty_disk(0)

    assert [each.name for each in disk.iterdir()] == ["meta.properties"]
    assert (disk / "meta.properties").read_text() == before
    assert "node.id=0" in before
    assert (metadata / "log").exists()
