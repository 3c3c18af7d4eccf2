"""Steps of the model that can be taken on brokers of a release, for one state or many.

Each obstacle has a name: nothing outside can cause the action, this state does not allow it, the
follower is silent, or the leader requests a replica that it may know to be fenced. A follower is
silent once it was fenced (from 2.1 on, KIP-320): it waits for another epoch, whereas in the model
it retries. With KRaft, so is one that shuts down and has read that it left the ISR (KAFKA-13858). A
leader with KRaft does not add a replica to the ISR that it knows to be fenced or shutting down
(KIP-841), or to have registered since the fetch (KIP-903; Partition.isReplicaIsrEligible). In the
model it asks, and is refused (docs/model.md).
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import ACTION_SHIFT, arguments_of, call_of
from waterline.checker.kafka.confirm.releases import KafkaRelease
from waterline.checker.kafka.confirm.stepping import LAG_MS, NEEDS_LAG, row_of
from waterline.checker.problem.packed_rows import Rows, state_words
from waterline.counterexamples import Moment
from waterline.model.core.layout import WORD_BITS, Alive, Layout, Place
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Step
from waterline.model.message.terms import IDLE, LEADER, NO_ROLE

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


SILENT = "silent followers"
FENCED = "fenced replicas"
_FETCHES = ("LeaderFetch", "StrayFetch")
_SILENCED, _ASKS, _LEARNS = "LeaderFetch", "SendFetch", "Learn"
"""Actions: one that silences a follower, one that it then stops, one that silences a leaving
broker."""
_ENDS_SILENCE = frozenset(
    {"Learn", "LearnLate", "Restart", "Crash", "PowerLoss", "DiskLoss", "Stop"}
)
"""After these the replica that they name is not silent; of other steps it hears nothing."""


@dataclass(frozen=True, slots=True)
class Steerable:
    """Steps that can be taken, including those that `lifted` allows again.

    `silent` has a bit for each replica that no longer asks, in a number or a column of them.
    """

    model: Model
    release: KafkaRelease
    lag_ms: int
    lifted: frozenset[str] = field(default=frozenset())

    def restrictions(self) -> dict[str, str]:
        """Return the restrictions on steps in this model: description by name."""
        found = {}
        for action in self._actions():
            row = row_of(action.name, self.release)
            if not self._is_caused(action):
                found[action.name] = f"`{action.name}`: {row.description}"
            elif row.unless is not None:
                found[action.name] = f"`{action.name}` in some states only: {row.description}"
        if self._has_silence():
            found[SILENT] = (
                f"`{_ASKS}` of a follower that was fenced: from 2.1 on it asks no more until it "
                "learns of another epoch or starts anew"
            )
            if self._stops_fetching():
                found[SILENT] += (
                    "; with KRaft neither does one that shuts down and has read that it left the "
                    "ISR (KAFKA-13858)"
                )
        if self.release.is_kraft:
            found[FENCED] = (
                "a fetch upon which a leader asks for a replica that it may know to be fenced, to "
                "shut down, or to have registered since: the model does, and is refused; brokers "
                "that know do not ask"
            )
        return {name: why for name, why in found.items() if name not in self.lifted}

    def offers(self, state: State, number: int, silent: int) -> list[Moment]:
        """The steps out of a state, as step `number` of a walk."""
        steps = list(self.model.successors(state))
        if not steps:
            return []
        before: Rows = np.array([state.words] * len(steps), np.uint64)
        after: Rows = np.array([each.after.words for each in steps], np.uint64)
        column: Column = np.full(len(steps), silent, np.uint64)
        numbers = np.array([self._number_of(e.action.name, e.arguments) for e in steps])
        can_be = self.can_be_had(before, after, column, numbers)
        return [
            moment_of(step, number, state)
            for step, can in zip(steps, can_be.tolist(), strict=True)
            if can
        ]

    def silent_after(self, moment: Moment, silent: int) -> int:
        """Return the replicas that are silent after a step."""
        before, after = (np.array([s.words], np.uint64) for s in (moment.before, moment.after))
        number = self._number_of(moment.action, moment.values)
        column: Column = np.array([silent], np.uint64)
        return int(self.silence(before, after, column, np.array([number]))[0])

    def can_be_had(
        self, before: Rows, after: Rows, silent: Column, steps: Steps
    ) -> NDArray[np.bool_]:
        """Return a mask of the steps that can be taken out of these states."""
        found: NDArray[np.bool_] = np.ones(len(steps), np.bool_)
        for action in self._actions():
            if action.name in self.lifted:
                continue
            if not self._is_caused(action):
                found[steps_of(self.model, action.name, steps)] = False
                continue
            unless = row_of(action.name, self.release).unless
            if unless is None:
                continue
            for at in steps_of(self.model, action.name, steps).tolist():
                state = State(self.model.layout, state_words(before[at]))
                _, values = call_of(self.model, int(steps[at]))
                found[at] = not unless(state, dict(action.name_arguments(values)))
        if self._has_silence() and SILENT not in self.lifted:
            at = steps_of(self.model, _ASKS, steps)
            follower = argument_of(self.model, self._action(_ASKS), "follower", steps[at])
            found[at] &= (silent[at] >> follower.astype(np.uint64) & np.uint64(1)) == 0
        if self.release.is_kraft and FENCED not in self.lifted:
            for name in _FETCHES:
                if name in self.model.contents:
                    at = steps_of(self.model, name, steps)
                    found[at] &= ~self._asks_in_vain(before[at], after[at])
        return found

    def _asks_in_vain(self, before: Rows, after: Rows) -> NDArray[np.bool_]:
        """Return a mask of the rows where a leader requests a replica that it may know to be unfit.

        An outdated leader may have read of that and not of later decisions.
        """

        def field(name: str, rows: Rows = after) -> NDArray[np.int64]:
            return table_of(self.model.layout, name, rows)

        leads = (field("role", before) == LEADER) & (field("role") == LEADER)
        asked = leads & (field("pending_isr") != field("pending_isr", before))
        unfit = (field("pending_isr") & (field("fenced") | field("stopping"))) != 0
        unfit |= field("pending_stale") == 1
        found: NDArray[np.bool_] = (asked & unfit).any(axis=1)
        return found

    def silence(self, before: Rows, after: Rows, silent: Column, steps: Steps) -> Column:
        """Return the replicas that are silent after each of these steps."""
        now = silent.copy()
        if not self._has_silence():
            return now
        for action in self._actions():
            if action.name in _ENDS_SILENCE:
                at = steps_of(self.model, action.name, steps)
                replica = argument_of(self.model, action, "replica", steps[at])
                now[at] &= ~(np.uint64(1) << replica.astype(np.uint64))
        if self._stops_fetching():
            at = steps_of(self.model, _LEARNS, steps)
            replica = argument_of(self.model, self._action(_LEARNS), "replica", steps[at])
            stopping, isr = (
                table_of(self.model.layout, name, after[at])[:, 0] for name in ("stopping", "isr")
            )
            which = np.flatnonzero(stopping & ~isr & (1 << replica))
            now[at[which]] |= np.uint64(1) << replica[which].astype(np.uint64)
        at = steps_of(self.model, _SILENCED, steps)
        follower = argument_of(self.model, self._action(_SILENCED), "follower", steps[at])
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

    def _has_silence(self) -> bool:
        return self.release.at_least(2, 1)

    def _stops_fetching(self) -> bool:
        """True if a broker that shuts down, and reads that it left the ISR, no longer asks."""
        return self.release.is_kraft and "BeginShutdown" in self.model.contents

    def _is_caused(self, action: Action) -> bool:
        if action.name in NEEDS_LAG and self.lag_ms != LAG_MS:
            return False
        return row_of(action.name, self.release).does is not None

    def _actions(self) -> Sequence[Action]:
        return [each for each in self.model.actions if each.name in self.model.contents]

    def _action(self, name: str) -> Action:
        return next(each for each in self.model.actions if each.name == name)

    def _number_of(self, name: str, values: Sequence[int]) -> int:
        number = next(i for i, each in enumerate(self.model.actions) if each.name == name)
        digits = 0
        for parameter, value in zip(self.model.actions[number].parameters, values, strict=True):
            digits = digits * self.model.layout.sizes[parameter.over] + value
        return number << ACTION_SHIFT | digits


def moment_of(step: Step, number: int, state: State) -> Moment:
    """A step out of a state as step `number` of a walk."""
    return Moment(
        number, step.action.name, step.action.name_arguments(step.arguments), state, step.after
    )
