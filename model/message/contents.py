"""The table of contents: every way the cluster can move, and which of them an environment has.

What a version does not have, or an environment does not let happen, is left out of its table, so
that a report lists what was possible.
"""

from __future__ import annotations

from collections.abc import Callable

from waterline.model.core.transition_system import Action, Parameter
from waterline.model.message import (
    clients,
    controller,
    directories,
    disk,
    fetch,
    high_watermark,
    isr,
    late_fetches,
    metadata,
    partition_state,
    process,
    reassignment,
    replay,
    truncation,
)
from waterline.model.message.cluster import REPLICA_SETS
from waterline.model.message.environment import DECLARED, REPLICAS_MAX
from waterline.model.message.features import (
    ALTER_PARTITION,
    CHANGEABLE_REASSIGNMENT,
    ELR,
    KRAFT,
    RECOVERS_FUTURE_LOG,
    UNCLEAN_MARK_KEPT,
    has,
)
from waterline.model.message.limits import BUDGETS
from waterline.model.message.settings import Settings
from waterline.model.message.terms import (
    ELECT_ANY,
    TRUNCATE_BY_EPOCH,
    TRUNCATE_BY_EPOCHS,
    TRUNCATE_BY_EPOCHS_2_0,
    TRUNCATE_ON_FETCH,
)

_LEADER = Parameter("leader", "replicas")
_FOLLOWER = Parameter("follower", "replicas")
_FOLLOWERS = Parameter("followers", REPLICA_SETS, of="replicas")
_TARGETS = Parameter("targets", REPLICA_SETS, of="replicas")
_REPLICA = Parameter("replica", "replicas")
_WINNER = Parameter("winner", "replicas")
_END = Parameter("end", "records")
_EPOCH = Parameter("epoch", "epochs")

_KEEPS_RECORDS = {
    "Produce",
    "SendFetch",
    "LeaderFetch",
    "RecvFetch",
    "ShrinkIsr",
    "ShrinkTogether",
    "AlterPartition",
    "HearAnswer",
    "Replay",
    "Checkpoint",
    "Fence",
}
"""The most frequent of the actions that take no record out of a log or of an answer."""

_WEAKLY_FAIR = {
    # Fetchers, and brokers that answer them, try again for ever.
    "SendFetch",
    "LeaderFetch",
    "BookFetch",
    "WakeParked",
    "RecvFetch",
    "RecvOutOfRange",
    "RecvDiverging",
    "OffsetForLeaderEpoch",
    # Who lags without end exceeds replica.lag.time.max.ms. Requests to change the ISR arrive.
    "ShrinkIsr",
    "LagTimePasses",
    "AlterPartition",
    "AlterAndElect",
    "CompleteReassignment",
    "HearAnswer",
    # Threads of every broker.
    "Checkpoint",
    "CopyFutureLog",
    "TruncateFutureLog",
    "AssignDirectory",
    "PromoteFutureLog",
    # A shutdown that has begun ends, and so does a dead broker's session; a live one registers.
    "Stop",
    "Fence",
    "FenceAndElect",
    "Register",
    # What the controller decides reaches every broker.
    "Learn",
    "LearnBrokers",
    "Replay",
}
"""Progress of brokers, controller and network.

It excludes the choices of producers, consumers and operators (Produce, Consume, Restart,
BeginShutdown, Move), faults, and late or stray steps (CheckFetch, ReadLate, LearnLate, StrayFetch,
LoseStray, MarkClean). ShrinkIsr is fair, although it may come at any time here: a follower that
never catches up from some moment on is found lagging. Until KAFKA-7152 one that has caught up can
be removed too, so that fairness lets it leave, and come back, again and again."""


def _action(
    name: str,
    parameters: tuple[Parameter, ...],
    guard: Callable[..., bool],
    effect: Callable[..., None],
    limit: Callable[..., int] | None = None,
) -> Action:
    return Action(
        name=name,
        parameters=parameters,
        guard=guard,
        effect=effect,
        limit=limit,
        budget=BUDGETS.get(name),
        stays_normal=name in _KEEPS_RECORDS,
        weakly_fair=name in _WEAKLY_FAIR,
    )


