"""How much faster two threads are than one, by processor time: others may use the machine too.

    python -m lab.bench.two_threads [--runs 9] [--large]

1,988,158 atomic states, or 39,919,804. The time of two threads is the processor time of the main
thread, and whatever the other one uses while the main one waits for it. What neither uses, as while
a thread is woken, is not in it.
"""

from __future__ import annotations

import argparse
import statistics
import threading
import time
from contextlib import closing

from waterline.checker.kafka.families import problem_for
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.search.search import search
from waterline.model.atomic import AtomicEnvironment

_wait = threading.Condition.wait
_waited = 0.0


def _of_others() -> float:
    return time.process_time() - time.thread_time()


def _counted_wait(condition: threading.Condition, timeout: float | None = None) -> bool:
    """Wait; count what others do meanwhile, if this is the main thread."""
    global _waited  # noqa: PLW0603 - one search at a time
    before = _of_others()
    ended = _wait(condition, timeout)
    if threading.current_thread() is threading.main_thread():
        _waited += _of_others() - before
    return ended


def seconds(problem: Problem, threads: int) -> tuple[float, float]:
    """One search: the time of its threads together, and what they use."""
    global _waited  # noqa: PLW0603
    _waited = 0.0
    used, own = time.process_time(), time.thread_time()
    with closing(engine_for(problem, EngineChoice(name="local", threads=threads))) as engine:
        search(problem, engine)
        return time.thread_time() - own + _waited, time.process_time() - used


def main() -> None:
    """Alternate, and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--large", action="store_true", help="39,919,804 states")
    chosen = parser.parse_args()
    problem = problem_for("hw", AtomicEnvironment(replicas=3, epochs=2 + chosen.large), ["type_ok"])
    prepare(problem)
    threading.Condition.wait = _counted_wait  # type: ignore[method-assign]
    measured: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    for _ in range(chosen.runs):
        for threads, runs in measured.items():
            runs.append(seconds(problem, threads))
    took = {}
    for threads, runs in measured.items():
        took[threads], used = map(statistics.median, zip(*runs, strict=True))
        print(f"threads {threads}: {took[threads]:.3f} s, {used:.3f} s of processor time")
    print(f"faster by {took[1] / took[2]:.2f}, medians of {chosen.runs}")


if __name__ == "__main__":
    main()
