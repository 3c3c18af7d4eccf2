"""Which models `lab.bench.tla` compares with TLC, and at which bounds."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from waterline.checker.cli.shared.options import (
    environment_options,
    fill,
    invariant_option,
    protocol_option,
)
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.problem.problem import Problem
from waterline.checker.user_models.family import family_in

ROOT = Path(__file__).parents[2]
Bounds = Mapping[str, int | bool]
EXAMPLES: dict[str, tuple[Bounds, ...]] = {
    "abd_register": ({"readers": 1}, {"readers": 1, "write_back": False}),
    "alternating_bit": ({}, {"endless": True}, {"goes_on": False}),
    "chain_replication": ({}, {"resend": False}, {"updates": 1}),
    "die_hard": ({}, {"small": 4, "big": 9, "wanted": 6}, {"wanted": -1}),
    "kraft_log": ({}, {"voters": 2, "epochs": 3}, {"voters": 2, "waits_for_own_epoch": False}),
    "peterson": ({}, {"gives_way": False}),
    "philosophers": ({}, {"tie_break": False}, {"seats": 4}),
    "raft": ({}, {"servers": 2, "terms": 3}, {"terms": 1}),
    "token_ring": ({}, {"greedy": True}, {"nodes": 4}),
    "two_phase_commit": ({}, {"rms": 4}),
}
"""The bounds at which each example is compared; the first are the defaults."""

KAFKA = (
    "--protocol hw --records 1 --restarts 1",
    "--protocol epoch --records 1 --restarts 1 --moves 1",
    "--protocol kip320-code --records 1 --restarts 1 --consumer",
    "--protocol truncate-on-fetch --records 1 --restarts 1 --late-metadata",
    "--protocol kraft --records 1 --restarts 1 --moves 1 --requests-survive",
    "--protocol kip903 --records 1 --restarts 1 --late-booking by-replica --late-answers",
    "--protocol elr --records 1 --restarts 1",
    "--grain atomic --protocol hw --records 1 --log-size 1",
    "--grain atomic --protocol kip320 --records 1 --log-size 1",
)
"""The options of `waterline check` with which Kafka's protocol is compared."""


@click.command
@protocol_option
@environment_options
@invariant_option
def _asked(**options: Any) -> None:
    """The options of `waterline check` that say what is checked."""


def kafka_problem(options: str) -> Problem:
    """What `waterline check` would check with these options. All states are told apart."""
    parameters = _asked.make_context("check", shlex.split(options)).params
    return problem_from(fill(ProblemOptions, parameters))


def example_problem(name: str, bounds: Bounds) -> Problem:
    """An example at these bounds."""
    family = family_in(ROOT / "examples" / f"{name}.py")
    return family.problem(next(iter(family.versions)), dict(bounds), symmetry="none")


def spelled(bounds: Bounds) -> str:
    """Bounds as a row of the table has them."""
    return " ".join(f"{key}={str(value).lower()}" for key, value in bounds.items()) or "default"
