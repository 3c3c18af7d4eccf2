"""What is committed, and where it is kept: PartitionTest, HighwatermarkPersistenceTest.

Replica 0 leads. "Fetches from" is what the leader learns of a fetch: an offset.
"""

from __future__ import annotations

import pytest

from tests.support.kafka_vectors import (
    Cache,
    Vector,
    calls,
    is_enabled,
    members,
    partition,
    rules_at,
    take,
    write,
)
from waterline.model.message.fetch import observe_fetch
from waterline.model.message.high_watermark import counted_isr
from waterline.model.message.metadata import take_up

TEN: Cache = [(4, 0)]
BOTH = ("2.4.0", "2.7.0", "2.8.1", "3.3.0", "3.8.0")

UNDER_MIN_ISR = "PartitionTest.testHighWatermarkAdvanceShouldNotAdvanceWhenUnderMinISR"


@pytest.mark.parametrize("kraft", [False, True], ids=["zookeeper", "kraft"])
@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=UNDER_MIN_ISR, tags=("3.7.0", "3.8.0"), given=given, says=says)
            for given, says in (
                ("nobody has fetched", (0, 2)),
                ("1 has fetched", (0, 2)),
                ("2 has fetched", (0, 3)),
                ("the ISR is three", (10, 3)),
            )
        ]
    ),
)
def test_the_high_watermark_waits_for_min_insync_replicas(
    vector: Vector, tag: str, kraft: bool
) -> None:
    """KAFKA-15583, with min.insync.replicas 3 and two in sync; told are HW and maximal ISR."""
    asked = Vector(test="", tags=(), given=None, says=None, kraft=kraft)
    c = rules_at(tag, asked, replicas=3, min_insync_replicas=3)
    s = partition(3, epoch=5, known_epoch=[5, 5, 5], isr=0b011, known_isr=[0b011])
    write(s, 0, TEN, 10)
    take_up(s, c, 0, 0, 5, 0b011)
    if vector.given != "nobody has fetched":
        observe_fetch(s, c, 0, 1, 10, 0)
    if vector.given in {"2 has fetched", "the ISR is three"}:
        observe_fetch(s, c, 0, 2, 10, 0)
    if vector.given == "the ISR is three":
        take(s, c, "AlterPartition 0")

    assert (s.hw[0], len(members(counted_isr(s, c, 0)))) == vector.says


PREVIOUS = "PartitionTest.testShouldNotShrinkIsrIfPreviousFetchIsCaughtUp"
AFTER_CHANGE = "PartitionTest.testMonotonicOffsetsAfterLeaderChange"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=PREVIOUS, tags=BOTH, given=[], says=0),
            Vector(test=PREVIOUS, tags=BOTH, given=[5], says=5),
            Vector(test=PREVIOUS, tags=BOTH, given=[5, 10], says=10),
        ]
    ),
)
def test_the_high_watermark_is_the_least_end_in_sync(vector: Vector, tag: str) -> None:
    """Given what replica 1 has fetched from; five more records come before the second."""
    c = rules_at(tag)
    s = partition(epoch=5, known_epoch=[5, 5])
    write(s, 0, TEN, 10)
    take_up(s, c, 0, 0, 5, 0b11)
    for number, offset in enumerate(vector.given):
        take(s, c, *["Produce 0"] * (5 * number))
        observe_fetch(s, c, 0, 1, offset, 0)

    assert s.hw[0] == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=AFTER_CHANGE, tags=("2.4.0", "2.7.0", "3.8.0"), given=moment, says=says)
            for moment, says in (("appended", 0), ("fetched", 2), ("leads again", 2), ("all", 5))
        ]
    ),
)
def test_a_leader_that_comes_back_keeps_its_high_watermark(vector: Vector, tag: str) -> None:
    """Five records in epoch 8, then another leader in epoch 9, and this one again in epoch 10."""
    c = rules_at(tag)
    s = partition(3, isr=0b101, epoch=8, known_epoch=[7])
    take_up(s, c, 0, 0, 8, 0b101)
    take(s, c, *["Produce 0"] * 5)
    if vector.given != "appended":
        for follower in (1, 2):
            observe_fetch(s, c, 0, follower, 0, 0)
            observe_fetch(s, c, 0, follower, 2, 0)
    if vector.given in {"leads again", "all"}:
        take_up(s, c, 0, 2, 9, 0b101)
        s.epoch = 10
        take_up(s, c, 0, 0, 10, 0b101)
    if vector.given == "all":
        observe_fetch(s, c, 0, 1, 5, 0)
        observe_fetch(s, c, 0, 2, 5, 0)

    assert s.hw[0] == vector.says


CHECKPOINT = "PartitionTest.testUseCheckpointToInitializeHighWatermark"
PERSISTENCE = "HighwatermarkPersistenceTest.testHighWatermarkPersistenceSinglePartition"


@pytest.mark.parametrize(
    ("vector", "tag"), calls([Vector(test=CHECKPOINT, tags=BOTH, given=(4, 6), says=4)])
)
def test_a_broker_starts_with_the_checkpointed_high_watermark(vector: Vector, tag: str) -> None:
    checkpointed, end = vector.given
    s = partition(up=[0], role=[0], fenced=0b01, checkpoint=[checkpointed])
    write(s, 0, [(5, 0)], end)
    take(s, rules_at(tag), "Restart 0")

    assert s.hw[0] == vector.says


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=PERSISTENCE, tags=("0.9.0.0", "2.0.1", "3.8.0"), given=hw, says=hw)
            for hw in (5,)
        ]
    ),
)
def test_the_high_watermark_is_checkpointed(vector: Vector, tag: str) -> None:
    c = rules_at(tag)
    s = partition(hw=[vector.given])
    before = is_enabled(s, c, "Checkpoint 1")
    take(s, c, "Checkpoint 0")

    assert not before
    assert s.checkpoint[0] == vector.says


TOO_FEW = "ProducerFailureHandlingTest.testNotEnoughReplicas"


@pytest.mark.parametrize(
    ("vector", "tag"),
    calls(
        [
            Vector(test=TOO_FEW, tags=("2.0.1",), given=(0b11, 3), says=False),
            Vector(
                test=f"{TOO_FEW}AfterBrokerShutdown",
                tags=("2.0.1", "3.8.0"),
                given=(0b01, 2),
                says=False,
            ),
        ]
    ),
)
def test_a_leader_with_too_few_in_sync_takes_no_record(vector: Vector, tag: str) -> None:
    isr, minimum = vector.given
    c = rules_at(tag, replicas=3, min_insync_replicas=minimum)
    s = partition(isr=isr, known_isr=[isr])
    enough = partition(3)

    assert is_enabled(s, c, "Produce 0") == vector.says
    assert is_enabled(enough, c, "Produce 0")
