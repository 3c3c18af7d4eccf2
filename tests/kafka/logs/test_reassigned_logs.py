"""Logs with a reassignment: it is searched under KRaft, and never passed over elsewhere.

Lines are those of random walks of the model, and of brokers and controllers as Kafka prints them.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.support.commands import Commands
from tests.support.controller_logs import dump_of
from tests.support.logged_walks import Decided
from waterline.checker.kafka.logs.answer import answer_of
from waterline.checker.kafka.logs.evidence import evidence_of
from waterline.checker.kafka.logs.fitting import Circumstances, bounds_in_turn
from waterline.checker.kafka.logs.history import history_of
from waterline.checker.kafka.logs.observation import CONTROLLER
from waterline.checker.kafka.logs.reading import Logs, read_logs
from waterline.checker.kafka.logs.reassigned import reassigned_in, requests_in
from waterline.model.message.environment import Environment
from waterline.model.message.releases import release_named

BOUNDS = Environment(
    replicas=3,
    assigned=2,
    records=1,
    epochs=4,
    restarts=1,
    moves=1,
    reassignments=2,
    restart_detection="any",
    election_order="any",
    min_insync_replicas=2,
)
ELR, KRAFT = "elr", "kip903"


def given(version: str) -> Circumstances:
    return Circumstances(version=version, hw_in_response="post", min_insync_replicas=2)


MOVED = (
    Decided(0, 0, 0, (0, 1), (0, 1), (), ()),
    Decided(1, 0, 0, (0, 1), (0, 1, 2), (2,), (1,)),
    Decided(2, 1, 0, (0, 2), (0, 2), (), ()),
)


def role(broker: int, epoch: int, number: int, isr: str, before: str) -> str:
    if broker == 0:
        return (
            f"[Broker id=0] Leader t-0 starts at leader epoch {epoch} from offset 5 with partition "
            f"epoch {number}, high watermark 5, ISR [{isr}], adding replicas [] and removing "
            f"replicas [] . Previous leader None and previous leader epoch was {before}."
        )
    return (
        f"[Broker id={broker}] Follower t-0 starts at leader epoch {epoch} from offset "
        f"{0 if number == 1 else 5} with partition epoch {number} and high watermark 0. Current "
        "leader is 0. Previous leader None and previous leader epoch was -1."
    )


def logs_of(folder: Path, *, controller: str = "") -> Logs:
    """A replica of broker 1 moves to broker 2, which is empty, while the log has 5 records."""
    lines = {
        0: [role(0, 0, 0, "0,1", "-1"), role(0, 1, 2, "0,2", "0")],
        1: [
            role(1, 0, 0, "", ""),
            "Log for partition t-0 is renamed to /d/t-0.7d2f-delete and is "
            "scheduled for deletion (kafka.log.LogManager)",
        ],
        2: [role(2, 0, 1, "", ""), role(2, 1, 2, "", "")],
    }
    for broker, own in lines.items():
        text = "\n".join([f"[BrokerServer id={broker}] started", *own])
        (folder / f"broker-{broker}.log").write_text(text + "\n")
    if controller:
        (folder / "controller.log").write_text(controller + "\n")
    return read_logs([folder])


def test_a_replica_that_moves_begins_with_an_empty_log(tmp_path: Path) -> None:
    """So offset 0 is told apart, though the first leader began with 5 records."""
    (tmp_path / "dump.txt").write_text("\n".join(dump_of(MOVED)) + "\n")
    found = answer_of(logs_of(tmp_path), "t-0", given(KRAFT), states_max=600)
    history = found.best.history

    assert found.fits
    assert set(found.best.fits) == {False}
    assert (history.brokers, history.assigned, history.reassignments) == ((0, 1, 2), 2, 1)
    assert history.offsets == (0, 5)
    assert found.best.environment.reassignments == 1
    names = [name for name, _ in found.shown.calls]
    assert "Reassign" in names
    assert [each.is_request for each in found.evidence.reassigned] == [True, False]


def test_a_reassignment_is_known_by_a_log_that_is_deleted(tmp_path: Path) -> None:
    logs = logs_of(tmp_path)
    [seen] = evidence_of(logs.of("t-0")).reassigned

    assert str(seen) == f"a broker deleted its log ({tmp_path}/broker-1.log:3)"
    assert requests_in([seen]) == 2


def test_a_decision_that_no_broker_confirms_may_have_been_made(tmp_path: Path) -> None:
    """A search without the reassignment would say that nothing is lost."""
    dump = [MOVED[0], Decided(1, 0, 0, (0, 1), (0, 1, 2), (2,), ())]
    (tmp_path / "dump.txt").write_text("\n".join(dump_of(dump)) + "\n")
    (tmp_path / "broker-0.log").write_text(role(0, 0, 0, "0,1", "-1") + "\n")
    observed = read_logs([tmp_path]).of("t-0")

    assert [str(each).split(" (")[0] for each in evidence_of(observed).reassigned] == [
        "replicas 0, 1, 2, adding 2"
    ]


ZOOKEEPER = (
    "[Controller id=0] Leader 0 for partition t-0 being reassigned, is already in the new list of "
    "replicas 0,2 and is alive (kafka.controller.KafkaController)"
)


def test_what_is_not_searched_is_said_and_is_no_verdict(tmp_path: Path, cli: Commands) -> None:
    """With ZooKeeper: neither that something fits, nor that nothing is lost."""
    logs = logs_of(tmp_path, controller=ZOOKEEPER)
    version = release_named("3.9:zookeeper")[0].version
    found = answer_of(logs, "t-0", given(version))

    assert found.best is None
    assert not any((found.fits, found.never_loses, found.nothing_fits))
    assert "that is not searched" in found.unsearched
    code, out, _ = cli(
        "explain-logs", str(tmp_path), "--kafka", "3.9.1:zookeeper", name="waterline"
    )
    printed = " ".join(out.split())
    assert code == 20
    assert "Replicas were reassigned: replicas 0, 2" in printed
    assert "C63 (docs/losses.md)" in printed
    assert "No behaviour was searched for: replicas are reassigned" in printed
    assert "loses" not in printed


def test_epochs_before_and_after_are_searched_without_it(tmp_path: Path) -> None:
    """Who is a replica in these epochs alone is one of the model."""
    dump = [*MOVED, Decided(3, 2, 0, (0, 2), (0, 2), (), ())]
    (tmp_path / "dump.txt").write_text("\n".join(dump_of(dump)) + "\n")
    logs_of(tmp_path)
    for broker in (0, 2):
        with (tmp_path / f"broker-{broker}.log").open("a") as file:
            file.write(f"{role(broker, 2, 3, '0,2', '1')}\n")
    found = answer_of(read_logs([tmp_path]), "t-0", given(KRAFT), epochs=(2, 2), states_max=600)

    assert found.fits
    assert (found.best.history.brokers, found.best.environment.reassignments) == ((0, 2), 0)
    assert not found.evidence.reassigned
    assert len(found.evidence.reassigned_elsewhere) == 2


def test_more_than_are_searched_at_once_are_refused(tmp_path: Path) -> None:
    states = [((0, 1), (), ()), ((0, 1, 2), (2,), ())] * 5
    dump = [Decided(n, 0, 0, (0, 1), *sets) for n, sets in enumerate(states)]
    (tmp_path / "dump.txt").write_text("\n".join(dump_of(dump)) + "\n")
    lines = [role(0, 0, 0, "0,1", "-1"), role(0, 0, 8, "0,1", "-1")]
    (tmp_path / "broker-0.log").write_text("\n".join(lines) + "\n")
    logs = read_logs([tmp_path])

    assert "at most 3 reassignments" in answer_of(logs, "t-0", given(KRAFT)).unsearched


def test_partition_0_is_taken_for_as_large_as_this_one_was(tmp_path: Path) -> None:
    """The controller goes by its replicas: C56."""
    (tmp_path / "dump.txt").write_text("\n".join(dump_of(MOVED)) + "\n")
    logs = logs_of(tmp_path)
    history = history_of(
        logs.of("t-0"),
        with_server_log=set(),
        reassigned=reassigned_in(logs.of("t-0"), None, None),
    )
    other = replace(given(ELR), is_first_partition=False)

    assert [
        next(bounds_in_turn(history, g)).first_partition_replicas for g in (given(ELR), other)
    ] == [0, 2]
    assert CONTROLLER in logs.of("t-0")
