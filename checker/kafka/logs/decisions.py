"""Decisions of the controller about a partition, as far as lines of the brokers tell of each.

A decision has a partition epoch, one more than the decision before. A leader's first line of an
epoch has it, and with KRaft any broker's line about a change within the epoch. As long as none is
missing, the decisions of a behaviour are these, in this order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from checker.kafka.logs.observation import Kind, Observation


def decisions_of(
    by_broker: Mapping[int, Sequence[Observation]], first_epoch: int, last_epoch: int
) -> tuple[Observation, ...]:
    """Changes of leader epoch, leader or ISR after the beginning of the first epoch, in order.

    They end before the first that no line tells of. Empty where two lines differ, or none tells of
    the beginning.
    """
    known: dict[int, Observation] = {}
    for seen in (each for observed in by_broker.values() for each in observed):
        number = seen.partition_epoch
        if number is None or seen.kind not in (Kind.LEADS, Kind.KNOWS):
            continue
        earlier = known.setdefault(number, seen)
        if _decision(earlier) != _decision(seen):
            return ()
    begin = min(
        (n for n, o in known.items() if o.epoch == first_epoch and o.kind is Kind.LEADS),
        default=None,
    )
    if begin is None:
        return ()
    found, number = [], begin
    while number + 1 in known:
        before, after = known[number], known[number + 1]
        if (after.epoch or 0) > last_epoch:
            break
        if _decision(before) != _decision(after):
            found.append(after)
        number += 1
    return tuple(found)


def _decision(seen: Observation) -> tuple[int | None, int | None, tuple[int, ...] | None]:
    return seen.epoch, seen.leader, seen.isr
