"""Spark settings that a gate file may contain without `--allow-spark`.

A gate file can come from a pull request and must not be able to run programs. A setting can name
options of Java, plug-ins, commands and files that are written; a master's cluster is sent code, and
its answers are believed. So all need leave, but for a few whose values are numbers and sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from waterline.counterexamples import show

_NAME = re.compile(r"[0-9A-Za-z.]{1,80}")
_COUNT = re.compile(r"[0-9]{1,6}")
_SIZE = re.compile(r"[0-9]{1,9}[kmgt]?b?", re.IGNORECASE)
_SWITCH = re.compile(r"true|false")
HARMLESS = {
    "spark.cores.max": _COUNT,
    "spark.default.parallelism": _COUNT,
    "spark.driver.cores": _COUNT,
    "spark.driver.maxResultSize": _SIZE,
    "spark.driver.memory": _SIZE,
    "spark.driver.memoryOverhead": _SIZE,
    "spark.executor.cores": _COUNT,
    "spark.executor.instances": _COUNT,
    "spark.executor.memory": _SIZE,
    "spark.executor.memoryOverhead": _SIZE,
    "spark.executor.pyspark.memory": _SIZE,
    "spark.python.worker.memory": _SIZE,
    "spark.shuffle.compress": _SWITCH,
    "spark.shuffle.spill.compress": _SWITCH,
    "spark.speculation": _SWITCH,
    "spark.task.cpus": _COUNT,
    "spark.task.maxFailures": _COUNT,
}
"""Settings that need no leave, with the form that their values must have."""
_ON_THIS_MACHINE = re.compile(r"local(\[([0-9]{1,4}|\*)(,[0-9]{1,4})?\])?")


def needs_leave(key: str, value: Any) -> str | None:
    """Why an option of an entry, as `check` has read it, is not the file's to decide; else None."""
    if key == "master":
        if _ON_THIS_MACHINE.fullmatch(value) is None:
            return f"master is {show(value)}, a cluster that would be sent code and be believed"
        return None
    return next(_untrusted_settings(value), None) if key == "spark-conf" else None


def _untrusted_settings(settings: tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, value in settings:
        form = HARMLESS.get(name)
        if form is None:
            named = name if _NAME.fullmatch(name) else show(name)
            yield f"spark-conf sets {named}, and Spark's settings can run programs"
        elif form.fullmatch(value) is None:
            yield f"spark-conf sets {name} to {show(value)}, which is no plain value of it"
