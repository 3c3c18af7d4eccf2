"""The catalogue: all entries by name and number."""

from __future__ import annotations

from checker.kafka.scenarios.comebacks import COMEBACKS
from checker.kafka.scenarios.losses import LOSSES
from checker.kafka.scenarios.scenario import Scenario
from checker.kafka.scenarios.tickets import TICKETS
from model.core.errors import BadEnvironment
from model.core.nearest import nearest

OF_STATES = (*LOSSES, *TICKETS)
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
