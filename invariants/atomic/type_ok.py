"""Logs have no holes, and equal states are stored alike.

Ranges are checked wherever a field is written. This is what a range cannot say; without it two
equal states could have different words, or a state means nothing.
"""

from __future__ import annotations

from typing import Any

from waterline.model.atomic.logs import in_some_log
from waterline.model.atomic.state import leads
from waterline.model.core.claim import Invariant, headline
from waterline.model.core.state import State
from waterline.model.message.terms import NO_RECORD, NO_REPLICA

FINE = 0
LOG_WITH_HOLES = 1
UNKNOWN_RECORD = 2
EPOCH_OF_THE_FUTURE = 3
ISR_OF_NO_LEADER = 4
REQUEST_NOT_SENT = 5
EPOCH_OF_A_LOST_RECORD = 6

_WORDS = (
    "Nothing is wrong.",
    "A log has a hole, or a record above its end.",
    "A log has a record that was never produced.",
    "A replica knows an epoch that has not been given out.",
    "A replica that does not lead has an ISR of its own.",
    "There is a request for an epoch that has not been given out.",
    "An epoch is stored for a record that no log has.",
)


def wrong_with_replica(s: Any, replica: int) -> int:
    """The first thing wrong with one replica."""
    for offset in range(s.log_size):
        if (s.log[replica, offset] != NO_RECORD) != (offset < s.leo[replica]):
            return LOG_WITH_HOLES
        if s.log[replica, offset] > s.produced:
            return UNKNOWN_RECORD
    if s.known_epoch[replica] >= s.issued:
        return EPOCH_OF_THE_FUTURE
    if s.known_isr[replica] != 0 and not leads(s, replica):
        return ISR_OF_NO_LEADER
    return FINE


def wrong(s: Any) -> int:
    """The first thing wrong with the state."""
    for replica in range(s.replicas):
        found = wrong_with_replica(s, replica)
        if found != FINE:
            return found
    for epoch in range(s.issued, s.requests):
        if s.request_leader[epoch] != NO_REPLICA or s.request_isr[epoch] != 0:
            return REQUEST_NOT_SENT
    for record in range(1, s.records + 1):
        if s.record_epoch[record - 1] != 0 and not in_some_log(s, record):
            return EPOCH_OF_A_LOST_RECORD
    return FINE


def holds(s: Any, c: Any) -> bool:
    """The state has no error."""
    return wrong(s) == FINE


def explain(s: State, c: Any) -> str:
    """Describe the error."""
    return _WORDS[wrong(s)]


CLAIM = Invariant(*headline(__name__, __doc__), holds=holds, explain=explain)
