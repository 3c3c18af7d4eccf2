"""Decisions of the controller about a partition, as far as each of them is known.

A decision has a partition epoch, one more than the decision before. A leader's first line of an
epoch has it, with KRaft any broker's line about a change within the epoch, and so have the lines of
controllers. As long as none is missing, the decisions of a behaviour are these, in this order.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

from waterline.checker.kafka.logs.observation import Kind, Observation

_WHOLE = (Kind.LEADS, Kind.KNOWS, Kind.DECIDES)
_FIELDS = 6
"""Number of fields of a state: leader epoch, leader, ISR, replicas, those being added and removed.
"""


def decisions_of(
    by_broker: Mapping[int, Sequence[Observation]], first_epoch: int, last_epoch: int
) -> tuple[Observation, ...]:
    """Changes of leader epoch, leader or ISR after the beginning of the first epoch, in order.

    Changes of the replicas as well, where every one of these decisions says which there are.
    They end before the first that no line tells of. Empty where two lines differ, or none tells of
    the beginning.
    """
    known = _decisions_by_number(by_broker)
    leads = [
        each
        for observed in by_broker.values()
        for each in observed
        if each.kind is Kind.LEADS and each.epoch == first_epoch
    ]
    begin = min(
        (n for o in leads if (n := o.partition_epoch) is not None and n in known), default=None
    )
    if begin is None:
        decided = beginning_of(by_broker, first_epoch)
        # A leader's line without a number has the ISR with which a search begins.
        if decided is not None and all(_state(o) == _state(decided) for o in leads[:1]):
            begin = decided.partition_epoch
    if begin is None:
        return ()
    run = [known[begin]]
    while (after := known.get(begin + len(run))) and (after.epoch or 0) <= last_epoch:
        run.append(after)
    if any(None in each.state[:_FIELDS] for each in run):
        run = [replace(each, replicas=None, adding=None, removing=None) for each in run]
    return tuple(
        after
        for before, after in itertools.pairwise(run)
        if before.state[:_FIELDS] != after.state[:_FIELDS]
    )


def beginning_of(by_broker: Mapping[int, Sequence[Observation]], epoch: int) -> Observation | None:
    """Return the decision that began an epoch, None if it is unknown.

    It is the partition's first decision, or the previous one is known and of an earlier epoch.
    """
    known = _decisions_by_number(by_broker)
    number = min((n for n, o in known.items() if o.epoch == epoch), default=None)
    if number is None:
        return None
    before = known.get(number - 1)
    is_first = number == 0 or (before is not None and (before.epoch or 0) < epoch)
    return known[number] if is_first else None


def _decisions_by_number(by_broker: Mapping[int, Sequence[Observation]]) -> dict[int, Observation]:
    """Decisions by number; empty where two lines differ."""
    known: dict[int, Observation] = {}
    for seen in (each for observed in by_broker.values() for each in observed):
        number = seen.partition_epoch
        if number is None or seen.kind not in _WHOLE:
            continue
        earlier = known.setdefault(number, seen)
        if _state(earlier) != _state(seen):
            return {}
        if earlier.replicas is None:
            known[number] = seen
    return known


def _state(seen: Observation) -> tuple[int | None, int | None, tuple[int, ...] | None]:
    return seen.epoch, seen.leader, seen.isr