ACTIONS = (
    _action("Produce", (_LEADER,), clients.can_produce, clients.produce, clients.produce_limit),
    _action("SendFetch", (_FOLLOWER,), fetch.can_send_fetch, fetch.send_fetch),
    _action("LeaderFetch", (_FOLLOWER,), fetch.can_leader_fetch, fetch.leader_fetch),
    _action("CheckFetch", (_FOLLOWER,), late_fetches.can_check_fetch, late_fetches.check_fetch),
    _action("BookFetch", (_FOLLOWER,), late_fetches.can_book_fetch, late_fetches.book_fetch),
    _action("WakeParked", (_FOLLOWER,), fetch.can_wake_parked, fetch.wake_parked),
    _action("ReadLate", (_FOLLOWER,), fetch.can_read_late, fetch.read_late),
    _action("RecvFetch", (_FOLLOWER,), fetch.can_receive_fetch, fetch.receive_fetch),
    _action(
        "RecvOutOfRange", (_FOLLOWER,), fetch.can_receive_out_of_range, fetch.receive_out_of_range
    ),
    _action("RecvDiverging", (_FOLLOWER,), fetch.can_receive_diverging, fetch.receive_diverging),
    _action("StrayFetch", (_FOLLOWER,), late_fetches.can_stray_fetch, late_fetches.stray_fetch),
    _action("LoseStray", (), late_fetches.can_lose_stray, late_fetches.lose_stray),
    _action("ShrinkIsr", (_LEADER, _FOLLOWER), isr.can_shrink_isr, isr.shrink_isr),
    _action("ShrinkTogether", (_LEADER, _FOLLOWERS), isr.can_shrink_together, isr.shrink_together),
    _action("LagTimePasses", (_LEADER, _FOLLOWER), high_watermark.can_lag, high_watermark.lag),
    _action(
        "LearnBrokers", (_LEADER,), high_watermark.can_learn_brokers, high_watermark.learn_brokers
    ),
    _action(
        "AlterPartition",
        (_LEADER,),
        isr.can_alter_partition,
        isr.alter_partition,
        isr.alter_partition_limit,
    ),
    _action(
        "AlterAndElect",
        (_LEADER, _WINNER),
        isr.can_alter_and_elect,
        isr.alter_and_elect,
        isr.alter_and_elect_limit,
    ),
    _action("HearAnswer", (_LEADER,), isr.can_hear_answer, isr.hear_answer),
    _action("Replay", (_LEADER,), replay.can_replay, replay.replay),
    _action("Checkpoint", (_REPLICA,), process.can_checkpoint, process.checkpoint),
    _action("Crash", (_REPLICA,), process.can_crash, process.crash),
    _action("PowerLoss", (_REPLICA, _END), disk.can_lose_power, disk.lose_power),
    _action("DiskLoss", (_REPLICA,), disk.can_lose_disk, disk.lose_disk),
    _action("CheckpointLoss", (_REPLICA,), disk.can_lose_checkpoint, disk.lose_checkpoint),
    _action("DirectoryTaken", (_REPLICA,), disk.can_take_directory, disk.take_directory),
    _action(
        "DirectoryMove", (_REPLICA,), directories.can_move_directory, directories.move_directory
    ),
    _action("StartFutureLog", (_REPLICA,), directories.can_start, directories.start),
    _action("CopyFutureLog", (_REPLICA,), directories.can_copy, directories.copy),
    _action(
        "TruncateFutureLog",
        (_REPLICA,),
        directories.can_truncate,
        directories.truncate_future_log,
    ),
    _action(
        "AssignDirectory",
        (_REPLICA,),
        directories.can_assign_directory,
        directories.assign_directory,
    ),
    _action("PromoteFutureLog", (_REPLICA,), directories.can_promote, directories.promote),
    _action("DirectoryFailure", (_REPLICA,), process.can_crash, disk.fail_directory),
    _action("WriteMinIsr", (), partition_state.can_write_min_isr, partition_state.write_min_isr),
    _action(
        "BeginShutdown",
        (_REPLICA,),
        process.can_begin_shutdown,
        process.begin_shutdown,
        process.begin_shutdown_limit,
    ),
    _action("Stop", (_REPLICA,), process.can_stop, process.stop_cleanly),
    _action("MarkClean", (_REPLICA,), process.can_mark_clean, process.mark_clean),
    _action("Restart", (_REPLICA,), process.can_restart, process.restart, process.restart_limit),
    _action("Fence", (_REPLICA,), controller.can_fence, controller.fence, controller.fence_limit),
    _action(
        "FenceAndElect",
        (_REPLICA, _WINNER),
        controller.can_fence_and_elect,
        controller.fence_and_elect,
        controller.fence_and_elect_limit,
    ),
    _action(
        "SessionExpiry",
        (_REPLICA,),
        process.can_expire_session,
        process.expire_session,
        controller.fence_limit,
    ),
    _action(
        "Register",
        (_REPLICA,),
        process.can_register,
        process.register,
        process.registration_limit,
    ),
    _action("Move", (_REPLICA,), controller.can_move, controller.move, controller.move_limit),
    _action(
        "Reassign",
        (_TARGETS,),
        reassignment.can_reassign,
        reassignment.reassign,
        reassignment.reassign_limit,
    ),
    _action(
        "ReassignAndElect",
        (_TARGETS, _WINNER),
        reassignment.can_reassign_and_elect,
        reassignment.reassign_and_elect,
        reassignment.reassign_and_elect_limit,
    ),
    _action(
        "CancelReassignment",
        (),
        reassignment.can_cancel,
        reassignment.cancel,
        reassignment.cancel_limit,
    ),
    _action(
        "CancelAndElect",
        (_WINNER,),
        reassignment.can_cancel_and_elect,
        reassignment.cancel_and_elect,
        reassignment.cancel_and_elect_limit,
    ),
    _action(
        "CompleteReassignment",
        (),
        reassignment.can_complete,
        reassignment.complete_with_zookeeper,
        reassignment.complete_limit,
    ),
    _action("Learn", (_REPLICA,), metadata.can_learn, metadata.learn),
    _action("LearnLate", (_REPLICA, _EPOCH), metadata.can_learn_late, metadata.learn_late),
    _action(
        "OffsetForLeaderEpoch",
        (_FOLLOWER,),
        truncation.can_offset_for_leader_epoch,
        truncation.offset_for_leader_epoch,
    ),
    _action("Consume", (_LEADER,), clients.can_consume, clients.consume),
)
"""Every way the cluster can move. ISR expansion is part of LeaderFetch, but for AlterPartition."""

