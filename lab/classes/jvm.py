"""`Replicas.java`: compiled against a release's jars, and run in a JVM, a path at a time."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from waterline.checker.kafka.confirm.errors import BrokerFailed, CannotConfirm
from waterline.checker.kafka.confirm.processes import find_java
from waterline.checker.kafka.confirm.releases import KafkaRelease

SOURCE = Path(__file__).with_name("Replicas.java")
SERIES = ((3, 9), (4, 4))
"""Releases whose classes the source is written for."""
MEMORY = Path("/dev/shm")
"""Folder in memory, on systems that have it."""
_COMPILE_SECONDS_MAX = 300
_LAST_LINES = 5
_FORMER_NAMES = (
    ("org.apache.kafka.common.record.internal.", "org.apache.kafka.common.record."),
    ("org.apache.kafka.common.utils.internals.", "org.apache.kafka.common.utils."),
    ("org.apache.kafka.metadata.KRaft", "kafka.server.metadata.KRaft"),
    ("org.apache.kafka.metadata.LeaderAndIsr", "kafka.api.LeaderAndIsr"),
    ("org.apache.kafka.server.common.RequestLocal", "kafka.server.RequestLocal"),
    ("org.apache.kafka.server.network.", "kafka.cluster."),
    ("org.apache.kafka.server.partition.", "kafka.server."),
    ("org.apache.kafka.server.purgatory.", "kafka.server."),
    ("org.apache.kafka.server.quota.", "kafka.server."),
    ("org.apache.kafka.server.storage.log.", "org.apache.kafka.storage.internals.log."),
    ("org.apache.kafka.storage.internals.checkpoint.", "kafka.server.checkpoints."),
    ("org.apache.kafka.storage.internals.log.UnifiedLog", "kafka.log.UnifiedLog"),
    ("org.apache.kafka.storage.log.metrics.", "kafka.server."),
)
"""Names of classes that moved between 3.9 and 4.4: the later, then the former."""


def source_for(series: tuple[int, int]) -> str:
    """The source as it is compiled for a series of releases."""
    name = "{}.{}".format(*series)
    others = [" // {}.{}".format(*each) for each in SERIES if each != series]
    lines = SOURCE.read_text(encoding="utf-8").splitlines()
    kept = [line.removesuffix(f" // {name}") for line in lines if not line.endswith(tuple(others))]
    text = "\n".join(kept) + "\n"
    if series < SERIES[-1]:
        for now, former in _FORMER_NAMES:
            text = text.replace(now, former)
    return text


def find_compiler() -> Path:
    """The compiler beside the Java that is used. Raises `CannotConfirm`."""
    javac = find_java().with_name("javac")
    if not os.access(javac, os.X_OK):
        raise CannotConfirm(f"there is no {javac}, and the harness is compiled; install a JDK")
    return javac


def compile_harness(release: KafkaRelease, jars: Sequence[Path], folder: Path) -> Path:
    """A folder with the compiled classes. Raises `CannotConfirm`."""
    series = release.number[:2]
    if series not in SERIES:
        known = " and ".join("{}.{}".format(*each) for each in SERIES)
        raise CannotConfirm(f"--kafka is {release.version}; there is source for {known}")
    javac = find_compiler()
    text = source_for((series[0], series[1]))
    (folder / SOURCE.name).write_text(text, encoding="utf-8")
    command = [str(javac), "-nowarn", "-Xlint:none", "-d", str(folder), "-cp", _class_path(jars)]
    done = subprocess.run(
        [*command, str(folder / SOURCE.name)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_COMPILE_SECONDS_MAX,
        check=False,
    )
    if done.returncode != 0:
        wrong = re.search(r"error: .*", done.stderr) or re.search(r".*", done.stderr)
        raise CannotConfirm(f"{SOURCE.name} does not compile: {wrong and wrong[0]}")
    return folder


def _class_path(files: Iterable[Path]) -> str:
    return os.pathsep.join(map(str, files))


class Replicas:
    """A running harness."""

    def __init__(self, process: subprocess.Popen[str], errors: IO[str]) -> None:
        self._process = process
        self._errors = errors

    def replay(self, path: str) -> list[dict[str, Any]]:
        """Take a path; what was seen before it and after each step. Raises `BrokerFailed`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(path + "\n")
            self._process.stdin.flush()
            answer = self._process.stdout.readline()
        except OSError:
            answer = ""
        if not answer:
            self._errors.seek(0)
            last = self._errors.read().strip().splitlines()[-_LAST_LINES:]
            raise BrokerFailed(f"the JVM ended: {' | '.join(last) or 'it said nothing'}")
        seen: list[dict[str, Any]] = json.loads(answer)
        return seen


@contextlib.contextmanager
def running(
    release: KafkaRelease, jars: Sequence[Path], replicas: int, options: Iterable[str]
) -> Iterator[Replicas]:
    """A JVM with these replicas, ended with the block.

    It reads its standard input, so it also ends when this process does. Files are in memory where
    the system has a place for that: a crash of the process alone needs no disk.
    """
    place = str(MEMORY) if os.access(MEMORY, os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(prefix="waterline-classes-", dir=place) as made,
        tempfile.TemporaryFile("w+", encoding="utf-8") as errors,
    ):
        folder = Path(made)
        classes = compile_harness(release, jars, folder)
        process = subprocess.Popen(
            [
                str(find_java()),
                "-Xmx512m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",  # a run ends before C2's code pays for its compiling
                "-Dorg.slf4j.simpleLogger.defaultLogLevel=off",
                "-cp",
                _class_path([classes, *jars]),
                SOURCE.stem,
                str(folder),
                str(replicas),
                ",".join(options),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            start_new_session=True,
        )
        try:
            yield Replicas(process, errors)
        finally:
            process.kill()
            process.communicate()
