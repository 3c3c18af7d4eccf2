"""One call of Maven, without a terminal.

Its own configuration decides the source (settings.xml). With strict checksums a jar that differs
from the registry's ends the build.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


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
