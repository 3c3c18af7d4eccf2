"""Decisions of the scripted KRaft controller, by epoch, and who has heard of them.

Each decision is a batch of the one metadata log. Records about brokers alone reach at
once those that know every decision: a leader needs the new broker epoch of a follower to add it to
the ISR.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from waterline.checker.kafka.confirm.decisions import TOPIC, Decision
from waterline.checker.kafka.confirm.quorum.controller import ScriptedController
from waterline.checker.kafka.confirm.quorum.state import NO_LEADER, Assignment, MetadataRecord
from waterline.checker.kafka.confirm.stage import StepFailed


class KraftController:
    """The controller as a stage knows it: `decisions` are the last of each epoch."""

    def __init__(self, quorum: ScriptedController, replicas: Sequence[int]) -> None:
        self.quorum = quorum
        self.topic = TOPIC
        self.decisions: dict[int, Decision] = {}
        self._replicas = list(replicas)
        self._ends: dict[int, int] = {}
        self._changes: list[tuple[Decision, int]] = []
        self._decided_at = 0

    def create_topic(
        self, leader: int, settings: Mapping[str, str], replicas: Sequence[int]
    ) -> None:
        """As `Decides.create_topic`."""
        self.decisions.clear()
        self._ends.clear()
        self._changes.clear()
        self._note(self.quorum.create_topic(self.topic, replicas, leader, settings))

    def current(self) -> Decision:
        """As `Decides.current`."""
        now = self.quorum.partition
        isr, replicas = tuple(sorted(now.isr)), now.assignment.replicas
        return Decision(now.leader, now.leader_epoch, isr, now.epoch, replicas)

    def decide(
        self,
        leader: int,
        epoch: int,
        isr: Sequence[int],
        elr: Sequence[int],
        assignment: Assignment | None = None,
        *,
        beside: Sequence[MetadataRecord] = (),
        is_recovered: bool = False,
        is_held: bool = False,
    ) -> None:
        """Write the decision, if it changes the state, in one batch with the given records.

        Brokers do not learn of it yet. `epoch` may exceed the current one by several: a
        registration that ends a session is two changes in one step. If nothing changes, brokers
        that know all decisions read the records now, unless `is_held`. Without `assignment` the
        replicas stay.
        """
        now = self.quorum.partition
        assignment = assignment or now.assignment
        if (leader, epoch, sorted(isr), sorted(elr), assignment) == (
            now.leader,
            now.leader_epoch,
            sorted(now.isr),
            sorted(now.elr),
            now.assignment,
        ):
            if is_held:
                self.quorum.append(beside)
            elif beside:
                self.announce(beside)
            return
        for _ in range(epoch - now.leader_epoch - 1):
            self.quorum.change(leader=NO_LEADER)
        end = self.quorum.change(
            leader=leader if epoch != now.leader_epoch else None,
            isr=sorted(isr) if sorted(isr) != sorted(now.isr) else None,
            elr=sorted(elr) if sorted(elr) != sorted(now.elr) else None,
            assignment=assignment if assignment != now.assignment else None,
            is_recovered=is_recovered,
            beside=beside,
        )
        self._note(end)

    def announce(self, records: Sequence[MetadataRecord]) -> None:
        """Write records about brokers; who knows all decisions reads them at once."""
        informed = self.informed_brokers()
        end = self.quorum.append(records)
        for broker in informed:
            self.quorum.reveal(broker, end)

    def informed_brokers(self) -> list[int]:
        """The brokers that may know every decision."""
        return [
            broker
            for broker in self._replicas
            if (known := self.quorum.broker(broker).may_know) is not None
            and known >= self._decided_at
        ]

    def end_of(self, decision: Decision) -> int:
        """The end of the log for a broker that is to know this decision, and none after it."""
        if decision.epoch == self.quorum.partition.leader_epoch:
            return self.quorum.end
        return self._ends[decision.epoch]

    def end_of_isr(self, broker: int, epoch: int, isr: Sequence[int]) -> int:
        """The end of the log for a broker that is to read the next decision with this ISR.

        Raises `StepFailed` where it has read all of those.
        """
        read = self.quorum.broker(broker).may_know or 0
        for decision, end in self._changes:
            if end > read and (decision.epoch, decision.isr) == (epoch, tuple(sorted(isr))):
                return end
        raise StepFailed(
            f"r{broker} has a record of ISR {list(isr)} in epoch {epoch} to read",
            f"it has read up to {read}",
        )

    def _note(self, end: int) -> None:
        now = self.current()
        self._changes.append((now, end))
        self.decisions[now.epoch], self._ends[now.epoch] = now, end
        self._decided_at = end
