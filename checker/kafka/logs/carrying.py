"""Carry of a state from one window of a long history into the next: the same state, other numbers.

Epochs that are over keep their order alone, records are numbered anew, records that all replicas
have for good are cut off, and runs that nothing tells apart any more become one. Budgets begin
anew. docs/incidents.md, "A long history", has the argument of each.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from waterline.checker.kafka.logs.settled import (
    needed_boundaries,
    offsets_in,
    past_epochs,
    records_in,
    sequences_of,
    settled_end,
)
from waterline.model.core.layout import Layout
from waterline.model.core.state import OutOfRange, State
from waterline.model.core.transition_system import Model
from waterline.model.message.environment import FAULTS
from waterline.model.message.order_abstraction import has_offset
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    BOOK_AT_ONCE,
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    UNKNOWN_OFFSET,
    contains,
    with_member,
)

KEPT = (
    *("role", "leader", "isr", "fenced", "elr", "stopping", "up", "unclean", "known_isr"),
    *("pending_isr", "pending_stale", "answer", "outdated", "replay", "replay_isr", "disowned"),
    *("caught_up", "seen_unavailable", "read_registrations", "fetched_since"),
    *("broker_epoch_matches", "entry_lost", "known_leader", "fetch", "last_leader", "misread"),
)
"""Fields without an epoch, an offset or a record: they stay as they are. `role` is the first, for
others are alive by it."""
TRANSLATED = (
    *("epoch", "known_epoch", "cached_epoch", "record_epoch", "leo", "log", "hw", "checkpoint"),
    *("remote_leo", "unanswered", "answer_offset", "answer_log", "produced", "acked"),
    *("exposed", "exposed_end", "stray_from", "stray_to", "stray_offset", "stray_epoch"),
    *("stray_last_epoch", "stray_stale"),
)
BEGUN_ANEW = (*(f"{fault}_used" for fault in FAULTS), "durable")
"""Budgets are of a window. What is known to be on disk is read where power fails: never here."""
AT_REST = (
    *("still_waiting", "booking_from", "booking_to", "booking_offset", "booking_stale"),
    *("booking_void", "decided_leader", "decided_isr", "consumed", "last_consumed", "base"),
    *("assigned", "adding", "removing", "known_replicas"),
    *("future", "future_leo", "future_log", "future_hw", "future_cut", "future_assigned"),
    *("fetched_epoch", "cuts_finally"),
)
"""Fields that the circumstances of an incident never use."""


class NotCarried(ValueError):
    """The state has no exact counterpart with these numbers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbering:
    """Numbers of a state in the next window.

    `first` is its first epoch in the numbers of the window before, and is `slots` in the next:
    earlier epochs that still occur lie below, in order. `boundaries[k]` is the offset, in the
    numbers of the window before, that is k in the next.
    """

    first: int
    slots: int
    boundaries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Carried:
    """The state in the next window. `lost`: an acknowledged record is in no log and no answer."""

    state: State
    lost: bool


def carry(s: Any, model: Model, numbering: Numbering) -> Carried:
    """The state in the numbers of the next window, whose model is given. Raises `NotCarried`."""
    try:
        return _Translation(s, model.layout, numbering).carry()
    except (OutOfRange, KeyError, IndexError) as problem:
        raise NotCarried(str(problem)) from None


