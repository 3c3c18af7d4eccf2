"""Rules of the message grain with a mistake each, which no proof may accept."""

from __future__ import annotations

from typing import Any

from waterline.model.message.disk import lose_power
from waterline.model.message.fetch import receive_diverging, receive_fetch
from waterline.model.message.isr import shrink_isr
from waterline.model.message.metadata import learn
from waterline.model.message.terms import CLEAN, FETCHING, LEADER, NO_ROLE
from waterline.model.message.truncation import offset_for_leader_epoch, truncate


def receive_and_lead_on(s: Any, c: Any, follower: int) -> None:
    receive_fetch(s, c, follower)
    s.hw[follower] = s.leo[follower]


def cut_one_more(s: Any, c: Any, follower: int) -> None:
    cut = s.answer_offset[follower]
    s.answer_offset[follower] = max(cut - 1, 0)
    receive_diverging(s, c, follower)


def ask_and_cut_one_more(s: Any, c: Any, follower: int) -> None:
    offset_for_leader_epoch(s, c, follower)
    truncate(s, c, follower, max(s.leo[follower] - 1, 0))


def ask_and_cut_nothing(s: Any, c: Any, follower: int) -> None:
    s.role[follower] = FETCHING


def shrink_and_wait_on(s: Any, c: Any, leader: int, follower: int) -> None:
    before = s.hw[leader]
    shrink_isr(s, c, leader, follower)
    s.hw[leader] = before


def lead_on_with_old_leos(s: Any, c: Any, replica: int) -> None:
    kept = s.remote_leo[replica, 1 - replica] if s.role[replica] == LEADER else -1
    learn(s, c, replica)
    if s.role[replica] == LEADER and kept >= 0:
        s.remote_leo[replica, 1 - replica] = kept


def crash_and_forget_nothing(s: Any, c: Any, replica: int) -> None:
    s.role[replica] = NO_ROLE
    s.up[replica] = 0


def lose_power_and_be_clean(s: Any, c: Any, replica: int, end: int) -> None:
    lose_power(s, c, replica, end)
    s.unclean[replica] = CLEAN


def read_a_dead_row(s: Any, c: Any, replica: int) -> None:
    s.checkpoint[replica] = min(s.checkpoint[replica], s.answer_offset[replica])


def ends_too_early(
    s: Any, replica: int, requested: int, latest: int, rounds: int
) -> tuple[int, int]:
    return latest, s.leo[replica]
