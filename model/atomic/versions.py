"""The versions of the atomic grain: how a follower truncates, and what is fenced.

They are those of the TLA+ specification that Kafka's replication was designed with
(hachikuji/kafka-specification), rule for rule; the counts in the tests come from there. A version
that breaks a claim stays here next to its repair. Each breaks the claims listed for it at 2
records, log size 2 and leader epochs 0..2.
"""

from __future__ import annotations

from dataclasses import dataclass

from waterline.model.atomic import rules
from waterline.model.atomic.environment import AtomicEnvironment
from waterline.model.atomic.narration import NARRATION
from waterline.model.atomic.state import layout
from waterline.model.atomic.terms import (
    BY_LATEST_EPOCH,
    BY_LEADER_EPOCH,
    BY_RECORD_EPOCH,
    LIMITS,
    TO_HIGH_WATERMARK,
    TO_MATCHING_RECORD,
    UNFENCED,
    WHILE_FETCHING,
    AtomicSettings,
)
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.layout import TooLargeToPack
from waterline.model.core.state import State
from waterline.model.core.transition_system import Action, Model, Parameter

NAME = "kafka-atomic"
_REPLICA = Parameter("replica", "replicas")
_LEADER = Parameter("leader", "replicas")
_FOLLOWER = Parameter("follower", "replicas")
_EPOCH = Parameter("epoch", "requests")

ACTIONS = (
    Action(
        name="ElectLeader",
        parameters=(_REPLICA,),
        guard=rules.can_elect,
        effect=rules.elect,
        limit=rules.epoch_limit,
    ),
    Action(
        name="RemoveFromIsr",
        parameters=(_REPLICA,),
        guard=rules.can_remove_from_isr,
        effect=rules.remove_from_isr,
        limit=rules.epoch_limit,
    ),
    Action(
        name="BecomeLeader",
        parameters=(_EPOCH,),
        guard=rules.can_become_leader,
        effect=rules.become_leader,
    ),
    Action(
        name="ExpandIsr",
        parameters=(_LEADER, _FOLLOWER),
        guard=rules.can_expand_isr,
        effect=rules.expand_isr,
    ),
    Action(
        name="ShrinkIsr",
        parameters=(_LEADER, _FOLLOWER),
        guard=rules.can_shrink_isr,
        effect=rules.shrink_isr,
    ),
    Action(
        name="Produce",
        parameters=(_LEADER,),
        guard=rules.can_produce,
        effect=rules.produce,
        limit=rules.produce_limit,
    ),
    Action(
        name="AdvanceHighWatermark",
        parameters=(_LEADER,),
        guard=rules.can_advance_high_watermark,
        effect=rules.advance_high_watermark,
    ),
    Action(
        name="BecomeFollower",
        parameters=(_REPLICA, _EPOCH),
        guard=rules.can_become_follower,
        effect=rules.become_follower,
    ),
    Action(
        name="Fetch",
        parameters=(_FOLLOWER,),
        guard=rules.can_fetch,
        effect=rules.fetch,
    ),
    Action(
        name="Truncate",
        parameters=(_FOLLOWER,),
        guard=rules.can_truncate,
        effect=rules.truncate_log,
    ),
)
"""Every way the cluster can move."""

_EVERY_VERSION = tuple(a.name for a in ACTIONS if a.name != "Truncate")


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicVersion:
    """One member of the family: its name, the Kafka that it models, and its rules."""

    name: str
    sentence: str
    settings: AtomicSettings
    contents: tuple[str, ...] = _EVERY_VERSION


HW = AtomicVersion(
    name="hw",
    sentence="Kafka up to 0.10.2: a new follower truncates to its own high watermark. "
    "Breaks weak and strong ISR with 2 replicas, after 8 and 9 steps.",
    settings=AtomicSettings(TO_HIGH_WATERMARK, UNFENCED),
)
EPOCH = AtomicVersion(
    name="epoch",
    sentence="Kafka 0.11 (KIP-101): a new follower truncates to where the epoch of its last record "
    "ends at the leader. Breaks weak and strong ISR with 2 replicas, after 11 steps.",
    settings=AtomicSettings(BY_LATEST_EPOCH, UNFENCED),
)
KIP_279 = AtomicVersion(
    name="kip279",
    sentence="Kafka 2.0 (KIP-279): a new follower truncates to the last record in both logs. "
    "Holds with 2 replicas; with 3 breaks weak and strong ISR after 10 steps.",
    settings=AtomicSettings(TO_MATCHING_RECORD, UNFENCED),
)
KIP_320_FIRST_TRY = AtomicVersion(
    name="kip320-first-try",
    sentence="A draft of KIP-320: a follower fetches at once and truncates on a mismatch. "
    "Holds with 2 replicas; with 3 breaks weak and strong ISR after 11 and 12 steps.",
    settings=AtomicSettings(WHILE_FETCHING, BY_RECORD_EPOCH),
    contents=(*_EVERY_VERSION, "Truncate"),
)
KIP_320 = AtomicVersion(
    name="kip320",
    sentence="Kafka 2.1 (KIP-320): leader and follower must be in the same epoch for everything. "
    "Breaks neither weak nor strong ISR, with 2 replicas or 3.",
    settings=AtomicSettings(TO_MATCHING_RECORD, BY_LEADER_EPOCH),
)

VERSIONS = {v.name: v for v in (HW, EPOCH, KIP_279, KIP_320_FIRST_TRY, KIP_320)}


def atomic_model(version: str, environment: AtomicEnvironment) -> Model:
    """Version `version` of the protocol within the bounds of `environment`.

    Raises `BadEnvironment` for an unknown version or bounds too large to pack.
    """
    rules = VERSIONS.get(version)
    if rules is None:
        raise BadEnvironment(f"unknown protocol {version!r}; known: {', '.join(VERSIONS)}")
    try:
        form = layout(environment)
    except TooLargeToPack as problem:
        wanted = ", ".join(f"{name} {value}" for name, value in environment.options().items())
        raise BadEnvironment(
            f"{wanted} together are too large to pack: {problem}; lower one of them"
        ) from None
    return Model(
        name=NAME,
        version=version,
        layout=form,
        settings=rules.settings,
        actions=ACTIONS,
        contents=rules.contents,
        limits=LIMITS,
        initial=(State(form),),  # empty logs, all replicas in sync, no leader and no epoch yet
        narration=NARRATION,
        options=environment.options(),
    )
