"""A broker's process, and its session with the controller.

It checkpoints its high watermark, crashes or is shut down, and starts again. A crash of the process
alone loses memory and keeps the log: the page cache survives. A controlled shutdown moves
leadership first, then the process ends with everything on disk (KafkaController.shutdownBroker,
KafkaServer.controlledShutdown, LogManager.shutdown; under KRaft BrokerLifecycleManager).

A broker and the controller lose sight of each other although the broker runs. Its session expires:
the controller takes it for down and goes on without it, while it does not know and may still lead
("zombie"). It registers again sooner or later.
"""

from __future__ import annotations

from typing import Any

from waterline.model.message import limits
from waterline.model.message.assignment import assigned_replicas
from waterline.model.message.caught_up import note_registration
from waterline.model.message.controller import (
    candidates,
    candidates_without,
    elect,
    eligible,
    fence,
    fence_limit,
    isr_without,
    leaves_a_choice,
    next_leader,
    removal_starts_epoch,
    take_out,
    unavailable,
)
from waterline.model.message.directories import keep_future_log, recover_future_log
from waterline.model.message.features import (
    BROKER_EPOCH,
    COORDINATOR,
    ELR,
    KEEPS_WAITING_PRODUCERS,
    KRAFT,
    LAST_KNOWN_LEADER,
    REGISTRATION_REMOVES,
    has,
)
from waterline.model.message.leaderless import hear_on_return
from waterline.model.message.partition_state import (
    begin_epoch,
    elr_beside,
    elr_on_return,
    has_room,
    outdate_leader,
)
from waterline.model.message.roles import (
    drop_booking,
    drop_fetch,
    drop_stray,
    follows,
    forget_producers,
    lay_down_role,
)
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    BOOK_AT_ONCE,
    CLEAN,
    LEADER,
    NO_ANSWER,
    NO_EPOCH,
    NO_REPLICA,
    UNCLEAN,
    UNNOTICED_ANY,
    UNNOTICED_FOLLOWER,
    contains,
    with_member,
    without_member,
)


def can_expire_session(s: Any, c: Settings, replica: int) -> bool:
    """The broker runs, and the controller has its session."""
    if s.up[replica] == 0 or contains(unavailable(s), replica):
        return False
    return not leaves_a_choice(s, c, replica)


def expire_session(s: Any, c: Settings, replica: int) -> None:
    """The controller does what it does for a dead broker; the broker itself notices nothing."""
    fence(s, c, replica)


def can_register(s: Any, c: Settings, replica: int) -> bool:
    """A broker runs that the controller takes for down."""
    return s.up[replica] == 1 and contains(s.fenced, replica)


def registration_limit(s: Any, c: Settings, replica: int) -> int:
    """The limit on epochs: bringing back a leader starts one."""
    return return_limit(s, c, replica, s.elr)


def return_limit(s: Any, c: Settings, replica: int, elr: int) -> int:
    """The limit that the controller would exceed by having the broker back, with this ELR.

    Unclean election always elects a leader: the broker itself, if it is the only one.
    """
    if s.leader == NO_REPLICA and not has_room(s, 1):
        if c.unclean_leader_election == 1 and contains(assigned_replicas(s, c), replica):
            return limits.EPOCHS
        if eligible(s, c, s.isr, elr, without_member(unavailable(s), replica)) != 0:
            return limits.EPOCHS
    return limits.WITHIN


def register(s: Any, c: Settings, replica: int) -> None:
    """The controller has the broker again; a partition without a leader may now have one."""
    hear_on_return(s, c, replica)
    s.fenced = without_member(s.fenced, replica)
    if s.leader == NO_REPLICA:
        winner = next_leader(s, c, unavailable(s))
        if winner != NO_REPLICA:
            begin_epoch(s, c)
            elect(s, c, winner)


def can_checkpoint(s: Any, c: Settings, replica: int) -> bool:
    """The high watermark differs from the one on disk."""
    return s.up[replica] == 1 and s.checkpoint[replica] != s.hw[replica]


