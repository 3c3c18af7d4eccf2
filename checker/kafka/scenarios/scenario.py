"""An entry of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from waterline.model.message.environment import DOCUMENTED, Environment
from waterline.model.message.versions import version_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One way to lose records or to let logs diverge, with the bounds that show it.

    `options` are the differences of its environment from `documented`. The claim is violated under
    the versions in `falls`, and holds in every reachable state under those in `stands`. The trace
    of the first in `falls` is recorded; `falls` is empty if no violation is known. `remark` says
    where the result differs from the source, `precaution` what an operator must avoid until a
    release has the repair, `sign` what brokers and tools show where it happened.
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
    sign: str = ""

    @property
    def environment(self) -> Environment:
        """Environment that shows the scenario."""
        return Environment.from_options({**DOCUMENTED.options(), **self.options})

    @property
    def first(self) -> str:
        """The version to look at: the first that falls, if any does."""
        return self.versions[0]

    def falls_in(self, system: str) -> tuple[str, ...]:
        """Return the versions of one system, `Kafka` or `Fluss`, that violate the claim."""
        return tuple(name for name in self.falls if version_of(name).system == system)

    @property
    def versions(self) -> tuple[str, ...]:
        """All that are run."""
        return (*self.falls, *self.stands)


SINCE_0_11 = (
    "epoch",
    "kip279",
    "kip279-code",
    "kip320-code",
    "kip320",
    "truncate-on-fetch",
    "kraft",
    "kip903",
    "elr",
)
SINCE_2_1 = ("kip320-code", "kip320", "truncate-on-fetch", "kraft", "kip903", "elr")
BEFORE_2_1 = ("epoch", "kip279", "kip279-code")
ALL = ("hw", *SINCE_0_11)

ONE = {"replicas": 1, "records": 1, "epochs": 2}
TWO = {"epochs": 3}
TWO_ONE_RECORD = {"epochs": 3, "records": 1}
TWO_THREE_RECORDS = {"epochs": 3, "records": 3}
THREE = {"replicas": 3, "epochs": 2}
THREE_ONE_RECORD = {"replicas": 3, "records": 1, "epochs": 3}
