"""The catalogue: all entries by name and number."""

from __future__ import annotations

import re
from collections.abc import Mapping

from waterline.checker.kafka.scenarios.comebacks import COMEBACKS
from waterline.checker.kafka.scenarios.fluss import OF_FLUSS
from waterline.checker.kafka.scenarios.losses import LOSSES
from waterline.checker.kafka.scenarios.reassignments import REASSIGNMENTS
from waterline.checker.kafka.scenarios.scenario import Scenario
from waterline.checker.kafka.scenarios.tickets import TICKETS
from waterline.model.core.errors import BadEnvironment, nearest
from waterline.model.message.declared import option_of
from waterline.model.message.environment import DECLARED
from waterline.model.message.releases import RELEASES
from waterline.model.message.versions import KAFKA, base_of, released_as, switches_of, version_of

CATALOGUE = (*LOSSES, *TICKETS, *OF_FLUSS, *COMEBACKS, *REASSIGNMENTS)
"""Every entry, numbered as this project's documents speak of them."""

_BY_NAME = {
    **{scenario.name: scenario for scenario in CATALOGUE},
    **{scenario.number.lower(): scenario for scenario in CATALOGUE},
}
"""Scenarios by name, and by number in lower case."""
LOSSES_CLAIMED = ("no_committed_loss", "acknowledged_durable", "acknowledged_somewhere")
"""The claims that break where a record is lost."""
_GROWING = {
    option_of(name)
    for name, declared in DECLARED.items()
    if (declared.shapes and declared.most is not None)
    or (declared.fault is not None and not declared.fault.takes_records)
}
"""The options of sizes, and of faults that leave disks as they are."""


def find_scenario(name: str) -> Scenario:
    """Return the one entry of this name, number or source. Raises `BadEnvironment`."""
    first, *others = scenarios_about(name)
    if others:
        several = ", ".join(f"{entry.number} {entry.name}" for entry in (first, *others))
        raise BadEnvironment(f"scenario {name!r} is several entries: {several}; name one")
    return first


def scenarios_about(name: str) -> list[Scenario]:
    """The entry of this name or number; or those about it: `kip-101`, `KAFKA-7415`.

    They begin with it or have it as their source. Raises `BadEnvironment` where there are none.
    """
    if name.lower() in _BY_NAME:
        return [_BY_NAME[name.lower()]]
    word = re.compile(rf"(?<![\w-]){re.escape(name)}(?!\w)", re.IGNORECASE)
    about = [e for e in CATALOGUE if word.match(e.name) or word.search(e.source)]
    if not about:
        # By names alone: a number that there is not is like most that there are.
        near = nearest(name, [scenario.name for scenario in CATALOGUE])
        text = f"did you mean {near}?" if near else "`waterline scenarios` lists them"
        raise BadEnvironment(f"unknown scenario {name!r}; {text}")
    return about


def losses_beyond(version: str, options: Mapping[str, object]) -> list[tuple[str, Scenario]]:
    """Return the catalogue's losses that only larger bounds would show, each with its version.

    Larger bounds are sizes, and budgets of faults that leave disks intact. All other settings must
    be those of the entry, except for those that every release decides.
    """
    return [
        (under, entry)
        for entry in CATALOGUE
        if (under := _falls_under(entry, version)) is not None
        and entry.claim in LOSSES_CLAIMED
        and _needs_more(entry, options)
    ]


def _falls_under(entry: Scenario, version: str) -> str | None:
    """The version itself, by any name; or that on which a release's is based.

    The latter not where the release has a rule without which the catalogue has it violated again.
    """
    rules = version_of(version)
    for name in (version, released_as(rules)):
        if name is not None and name in entry.falls:
            return name
    base = base_of(version)
    preventing = {rule for name in entry.falls for rule in switches_of(name)[2]}
    is_based = any(release.version == version for release in RELEASES) and base in entry.falls
    return base if is_based and preventing.isdisjoint(rules.feature_names) else None


def more_needed(entry: Scenario, options: Mapping[str, object]) -> dict[str, int]:
    """The sizes and budgets of the entry that are larger than these, by option."""
    asked = entry.environment.options()
    return {
        name: int(str(asked[name]))
        for name in map(option_of, DECLARED)
        if name in _GROWING and int(str(asked[name])) > int(str(options[name]))
    }


def _needs_more(entry: Scenario, options: Mapping[str, object]) -> bool:
    alike = all(
        options[name] == value
        for name, value in entry.environment.options().items()
        if name not in _GROWING and name != "hw-in-response"
    )
    return alike and bool(more_needed(entry, options))


def is_of_kafka(entry: Scenario) -> bool:
    """True if a version of Kafka has it, or no version of any system."""
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