def checkpoint(s: Any, c: Settings, replica: int) -> None:
    """Write the high watermark to disk (the highwatermark-checkpoint thread)."""
    s.checkpoint[replica] = s.hw[replica]


def can_crash(s: Any, c: Settings, replica: int) -> bool:
    """Any running process may crash."""
    return s.up[replica] == 1


def crash(s: Any, c: Settings, replica: int) -> None:
    """The process dies: memory and connections are lost, log and checkpoint stay."""
    die(s, c, replica)


def die(s: Any, c: Settings, replica: int) -> None:
    """The process ends without a shutdown: there will be no `.kafka_cleanshutdown` file."""
    stop(s, c, replica)
    if has(c, ELR):
        s.unclean[replica] = UNCLEAN


def stop(s: Any, c: Settings, replica: int) -> None:
    """The process is gone, and with it every fetch to it, asked or answered, and its own."""
    lay_down_role(s, c, replica)
    if has(c, KEEPS_WAITING_PRODUCERS):
        forget_producers(s, replica)
    s.up[replica] = 0
    s.hw[replica] = 0
    if c.future_log == 1:
        keep_future_log(s, replica)
    s.known_epoch[replica] = NO_EPOCH
    for follower in range(s.replicas):
        if follows(s, follower) and s.known_leader[follower] == replica:
            drop_fetch(s, follower)
    if s.stray_to == replica:
        drop_stray(s)
    if c.late_booking != BOOK_AT_ONCE and s.booking_to == replica:
        drop_booking(s)


def can_mark_clean(s: Any, c: Settings, replica: int) -> bool:
    """A broker that crashed has not come back yet."""
    return s.up[replica] == 0 and s.unclean[replica] == UNCLEAN


def mark_clean(s: Any, c: Settings, replica: int) -> None:
    """The broker starts, ends before it has recovered its log, and marks a clean shutdown."""
    s.unclean[replica] = CLEAN


def can_restart(s: Any, c: Settings, replica: int) -> bool:
    """The controller has seen the broker go, or may miss its absence.

    With ZooKeeper a restart within the session timeout goes unnoticed; the setting restart
    detection names the replicas that may do that. "Follower" is any but the controller's leader.
    Under KRaft none may: a broker cannot register while its former session lasts (KIP-631); but the
    session may be over, or lost with the controller that kept it, before the broker is fenced. The
    same holds for Fluss, whose tablet servers register anew only once their node is gone
    (TabletServer.registerTabletServer). Nor may a broker that was shutting down: it closes its
    session.
    """
    if s.up[replica] == 1:
        return False
    if contains(s.fenced, replica):
        return True
    if contains(s.stopping, replica):
        return False
    if has(c, KRAFT) or has(c, COORDINATOR):
        return c.unfenced_registration == 1
    if c.restart_detection == UNNOTICED_ANY:
        return True
    return c.restart_detection == UNNOTICED_FOLLOWER and s.leader != replica


def restart_limit(s: Any, c: Settings, replica: int) -> int:
    """A restart that brings back a leader starts an epoch; one that takes it out before, two."""
    if leaves_isr(s, c, replica):
        begun = 1 if removal_starts_epoch(s, c, replica) else 0
        if is_elected_again(s, c, replica):
            begun += 1
        return limits.WITHIN if has_room(s, begun) else limits.EPOCHS
    return return_limit(s, c, replica, elr_on_return(s, c, replica, s.elr))


def is_elected_again(s: Any, c: Settings, replica: int) -> bool:
    """True if the registration that takes a broker out also elects it.

    It does so without another candidate: as the last of the ISR, which stays in it without ELR;
    from the ELR; as the last known leader; or by an unclean election.
    """
    if s.leader != NO_REPLICA and s.leader != replica:
        return False
    if s.leader == replica and candidates_without(s, c, replica) != 0:
        return False
    if c.unclean_leader_election == 1 and contains(assigned_replicas(s, c), replica):
        return True
    isr = isr_without(s, c, replica)
    elr = 0
    if has(c, ELR):
        elr = elr_on_return(s, c, replica, elr_beside(s, c, isr))
    if has(c, LAST_KNOWN_LEADER) and s.leader == replica and isr == 0 and elr == 0:
        return True
    return eligible(s, c, isr, elr, without_member(unavailable(s), replica)) != 0


