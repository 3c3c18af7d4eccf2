"""What the model itself could have written fits: random walks, whose lines alone are searched for.

An attack on all that the search leaves out. Each walk is one of the behaviours, so "nothing fits"
is wrong of it, and so is a verdict about all behaviours that this one refutes. Lines are written
here after Kafka's format, from the states, and read like any other.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from checker.kafka.logs.fitting import Circumstances, searched
from checker.kafka.logs.history import history_of
from checker.kafka.logs.reading import read_logs
from invariants import acknowledged_durable
from model.core.transition_system import Model, Step
from model.message.environment import Environment
from model.message.model import message_model
from model.message.terms import LEADER

BOUNDS = Environment(replicas=2, records=1, epochs=3, restarts=2, moves=1, restart_detection="any")
FAULTS = {"crashes": {}, "power": {"power_losses": 1}, "disks": {"lost_disks": 1}}
VERSIONS = ("elr", "truncate-on-fetch")
SEEDS = (1, 2, 3, 4, 31, 32, 52, 53, 55)
"""Among them walks that nothing fitted while the search left checkpoints out."""
STEPS = 80


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

    def note(self, before: Any, step: Step) -> None:
        """The lines of one step."""
        after, (r, *_) = step.after, step.arguments
        decided = [(s.epoch, s.leader, s.isr) for s in (before, after)]
        self._decisions += decided[0] != decided[1]
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


def walked(model: Model, seed: int, folder: Path, *, of_all: bool) -> tuple[int, bool]:
    """Write the logs of a walk; how many lines, and whether it loses an acknowledged record."""
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
    return sum(map(len, writer.lines.values())), lost


@pytest.mark.parametrize("faults", FAULTS)
@pytest.mark.parametrize("of_all", [False, True], ids=["roles", "all lines"])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_walk_of_the_model_is_refuted_by_no_verdict(
    version: str, of_all: bool, faults: str, tmp_path: Path
) -> None:
    """With all lines, also what is a dead end by the next of them is attacked."""
    bounds = replace(BOUNDS, **FAULTS[faults])
    model = message_model(version, bounds)
    judged = 0
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        lines, lost = walked(model, seed, folder, of_all=of_all)
        if lines < 4:
            continue
        logs = read_logs([folder])
        history = history_of(logs.of("t-0"), with_server_log=logs.with_server_log)
        given = Circumstances(version=version, hw_in_response=bounds.hw_in_response)
        found = searched(history, given, bounds, states_max=4000, seconds_max=4.0)

        assert not found.nothing_fits, seed
        assert not (found.never_loses if lost else found.always_loses), seed
        judged += bool(found.fits)

    assert judged >= 5
