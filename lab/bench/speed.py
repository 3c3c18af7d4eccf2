"""How fast the engines are: whole processes, alternating, medians, and ratios within one run.

    python -m lab.bench.speed [--runs 5] [--quick]

Prints a table for each space: distinct states and transitions a second of the search itself, whole
process seconds, and peak memory of all its processes together. Counts must agree between the
engines or it fails. Then: how long a counterexample takes, from a warm and from an empty kernel
cache.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from rich.console import Console
from rich.table import Table

COMMAND = [sys.executable, "-c", "from waterline.checker.cli.cli import check_main; check_main()"]
SPACES = {
    "epoch, documented": ["--protocol", "epoch"],
    "epoch, 4 records, 3 epochs, 3 restarts": [
        *("--protocol", "epoch", "--records", "4", "--epochs", "3", "--restarts", "3"),
    ],
    "epoch, 3 replicas, 2 leader moves": [
        *("--protocol", "epoch", "--replicas", "3", "--restarts", "0", "--moves", "2"),
    ],
}
ENGINES = {
    "local, 1 thread": ["--engine", "local", "--threads", "1"],
    "local, 2 threads": ["--engine", "local", "--threads", "2"],
    "spark, local[2]": ["--engine", "spark", "--master", "local[2]", "--driver-levels", "0"],
}
BASE = "local, 1 thread"


@dataclass(frozen=True, slots=True)
class Measured:
    """One process: what it reported, how long it took in all, and the most memory it held.

    `peak_bytes` are resident; `held_bytes` leave out pages of files, which the system can drop.
    `processor_seconds` are its own and those of its children, but for a cluster that it only uses.
    """

    report: dict[str, Any]
    seconds: float
    peak_bytes: int
    held_bytes: int
    processor_seconds: float


def measure(arguments: Sequence[str], **environment: str) -> Measured:
    """Run `check` once, sampling the memory of it and all its children."""
    started = time.monotonic()
    before = processor_seconds_of_children()
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--format", "json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    peak = held = 0
    watched = psutil.Process(process.pid)
    with tempfile.TemporaryFile() as output:
        reader = subprocess.Popen(["cat"], stdin=process.stdout, stdout=output)
        while process.poll() is None:
            resident, of_files = _tree_bytes(watched)
            peak, held = max(peak, resident), max(held, resident - of_files)
            time.sleep(0.05)
        seconds = time.monotonic() - started
        reader.wait()
        output.seek(0)
        report = json.loads(output.read())
    return Measured(report, seconds, peak, held, processor_seconds_of_children() - before)


def processor_seconds_of_children() -> float:
    """Of those that have ended and been waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _tree_bytes(root: psutil.Process) -> tuple[int, int]:
    """Resident sets summed, and their pages of files. Shared pages are counted for each process."""
    resident = of_files = 0
    try:
        for process in (root, *root.children(recursive=True)):
            memory = process.memory_info()
            resident += memory.rss
            of_files += getattr(memory, "shared", 0)
    except psutil.Error:
        pass
    return resident, of_files


def compare(console: Console, space: str, arguments: Sequence[str], runs: int) -> None:
    """A table of all engines on one space; a warm-up of each is not counted."""
    measured: dict[str, list[Measured]] = {name: [] for name in ENGINES}
    for number in range(runs + 1):
        for name, engine in ENGINES.items():
            found = measure([*arguments, *engine])
            if number > 0:
                measured[name].append(found)
    counts = {(m.report["distinct"], m.report["generated"]) for ms in measured.values() for m in ms}
    if len(counts) != 1:
        raise SystemExit(f"{space}: the engines disagree: {counts}")
    distinct, generated = counts.pop()
    table = Table(
        title=f"{space}: {distinct:,} states, {generated:,} transitions", title_justify="left"
    )
    for title in ("Engine", "Search s", "M distinct/s", "M trans/s", "Ratio", "Process s", "MB"):
        table.add_column(title, justify="left" if title == "Engine" else "right")
    base = _median_seconds(measured[BASE])
    for name, ms in measured.items():
        seconds = _median_seconds(ms)
        table.add_row(
            name,
            f"{seconds:.2f}",
            f"{distinct / seconds / 1e6:.2f}",
            f"{generated / seconds / 1e6:.2f}",
            f"{base / seconds:.2f}",
            f"{statistics.median(m.seconds for m in ms):.2f}",
            f"{statistics.median(m.peak_bytes for m in ms) / 1e6:.0f}",
        )
    console.print(table)


def _median_seconds(measured: Sequence[Measured]) -> float:
    return statistics.median(m.report["seconds"] for m in measured)


def first_answer(console: Console, runs: int) -> None:
    """From the command to the `hw` counterexample: with compiled kernels at hand, and without."""
    arguments = ["--protocol", "hw", "--engine", "local"]
    measure(arguments)
    warm = [measure(arguments).seconds for _ in range(runs)]
    cold = []
    for _ in range(max(1, runs // 2)):
        with tempfile.TemporaryDirectory() as empty:
            cold.append(measure(arguments, WATERLINE_CACHE=empty).seconds)
    console.print(
        f"hw counterexample, whole process: {statistics.median(warm):.2f} s from a warm cache "
        f"(of {runs}), {statistics.median(cold):.2f} s from an empty one (of {len(cold)})"
    )


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=5, help="counted runs of each, default 5")
    parser.add_argument("--quick", action="store_true", help="the two small spaces, one run")
    options = parser.parse_args()
    runs = 1 if options.quick else options.runs
    console = Console(width=100 if not sys.stdout.isatty() else None)
    console.print(f"{machine()}, medians of {runs}")
    for space, arguments in list(SPACES.items())[: 2 if options.quick else None]:
        compare(console, space, arguments, runs)
    first_answer(console, runs)


def machine() -> str:
    """What the figures are from: the day, the processor, Python, and what else was running.

    The same processor may be several times slower in another hour, where machines are virtual: the
    loop of plain Python says how fast it was.
    """
    return (
        f"{time.strftime('%Y-%m-%d')}, {_processor()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f}, Python {platform.python_version()}; ten million additions "
        f"in Python: {_yardstick_seconds():.2f} s"
    )


def _yardstick_seconds() -> float:
    started = time.monotonic()
    total = 0
    for number in range(10_000_000):
        total += number
    return time.monotonic() - started


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


if __name__ == "__main__":
    main()
