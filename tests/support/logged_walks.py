"""Logs that a random walk of the model could have written: brokers' lines after Kafka's format.

With them go the controller's decisions, to be written as lines of a controller or as a dump.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from invariants import acknowledged_durable
from model.core.transition_system import Model, Step
from model.message.terms import LEADER

STEPS = 80


@dataclass(frozen=True, slots=True)
class Decided:
    """A decision of a walk: its number, and the leader epoch, leader and ISR from then on."""

    number: int
    epoch: int
    leader: int
    isr: tuple[int, ...]


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

    def __init__(self, state: Any, *, of_all: bool) -> None:
        self.lines = {r: [role_line(state, r, 0, 0)] for r in range(state.replicas)}
        self._of_all = of_all
        self._decisions = 0
        self.decided = [_decided(0, state)]

    def note(self, before: Any, step: Step) -> None:
        """The lines of one step."""
        after, (r, *_) = step.after, step.arguments
        decided = [(s.epoch, s.leader, s.isr) for s in (before, after)]
        if decided[0] != decided[1]:
            self._decisions += 1
            self.decided.append(_decided(self._decisions, after))
        name = step.action.name
        if name == "Learn":
            if after.known_epoch[r] != before.known_epoch[r]:
                at = self._decisions
                self.lines[r].append(role_line(before, r, after.known_epoch[r], at))
            elif self._of_all:
                self.lines[r].append(decision_line(before, r, self._decisions))
        elif self._of_all:
            self._note_more(before, step, r)

    def _note_more(self, before: Any, step: Step, r: int) -> None:
        after, name = step.after, step.action.name
        said = f"[Partition t-0 broker={r}]"
        if name == "Restart":
            loaded = f"Log loaded for partition t-0 with initial high watermark {after.hw[r]}"
            self.lines[r].append(f"{said} {loaded}")
        elif name in ("ShrinkIsr", "ShrinkTogether"):
            asked = members(after.pending_isr[r] or after.known_isr[r], after.replicas)
            ends = f"Leader: (highWatermark: {before.hw[r]}, endOffset: {before.leo[r]})"
            self.lines[r].append(f"{said} Shrinking ISR from 0,1 to {asked}. {ends}")
        elif name not in ("PowerLoss", "DiskLoss") and after.leo[r] < before.leo[r]:
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


def decision_line(state: Any, replica: int, number: int) -> str:
    """The line of a replica that reads of a change within its epoch."""
    isr = members(state.isr, state.replicas).replace(",", ", ")
    registration = (
        f"replicas=[0, 1], isr=[{isr}], elr=[], leader={state.leader}, leaderEpoch={state.epoch}, "
        f"partitionEpoch={number}"
    )
    return (
        f"[Broker id={replica}] Skipped the become-leader state change for t-0 with topic id "
        f"Some(x), partition registration PartitionRegistration({registration}) and isNew=false."
    )


def walked(model: Model, seed: int, folder: Path, *, of_all: bool) -> Walk:
    """Write the logs of a walk, a file for each broker."""
    chance = random.Random(seed)
    state: Any = model.initial[0]
    writer = Writer(state, of_all=of_all)
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


def _decided(number: int, state: Any) -> Decided:
    isr = tuple(r for r in range(state.replicas) if state.isr >> r & 1)
    return Decided(number, int(state.epoch), int(state.leader), isr)
