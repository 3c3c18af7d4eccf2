"""Where mutants of the rules judge certificates: a copy of the project, a process for each."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from lab.fuzz.mutants import INVALID, KILLED, ROOT, Mutant

_PACKAGES = ("waterline", "lab")
_IGNORED = shutil.ignore_patterns("__pycache__", "peers")


class Laboratory:
    """A frozen copy of the project in a temporary directory, so that it may be edited meanwhile."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.project = directory / "project"
        for package in _PACKAGES:
            shutil.copytree(ROOT / package, self.project / package, ignore=_IGNORED)

    def judge(self, mutant: Mutant, call: str) -> None:
        """Run a call of a module of fuzz with one mutant, and note what it prints of it.

        Each line that is JSON names fields of the mutant and what they become.
        """
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self.directory) as place:
            package = Path(place, "waterline")
            package.mkdir()
            for each in (self.project / "waterline").iterdir():
                (package / each.name).symlink_to(each)
            (package / "model").unlink()
            shutil.copytree(self.project / "waterline" / "model", package / "model")
            (package / "model" / "message" / f"{mutant.module}.py").write_text(mutant.text)
            said = Path(place, "said")
            code = self._run(call, Path(place), said)
            mutant.outcome, mutant.how = INVALID, f"exit code {code}"
            if code == -signal.SIGALRM:
                mutant.outcome, mutant.how = KILLED, "no end in sight"
            for line in said.read_text().splitlines():
                if line.startswith("{"):
                    for name, value in json.loads(line).items():
                        setattr(mutant, name, value)
        mutant.seconds = round(time.monotonic() - started, 1)

    def _run(self, call: str, first: Path, said: Path) -> int:
        """Make the call in a process that looks for modules in `first`, first."""
        module = call.partition(".")[0]
        command = [sys.executable, "-P", "-c", f"from lab.fuzz import {module}; {call}"]
        path = f"{first}{os.pathsep}{self.project}"
        environment = os.environ | {"PYTHONPATH": path, "WATERLINE_CACHE": str(first / "cache")}
        with said.open("w") as out:
            done = subprocess.run(command, env=environment, stdout=out, stderr=out, check=False)
        return done.returncode
