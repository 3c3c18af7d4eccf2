"""Logs that a random walk of the model could have written: brokers' lines after Kafka's format.

With them go the controller's decisions, to be written as lines of a controller or as a dump.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from waterline.invariants import acknowledged_durable
from waterline.model.core.transition_system import Model, Step
from waterline.model.message.terms import LEADER, NO_EPOCH

STEPS = 80
CRASHED = "Recovering 1 logs from /d since no clean shutdown file was found"
SHUT_DOWN = "Skipping recovery of 1 logs from /d since clean shutdown file was found"
_OF_OPERATORS = ("Reassign", "ReassignAndElect", "CancelReassignment", "CancelAndElect")
_TAKES_A_LOG = ("PowerLoss", "DiskLoss", "DirectoryTaken")
LOADED = "Log loaded for partition t-0 with initial high watermark"
DELETED = (
    "Log for partition t-0 is renamed to /d/t-0.5c9a0d6e2f4b4b0f8f0f5d1c2b3a4e5f-delete and is "
    "scheduled for deletion (kafka.log.LogManager)"
)


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of a walk: its number, and the leader epoch, leader and ISR from then on."""

    number: int
    epoch: int
    leader: int
    isr: tuple[int, ...]
    replicas: tuple[int, ...] | None = None
    adding: tuple[int, ...] | None = None
    removing: tuple[int, ...] | None = None


@dataclass(slots=True)
class Walk:
    """How many lines brokers wrote, whether an acknowledged record was lost, and the decisions."""

    lines: int
    lost: bool
    decided: list[Decided] = field(default_factory=list)


def role_line(state: Any, replica: int, epoch: int, number: int) -> str:
    """The line of a replica that takes up its role in an epoch, before it does."""
    said = f"[Broker id={replica}] "
    decision = f"partition epoch {number}"
    at = f"t-0 starts at leader epoch {epoch} from offset {state.leo[replica]} with {decision}"
    if state.leader == replica:
        isr = members(state.isr, state.replicas)
        before = f"Previous leader epoch was {state.known_epoch[replica]}."
        return f"{said}Leader {at}, high watermark {state.hw[replica]}, ISR [{isr}] {before}"
    whom = f"Current leader is {state.leader}."
    return f"{said}Follower {at} and high watermark {state.hw[replica]}. {whom}"


class Writer:
    """Writes what the brokers of a walk would: lines of the roles alone, or all that are read."""

    def __init__(self, state: Any, *, of_all: bool, reassigns: bool = False) -> None:
        self.lines = {
            r: [role_line(state, r, 0, 0)] if not reassigns or state.assigned >> r & 1 else []
            for r in range(state.replicas)
        }
        self._reassigns = reassigns
        self._shut_down: set[int] = set()
        self._of_all = of_all
        self._decisions = 0
        self.decided = [_decided(0, state, reassigns=reassigns)]

    def note(self, before: Any, step: Step) -> None:
        """The lines of one step."""
        after, r = step.after, next(iter(step.arguments), 0)
        decided = [_decided(0, s, reassigns=self._reassigns) for s in (before, after)]
        if decided[0] != decided[1]:
            self._decisions += 1
            self.decided.append(replace(decided[1], number=self._decisions))
        name = step.action.name
        if name == "Learn":
            if self._reassigns and not before.assigned >> r & 1:
                self.lines[r].append(DELETED)
            elif after.known_epoch[r] != before.known_epoch[r]:
                at = self._decisions
                if self._reassigns and (before.known_epoch[r], before.leo[r]) == (NO_EPOCH, 0):
                    self.lines[r].append(f"[Partition t-0 broker={r}] {LOADED} 0")
                self.lines[r].append(role_line(before, r, after.known_epoch[r], at))
            elif self._of_all:
                self.lines[r].append(
                    decision_line(before, r, self._decisions, reassigns=self._reassigns)
                )
        elif self._of_all:
            self._note_more(before, step, r)

    def _note_more(self, before: Any, step: Step, r: int) -> None:
        after, name = step.after, step.action.name
        said = f"[Partition t-0 broker={r}]"
        if name == "BeginShutdown":
            self.lines[r].append(f"[BrokerServer id={r}] shutting down")
        elif name == "Stop":
            self._shut_down.add(r)
        elif name == "Restart":
            self.lines[r].append(SHUT_DOWN if r in self._shut_down else CRASHED)
            self._shut_down.discard(r)
            if not self._reassigns or before.assigned >> r & 1:
                self.lines[r].append(f"{said} {LOADED} {after.hw[r]}")
        elif name in ("ShrinkIsr", "ShrinkTogether"):
            asked = members(after.pending_isr[r] or after.known_isr[r], after.replicas)
            ends = f"Leader: (highWatermark: {before.hw[r]}, endOffset: {before.leo[r]})"
            self.lines[r].append(f"{said} Shrinking ISR from 0,1 to {asked}. {ends}")
        elif name not in (*_OF_OPERATORS, *_TAKES_A_LOG) and after.leo[r] < before.leo[r]:
            cut = f"Truncating to offset {after.leo[r]}"
            self.lines[r].append(f"[UnifiedLog partition=t-0, dir=/d] {cut}")
        for leader in range(after.replicas):
            leads = before.role[leader] == after.role[leader] == LEADER
            if leads and before.known_isr[leader] != after.known_isr[leader]:
                isr = members(after.known_isr[leader], after.replicas)
                self.lines[leader].append(f"[Partition t-0 broker={leader}] ISR updated to {isr}")


def members(isr: int, replicas: int) -> str:
    """A set of replicas as Kafka prints it."""
    return ",".join(str(r) for r in range(replicas) if isr >> r & 1)


def decision_line(state: Any, replica: int, number: int, *, reassigns: bool = False) -> str:
    """The line of a replica that reads of a change within its epoch."""
    decided = _decided(number, state, reassigns=reassigns)
    sets = {"replicas": decided.replicas or range(state.replicas), "isr": decided.isr}
    sets |= {"removingReplicas": decided.removing or (), "addingReplicas": decided.adding or ()}
    registration = ", ".join(f"{name}={list(each)}" for name, each in sets.items())
    return (
        f"[Broker id={replica}] Skipped the become-leader state change for t-0 with topic id "
        f"Some(x), partition registration PartitionRegistration({registration}, elr=[], "
        f"leader={state.leader}, leaderEpoch={state.epoch}, partitionEpoch={number}) and "
        "isNew=false."
    )


def walked(model: Model, seed: int, folder: Path, *, of_all: bool, reassigns: bool = False) -> Walk:
    """Write the logs of a walk, a file for each broker."""
    chance = random.Random(seed)
    state: Any = model.initial[0]
    writer = Writer(state, of_all=of_all, reassigns=reassigns)
    lost = False
    for _ in range(STEPS):
        steps = list(model.successors(state))
        if not steps:
            break
        step = chance.choice(steps)
        writer.note(state, step)
        state = step.after
        lost = lost or not acknowledged_durable.holds(state, model.settings)
    for replica, written in writer.lines.items():
        (folder / f"{replica}.log").write_text("\n".join(written) + "\n")
    return Walk(sum(map(len, writer.lines.values())), lost, writer.decided)


def _decided(number: int, state: Any, *, reassigns: bool) -> Decided:
    names = ("isr", "assigned", "adding", "removing") if reassigns else ("isr",)
    sets = (getattr(state, name) for name in names)
    members = (tuple(r for r in range(state.replicas) if each >> r & 1) for each in sets)
    return Decided(number, int(state.epoch), int(state.leader), *members)
