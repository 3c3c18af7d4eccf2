"""Answers to leave unread, because a later step of the trace reads them late.

Releases with ZooKeeper do not come here: their table has no such step.
"""

from __future__ import annotations

from collections.abc import Sequence

from waterline.checker.kafka.confirm.kraft.stage import KraftStage
from waterline.checker.kafka.confirm.stage import Stage
from waterline.counterexamples import Moment

READ_LATE = "ReadLate"
_OF_THE_ANSWER = frozenset({READ_LATE, "RecvFetch", "LeaderFetch"})
"""Steps of a follower that say whether its answer was read late."""


def prepare_late_reads(stage: Stage, moments: Sequence[Moment]) -> None:
    """Before the first step: see that an answer can be left unread, if one is to be."""
    if any(moment.action == READ_LATE for moment in moments):
        assert isinstance(stage, KraftStage)
        stage.prepare_late_reads()


def leave_unread(stage: Stage, moment: Moment, later: Sequence[Moment]) -> None:
    """Before a fetch reaches its leader: leave its answer unread, if it is to be read late."""
    if moment.action != "LeaderFetch":
        return
    [follower] = moment.values
    following = (m for m in later if m.action in _OF_THE_ANSWER and m.values == (follower,))
    answered = next(following, None)
    if answered is not None and answered.action == READ_LATE:
        assert isinstance(stage, KraftStage)
        stage.leave_unread(follower, moment.before.known_leader[follower])
