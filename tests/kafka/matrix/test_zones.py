"""Zones of brokers, from files and clusters, and what the faults mean for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.deployment_answers import FOLDER, config_of, made_up, shown
from waterline.checker.batch.in_memory import explore
from waterline.checker.batch.question import Question
from waterline.checker.kafka.deployed.deployment import Deployment, Node, Partition, Topic
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.deployed.saved import read_saved, to_saved
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.matrix.deployment_facts import describe_zones
from waterline.checker.kafka.matrix.files import deployment_object
from waterline.checker.kafka.matrix.grid import Size
from waterline.checker.report.pages.deployment_page import to_html
from waterline.checker.search.result import Budgets, Verdict
from waterline.model.message.environment import Environment


def files_in(folder: Path, racks: Sequence[str]) -> list[Path]:
    paths = []
    for number, rack in enumerate(racks):
        path = folder / f"broker-{number}.properties"
        said = f"broker.rack={rack}\n" if rack else ""
        path.write_text(f"process.roles=broker\nnode.id={number}\n{said}")
        paths.append(path)
    return paths


@pytest.mark.parametrize(
    ("racks", "zones"),
    [(["b", "a", "b"], ["a", "b"]), (["a", "", "c"], ["a", "c"]), (["${Z}", "a"], ["a"])],
)
def test_zones_are_those_of_the_files(racks: list[str], zones: list[str], tmp_path: Path) -> None:
    found = read_deployment([tmp_path] if files_in(tmp_path, racks) else [])
    saved = read_saved(tmp_path / "saved.json", to_saved(found))

    assert found.zones == zones
    assert saved.zones == zones


def test_a_cluster_with_a_broker_without_a_rack_has_no_zones() -> None:
    nodes = (Node(1, "a"), Node(2, "b"))

    assert Deployment(nodes=nodes).zones == ["a", "b"]
    assert Deployment(nodes=(*nodes, Node(3))).zones == []


def lines_of(
    racks: str, replicas: Sequence[Sequence[int]], size: Size, acks: str = "all"
) -> list[str]:
    """Brokers 1, 2, ... are in these racks, and partitions on these brokers."""
    now = tuple(
        Partition(number=number, leader=brokers[0], replicas=tuple(brokers), isr=tuple(brokers))
        for number, brokers in enumerate(replicas)
    )
    deployment = Deployment(
        nodes=tuple(Node(number, rack) for number, rack in enumerate(racks, start=1)),
        topics=(Topic(name="orders", now=now),),
    )
    config, _ = config_of("combined-4.2.properties")
    asked = replace(config, yours=size, acks=acks, topics=("orders",))
    return list(describe_zones(deployment, asked))


def test_one_replica_in_each_zone_is_one_machine_of_the_faults() -> None:
    [line] = lines_of("abc", [(1, 2, 3)], Size(3, 2))

    assert line.startswith("Zones a, b and c (broker.rack) hold one replica each: ")


@pytest.mark.parametrize(
    ("size", "acks", "lost"), [(Size(3, 2), "all", 1), (Size(3, 3), "all", 0), (Size(3, 2), "1", 0)]
)
def test_two_replicas_in_a_zone_are_two_machines(size: Size, acks: str, lost: int) -> None:
    """The worst partition counts, not the first."""
    first, *more = lines_of("aabc", [(1, 3, 4), (2, 4, 1)], size, acks)

    assert "hold 2 of 3 replicas in one" in first
    assert len(more) == lost
    assert all(line.startswith("An acknowledged record may be in that zone alone") for line in more)


def test_without_partitions_replicas_are_spread_as_evenly_as_can_be() -> None:
    assert "should hold one replica each" in lines_of("abc", [], Size(3, 2))[0]
    assert "hold at best 2 of 3 replicas in one" in lines_of("ab", [], Size(3, 2))[0]
    assert lines_of("aaa", [], Size(3, 2)) == []
    assert lines_of("ab", [], Size(1, 1)) == []


@pytest.mark.parametrize(("power_losses", "is_lost"), [(1, False), (2, True)])
def test_all_that_must_be_in_sync_in_one_zone_lose_a_record(
    power_losses: int, is_lost: bool
) -> None:
    """With ELR one machine loses nothing; the two that min.insync.replicas=2 asks for do."""
    environment = Environment(
        replicas=2,
        records=1,
        epochs=2,
        min_insync_replicas=2,
        power_losses=power_losses,
        restarts=0,
    )
    problem = MESSAGE.problem("elr", environment, ["acknowledged_on_disk"])
    answer = explore(Question(problem, Budgets(stop_at_first=True)))

    assert (answer.verdicts[0][1] == Verdict.VIOLATED.value) is is_lost


def test_screen_page_and_document_name_them(tmp_path: Path) -> None:
    deployment = read_deployment(files_in(tmp_path, "ab"))
    config, whole = config_of(str(FOLDER / "combined-4.2.properties"))
    answer = replace(whole, deployment=deployment, answers=(made_up(config, lambda _: False),))

    assert any(line.startswith("Zones a and b (broker.rack)") for line in shown(answer))
    assert "Zones a and b (broker.rack)" in to_html(answer)
    [line, *_] = deployment_object(answer, [])["zones"]
    assert line.startswith("Zones a and b (broker.rack)")
