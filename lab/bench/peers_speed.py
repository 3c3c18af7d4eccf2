"""How fast Waterline is beside other model checkers, on the same model at the same bounds.

    python -m lab.bench.peers_speed [--runs 5] [--large] [--spark]

The model is the atomic grain with truncation to the high watermark, 3 replicas. Whole processes,
alternating, medians, ratios within one run; it fails unless all find the same numbers of states and
transitions. --large adds a space twenty times larger, where each runs --large-runs times and a
checker that would need more than --patience seconds for it is left out. What is left out, or cannot
be had, is named.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from lab.bench.peers.atomic_peers import PEERS, Bounds, PeerFailed, PeerMissing, build, run
from lab.bench.speed import BASE, ENGINES, machine, measure

SPACES = {
    "3 replicas, log size 2, 2 records, epochs 0 to 2": Bounds(states=2_000_000),
    "3 replicas, log size 2, 2 records, epochs 0 to 3": Bounds(epochs=3, states=40_000_000),
}
WATERLINE = ["--grain", "atomic", "--protocol", "hw", "--invariant", "type_ok"]
SPARK = "spark, local[2]"
TITLES = {"spin": "Spin", "rumur": "Rumur", "tlc": "TLC", "stateright": "Stateright"}
FIGURES = (
    ("local, 1 thread", "Spin, 1 thread", 2.0),
    ("local, 2 threads", "local, 1 thread", 1.8),
    ("local, 1 thread", "Rumur, 1 thread", 25.0),
    ("local, 2 threads", "TLC, 2 threads", 150.0),
    ("local, 2 threads", "Stateright, 2 threads", 2.0),
)


@dataclass(frozen=True, slots=True)
class Run:
    """One run of one checker."""

    distinct: int
    generated: int | None
    seconds: float
    wall_seconds: float
    peak_bytes: int


@dataclass(slots=True)
class Contestant:
    """A checker that takes part, and its runs so far."""

    name: str
    start: Callable[[], Run]
    runs: list[Run]

    @property
    def seconds(self) -> float:
        """The median of its search."""
        return statistics.median(r.seconds for r in self.runs)


def waterline(bounds: Bounds, engine: str) -> Contestant:
    """One of this project's engines, its kernels compiled beforehand."""
    arguments = [*WATERLINE, *_options(bounds), *ENGINES[engine]]
    if "--driver-levels" in arguments:  # as it comes: small levels in the driver
        at = arguments.index("--driver-levels")
        del arguments[at : at + 2]
    measure([*arguments, "--max-depth", "3"])

    def start() -> Run:
        found = measure(arguments)
        report = found.report
        if not report["complete"]:
            raise PeerFailed(f"stopped by {report['stopped_by']}")
        return Run(
            report["distinct"],
            report["generated"],
            report["seconds"],
            found.seconds,
            found.peak_bytes,
        )

    return Contestant(engine, start, [])


def _options(bounds: Bounds) -> list[str]:
    named = bounds.numbers().items()
    return [part for name, n in named for part in (f"--{name.replace('_', '-')}", str(n))]


def contestant(peer: str, workdir: Path, threads: int, timeout: float) -> Contestant:
    """Another checker, built already."""

    def start() -> Run:
        return Run(**run(peer, workdir, threads, timeout))

    return Contestant(_title(peer, threads), start, [])


def _title(peer: str, threads: int) -> str:
    return f"{TITLES[peer]}, {threads} thread{'s' if threads > 1 else ''}"


def built(
    bounds: Bounds, peers: Sequence[str], workdir: Path, timeout: float, absent: dict[str, str]
) -> list[Contestant]:
    """Every peer that can be had; `absent` takes the reason for each that cannot."""
    found = []
    for peer in peers:
        where = workdir / f"{peer}-{bounds.epochs}"
        try:
            build(peer, where, bounds, cache=workdir)
        except PeerMissing as problem:
            absent[TITLES[peer]] = str(problem)
            continue
        found += [contestant(peer, where, threads, timeout) for threads in PEERS[peer].threads]
    return found


def alternate(contestants: Sequence[Contestant], runs: int, absent: dict[str, str]) -> None:
    """Run all in turn, `runs` times; whoever fails or is too slow goes on the list of absent."""
    for _ in range(runs):
        for one in contestants:
            if one.name not in absent:
                try:
                    one.runs.append(one.start())
                except PeerFailed as problem:
                    absent[one.name] = str(problem)


