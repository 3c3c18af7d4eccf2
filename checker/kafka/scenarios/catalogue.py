"""The catalogue: all entries by name and number."""

from __future__ import annotations

from checker.kafka.scenarios.comebacks import COMEBACKS
from checker.kafka.scenarios.fluss import OF_FLUSS
from checker.kafka.scenarios.losses import LOSSES
from checker.kafka.scenarios.scenario import Scenario
from checker.kafka.scenarios.tickets import TICKETS
from model.core.errors import BadEnvironment
from model.core.nearest import nearest
from model.message.versions import KAFKA

OF_STATES = (*LOSSES, *TICKETS, *OF_FLUSS)
"""The entries whose claims are about single states and steps."""
CATALOGUE = (*OF_STATES, *COMEBACKS)
"""Every entry, numbered as this project's documents speak of them."""

_BY_NAME = {
    **{scenario.name: scenario for scenario in CATALOGUE},
    **{scenario.number.lower(): scenario for scenario in CATALOGUE},
}
"""By name, and by number in lower case."""


def find_scenario(name: str) -> Scenario:
    """The entry of this name or number. Raises `BadEnvironment`."""
    if name.lower() not in _BY_NAME:
        # By names alone: a number that there is not is like most that there are.
        near = nearest(name, [scenario.name for scenario in CATALOGUE])
        text = f"did you mean {near}?" if near else "`waterline scenarios` lists them"
        raise BadEnvironment(f"unknown scenario {name!r}; {text}")
    return _BY_NAME[name.lower()]


def is_of_kafka(entry: Scenario) -> bool:
    """Whether a version of Kafka has it, or no version of any system."""
    return not entry.falls or bool(entry.falls_in(KAFKA))


def of_kafka() -> list[Scenario]:
    """The entries that can be replayed on brokers of Kafka, as far as their versions say."""
    return [entry for entry in CATALOGUE if is_of_kafka(entry)]


def require_of_kafka(entry: Scenario) -> None:
    """Raises `BadEnvironment` for an entry that only another system has."""
    if not is_of_kafka(entry):
        raise BadEnvironment(
            f"{entry.number} {entry.name} is about Apache Fluss alone; use `waterline confirm "
            f"--fluss 0.9.1 --scenario {entry.name}`"
        )
