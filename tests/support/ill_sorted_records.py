"""Rules that use a record as something else, or forget that one may be nowhere; and sound rules.

As in `tests.support.ill_sorted_epochs`; those that begin with `sound` are not refused.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.clients import begin_record
from waterline.model.message.epochs import epoch_at, is_next_epoch
from waterline.model.message.features import APPEND_CHECKS_EPOCH, has
from waterline.model.message.partition_state import begin_epoch
from waterline.model.message.terms import (
    NO_EPOCH,
    NO_RECORD,
    UNKNOWN_OFFSET,
    contains,
    size,
    with_member,
)


def epoch_and_end(s: Any, replica: int) -> tuple[int, int]:
    return s.known_epoch[replica], s.leo[replica]


def born_in_a_number(s: Any, c: Any, replica: int) -> None:
    begin_record(s, s.leo[replica])  #!


# --- records -------------------------------------------------------------------------------------


def record_and_one(s: Any, c: Any, replica: int) -> None:
    s.log[replica, 0] = s.log[replica, 1] + 1  #!


def record_less_two(s: Any, c: Any, replica: int) -> None:
    if s.record_epoch[s.log[replica, 0] - 2] == s.epoch:  #!
        s.up[replica] = 0


def record_in_order(s: Any, c: Any, replica: int) -> None:
    if s.log[replica, 0] < s.log[replica, 1]:  #!
        s.up[replica] = 0


def record_equals_one(s: Any, c: Any, replica: int) -> None:
    if s.log[replica, 0] == 1:  #!
        s.up[replica] = 0


def record_as_an_offset(s: Any, c: Any, replica: int) -> None:
    s.leo[replica] = s.log[replica, 0]  #!


def record_as_an_index(s: Any, c: Any, replica: int) -> None:
    if s.log[replica, s.answer_log[replica, 0]] == NO_RECORD:  #!
        s.up[replica] = 0


def record_as_its_own_bit(s: Any, c: Any, replica: int) -> None:
    if contains(s.acked, s.log[replica, 0]):  #!
        s.up[replica] = 0


def record_as_a_truth(s: Any, c: Any, replica: int) -> None:
    if s.log[replica, 0]:  #!
        s.up[replica] = 0


def record_as_a_bound(s: Any, c: Any, replica: int) -> None:
    for _ in range(s.log[replica, 0]):  #!
        s.up[replica] = 0


def offset_as_a_record(s: Any, c: Any, replica: int) -> None:
    s.log[replica, 0] = s.leo[replica]  #!


def offset_of_an_epoch(s: Any, c: Any, replica: int) -> None:
    if s.record_epoch[s.leo[replica]] == s.epoch:  #!
        s.up[replica] = 0


def least_record(s: Any, c: Any, replica: int) -> None:
    s.last_consumed = min(s.log[replica, 0], s.log[replica, 1])  #!


def counted_records(s: Any, c: Any, replica: int) -> None:
    if size(s.acked) > 1:  #!
        s.up[replica] = 0


def first_bits(s: Any, c: Any, replica: int) -> None:
    if s.unanswered[replica] & 3 == 0:  #!
        s.up[replica] = 0


def shifted_set(s: Any, c: Any, replica: int) -> None:
    if s.acked >> s.leo[replica] != 0:  #!
        s.up[replica] = 0


def sets_mixed(s: Any, c: Any, replica: int) -> None:
    if s.acked & s.isr == 0:  #!
        s.up[replica] = 0


def replica_acknowledged(s: Any, c: Any, replica: int) -> None:
    if contains(s.acked, replica):  #!
        s.up[replica] = 0


def how_many_were_produced(s: Any, c: Any, replica: int) -> None:
    if s.produced > 1:  #!
        s.up[replica] = 0


def all_that_were_produced(s: Any, c: Any, replica: int) -> None:
    for bit in range(s.produced):  #!
        if contains(s.acked, bit):
            s.up[replica] = 0


def born_by_hand(s: Any, c: Any, replica: int) -> None:
    s.produced = s.produced + 1  #!


# --- records that may be nowhere -----------------------------------------------------------------


def two_that_may_be_gone(s: Any, c: Any, replica: int) -> None:
    if s.exposed[0] == s.last_consumed:  #!
        s.up[replica] = 0


def gone_or_none(s: Any, c: Any, replica: int) -> None:
    if s.exposed[0] == NO_RECORD:  #!
        s.up[replica] = 0


def epoch_of_one_gone(s: Any, c: Any, replica: int) -> None:
    if s.record_epoch[s.exposed[0] - 1] == s.epoch:  #!
        s.up[replica] = 0


def back_to_life(s: Any, c: Any, replica: int) -> None:
    s.log[replica, 0] = s.exposed[0]  #!


# --- faults that are not counted -----------------------------------------------------------------


def counted_crashes(s: Any, c: Any, replica: int) -> None:
    if s.restarts_used > 0:  #!
        s.up[replica] = 0


def crashes_and_moves(s: Any, c: Any, replica: int) -> None:
    if s.restarts_used == s.moves_used:  #!
        s.up[replica] = 0


# --- sound ---------------------------------------------------------------------------------------


def sound_order(s: Any, c: Any, replica: int) -> None:
    latest = NO_EPOCH
    for offset in range(s.leo[replica]):
        epoch = epoch_at(s, replica, offset)
        if latest == NO_EPOCH or latest < epoch <= s.epoch:
            latest = max(latest, epoch)
    if latest in (s.epoch, NO_EPOCH) or min(latest, s.epoch) != latest:
        s.known_epoch[replica] = latest
    begin_epoch(s, c)


def sound_tuple(s: Any, c: Any, replica: int) -> None:
    epoch, end = epoch_and_end(s, replica)
    epoch, end = (NO_EPOCH, UNKNOWN_OFFSET) if False else (epoch, end)
    s.known_epoch[replica] = epoch
    s.leo[replica] = end + 1


def sound_records(s: Any, c: Any, replica: int) -> None:
    record = s.log[replica, 0]
    if record != NO_RECORD and record == s.exposed[0] and contains(s.acked, record - 1):
        s.acked = with_member(s.acked, begin_record(s, s.known_epoch[replica]))
        s.last_consumed = record
    missing = s.acked & ~(1 << (record - 1))
    if missing == 0 or missing != s.acked:
        s.log[replica, 1] = NO_RECORD


# --- sound with some features --------------------------------------------------------------------


def sound_without_a_feature(s: Any, c: Any, replica: int) -> None:
    if has(c, APPEND_CHECKS_EPOCH) and s.epoch == 2:
        s.up[replica] = 0
    if has(c, APPEND_CHECKS_EPOCH):
        s.leo[replica] = s.epoch


def gap_of_the_newest(s: Any, c: Any, replica: int) -> None:
    newest = s.epoch
    if is_next_epoch(newest, s.known_epoch[replica]):
        s.up[replica] = 0
