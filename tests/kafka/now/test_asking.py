"""Answers about a cluster, put together from those about situations, which are given here."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest
from rich.console import Console, RenderableType

from tests.support.commands import Commands
from waterline.checker.kafka.deployed.deployment import BadConfig, Deployment, Node, Partition
from waterline.checker.kafka.deployed.reading import read_deployment
from waterline.checker.kafka.deployed.saved import read_saved, to_saved
from waterline.checker.kafka.matrix.properties import configs_of
from waterline.checker.kafka.now.asking import (
    Answer,
    Ask,
    Difference,
    difference,
    harm_of,
    restart_order,
)
from waterline.checker.kafka.now.further import MOVED, NOTHING, Event, Findings, Loss
from waterline.checker.kafka.now.histories import states_of_move
from waterline.checker.kafka.now.now_screen import (
    answer_object,
    describe,
    render_event,
    render_now,
    render_order,
)
from waterline.checker.kafka.now.partitions import Cluster, cluster_of, reassigned_cluster
from waterline.checker.kafka.now.situation import Situation

ROOT = Path(__file__).parents[3]
HEADER = "Topic: {0}\tPartitionCount: {1}\tReplicationFactor: {2}\tConfigs: min.insync.replicas={3}"
LINE = "\tTopic: {}\tPartition: {}\tLeader: {}\tReplicas: {}\tIsr: {}\tElr: {}"
DOWN_2 = "\n".join(
    (
        HEADER.format("orders", 2, 3, 2),
        LINE.format("orders", 0, 1, "1,2,3", "1,3", ""),
        LINE.format("orders", 1, 3, "2,3,1", "3,1", "") + "\tAdding Replicas: \t",
        HEADER.format("audit", 2, 1, 1),
        LINE.format("audit", 0, "none", "2", "", "2"),
        LINE.format("audit", 1, 3, "3", "3", ""),
        HEADER.format("moved", 3, 2, 1),
        LINE.format("moved", 0, 1, "1,3,2", "1,3", "")
        + "\tAdding Replicas: 2\tRemoving Replicas: ",
        LINE.format("moved", 1, 1, "1,3", "1", "4"),
        LINE.format("moved", 2, 1, "1,3", "1,3", ""),
    )
)
LOST = Findings((Loss(("power_losses",), (0,), ("the machine of r0 loses power",)),))
SAFE = Findings()


def read(tmp_path: Path, text: str = DOWN_2) -> tuple[Deployment, Cluster]:
    (tmp_path / "topics.txt").write_text(text)
    deployment = read_deployment([tmp_path / "topics.txt"])
    return deployment, cluster_of(deployment, configs_of(deployment, kafka_version="4.4"))


def one_replica_loses(situation: Situation, event: Event) -> Findings:
    return LOST if situation.replicas == 1 else SAFE


def shown(screen: RenderableType, width: int) -> str:
    console = Console(width=width)
    with console.capture() as capture:
        console.print(screen)
    return capture.get()


def test_partitions_are_numbered_by_their_assignment(tmp_path: Path) -> None:
    _, cluster = read(tmp_path)

    by_name = {each.name: each for each in cluster.partitions}
    first, second = by_name["orders-0"].situation, by_name["orders-1"].situation
    assert first is not None
    assert second is not None
    assert (first.leader, first.isr, first.down, first.min_insync) == (0, 0b101, 0b010, 2)
    assert (second.leader, second.isr, second.down) == (1, 0b110, 0b001)
    assert cluster.down == {2}
    assert "In no ISR, so taken to be down: 2" in cluster.notes[0]


def test_partitions_without_a_situation_say_why(tmp_path: Path) -> None:
    _, cluster = read(tmp_path)

    reasons = {each.name: each.reason for each in cluster.partitions if each.situation is None}
    assert set(reasons) == {"moved-0", "moved-1"}
    assert reasons["moved-0"] == "being reassigned"
    assert "a broker that is not a replica" in reasons["moved-1"]
    assert len(cluster.dangers) == 1


def test_more_replicas_than_are_explored_are_never_counted_as_safe(tmp_path: Path) -> None:
    text = "\n".join(
        (HEADER.format("t", 1, 4, 2), LINE.format("t", 0, 1, "1,2,3,4", "1,2,3,4", ""))
    )
    _, cluster = read(tmp_path, text)

    harm = harm_of(cluster, one_replica_loses)

    assert harm.unknown == {"t-0": "4 replicas, of at most 3"}
    screen = shown(render_now("Kafka", cluster, harm, 1), 80)
    assert "no loss" not in screen
    assert "1 partition not explored (4 replicas, of at most 3): t-0" in screen


def test_what_was_read_can_be_saved(tmp_path: Path) -> None:
    deployment, cluster = read(tmp_path)
    racks = (Node(1, "a"), Node(3, "b"))
    again = read_saved(
        tmp_path / "saved.json",
        to_saved(Deployment(topics=deployment.topics, has_all_topics=True, nodes=racks)),
    )

    assert replace(again.topics[0].now[0], place=None) == Partition(
        number=0, leader=1, replicas=(1, 2, 3), isr=(1, 3), elr=(), adding=()
    )
    second = cluster_of(again, configs_of(again, kafka_version="4.4"))
    assert second.partitions == cluster.partitions
    assert second.racks == {1: "a", 3: "b"}
    assert second.notes == ()


def test_a_file_without_partitions_is_refused(tmp_path: Path) -> None:
    (tmp_path / "server.properties").write_text("process.roles=broker\nmin.insync.replicas=2\n")
    deployment = read_deployment([tmp_path / "server.properties"])

    with pytest.raises(BadConfig, match="nothing says how partitions are now"):
        cluster_of(deployment, configs_of(deployment))


def test_a_restart_is_judged_by_what_is_worse_meanwhile(tmp_path: Path) -> None:
    _, cluster = read(tmp_path)

    before = harm_of(cluster, one_replica_loses)
    after = harm_of(cluster, one_replica_loses, (3,))
    found = difference(before, after)

    assert before.unavailable == ("audit-0",)
    assert before.refusing == ()
    assert found.unavailable == ("audit-1",)
    assert found.refusing == ("orders-0", "orders-1")
    assert found.losing == {}
    screen = shown(render_event("May broker 3 be restarted now?", cluster, (before, after), 1), 80)
    assert "restarted now? No, not now." in screen
    assert "Nothing is known of them" in screen
    assert "In danger now: moved-1: broker 4 is in the ELR and is no replica" in screen


def test_a_fault_that_loses_only_meanwhile_counts(tmp_path: Path) -> None:
    _, cluster = read(tmp_path)

    def loses_meanwhile(situation: Situation, event: Event) -> Findings:
        return SAFE if event is NOTHING else LOST

    before = harm_of(cluster, loses_meanwhile)
    after = harm_of(cluster, loses_meanwhile, (1,))

    found = difference(before, after)
    assert set(found.losing) == {"orders-0", "orders-1", "moved-2"}
    screen = shown(render_event("May it?", cluster, (before, after), 1), 80)
    assert "one power loss loses acknowledged records" in " ".join(screen.split())
    harms = (before, after)
    screen = shown(render_event("May it?", cluster, harms, 1, has_details=True), 80)
    assert "orders-0, one power loss:" in screen
    assert " 1. The machine of broker 1 loses power" in screen


def test_the_json_is_what_its_schema_says(tmp_path: Path) -> None:
    _, cluster = read(tmp_path)
    schema = json.loads((ROOT / "docs" / "schemas" / "ask.schema.json").read_text())
    before = harm_of(cluster, one_replica_loses)
    now = Answer(title="Kafka 4.4", cluster=cluster, faults=1, before=before)
    meanwhile = replace(now, question="?", after=harm_of(cluster, one_replica_loses, (3,)))
    order = replace(now, before=None, order=restart_order(cluster, one_replica_loses))

    first, second, third = (answer_object(each, 12) for each in (now, meanwhile, order))

    for written in (first, second, third):
        jsonschema.validate(json.loads(json.dumps(written)), schema)
    assert first["now"]["losing"]["audit-1"][0]["brokers"] == [3]
    assert first["newly"] is second["order"] is third["now"] is None
    assert second["newly"]["refusing"] == ["orders-0", "orders-1"]
    assert second["meanwhile"]["unavailable"] == ["audit-0", "audit-1"]
    assert third["order"]["refused"] == [3]


def test_an_order_of_restarts_begins_with_what_may_be_restarted_now(tmp_path: Path) -> None:
    lines = [HEADER.format("t", 2, 3, 2)]
    lines += [LINE.format("t", n, 1, "1,2,3", isr, "") for n, isr in enumerate(("1,2", "1,2,3"))]
    _, cluster = read(tmp_path, "\n".join(lines))

    found = restart_order(cluster, lambda situation, event: SAFE)

    assert found.now == (3,)
    assert found.later == (1, 2)
    assert not found.refused
    screen = shown(render_order(found, cluster), 80)
    assert "May restart now: 3." in screen
    assert "Only once every replica is in sync again: 1, 2." in screen


def test_no_order_is_safe_where_all_replicas_are_needed(tmp_path: Path) -> None:
    text = "\n".join((HEADER.format("t", 1, 2, 2), LINE.format("t", 0, 1, "1,2", "1,2", "")))
    _, cluster = read(tmp_path, text)

    found = restart_order(cluster, lambda situation, event: SAFE)

    assert set(found.refused) == {1, 2}
    text = shown(render_order(found, cluster), 80)
    assert "Every order of restarts stops writes to some partition." in text
    assert "No order of restarts" not in text


@pytest.mark.parametrize("width", [80, 160])
def test_a_screen_names_the_worst_first_and_what_was_not_explored(
    tmp_path: Path, width: int
) -> None:
    _, cluster = read(tmp_path)

    screen = shown(render_now("Kafka 4.4", cluster, harm_of(cluster, one_replica_loses), 1), width)

    lines = screen.splitlines()
    assert lines[0] == "Kafka 4.4: 7 partitions, 2 brokers up, down: 2."
    assert "2 partitions: one power loss loses acknowledged records." in screen
    assert "audit-0 (broker 2) and audit-1 (broker 3)" in screen
    assert "3 partitions: no loss found with one further fault" in screen
    assert "1 partition not explored (being reassigned): moved-0" in screen
    assert max(map(len, lines)) <= width
    assert len(lines) < 24


MOVES = "\n".join(
    (
        HEADER.format("t", 4, 3, 2),
        LINE.format("t", 0, 1, "1,2,3", "1,2,3", ""),
        LINE.format("t", 1, 1, "1,2,3", "1", "2,3"),
        LINE.format("t", 2, 1, "1,2", "1,2", ""),
        LINE.format("t", 3, 2, "2", "2", ""),
    )
)


def known(cluster: Cluster, name: str) -> Situation:
    [situation] = (each.situation for each in cluster.partitions if each.name == name)
    assert situation is not None
    return situation


def moved_to(
    tmp_path: Path, ask: Ask, wanted: dict[str, tuple[int, ...]]
) -> tuple[Cluster, Difference]:
    _, cluster = read(tmp_path, MOVES)
    then = reassigned_cluster(cluster, wanted)
    return then, difference(harm_of(cluster, ask), harm_of(then, ask))


def test_a_reassignment_is_explored_with_the_brokers_that_join(tmp_path: Path) -> None:
    asked: list[tuple[Situation, Event]] = []

    def ask(situation: Situation, event: Event) -> Findings:
        asked.append((situation, event))
        return SAFE if event is NOTHING else LOST

    wanted = {"t-0": (3, 2, 1), "t-2": (2, 3), "t-3": (1, 2, 3)}
    cluster, found = moved_to(tmp_path, ask, wanted)

    moved = [(s.replicas, s.joining, e.places) for s, e in asked if e.kind == MOVED]
    assert moved == [(2, 1, (0b110,)), (1, 2, (0b111,))]
    assert [s.min_insync for s, e in asked if e.kind == MOVED] == [2, 2]
    assert set(found.losing) == {"t-2", "t-3"}
    assert cluster.partitions[3].brokers == (2, 1, 3)
    assert cluster.dangers == ()


def test_more_brokers_than_are_explored_are_not_known_and_their_availability_is(
    tmp_path: Path,
) -> None:
    wanted = {"t-0": (1, 3, 4), "t-1": (4, 5, 6), "t-2": (3,)}
    cluster, found = moved_to(tmp_path, one_replica_loses, wanted)

    assert found.unknown == {
        "t-0": "4 brokers take part in its move, of at most 3",
        "t-1": "6 brokers take part in its move, of at most 3",
    }
    assert found.unavailable == found.refusing == ()
    [(begun, _), (ended, _)] = states_of_move(known(cluster, "t-0"), cluster.partitions[0].targets)
    assert (begun.leader, begun.isr, ended.leader, ended.isr) == (0, 0b111, 0, 0b1101)
    assert states_of_move(known(cluster, "t-1"), cluster.partitions[1].targets) == ()


def test_a_partition_in_danger_stays_so_while_others_are_moved(tmp_path: Path) -> None:
    _, cluster = read(tmp_path)

    assert len(cluster.dangers) == 1
    assert reassigned_cluster(cluster, {"orders-0": (1, 3)}).dangers == cluster.dangers


def test_a_reassignment_that_leaves_a_stranger_in_the_elr_is_a_danger(tmp_path: Path) -> None:
    """C56: three replicas become one, and two that are in no replica set may be elected later."""
    cluster, _ = moved_to(tmp_path, one_replica_loses, {"t-0": (1,)})

    assert cluster.dangers == (
        "t-0: afterwards 2 and 3 would be in the ELR and no replica (docs/losses.md).",
    )


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"partitions": [{"topic": "t",\n "partition": 0,}]}', "move.json:2:17: "),
        ('Proposed partition reassignment configuration\n{"parti', "move.json:2:2: Unterminated"),
        ('{"partitions": []}', "length >= 1"),
        (
            '{"partitions": [{"topic": "t", "partition": -1, "replicas": [1]}]}',
            "partitions[0].part",
        ),
        ('{"partitions": [{"topic": "t", "partition": 0, "replicas": [1, 1]}]}', "a broker twice"),
        ('{"partitions": [{"topic": "u", "partition": 0, "replicas": [1]}]}', "no partition u-0"),
        ("[" * 100_000, "move.json"),
    ],
)
def test_a_reassignment_that_cannot_be_read_is_one_line(
    tmp_path: Path, cli: Commands, text: str, says: str
) -> None:
    (tmp_path / "topics.txt").write_text(MOVES)
    (tmp_path / "move.json").write_text(text)
    files = ("--config", tmp_path / "topics.txt", "--reassign", tmp_path / "move.json")

    code, out, err = cli("ask", *files, "--kafka-version", "4.4", name="waterline")

    assert (code, out, err.count("\n")) == (2, "", 1)
    assert says in err


def test_faults_are_named_in_words() -> None:
    assert describe(("restarts", "restarts")) == "two crashes"
    assert describe(("restarts", "moves")) == "one crash and one move of leadership"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (("--stop", 2), "--stop 2: broker 2 is down; up are 1 and 3"),
        (("--restart", 9), "broker 9 has no replica and is not known; up are 1 and 3"),
        (("--zone-down", "a"), "no broker that is up has this rack; no rack is known"),
        (("--restart", 1, "--rolling"), "--restart and --rolling are two questions"),
        (("--save", "f.json"), "go with --bootstrap-server"),
    ],
)
def test_a_question_that_cannot_be_asked_is_one_line(
    tmp_path: Path, cli: Commands, options: tuple[object, ...], text: str
) -> None:
    (tmp_path / "topics.txt").write_text(DOWN_2)

    code, out, err = cli("ask", "--config", tmp_path / "topics.txt", *options, name="waterline")

    assert (code, out) == (2, "")
    assert text in " ".join(err.split())
