"""What the model itself could have written fits: random walks, whose lines alone are searched for.

An attack on all that the search leaves out. Each walk is one of the behaviours, so "nothing fits"
is wrong of it, and so is a verdict about all behaviours that this one refutes. Lines are written
here after Kafka's format, from the states, and read like any other.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from checker.kafka.logs.fitting import Circumstances, searched
from checker.kafka.logs.history import history_of
from checker.kafka.logs.reading import read_logs
from invariants import acknowledged_durable
from model.core.transition_system import Model
from model.message.environment import Environment
from model.message.model import message_model

BOUNDS = Environment(replicas=2, records=1, epochs=3, restarts=2, moves=1, restart_detection="any")
VERSIONS = ("elr", "truncate-on-fetch")
SEEDS = (1, 2, 3, 4, 31, 32, 52, 53, 55)
"""Among them walks that nothing fitted while the search left checkpoints out."""
STEPS = 80


def role_line(state: Any, replica: int, epoch: int) -> str:
    """The line of a replica that takes up its role in an epoch, before it does."""
    said = f"[Broker id={replica}] "
    at = f"t-0 starts at leader epoch {epoch} from offset {state.leo[replica]} with"
    if state.leader == replica:
        isr = ",".join(str(r) for r in range(state.replicas) if state.isr >> r & 1)
        before = f"Previous leader epoch was {state.known_epoch[replica]}."
        return f"{said}Leader {at} high watermark {state.hw[replica]}, ISR [{isr}] {before}"
    whom = f"Current leader is {state.leader}."
    return f"{said}Follower {at} high watermark {state.hw[replica]}. {whom}"


def walked(model: Model, seed: int, folder: Path) -> tuple[int, bool]:
    """Write the logs of a walk; how many lines, and whether it loses an acknowledged record."""
    chance = random.Random(seed)
    state: Any = model.initial[0]
    lines = {r: [role_line(state, r, 0)] for r in range(state.replicas)}
    lost = False
    for _ in range(STEPS):
        steps = list(model.successors(state))
        if not steps:
            break
        step = chance.choice(steps)
        after: Any = step.after
        if step.action.name == "Learn":
            (replica,) = step.arguments
            if after.known_epoch[replica] != state.known_epoch[replica]:
                lines[replica].append(role_line(state, replica, after.known_epoch[replica]))
        state = after
        lost = lost or not acknowledged_durable.holds(state, model.settings)
    for replica, written in lines.items():
        (folder / f"{replica}.log").write_text("\n".join(written) + "\n")
    return sum(map(len, lines.values())), lost


@pytest.mark.parametrize("version", VERSIONS)
def test_a_walk_of_the_model_is_refuted_by_no_verdict(version: str, tmp_path: Path) -> None:
    model = message_model(version, BOUNDS)
    judged = 0
    for seed in SEEDS:
        folder = tmp_path / str(seed)
        folder.mkdir()
        lines, lost = walked(model, seed, folder)
        if lines < 4:
            continue
        logs = read_logs([folder])
        history = history_of(logs.of("t-0"), with_server_log=logs.with_server_log)
        given = Circumstances(version=version, hw_in_response=BOUNDS.hw_in_response)
        found = searched(history, given, BOUNDS, states_max=4000, seconds_max=4.0)

        assert not found.nothing_fits, seed
        assert not (found.never_loses if lost else found.always_loses), seed
        judged += bool(found.fits)

    assert judged >= 5
