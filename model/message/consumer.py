"""A consumer that continues at its position after a change of leader.

It remembers the offset that it will read next and the record that it read last. Where another log
has taken over, the offset alone does not tell it (KIP-320).
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.features import CONSUMER_VALIDATION, has
from waterline.model.message.settings import Settings
from waterline.model.message.terms import LEADER, NO_RECORD


def can_consume(s: Any, c: Settings, leader: int) -> bool:
    """A broker that leads, as far as it knows, has a committed record at the consumer's offset."""
    return s.role[leader] == LEADER and s.consumed < s.hw[leader] and s.misread == 0


def consume(s: Any, c: Settings, leader: int) -> None:
    """Read the next record; or learn that the last record read is not below it.

    Without KIP-320 the consumer reads on, past records that it has never seen. With KIP-320 it gets
    a LogTruncationException, and begins again from the start.
    """
    parted = s.consumed > 0 and s.log[leader, s.consumed - 1] != s.last_consumed
    if parted and has(c, CONSUMER_VALIDATION):
        s.consumed = 0
        s.last_consumed = NO_RECORD
    elif parted:
        s.misread = 1
    else:
        s.last_consumed = s.log[leader, s.consumed]
        s.consumed = s.consumed + 1
