"""OffsetForLeaderEpoch as Kafka 0.11 answers it (KIP-101), on hand-made logs of any length.

The vectors are those of Kafka's LeaderEpochFileCacheTest. They come from a later Kafka; four kinds
of them are not 0.11's, and are either left out or have 0.11's answer here:

* A later answer names the greatest epoch not above the requested one; 0.11 has only the offset.
* An epoch older than the first: later its end is the first start, in 0.11 it is undefined.
* No epoch asked of an empty cache: later undefined; in 0.11 both are -1 and the LEO is the answer.
* Entries of epochs without records ([(0,0)] then (1,0), or (2,9) then (3,9)), and an assignment
  that removes later entries: from 2.1 on, where becoming leader makes an entry. Here records do.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from waterline.model.message.environment import Environment
from waterline.model.message.epochs import epoch_at, latest_epoch
from waterline.model.message.settings import settings_of
from waterline.model.message.terms import LEADER, NO_EPOCH, NO_ROLE, UNKNOWN_OFFSET
from waterline.model.message.truncation import end_offset_for, truncate
from waterline.model.message.versions import VERSIONS

UNDEFINED = UNKNOWN_OFFSET
KAFKA_0_11 = settings_of(Environment(), VERSIONS["epoch"])
KAFKA_2_0 = settings_of(Environment(), VERSIONS["kip279-code"])
KAFKA_2_1 = settings_of(Environment(), VERSIONS["kip320"])
Cache = list[tuple[int, int]]


def log_of(cache: Cache, leo: int) -> Any:
    """A log that has this epoch cache: records below its first entry have no epoch."""
    starts = {start: epoch for epoch, start in cache}
    epochs, epoch = [], NO_EPOCH
    for offset in range(leo):
        epoch = starts.get(offset, epoch)
        epochs.append(epoch)
    return SimpleNamespace(
        leo=[leo],
        hw=[0],
        durable=[0],
        role=[NO_ROLE],
        entry_lost=[0],
        log={(0, offset): offset + 1 for offset in range(leo)},
        record_epoch=epochs,
    )


VECTORS: list[tuple[Cache, int, int, int]] = [
    ([(2, 10)], 11, 2, 11),
    ([(2, 11)], 14, 2, 14),
    ([(2, 11), (3, 12)], 13, -1, UNDEFINED),
    ([], 0, 0, UNDEFINED),
    ([], 0, -1, 0),
    ([], 7, -1, 7),
    ([(5, 11), (6, 12), (7, 13)], 14, 4, UNDEFINED),
    ([(5, 11), (7, 12)], 13, 5, 12),
    ([(5, 11), (7, 12)], 13, 6, 12),
    ([(1, 11), (2, 13), (3, 15)], 17, 2, 15),
    ([(0, 10), (2, 13), (4, 17)], 18, 1, 13),
    ([(0, 10), (2, 13), (4, 17)], 18, 2, 17),
    ([(0, 10), (2, 13), (4, 17)], 18, 3, 17),
    ([(2, 100)], 101, 3, UNDEFINED),
    ([(1, 0)], 5, 1, 5),
    ([(1, 0)], 5, 0, UNDEFINED),
    ([(1, 0), (2, 5)], 10, 2, 10),
    ([(1, 0), (2, 5)], 10, 1, 5),
    ([(1, 0), (2, 5)], 10, 0, UNDEFINED),
    ([(0, 0), (1, 3), (2, 6)], 9, 0, 3),
    ([(0, 0), (1, 3), (2, 6)], 9, 1, 6),
    ([(0, 0), (1, 3), (2, 6)], 9, 2, 9),
]


@pytest.mark.parametrize(("cache", "leo", "requested", "end"), VECTORS)
def test_an_epoch_ends_where_the_next_larger_one_starts(
    cache: Cache, leo: int, requested: int, end: int
) -> None:
    assert end_offset_for(log_of(cache, leo), KAFKA_0_11, 0, requested)[1] == end


@pytest.mark.parametrize("length", [100, 50, 120])
def test_the_second_epoch_starts_where_the_first_has_its_length(length: int) -> None:
    s = log_of([(0, 0), (1, length)], length + 5)

    assert [epoch_at(s, 0, offset) for offset in (0, length - 1, length)] == [0, 0, 1]
    assert end_offset_for(s, KAFKA_0_11, 0, 0)[1] == length
    assert end_offset_for(s, KAFKA_0_11, 0, 1)[1] == length + 5
    assert latest_epoch(s, KAFKA_0_11, 0) == 1


def test_a_follower_that_lacks_the_leaders_epoch_keeps_only_the_common_part() -> None:
    leader, follower = log_of([(0, 0), (1, 1)], 2), log_of([(0, 0)], 2)
    _, end = end_offset_for(leader, KAFKA_0_11, 0, latest_epoch(follower, KAFKA_0_11, 0))
    truncate(follower, KAFKA_0_11, 0, end)

    assert end == 1
    assert (follower.leo, follower.log[0, 0], follower.log[0, 1]) == ([1], 1, 0)


def test_a_leader_that_never_saw_the_requested_epoch_answers_past_the_common_part() -> None:
    """KAFKA-6361: the two share 0..10; up to 21 the follower keeps what it wrote in epoch 2."""
    leader = log_of([(1, 0), (3, 21)], 31)

    assert end_offset_for(leader, KAFKA_0_11, 0, 2)[1] == 21


def test_truncation_removes_the_entries_that_start_at_the_cut_or_later() -> None:
    s = log_of([(2, 6), (3, 8), (4, 11)], 12)
    truncate(s, KAFKA_0_11, 0, 8)

    assert latest_epoch(s, KAFKA_0_11, 0) == 2
    assert end_offset_for(s, KAFKA_0_11, 0, 2)[1] == 8
    assert end_offset_for(s, KAFKA_0_11, 0, 3)[1] == UNDEFINED


def test_an_epoch_that_comes_back_makes_no_second_entry() -> None:
    """0.11 ignores it with a warning; since KAFKA-7415 it removes the entry of epoch 2."""
    s = log_of([(1, 5), (2, 6), (1, 7)], 8)

    assert latest_epoch(s, KAFKA_0_11, 0) == 2
    assert end_offset_for(s, KAFKA_0_11, 0, 2)[1] == 8
    assert end_offset_for(s, KAFKA_0_11, 0, 1)[1] == 6


def test_an_empty_log_has_no_latest_epoch() -> None:
    assert latest_epoch(log_of([], 0), KAFKA_0_11, 0) == NO_EPOCH


LATER_VECTORS: list[tuple[Cache, int, int, tuple[int, int]]] = [
    ([(2, 10)], 11, 2, (2, 11)),
    ([(2, 11), (3, 12)], 13, -1, (NO_EPOCH, UNDEFINED)),
    ([], 0, 0, (NO_EPOCH, UNDEFINED)),
    ([], 0, -1, (NO_EPOCH, UNDEFINED)),
    ([(5, 11), (6, 12), (7, 13)], 14, 4, (4, 11)),
    ([(5, 11), (7, 12)], 13, 6, (5, 12)),
    ([(1, 11), (2, 13), (3, 15)], 17, 2, (2, 15)),
    ([(0, 10), (2, 13), (4, 17)], 18, 1, (0, 13)),
    ([(0, 10), (2, 13), (4, 17)], 18, 3, (2, 17)),
    ([(2, 100)], 101, 3, (NO_EPOCH, UNDEFINED)),
]


@pytest.mark.parametrize(("cache", "leo", "requested", "answer"), LATER_VECTORS)
def test_since_2_1_the_answer_names_the_epoch_it_is_about(
    cache: Cache, leo: int, requested: int, answer: tuple[int, int]
) -> None:
    assert end_offset_for(log_of(cache, leo), KAFKA_2_1, 0, requested) == answer


def test_2_0_0_has_no_answer_for_what_is_before_its_first_epoch() -> None:
    """KIP-279 as written, and 2.1, say where the first one begins (C4b)."""
    s = log_of([(5, 11), (6, 12), (7, 13)], 14)

    assert end_offset_for(s, KAFKA_2_0, 0, 4) == (NO_EPOCH, UNDEFINED)
    assert end_offset_for(s, KAFKA_2_0, 0, 6) == (6, 13)


@pytest.mark.parametrize(
    ("leo", "requested", "answer"),
    [(0, 1, (1, 0)), (5, 1, (1, 5)), (5, 0, (0, 5)), (5, 2, (NO_EPOCH, UNDEFINED))],
)
def test_a_leader_knows_its_epoch_before_it_writes(
    leo: int, requested: int, answer: tuple[int, int]
) -> None:
    """KAFKA-7415: an entry (1, LEO) from the moment it leads."""
    s = log_of([(0, 0)], leo)
    s.role, s.known_epoch = [LEADER], [1]

    assert end_offset_for(s, KAFKA_2_1, 0, requested) == answer
    assert latest_epoch(s, KAFKA_0_11, 0) == (0 if leo else NO_EPOCH)
