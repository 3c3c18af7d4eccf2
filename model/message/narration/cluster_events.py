"""The steps of brokers and of the controller: faults, elections, what a broker learns of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from waterline.model.core.state import State
from waterline.model.message.environment import DECLARED, FAULTS
from waterline.model.message.metadata import stays_follower
from waterline.model.message.narration.phrases import (
    as_records,
    as_set,
    assignment,
    at_leader,
    describe_removal,
    election,
    join,
    never_acked,
)
from waterline.model.message.roles import follows
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_REPLICA,
    TRUNCATE_ON_FETCH,
    TRUNCATING,
    contains,
)


def _checkpoint(c: Settings, before: State, after: State, replica: int) -> str:
    old, new = before.checkpoint[replica], after.checkpoint[replica]
    return f"r{replica} writes its HW to replication-offset-checkpoint: {old} -> {new}."


def _begin_shutdown(c: Settings, before: State, after: State, replica: int) -> str:
    text = f"r{replica} asks the controller to shut down"
    if before.isr == after.isr and before.leader == after.leader:
        alone = contains(before.isr, replica)
        return f"{text}; {'nobody else is in sync' if alone else 'it is not in the ISR'}."
    return join(text, [*_left(before, after, replica), *election(before, after)])


def _stop(c: Settings, before: State, after: State, replica: int) -> str:
    stopped = "{r} ends its shutdown and stops; HW {checkpoint} is checkpointed, the log is flushed"
    return _met_by_fault(stopped, c, before, after, replica)


def _met_by_fault(
    text: str, c: Settings, before: State, after: State, replica: int, *rest: int
) -> str:
    """Describe a broker's fault, in the words of the table of faults, and its consequences.

    The words may name {r}, {who} (the replica, or leader, by name), its {hw}, {checkpoint} and
    {leo}, and {removed}, the records that its log lost.
    """
    down = after.up[replica] == 0
    words = text.format(
        r=f"r{replica}",
        who=_who(before, replica),
        hw=before.hw[replica],
        checkpoint=(after if down and before.up[replica] else before).checkpoint[replica],
        leo=after.leo[replica],
        removed=describe_removal(before, after, replica),
    )
    came = _lost_with(before, after, replica) if before.up[replica] and down else []
    if before.fenced != after.fenced:
        came += [*_left(before, after, replica), *election(before, after)]
    return join(words, came)


def _who(before: State, replica: int) -> str:
    return f"leader r{replica}" if before.role[replica] == LEADER else f"r{replica}"


def _lost_with(before: State, after: State, replica: int) -> list[str]:
    """Describe what a process takes along when it ends: fetches in flight, pending answers."""
    lost = [
        f"r{follower}'s fetch is lost"
        for follower in range(before.replicas)
        if follows(before, follower)
        and before.fetch[follower] != IDLE
        and (not follows(after, follower) or after.fetch[follower] == IDLE)
        and (follower != after.stray_from or before.stray_from == follower)
    ]
    if after.stray_from == replica and before.stray_from != replica:
        lost.append(f"its fetch to r{after.stray_to} is still on its way")
    return [*lost, *never_acked(before, after, replica)]


def _directory_move(c: Settings, before: State, after: State, replica: int) -> str:
    text = f"The log of {_who(before, replica)} is moved to another log directory"
    lost = []
    if before.role[replica] == LEADER and before.entry_lost[replica] != after.entry_lost[replica]:
        lost.append(_entry_lost(before.known_epoch[replica]))
    if follows(before, replica) and before.cached_epoch[replica] != after.cached_epoch[replica]:
        lost.append(_entry_lost(before.cached_epoch[replica]))
    if before.durable[replica] != after.durable[replica]:
        lost.append("nothing of it is known to be on disk there")
    return join(text, lost)


def _entry_lost(epoch: int) -> str:
    return f"its epoch cache has lost epoch {epoch}, of which there is no record"


def _start_future_log(c: Settings, before: State, after: State, replica: int) -> str:
    return (
        f"The operator moves the log of {_who(before, replica)} to another log directory: the "
        "future log there is empty."
    )


def _copy_future_log(c: Settings, before: State, after: State, replica: int) -> str:
    at = before.future_leo[replica]
    if after.future_leo[replica] < at:
        return _future_log_cut(before, after, replica, "is longer than the log and truncates")
    copied = "no record"
    if after.future_leo[replica] > at:
        copied = f"m{after.future_log[replica, at]} to offset {at}"
    return f"The future log of r{replica} copies {copied}: HW {after.future_hw[replica]}."


def _truncate_future_log(c: Settings, before: State, after: State, replica: int) -> str:
    return _future_log_cut(before, after, replica, "asks the log where its last epoch ends")


def _future_log_cut(before: State, after: State, replica: int, why: str) -> str:
    kept = range(after.future_leo[replica], before.future_leo[replica])
    gone = as_records(before.future_log[replica, offset] for offset in kept)
    cut = f"removing {gone}" if gone else "removing nothing"
    return join(f"The future log of r{replica} {why}", [cut])


def _assign_directory(c: Settings, before: State, after: State, replica: int) -> str:
    text = (
        f"The controller takes the directory of r{replica}'s future log, which has caught up, for"
    )
    emptied = ["the ELR is emptied"] if before.elr and not after.elr else []
    return join(f"{text} the replica's", emptied)


def _promote_future_log(c: Settings, before: State, after: State, replica: int) -> str:
    if after.future[replica]:
        return (
            f"The future log of r{replica} ends in another epoch than the log, and does not take "
            "its place."
        )
    ends = range(before.leo[replica])
    gone = [before.log[replica, o] for o in ends if before.log[replica, o] != after.log[replica, o]]
    came = [after.log[replica, o] for o in ends if before.log[replica, o] != after.log[replica, o]]
    changed = [f"its log has {as_records(came)} in place of {as_records(gone)}"] if gone else []
    if follows(after, replica) and after.fetched_epoch[replica] != NO_EPOCH:
        changed.append(f"its fetcher goes on with epoch {after.fetched_epoch[replica]}")
    return join(f"The future log of r{replica} takes the log's place", changed)


def _write_min_isr(c: Settings, before: State, after: State) -> str:
    forgotten = [f"the ELR {as_set(before, before.elr)} is emptied"] if before.elr else []
    if before.last_leader != after.last_leader:
        forgotten.append("the last known leader is forgotten")
    return join("The controller writes min.insync.replicas, with the value of before", forgotten)


def _mark_clean(c: Settings, before: State, after: State, replica: int) -> str:
    return (
        f"r{replica} starts and ends before it has recovered its log: it leaves the mark of a "
        "clean shutdown."
    )


def _restart(c: Settings, before: State, after: State, replica: int) -> str:
    noticed = contains(before.fenced, replica)
    manner = " and registers" if noticed else ", unnoticed by the controller"
    text = []
    if before.future[replica] and not after.future[replica]:
        gone = as_records(
            before.log[replica, offset] for offset in range(after.leo[replica], before.leo[replica])
        )
        text.append("the future log takes the log's place" + (f", removing {gone}" if gone else ""))
    if before.elr != after.elr and contains(before.elr, replica):
        text.append("it was not shut down properly and leaves the ELR")
    hw = (
        f"HW := min(checkpoint {after.checkpoint[replica]}, LEO {after.leo[replica]})"
        f" = {after.hw[replica]}"
    )
    text += _heard_on_return(before, after, replica)
    return join(f"r{replica} starts again{manner}: {hw}", [*text, *election(before, after)])


def _heard_on_return(before: State, after: State, replica: int) -> list[str]:
    """Describe how a returning broker reacts to the news that no broker leads."""
    if after.known_epoch[replica] == before.known_epoch[replica]:
        return []
    heard = f"it is told that nobody leads in epoch {after.known_epoch[replica]}"
    if before.leo[replica] == after.leo[replica]:
        return [heard]
    return [f"{heard} and truncates to its HW, {describe_removal(before, after, replica)}"]


def _fence(c: Settings, before: State, after: State, replica: int, winner: int = 0) -> str:
    text = f"The controller notices that r{replica} is down"
    return join(text, [*_left(before, after, replica), *election(before, after)])


def _left(before: State, after: State, replica: int) -> list[str]:
    """Describe the ISR and the ELR after the removal of the replica."""
    if not contains(before.isr, replica):
        return ["it was not in the ISR"]
    members = as_set(after, after.isr)
    if contains(after.isr, replica):
        return [f"it is the last of the ISR {members} and stays in it"]
    eligible = f", ELR {as_set(after, after.elr)}" if after.elr else ""
    return [f"it leaves the ISR, now {members}{eligible}"]


def _register(c: Settings, before: State, after: State, replica: int) -> str:
    heard = _heard_on_return(before, after, replica)
    text = f"r{replica} registers with the controller again"
    return join(text, [*heard, *election(before, after)])


def _move(c: Settings, before: State, after: State, replica: int) -> str:
    return (
        f"The controller moves leadership from r{before.leader} to r{replica}: "
        f"epoch {after.epoch}, ISR {as_set(after, after.isr)} unchanged."
    )


def _learn(c: Settings, before: State, after: State, replica: int) -> str:
    if after.known_epoch[replica] == NO_EPOCH:
        text = f"r{replica} learns that it is no replica any more: it deletes its log"
        return join(
            text, [describe_removal(before, after, replica), *never_acked(before, after, replica)]
        )
    return _taken_up(c, before, after, replica, f"r{replica} learns", before.leader)


def _learn_late(c: Settings, before: State, after: State, replica: int, epoch: int) -> str:
    late = f"r{replica} learns what was decided before"
    return _taken_up(c, before, after, replica, late, before.decided_leader[epoch])


def _taken_up(
    c: Settings, before: State, after: State, replica: int, learns: str, leader: int
) -> str:
    """Describe a broker's reaction to a decision for `leader`."""
    epoch = after.known_epoch[replica]
    if leader == NO_REPLICA:
        rest = never_acked(before, after, replica)
        did = "steps down" if before.role[replica] == LEADER else "has nobody to fetch from"
        if before.leo[replica] != after.leo[replica]:
            did += f", truncates to its HW, {describe_removal(before, after, replica)}"
        return join(f"{learns} that nobody leads in epoch {epoch} and {did}", rest)
    if leader == replica:
        return join(
            f"{learns} that it {_leads(before, after, replica)} in epoch {epoch}: "
            f"LEO {after.leo[replica]}, HW {before.hw[replica]}",
            at_leader(before, after, replica),
        )
    text = f"{learns} that r{leader} leads in epoch {epoch}"
    if stays_follower(before, c, replica, leader, epoch):
        return f"{text}; it is the same leader, so r{replica} truncates nothing and carries on."
    if c.truncation == TRUNCATE_ON_FETCH:
        cut = "its fetches will tell where the logs part"
    elif after.role[replica] == TRUNCATING:
        cut = "it will ask where its last epoch ends before it fetches"
    else:
        removal = describe_removal(before, after, replica)
        cut = f"it truncates to its own HW {before.hw[replica]}, {removal}"
    rest = never_acked(before, after, replica)
    if after.stray_from == replica and before.stray_from == NO_REPLICA:
        rest.append(f"its fetch to r{after.stray_to} is still on its way")
    return join(f"{text} and follows it: {cut}", rest)


