"""Data sorts of the message grain: leader epochs, records, and faults that are not counted."""

from __future__ import annotations

from waterline.model.core.sorts import DataSort, Form, Held
from waterline.model.message.terms import NO_EPOCH, NO_RECORD

EPOCH = DataSort("epoch", none=NO_EPOCH, none_word="NO_EPOCH", ordered=True, size="epochs")
RECORD = DataSort("record", none=NO_RECORD, none_word="NO_RECORD", size="ids")

ONE_EPOCH = Held(EPOCH)
NEWEST_EPOCH = Held(EPOCH, field="epoch")
"""The controller's, above which there is none."""
ONE_RECORD = Held(RECORD)
"""A record in a log or in an answer."""
ONCE_A_RECORD = Held(RECORD, may_be_gone=True)
"""A record that may be in none: without bounds it has no name then."""
RECORD_INDEX = Held(RECORD, Form.INDEX)
RECORDS = Held(RECORD, Form.MEMBERS)
RECORDS_SO_FAR = Held(RECORD, Form.COUNT)


def so_far(fault: str) -> Held:
    """Return the sort of an uncounted fault's number: a step changes it, or does not."""
    return Held(DataSort(f"count of {fault}"))
