"""Profile of a search on Spark: processor seconds by part, beside the local engine.

    python -m lab.bench.spark_profile [--records 2] [--epochs 3] [--driver-levels 15] [--owners N]
                                  [--cluster] [--set spark.NAME=VALUE]...

The atomic grain with truncation to the high watermark, 3 replicas, on `local[2]`, or on a
standalone cluster of two workers with a core each, all on this machine. Spark's own profiler
measures the Python workers by functions; JVMs are measured from the first level on the workers to
the last. Wall time means little on a machine that does something else as well, and
processor seconds somewhat more, so both engines take turns.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import Any

import psutil
from pyspark.profiler import BasicProfiler
from rich.console import Console
from rich.table import Table

from tests.support.standalone import standalone
from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.engines.spark_session import start_context
from waterline.checker.search.result import Result
from waterline.checker.search.search import search
from waterline.model.atomic import AtomicEnvironment

PARTS = {
    "rules and the table of what was sent": ("expander.py", "explore"),
    "invariants": ("expander.py", "inspect"),
    "sorting, doubles dropped": ("runs.py", "sort_unique"),
    "looking up in runs": ("runs.py", "unseen"),
    "looking up in tables": ("owner_table.py", "_add"),
    "growing tables": ("compact_tables.py", "_move"),
    "merging and writing runs and levels": ("storage.py", "write"),
    "writing exchange files": ("shipping.py", "write"),
    "reading exchange files": ("shipping.py", "read_segments"),
    "blocks of bytes to and from the JVM": ("serializers.py", "dump_stream"),
    "blocks of bytes from the JVM": ("serializers.py", "load_stream"),
}
"""What a worker does, by the function in which it does it and nothing else."""
_OWN_TIME = {"blocks of bytes to and from the JVM", "blocks of bytes from the JVM"}


class ProcessorProfiler(BasicProfiler):
    """Spark's profiler of workers with processor seconds, not wall time."""

    def profile(self, func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Run a task and add what it took."""
        profiler = cProfile.Profile(time.process_time)
        result = profiler.runcall(func, *args, **kwargs)
        stats: Any = pstats.Stats(profiler)
        stats.stream = None  # A stream cannot be sent to the driver.
        stats.strip_dirs()
        self._accumulator.add(stats)
        return result


def processor_seconds(process: psutil.Process) -> float:
    """User and system time of a process that runs."""
    times = process.cpu_times()
    return float(times.user + times.system)


def java_seconds() -> float:
    """Processor seconds of all JVMs that this process has started, and that these have."""
    found = 0.0
    for child in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if child.name() == "java":
                found += processor_seconds(child)
    return found


def on_spark(
    console: Console, problem: Problem, options: argparse.Namespace, master: str
) -> tuple[Result, dict[str, float], float]:
    """What the search found, processor seconds by part, and those of the levels on Spark alone."""
    settings = [("spark.python.profile", "true"), *(each.split("=", 1) for each in options.set)]
    log = Path(tempfile.gettempdir()) / "spark-profile.log"
    context = start_context(master, settings=[(k, v) for k, v in settings], log=log)
    context.profiler_collector.profiler_cls = ProcessorProfiler
    choice = EngineChoice(
        session=context, driver_levels=options.driver_levels, partitions=options.owners
    )
    begun: list[float] = []

    def watch(snapshot: Any) -> None:
        if not begun and snapshot.depth + 1 >= options.driver_levels:
            begun.extend((java_seconds(), time.process_time(), time.monotonic()))

    with closing(engine_for(problem, choice)) as engine:
        result = search(problem, engine, watch=watch)
        wall = time.monotonic() - begun[2]
        seconds = {
            "JVM": java_seconds() - begun[0],
            "driver": time.process_time() - begun[1],
        }
    workers = 0.0
    for _, profiler, _ in context.profiler_collector.profilers:
        stats = profiler.stats()
        if not stats:
            continue
        workers += stats.total_tt
        for part, (file, name) in PARTS.items():
            for (in_file, _, function), (_, _, own, cumulated, _) in stats.stats.items():
                if (in_file, function) == (file, name):
                    took = own if part in _OWN_TIME else cumulated
                    seconds[part] = seconds.get(part, 0.0) + took
    # A level's file is written as its states are found.
    within = (
        "sorting, doubles dropped",
        "looking up in runs",
        "looking up in tables",
        "reading exchange files",
    )
    seconds["merging and writing runs and levels"] -= sum(seconds.get(part, 0) for part in within)
    named = sum(took for part, took in seconds.items() if part in PARTS)
    seconds["workers, the rest"] = workers - named
    if options.rest:
        _print_rest(console, context.profiler_collector.profilers)
    context.profiler_collector.profilers = []  # Spark would print them all.
    context.stop()
    log.unlink(missing_ok=True)
    return result, seconds, wall


def _print_rest(console: Console, profilers: list[Any]) -> None:
    """Functions that are in no part, by their own time."""
    own: Counter[str] = Counter()
    for _, profiler, _ in profilers:
        found: Any = profiler.stats()
        for (file, line, name), (_, _, took, _, _) in found.stats.items() if found else ():
            own[f"{file}:{line}({name})"] += took
    for function, took in own.most_common(40):
        console.print(f"{took:6.2f} s  {function}", highlight=False)


def on_threads(problem: Problem, depth: int) -> tuple[Result, float, float]:
    """The same in memory: processor and wall seconds of the levels that Spark had."""
    begun: list[tuple[float, float]] = []

    def watch(snapshot: Any) -> None:
        if not begun and snapshot.depth + 1 >= depth:
            begun.append((time.process_time(), time.monotonic()))

    with closing(engine_for(problem, EngineChoice(name="local", threads=2))) as engine:
        result = search(problem, engine, watch=watch)
        processor, started = begun[0]
        return result, time.process_time() - processor, time.monotonic() - started


def main() -> None:
    """Measure both and print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--records", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--driver-levels", type=int, default=15)
    parser.add_argument("--owners", type=int, default=None)
    parser.add_argument("--set", action="append", default=[], help="a setting of Spark's")
    parser.add_argument("--cluster", action="store_true", help="a standalone cluster")
    parser.add_argument("--rest", action="store_true", help="functions by their own time")
    options = parser.parse_args()
    console = Console(width=100)
    bounds = {"records": options.records, "epochs": options.epochs}
    problem = problem_for("hw", AtomicEnvironment(replicas=3, **bounds), ["type_ok"])
    prepare(problem)
    local, processor, wall = on_threads(problem, options.driver_levels)
    with ExitStack() as stack:
        master = "local[2]"
        if options.cluster:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            master = stack.enter_context(standalone(folder)).url
        result, seconds, spark_wall = on_spark(console, problem, options, master)
    if (result.distinct, result.generated) != (local.distinct, local.generated):
        raise SystemExit("the engines disagree")
    whole = sum(seconds.values())
    table = Table(
        title=f"{result.distinct:,} states, from level {options.driver_levels} on",
        title_justify="left",
    )
    for title in ("Part", "Processor s", "Share", "us a state"):
        table.add_column(title, justify="left" if title == "Part" else "right")
    for part, took in sorted(seconds.items(), key=lambda item: -item[1]):
        each = f"{took / result.distinct * 1e6:.2f}"
        table.add_row(part, f"{took:.1f}", f"{took / whole:.0%}", each)
    table.add_row("Spark in all", f"{whole:.1f}", "100%", f"{whole / result.distinct * 1e6:.2f}")
    table.add_row("local, two threads", f"{processor:.1f}", f"{processor / whole:.0%}", "")
    console.print(table)
    print(f"wall: Spark {spark_wall:.1f} s, local {wall:.1f} s: {wall / spark_wall:.2f}")


if __name__ == "__main__":
    main()