def agreed(space: str, contestants: Sequence[Contestant]) -> tuple[int, int]:
    """The numbers of states and transitions that all found. Exits if they differ."""
    every = [(one.name, r) for one in contestants for r in one.runs]
    distinct = {r.distinct for _, r in every}
    generated = {r.generated for _, r in every if r.generated is not None}
    if len(distinct) != 1 or len(generated) != 1:
        found = {(name, r.distinct, r.generated) for name, r in every}
        raise SystemExit(f"{space}: the checkers disagree: {sorted(found, key=str)}")
    return distinct.pop(), generated.pop()


def show(console: Console, space: str, contestants: Sequence[Contestant]) -> None:
    """The table of one space, and its figures."""
    distinct, generated = agreed(space, contestants)
    runs = max(len(one.runs) for one in contestants)
    console.print(
        f"{space}: {distinct:,} states, {generated:,} transitions, medians of {runs}, "
        f"load {os.getloadavg()[0]:.1f}"
    )
    table = Table()
    for title in ("Checker", "Search s", "M distinct/s", "Ratio", "Process s", "MB", "B/state"):
        table.add_column(title, justify="left" if title == "Checker" else "right")
    by_name = {one.name: one for one in contestants}
    base = by_name[BASE].seconds
    for one in contestants:
        peak = statistics.median(r.peak_bytes for r in one.runs)
        table.add_row(
            one.name,
            f"{one.seconds:.2f}",
            f"{distinct / one.seconds / 1e6:.3f}",
            f"{base / one.seconds:.3f}",
            f"{statistics.median(r.wall_seconds for r in one.runs):.2f}",
            f"{peak / 1e6:.0f}",
            f"{peak / distinct:.0f}",
        )
    console.print(table)
    for name, other, wanted in FIGURES:
        if name in by_name and other in by_name:
            ratio = by_name[other].seconds / by_name[name].seconds
            console.print(f"{name} against {other}: {ratio:.2f} (to reach: {wanted:g})")


def compare(
    console: Console,
    space: str,
    runs: int,
    options: argparse.Namespace,
    workdir: Path,
    speeds: dict[str, float],
) -> dict[str, Any]:
    """Measure and print one space.

    `speeds`, states a second of each checker in an earlier space, says who would take too long;
    it takes those of this space.
    """
    bounds = SPACES[space]
    absent: dict[str, str] = {}
    for name, speed in speeds.items():
        expected = bounds.states / speed
        if expected > options.patience:
            absent[name] = f"would take {expected:.0f} s or more"
    engines = [name for name in ENGINES if name != SPARK or options.spark]
    contestants = [waterline(bounds, name) for name in engines]
    contestants += built(bounds, options.peers, workdir, options.patience, absent)
    alternate(contestants, runs, absent)
    finished = [one for one in contestants if len(one.runs) == runs]
    show(console, space, finished)
    for name, reason in absent.items():
        console.print(f"left out: {name}: {reason}")
    for one in finished:
        speeds[one.name] = one.runs[0].distinct / one.seconds
    return {
        "bounds": bounds.numbers(),
        "distinct": finished[0].runs[0].distinct,
        "generated": finished[0].runs[0].generated,
        "left_out": absent,
        "runs": {
            one.name: [
                {"seconds": r.seconds, "wall_seconds": r.wall_seconds, "peak_bytes": r.peak_bytes}
                for r in one.runs
            ]
            for one in finished
        },
    }


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=5, help="runs of each, default 5")
    parser.add_argument("--large", action="store_true", help="also the larger space")
    parser.add_argument("--large-runs", type=int, default=1, help="runs of each there, default 1")
    parser.add_argument("--spark", action="store_true", help="also Waterline on Spark, local[2]")
    parser.add_argument("--patience", type=float, default=1800, help="most seconds for one run")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS))
    parser.add_argument("--workdir", type=Path, help="keeps what was built and downloaded")
    parser.add_argument("--json", type=Path, help="write every run there")
    options = parser.parse_args()
    console = Console(width=100)
    console.print(machine())
    small, large = SPACES
    spaces = {small: options.runs} | ({large: options.large_runs} if options.large else {})
    speeds: dict[str, float] = {}
    results = []
    with tempfile.TemporaryDirectory(prefix="peers-speed-") as name:
        workdir = (options.workdir or Path(name)).resolve()
        workdir.mkdir(parents=True, exist_ok=True)
        for space, runs in spaces.items():
            results.append(compare(console, space, runs, options, workdir, speeds))
            if options.json:
                options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
