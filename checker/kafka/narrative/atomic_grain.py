"""Reading the atomic grain: its states as clusters, its steps as actions of an actor."""

from __future__ import annotations

from typing import Any

from waterline.checker.kafka.narrative.cluster import (
    CONTROLLER,
    Cluster,
    Control,
    Holdings,
    Lane,
    broker,
)
from waterline.checker.kafka.narrative.grain import cells_of, logs_of
from waterline.counterexamples import Moment
from waterline.model.atomic.narration import rows, summary
from waterline.model.atomic.state import is_true_leader, leads, quorum_isr, quorum_leader
from waterline.model.core.state import State
from waterline.model.message.narration.phrases import members_of
from waterline.model.message.terms import NO_EPOCH, NO_REPLICA

_ROLE_COLUMN = 1
_OF_THE_CONTROLLER = frozenset({"ElectLeader", "RemoveFromIsr"})


class AtomicGrain:
    """A fetch is one step, and no broker is ever down."""

    def holdings(self, state: State) -> Holdings:
        """Return each replica's records; committed are those below the highest HW of a leader."""
        logs = logs_of(state)
        shown = (logs[r][: state.hw[r]] for r in range(state.replicas) if leads(state, r))
        committed = max(shown, key=len, default=())
        return Holdings(logs, committed, frozenset(), (True,) * state.replicas)

    def cluster(self, settings: Any, state: State) -> Cluster:
        """All that a picture shows."""
        leader = quorum_leader(state)
        return Cluster(
            lanes=tuple(_lane(state, r) for r in range(state.replicas)),
            control=Control(
                leader=None if leader == NO_REPLICA else leader,
                epoch=state.issued - 1 if state.issued else None,
                isr=members_of(quorum_isr(state), state.replicas),
            ),
            flights=(),  # a fetch is one step; LeaderAndIsr requests are told in the rest
            committed=self.holdings(state).committed,
            acknowledged=(),
            rest=tuple(pair for pair in summary(state) if pair[0] != "Quorum"),
        )

    def actor(self, moment: Moment) -> str:
        """Return the actor of a step."""
        if moment.action in _OF_THE_CONTROLLER:
            return CONTROLLER
        arguments = dict(moment.arguments)
        if moment.action == "BecomeLeader":
            return broker(moment.before.request_leader[arguments["epoch"]])
        name = next(name for name in ("leader", "follower", "replica") if name in arguments)
        return broker(arguments[name])

    def is_fault(self, action: str) -> bool:
        """True if a broker is taken to have failed."""
        return action == "RemoveFromIsr"

    def leader(self, state: State) -> int | None:
        """The quorum's leader, if it acts on that."""
        leader = self.elected_leader(state)
        return leader if leader is not None and is_true_leader(state, leader) else None

    def elected_leader(self, state: State) -> int | None:
        """The quorum's leader."""
        leader = quorum_leader(state)
        return None if leader == NO_REPLICA else leader

    def leads(self, state: State, replica: int) -> bool:
        """True if a replica takes itself for the leader."""
        return leads(state, replica)

    def epoch(self, state: State) -> int:
        """The last leader epoch that was given out."""
        return int(state.issued) - 1

    def in_sync(self, state: State) -> int:
        """The quorum's ISR."""
        return quorum_isr(state)

    def required_replicas(self, settings: Any, state: State, leader: int) -> int:
        """The ISR that this leader goes by."""
        return int(state.known_isr[leader])

    def may_lead(self, settings: Any, state: State) -> int:
        """The quorum's ISR."""
        return quorum_isr(state)

    def candidates(self, state: State) -> int:
        """The quorum's ISR."""
        return quorum_isr(state)

    def cause(self, settings: Any, moment: Moment, replica: int) -> str:
        """Describe how a broker loses records in this step."""
        return f"{broker(replica)} truncates to offset {moment.after.leo[replica]}"


def _lane(s: State, replica: int) -> Lane:
    epoch, is_leader = s.known_epoch[replica], leads(s, replica)
    return Lane(
        replica=replica,
        is_up=True,
        leads=is_leader,
        role=rows(s)[replica + 1][_ROLE_COLUMN],
        epoch=None if epoch == NO_EPOCH else epoch,
        log=cells_of(s, replica),
        high_watermark=s.hw[replica],
        isr=members_of(s.known_isr[replica], s.replicas) if is_leader else None,
    )
