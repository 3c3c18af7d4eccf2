"""Working folder, jars and reporting of a replay on brokers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from waterline.checker.kafka.confirm.releases import KafkaRelease

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Site:
    """A folder for the files of brokers of `release`, which run from `jars`.

    `announce` receives what is waited for, `report` each step.
    """

    release: KafkaRelease
    jars: Sequence[Path]
    folder: Path
    announce: Tell
    report: Tell
