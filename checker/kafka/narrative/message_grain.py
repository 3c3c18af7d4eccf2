"""Reading the message grain: its states as clusters, its steps as actions of an actor."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from waterline.checker.kafka.narrative.cluster import (
    CONSUMER,
    CONTROLLER,
    NETWORK,
    Cluster,
    Control,
    Flight,
    Holdings,
    Lane,
    broker,
)
from waterline.checker.kafka.narrative.grain import cells_of, logs_of
from waterline.counterexamples import Moment
from waterline.invariants.current_leader import current_leader
from waterline.invariants.electable import electable
from waterline.model.core.state import State
from waterline.model.message.contents import ACTIONS
from waterline.model.message.high_watermark import counted_isr
from waterline.model.message.narration import HEADER, rows, summary
from waterline.model.message.narration.phrases import awaited_records, epoch_cache, members_of
from waterline.model.message.roles import follows
from waterline.model.message.terms import (
    ANSWERED,
    CHECKED,
    DIVERGING,
    IDLE,
    LEADER,
    NO_EPOCH,
    NO_RECORD,
    NO_REPLICA,
    OUT_OF_RANGE,
    REQUESTED,
    TRUNCATE_TO_HIGH_WATERMARK,
    UNKNOWN_OFFSET,
    contains,
)

_OF_THE_CONTROLLER = frozenset(
    {
        *("Fence", "FenceAndElect", "Move", "AlterPartition", "AlterAndElect", "SessionExpiry"),
        *("Reassign", "ReassignAndElect", "CancelReassignment", "CancelAndElect"),
        "CompleteReassignment",
        *("AssignDirectory", "WriteMinIsr"),
    }
)
_AT_THE_LEADER = frozenset({"LeaderFetch", "CheckFetch", "WakeParked", "ReadLate"})
"""Named after the follower whose fetch it is, and done by its leader."""
_TO = {"StrayFetch": "stray_to", "BookFetch": "booking_to"}
"""Named after the follower, too, and done by the broker that this field has."""
_DRAWN = frozenset({"Controller", "Committed", "Acknowledged", "Still on its way"})
"""Parts of the summary that a picture shows."""
_ROLE_COLUMN = HEADER.index("State")
_ISR_COLUMN = HEADER.index("ISR")
_MEMBER = re.compile(r"\br\d+\b|,", re.ASCII)


class MessageGrain:
    """A fetch's request and its answer are separate steps."""

    def holdings(self, state: State) -> Holdings:
        """Return the records of each replica."""
        acked = state.acked
        return Holdings(
            logs_of(state),
            tuple(state.exposed[o] for o in range(state.exposed_end)),
            frozenset(r + 1 for r in range(state.records) if contains(acked, r)),
            tuple(state.up[r] == 1 for r in range(state.replicas)),
        )

    def cluster(self, settings: Any, state: State) -> Cluster:
        """All that a picture shows."""
        held = self.holdings(state)
        return Cluster(
            lanes=tuple(_lane(settings, state, r) for r in range(state.replicas)),
            control=_control(state),
            flights=tuple(_flights(state)),
            committed=held.committed,
            acknowledged=tuple(sorted(held.acknowledged)),
            rest=tuple(pair for pair in summary(state) if pair[0] not in _DRAWN),
        )

    def actor(self, moment: Moment) -> str:
        """Return the actor of a step."""
        arguments = dict(moment.arguments)
        if moment.action in _OF_THE_CONTROLLER:
            return CONTROLLER
        if moment.action == "Consume":
            return CONSUMER
        if moment.action in _TO:
            return broker(getattr(moment.before, _TO[moment.action]))
        if moment.action in _AT_THE_LEADER:
            return broker(moment.before.known_leader[arguments["follower"]])
        for name in ("leader", "replica", "follower"):
            if name in arguments:
                return broker(arguments[name])
        return NETWORK

    def is_fault(self, action: str) -> bool:
        """True if the environment counts it: a crash, a move, a lost disk."""
        return action in _faults()

    def leader(self, state: State) -> int | None:
        """The leader that has taken up its epoch."""
        return _somebody(current_leader(state))

    def elected_leader(self, state: State) -> int | None:
        """The controller's leader."""
        return _somebody(state.leader)

    def leads(self, state: State, replica: int) -> bool:
        """True if a broker takes itself for the leader."""
        return bool(state.role[replica] == LEADER)

    def epoch(self, state: State) -> int:
        """The controller's leader epoch."""
        return int(state.epoch)

    def eligible(self, state: State) -> int:
        """The members of ISR and ELR, up or down."""
        return int(state.isr | state.elr)

    def in_sync(self, state: State) -> int:
        """The controller's ISR."""
        return int(state.isr)

    def required_replicas(self, settings: Any, state: State, leader: int) -> int:
        """Return the set of replicas that the leader waits for; empty if it does not lead."""
        if state.role[leader] != LEADER:
            return 0
        return int(counted_isr(state, settings, leader))

    def may_lead(self, settings: Any, state: State) -> int:
        """The replicas that lead or may be elected, up or down."""
        return int(electable(state, settings))

    def candidates(self, state: State) -> int:
        """The running members of ISR and ELR."""
        running = sum(1 << r for r in range(state.replicas) if state.up[r] == 1)
        return int((state.isr | state.elr) & running)

    def cause(self, settings: Any, moment: Moment, replica: int) -> str:
        """Describe how a broker loses records in this step."""
        end, who = moment.after.leo[replica], broker(replica)
        if moment.action == "PowerLoss":
            return f"{who} loses power before its log is flushed"
        if moment.action == "DiskLoss":
            return f"{who} loses its disk"
        by_watermark = settings.truncation == TRUNCATE_TO_HIGH_WATERMARK
        if by_watermark and moment.action in {"Learn", "LearnLate"}:
            return f"{who} truncates to its high watermark {end}"
        return f"{who} truncates to offset {end}"


