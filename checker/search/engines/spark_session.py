"""Start of Spark, with workers that run this Python.

Only a SparkContext is started, not a SparkSession: the search needs no SQL, and that saves seconds.
What the JVM prints goes to a log file. Under spark-submit the context is the one it prepared.
"""

from __future__ import annotations

import importlib
import os
import re
import sys
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from waterline.checker.compiler.cache import private_folder
from waterline.checker.problem.errors import Missing
from waterline.checker.search.engines.java import QUICK_JVM, SparkGone, how_it_ended, use_java

LOCAL = "local[*]"
_TASK_FAILURES = 4
_LOCAL_HEAP = "2g"
_SOCKET_NAME_MAX = 103
"""Bytes of the name of a Unix socket that Linux and macOS take."""
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|\[::1\]", re.IGNORECASE)
_MAKES_SECRETS = ("yarn", "k8s://")
"""Masters that give each application a secret, so that its processes know each other."""
_EXECUTORS_SECONDS_MAX = 60.0
"""How long a cluster may take to give the first executor."""


class NoSpark(Missing):
    """Spark could not be started on the master that was named."""


def is_submitted() -> bool:
    """True if spark-submit has started this process, and decides about master and settings."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def start_context(
    master: str | None = None,
    *,
    settings: Sequence[tuple[str, str]] = (),
    log: Path,
) -> Any:
    """Return a SparkContext on `master`; None: that of spark-submit, or this machine.

    Raises `NoJava`, `NoSpark` or `SparkGone`. By default PySpark's workers take `python3` from the
    PATH, and do not see this process's `sys.path`: both are set for those of this machine. On a
    cluster PYSPARK_PYTHON is the user's to set.
    """
    if not is_submitted():
        use_java()
    master = _master_of(master)
    _set_python_of_workers(on_this_machine=_is_local(master))
    os.environ.setdefault("SPARK_LAUNCHER_OPTS", QUICK_JVM)
    _set_home()
    from pyspark import SparkConf  # noqa: PLC0415 - half a second, only where needed

    from waterline.checker.search.engines.session import Session, gateway_in_use  # noqa: PLC0415

    # Asked first: a configuration, too, talks to the process that there is.
    gateway = None if is_submitted() else gateway_in_use()
    conf = SparkConf(loadDefaults=not _is_local(master))
    conf.setAppName("waterline")
    if master is not None:
        conf.setMaster(_retrying(master))
    if master is not None and master.startswith(_MAKES_SECRETS):
        conf.setIfMissing("spark.authenticate", "true")
    # Spark's JVMs pass on little. What compiles fast is ready before what compiles well.
    for process in ("driver", "executor"):
        conf.setIfMissing(f"spark.{process}.extraJavaOptions", QUICK_JVM)
    for name, value in (*_settings(master).items(), *settings):
        conf.set(name, value)
    try:
        gateway = None if is_submitted() else gateway or _gateway(conf, log)
        context = Session(conf=conf, gateway=gateway)
        # A master that cannot be reached only shows when something is asked of the context.
        _ = context.defaultParallelism
        context.setLogLevel("ERROR")
    except Exception as problem:
        if gateway is not None and (how := how_it_ended(gateway)):
            raise SparkGone("before it was up", how) from None
        reason = _reason(problem, log)
        what = f"started on --master {master}" if master else "used as spark-submit has started it"
        raise NoSpark(f"Spark cannot be {what}: {reason}") from None
    return context


def _master_of(named: str | None) -> str | None:
    """The master that is named, or else this machine; None if spark-submit decides."""
    return named or (None if is_submitted() else LOCAL)


def is_on_this_machine(named: str | None) -> bool:
    """True if a master that is named, or by default, has no cores but those of this machine."""
    master = _master_of(named)
    return _is_local(master) or _is_on_loopback(master)


def _is_local(master: str | None) -> bool:
    """True if tasks run on this machine; where spark-submit says it is not known."""
    return master is not None and master.startswith("local")


def _is_on_loopback(master: str | None) -> bool:
    """True if all of a standalone cluster is on this machine, since others do not reach it."""
    if master is None or not master.startswith("spark://"):
        return False
    hosts = (address.rpartition(":")[0] for address in master.removeprefix("spark://").split(","))
    return all(_LOOPBACK.fullmatch(host) for host in hosts)


def _set_python_of_workers(*, on_this_machine: bool) -> None:
    """Have workers on this machine run this very Python, and find what this process does."""
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    if not on_this_machine:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        return
    os.environ["PYSPARK_PYTHON"] = sys.executable
    inherited = os.environ.get("PYTHONPATH")
    places = [_source_root("waterline"), *([inherited] if inherited else [])]
    os.environ["PYTHONPATH"] = os.pathsep.join(places)


def _set_home() -> None:
    """Have PySpark start the Spark that was installed with it.

    Unless SPARK_HOME names one, it tries first whether one is in the folder above the working
    folder, and would run what lies there.
    """
    package = Path(_source_root("pyspark"), "pyspark")
    for home in (package / "spark-distribution", package):
        if (home / "bin" / "spark-submit").is_file():
            os.environ.setdefault("SPARK_HOME", str(home))


def _reason(problem: Exception, log: Path) -> str:
    """Why Spark did not start, in one line."""
    text = str(getattr(problem, "java_exception", problem)).splitlines() or [repr(problem)]
    # A process that ended has said why in its log; one that runs has told it by the exception.
    said = _complaint(log) if "JAVA_GATEWAY_EXITED" in text[0] else ""
    return f"{text[0]} {said}".rstrip()


def _complaint(log: Path) -> str:
    """Return the last error in the JVM's log, which often is why it has ended."""
    try:
        said = log.read_text(encoding="utf-8", errors="replace").split("\n")
    except OSError:
        return ""
    return next((line.strip() for line in reversed(said) if "rror" in line), "")


