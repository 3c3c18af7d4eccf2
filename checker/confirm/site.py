"""Where brokers of a release are run, and who is told how it goes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from checker.confirm.releases import KafkaRelease

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Site:
    """A folder for the files of brokers of `release`, which run from `jars`.

    `announce` is told what is waited for, `tell` each step.
    """

    release: KafkaRelease
    jars: Sequence[Path]
    folder: Path
    announce: Tell
    tell: Tell
