"""C63 with ZooKeeper on a cluster that only pretends: every verdict, and what leads to it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from lab.experiments import with_zookeeper
from lab.experiments.watched import Verdict
from lab.experiments.with_zookeeper import carried_out, main, release_with_zookeeper
from waterline.checker.kafka.confirm.errors import CannotConfirm, NoAnswer
from waterline.checker.kafka.confirm.wire import Record


class Pretended:
    """Brokers of which 1 is in sync; a cancellation deletes its log, or is `refused`."""

    def __init__(self, *, refused: str = "", copies: bool = True) -> None:
        self.refused, self.copies = refused, copies
        self.replicas, self.isr, self.leader = [0], [0], 0
        self.logs: dict[int, list[Record]] = {0: [], 1: [], 2: []}

    def create(self) -> None:
        assert self.replicas == [0]

    def pause(self, broker: int) -> None:
        if broker == 0:
            self.isr = [1]

    def resume(self, broker: int) -> None:
        assert broker in {0, 2}

    def reassign(self, wanted: dict[int, list[int] | None], *, ask: int) -> str:
        if wanted[0] is not None:
            self.replicas = [1, 2, 0]
            self.isr = [0, 1] if self.copies else [0]
        elif not self.refused:
            self.replicas, self.leader, self.logs[1] = [0], -1, []
        return self.refused if wanted[0] is None else ""

    def elect_preferred(self, ask: int) -> None:
        self.leader = 1

    def leader_and_isr(self, ask: int) -> tuple[int, list[int]]:
        return self.leader, self.isr

    def replica_nodes(self) -> list[int]:
        return self.replicas

    def produce(self, leader: int, record: bytes) -> Any:
        self.logs[leader].append(Record(len(self.logs[leader]), record, 1))
        partition = SimpleNamespace(error_code=0)
        topic = SimpleNamespace(partition_responses=[partition])
        return SimpleNamespace(is_over=lambda _: True, answer=SimpleNamespace(responses=[topic]))

    def log(self, broker: int) -> list[Record]:
        return self.logs[broker]


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(with_zookeeper, "DELETION_SECONDS", 0)
    monkeypatch.setattr(with_zookeeper, "STEP_SECONDS_MAX", 0.1)


@pytest.mark.parametrize(
    ("cluster", "is_control", "verdict", "reason"),
    [
        (Pretended(), False, Verdict.CONFIRMED, "20 of 20 acknowledged records lost"),
        (Pretended(), True, Verdict.HELD, "reads all 20"),
        (Pretended(refused="INVALID_REPLICA_ASSIGNMENT"), False, Verdict.HELD, "reads all 20"),
    ],
    ids=["cancelled", "control", "refused"],
)
def test_the_verdict_is_that_of_the_logs(
    cluster: Pretended,
    is_control: bool,
    verdict: Verdict,
    reason: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    found = carried_out(cluster, is_control=is_control)

    assert found.verdict is verdict
    assert reason in found.reason
    assert ("cancelled: " in capsys.readouterr().out) is not is_control


def test_a_step_that_does_not_come_about_leaves_it_undecided() -> None:
    with pytest.raises(NoAnswer, match="1 has copied"):
        carried_out(Pretended(copies=False), is_control=False)


@pytest.mark.parametrize("name", ["3.9.1:kraft", "2.3.1", "4.1.0"])
def test_only_releases_that_cancel_with_zookeeper_are_run(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(CannotConfirm):
        release_with_zookeeper(name)

    assert main(["--kafka", name]) == 2
    assert "can be cancelled from 2.4 to 3.9" in capsys.readouterr().err
