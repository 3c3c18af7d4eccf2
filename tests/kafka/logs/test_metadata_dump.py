"""The dump of the metadata log says what it can be read to say, and no more."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.support.controller_logs import TOPIC_ID, dump_of
from tests.support.logged_walks import Decided
from waterline.checker.kafka.logs.metadata_dump import changes_of, sections_of
from waterline.checker.kafka.logs.observation import Change, PartitionState, Place
from waterline.checker.kafka.logs.reading import read_logs

RECORDED = Path(__file__).parent / "recorded"
DECIDED = (
    Decided(0, 0, 0, (0, 1)),
    Decided(1, 1, 1, (0, 1)),
    Decided(2, 1, 1, (1,)),
    Decided(3, 2, -1, (1,)),
)
TIMES = " CreateTime: 1795759853720 keySize: -1 valueSize: 22 sequence: -1 headerKeys: []"


def read(lines: Sequence[str]) -> tuple[list[Change], list[str]]:
    """The changes of t-0, and what was passed over."""
    passed_over: list[str] = []
    places = ((Place("dump.txt", at, line), line) for at, line in enumerate(lines, 1))
    found = changes_of(sections_of(places), passed_over)
    return [change for partition, change in found if partition == "t-0"], passed_over


def states(lines: Sequence[str]) -> list[tuple[int, PartitionState]]:
    """Number, leader epoch, leader and ISR of each."""
    return [(each.number, PartitionState(*each.state[:3])) for each in read(lines)[0]]


WHOLE = [(each.number, PartitionState(each.epoch, each.leader, each.isr)) for each in DECIDED]


def record(offset: int, kind: str, **values: object) -> list[str]:
    payload = json.dumps({"type": kind, "version": 0, "data": values})
    return [
        f"baseOffset: {offset} lastOffset: {offset} count: 1 isControl: false position: 0",
        f"| offset: {offset}{TIMES} payload: {payload}",
    ]


def change(offset: int, **values: object) -> list[str]:
    return record(offset, "PARTITION_CHANGE_RECORD", partitionId=0, topicId=TOPIC_ID, **values)


def test_a_leader_in_a_record_is_an_epoch() -> None:
    """Also where the same broker is elected; a record of the assignment alone has a number."""
    assert states(dump_of(DECIDED)) == WHOLE

    lines = dump_of(DECIDED[:1])
    end = len([line for line in lines if line.startswith("|")])
    more = change(end, leader=0) + change(end + 1, replicas=[1, 0]) + change(end + 2, leader=-2)
    assert states([*lines, *more])[1:] == [
        (1, PartitionState(1, 0, (0, 1))),
        (2, PartitionState(1, 0, (0, 1))),
        (3, PartitionState(1, 0, (0, 1))),
    ]


@pytest.mark.parametrize("topic", ["t", ""])
def test_a_record_that_clears_elrs_is_a_change_of_each_partition_with_one(topic: str) -> None:
    """TopicDelta.maybeClearElr: without that, every later number is one too small (4.0 on)."""
    lines = dump_of([Decided(0, 0, 0, (0, 1))])
    end = len([line for line in lines if line.startswith("|")])
    cleared = record(end, "CLEAR_ELR_RECORD", topicName=topic)
    with_elr = change(end, isr=[0], eligibleLeaderReplicas=[1])
    late = record(end + 1, "CLEAR_ELR_RECORD", topicName=topic) + change(end + 2, leader=-1)

    assert [n for n, _ in states([*lines, *cleared, *change(end + 1, leader=1)])] == [0, 1]
    found, _ = read([*lines, *with_elr, *late])
    assert [(each.number, each.state.elr) for each in found] == [
        (0, None),
        (1, (1,)),
        (2, ()),
        (3, ()),
    ]
    last_known = change(end, isr=[], leader=-1, eligibleLeaderReplicas=[], lastKnownElr=[0])
    assert [n for n, _ in states([*lines, *last_known, *late])] == [0, 1, 2, 3]
    other = [line.replace(f'"topicName": "{topic}"', '"topicName": "u"') for line in late]
    assert [n for n, _ in states([*lines, *with_elr, *other])] == [0, 1, 2]


def test_a_record_says_which_replicas_are_added_and_removed() -> None:
    lines = dump_of([Decided(0, 0, 0, (0, 1))])
    end = len([line for line in lines if line.startswith("|")])
    begun = change(end, replicas=[2, 0, 1], addingReplicas=[2])
    cancelled = change(end + 1, replicas=[0, 1], addingReplicas=[])
    found, _ = read([*lines, *begun, *cancelled])

    assert [(s.replicas, s.adding, s.removing) for s in (each.state for each in found[1:])] == [
        ((0, 1, 2), (2,), None),
        ((0, 1), (), None),
    ]


def test_a_missing_record_ends_what_is_known() -> None:
    lines = dump_of(DECIDED)
    for at in [k for k, line in enumerate(lines) if "PARTITION_CHANGE" in line]:
        found = states(lines[: at - 1] + lines[at + 1 :])
        assert found == WHOLE[: len(found)]
        assert len(found) < len(WHOLE)
    grepped = [lines[0], *(line for line in lines if '"partitionId"' in line)]
    assert states(grepped) == []


DAMAGES: dict[str, Callable[[str], str]] = {
    "cut": lambda line: line[:-10],
    "text": lambda line: line.replace('"isr":[1]', '"isr":["1"]'),
    "fraction": lambda line: line.replace('"isr":[1]', '"isr":[1e9]'),
    "deep": lambda line: line.replace('"isr":[1]', '"isr":' + "[" * 5000),
    "large": lambda line: line.replace('"isr":[1]', '"isr":[' + "9" * 5000 + "]"),
    "no payload": lambda line: line.split(" payload")[0],
    "no record": lambda line: line.split("payload")[0] + "payload: Error at 6, skipping. null",
    "list": lambda line: line.replace('"data":{', '"data":[').replace("}}", "]}"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_record_ends_what_is_known(damage: str) -> None:
    lines = dump_of(DECIDED)
    [at] = [k for k, line in enumerate(lines) if '"isr":[1]' in line]
    lines[at] = DAMAGES[damage](lines[at])
    found, passed_over = read(lines)

    assert [(each.number, each.state) for each in found] == WHOLE[:2]
    [said] = passed_over
    assert said.startswith(f"dump.txt:{at + 1}: records of the metadata log are missing")


def test_an_aborted_transaction_decides_nothing() -> None:
    lines = dump_of(DECIDED[:2])
    end = len([line for line in lines if line.startswith("|")])
    aborted = [
        *record(end, "BEGIN_TRANSACTION_RECORD", name="x"),
        *change(end + 1, leader=0),
        *record(end + 2, "ABORT_TRANSACTION_RECORD", reason="x"),
    ]
    assert states([*lines, *aborted]) == WHOLE[:2]

    ended = [*aborted[:4], *record(end + 2, "END_TRANSACTION_RECORD")]
    assert states([*lines, *ended]) == [*WHOLE[:2], (2, PartitionState(2, 0, (0, 1)))]


def test_a_snapshot_and_the_log_behind_it_are_joined() -> None:
    """In whatever order they were dumped. Without the snapshot the log says nothing."""
    state = dump_of([Decided(7, 4, 1, (0, 1))])
    state[0] = "Dumping /d/00000000000000000090-0000000003.checkpoint"
    log = ["Dumping /d/00000000000000000088.log", "Log starting offset: 88"]
    log += record(88, "NO_OP_RECORD") + record(89, "NO_OP_RECORD") + change(90, isr=[1])
    expected = [(7, PartitionState(4, 1, (0, 1))), (8, PartitionState(4, 1, (1,)))]

    assert states([*state, *log]) == expected
    assert states([*log, *state]) == expected
    assert states(log) == []
    later = [line.replace("88.log", "91.log") for line in log[:2]] + change(91, isr=[1])
    assert states([*state, *later]) == expected[:1]


def test_segments_that_overlap_are_read_once() -> None:
    assert states([*dump_of(DECIDED), *dump_of(DECIDED)]) == WHOLE


def test_a_dump_without_offsets_of_records_is_read() -> None:
    """kafka-dump-log --skip-record-metadata."""
    lines = [
        " payload:" + line.partition(" payload:")[2] if line.startswith("|") else line
        for line in dump_of(DECIDED)
    ]
    assert states(lines) == WHOLE


def test_a_topic_that_was_removed_is_over() -> None:
    lines = dump_of(DECIDED[:2])
    end = len([line for line in lines if line.startswith("|")])
    removed = [*record(end, "REMOVE_TOPIC_RECORD", topicId=TOPIC_ID), *change(end + 1, leader=0)]
    assert states([*lines, *removed]) == WHOLE[:2]


def test_a_dump_of_another_topic_says_nothing_of_this_one(tmp_path: Path) -> None:
    (tmp_path / "dump.txt").write_text("\n".join(dump_of(DECIDED, topic="other")) + "\n")
    logs = read_logs([RECORDED / "4.2.0-c21", tmp_path])
    before = read_logs([RECORDED / "4.2.0-c21"])

    assert "other-0" in logs.changes
    assert logs.of("t-0") == before.of("t-0")
    assert logs.notes_of("t-0") == []


def test_a_dump_is_found_in_a_folder_also_packed_and_other_texts_are_not(tmp_path: Path) -> None:
    text = "\n".join(dump_of(DECIDED)) + "\n"
    (tmp_path / "notes.txt").write_text("what happened: t-0 was offline\n")
    (tmp_path / "server.log").write_text("[KafkaServer id=1] started\n")
    with gzip.open(tmp_path / "metadata.txt.gz", "wt") as file:
        file.write(text)
    logs = read_logs([tmp_path])

    assert [each.number for each in logs.changes["t-0"]] == [0, 1, 2, 3]
    assert sorted(Path(each).name for each in logs.files) == ["metadata.txt.gz", "server.log"]


def test_the_dump_of_a_real_log_is_read_to_its_end() -> None:
    """Of a controller of 3.9.1, under faults: transactions, registrations, fencing, no-ops."""
    path = RECORDED / "3.9.1-kraft-controller" / "controller" / "metadata-dump.txt"
    found, passed_over = read(path.read_text().splitlines())

    assert [each.number for each in found] == list(range(9))
    assert found[-1].state == PartitionState(3, 1, *[(0, 1, 2)] * 2, (), ())
    assert passed_over == []
