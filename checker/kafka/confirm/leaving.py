"""Followers that leave the ISR one after the other, by the times at which they fetched last.

Under KRaft a leader asks in one request to take out all who lag (Partition.maybeShrinkIsr). Those
that are to leave later have fetched later: before the record that they miss is appended their last
fetch is repeated for a while, in which the first is silent.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from waterline.checker.kafka.confirm.stage import Stage
from waterline.checker.kafka.confirm.stepping import LAG_MS, SHRINK, SHRINK_TOGETHER
from waterline.counterexamples import Moment

APART_SECONDS = LAG_MS / 1000
"""Two looks of a leader for lagging followers (every half of replica.lag.time.max.ms) fall between
the first follower's lag and the second's. Nobody lags before there is a record to miss."""
_EVERY_SECONDS = 0.5


def part_followers(stage: Stage, moment: Moment, later: Sequence[Moment]) -> None:
    """Before a record is appended: see that followers lag in the order in which they leave.

    `later` are the steps after it. One that has not caught up cannot be kept, and is left alone.
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