def _leads(before: State, after: State, replica: int) -> str:
    if before.role[replica] != LEADER:
        return "leads"
    if before.known_epoch[replica] == after.known_epoch[replica]:
        return f"leads with ISR {as_set(after, after.known_isr[replica])}"
    return "still leads, now"


def _reassign(c: Settings, before: State, after: State, targets: int, winner: int = 0) -> str:
    text = f"The controller reassigns the partition to {as_set(after, targets)}"
    return join(text, assignment(before, after))


def _cancel(c: Settings, before: State, after: State, winner: int = 0) -> str:
    return join("The controller cancels the reassignment", assignment(before, after))


def _complete(c: Settings, before: State, after: State) -> str:
    return join("The controller completes the reassignment", assignment(before, after))


SENTENCES: dict[str, Callable[..., str]] = {
    **{
        DECLARED[name].steps[0]: partial(_met_by_fault, fault.description)
        for name, fault in FAULTS.items()
        if fault.description
    },
    "Checkpoint": _checkpoint,
    "BeginShutdown": _begin_shutdown,
    "Stop": _stop,
    "DirectoryMove": _directory_move,
    "StartFutureLog": _start_future_log,
    "CopyFutureLog": _copy_future_log,
    "TruncateFutureLog": _truncate_future_log,
    "AssignDirectory": _assign_directory,
    "PromoteFutureLog": _promote_future_log,
    "WriteMinIsr": _write_min_isr,
    "MarkClean": _mark_clean,
    "Restart": _restart,
    "Fence": _fence,
    "FenceAndElect": _fence,
    "Register": _register,
    "Move": _move,
    "Reassign": _reassign,
    "ReassignAndElect": _reassign,
    "CancelReassignment": _cancel,
    "CancelAndElect": _cancel,
    "CompleteReassignment": _complete,
    "Learn": _learn,
    "LearnLate": _learn_late,
}