class _Translation:
    """Translation of a state from one window's numbers to those of the next."""

    def __init__(self, s: Any, layout: Layout, numbering: Numbering) -> None:
        self._s, self._numbering = s, numbering
        self._base = numbering.boundaries[0]
        if self._base > settled_end(s):
            raise NotCarried("records below the next window are not settled in all replicas")
        kept = set(numbering.boundaries)
        if {b for b in needed_boundaries(s) if b > self._base} - kept or min(offsets_in(s)) < (
            self._base
        ):
            raise NotCarried("an offset of the state has no number in the next window")
        self._offset = {offset: k for k, offset in enumerate(numbering.boundaries)}
        past = past_epochs(s, numbering.first)
        if len(past) > numbering.slots:
            raise NotCarried("more past epochs occur than the next window has room for")
        top = numbering.slots - len(past)
        self._epoch = {epoch: top + k for k, epoch in enumerate(past)} | {NO_EPOCH: NO_EPOCH}
        self._names = self._new_names()
        self._d: Any = State(layout).draft()

    def _new_names(self) -> dict[int, int]:
        """New names, by epoch and offset, of the records that begin a run of the next window."""
        begins = {
            record: at
            for begin, run in sequences_of(self._s)
            for at, record in enumerate(run, begin)
            if at in self._offset
        }
        epochs = self._s.record_epoch
        order = sorted(begins, key=lambda record: (epochs[record - 1], begins[record], record))
        return {record: k for k, record in enumerate(order, 1)}

    def carry(self) -> Carried:
        """The state, and whether a record that was acknowledged is nowhere any more."""
        s, d = self._s, self._d
        for name in KEPT:
            self._copy(name)
        d.epoch = self._renumber(s.epoch)
        d.exposed_end = self._offset[s.exposed_end]
        d.produced = len(self._names)
        for record, new in self._names.items():
            d.record_epoch[new - 1] = self._renumber(s.record_epoch[record - 1])
        d.acked = self._members(s.acked)
        self._write(d.exposed, None, [int(s.exposed[o]) for o in range(s.exposed_end)], 0)
        for r in range(s.replicas):
            self._replica(r)
        self._stray()
        return Carried(d.freeze(), self._has_lost())

    def _copy(self, name: str) -> None:
        elements = self._s.layout.elements[name]
        for index in elements:
            if index == ():
                setattr(self._d, name, getattr(self._s, name))
            elif self._is_alive(name, index):
                getattr(self._d, name)[index] = getattr(self._s, name)[index]

    def _is_alive(self, name: str, index: Any) -> bool:
        alive = self._s.layout.places[name].alive
        row = index[0] if isinstance(index, tuple) else index
        return alive is None or getattr(self._s, alive.field)[row] in alive.values

    def _replica(self, r: int) -> None:
        s, d = self._s, self._d
        d.known_epoch[r] = self._renumber(s.known_epoch[r])
        d.leo[r] = self._offset[s.leo[r]]
        d.checkpoint[r] = self._offset[s.checkpoint[r]]
        d.hw[r] = self._offset[s.hw[r]] if s.up[r] == 1 else 0
        self._write(d.log, r, [int(s.log[r, o]) for o in range(s.leo[r])], 0)
        if s.role[r] == LEADER:
            d.unanswered[r] = self._members(s.unanswered[r])
            for other in range(s.replicas):
                end = s.remote_leo[r, other]
                d.remote_leo[r, other] = end if end == UNKNOWN_OFFSET else self._offset[end]
        if follows(s, r):
            d.cached_epoch[r] = self._renumber(s.cached_epoch[r])
            if has_offset(s, r):
                d.answer_offset[r] = self._offset[s.answer_offset[r]]
            elif s.answer_offset[r] != 0:
                raise NotCarried("an offset is kept that belongs to no answer")
            answer = [int(s.answer_log[r, i]) for i in range(s.records)]
            self._write(d.answer_log, r, [x for x in answer if x != NO_RECORD], int(s.leo[r]))

    def _write(self, rows: Any, row: int | None, run: Sequence[int], begin: int) -> None:
        """Records of the old numbers that begin at an offset, a run for those between boundaries.

        An answer is written from its own beginning, which is a boundary.
        """
        at = 0
        for offset, record in enumerate(run, begin):
            if offset < self._base or offset not in self._offset:
                continue
            name = self._names.get(record, NO_RECORD)
            rows[at if row is None else (row, at)] = name
            at += 1

    def _stray(self) -> None:
        s, d = self._s, self._d
        for name in ("stray_from", "stray_to"):
            setattr(d, name, NO_REPLICA)
        d.stray_last_epoch = NO_EPOCH
        if s.stray_from == NO_REPLICA:
            return
        d.stray_from, d.stray_to, d.stray_stale = s.stray_from, s.stray_to, s.stray_stale
        d.stray_offset = self._offset[s.stray_offset]
        d.stray_epoch = self._renumber(s.stray_epoch)
        d.stray_last_epoch = self._renumber(s.stray_last_epoch)

    def _renumber(self, epoch: int) -> int:
        first, slots = self._numbering.first, self._numbering.slots
        return epoch - first + slots if epoch >= first else self._epoch[epoch]

    def _members(self, members: int) -> int:
        found = 0
        for record, name in self._names.items():
            if contains(members, record - 1):
                found = with_member(found, name - 1)
        return found

    def _has_lost(self) -> bool:
        there = records_in(self._s)
        return any(
            contains(self._s.acked, record) and record + 1 not in there
            for record in range(self._s.produced)
        )


def fits_incidents(c: Any) -> bool:
    """True if the fields at rest are at rest under these settings, and epochs only compared."""
    return bool(
        c.late_booking == BOOK_AT_ONCE
        and c.late_metadata == 0
        and c.consumer == 0
        and c.power_losses == 0
        and c.reassignments == 0
    )


def fields_known() -> Iterable[str]:
    """Every field of a state whose carry is defined."""
    return (*KEPT, *TRANSLATED, *BEGUN_ANEW, *AT_REST)
