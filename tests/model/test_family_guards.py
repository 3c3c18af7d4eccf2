"""When each step of the later versions and of the rarer faults can happen.

As in `test_guards`: one case for it, and one against it for every part of its guard. Which bound or
budget cuts it is in `test_family_limits`.
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from tests.support.states import edited, is_enabled, model_of
from waterline.model.core.state import State
from waterline.model.message.terms import (
    ANSWERED,
    DIVERGING,
    FETCHING,
    NO_EPOCH,
    NO_REPLICA,
    NO_ROLE,
    OUT_OF_RANGE,
    PARKED,
    REQUESTED,
    TRUNCATING,
)

ZOOKEEPER = model_of("kip320", requests_survive=True, late_metadata=True, consumer=True)
UNFENCED = model_of("epoch", requests_survive=True)
ON_FETCH = model_of("truncate-on-fetch", requests_survive=True)
KRAFT = model_of("kraft")
KIP_903 = model_of("kip903", requests_survive=True)
ELR = model_of("elr")
ANY_DISK = model_of("elr", lost_disks=1)
OUT_OF_SYNC = model_of("elr", lost_disks=1, disk_loss="out-of-sync")

START = KRAFT.initial[0]
"""r0 leads in epoch 0, r1 fetches from it, both are in sync. The same in every version."""
DOWN = edited(START, up={1: 0}, role={1: NO_ROLE}, known_epoch={1: NO_EPOCH})
"""The same with r1 down, which the controller has not noticed."""
FENCED = edited(DOWN, fenced=0b10, isr=0b01)
ZOMBIE = edited(START, fenced=0b10, isr=0b01)
"""r1 runs, and the controller takes it for down."""
STOPPING = edited(START, stopping=0b10)
BEHIND = edited(START, leo=[1], log=[[1]], produced=1)
"""r0 has a record that it does not know r1 to have."""

Case = tuple[str, str, Any, State, bool]


def diverging(role: int) -> State:
    return edited(START, role={1: role}, fetch={1: DIVERGING})


DIVERGING_CASES: list[Case] = [
    ("one told so truncates", "RecvDiverging follower=1", ON_FETCH, diverging(FETCHING), True),
    ("in doubt as well", "RecvDiverging follower=1", ON_FETCH, diverging(TRUNCATING), True),
    (
        "who asks first has no fetch",
        "RecvDiverging follower=1",
        UNFENCED,
        diverging(TRUNCATING),
        False,
    ),
    (
        "another answer is not it",
        "RecvDiverging follower=1",
        ON_FETCH,
        edited(START, fetch={1: ANSWERED}),
        False,
    ),
    ("a leader gets none", "RecvDiverging follower=0", ON_FETCH, START, False),
]

STRAY = edited(START, stray_from=1, stray_to=0)
"""A fetch of r1 at offset 0 of its epoch 0 is on its way to r0; r1 has an empty epoch cache."""
LONG = edited(BEHIND, leo=[2], log=[[1, 2]], produced=2, record_epoch=[0, 1], known_epoch={0: 1})
"""r0 leads in epoch 1, where it wrote m2; m1 is of epoch 0."""
LONG_STRAY = edited(LONG, epoch=1, stray_from=1, stray_to=0, stray_epoch=1)
STALE = edited(STRAY, stray_stale=1)

STRAY_CASES: list[Case] = [
    ("it arrives", "StrayFetch follower=1", ZOOKEEPER, STRAY, True),
    ("there is none", "StrayFetch follower=1", ZOOKEEPER, START, False),
    ("it is not this broker's", "StrayFetch follower=0", ZOOKEEPER, STRAY, False),
    (
        "its receiver does not lead",
        "StrayFetch follower=1",
        ZOOKEEPER,
        edited(STRAY, role={0: TRUNCATING}),
        False,
    ),
    (
        "it is of an older epoch",
        "StrayFetch follower=1",
        ZOOKEEPER,
        edited(STRAY, known_epoch={0: 1}),
        False,
    ),
    (
        "it is of a newer epoch",
        "StrayFetch follower=1",
        ZOOKEEPER,
        edited(STRAY, stray_epoch=1),
        False,
    ),
    (
        "before KIP-320 no epoch is asked for",
        "StrayFetch follower=1",
        UNFENCED,
        edited(STRAY, known_epoch={0: 1}),
        True,
    ),
    ("beyond the log", "StrayFetch follower=1", UNFENCED, edited(STRAY, stray_offset=1), False),
    (
        "at the end of the log",
        "StrayFetch follower=1",
        UNFENCED,
        edited(BEHIND, stray_from=1, stray_to=0, stray_offset=1),
        True,
    ),
    (
        "its last epoch is that of the log",
        "StrayFetch follower=1",
        ON_FETCH,
        edited(LONG_STRAY, stray_offset=1, stray_last_epoch=0),
        True,
    ),
    (
        "its last epoch ends earlier",
        "StrayFetch follower=1",
        ON_FETCH,
        edited(LONG_STRAY, stray_offset=2, stray_last_epoch=0),
        False,
    ),
    (
        "where questions are asked that is not seen",
        "StrayFetch follower=1",
        ZOOKEEPER,
        edited(LONG_STRAY, stray_offset=2, stray_last_epoch=0),
        True,
    ),
    (
        "its last epoch is not known",
        "StrayFetch follower=1",
        ON_FETCH,
        edited(LONG_STRAY, stray_offset=1, stray_last_epoch=2),
        False,
    ),
    ("its sender is new and the leader knows it", "StrayFetch follower=1", KIP_903, STALE, False),
    ("a member still", "StrayFetch follower=1", KIP_903, edited(STALE, pending_isr={0: 3}), False),
    (
        "the leader cannot know that yet",
        "StrayFetch follower=1",
        KIP_903,
        edited(STALE, known_isr={0: 0b01}),
        True,
    ),
    (
        "it goes by it in what it has asked for",
        "StrayFetch follower=1",
        KIP_903,
        edited(STALE, known_isr={0: 0b01}, pending_isr={0: 0b11}),
        False,
    ),
    (
        "what it knows is out of date",
        "StrayFetch follower=1",
        KIP_903,
        edited(STALE, outdated={0: 1}),
        True,
    ),
    ("until KIP-903 nobody asks", "StrayFetch follower=1", ON_FETCH, STALE, True),
    ("it is lost", "LoseStray", ZOOKEEPER, STRAY, True),
    ("one refused is lost too", "LoseStray", ZOOKEEPER, edited(STRAY, stray_epoch=1), True),
    ("what is not there is not", "LoseStray", ZOOKEEPER, START, False),
]

PENDING = edited(BEHIND, pending_isr={0: 0b01})
ALTER_CASES: list[Case] = [
    ("a request is answered", "AlterPartition leader=0", KRAFT, PENDING, True),
    ("an old leader waits", "AlterPartition leader=0", KRAFT, edited(PENDING, epoch=1), False),
    ("there is none", "AlterPartition leader=0", KRAFT, BEHIND, False),
    ("a follower has none", "AlterPartition leader=1", KRAFT, PENDING, False),
    ("one lagging is reported", "ShrinkIsr leader=0 follower=1", KRAFT, BEHIND, True),
    ("one request at a time", "ShrinkIsr leader=0 follower=1", KRAFT, PENDING, False),
    (
        "by one out of date too",
        "ShrinkIsr leader=0 follower=1",
        KRAFT,
        edited(BEHIND, outdated={0: 1}),
        True,
    ),
]

ONE_RECORD = edited(START, leo=[1, 1], log=[[1], [1]], produced=1)
DISK_CASES: list[Case] = [
    ("a record not flushed is lost", "PowerLoss replica=1 end=0", ELR, ONE_RECORD, True),
    ("where nothing is lost it is a crash", "PowerLoss replica=1 end=1", ELR, ONE_RECORD, False),
    (
        "what has survived one survives",
        "PowerLoss replica=1 end=0",
        ELR,
        edited(ONE_RECORD, durable={1: 1}),
        False,
    ),
    (
        "what came after may go",
        "PowerLoss replica=0 end=1",
        ELR,
        edited(LONG, durable={0: 1}),
        True,
    ),
    ("all of it may go", "PowerLoss replica=0 end=0", ELR, LONG, True),
    (
        "not of one that is down",
        "PowerLoss replica=1 end=0",
        ELR,
        edited(DOWN, leo={1: 1}, log={(1, 0): 1}, produced=1),
        False,
    ),
    ("a disk with records", "DiskLoss replica=1", ANY_DISK, ONE_RECORD, True),
    ("a leader's too", "DiskLoss replica=0", ANY_DISK, ONE_RECORD, True),
    (
        "a disk with a checkpoint",
        "DiskLoss replica=1",
        ANY_DISK,
        edited(START, checkpoint={1: 1}),
        True,
    ),
    ("an empty one is no loss", "DiskLoss replica=1", ANY_DISK, START, False),
    (
        "one that is down has lost it before",
        "DiskLoss replica=1",
        ANY_DISK,
        edited(DOWN, leo={1: 1}, log={(1, 0): 1}, produced=1),
        False,
    ),
    ("not in sync where that is asked", "DiskLoss replica=1", OUT_OF_SYNC, ONE_RECORD, False),
    (
        "out of sync",
        "DiskLoss replica=1",
        OUT_OF_SYNC,
        edited(ONE_RECORD, isr=0b01),
        True,
    ),
    (
        "out of sync by the controller's ISR",
        "DiskLoss replica=1",
        OUT_OF_SYNC,
        edited(ONE_RECORD, known_isr={0: 0b01}),
        False,
    ),
    (
        "a checkpoint is lost",
        "CheckpointLoss replica=1",
        ELR,
        edited(DOWN, checkpoint={1: 1}),
        True,
    ),
    ("there is none", "CheckpointLoss replica=1", ELR, DOWN, False),
    (
        "not while it runs",
        "CheckpointLoss replica=1",
        ELR,
        edited(START, checkpoint={1: 1}),
        False,
    ),
]

SHUTDOWN_CASES: list[Case] = [
    ("a follower begins", "BeginShutdown replica=1", KRAFT, START, True),
    ("a leader too", "BeginShutdown replica=0", KRAFT, START, True),
    ("the last in sync too", "BeginShutdown replica=0", KRAFT, edited(START, isr=0b01), True),
    ("one begins once", "BeginShutdown replica=1", KRAFT, STOPPING, False),
    ("not one that is down", "BeginShutdown replica=1", KRAFT, DOWN, False),
    ("not one taken for down", "BeginShutdown replica=1", KRAFT, ZOMBIE, False),
    ("it stops", "Stop replica=1", KRAFT, STOPPING, True),
    ("not without having begun", "Stop replica=1", KRAFT, START, False),
    ("not twice", "Stop replica=1", KRAFT, edited(DOWN, stopping=0b10), False),
    ("a crash forestalls it", "Crash replica=1", KRAFT, STOPPING, True),
    ("the controller notices", "Fence replica=1", KRAFT, edited(DOWN, stopping=0b10), True),
    ("leadership does not move there", "Move replica=1", KRAFT, STOPPING, False),
]

SESSION_CASES: list[Case] = [
    ("a live broker's", "SessionExpiry replica=1", ZOOKEEPER, START, True),
    ("the leader's", "SessionExpiry replica=0", KRAFT, START, True),
    ("of one that is down it is Fence", "SessionExpiry replica=1", ZOOKEEPER, DOWN, False),
    ("it has none", "SessionExpiry replica=1", ZOOKEEPER, ZOMBIE, False),
    ("one that stops closes it", "SessionExpiry replica=1", ZOOKEEPER, STOPPING, False),
    ("one taken for down is back", "Register replica=1", ZOOKEEPER, ZOMBIE, True),
    ("one that is not", "Register replica=1", ZOOKEEPER, START, False),
    ("one that is down", "Register replica=1", ZOOKEEPER, FENCED, False),
]

THREE_EPOCHS = edited(
    START, epoch=2, leader=1, decided_leader=[0, 1], decided_isr=[0b11, 0b11], known_epoch={1: 1}
)
"""r1 led in epoch 1 and leads in epoch 2; r0 knows of neither."""
METADATA_CASES: list[Case] = [
    ("an older decision arrives", "LearnLate replica=0 epoch=1", ZOOKEEPER, THREE_EPOCHS, True),
    ("not the current one", "LearnLate replica=0 epoch=2", ZOOKEEPER, THREE_EPOCHS, False),
    ("not one already known", "LearnLate replica=1 epoch=1", ZOOKEEPER, THREE_EPOCHS, False),
    ("nor one before that", "LearnLate replica=1 epoch=0", ZOOKEEPER, THREE_EPOCHS, False),
    (
        "not one without a leader",
        "LearnLate replica=0 epoch=1",
        ZOOKEEPER,
        edited(THREE_EPOCHS, decided_leader=[0, NO_REPLICA]),
        False,
    ),
    (
        "not by one that is down",
        "LearnLate replica=0 epoch=1",
        ZOOKEEPER,
        edited(THREE_EPOCHS, up={0: 0}, role={0: NO_ROLE}),
        False,
    ),
    (
        "not after a restart",
        "LearnLate replica=0 epoch=1",
        ZOOKEEPER,
        edited(THREE_EPOCHS, role={0: NO_ROLE}, known_epoch={0: NO_EPOCH}),
        False,
    ),
    (
        "by one taken for down: it was sent before",
        "LearnLate replica=0 epoch=1",
        ZOOKEEPER,
        edited(THREE_EPOCHS, fenced=0b01),
        True,
    ),
    (
        "ZooKeeper tells one taken for down nothing",
        "Learn replica=1",
        ZOOKEEPER,
        edited(ZOMBIE, epoch=1),
        False,
    ),
    ("KRaft does", "Learn replica=1", KRAFT, edited(ZOMBIE, epoch=1), True),
    ("a leader within its epoch", "Learn replica=0", KRAFT, edited(START, outdated={0: 1}), True),
    ("there is nothing new", "Learn replica=0", KRAFT, START, False),
    (
        "no leader is no news",
        "Learn replica=0",
        model_of("kraft-without-steps-down"),
        edited(START, outdated={0: 1}, leader=NO_REPLICA),
        False,
    ),
]

ASKING = edited(START, role={1: TRUNCATING})
"""r1 does not know yet where to cut its log."""
FETCH_CASES: list[Case] = [
    ("one in doubt fetches", "SendFetch follower=1", ON_FETCH, ASKING, True),
    ("or asks first", "SendFetch follower=1", ZOOKEEPER, ASKING, False),
    (
        "a request in doubt is handled",
        "LeaderFetch follower=1",
        ON_FETCH,
        edited(START, role={1: TRUNCATING}, fetch={1: REQUESTED}),
        True,
    ),
    (
        "out of range in doubt too",
        "RecvOutOfRange follower=1",
        ON_FETCH,
        edited(START, role={1: TRUNCATING}, fetch={1: OUT_OF_RANGE}),
        True,
    ),
    (
        "an answer in doubt is received",
        "RecvFetch follower=1",
        ON_FETCH,
        edited(START, role={1: TRUNCATING}, fetch={1: ANSWERED}),
        True,
    ),
    (
        "a parked fetch in doubt is completed",
        "WakeParked follower=1",
        ON_FETCH,
        edited(START, role={1: TRUNCATING}, fetch={1: PARKED}),
        True,
    ),
    ("one about to stop has stopped", "SendFetch follower=1", ZOOKEEPER, STOPPING, False),
    ("under KRaft it goes on", "SendFetch follower=1", KRAFT, STOPPING, True),
    (
        "its request is handled all the same",
        "LeaderFetch follower=1",
        ZOOKEEPER,
        edited(STOPPING, fetch={1: REQUESTED}),
        True,
    ),
    ("one taken for down fetches", "SendFetch follower=1", KRAFT, ZOMBIE, True),
]

QUESTION_CASES: list[Case] = [
    ("both mean one epoch", "OffsetForLeaderEpoch follower=1", ZOOKEEPER, ASKING, True),
    (
        "the leader is of a later one",
        "OffsetForLeaderEpoch follower=1",
        ZOOKEEPER,
        edited(ASKING, known_epoch={0: 1}),
        False,
    ),
    (
        "the leader is of an older one",
        "OffsetForLeaderEpoch follower=1",
        ZOOKEEPER,
        edited(ASKING, known_epoch={1: 1}),
        False,
    ),
    (
        "until KIP-320 nobody asks",
        "OffsetForLeaderEpoch follower=1",
        UNFENCED,
        edited(ASKING, known_epoch={1: 1}),
        True,
    ),
]

COMMITTED = edited(ONE_RECORD, hw=[1, 1])
CONSUMER_CASES: list[Case] = [
    ("a committed record is read", "Consume leader=0", ZOOKEEPER, COMMITTED, True),
    ("one above the watermark is not", "Consume leader=0", ZOOKEEPER, ONE_RECORD, False),
    ("nor one read before", "Consume leader=0", ZOOKEEPER, edited(COMMITTED, consumed=1), False),
    ("not from a follower", "Consume leader=1", ZOOKEEPER, COMMITTED, False),
    (
        "from one deposed",
        "Consume leader=0",
        ZOOKEEPER,
        edited(COMMITTED, leader=1, epoch=1),
        True,
    ),
    (
        "not after it has gone wrong",
        "Consume leader=0",
        ZOOKEEPER,
        edited(COMMITTED, misread=1),
        False,
    ),
]

UNNOTICED = model_of("kip320", restart_detection="any")
RESTART_CASES: list[Case] = [
    ("unnoticed with ZooKeeper", "Restart replica=1", UNNOTICED, DOWN, True),
    (
        "not where it closed its session",
        "Restart replica=1",
        UNNOTICED,
        edited(DOWN, stopping=0b10),
        False,
    ),
    ("once it was noticed", "Restart replica=1", UNNOTICED, FENCED, True),
    (
        "under KRaft never unnoticed",
        "Restart replica=1",
        model_of("kraft", restart_detection="any"),
        DOWN,
        False,
    ),
    ("under KRaft once fenced", "Restart replica=1", KRAFT, FENCED, True),
]

CASES = [
    *DIVERGING_CASES,
    *STRAY_CASES,
    *ALTER_CASES,
    *DISK_CASES,
    *SHUTDOWN_CASES,
    *SESSION_CASES,
    *METADATA_CASES,
    *FETCH_CASES,
    *QUESTION_CASES,
    *CONSUMER_CASES,
    *RESTART_CASES,
]


@pytest.mark.parametrize(
    ("step", "model", "state", "enabled"),
    [pytest.param(*case[1:], id=f"{case[1].split()[0]}: {case[0]}") for case in CASES],
)
def test_a_step_is_enabled_exactly_when(step: str, model: Any, state: State, enabled: bool) -> None:
    assert is_enabled(model, state, step) is enabled


def test_what_test_guards_leaves_to_this_file_has_a_case_for_it_and_one_against_it() -> None:
    elsewhere = runpy.run_path(str(Path(__file__).with_name("test_guards.py")))["ELSEWHERE"]
    named = {(step.split()[0], enabled) for _, step, _, _, enabled in CASES}

    assert {(name, kind) for name in elsewhere for kind in (True, False)} <= named
