"""Repairs of entries of the catalogue: the rule, or the setting, that makes an entry impossible.

A loss that disappears with one such change, all else equal, is an instance of that entry;
resemblance does not count. Some of the rules are in no Kafka, or not in this one: a repair is an
experiment, not advice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from waterline.checker.kafka.scenarios.catalogue import find_scenario
from waterline.checker.problem.wording import describe_option
from waterline.model.message.features import FEATURES
from waterline.model.message.versions import BadVersion, base_of, version_of


@dataclass(frozen=True, slots=True)
class Repair:
    """Change that prevents an entry: a rule added, a rule removed, or options."""

    entry: str
    added: str = ""
    removed: str = ""
    options: Mapping[str, object] = field(default_factory=dict)
    only_with: str = ""
    """An option without which the entry cannot happen."""

    @property
    def description(self) -> str:
        """`the rule elr put in (--with elr)`"""
        if self.added:
            return f"the rule {self.added} put in (--with {self.added})"
        if self.removed:
            return f"the rule {self.removed} taken out (--without {self.removed})"
        return ", ".join(f"{name} {describe_option(value)}" for name, value in self.options.items())


REPAIRS = (
    Repair("C12", options={"acks": "all"}),
    Repair("C11", options={"unclean-leader-election": False}),
    Repair("C22", removed="last-known-leader"),
    Repair("C23", added="last-known-leader"),
    Repair("C21", added="fresh-remote-leo"),
    Repair("C18", added="diverging-guard"),
    Repair("C9", added="broker-epoch"),
    Repair("C55", added="elr-only-replicas", only_with="reassignments"),
    Repair("C56", added="elr-only-replicas", only_with="first-partition-replicas"),
    Repair("C57", added="lost-directory-is-unclean", only_with="taken-directories"),
    Repair("C10", added="elr"),
    Repair("C13", added="hw-needs-min-isr"),
    Repair("C8", added="maximal-isr"),
    Repair("C7", added="isr-from-epoch-start"),
    Repair("C5", added="truncate-every-epoch"),
    Repair("C6b", added="fencing"),
    Repair("C25", added="session-fencing"),
    Repair("C6", added="epoch-on-leading"),
    Repair("C46", removed="keeps-waiting-producers"),
    Repair("C4", added="truncate-by-epochs"),
    Repair("C1", added="truncate-by-epoch"),
)
"""Repairs in order: nearest to the settings first, then newest. A change that repairs much comes
after those that repair one thing."""


def repair_version(version: str, repair: Repair) -> str | None:
    """The version with a repair and what that needs.

    None where they do not go together, or where the entry is none of versions of this base.
    """
    if base_of(version) not in {base_of(falls) for falls in find_scenario(repair.entry).falls}:
        return None
    text = version
    for added in _needed_rules(repair.added) if repair.added else ():
        changed = f"{text}-with-{added}"
        if _is_version(changed):
            text = changed
    if repair.removed:
        text = f"{version}-without-{repair.removed}"
        return text if _is_version(text) else None
    if repair.added and repair.added not in version_of(text).feature_names:
        return None
    return text if text != version or repair.options else None


def _needed_rules(name: str) -> list[str]:
    """A rule, after those without which it means nothing."""
    feature = next((known for known in FEATURES if known.name == name), None)
    if feature is None:
        return [name]
    needed = [known.name for known in FEATURES if feature.needs & known.bit]
    return [*needed, name]


def _is_version(text: str) -> bool:
    try:
        version_of(text)
    except BadVersion:
        return False
    return True
