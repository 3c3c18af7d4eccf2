"""How long a first verdict takes, as whole processes: from an empty cache, and with kept code.

    python -m lab.bench.first_verdict [--runs 5] [--cold-runs 5] [--before ../before]

Seconds and processor seconds of one command a row, medians. Answers that a matrix has kept are
removed before each run, machine code is not. With `--before`, the folder of an earlier commit that
is set up, both run each command in turn, each with its own Python, and what they find must agree,
or it fails. Then how much faster two threads are than one, and two processes side by side, which is
what the machine can do.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.bench.speed import COMMAND, machine, processor_seconds_of_children

HERE = Path(__file__).parents[2]
CHECK = COMMAND[-1]
MATRIX = "from waterline.checker.cli.cli import main; main()"
PROPERTIES = """process.roles=broker,controller
node.id=1
controller.quorum.voters=1@a:9093
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
"""
ONE = ("--engine", "local", "--threads", "1")
TWO = ("--engine", "local", "--threads", "2")
EPOCH = ("--protocol", "epoch", "--replicas", "3", "--restarts", "0", "--moves", "2")
ATOMIC = ("--grain", "atomic", "--protocol", "hw", "--replicas", "3")
ROWS = {
    "hw, the defaults": ("--protocol", "hw"),
    "Kafka 4.2, 3 replicas": ("--kafka", "4.2", "--replicas", "3"),
    "Kafka 4.4, 3 replicas": ("--kafka", "4.4", "--replicas", "3"),
    "1,988,158 atomic states, 1 thread": (*ATOMIC, *ONE, "--invariant", "type_ok"),
}
"""Options of `check`, by what they check."""
GRID = "a properties file, Kafka 4.2"
SIDE_BY_SIDE = {
    "1,988,158 atomic states": (*ATOMIC, "--invariant", "type_ok"),
    "5,323,516 states of epoch": (*EPOCH, "--invariant", "sane"),
    "39,919,804 atomic states": (*ATOMIC, "--epochs", "3", "--invariant", "type_ok"),
}


@dataclass(frozen=True, slots=True)
class Taken:
    """What one process took, and what it found that another must find too."""

    seconds: float
    processor_seconds: float
    found: Any


def begun(root: Path, start: str, arguments: Sequence[str], cache: Path) -> subprocess.Popen[str]:
    """A process of this project or of an earlier commit."""
    return subprocess.Popen(
        [root / ".venv" / "bin" / "python", "-c", start, *arguments],
        cwd=root,
        env={**os.environ, "WATERLINE_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: subprocess.Popen[str]) -> str:
    """What it printed."""
    out, err = process.communicate()
    if process.returncode not in (0, 12, 20):
        raise SystemExit(f"{process.args}: {err}")
    return out


def checked(root: Path, arguments: Sequence[str], cache: Path) -> dict[str, Any]:
    """The report of `check`."""
    report: dict[str, Any] = json.loads(
        ended(begun(root, CHECK, (*arguments, "--format", "json"), cache))
    )
    return report


def taken(root: Path, name: str, cache: Path, properties: Path) -> Taken:
    """One run of a row."""
    shutil.rmtree(cache / "answers", ignore_errors=True)
    began, used = time.monotonic(), processor_seconds_of_children()
    found: Any = None
    if name == GRID:
        grid = ("matrix", "--config", str(properties), "--kafka-version", "4.2", "--quick")
        ended(begun(root, MATRIX, grid, cache))
    else:
        report = checked(root, ROWS[name], cache)
        found = {key: report[key] for key in ("levels", "generated", "actions")}
    return Taken(time.monotonic() - began, processor_seconds_of_children() - used, found)


def in_turn(
    roots: Sequence[Path], name: str, runs: int, caches: Path, *, is_cold: bool
) -> list[tuple[float, float]]:
    """Medians of seconds and of processor seconds, for each folder."""
    properties = caches / "server.properties"
    properties.write_text(PROPERTIES)
    measured: list[list[Taken]] = [[] for _ in roots]
    for number in range(runs + (not is_cold)):
        for place, root in enumerate(roots):
            kept = caches / str(place)
            cache = Path(tempfile.mkdtemp(dir=caches)) if is_cold else kept
            one = taken(root, name, cache, properties)
            if is_cold or number > 0:  # the first fills the cache
                measured[place].append(one)
    if any(one.found != measured[0][0].found for every in measured for one in every):
        raise SystemExit(f"{name}: the two found different things")
    return [
        (
            statistics.median(one.seconds for one in every),
            statistics.median(one.processor_seconds for one in every),
        )
        for every in measured
    ]


def first_verdicts(console: Console, roots: Sequence[Path], chosen: argparse.Namespace) -> None:
    """The table of whole processes."""
    table = Table("command")
    for start in ("empty cache", "kept code"):
        for when in ("now", "before")[: len(roots)]:
            table.add_column(f"{start}, {when}: s", justify="right")
            table.add_column("processor s", justify="right")
    with tempfile.TemporaryDirectory() as caches:
        for name in (*ROWS, GRID):
            cells = []
            for is_cold, runs in ((True, chosen.cold_runs), (False, chosen.runs)):
                for medians in in_turn(roots, name, runs, Path(caches), is_cold=is_cold):
                    cells += [f"{seconds:.2f}" for seconds in medians]
            table.add_row(name, *cells)
            print(name, *cells, file=sys.stderr)
    console.print(table)


def side_by_side(arguments: Sequence[str], runs: int, cache: Path) -> tuple[float, float, float]:
    """Medians of the search: of one thread, of two, and of two processes of one thread at once."""
    searches: list[tuple[float, float, float]] = []
    for _ in range(runs + 1):
        one, two = (checked(HERE, (*arguments, *each), cache) for each in (ONE, TWO))
        if (one["levels"], one["generated"]) != (two["levels"], two["generated"]):
            raise SystemExit(f"{arguments}: one thread and two found different things")
        both = [begun(HERE, CHECK, (*arguments, *ONE, "--format", "json"), cache) for _ in range(2)]
        slower = max(json.loads(ended(process))["seconds"] for process in both)
        searches.append((one["seconds"], two["seconds"], slower))
    one_, two_, both_ = (statistics.median(column) for column in zip(*searches[1:], strict=True))
    return one_, two_, both_


def threads(console: Console, runs: int) -> None:
    """The table of one thread and two."""
    table = Table("search", "1 thread", "2 threads", "faster by", "2 processes at once, by")
    with tempfile.TemporaryDirectory() as cache:
        for name, arguments in SIDE_BY_SIDE.items():
            one, two, both = side_by_side(arguments, runs, Path(cache))
            table.add_row(
                name, f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f}", f"{2 * one / both:.2f}"
            )
            print(f"{name}: {one:.2f} {two:.2f} {both:.2f}", file=sys.stderr)
    console.print(table)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--before", type=Path, help="the folder of an earlier commit, set up")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cold-runs", type=int, default=5, help="of those with an empty cache")
    chosen = parser.parse_args()
    console = Console(width=120)
    console.print(machine())
    first_verdicts(console, [HERE, *([chosen.before.resolve()] if chosen.before else [])], chosen)
    threads(console, chosen.runs)


if __name__ == "__main__":
    main()
