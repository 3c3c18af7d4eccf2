"""What large spaces cost: memory for each state, and Spark beside the local engine.

    python -m lab.bench.scale [--runs 1] [--small | --large] [--cluster]
    python -m lab.bench.scale --held
    python -m lab.bench.scale --billion [--run-dir DIR --memory 4G]

The atomic grain with truncation to the high watermark, 3 replicas: 109,555,576 states (--small:
39,919,804). All engines must find the same numbers of states and transitions. `--cluster` adds a
standalone cluster of two workers with a core each. Then what Spark costs beyond its work: a level
of almost no states, and the way from the command to the first level on its workers.

`--held` explores them within a `--memory` that they outgrow, and fails if more than that is held.

`--billion` searches log size 3, 4 records and epochs 0 to 3 once, with two threads: in memory, or
over files.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.bench.speed import Measured, machine, measure
from tests.support.standalone import standalone

SPACES = {
    "109.6 M": ["--records", "3", "--epochs", "3"],
    "39.9 M": ["--records", "2", "--epochs", "3"],
}
WITHIN = (
    ("39.9 M", "200M", []),
    ("39.9 M", "300M", []),
    ("39.9 M", "300M", ["--run-dir"]),
    ("39.9 M", "100M", ["--symmetry", "replicas"]),
    ("109.6 M", "600M", []),
)
"""A space, the memory for it, and other options."""
BILLION = ["--log-size", "3", "--records", "4", "--epochs", "3"]
WATERLINE = ["--grain", "atomic", "--protocol", "hw", "--replicas", "3", "--invariant", "type_ok"]
CLUSTER = "spark, a cluster of 2 workers"
ENGINES = {
    "local, 2 threads": ["--engine", "local", "--threads", "2"],
    "local, 1 thread": ["--engine", "local", "--threads", "1"],
    "spark, local[2]": ["--engine", "spark", "--master", "local[2]"],
}
_MEMORY = """
import json, sys
from contextlib import closing
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.processes import anonymous_bytes, peak_resident_bytes
from waterline.checker.search.search import search
from waterline.model.atomic import AtomicEnvironment
bounds = json.loads(sys.argv[1])
problem = problem_for("hw", AtomicEnvironment(replicas=3, **bounds), ["type_ok"])
prepare(problem)
first = []
watch = lambda snapshot: first or first.append(peak_resident_bytes())
with closing(engine_for(problem, EngineChoice(name="local", threads=2))) as engine:
    result = search(problem, engine, watch=watch)
