"""The jars of a release, with all their dependencies.

Maven downloads them into its local repository, from the source that its settings.xml names, and
checks each against the registry's checksum. The list is saved here with a SHA-256 of each file, so
the next run works offline. A machine without a registry takes a folder of jars instead.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from xml.sax.saxutils import escape

from waterline.checker.compiler.cache import cache_directory
from waterline.checker.kafka.confirm.errors import NoJars
from waterline.checker.kafka.confirm.processes import find_java
from waterline.checker.kafka.confirm.releases import KafkaRelease, kafka_release
from waterline.counterexamples.named_file import BadFile, written_whole

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


FETCH_SECONDS_MAX = 600
_PREFIXES = {"Kafka": "kafka_", "Fluss": "fluss-server"}
"""Prefix of the jar that a folder must have."""
_CLASS_PATH_GOAL = "org.apache.maven.plugins:maven-dependency-plugin:3.8.1:build-classpath"
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
 <modelVersion>4.0.0</modelVersion>
 <groupId>waterline</groupId><artifactId>confirm</artifactId><version>1</version>
 <packaging>pom</packaging>
 <dependencies>{dependencies}</dependencies>
</project>
"""
_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version></dependency>"
)


class Packaged(Protocol):
    """A release in the registry: what of, its number, and its Maven coordinates."""

    @property
    def product(self) -> str:
        """`Kafka` or `Fluss`."""

    @property
    def version(self) -> str:
        """Version in the registry's form."""

    @property
    def artifacts(self) -> tuple[str, ...]:
        """Maven coordinates, first on the class path first."""


def class_path(release: Packaged, *, folder: Path | None, announce: Tell) -> list[Path]:
    """The jars that brokers of `release` run from. Raises `NoJars`.

    `folder` is one that holds them all; None: they are fetched, unless an earlier run did so.
    """
    if folder is not None:
        return _from_folder(release, folder)
    written = cache_directory() / release.product.lower() / f"{release.version}.json"
    known = _read(written, release)
    if known is None:
        announce(f"fetching the jars of {release.product} {release.version}")
        known = _fetch(release)
        _write(written, release, known)
    return known


def require_brokers(*names: str) -> None:
    """Raise `CannotConfirm`, with the reason, where brokers of these releases cannot be had."""
    find_java()
    for name in names:
        class_path(kafka_release(name), folder=None, announce=lambda line: None)


def _from_folder(release: Packaged, folder: Path) -> list[Path]:
    jars = sorted(folder.glob("*.jar"))
    prefix = _PREFIXES[release.product]
    if not any(jar.name.startswith(prefix) and release.version in jar.name for jar in jars):
        raise NoJars(
            f"--jars {folder} has no jar {prefix}*-{release.version}.jar; "
            f"it must hold {release.artifacts[0]} and all that it depends on"
        )
    # What is to come first on the class path is named so by its coordinates.
    first = [coordinates.split(":")[1] for coordinates in release.artifacts]
    return sorted(jars, key=lambda jar: _place(jar.name, first))


def _place(name: str, first: list[str]) -> int:
    return next(
        (at for at, prefix in enumerate(first) if name.startswith(f"{prefix}-")), len(first)
    )


def _fetch(release: Packaged) -> list[Path]:
    with tempfile.TemporaryDirectory(prefix="waterline-jars-") as made:
        work = Path(made)
        dependencies = "".join(
            _DEPENDENCY.format(*map(escape, artifact.split(":"))) for artifact in release.artifacts
        )
        (work / "pom.xml").write_text(_POM.format(dependencies=dependencies), encoding="utf-8")
        found = work / "class-path"
        options = [f"-Dmdep.outputFile={found}", "-Dmdep.pathSeparator=\n"]
        try:
            done = run_maven(_CLASS_PATH_GOAL, *options, folder=work, seconds_max=FETCH_SECONDS_MAX)
        except NoMaven as problem:
            raise NoJars(
                f"the jars of {release.product} {release.version} are fetched with Maven: "
                f"{problem}, or name a "
                "folder that has them with --jars"
            ) from None
        if done.returncode != 0 or not found.is_file():
            raise NoJars(_why(release, done))
        return [Path(line) for line in found.read_text(encoding="utf-8").split("\n") if line]


def _why(release: Packaged, done: subprocess.CompletedProcess[str]) -> str:
    complaint = complaint_of(done)
    if is_not_in_registry(done):
        return f"there is no {release.product} {release.version} in the registry: {complaint}"
    return (
        f"the jars of {release.product} {release.version} cannot be fetched: {complaint}; "
        "see to Maven's settings.xml, or name a folder that has them with --jars"
    )


def _read(written: Path, release: Packaged) -> list[Path] | None:
    """Return the jars that an earlier run found, None if any file has changed."""
    try:
        kept = json.loads(written.read_text(encoding="utf-8"))
        if kept["artifacts"] != list(release.artifacts):
            return None
        jars = {Path(path): digest for path, digest in kept["jars"].items()}
        return list(jars) if all(_digest(jar) == digest for jar, digest in jars.items()) else None
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None


def _write(written: Path, release: Packaged, jars: list[Path]) -> None:
    kept = {
        "artifacts": list(release.artifacts),
        "jars": {str(jar): _digest(jar) for jar in jars},
    }
    try:
        written.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with written_whole(written) as draft:
            draft.write(json.dumps(kept, indent=1).encode())
    except (OSError, BadFile):
        return  # Only the next run is slower.


def _digest(jar: Path) -> str:
    with jar.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class NoMaven(RuntimeError):
    """Maven is not installed, or does not run; the message says which."""


def run_maven(
    *arguments: str, folder: Path, seconds_max: float
) -> subprocess.CompletedProcess[str]:
    """Maven in the folder of a pom.xml; whether a goal failed is in the exit code.

    Raises `NoMaven`.
    """
    maven = shutil.which("mvn")
    if maven is None:
        raise NoMaven("there is no mvn on the PATH: install Maven")
    try:
        return subprocess.run(
            [maven, "--batch-mode", "--quiet", "--strict-checksums", *arguments],
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=seconds_max,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as problem:
        raise NoMaven(f"Maven does not run: {problem}") from None


def complaint_of(done: subprocess.CompletedProcess[str]) -> str:
    """Return the first error line of a failed Maven goal."""
    said = (done.stdout + done.stderr).splitlines()
    errors = [line for line in said if "ERROR" in line] or said
    return errors[0].replace("[ERROR]", "").strip() if errors else "Maven said nothing"


def is_not_in_registry(done: subprocess.CompletedProcess[str]) -> bool:
    """True if a goal failed because the registry has no such artifact."""
    said = done.stdout + done.stderr
    return "Could not find artifact" in said or "was not found in" in said
