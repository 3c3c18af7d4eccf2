"""How long a first verdict takes, beside an earlier commit of this project, in turns.

    git worktree add ../before 9c8486d
    python -m bench.first_verdict ../before [--runs 5]

Each row is one command, run by both in turn; this Python runs the earlier commit from its folder.
Medians of whole processes in seconds. What both found must agree, or it fails. "Empty" is an empty
cache of machine code; the cache of Numba beside the store's loops stays.
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
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

COMMAND = [sys.executable, "-c", "from checker.console.cli import check_main; check_main()"]
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


def measured(root: Path, row: Row, cache: Path) -> tuple[float, dict[str, Any]]:
    """Seconds, and what was found."""
    environment = {**os.environ, "PYTHONPATH": str(root), "WATERLINE_CACHE": str(cache)}
    started = time.monotonic()
    done = subprocess.run(
        [*COMMAND, *row.arguments, "--format", "json"],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    whole = time.monotonic() - started
    if done.returncode not in (0, 12, 20):
        raise SystemExit(f"{root}: {row.name}: {done.stderr}")
    report = json.loads(done.stdout)
    seconds = {"whole": whole, "prepare": report["prepare_seconds"], "search": report["seconds"]}
    return seconds[row.of], report


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
    chosen = parser.parse_args()
    table = Table("figure", "before", "now", "now / before")
    with tempfile.TemporaryDirectory() as caches:
        for row in ROWS:
            before, now = compared(row, chosen.before.resolve(), chosen.runs, Path(caches))
            table.add_row(row.name, f"{before:.2f} s", f"{now:.2f} s", f"{now / before:.3f}")
            print(f"{row.name}: {before:.2f} {now:.2f} {now / before:.3f}", file=sys.stderr)
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
