"""Faults in a large search on a cluster: each must end with the counts of an undisturbed search.

    python -m bench.cluster_faults [--small]

The atomic grain with truncation to the high watermark, 3 replicas: 39,919,804 states (--small:
1,988,158) on a standalone cluster of two workers with a core each, with a run directory. Lost: an
executor; a worker with its executor; the driver with its JVM, after which the run is resumed; and
the room on the disk, after which the run is resumed with more. The disk is a tmpfs, for which one
must be root.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.speed import machine
from tests.support.command import facts, levels_kept, started
from tests.support.standalone import Standalone, standalone

SPACE = ("--grain", "atomic", "--protocol", "hw", "--replicas", "3", "--invariant", "type_ok")
SIZES = {"small": ("--records", "2"), "large": ("--records", "2", "--epochs", "3")}
_DISK = {"small": "12m", "large": "250m"}
_PATIENCE_SECONDS = 3600

Report = dict[str, Any]
Run = subprocess.Popen[str]


class Search:
    """A search on a cluster, to be disturbed once so many levels are kept."""

    def __init__(self, cluster: Standalone, size: str, directory: Path) -> None:
        self.cluster, self.size, self.directory = cluster, size, directory
        self.at_level = 12 if size == "small" else 18

    def begun(self) -> Run:
        """Under way."""
        options = ("--engine", "spark", "--master", self.cluster.url, "--driver-levels", "8")
        return started(*SPACE, *SIZES[self.size], *options, "--run-dir", self.directory)

    def resumed(self) -> Report:
        """The result of going on with what is kept."""
        return _report(started("--resume", self.directory))

    def wait(self, run: Run) -> None:
        """Until so many levels are kept."""
        until = time.monotonic() + _PATIENCE_SECONDS
        while levels_kept(self.directory) < self.at_level:
            if run.poll() is not None or time.monotonic() > until:
                raise SystemExit(f"the run ended too soon: {run.communicate()[1]}")
            time.sleep(0.05)


def _report(run: Run) -> Report:
    out, err = run.communicate(timeout=_PATIENCE_SECONDS)
    if run.returncode != 0:
        raise SystemExit(f"exit code {run.returncode}: {err}")
    return facts(out)


def lost_executor(search: Search) -> Report:
    """One executor is killed; Spark starts another."""
    run = search.begun()
    search.wait(run)
    os.kill(search.cluster.executors()[0], signal.SIGKILL)
    return _report(run)


def lost_worker(search: Search) -> Report:
    """A worker is killed with its executor; one core is left."""
    run = search.begun()
    search.wait(run)
    worker = search.cluster.processes[-1]
    worker.kill()
    worker.wait()
    os.kill(search.cluster.executors()[0], signal.SIGKILL)
    return _report(run)


def lost_driver(search: Search) -> Report:
    """The command and its JVM are killed; the run is resumed on the cluster."""
    run = search.begun()
    search.wait(run)
    os.killpg(run.pid, signal.SIGKILL)
    run.communicate()
    return search.resumed()


def full_disk(search: Search) -> Report:
    """The run ends for want of room, and goes on once there is more."""
    with _disk(search.directory.parent, _DISK[search.size]) as give_room:
        run = search.begun()
        _, err = run.communicate(timeout=_PATIENCE_SECONDS)
        if run.returncode != 2 or "no room left" not in err:
            raise SystemExit(f"a full disk: exit code {run.returncode}: {err}")
        give_room()
        return search.resumed()


@contextmanager
def _disk(folder: Path, size: str) -> Iterator[Callable[[], object]]:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=True)
    try:
        yield lambda: subprocess.run(["mount", "-o", "remount,size=8g", folder], check=True)
    finally:
        subprocess.run(["umount", folder], check=True)


FAULTS = (lost_executor, lost_worker, lost_driver, full_disk)


def main() -> None:
    """Disturb a search by each fault, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--small", action="store_true", help="two million states")
    size = "small" if parser.parse_args().small else "large"
    console = Console(width=100 if not sys.stdout.isatty() else None)
    console.print(machine())
    expected = _report(started(*SPACE, *SIZES[size], "--engine", "local"))
    table = Table(title=f"{expected['distinct']:,} states", title_justify="left")
    for title in ("Fault", "Distinct", "Transitions", "Seconds", "The same"):
        table.add_column(title, justify="left" if title == "Fault" else "right")
    wrong = 0
    for fault in FAULTS:
        with tempfile.TemporaryDirectory() as folder:
            work = Path(folder)
            disk = work / "disk"
            disk.mkdir()
            started_at = time.monotonic()
            with standalone(work) as cluster:
                found = fault(Search(cluster, size, disk / "run"))
            took = time.monotonic() - started_at
        is_same = found == expected
        wrong += not is_same
        row = (f"{found['distinct']:,}", f"{found['generated']:,}", f"{took:.0f}")
        table.add_row(fault.__name__.replace("_", " "), *row, "yes" if is_same else "NO")
    console.print(table)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
