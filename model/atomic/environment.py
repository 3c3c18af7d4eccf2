"""Size of the cluster that the atomic grain explores: its only circumstances.

It has no fault budgets and no operator's settings. Any broker may at any time be taken for failed,
be slow to learn, or come back, within the given leader epochs.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from waterline.model.core.errors import BadEnvironment
from waterline.model.message.environment import EPOCHS_MAX, RECORDS_MAX, REPLICAS_MAX

LOG_SIZE_MAX = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomicEnvironment:
    """The bounds that a verdict is about.

    `replicas` of one partition, each with room for `log_size` records; at most `records` ever
    produced, those that are lost again included; leader epochs 0..`epochs`.
    """

    replicas: int = 2
    log_size: int = 2
    records: int = 2
    epochs: int = 2

    def __post_init__(self) -> None:
        _within("replicas", self.replicas, 1, REPLICAS_MAX)
        _within("log-size", self.log_size, 1, LOG_SIZE_MAX)
        _within("records", self.records, 1, RECORDS_MAX)
        _within("epochs", self.epochs, 0, EPOCHS_MAX)

    def options(self) -> dict[str, object]:
        """Every option by its name on the command line."""
        return {f.name.replace("_", "-"): getattr(self, f.name) for f in fields(self)}

    @classmethod
    def from_options(cls, options: dict[str, object]) -> AtomicEnvironment:
        """The inverse of `options`; refuses what it does not know or cannot be."""
        known = {f.name.replace("_", "-"): f.name for f in fields(cls)}
        values: dict[str, int] = {}
        for name, value in options.items():
            if name not in known:
                raise BadEnvironment(f"unknown option {name!r}; known: {', '.join(known)}")
            if type(value) is not int:
                raise BadEnvironment(f"{name} is {value!r}; it must be of type int")
            values[known[name]] = value
        return cls(**values)


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise BadEnvironment(f"{name} is {value}; allowed is {least} to {most}")
