"""Followers that leave the ISR one after the other, ordered by the time of their last fetch.

Under KRaft a leader removes all lagging followers in one request (Partition.maybeShrinkIsr). Those
that leave later must have fetched later. So before the record that they miss is appended, the
harness repeats their last fetch for a while, and keeps the first follower silent.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from waterline.checker.kafka.confirm.stage import Stage
from waterline.checker.kafka.confirm.stepping import LAG_MS, SHRINK, SHRINK_TOGETHER
from waterline.counterexamples import Moment

APART_SECONDS = LAG_MS / 1000
"""Delay between the lags of two followers: two of a leader's looks for lagging followers, which
come every half of replica.lag.time.max.ms. No follower lags before it misses a record."""
_EVERY_SECONDS = 0.5


def part_followers(stage: Stage, moment: Moment, later: Sequence[Moment]) -> None:
    """Make followers lag in the order of their leaving, before a record is appended.

    `later` are the steps after it. A follower that has not caught up cannot be kept in sync.
    """
    if moment.action != "Produce":
        return
    s, leader = moment.before, dict(moment.arguments)["leader"]
    leaving = list(dict.fromkeys(_leaving(leader, later)))
    for number in range(1, len(leaving)):
        kept = [each for each in leaving[number:] if s.remote_leo[leader, each] == s.leo[leader]]
        end = time.monotonic() + APART_SECONDS
        while kept and time.monotonic() < end:
            for follower in kept:
                stage.repeat_fetch(follower, leader, s.leo[leader], s.known_epoch[leader])
            time.sleep(_EVERY_SECONDS)


def _leaving(leader: int, later: Sequence[Moment]) -> list[int]:
    """The followers that this leader takes out before the next record, in order."""
    found = []
    for moment in later:
        arguments = dict(moment.arguments)
        if moment.action == "Produce":
            break
        if moment.action == SHRINK and arguments["leader"] == leader:
            found.append(arguments["follower"])
        if moment.action == SHRINK_TOGETHER and arguments["leader"] == leader:
            break
    return found
