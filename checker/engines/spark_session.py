"""Starting Spark: quickly, quietly, and with workers that run this very Python.

Only a SparkContext is started, not a SparkSession: the search needs no SQL, and that saves seconds.
What the JVM prints goes to a log file.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from checker.engines.java import use_java

_QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class NoSpark(Exception):
    """Spark could not be started on the master that was named."""


def start_context(master: str, *, log: Path) -> Any:
    """A SparkContext on `master`. Raises `NoJava` or `NoSpark`.

    PySpark's workers take `python3` from the PATH unless they are told otherwise, and do not see
    this process's `sys.path`: both are set for them here.
    """
    use_java()
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", _QUICK_JVM)
    roots = dict.fromkeys(_source_root(name) for name in ("checker", "model", "invariants"))
    inherited = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([*roots, *([inherited] if inherited else [])])
    from pyspark import SparkConf, SparkContext  # noqa: PLC0415 - half a second, only where needed
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    conf = SparkConf(loadDefaults=not master.startswith("local"))
    conf.setMaster(master).setAppName("waterline")
    for name, value in _settings(master).items():
        conf.set(name, value)
    log.parent.mkdir(parents=True, exist_ok=True)
    try:
        with log.open("wb") as output:
            sinks = {"stdout": output, "stderr": output}
            gateway = launch_gateway(conf, sinks)  # type: ignore[no-untyped-call]
        context = SparkContext(conf=conf, gateway=gateway)
        # A master that cannot be reached only shows when something is asked of the context.
        _ = context.defaultParallelism
    except Exception as problem:
        reason = str(getattr(problem, "java_exception", problem)).splitlines()[0]
        raise NoSpark(f"Spark cannot be started on --master {master}: {reason}") from None
    context.setLogLevel("ERROR")
    return context


def _source_root(package: str) -> str:
    """The directory that a package is imported from."""
    return str(Path(str(importlib.import_module(package).__file__)).parent.parent)


def _settings(master: str) -> dict[str, str]:
    settings = {
        "spark.ui.showConsoleProgress": "false",
        # A level's shuffle is read once; retaining Spark's own bookkeeping of it is of no use.
        "spark.ui.enabled": "false",
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.host": "127.0.0.1",
            "spark.driver.extraJavaOptions": _QUICK_JVM,
        }
    return settings
