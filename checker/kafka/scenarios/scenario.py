"""An entry of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from waterline.model.message.environment import DOCUMENTED, Environment
from waterline.model.message.versions import version_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One way in which records are lost or logs diverge, with the bounds that show it.

    `options` are what its environment has other than `documented`. Under the versions that fall the
    claim is violated, under those that stand it holds in every reachable state. The first that
    falls is the one whose trace is recorded; none falls where nothing is known to come of it.
    `remark` says where it came out otherwise than told, `precaution` what an operator must not do
    as long as no release has the repair.
    """

    number: str
    name: str
    title: str
    source: str
    story: str
    claim: str
    options: Mapping[str, object]
    falls: tuple[str, ...]
    stands: tuple[str, ...] = field(default=())
    remark: str = ""
    precaution: str = ""

    @property
    def environment(self) -> Environment:
        """The circumstances in which it shows."""
        return Environment.from_options({**DOCUMENTED.options(), **self.options})

    @property
    def first(self) -> str:
        """The version to look at: the first that falls, if any does."""
        return self.versions[0]

    def falls_in(self, system: str) -> tuple[str, ...]:
        """Those of one system under which the claim is violated: `Kafka` or `Fluss`."""
        return tuple(name for name in self.falls if version_of(name).system == system)

    @property
    def versions(self) -> tuple[str, ...]:
        """All that are run."""
        return (*self.falls, *self.stands)