def leaves_isr(s: Any, c: Settings, replica: int) -> bool:
    """True if the registration takes the broker out of the ISR, or of leadership, as fencing does.

    A fenced broker is not a member, except without the feature fenced-check, or as the last one
    without ELR: then nothing changes. (ReplicationControlManager.handleBrokerShutdown, since
    KAFKA-18106)
    """
    if not has(c, REGISTRATION_REMOVES) or not contains(s.isr, replica):
        return False
    return bool(s.leader == replica or isr_without(s, c, replica) != s.isr)


def restart(s: Any, c: Settings, replica: int) -> None:
    """Start from disk: HW := min(checkpoint, LEO) (Partition.getOrCreateReplica).

    The broker registers; a partition without a leader may now have one.
    """
    if leaves_isr(s, c, replica):
        fence(s, c, replica)
    s.up[replica] = 1
    recover_future_log(s, c, replica)
    s.hw[replica] = min(s.checkpoint[replica], s.leo[replica])
    elr = elr_on_return(s, c, replica, s.elr)
    if s.elr != elr:
        s.elr = elr
        outdate_leader(s)
    if has(c, ELR):
        s.unclean[replica] = CLEAN
    if has(c, BROKER_EPOCH):
        outdate_fetches_of(s, c, replica)
    register(s, c, replica)


def outdate_fetches_of(s: Any, c: Settings, replica: int) -> None:
    """The broker's requests from before its new registration carry an old broker epoch."""
    if s.stray_from == replica:
        s.stray_stale = 1
    if c.late_booking != BOOK_AT_ONCE and s.booking_from == replica:
        s.booking_stale = 1
    note_registration(s, c, replica)
    for leader in range(s.replicas):
        if s.role[leader] == LEADER and s.answer[leader] == NO_ANSWER:
            added = s.pending_isr[leader] & ~s.known_isr[leader]
            if contains(added, replica):
                s.pending_stale[leader] = 1


def can_begin_shutdown(s: Any, c: Settings, replica: int) -> bool:
    """A broker runs, and the controller has it."""
    return s.up[replica] == 1 and not contains(unavailable(s), replica)


def others_can_do_without(s: Any, c: Settings, replica: int) -> bool:
    """True if another replica is in sync, to lead instead of it, or to go on leading."""
    return candidates(s, c, with_member(unavailable(s), replica)) & s.isr != 0


def begin_shutdown_limit(s: Any, c: Settings, replica: int) -> int:
    """Leaving the ISR may start an epoch."""
    if has(c, KRAFT) or others_can_do_without(s, c, replica):
        return fence_limit(s, c, replica)
    return limits.WITHIN


def begin_shutdown(s: Any, c: Settings, replica: int) -> None:
    """The controller takes the broker out of the ISR and of leadership, if others are in sync.

    If it is the last in sync: with ZooKeeper the request fails and the broker stops all the same,
    after retries (controlled.shutdown.max.retries); under KRaft it loses leadership, and the next
    leader can only come from the ELR or an unclean election.
    (ReplicationControlManager.handleBrokerInControlledShutdown)
    """
    gives_up = has(c, KRAFT) or others_can_do_without(s, c, replica)
    s.stopping = with_member(s.stopping, replica)
    if gives_up:
        take_out(s, c, replica)


def can_stop(s: Any, c: Settings, replica: int) -> bool:
    """A broker has begun to shut down."""
    return s.up[replica] == 1 and contains(s.stopping, replica)


def stop_cleanly(s: Any, c: Settings, replica: int) -> None:
    """Logs are flushed, the high watermark is checkpointed, the process ends.

    The broker will say so when it registers again (KIP-966). It has closed its session, so that it
    cannot come back before the controller has noticed.
    """
    s.checkpoint[replica] = s.hw[replica]
    s.durable[replica] = s.leo[replica]
    stop(s, c, replica)
