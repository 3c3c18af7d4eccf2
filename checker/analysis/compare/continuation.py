"""Continuations in the other version after the last common step of a liveness trace.

The other version may be in another state by then, so that what the trace shows of its own version
says little of it: it is found out (`checker.analysis.compare.liveness`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from checker.analysis.compare.cycle import Round
from counterexamples import Moment


class Outcome(Enum):
    """What comes of a claim from there on."""

    COMES = "comes"
    """There is a way back; or every fair behaviour comes to what is promised."""
    STAYS = "stays"
    """There is no way back; or a fair behaviour never comes to it."""
    OPEN = "open"
    """A bound cuts what might help."""
    UNDECIDED = "undecided"
    """A budget ended the search."""
    NOT_CLAIMED = "not claimed"
    """The claim says nothing of that state."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Following:
    """What comes of a claim in the other version, from the state it has come to in the end.

    `states` are those that were looked at: all that ways back can lead to; of a promise all that
    the protocol's own steps can lead to, with what comes from outside where the trace repeats. 0:
    none had to be. Of `open_states` of them a bound leaves open what they lead to. `way` are steps
    on from there: a shortest way to what comes, or one to where it stays; of these the ones after
    the first `repeats_after` repeat for ever. `explanation` says what is in the way.

    Of a promise: `is_waiting`, whether something still has to come; `came_at`, after which pair it
    last had come, 0 for the initial state; and what becomes of the trace's cycle, its `round`.
    """

    outcome: Outcome
    states: int = 0
    open_states: int = 0
    way: tuple[Moment, ...] = ()
    repeats_after: int | None = None
    explanation: str = ""
    is_waiting: bool = True
    came_at: int | None = None
    round: Round | None = None

    @property
    def stays_by_itself(self) -> bool:
        """Whether what repeats in the trace repeats in the other version, and never fulfils it."""
        return self.outcome is Outcome.STAYS and self.round is not None and not self.states
