"""Choice of an engine and its settings."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from waterline.checker.problem.distribution import install_command, is_installed, require


def default_engine() -> str:
    """Spark where it is installed, which is an extra, else this process."""
    return "spark" if is_installed("pyspark") else "local"


def require_spark() -> None:
    """Raises `Missing` where Spark is not installed."""
    require("pyspark", "spark", "--engine spark")


def lacks_spark() -> str:
    """How to install Spark; empty if it is installed."""
    return "" if is_installed("pyspark") else f"not installed: {install_command('spark')}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineChoice:
    """Which engine explores, and how: Spark unless it is not installed.

    `threads` 0 is one for each core. `master` None is this machine, or what spark-submit says;
    `settings` are Spark's, by name. `session` is a SparkSession or SparkContext that runs already:
    it is used, and left running, with workers that no longer look for modules in their working
    folder. `in_parts`: claims about behaviours are left to tasks over files
    also where they could be judged in this process, so that the two can be compared.
    """

    name: str = field(default_factory=default_engine)
    threads: int = 0
    master: str | None = None
    settings: tuple[tuple[str, str], ...] = ()
    partitions: int | None = None
    driver_levels: int | None = None
    session: Any = None
    in_parts: bool = False


def threads_of(asked: int) -> int:
    """How many threads there are; 0 asks for one for each core."""
    return asked or os.cpu_count() or 1
