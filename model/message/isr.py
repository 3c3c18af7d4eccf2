"""The leader's changes to the ISR.

With ZooKeeper the leader writes the partition state itself, a compare-and-set that succeeds only if
it knows the current one, and waits for the outcome. Since KIP-497 it asks the controller, and goes
on meanwhile: with one change in flight, it begins no other (PartitionState.isInflight). A leader
that is out of date does not know it: it asks as well, is refused, and the change stays in flight
until it learns of a newer state.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message import limits
from waterline.model.message.caught_up import may_join
from waterline.model.message.controller import elect
from waterline.model.message.epochs import epoch_start
from waterline.model.message.features import (
    ALTER_PARTITION,
    BROKER_EPOCH,
    FENCED_CHECK,
    ISR_FROM_EPOCH_START,
    REFUSAL_TRIES_HW,
    SHRINK_ONLY_LAGGING,
    SHRINK_RAISES_EPOCH,
    has,
)
from waterline.model.message.high_watermark import advance_high_watermark
from waterline.model.message.partition_state import (
    begin_epoch,
    forget_request,
    has_room,
    knows_partition,
    write_isr,
)
from waterline.model.message.reassignment import (
    alter_target,
    change,
    choice,
    complete_with_zookeeper,
    is_followed_by_completion,
    removes_with,
    write,
)
from waterline.model.message.replay import answer_disowned, is_disowned, note_answer
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    GRANTED,
    LEADER,
    NO_ANSWER,
    REFUSED,
    contains,
    size,
    with_member,
    without_member,
)


def expand_isr(s: Any, c: Settings, leader: int, follower: int, reached: int, stale: int) -> None:
    """A follower whose fetch reached the high watermark joins, or is proposed.

    Since KAFKA-7128 it must have reached the start of the leader's epoch as well: a new leader's
    high watermark may lag behind what was committed. `reached` is the offset of the fetch. `stale`:
    it carries a broker epoch that is not the follower's current one. (Partition.maybeExpandIsr)
    """
    if contains(s.known_isr[leader], follower) or reached < s.hw[leader]:
        return
    if has(c, ISR_FROM_EPOCH_START) and reached < epoch_start(s, leader):
        return
    if not may_join(s, c, leader, follower):
        return
    if not has(c, ALTER_PARTITION):
        if knows_partition(s, leader):
            write_isr(s, c, with_member(s.isr, follower))
            s.known_isr[leader] = s.isr
    elif s.pending_isr[leader] == 0:
        s.pending_isr[leader] = with_member(s.known_isr[leader], follower)
        s.pending_stale[leader] = stale


def can_shrink_isr(s: Any, c: Settings, leader: int, follower: int) -> bool:
    """A follower that is not where the leader is may be found lagging; until KAFKA-7152 any may.

    Abstracts replica.lag.time.max.ms: who has not caught up may exceed it at any time. Until then
    so did who had all, but had not fetched for that long. With the wait for who caught up lately
    that is a step of its own (`model.message.caught_up`).
    """
    if leader == follower or s.role[leader] != LEADER:
        return False
    if not contains(s.known_isr[leader], follower) or s.pending_isr[leader] != 0:
        return False
    if not has(c, ALTER_PARTITION) and not knows_partition(s, leader):
        return False
    if contains(s.caught_up[leader], follower):
        return False
    return not has(c, SHRINK_ONLY_LAGGING) or s.remote_leo[leader, follower] != s.leo[leader]


def shrink_isr(s: Any, c: Settings, leader: int, follower: int) -> None:
    """The follower leaves the ISR, so the HW may advance; or the leader asks the controller.

    Until the controller has answered, the follower still counts. (Partition.maybeShrinkIsr)
    """
    if has(c, ALTER_PARTITION):
        s.pending_isr[leader] = without_member(s.known_isr[leader], follower)
    else:
        write_isr(s, c, without_member(s.isr, follower))
        s.known_isr[leader] = s.isr
        advance_high_watermark(s, c, leader)


def can_shrink_together(s: Any, c: Settings, leader: int, followers: int) -> bool:
    """Several followers are found lagging at once, and one request asks to take out all of them.

    Only where the leader asks the controller. Where it writes the ISR itself, one write after the
    other leads to the same state.
    """
    if s.role[leader] != LEADER or size(followers) < 2:
        return False
    for follower in range(s.replicas):
        if contains(followers, follower) and not can_shrink_isr(s, c, leader, follower):
            return False
    return True


def shrink_together(s: Any, c: Settings, leader: int, followers: int) -> None:
    """The leader asks for the ISR without these followers (Partition.maybeShrinkIsr)."""
    s.pending_isr[leader] = s.known_isr[leader] & ~followers


def can_alter_partition(s: Any, c: Settings, leader: int) -> bool:
    """A leader's request to change the ISR is in flight, and the controller has an answer to it.

    A leader that knows less than the controller gets an error (INVALID_UPDATE_VERSION,
    FENCED_LEADER_EPOCH), and keeps its request until it learns more
    (Partition.handleAlterPartitionError): nothing changes, so the model has no step for it.
    """
    if s.role[leader] != LEADER or s.pending_isr[leader] == 0:
        return False
    if winners(s, c, leader) != 0:
        return False
    return has_request(s, leader)


def has_request(s: Any, leader: int) -> bool:
    """True if the controller has a request of this leader that it would not call outdated."""
    if is_disowned(s, leader):
        return True
    return s.answer[leader] == NO_ANSWER and knows_partition(s, leader)


def winners(s: Any, c: Settings, leader: int) -> int:
    """The candidates, where the request completes a reassignment that leaves a choice of leader."""
    if not is_accepted(s, c, leader) or not removes_with(s, c, s.pending_isr[leader]):
        return 0
    isr, _, _, _ = alter_target(s, c, s.pending_isr[leader])
    return choice(s, c, isr)


def is_accepted(s: Any, c: Settings, leader: int) -> bool:
    """True if the controller agrees, provided that the leader's knowledge is current.

    Since KIP-841 it does not if a member is fenced or stopping, since KIP-903 neither if the broker
    to be added has registered anew since the fetch (INELIGIBLE_REPLICA).
    (ReplicationControlManager.validateAlterPartitionData)
    """
    if has(c, FENCED_CHECK) and s.pending_isr[leader] & (s.fenced | s.stopping) != 0:
        return False
    return not (has(c, BROKER_EPOCH) and s.pending_stale[leader] == 1)


def raises_epoch(s: Any, c: Settings, leader: int) -> bool:
    """True if removing a member starts an epoch, as KRaft did until 3.6 (KAFKA-15021)."""
    return has(c, SHRINK_RAISES_EPOCH) and s.isr & ~s.pending_isr[leader] != 0


def alter_partition_limit(s: Any, c: Settings, leader: int) -> int:
    """An ISR that shrinks may start an epoch, and so does one that completes a reassignment."""
    if not has_room(s, 1) and is_accepted(s, c, leader):
        if raises_epoch(s, c, leader) or removes_with(s, c, s.pending_isr[leader]):
            return limits.EPOCHS
        if is_followed_by_completion(s, c, s.pending_isr[leader]):
            return limits.EPOCHS
    return limits.WITHIN


def alter_partition(s: Any, c: Settings, leader: int) -> None:
    """The controller writes the requested ISR, or refuses to.

    The leader hears it in the same step, unless answers are late. An answer of a later epoch is
    left to the metadata. So is one that completes a reassignment which removes replicas: it is of a
    later epoch, or NEW_LEADER_ELECTED, and the request stays in flight. With ZooKeeper the answer
    goes out before the controller completes (processAlterPartition).
    """
    granted = is_accepted(s, c, leader)
    starts_epoch = raises_epoch(s, c, leader)
    members = s.pending_isr[leader]
    if granted and removes_with(s, c, members):
        isr, replicas, adding, removing = alter_target(s, c, members)
        change(s, c, isr, replicas, adding, removing)
        return
    if granted and c.reassignments > 0:
        _, _, left, _ = alter_target(s, c, members)
        s.adding = left
    if granted:
        if starts_epoch:
            begin_epoch(s, c)
        write_isr(s, c, members)
    if granted and starts_epoch:
        forget_request(s, leader)
    elif is_disowned(s, leader):
        answer_disowned(s, leader, granted)
    elif c.late_answers == 1:
        s.answer[leader] = GRANTED if granted else REFUSED
        s.pending_stale[leader] = 0
    else:
        settle(s, c, leader, granted)
    if granted and is_followed_by_completion(s, c, members):
        complete_with_zookeeper(s, c)


def can_alter_and_elect(s: Any, c: Settings, leader: int, winner: int) -> bool:
    """A leader's request completes its own removal, and the winner is one of several candidates."""
    if s.role[leader] != LEADER or s.pending_isr[leader] == 0:
        return False
    return has_request(s, leader) and contains(winners(s, c, leader), winner)


