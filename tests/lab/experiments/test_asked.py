"""Answers of `ask` and what is seen of a cluster, on one that only pretends."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.experiments import asked
from lab.experiments.asked import Asked, main
from waterline.checker.kafka.confirm.errors import BrokerFailed
from waterline.checker.kafka.confirm.wire import Record

CODES = {"ok": 0, "refused": 19, "later": 6, "unknown": 3}


class Pretended:
    """A broker that leads a, b and c; c refuses, b answers late, d has no leader, a lost m1."""

    ports = (7,)

    def __init__(self, answer_of_b: str = "later") -> None:
        self.answers = {"a": ["ok"], "b": [answer_of_b, "ok"], "c": ["refused"]}

    def log(self, broker: int, partition: int, *, topic: str) -> list[Record]:
        assert (broker, partition) == (0, 0)
        return [Record(0, name, 0) for name in (b"m1", b"m2") if (topic, name) != ("a", b"m1")]

    def call(self, port: int, key: int, version: int, values: dict[str, Any], **_: Any) -> Any:
        assert port == 7
        if key == asked.PRODUCE:
            names = [each["name"] for each in values["topic_data"]]
            return SimpleNamespace(
                responses=[
                    SimpleNamespace(
                        name=name,
                        partition_responses=[
                            SimpleNamespace(index=0, error_code=CODES[self.answers[name].pop(0)])
                        ],
                    )
                    for name in names
                ]
            )
        topics = [
            SimpleNamespace(
                name=name,
                partitions=[SimpleNamespace(partition_index=0, leader_id=-(name == "d"))],
            )
            for name in "abcd"
        ]
        return SimpleNamespace(brokers=[SimpleNamespace(node_id=0)], topics=topics)


def pretend(monkeypatch: pytest.MonkeyPatch, cluster: Pretended) -> Asked:
    monkeypatch.setattr(asked, "call", cluster.call)
    return Asked(cluster, Path(), live={0})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("said", "refusing", "lost", "wrong"),
    [
        (["d-0"], ["c-0"], ["a-0"], 0),
        ([], ["c-0"], ["a-0"], 1),
        (["d-0", "b-0"], [], [], 3),
        (["d-0"], ["c-0"], [], 1),
    ],
)
def test_each_answer_that_differs_from_what_is_seen_is_wrong(
    monkeypatch: pytest.MonkeyPatch,
    said: list[str],
    refusing: list[str],
    lost: list[str],
    wrong: int,
) -> None:
    seen = pretend(monkeypatch, Pretended())
    harm = {"unavailable": said, "refusing": refusing, "unknown": {}}

    stopped = seen.compare("now", harm, lost=lost)

    assert stopped == {"c-0", "d-0"}
    assert seen.acknowledged["b-0"] == ["m2"]
    assert seen.wrong == wrong


def test_an_answer_that_says_nothing_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = pretend(monkeypatch, Pretended("unknown"))

    with pytest.raises(BrokerFailed, match="b-0: Produce was answered unknown_topic"):
        seen.probe()


def test_a_release_that_cannot_be_run_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kafka", "9.9"]) == 2
    assert "--kafka is '9.9'" in capsys.readouterr().err
