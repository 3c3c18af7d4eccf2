"""Ends of a high watermark's wait for a replica outside the ISR: lag time, or newer metadata.

Neither makes a leader of Kafka try its high watermark (`model.message.caught_up`).
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.caught_up import misses_registration, read_brokers
from waterline.model.message.controller import unavailable
from waterline.model.message.features import DEPARTURE_TRIES_HW, has
from waterline.model.message.high_watermark import advance_high_watermark
from waterline.model.message.settings import Settings
from waterline.model.message.terms import LEADER, contains, without_member


def can_lag(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """A follower that caught up lately has not got everything any more."""
    if leader == follower or s.role[leader] != LEADER:
        return False
    if not contains(s.caught_up[leader], follower):
        return False
    return bool(s.remote_leo[leader, follower] != s.leo[leader])


def lag(s: Any, c: Settings, leader: int, follower: int) -> None:
    """replica.lag.time.max.ms is over; Kafka tries no high watermark for that."""
    s.caught_up[leader] = without_member(s.caught_up[leader], follower)
    if has(c, DEPARTURE_TRIES_HW):
        advance_high_watermark(s, c, leader)


def can_learn_brokers(s: Any, c: Settings, leader: int) -> bool:
    """A leader's metadata is behind the controller's in who is down, or registered anew."""
    if s.role[leader] != LEADER:
        return False
    return s.seen_unavailable[leader] != unavailable(s) or misses_registration(s, c, leader)


def learn_brokers(s: Any, c: Settings, leader: int) -> None:
    """The leader catches up; the partition has not changed, and Kafka tries no high watermark.

    (BrokerMetadataPublisher, UpdateMetadata)
    """
    read_brokers(s, c, leader)
    if has(c, DEPARTURE_TRIES_HW):
        advance_high_watermark(s, c, leader)
