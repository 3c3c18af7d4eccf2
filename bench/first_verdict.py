"""How long a first verdict takes, beside an earlier commit of this project, in turns.

    git worktree add ../before 9c8486d && make -C ../before setup
    python -m bench.first_verdict ../before [--runs 5] [--cold-runs 5]

Each row is one command, run by both in turn, each with the Python of its own folder. Medians of
whole processes in seconds. What both found must agree, or it fails. An empty cache is one without
machine code; what Numba kept beside the store's loops of the earlier commit stays. Then how much
faster two threads are than one, and two processes side by side, which is what the machine can do.
"""

from __future__ import annotations

import argparse
import json
import os
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

START = "from checker.cli.cli import check_main; check_main()"
HERE = Path(__file__).parent.parent
CLAIMS = ("no_committed_loss", "acknowledged_durable", "no_divergence_below_hw", "sane")
"""Claims that both know, where the time of the search is compared."""


@dataclass(frozen=True, slots=True)
class Row:
    """A command; whether the cache is emptied before; what is taken of it: the whole, or a part."""

    name: str
    arguments: tuple[str, ...]
    empty: bool = False
    of: str = "whole"


def asked() -> tuple[str, ...]:
    """Options that ask for these claims alone."""
    return tuple(part for claim in CLAIMS for part in ("--invariant", claim))


ONE = ("--engine", "local", "--threads", "1")
TWO = ("--engine", "local", "--threads", "2")
EPOCH = ("--protocol", "epoch", "--replicas", "3", "--restarts", "0", "--moves", "2")
ATOMIC = ("--grain", "atomic", "--protocol", "hw", "--replicas", "3")
KIP320 = ("--protocol", "kip320", "--replicas", "3", "--max-depth", "3")
ELR = ("--protocol", "elr", "--replicas", "3", "--max-depth", "3")
ROWS = (
    Row("hw, all claims and traces, empty cache", ("--protocol", "hw", "--engine", "local"), True),
    Row("the same, warm", ("--protocol", "hw", "--engine", "local")),
    Row(
        "machine code of hw, 2 replicas, from nothing", ("--protocol", "hw", *ONE), True, "prepare"
    ),
    Row("machine code of kip320, 3 replicas", (*KIP320, *ONE), True, "prepare"),
    Row("machine code of elr, 3 replicas", (*ELR, *ONE), True, "prepare"),
    Row("search of 5,323,516 states of epoch, 1 thread", (*EPOCH, *ONE, *asked()), of="search"),
    Row("search of 1,988,158 atomic states, 1 thread", (*ATOMIC, *ONE), of="search"),
    Row("the same, whole process, warm", (*ATOMIC, *ONE)),
    Row("the same, search, 2 threads", (*ATOMIC, *TWO), of="search"),
)
SIDE_BY_SIDE = {
    "1,988,158 states": ATOMIC,
    "5,323,516 states of epoch": EPOCH,
    "39,919,804 states": (*ATOMIC, "--epochs", "3"),
}


def begun(root: Path, arguments: Sequence[str], cache: Path) -> subprocess.Popen[str]:
    """A process that checks, of this project or of an earlier commit."""
    return subprocess.Popen(
        [root / ".venv" / "bin" / "python", "-c", START, *arguments, "--format", "json"],
        cwd=root,
        env={**os.environ, "WATERLINE_CACHE": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def report_of(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it found."""
    out, err = process.communicate()
    if process.returncode not in (0, 12, 20):
        raise SystemExit(f"{process.args}: {err}")
    report: dict[str, Any] = json.loads(out)
    return report


def measured(root: Path, row: Row, cache: Path) -> tuple[float, dict[str, Any]]:
    """Seconds, and what was found."""
    started = time.monotonic()
    report = report_of(begun(root, row.arguments, cache))
    whole = time.monotonic() - started
    seconds = {"whole": whole, "prepare": report["prepare_seconds"], "search": report["seconds"]}
    return seconds[row.of], report


def side_by_side(arguments: tuple[str, ...], runs: int, cache: Path) -> tuple[float, float, float]:
    """Medians of the search: of one thread, of two, and of two processes of one thread at once."""
    taken: list[tuple[float, float, float]] = []
    for _ in range(runs + 1):
        one, two = (report_of(begun(HERE, (*arguments, *each), cache)) for each in (ONE, TWO))
        if (one["levels"], one["generated"]) != (two["levels"], two["generated"]):
            raise SystemExit(f"{arguments}: one thread and two found different things")
        both = [begun(HERE, (*arguments, *ONE), cache) for _ in range(2)]
        slower = max(report_of(process)["seconds"] for process in both)
        taken.append((one["seconds"], two["seconds"], slower))
    one_, two_, both_ = (statistics.median(column) for column in zip(*taken[1:], strict=True))
    return one_, two_, both_


def compared(row: Row, before: Path, runs: int, caches: Path) -> tuple[float, float]:
    """Medians, before and now."""
    taken: dict[Path, list[float]] = {before: [], HERE: []}
    for number in range(runs + (not row.empty)):
        found = {}
        for place, root in enumerate((before, HERE)):
            kept = caches / str(place)
            cache = Path(tempfile.mkdtemp(dir=caches)) if row.empty else kept
            seconds, report = measured(root, row, cache)
            if row.empty or number > 0:  # the first fills the cache
                taken[root].append(seconds)
            found[root] = {name: report[name] for name in ("levels", "generated", "actions")}
        if found[before] != found[HERE]:
            raise SystemExit(f"{row.name}: the two found different things")
    return statistics.median(taken[before]), statistics.median(taken[HERE])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cold-runs", type=int, default=5, help="Of rows with an empty cache.")
    chosen = parser.parse_args()
    table = Table("figure", "before", "now", "now / before")
    with tempfile.TemporaryDirectory() as caches:
        for row in ROWS:
            runs = chosen.cold_runs if row.empty else chosen.runs
            before, now = compared(row, chosen.before.resolve(), runs, Path(caches))
            table.add_row(row.name, f"{before:.2f} s", f"{now:.2f} s", f"{now / before:.3f}")
            print(f"{row.name}: {before:.2f} {now:.2f} {now / before:.3f}", file=sys.stderr)
        Console(width=120).print(table)
        table = Table("search", "1 thread", "2 threads", "faster by", "2 processes at once, by")
        for name, arguments in SIDE_BY_SIDE.items():
            one, two, both = side_by_side(arguments, chosen.runs, Path(caches) / "kept")
            table.add_row(
                name, f"{one:.2f} s", f"{two:.2f} s", f"{one / two:.2f}", f"{2 * one / both:.2f}"
            )
            print(f"{name}: {one:.2f} {two:.2f} {both:.2f}", file=sys.stderr)
        Console(width=120).print(table)


if __name__ == "__main__":
    main()
