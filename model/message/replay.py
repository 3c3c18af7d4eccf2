"""A record of the metadata log that its leader replays after it has heard the controller's answer.

Under KRaft a granted change of the ISR reaches the leader twice: by the answer to AlterPartition,
and by the metadata log, which brokers replay at their own pace (BrokerMetadataPublisher,
TopicDelta.localChanges). Partition.makeLeader takes the record for the current state: it forgets
the leader's later request, and with it the replicas that the high watermark waits for. The request
is in flight all the same. Its answer is ignored (Partition.submitAlterPartition). Until KAFKA-13790
(3.3.0) the record even replaced a newer state; since then its partition epoch is compared, and an
equal one is still accepted.

A leader that has heard several answers replays the first of them, or all at once; records in
between are skipped. With KAFKA-13790 an older record changes nothing.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message.features import PARTITION_EPOCH_CHECK, PENDING_SURVIVES_REPLAY, has
from waterline.model.message.high_watermark import advance_high_watermark
from waterline.model.message.partition_state import forget_request, knows_partition
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    GRANTED,
    LEADER,
    NO_ANSWER,
    NOTHING_TO_REPLAY,
    REPLAYS_OLDER,
    REPLAYS_SAME,
)


def note_answer(s: Any, c: Settings, leader: int) -> None:
    """A leader hears that its change was granted, and has the record of it still to replay.

    To be called before it goes by the new ISR.
    """
    if c.late_replay == 0:
        return
    if s.replay[leader] == REPLAYS_SAME:
        s.replay[leader] = REPLAYS_OLDER
        s.replay_isr[leader] = s.known_isr[leader]
    elif s.replay[leader] == NOTHING_TO_REPLAY:
        s.replay[leader] = REPLAYS_SAME


def can_replay(s: Any, c: Settings, leader: int) -> bool:
    """A leader has not replayed the record of a change whose answer it has heard."""
    return s.role[leader] == LEADER and s.replay[leader] != NOTHING_TO_REPLAY


def replay(s: Any, c: Settings, leader: int) -> None:
    """The leader takes the record for the state of now, and forgets what it has asked for.

    (ReplicaManager.applyLocalLeadersDelta, Partition.makeLeader, Partition.updateAssignmentAndIsr)
    """
    if s.replay[leader] == REPLAYS_OLDER:
        replay_older(s, c, leader)
        return
    s.replay[leader] = NOTHING_TO_REPLAY
    if not has(c, PENDING_SURVIVES_REPLAY):
        disown_request(s, c, leader)
        advance_high_watermark(s, c, leader)


def replay_older(s: Any, c: Settings, leader: int) -> None:
    """The record is of an earlier ISR: skipped since KAFKA-13790, and before taken for the newest.

    Its partition epoch is then too old for the controller, which refuses what the leader asks for.
    """
    if has(c, PARTITION_EPOCH_CHECK):
        s.replay[leader] = REPLAYS_SAME
        s.replay_isr[leader] = 0
        return
    disown_request(s, c, leader)
    s.known_isr[leader] = s.replay_isr[leader]
    s.replay[leader] = NOTHING_TO_REPLAY
    s.replay_isr[leader] = 0
    outdate(s, leader)
    advance_high_watermark(s, c, leader)


def disown_request(s: Any, c: Settings, leader: int) -> None:
    """The leader goes by what it has asked for no longer; the request may be granted all the same.

    Where the controller has answered, or must refuse, nothing is left of it but what was granted.
    """
    if s.pending_isr[leader] == 0:
        return
    if s.answer[leader] == NO_ANSWER and knows_partition(s, leader):
        s.disowned[leader] = 1
        return
    was_granted = s.answer[leader] == GRANTED
    forget_request(s, leader)
    if was_granted:
        outdate(s, leader)


def outdate(s: Any, leader: int) -> None:
    """The leader goes by an older state than the controller's, as long as the epoch is the same."""
    if s.leader == leader and s.epoch == s.known_epoch[leader]:
        s.outdated[leader] = 1


def is_disowned(s: Any, leader: int) -> bool:
    """True if the leader's request is in flight, and its answer will be ignored."""
    disowned: bool = s.disowned[leader] == 1
    return disowned


def answer_disowned(s: Any, leader: int, granted: bool) -> None:
    """The controller has answered such a request; if it was granted, the leader is behind."""
    forget_request(s, leader)
    if granted:
        outdate(s, leader)
