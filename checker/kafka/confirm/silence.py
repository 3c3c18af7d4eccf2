"""Followers that no longer ask, for one step of the model or many: brokers are silent where the
model retries.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import ACTION_SHIFT, arguments_of
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.problem.packed_rows import Rows
from waterline.counterexamples import Moment
from waterline.model.core.layout import WORD_BITS, Alive, Layout, Place
from waterline.model.core.transition_system import Action, Model
from waterline.model.message.terms import IDLE, NO_ROLE

Column = NDArray[np.uint64]
Steps = NDArray[np.int64]
"""Steps as numbers (`checker.compiler.origins`)."""


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a field, in row `row`: its bits, and when it has a meaning."""

    row: int
    word: int
    shift: int
    mask: int
    lo: int
    alive: Alive | None

    def raw(self, rows: Rows) -> Column:
        """Return the element's value in each row, counted from the field's lowest value."""
        value: Column = (rows[:, self.word] >> np.uint64(self.shift)) & np.uint64(self.mask)
        return value


@functools.cache
def elements_of(place: Place) -> tuple[Element, ...]:
    """Every element of a field, row by row."""
    rows, columns = (*place.shape, 1, 1)[:2]
    found = []
    for i, j in itertools.product(range(rows), range(columns)):
        word, shift = divmod(place.bit + i * place.row + j * place.column, WORD_BITS)
        found.append(Element(i, word, shift, (1 << place.width) - 1, place.lo, place.alive))
    return tuple(found)


def table_of(layout: Layout, name: str, rows: Rows) -> NDArray[np.int64]:
    """A field with one value for each replica: a row for each state, a column for each replica."""
    columns = [
        element.raw(rows).astype(np.int64) + element.lo
        for element in elements_of(layout.places[name])
    ]
    return np.stack(columns, axis=1)


def argument_of(model: Model, action: Action, name: str, steps: Steps) -> NDArray[np.int64]:
    """The argument of this name in steps of one action."""
    names = [parameter.name for parameter in action.parameters]
    at = names.index(name)
    sizes = [model.layout.sizes[parameter.over] for parameter in action.parameters]
    below = int(np.prod(sizes[at + 1 :], dtype=np.int64))
    digits: NDArray[np.int64] = arguments_of(steps) // below % sizes[at]
    return digits


def steps_of(model: Model, action: str, steps: Steps) -> NDArray[np.int64]:
    """Return the places of this action's steps."""
    number = next(i for i, each in enumerate(model.actions) if each.name == action)
    return np.flatnonzero(steps >> ACTION_SHIFT == number)


_SILENCED, _LEARNS = "LeaderFetch", "Learn"
"""Actions: one that silences a follower, and one that silences a leaving broker."""
_ENDS_SILENCE = frozenset(
    {"Learn", "LearnLate", "Restart", "Crash", "PowerLoss", "DiskLoss", "Stop"}
)
"""After these the replica that they name is not silent; of other steps it hears nothing."""


@dataclass(frozen=True, slots=True)
class Silence:
    """Followers that no longer ask, with a bit for each replica, in a number or a column of them.

    A follower is silent once it was fenced (from 2.1 on, KIP-320): it waits for another epoch,
    whereas in the model it retries. With KRaft, so is one that shuts down and has read that it left
    the ISR (KAFKA-13858).
    """

    model: Model
    release: KafkaRelease

    def silent_after(self, moment: Moment, silent: int) -> int:
        """Return the replicas that are silent after a step."""
        before, after = (np.array([s.words], np.uint64) for s in (moment.before, moment.after))
        number = self.number_of(moment.action, moment.values)
        column: Column = np.array([silent], np.uint64)
        return int(self.silence(before, after, column, np.array([number]))[0])

    def silence(self, before: Rows, after: Rows, silent: Column, steps: Steps) -> Column:
        """Return the replicas that are silent after each of these steps."""
        now = silent.copy()
        if not self.exists():
            return now
        for action in self.actions():
            if action.name in _ENDS_SILENCE:
                at = steps_of(self.model, action.name, steps)
                replica = argument_of(self.model, action, "replica", steps[at])
                now[at] &= ~(np.uint64(1) << replica.astype(np.uint64))
        if self.stops_fetching():
            at = steps_of(self.model, _LEARNS, steps)
            replica = argument_of(self.model, self.action(_LEARNS), "replica", steps[at])
            stopping, isr = (
                table_of(self.model.layout, name, after[at])[:, 0] for name in ("stopping", "isr")
            )
            which = np.flatnonzero(stopping & ~isr & (1 << replica))
            now[at[which]] |= np.uint64(1) << replica[which].astype(np.uint64)
        at = steps_of(self.model, _SILENCED, steps)
        follower = argument_of(self.model, self.action(_SILENCED), "follower", steps[at])
        # A broker that knows a later epoch says so, also if it leads no more.
        at, follower = self._fenced_fetches(before, after, at, follower)
        now[at] |= np.uint64(1) << follower.astype(np.uint64)
        return now

    def _fenced_fetches(
        self, before: Rows, after: Rows, at: NDArray[np.int64], follower: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the fetches at these places that are fenced.

        With KRaft a broker that has started and knows no leader yet in the model has read the
        metadata log, and may fence by the controller's current epoch.
        """
        layout, own = self.model.layout, np.arange(len(at))
        leader = table_of(layout, "known_leader", before[at])[own, follower]
        epochs = table_of(layout, "known_epoch", before[at])
        is_idle = table_of(layout, "fetch", after[at])[own, follower] == IDLE
        has_role = table_of(layout, "role", before[at])[own, leader] != NO_ROLE
        knows_more = has_role & (epochs[own, leader] > epochs[own, follower])
        if self.release.is_kraft:
            is_up = table_of(layout, "up", before[at])[own, leader] == 1
            newest = table_of(layout, "epoch", before[at])[:, 0]
            knows_more |= ~has_role & is_up & (newest > epochs[own, follower])
        which = np.flatnonzero(is_idle & knows_more)
        return at[which], follower[which]

    def exists(self) -> bool:
        """True if a follower that was fenced is silent in this release."""
        return self.release.at_least(2, 1)

    def stops_fetching(self) -> bool:
        """True if a broker that shuts down, and reads that it left the ISR, no longer asks."""
        return self.release.is_kraft and "BeginShutdown" in self.model.contents

    def actions(self) -> Sequence[Action]:
        """The actions that the model has."""
        return [each for each in self.model.actions if each.name in self.model.contents]

    def action(self, name: str) -> Action:
        """The action of this name."""
        return next(each for each in self.model.actions if each.name == name)

    def number_of(self, name: str, values: Sequence[int]) -> int:
        """Return a step as a number."""
        number = next(i for i, each in enumerate(self.model.actions) if each.name == name)
        digits = 0
        for parameter, value in zip(self.model.actions[number].parameters, values, strict=True):
            digits = digits * self.model.layout.sizes[parameter.over] + value
        return number << ACTION_SHIFT | digits
