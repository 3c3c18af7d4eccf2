"""Rules that use an epoch as something else: each is refused at the line marked `#!`.

They are effects of one argument, a replica, over the fields of the message grain. Where
that is a line of a helper, the mark names the rule.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.epochs import is_next_epoch, latest_epoch
from waterline.model.message.partition_state import begin_epoch
from waterline.model.message.terms import (
    NO_EPOCH,
    NO_RECORD,
    UNKNOWN_OFFSET,
    contains,
    size,
    with_member,
)

# --- helpers of the rules below ------------------------------------------------------------------


def successor(number: int) -> int:
    return number + 1  #! two_in_a_row


def same(number: int) -> int:
    return number


def epoch_and_end(s: Any, replica: int) -> tuple[int, int]:
    return s.known_epoch[replica], s.leo[replica]


def either(s: Any, replica: int) -> int:
    if s.up[replica] == 1:
        return s.known_epoch[replica]
    return 7


def above(one: int, other: int) -> bool:
    return one > other  #! compared_inside


# --- epochs: arithmetic --------------------------------------------------------------------------


def one_more(s: Any, c: Any, replica: int) -> None:
    if s.epoch == s.known_epoch[replica] + 1:  #!
        s.up[replica] = 0


def one_less(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = s.epoch - 1  #!


def doubled(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = s.epoch * 2  #!


def is_even(s: Any, c: Any, replica: int) -> None:
    if s.epoch % 2 == 0:  #!
        s.up[replica] = 0


def halved(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = s.epoch // 2  #!


def distance(s: Any, c: Any, replica: int) -> None:
    if s.epoch - s.known_epoch[replica] > 1:  #!
        s.up[replica] = 0


def lowest_bit(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] & 1 == 1:  #!
        s.up[replica] = 0


def bit_of_it(s: Any, c: Any, replica: int) -> None:
    if (s.epoch >> 1) & 1 == 1:  #!
        s.up[replica] = 0


def counted_bits(s: Any, c: Any, replica: int) -> None:
    s.leo[replica] = size(same(s.epoch))  #!


def negated(s: Any, c: Any, replica: int) -> None:
    if -s.known_epoch[replica] == 1:  #!
        s.up[replica] = 0


def complemented(s: Any, c: Any, replica: int) -> None:
    if ~s.known_epoch[replica] == 0:  #!
        s.up[replica] = 0


def absolute(s: Any, c: Any, replica: int) -> None:
    if abs(s.known_epoch[replica]) == 1:  #!
        s.up[replica] = 0


def raised_in_place(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] += 1  #!


def raised_controller(s: Any, c: Any, replica: int) -> None:
    s.epoch = s.epoch + 1  #!


def raised_variable(s: Any, c: Any, replica: int) -> None:
    epoch = s.epoch
    epoch -= 1  #!
    s.known_epoch[replica] = epoch


def packed(s: Any, c: Any, replica: int) -> None:
    found = 0
    for other in range(s.replicas):
        found |= s.known_epoch[other] << (4 * other)  #!
    s.leo[replica] = found


def set_of_epochs(s: Any, c: Any, replica: int) -> None:
    found = 1 << s.epoch  #!
    if found > 2:
        s.up[replica] = 0


def member_of_a_set(s: Any, c: Any, replica: int) -> None:
    if contains(s.isr, s.epoch):  #!
        s.up[replica] = 0


def made_a_member(s: Any, c: Any, replica: int) -> None:
    s.isr = with_member(s.isr, s.known_epoch[replica])  #!


# --- epochs: comparisons -------------------------------------------------------------------------


def equals_two(s: Any, c: Any, replica: int) -> None:
    if s.epoch == 2:  #!
        s.up[replica] = 0


def beyond_the_first(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] > 0:  #!
        s.up[replica] = 0


def not_negative(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] >= 0:  #!
        s.up[replica] = 0


def with_an_offset(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] < s.leo[replica]:  #!
        s.up[replica] = 0


def with_a_record(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] == s.log[replica, 0]:  #!
        s.up[replica] = 0


def with_an_argument(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] == replica:  #!
        s.up[replica] = 0


def with_a_size(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] < s.replicas:  #!
        s.up[replica] = 0


def with_the_highest(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] == s.epochs:  #!
        s.up[replica] = 0


def with_a_setting(s: Any, c: Any, replica: int) -> None:
    if s.known_epoch[replica] > c.min_insync_replicas:  #!
        s.up[replica] = 0


def among_numbers(s: Any, c: Any, replica: int) -> None:
    if s.epoch in (1, 2):  #!
        s.up[replica] = 0


def in_a_chain(s: Any, c: Any, replica: int) -> None:
    if NO_EPOCH < s.known_epoch[replica] <= s.epoch < 4:  #!
        s.up[replica] = 0


def least_with_a_number(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = min(s.epoch, 3)  #!


def not_below_zero(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = max(0, s.epoch)  #!


def as_a_truth(s: Any, c: Any, replica: int) -> None:
    if s.epoch:  #!
        s.up[replica] = 0


def not_an_epoch(s: Any, c: Any, replica: int) -> None:
    if not s.epoch:  #!
        s.up[replica] = 0


def truth_of_it(s: Any, c: Any, replica: int) -> None:
    s.up[replica] = bool(s.epoch)  #!


def operand_of_and(s: Any, c: Any, replica: int) -> None:
    if s.up[replica] == 1 and s.known_epoch[replica]:  #!
        s.up[replica] = 0


def tested_in_a_choice(s: Any, c: Any, replica: int) -> None:
    s.up[replica] = 1 if s.epoch else 0  #!


def while_it_lasts(s: Any, c: Any, replica: int) -> None:
    while s.epoch:  #!
        s.epoch = NO_EPOCH


# --- epochs: where they may not be ---------------------------------------------------------------


def as_an_index(s: Any, c: Any, replica: int) -> None:
    if s.up[s.epoch] == 1:  #!
        s.up[replica] = 0


def index_of_a_decision(s: Any, c: Any, replica: int) -> None:
    if s.decided_leader[s.known_epoch[replica]] == replica:  #!
        s.up[replica] = 0


def index_to_write(s: Any, c: Any, replica: int) -> None:
    s.up[s.known_epoch[replica]] = 0  #!


def as_a_loop_bound(s: Any, c: Any, replica: int) -> None:
    for _ in range(s.epoch):  #!
        s.up[replica] = 0


def as_a_loop_start(s: Any, c: Any, replica: int) -> None:
    for _ in range(s.known_epoch[replica], 3):  #!
        s.up[replica] = 0


def counter_as_an_epoch(s: Any, c: Any, replica: int) -> None:
    for each in range(s.records):
        if s.known_epoch[replica] == each:  #!
            s.up[replica] = 0


def stored_as_a_number(s: Any, c: Any, replica: int) -> None:
    s.leo[replica] = s.epoch  #!


def number_stored(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = s.leo[replica]  #!


def literal_stored(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = 0  #!


def no_record_stored(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = NO_RECORD  #!


def record_stored(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = s.log[replica, 0]  #!


def epoch_as_a_record(s: Any, c: Any, replica: int) -> None:
    s.log[replica, 0] = s.epoch  #!


def several_stored(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = s.leo[replica] = s.epoch  #!


# --- epochs: by another way ----------------------------------------------------------------------


def through_a_helper(s: Any, c: Any, replica: int) -> None:
    if s.leo[replica] == same(s.epoch):  #!
        s.up[replica] = 0


def two_in_a_row(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = successor(s.epoch)


def compared_inside(s: Any, c: Any, replica: int) -> None:
    if above(s.epoch, s.leo[replica]):
        s.up[replica] = 0


def through_a_rule(s: Any, c: Any, replica: int) -> None:
    if latest_epoch(s, c, replica) == 1:  #!
        s.up[replica] = 0


def through_a_tuple(s: Any, c: Any, replica: int) -> None:
    end, epoch = epoch_and_end(s, replica)
    s.leo[replica] = end  #!
    s.hw[replica] = epoch


def through_a_tuple_there(s: Any, c: Any, replica: int) -> None:
    one, other = s.epoch, s.leo[replica]
    other, one = one, other
    if one < s.known_epoch[replica]:  #!
        s.up[replica] = 0


def through_a_choice(s: Any, c: Any, replica: int) -> None:
    number = s.epoch if s.up[replica] == 1 else s.known_epoch[replica]
    s.leo[replica] = number  #!


def choice_with_a_number(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = s.epoch if s.up[replica] == 1 else 1  #!


def branches_with_a_number(s: Any, c: Any, replica: int) -> None:
    epoch = 1
    if s.up[replica] == 1:
        epoch = s.epoch
    s.known_epoch[replica] = epoch  #!


def returned_with_a_number(s: Any, c: Any, replica: int) -> None:
    s.known_epoch[replica] = either(s, replica)  #!


def carried_by_a_loop(s: Any, c: Any, replica: int) -> None:
    one, other, third = NO_EPOCH, 0, 0
    for each in range(s.replicas):
        s.leo[replica] = third  #!
        third = other
        if one != NO_EPOCH:
            other = 2
        one = s.known_epoch[each]
        other = s.known_epoch[each]


def carried_by_a_while(s: Any, c: Any, replica: int) -> None:
    found = 0
    while found < 3:  #!
        found = s.epoch


def carried_by_continue(s: Any, c: Any, replica: int) -> None:
    found = UNKNOWN_OFFSET
    for each in range(s.replicas):
        s.leo[each] = found  #!
        if s.up[each] == 0:
            found = s.known_epoch[each]
            continue
        found = UNKNOWN_OFFSET


def carried_by_break(s: Any, c: Any, replica: int) -> None:
    found = UNKNOWN_OFFSET
    for each in range(s.replicas):
        if s.up[each] == 0:
            found = s.known_epoch[each]
            break
    s.leo[replica] = found  #!


def assigned_on_one_way(s: Any, c: Any, replica: int) -> None:
    for each in range(s.replicas):
        if each < s.replicas:
            found = s.epoch
        s.leo[each] = found  #!


def begun_twice_removed(s: Any, c: Any, replica: int) -> None:
    begin_epoch(s, c)
    s.known_epoch[replica] = s.epoch
    s.checkpoint[replica] = s.known_epoch[replica]  #!


# --- the primitives ------------------------------------------------------------------------------


def gap_of_two_brokers(s: Any, c: Any, replica: int) -> None:
    if is_next_epoch(s.known_epoch[0], s.known_epoch[replica]):  #!
        s.up[replica] = 0


def gap_of_a_number(s: Any, c: Any, replica: int) -> None:
    if is_next_epoch(s.epoch, s.leo[replica]):  #!
        s.up[replica] = 0
