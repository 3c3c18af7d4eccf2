"""Steps of the model that can be taken on brokers of a release, for one state or many.

Each obstacle has a name: nothing outside can cause the action, this state does not allow it, the
follower is silent (`checker.kafka.confirm.silence`), or the leader requests a replica that it may
know to be fenced. A leader with KRaft does not add a replica to the ISR that it knows to be fenced
or shutting down (KIP-841), or to have registered since the fetch (KIP-903;
Partition.isReplicaIsrEligible). In the model it asks, and is refused (docs/model.md).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from waterline.checker.compiler.origins import call_of
from waterline.checker.kafka.confirm.silence import (
    Column,
    Silence,
    Steps,
    argument_of,
    steps_of,
    table_of,
)
from waterline.checker.kafka.confirm.stepping import LAG_MS, NEEDS_LAG, row_of
from waterline.checker.problem.packed_rows import Rows, state_words
from waterline.counterexamples import Moment
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Step
from waterline.model.message.terms import LEADER

SILENT = "silent followers"
FENCED = "fenced replicas"
_FETCHES = ("LeaderFetch", "StrayFetch")
_ASKS = "SendFetch"


@dataclass(frozen=True, slots=True)
class Steerable(Silence):
    """Steps that can be taken, including those that `lifted` allows again."""

    lag_ms: int
    lifted: frozenset[str] = frozenset()

    def restrictions(self) -> dict[str, str]:
        """Return the restrictions on steps in this model: description by name."""
        found = {}
        for action in self.actions():
            row = row_of(action.name, self.release)
            if not self._is_caused(action):
                found[action.name] = f"`{action.name}`: {row.description}"
            elif row.unless is not None:
                found[action.name] = f"`{action.name}` in some states only: {row.description}"
        if self.exists():
            found[SILENT] = (
                f"`{_ASKS}` of a follower that was fenced: from 2.1 on it asks no more until it "
                "learns of another epoch or starts anew"
            )
            if self.stops_fetching():
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
        numbers = np.array([self.number_of(e.action.name, e.arguments) for e in steps])
        can_be = self.can_be_had(before, after, column, numbers)
        return [
            moment_of(step, number, state)
            for step, can in zip(steps, can_be.tolist(), strict=True)
            if can
        ]

    def can_be_had(
        self, before: Rows, after: Rows, silent: Column, steps: Steps
    ) -> NDArray[np.bool_]:
        """Return a mask of the steps that can be taken out of these states."""
        found: NDArray[np.bool_] = np.ones(len(steps), np.bool_)
        for action in self.actions():
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
        if self.exists() and SILENT not in self.lifted:
            at = steps_of(self.model, _ASKS, steps)
            follower = argument_of(self.model, self.action(_ASKS), "follower", steps[at])
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

    def _is_caused(self, action: Action) -> bool:
        if action.name in NEEDS_LAG and self.lag_ms != LAG_MS:
            return False
        return row_of(action.name, self.release).does is not None


def moment_of(step: Step, number: int, state: State) -> Moment:
    """A step out of a state as step `number` of a walk."""
    return Moment(
        number, step.action.name, step.action.name_arguments(step.arguments), state, step.after
    )
