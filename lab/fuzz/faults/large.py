"""A large run on a cluster that loses a Python worker, an executor, a worker, its driver, its disk.

    python -m lab.fuzz.faults.large [session] [connect]

39,919,804 states on a standalone cluster of two workers, through a session of this process and
through a server of Spark Connect. Each loss happens once a level more is kept, in one run: the
driver is killed and the run resumed; then its disk, a tmpfs, is filled by another file, and the run
resumed when that is gone. What it finds at last must be what the local engine finds. Needs root.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

from lab.bench.scale import SPACES, WATERLINE
from lab.fuzz.rounds import Wrong
from tests.support.command import facts, levels_kept, started
from tests.support.standalone import Standalone, connect_server, standalone

SPACE = (*WATERLINE, *SPACES["39.9 M"])
FIRST_LEVEL = 16
DISK_BYTES = 4 << 30
SETTINGS = ("--spark-conf", "spark.executor.memory=512m")


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system that can be filled."""
    folder.mkdir()
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES}", "tmpfs", folder], check=True
    )
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def wait_for(levels: int, run: Path, process: subprocess.Popen[str]) -> None:
    """Until so many levels are kept."""
    while levels_kept(run) < levels:
        if process.poll() is not None:
            raise Wrong(f"it ended too soon: {process.communicate()}")
        time.sleep(0.05)


def kill_a_python_worker(cluster: Standalone) -> None:
    """One that an executor's daemon has forked."""
    forked = [
        process
        for executor in cluster.executors()
        for process in psutil.Process(executor).children(recursive=True)
        if "pyspark.daemon" in process.cmdline() and process.children() == []
    ]
    forked[0].kill()


def kill_an_executor(cluster: Standalone) -> None:
    """The first."""
    os.kill(cluster.executors()[0], signal.SIGKILL)


def kill_a_worker(cluster: Standalone) -> None:
    """The process that starts executors on one of two machines; they end with it."""
    cluster.processes[-1].kill()


LOSSES: tuple[Callable[[Standalone], None], ...] = (
    kill_a_python_worker,
    kill_an_executor,
    kill_a_worker,
)


def say(text: str) -> None:
    """With the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def go_through(form: str, expected: str) -> None:
    """All losses in one run. Raises `Wrong`."""
    with tempfile.TemporaryDirectory(prefix="large-") as name, ExitStack() as stack:
        folder = Path(name)
        disk = stack.enter_context(small_disk(folder / "disk"))
        run = disk / "run"
        cluster = stack.enter_context(standalone(folder))
        master = ("--master", cluster.url, *SETTINGS)
        if form == "connect":
            url, _ = stack.enter_context(connect_server(folder, cluster.url))
            master = ("--master", url)
        process = started(*SPACE, *master, "--driver-levels", FIRST_LEVEL, "--run-dir", run)
        level = FIRST_LEVEL + 1
        for loss in LOSSES:
            wait_for(level, run, process)
            loss(cluster)
            say(f"{form}: {loss.__name__} at {level} levels")
            level += 2
        wait_for(level, run, process)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        say(f"{form}: the driver is killed at {levels_kept(run)} levels")
        process = started("--resume", run, *master, "--driver-levels", FIRST_LEVEL)
        level = levels_kept(run) + 1
        wait_for(level, run, process)
        ballast = disk / "ballast"
        fill(ballast)
        out, err = process.communicate()
        last = err.strip().splitlines()[-1]
        kept = levels_kept(run)
        if process.returncode != 2 or out or "there is no room left" not in last:
            raise Wrong(f"{form}: a full disk: {process.returncode} {out} {err}")
        if f"{kept} levels are kept" not in last or "Traceback" in err:
            raise Wrong(f"{form}: {kept} levels: {err}")
        say(f"{form}: a full disk at {kept} levels: {last}")
        ballast.unlink()
        process = started("--resume", run, *master, "--driver-levels", FIRST_LEVEL)
        out, err = process.communicate()
        if process.returncode != 0 or facts(out) != facts(expected):
            raise Wrong(f"{form}: {process.returncode} {out} {err}")
        say(f"{form}: complete, as the local engine")


def fill(ballast: Path) -> None:
    """Write until there is no room."""
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 20))
        except OSError:
            pass


def main(forms: list[str]) -> int:
    """Go through all; print what happens when."""
    expected, _ = started(*SPACE, "--engine", "local", "--threads", "2").communicate()
    for form in forms or ["session", "connect"]:
        go_through(form, expected)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
