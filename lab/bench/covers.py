"""Paths that take every transition: the fewest steps, greedy ones, and their seconds.

    python -m lab.bench.covers [--large]

Of each graph: the optimum of a minimum-cost flow with its Euler walks, and greedy paths, both
without a longest path. Every set of paths is checked to cover. --large: also Raft's 321,063
transitions. Exits 1 where the walks are not as many, and as long, as the flow says, or cost more
than greedy paths.
"""

from __future__ import annotations

import argparse
import sys
import time

import numpy as np
from rich.console import Console
from rich.table import Table

from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.covering.covers import cover_graph
from waterline.checker.covering.fewest import euler_walks, least_flow
from waterline.checker.covering.paths import Path, require_cover
from waterline.checker.covering.state_graph import graph_of

LONGEST = 1 << 60
SMALL = {
    "fenced_lease": ProblemOptions(own_model="examples/fenced_lease.py"),
    "two_phase_commit 3": ProblemOptions(
        own_model="examples/two_phase_commit.py", bounds=(("rms", 3),)
    ),
    "two_phase_commit 5": ProblemOptions(
        own_model="examples/two_phase_commit.py", bounds=(("rms", 5),)
    ),
    "kip320 --unbounded --records 1": ProblemOptions(
        protocol="kip320", settings={"unbounded": True, "records": 1}
    ),
    "kip320 --records 1": ProblemOptions(protocol="kip320", settings={"records": 1}),
}
LARGE = {"raft": ProblemOptions(own_model="examples/raft.py")}
COLUMNS = ("model", "states", "transitions", "paths", "steps", "s", "greedy: paths", "steps", "s")


def add_row(name: str, options: ProblemOptions, table: Table) -> bool:
    """Add a row; True if the walks are those of the flow, and cost no more than greedy paths."""
    graph = graph_of(problem_from(options))
    begun = time.process_time()
    flow = least_flow(graph)
    walks = list(euler_walks(graph, flow))
    solved = time.process_time()
    greedy = cover_graph(graph, "transitions", longest=LONGEST)
    done = time.process_time()
    require_cover(graph, np.arange(graph.edges), walks)
    sizes = (len(graph), graph.edges, len(walks), _steps(walks))
    counts = [f"{number:,}" for number in (*sizes, len(greedy), _steps(greedy))]
    seconds = f"{solved - begun:.2f}", f"{done - solved:.2f}"
    table.add_row(name, *counts[:4], seconds[0], *counts[4:], seconds[1])
    agree = (flow.paths, flow.steps) == (len(walks), _steps(walks))
    return agree and _steps(walks) + len(walks) <= _steps(greedy) + len(greedy)


def _steps(paths: list[Path]) -> int:
    return sum(len(path.edges) for path in paths)


def main() -> int:
    """Return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--large", action="store_true")
    table = Table()
    for number, column in enumerate(COLUMNS):
        table.add_column(column, justify="right" if number else "left")
    wanted = SMALL | (LARGE if parser.parse_args().large else {})
    results = [add_row(name, options, table) for name, options in wanted.items()]
    Console().print(table)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
