"""Functions of the rules that may look into an epoch or a record, each with the argument for it.

`checker.sorts` trusts only these and `model.message.order_abstraction`, whose argument is in
docs/unbounded.md.
"""

from __future__ import annotations

from waterline.model.core.sorts import Trusted
from waterline.model.message.bounds import NEWEST_EPOCH, ONE_EPOCH, RECORD_INDEX, RECORDS
from waterline.model.message.clients import begin_record
from waterline.model.message.epochs import is_next_epoch, sees_gaps
from waterline.model.message.partition_state import begin_epoch, has_room
from waterline.model.message.roles import drop_stray
from waterline.model.message.terms import contains, size, with_member, without_member

_MEMBER = {"members": RECORDS, "member": RECORD_INDEX}

TRUSTED = (
    Trusted(
        function=begin_epoch,
        why="the new epoch is above all others, before and after a renaming in order",
    ),
    Trusted(
        function=begin_record,
        takes={"epoch": ONE_EPOCH},
        gives=RECORD_INDEX,
        why="the new record is none of those that there are, before and after a renaming",
    ),
    Trusted(
        function=is_next_epoch,
        takes={"newest": NEWEST_EPOCH, "known": ONE_EPOCH},
        where=sees_gaps,
        why="the normal form keeps whether there is a gap below the controller's epoch, with the "
        "features that ask for it; a broker with a role knows an epoch, so that none is asked "
        "about that is not there",
    ),
    Trusted(
        function=has_room,
        why="it bounds a search, and a search says whether it cut a step by it",
    ),
    Trusted(
        function=drop_stray,
        why="it writes constants alone, and what it writes is read while there is a stray fetch",
    ),
    Trusted(
        function=contains,
        takes=_MEMBER,
        generic=True,
        why="whether a record is in a set of records goes by no other",
    ),
    Trusted(
        function=with_member,
        takes=_MEMBER,
        gives=RECORDS,
        generic=True,
        why="as a set of records with its names exchanged",
    ),
    Trusted(
        function=without_member,
        takes=_MEMBER,
        gives=RECORDS,
        generic=True,
        why="as a set of records with its names exchanged",
    ),
    Trusted(
        function=size,
        generic=True,
        why="it takes no set of records: those that are nowhere count as one in it",
    ),
)