words = problem.model.layout.words
print(json.dumps([result.distinct, words, (peak_resident_bytes() - first[0]) / result.distinct]))
"""


def bytes_a_state(options: list[str]) -> tuple[int, int, float]:
    """Distinct states, words of one, and peak memory less that at level 0 for each state."""
    bounds = {options[i].lstrip("-"): int(options[i + 1]) for i in range(0, len(options), 2)}
    done = subprocess.run(
        [sys.executable, "-c", _MEMORY, json.dumps(bounds)],
        capture_output=True,
        text=True,
        check=True,
    )
    distinct, words, each = json.loads(done.stdout)
    return distinct, words, each


def compare(
    console: Console, name: str, options: list[str], runs: int, *, has_cluster: bool = False
) -> None:
    """Alternating whole processes, medians."""
    engines = {**ENGINES, **({CLUSTER: ["--engine", "spark"]} if has_cluster else {})}
    measured: dict[str, list[Measured]] = {engine: [] for engine in engines}
    for _ in range(runs):
        for engine, choice in engines.items():
            with ExitStack() as stack:
                master = []
                if engine == CLUSTER:
                    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                    master = ["--master", stack.enter_context(standalone(folder)).url]
                measured[engine].append(measure([*WATERLINE, *options, *choice, *master]))
    counts = {(m.report["distinct"], m.report["generated"]) for ms in measured.values() for m in ms}
    if len(counts) != 1:
        raise SystemExit(f"{name}: the engines disagree: {counts}")
    distinct, generated = counts.pop()
    table = Table(
        title=f"{name}: {distinct:,} states, {generated:,} transitions, {runs} run(s)",
        title_justify="left",
    )
    for title in ("Engine", "Search s", "Processor s", "M distinct/s", "Against local, 2 threads"):
        table.add_column(title, justify="left" if title == "Engine" else "right")
    seconds = {
        engine: statistics.median(m.report["seconds"] for m in ms)
        for engine, ms in measured.items()
    }
    for engine, took in seconds.items():
        ratio = seconds["local, 2 threads"] / took
        # The workers of a cluster are no children of the process that is measured.
        processor = statistics.median(m.processor_seconds for m in measured[engine])
        shown = "" if engine == CLUSTER else f"{processor:.1f}"
        rate = f"{distinct / took / 1e6:.2f}"
        table.add_row(engine, f"{took:.1f}", shown, rate, f"{ratio:.2f}")
    console.print(table)


def billion(console: Console, run_dir: str | None, memory: str | None) -> None:
    """The largest space, once."""
    options = [*WATERLINE, *BILLION, "--engine", "local", "--threads", "2"]
    options += ["--run-dir", run_dir] if run_dir else []
    options += ["--memory", memory] if memory else []
    found = measure(options)
    report, distinct = found.report, found.report["distinct"]
    console.print(
        f"{distinct:,} states, {report['generated']:,} transitions, depth "
        f"{report['depth']}, complete: {report['complete']}; {report['seconds']:.0f} s, "
        f"{found.processor_seconds:.0f} s of processor time, "
        f"{distinct / report['seconds'] / 1e6:.2f} M states/s; at peak "
        f"{found.peak_bytes / 1e9:.2f} GB, {found.peak_bytes / distinct:.1f} bytes a state"
    )


def held(console: Console) -> None:
    """Memory asked for, held, and resident with pages of files, at peak."""
    table = Table(title="Two threads within --memory", title_justify="left")
    for title in ("Space", "Options", "Asked MB", "Held MB", "Resident MB", "Search s"):
        table.add_column(title, justify="left" if title in ("Space", "Options") else "right")
    beyond = []
    for name, memory, more in WITHIN:
        with tempfile.TemporaryDirectory() as folder:
            place = [f"{folder}/run"] if "--run-dir" in more else []
            options = [*SPACES[name], "--engine", "local", "--threads", "2", "--memory", memory]
            found = measure([*WATERLINE, *options, *more, *place])
        report = found.report
        if not report["complete"] or "disk" not in report["explored_on"]:
            raise SystemExit(f"{name}, {memory}: {report['stopped_by']}, {report['explored_on']}")
        if found.held_bytes > int(memory[:-1]) * 10**6:
            beyond.append(f"{name}, {memory}: {found.held_bytes:,} bytes were held")
        sizes = (found.held_bytes, found.peak_bytes)
        cells = [f"{size / 1e6:.0f}" for size in sizes]
        table.add_row(name, " ".join(more), memory[:-1], *cells, f"{report['seconds']:.1f}")
    console.print(table)
    if beyond:
        raise SystemExit("\n".join(beyond))


def spark_costs(console: Console, runs: int) -> None:
    """A level beyond its work, and the first level on the workers."""
    on_spark = ["--protocol", "hw", "--master", "local[2]", "--driver-levels"]
    levels, firsts = [], []
    for _ in range(max(1, runs)):
        report = measure([*on_spark, "1", "--partitions", "2"]).report
        levels += report["level_seconds"][3:]
        first = measure([*on_spark, "1", "--max-depth", "1"])
        firsts.append(first.seconds)
    console.print(
        f"a level of a thousand states on Spark: {statistics.median(levels):.2f} s "
        f"(median of {len(levels)}); from the command to the end of a run with one level on the "
        f"workers: {statistics.median(firsts):.1f} s"
    )


def main() -> None:
    """Measure everything and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=1, help="runs of each, default 1")
    parser.add_argument("--small", action="store_true", help="the smaller space only")
    parser.add_argument("--large", action="store_true", help="the larger space only")
    parser.add_argument("--cluster", action="store_true", help="a standalone cluster as well")
    parser.add_argument("--held", action="store_true", help="whether --memory is kept")
    parser.add_argument("--billion", action="store_true", help="the largest space alone, once")
    parser.add_argument("--run-dir", help="with --billion: keep levels there")
    parser.add_argument("--memory", help="with --billion: over files beyond so much memory")
    options = parser.parse_args()
    console = Console(width=100 if not sys.stdout.isatty() else None)
    console.print(machine())
    if options.held:
        held(console)
        return
    if options.billion:
        billion(console, options.run_dir, options.memory)
        return
    left_out = {"109.6 M"} if options.small else {"39.9 M"} if options.large else set()
    for name, bounds in SPACES.items():
        if name in left_out:
            continue
        distinct, words, each = bytes_a_state(bounds)
        console.print(f"{distinct:,} states of {words} words: {each:.1f} bytes a state at peak")
        compare(console, name, bounds, options.runs, has_cluster=options.cluster)
    spark_costs(console, options.runs)


if __name__ == "__main__":
    main()