def alter_and_elect_limit(s: Any, c: Settings, leader: int, winner: int) -> int:
    """As `alter_partition_limit`."""
    return alter_partition_limit(s, c, leader)


def alter_and_elect(s: Any, c: Settings, leader: int, winner: int) -> None:
    """As `alter_partition`; the winner is any candidate."""
    isr, replicas, adding, removing = alter_target(s, c, s.pending_isr[leader])
    write(s, c, isr, replicas, adding, removing)
    elect(s, c, winner)


def can_hear_answer(s: Any, c: Settings, leader: int) -> bool:
    """The controller's answer to a leader is on its way."""
    return s.role[leader] == LEADER and s.answer[leader] != NO_ANSWER


def hear_answer(s: Any, c: Settings, leader: int) -> None:
    """The leader goes by the ISR that it asked for, or again by the one before.

    Where it has learned another state from the metadata by then, there is nothing left to hear.
    """
    settle(s, c, leader, s.answer[leader] == GRANTED)


def settle(s: Any, c: Settings, leader: int, granted: bool) -> None:
    """The change of the ISR is in flight no more: it holds, or it is as if never asked for.

    (Partition.handleAlterPartitionUpdate, handleAlterPartitionError)
    """
    members = s.pending_isr[leader]
    forget_request(s, leader)
    if granted:
        note_answer(s, c, leader)
        s.known_isr[leader] = members
    if granted or has(c, REFUSAL_TRIES_HW):
        advance_high_watermark(s, c, leader)