def wait_for_executors(context: Any) -> None:
    """Wait for a cluster's first executor; a job would otherwise wait forever, silently.

    Raises `NoSpark` or `SparkGone`.
    """
    if str(context.master).startswith("local"):
        return
    until = time.monotonic() + _EXECUTORS_SECONDS_MAX
    while _members(context) < 2:
        if time.monotonic() > until:
            raise NoSpark(
                f"{context.master} has given no executor for {_EXECUTORS_SECONDS_MAX:.0f} s; "
                "it needs workers with a free core and enough free memory "
                "(--spark-conf spark.executor.memory=512m asks for less)"
            )
        time.sleep(0.1)


def _members(context: Any) -> int:
    """The driver and the executors that the master has given; Spark stops where it gives up."""
    spark = context._jsc.sc()
    try:
        return int(spark.getExecutorMemoryStatus().size())
    except Exception:
        if how := how_it_ended(context._gateway):
            raise SparkGone("before it had an executor", how) from None
        if not spark.isStopped():
            raise
        raise NoSpark(
            f"no master answers at --master {context.master}, and Spark has given up; "
            "it needs the address of one that runs, as spark://host:7077"
        ) from None


def _gateway(conf: Any, log: Path) -> Any:
    """The JVM, with what it prints in a file."""
    from pyspark.java_gateway import launch_gateway  # noqa: PLC0415

    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        sinks = {"stdout": output, "stderr": output}
        return launch_gateway(conf, sinks)  # type: ignore[no-untyped-call]


def _retrying(master: str) -> str:
    """A local master on which a task is tried again, as on a cluster: `local[2]` to `local[2,4]`"""
    simple = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{simple[1] or 1},{_TASK_FAILURES}]" if simple else master


def _source_root(package: str) -> str:
    """The directory that a package is imported from."""
    return str(Path(str(importlib.import_module(package).__file__)).parent.parent)


def _settings(master: str | None) -> dict[str, str]:
    settings = {
        "spark.ui.showConsoleProgress": "false",
        # A level's shuffle is read once; retaining Spark's own bookkeeping of it is of no use.
        "spark.ui.enabled": "false",
        # Lost candidates are made anew from the last level's files, not from levels before it.
        "spark.stage.maxConsecutiveAttempts": "1",
        # An owner's candidates come from everywhere: no place is worth waiting for.
        "spark.locality.wait": "0s",
        "spark.shuffle.reduceLocality.enabled": "false",
    }
    if is_on_this_machine(master):
        # Nobody else is to reach the driver: on a port of its own it takes what others send it.
        settings |= {"spark.driver.bindAddress": "127.0.0.1", "spark.driver.host": "127.0.0.1"}
    if _is_local(master):
        settings |= {
            # Packed states hardly compress, and nothing leaves the machine.
            "spark.shuffle.compress": "false",
            "spark.shuffle.spill.compress": "false",
            "spark.driver.memory": _LOCAL_HEAP,
            **_sockets_of_workers(private_folder()),
        }
    return settings


def _sockets_of_workers(folder: Path) -> dict[str, str]:
    """Have the JVM and Python's workers talk by Unix sockets in a folder that is ours alone.

    Over TCP a small task takes 43 ms, by sockets 10. Executors of a cluster have temporary folders
    of their own, whose names may be too long, and no secret protects sockets as it does ports.
    """
    if len(os.fsencode(folder / f".{uuid.uuid4()}.sock")) > _SOCKET_NAME_MAX:
        return {}
    return {
        "spark.python.unix.domain.socket.enabled": "true",
        "spark.python.unix.domain.socket.dir": str(folder),
    }
