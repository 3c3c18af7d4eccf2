"""Where mutants of the rules are run: a copy of the project, and a process for each mutant.

What the unaltered rules give in every setting is found out first. Where a file is named for that,
it is kept there, and used again for as long as no text that it depends on has changed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from fuzz.mutants import INVALID, KILLED, ROOT, Mutant

_PACKAGES = ("waterline", "fuzz")
_IGNORED = shutil.ignore_patterns("__pycache__", "peers")


class Laboratory:
    """A frozen copy of the project in a temporary directory, so that it may be edited meanwhile."""

    def __init__(self, directory: Path, baseline: Path | None = None) -> None:
        self.directory = directory
        self.project = directory / "project"
        self.baseline = (baseline or directory / "baseline.json").resolve()
        for package in _PACKAGES:
            shutil.copytree(ROOT / package, self.project / package, ignore=_IGNORED)

    def measure(self, stages: int) -> dict[str, Any]:
        """What to compare with in so many stages: by setting, its counts and the lines reached."""
        kept = json.loads(self.baseline.read_text()) if self.baseline.exists() else {}
        if kept.get("of") != self._digest():
            self.baseline.write_text(json.dumps({"of": self._digest(), "settings": {}}))
        said = self.directory / "said"
        code = self._run(f"mutation.measure({str(self.baseline)!r}, {stages})", self.project, said)
        if code != 0:
            raise RuntimeError(f"the unaltered rules were not searched:\n{said.read_text()}")
        settings: dict[str, Any] = json.loads(self.baseline.read_text())["settings"]
        return settings

    def _digest(self) -> str:
        """Of every text that counts depend on."""
        texts = sorted(self.project.rglob("*.py"))
        fuzz = self.project / "fuzz"
        counting = {fuzz / "interpreted.py", fuzz / "observed.py"}
        digest = hashlib.sha256()
        for path in texts:
            if fuzz not in path.parents or path in counting:
                digest.update(path.read_bytes())
        return digest.hexdigest()

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
        command = [sys.executable, "-P", "-c", f"from fuzz import {module}; {call}"]
        path = f"{first}{os.pathsep}{self.project}"
        environment = os.environ | {"PYTHONPATH": path, "WATERLINE_CACHE": str(first / "cache")}
        with said.open("w") as out:
            done = subprocess.run(command, env=environment, stdout=out, stderr=out, check=False)
        return done.returncode


@contextmanager
def lines_reached(directory: Path) -> Iterator[set[str]]:
    """The lines of modules of a directory that Python runs meanwhile, each as `isr:48`."""
    reached: set[str] = set()
    lines: set[tuple[str, int]] = set()

    def in_function(frame: FrameType, event: str, _: object) -> Any:
        if event == "line":
            lines.add((frame.f_code.co_filename, frame.f_lineno))
        return in_function

    def calls(frame: FrameType, _: str, __: object) -> Any:
        return in_function if frame.f_code.co_filename.startswith(str(directory)) else None

    sys.settrace(calls)
    try:
        yield reached
    finally:
        sys.settrace(None)
        reached |= {f"{Path(file).stem}:{line}" for file, line in lines}
