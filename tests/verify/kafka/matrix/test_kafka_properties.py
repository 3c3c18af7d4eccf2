"""The long cases of tests/kafka/matrix/test_kafka_properties.py."""

from __future__ import annotations

import json
from pathlib import Path

from tests.kafka.matrix.test_kafka_properties import answered, plain
from tests.support.commands import Commands


def test_what_closes_a_fault_was_explored_and_holds(cli: Commands, tmp_path: Path) -> None:
    written_there = tmp_path / "answer.json"
    answered(
        cli,
        tmp_path,
        "inter.broker.protocol.version=1.1",
        *["--acks", "1", "--only", "faults=one crash", "--json", written_there],
    )
    answer = json.loads(written_there.read_text())

    assert list(answer["remedies"]) == ["one crash"]
    [acks] = [r for r in answer["remedies"]["one crash"] if r["changes"] == {"acks": "all"}]
    assert (acks["closes"], acks["label"], acks["distinct"]) == (True, "holds", 5316)
    assert answer["recommendation"]["changes"] == {"acks": "all"}
    assert answer["recommendation"]["closes"] == ["one crash"]
    assert {kin["entry"] for kin in answer["like"]["one crash"]} == {"C12"}
    assert [cell["label"] for cell in answer["cells"]] == ["contract 4"]


def test_it_answers_what_can_be_lost_and_what_closes_it(cli: Commands, tmp_path: Path) -> None:
    code, out, _ = answered(
        cli,
        tmp_path,
        "inter.broker.protocol.version=0.10.2\nunclean.leader.election.enable=false",
        *("--only", "faults=two crashes", "--details"),
    )
    line = " ".join(out.split())

    assert code == 12
    assert "0.10.2 server.properties:1" in line
    assert "acks all not said; 1 in producers before 3.0" in line
    assert "two crashes loses 12 A record is lost that was acknowledged to a producer" in line
    assert "Tried: upgrade to Kafka 3.9 with ZooKeeper: holds, " in line
    assert "Like C1 (kip-101-loss): with the rule truncate-by-epoch put in" in line
    assert "two crashes: waterline check --engine local --kafka 0.10.2:zookeeper" in line
    assert "2 replicas, 2 records, epochs 0 to 3" in line


def test_where_one_change_is_not_enough_more_are_tried(cli: Commands, tmp_path: Path) -> None:
    written_there = tmp_path / "answer.json"
    _, out, _ = answered(
        cli,
        tmp_path,
        "inter.broker.protocol.version=0.10.2\nacks=1\nunclean.leader.election.enable=false",
        *["--only", "faults=two crashes", "--json", written_there, "--details"],
    )
    answer = json.loads(written_there.read_text())
    closing = [r for r in answer["remedies"]["two crashes"] if r["closes"]]
    single = [r for r in answer["remedies"]["two crashes"] if len(r["changes"]) == 1]

    assert single
    assert not any(remedy["closes"] for remedy in single)
    assert closing[0]["changes"].keys() == {"acks", "version"}
    assert answer["recommendation"]["changes"].keys() == {"acks", "version"}
    assert "To do first: set acks=all; upgrade to Kafka 3.9 with ZooKeeper." in plain(out)