ACTORS = {
    "Producers and consumers": ("Produce", "Consume"),
    "Followers": (
        "SendFetch",
        "RecvFetch",
        "RecvOutOfRange",
        "OffsetForLeaderEpoch",
        "RecvDiverging",
    ),
    "Leaders": (
        "LeaderFetch",
        "CheckFetch",
        "BookFetch",
        "WakeParked",
        "ReadLate",
        "ShrinkIsr",
        "ShrinkTogether",
        "LagTimePasses",
        "LearnBrokers",
        "HearAnswer",
        "Replay",
    ),
    "Every broker": (
        "Learn",
        "LearnLate",
        "Checkpoint",
        "Restart",
        "Register",
        "MarkClean",
        "CopyFutureLog",
        "TruncateFutureLog",
        "PromoteFutureLog",
    ),
    "The controller": (
        "Fence",
        "FenceAndElect",
        "AlterPartition",
        "AlterAndElect",
        "CompleteReassignment",
        "AssignDirectory",
    ),
    "Operators": (
        "Move",
        "BeginShutdown",
        "Stop",
        "DirectoryMove",
        "StartFutureLog",
        "DirectoryTaken",
        "WriteMinIsr",
        "Reassign",
        "ReassignAndElect",
        "CancelReassignment",
        "CancelAndElect",
    ),
    "What goes wrong": (
        "Crash",
        "PowerLoss",
        "DiskLoss",
        "DirectoryFailure",
        "CheckpointLoss",
        "SessionExpiry",
        "StrayFetch",
        "LoseStray",
    ),
}
"""Actor of each action."""

_BY_QUESTIONS = (TRUNCATE_BY_EPOCH, TRUNCATE_BY_EPOCHS, TRUNCATE_BY_EPOCHS_2_0)


def _has_steps(name: str) -> Callable[[Settings], bool]:
    declared = DECLARED[name]
    return lambda c: declared.has_steps(getattr(c, declared.setting or name))


_ONLY_WHERE: dict[str, Callable[[Settings], bool]] = {
    "RecvDiverging": lambda c: c.truncation == TRUNCATE_ON_FETCH,
    "AlterPartition": lambda c: has(c, ALTER_PARTITION),
    "ShrinkTogether": lambda c: has(c, ALTER_PARTITION),
    "OffsetForLeaderEpoch": lambda c: c.truncation in _BY_QUESTIONS,
    **{
        step: _has_steps(name)
        for name, declared in DECLARED.items()
        for step in declared.steps
        if declared.fault is None or not declared.fault.always
    },
    **{
        name: lambda c: c.reassignments > 0 and c.election_order == ELECT_ANY
        for name in ("ReassignAndElect", "CancelAndElect", "AlterAndElect")
    },
    "CancelReassignment": lambda c: c.reassignments > 0 and has(c, CHANGEABLE_REASSIGNMENT),
    "CompleteReassignment": lambda c: c.reassignments > 0 and not has(c, KRAFT),
    "DirectoryMove": lambda c: c.directory_moves > 0 and c.future_log == 0,
    "AssignDirectory": lambda c: c.future_log == 1 and has(c, RECOVERS_FUTURE_LOG),
    "WriteMinIsr": lambda c: c.min_isr_writes > 0 and has(c, ELR),
    "MarkClean": lambda c: has(c, ELR) and not has(c, UNCLEAN_MARK_KEPT),
    "HearAnswer": lambda c: has(c, ALTER_PARTITION) and c.late_answers == 1,
    "Replay": lambda c: has(c, KRAFT) and c.late_replay == 1,
}
"""Condition, on version and circumstances, for an action to be there; others are always there."""
_REPLICAS_NEEDED = {"ShrinkTogether": 3}
"""Minimum number of replicas: a leader and two followers."""


def contents(settings: Settings, replicas: int = REPLICAS_MAX) -> tuple[str, ...]:
    """The names of the actions that there are with these settings, in order."""
    return tuple(
        action.name
        for action in ACTIONS
        if (action.name not in _ONLY_WHERE or _ONLY_WHERE[action.name](settings))
        and replicas >= _REPLICAS_NEEDED.get(action.name, 1)
    )
