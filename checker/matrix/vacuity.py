"""Whether what a cell is about happened at all: without that, that it holds says nothing."""

from __future__ import annotations

from collections.abc import Mapping

from checker.matrix.contract import emptiness
from model.message.environment import Environment

_STEPS = {
    "restarts": ("Crash", "no broker ever crashes"),
    "moves": ("Move", "leadership never moves"),
    "power-losses": ("PowerLoss", "no machine ever loses power"),
    "lost-disks": ("DiskLoss", "no disk is ever lost"),
    "lost-checkpoints": ("CheckpointLoss", "no checkpoint is ever lost"),
    "session-expiries": ("SessionExpiry", "no session ever expires"),
    "shutdowns": ("BeginShutdown", "no broker is ever shut down"),
}
"""For each budget of faults the step that uses it, and what to say where it never happened."""


def fault_steps(environment: Environment) -> dict[str, str]:
    """The steps that the faults of these circumstances consist of, by what their absence means."""
    options = environment.options()
    return {told: step for budget, (step, told) in _STEPS.items() if options[budget]}


def vacuity(
    environment: Environment, never: tuple[str, ...], fired: Mapping[str, int]
) -> str | None:
    """Why that the claims hold says less here than it seems; None where it says all."""
    if told := emptiness(environment, never):
        return told
    if "record_acknowledged" in never:
        return "no record is ever acknowledged, so none that was can be lost"
    missing = [told for told, step in fault_steps(environment).items() if not fired.get(step)]
    return f"{', '.join(missing)}, so this fault is not met here" if missing else None