@cache
def _faults() -> frozenset[str]:
    return frozenset(action.name for action in ACTIONS if action.budget is not None)


def _somebody(replica: int) -> int | None:
    return None if replica == NO_REPLICA else int(replica)


def _lane(settings: Any, s: State, replica: int) -> Lane:
    leads, epoch = s.role[replica] == LEADER, s.known_epoch[replica]
    return Lane(
        replica=replica,
        is_up=s.up[replica] == 1,
        leads=leads,
        role=rows(s)[replica + 1][_ROLE_COLUMN],
        epoch=None if epoch == NO_EPOCH else epoch,
        log=cells_of(s, replica),
        high_watermark=s.hw[replica] if s.up[replica] == 1 else None,
        checkpoint=s.checkpoint[replica],
        durable=s.durable[replica],
        remote_leos=_remote_leos(s, replica) if leads else (),
        isr=members_of(s.known_isr[replica], s.replicas) if leads else None,
        asked_isr=_asked_isr(s, replica) if leads else None,
        asked_note=_asked_note(s, replica) if leads else "",
        epoch_cache=_epoch_cache(settings, s, replica),
        unanswered=tuple(awaited_records(s, replica)),
    )


def _remote_leos(s: State, leader: int) -> tuple[tuple[int, int | None], ...]:
    known = ((f, s.remote_leo[leader, f]) for f in range(s.replicas) if f != leader)
    return tuple((f, None if offset == UNKNOWN_OFFSET else offset) for f, offset in known)


def _asked_isr(s: State, leader: int) -> tuple[int, ...] | None:
    return members_of(s.pending_isr[leader], s.replicas) if s.pending_isr[leader] else None


def _asked_note(s: State, leader: int) -> str:
    """Return the remark on a leader's request, in the words of the table of states."""
    text = rows(s)[leader + 1][_ISR_COLUMN].partition(", asks ")[2]
    return _MEMBER.sub("", text).strip()


def _epoch_cache(settings: Any, s: State, replica: int) -> tuple[tuple[int, int], ...]:
    """(epoch, first offset); none where Kafka has none."""
    if settings.truncation == TRUNCATE_TO_HIGH_WATERMARK:
        return ()
    return tuple(epoch_cache(s, settings, replica))


def _control(s: State) -> Control:
    return Control(
        leader=_somebody(s.leader),
        epoch=s.epoch,
        isr=members_of(s.isr, s.replicas),
        elr=members_of(s.elr, s.replicas),
        fenced=members_of(s.fenced, s.replicas),
        stopping=members_of(s.stopping, s.replicas),
        last_leader=_somebody(s.last_leader),
        replicas=members_of(s.assigned, s.replicas),
    )


def _flights(s: State) -> list[Flight]:
    found = [
        _flight(s, follower)
        for follower in range(s.replicas)
        if follows(s, follower) and s.fetch[follower] != IDLE
    ]
    if s.stray_from != NO_REPLICA:
        words = f"old fetch from {s.stray_offset}, e{s.stray_epoch}"
        if s.stray_last_epoch != NO_EPOCH:
            words += f", last e{s.stray_last_epoch}"
        if s.stray_stale:
            words += ", broker epoch of the past"
        found.append(Flight(s.stray_from, s.stray_to, words, is_old=True))
    return found


def _flight(s: State, follower: int) -> Flight:
    leader, state, offset = s.known_leader[follower], s.fetch[follower], s.answer_offset[follower]
    if state == REQUESTED:
        return Flight(follower, leader, f"fetch from {s.leo[follower]}")
    if state == ANSWERED:
        carried = [s.answer_log[follower, i] for i in range(s.records)]
        text = " ".join(f"m{r}" for r in carried if r != NO_RECORD) or "no record"
        return Flight(leader, follower, f"{text}, HW {offset}", is_answer=True)
    if state == OUT_OF_RANGE:
        return Flight(leader, follower, f"out of range, LEO {offset}", is_answer=True)
    if state == DIVERGING:
        return Flight(leader, follower, f"diverging, cut at {offset}", is_answer=True)
    held = "checked" if state == CHECKED else "parked"
    return Flight(follower, leader, f"fetch from {s.leo[follower]}, {held}")
