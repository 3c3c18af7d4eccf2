"""The command as a process of its own, to be killed, and what of its answer must never change."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

CHECK = [sys.executable, "-c", "from waterline.checker.cli.cli import check_main; check_main()"]
_PATIENCE_SECONDS = 120
_ENGINES_OWN = {
    "engine",
    "explored_on",
    "seconds",
    "level_seconds",
    "prepare_seconds",
    "peak_rss_bytes",
}


def facts(output: str) -> dict[str, Any]:
    """What a run found out: all but how long it took, and where."""
    report = json.loads(output)
    return {name: value for name, value in report.items() if name not in _ENGINES_OWN}


def started(
    *arguments: object, program: str = CHECK[-1], **environment: str
) -> subprocess.Popen[str]:
    """The command, or a program that calls it, under way in a process group of its own."""
    return subprocess.Popen(
        [*CHECK[:-1], program, *map(str, arguments), "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
        start_new_session=True,
    )


def finished(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, err = process.communicate(timeout=_PATIENCE_SECONDS)
    return process.returncode, out, err


def checked(*arguments: object, **environment: str) -> tuple[int, str, str]:
    """The command from beginning to end."""
    return finished(started(*arguments, **environment))


def levels_kept(directory: Path) -> int:
    """How many levels a run directory's manifest names."""
    try:
        return len(json.loads((directory / "manifest.json").read_text())["levels"])
    except FileNotFoundError:
        return 0


def wait_until_told(words: str, process: subprocess.Popen[str]) -> None:
    """Until a line on its standard error has these words; `finished` has the lines after it."""
    assert process.stderr is not None
    said = []
    for line in process.stderr:
        if words in line:
            return
        said.append(line)
    raise AssertionError(f"it ended and did not say {words!r}: {''.join(said)}")


def wait_until(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Until it is so, while the process runs."""
    until = time.monotonic() + _PATIENCE_SECONDS
    while not condition():
        if process.poll() is not None:
            raise AssertionError(f"it ended too soon: {process.communicate()}")
        if time.monotonic() > until:
            raise TimeoutError
        time.sleep(0.005)


def killed_after(levels: int, directory: Path, process: subprocess.Popen[str]) -> None:
    """Kill the command, and all that it started, once so many levels are kept."""
    wait_until(lambda: levels_kept(directory) >= levels, process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def python_workers(run: subprocess.Popen[str]) -> list[psutil.Process]:
    """Spark's Python workers that a command has started, without the daemon that forks them."""
    parents: dict[psutil.Process, int] = {}
    for process in psutil.Process(run.pid).children(recursive=True):
        # Some end while they are looked at.
        with suppress(psutil.Error):
            if "pyspark.daemon" in process.cmdline():
                parents[process] = process.ppid()
    daemons = {process.pid for process in parents}
    return [process for process, parent in parents.items() if parent in daemons]
