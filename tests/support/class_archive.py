"""An archive of Spark's classes (class-data sharing), with which its JVMs start in half the time.

Only for tests. A JVM that maps a truncated archive crashes, and one whose class path is another
starts more slowly than without, so that no user gets one.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from waterline.checker.search.engines.java import QUICK_JVM

_FOLDER = "WATERLINE_TEST_CLASSES"
_PATIENCE_SECONDS = 120
_USES_SPARK = """
import sys
from pathlib import Path
from waterline.checker.search.engines.spark_session import start_context
context = start_context("local[1]", log=Path(sys.argv[1]))
print(context.parallelize([1, 2], 1).map(abs).sum())
process = context._gateway.proc
context.stop()
process.stdin.close()  # At the end of its input the JVM ends, and writes the archive before that.
sys.exit(process.wait())
"""


def use_class_archive(folder: Path) -> None:
    """Have Spark's processes use the archive of this folder, which the first process makes.

    The others do not wait for it: a JVM starts without an archive that is not there. Processes that
    this one starts inherit it.
    """
    archive = folder / "spark.jsa"
    with (folder / "spark.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not archive.exists():
                _make(archive)
        except BlockingIOError:
            pass
    os.environ[_FOLDER] = str(folder)
    os.environ["SPARK_SUBMIT_OPTS"] = quick_jvm()


def quick_jvm() -> str:
    """Options for processes that live so short that to compile well does not pay."""
    folder = os.environ.get(_FOLDER)
    archive = [f"-XX:SharedArchiveFile={folder}/spark.jsa"] if folder else []
    return " ".join([QUICK_JVM, *archive])


def _make(archive: Path) -> None:
    """Write it aside, so that no JVM maps a part; where that fails there is none."""
    aside = archive.with_suffix(".new")
    with suppress(subprocess.TimeoutExpired):
        done = subprocess.run(
            [sys.executable, "-c", _USES_SPARK, archive.with_suffix(".log")],
            env={**os.environ, "SPARK_SUBMIT_OPTS": f"-XX:ArchiveClassesAtExit={aside}"},
            stdout=subprocess.DEVNULL,
            check=False,
            timeout=_PATIENCE_SECONDS,
        )
        if done.returncode == 0 and aside.exists():
            aside.rename(archive)
