"""The words that every rule uses: roles, fetch slots, sets of replicas, and values for "nothing".

Values are plain integers so that the same rule runs interpreted and compiled.
"""

from __future__ import annotations

NO_REPLICA = -1
NO_EPOCH = -1
NO_RECORD = 0
UNKNOWN_OFFSET = -1
"""A remote LEO that the leader has not heard yet, and the "undefined" answer of KIP-101."""

# What a broker does for the partition.
NO_ROLE = 0
"""Down, or up and without a role from the controller yet."""
LEADER = 1
TRUNCATING = 2
"""A follower that does not know yet where to cut its log. It asks before it fetches (KIP-101), or
finds out by its first fetches (Kafka 2.8)."""
FETCHING = 3

# What a follower's one outstanding fetch is. A fetcher thread has one request in flight per leader
# (Kafka's AbstractFetcherThread).
IDLE = 0
REQUESTED = 1
ANSWERED = 2
OUT_OF_RANGE = 3
PARKED = 4
"""Held by the leader in its fetch purgatory until there is data or the wait is over."""
DIVERGING = 5
"""The answer says where the follower's log parts from the leader's (Kafka 2.8 and later)."""
CHECKED = 6
"""The leader has checked the fetch and read its log, and takes note of the offset later."""

# The controller's answer to a leader's AlterPartition, while it is on its way.
NO_ANSWER = 0
GRANTED = 1
REFUSED = 2

# What a leader has still to replay in the metadata log of what answers have told it.
NOTHING_TO_REPLAY = 0
REPLAYS_SAME = 1
"""A record of the state that the leader goes by."""
REPLAYS_OLDER = 2
"""A record of a state before that one."""

# How a broker that is down has stopped, where the ELR depends on it.
CLEAN = 0
UNCLEAN = 1
WITHOUT_DIRECTORY = 2
"""Properly; the log directory with its replica was taken out since."""
DIRECTORY_FAILED = 3
"""Properly; the log directory with its replica had failed before."""

# What the thread of a future log does.
NO_FUTURE_LOG = 0
COPIES = 1
TRUNCATES = 2
"""The thread first finds out where to cut."""

ACKS_NONE = 0
ACKS_LEADER = 1
ACKS_ALL = 2

# Where a leader takes note of a fetch that it has checked before.
BOOK_AT_ONCE = 0
BOOK_BY_REPLICA = 1
BOOK_BY_ID = 2
BOOK_BY_EPOCH = 3
"""Only in the epoch of the check; a repair, in no Kafka."""

UNNOTICED_NONE = 0
UNNOTICED_FOLLOWER = 1
UNNOTICED_ANY = 2

DISK_LOSS_ANY = 0
DISK_LOSS_OUT_OF_SYNC = 1

TRUNCATE_TO_HIGH_WATERMARK = 0
TRUNCATE_BY_EPOCH = 1
TRUNCATE_BY_EPOCHS = 2
TRUNCATE_BY_EPOCHS_2_0 = 3
TRUNCATE_ON_FETCH = 4

ELECT_IN_ASSIGNMENT_ORDER = 0
ELECT_ANY = 1


def contains(members: int, member: int) -> bool:
    """True if `member` is in the set `members`, a bit for each replica (or record)."""
    return (members >> member) & 1 == 1


def with_member(members: int, member: int) -> int:
    """The set `members` and `member`."""
    return members | (1 << member)


def without_member(members: int, member: int) -> int:
    """The set `members` less `member`."""
    return members & ~(1 << member)


def size(members: int) -> int:
    """The number of members of the set."""
    return members.bit_count()
