"""Vacuity: did the fault of a cell happen at all?"""

from __future__ import annotations

from collections.abc import Mapping

from waterline.model.message.environment import DECLARED, FAULTS, Environment


def fault_steps(environment: Environment) -> dict[str, str]:
    """The steps that the faults of these circumstances consist of, by what their absence means."""
    return {
        fault.never: DECLARED[name].steps[0]
        for name, fault in FAULTS.items()
        if getattr(environment, name)
    }


def emptiness(environment: Environment, never: tuple[str, ...]) -> str | None:
    """Why that the claims hold says less here than it seems; None where it says all."""
    if "record_commits" in never:
        return "no record is ever committed, so none can be lost"
    if environment.acks == "0":
        return "acks=0: nothing is acknowledged, so nothing acknowledged can be lost"
    return None


def vacuity(
    environment: Environment, never: tuple[str, ...], fired: Mapping[str, int]
) -> str | None:
    """Why that the claims hold says less here than it seems; None where it says all."""
    if text := emptiness(environment, never):
        return text
    if "record_acknowledged" in never:
        return "no record is ever acknowledged, so none that was can be lost"
    missing = [text for text, step in fault_steps(environment).items() if not fired.get(step)]
    return f"{', '.join(missing)}, so this fault is not met here" if missing else None
