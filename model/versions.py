"""The versions of the protocol, each a set of features and a table of contents.

A version that loses data stays here beside the one that repairs it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from model.controller import (
    can_fence,
    can_fence_and_elect,
    can_move,
    fence,
    fence_and_elect,
    fence_and_elect_limit,
    fence_limit,
    move,
    move_limit,
)
from model.fetch import (
    can_leader_fetch,
    can_receive_fetch,
    can_receive_out_of_range,
    can_send_fetch,
    can_wake_parked,
    leader_fetch,
    receive_fetch,
    receive_out_of_range,
    send_fetch,
    wake_parked,
)
from model.isr import can_shrink_isr, shrink_isr
from model.metadata import can_learn, learn
from model.process import (
    can_checkpoint,
    can_crash,
    can_restart,
    checkpoint,
    crash,
    crash_limit,
    restart,
    restart_limit,
)
from model.produce import can_produce, produce, produce_limit
from model.terms import TRUNCATE_BY_EPOCH, TRUNCATE_TO_HIGH_WATERMARK
from model.transition_system import Action, Parameter
from model.truncation import can_offset_for_leader_epoch, offset_for_leader_epoch

_LEADER = Parameter("leader", "replicas")
_FOLLOWER = Parameter("follower", "replicas")
_REPLICA = Parameter("replica", "replicas")
_WINNER = Parameter("winner", "replicas")


def _action(
    name: str,
    parameters: tuple[Parameter, ...],
    guard: Callable[..., bool],
    effect: Callable[..., None],
    limit: Callable[..., int] | None = None,
) -> Action:
    return Action(name=name, parameters=parameters, guard=guard, effect=effect, limit=limit)


ACTIONS = (
    _action("Produce", (_LEADER,), can_produce, produce, produce_limit),
    _action("SendFetch", (_FOLLOWER,), can_send_fetch, send_fetch),
    _action("LeaderFetch", (_FOLLOWER,), can_leader_fetch, leader_fetch),
    _action("WakeParked", (_FOLLOWER,), can_wake_parked, wake_parked),
    _action("RecvFetch", (_FOLLOWER,), can_receive_fetch, receive_fetch),
    _action("RecvOutOfRange", (_FOLLOWER,), can_receive_out_of_range, receive_out_of_range),
    _action("ShrinkIsr", (_LEADER, _FOLLOWER), can_shrink_isr, shrink_isr),
    _action("Checkpoint", (_REPLICA,), can_checkpoint, checkpoint),
    _action("Crash", (_REPLICA,), can_crash, crash, crash_limit),
    _action("Restart", (_REPLICA,), can_restart, restart, restart_limit),
    _action("Fence", (_REPLICA,), can_fence, fence, fence_limit),
    _action(
        "FenceAndElect",
        (_REPLICA, _WINNER),
        can_fence_and_elect,
        fence_and_elect,
        fence_and_elect_limit,
    ),
    _action("Move", (_REPLICA,), can_move, move, move_limit),
    _action("Learn", (_REPLICA,), can_learn, learn),
    _action(
        "OffsetForLeaderEpoch",
        (_FOLLOWER,),
        can_offset_for_leader_epoch,
        offset_for_leader_epoch,
    ),
)
"""Every way the cluster can move. ISR expansion is part of LeaderFetch."""

_EVERY_VERSION = tuple(a.name for a in ACTIONS if a.name != "OffsetForLeaderEpoch")


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """One member of the family: what it is called, which Kafka it is, and its rules."""

    name: str
    sentence: str
    truncation: int
    contents: tuple[str, ...]


HW = Version(
    name="hw",
    sentence="Kafka up to 0.10.2: a new follower truncates to its own high watermark. "
    "Loses a committed record and diverges with 2 replicas, 2 records, 2 restarts.",
    truncation=TRUNCATE_TO_HIGH_WATERMARK,
    contents=_EVERY_VERSION,
)
EPOCH = Version(
    name="epoch",
    sentence="Kafka 0.11 (KIP-101): a new follower asks the leader where its last epoch ends. "
    "Diverges with 3 replicas (KAFKA-7164), and with 2 when leadership moves (KIP-279).",
    truncation=TRUNCATE_BY_EPOCH,
    contents=(*_EVERY_VERSION, "OffsetForLeaderEpoch"),
)

VERSIONS = {version.name: version for version in (HW, EPOCH)}
