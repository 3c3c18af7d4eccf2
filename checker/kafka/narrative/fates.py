"""Fate of each record along a trace: appended, acknowledged, removed.

Steps count from 1; 0 is the initial state. A record is promised once it is committed or
acknowledged. `Ending` says what became of it by the last state.
"""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from waterline.checker.kafka.narrative.cluster import Holdings


class Ending(enum.Enum):
    """Fate of a record in the end."""

    KEPT = "kept"
    NEVER_PROMISED = "never committed nor acknowledged"
    AT_RISK = "missing from a replica that may be elected"
    STRANDED = "in no log of a replica that may lead"
    LOST = "missing from the leader, whom all others follow"
    DESTROYED = "in no log at all"

    @property
    def is_bad(self) -> bool:
        """True if a promise is broken, or about to be."""
        return self not in {Ending.KEPT, Ending.NEVER_PROMISED}


@dataclass(frozen=True, slots=True)
class Copy:
    """A record in one log: the step of its arrival and of its removal; None for never."""

    replica: int
    offset: int
    since: int
    gone: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Fate:
    """History of one record.

    `committed` and `acknowledged` are the steps that did so, None for never; `offset` is where it
    was committed, or else first appended.
    """

    record: int
    offset: int
    written: int
    copies: tuple[Copy, ...]
    committed: int | None
    acknowledged: int | None
    ending: Ending

    @property
    def promised(self) -> int | None:
        """First step that committed or acknowledged the record."""
        steps = [step for step in (self.committed, self.acknowledged) if step is not None]
        return min(steps, default=None)

    @property
    def doomed_from(self) -> int | None:
        """Step where a reader should begin to watch the record; None unless it ends badly."""
        return self.promised if self.ending.is_bad else None

    def standing(self, step: int) -> str:
        """`acknowledged`, `committed`, or nothing, after this step."""
        if self.acknowledged is not None and self.acknowledged <= step:
            return "acknowledged"
        return "committed" if self.committed is not None and self.committed <= step else ""


@dataclass(frozen=True, slots=True)
class Parting:
    """The first step after which two logs have different records at one offset."""

    step: int
    replicas: tuple[int, int]
    offset: int
    records: tuple[int, int]


@dataclass(frozen=True, slots=True)
class End:
    """Leader at the end (None for none), possible leaders, and those electable at once."""

    leader: int | None
    may_lead: tuple[int, ...]
    candidates: tuple[int, ...]


def fates(states: Sequence[Holdings], end: End) -> tuple[Fate, ...]:
    """The fate of every record that was in any log, in the order of their ids."""
    copies: dict[tuple[int, int], list[Copy]] = {}
    committed: dict[int, tuple[int, int]] = {}
    acknowledged: dict[int, int] = {}
    open_copies: dict[tuple[int, int], Copy] = {}
    previous: tuple[tuple[int, ...], ...] = tuple(() for _ in states[0].logs)
    for step, held in enumerate(states):
        for offset, record in enumerate(held.committed):
            committed.setdefault(record, (step, offset))
        for record in held.acknowledged - acknowledged.keys():
            acknowledged[record] = step
        for replica, (was, now) in enumerate(zip(previous, held.logs, strict=True)):
            if was == now:
                continue
            for record in set(was) - set(now):
                copy = open_copies.pop((record, replica))
                ended = Copy(copy.replica, copy.offset, copy.since, step)
                copies.setdefault((record, replica), []).append(ended)
            for offset, record in enumerate(now):
                if record not in was:
                    open_copies[record, replica] = Copy(replica, offset, step)
        previous = held.logs
    for key, copy in open_copies.items():
        copies.setdefault(key, []).append(copy)
    by_record: dict[int, list[Copy]] = {}
    for (record, _), found in sorted(copies.items()):
        by_record.setdefault(record, []).extend(found)
    last = states[-1]
    text = []
    for record, found in by_record.items():
        ordered = tuple(sorted(found, key=lambda copy: (copy.since, copy.replica)))
        at, offset = committed.get(record, (None, ordered[0].offset))
        promised = at is not None or record in acknowledged
        text.append(
            Fate(
                record=record,
                offset=offset,
                written=ordered[0].since,
                copies=ordered,
                committed=at,
                acknowledged=acknowledged.get(record),
                ending=_ending(record, last, end) if promised else Ending.NEVER_PROMISED,
            )
        )
    return tuple(text)


def _ending(record: int, last: Holdings, end: End) -> Ending:
    """Return the fate of a promised record."""
    holders = last.holders(record)
    if not holders:
        return Ending.DESTROYED
    if end.leader is not None and end.leader not in holders:
        return Ending.LOST
    if not set(holders) & set(end.may_lead):
        return Ending.STRANDED
    if not set(end.candidates) <= set(holders):
        return Ending.AT_RISK
    return Ending.KEPT


def partings(states: Iterable[Holdings]) -> tuple[Parting, ...]:
    """Return the first step after which each two logs part, in the order of steps."""
    found: dict[tuple[int, int], Parting] = {}
    previous: tuple[tuple[int, ...], ...] | None = None
    for step, held in enumerate(states):
        if held.logs == previous:
            continue
        previous = held.logs
        for one, two in combinations(range(len(held.logs)), 2):
            if (one, two) not in found and (parting := _parting(step, held, one, two)):
                found[one, two] = parting
    return tuple(found.values())


def _parting(step: int, held: Holdings, one: int, two: int) -> Parting | None:
    for offset, (left, right) in enumerate(zip(held.logs[one], held.logs[two], strict=False)):
        if left != right:
            return Parting(step, (one, two), offset, (left, right))
    return None
