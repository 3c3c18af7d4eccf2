"""Recovery and liveness of Kafka on Spark, beside the local engine: the same in every cell.

    python -m lab.fuzz.recovery_on_spark [--seed N] [--minutes M]

A round is a cell of docs/results/recovery.md that is drawn. The first levels are explored in the
driver and all others by Spark's tasks; verdicts, depths, states left open and traces must be those
of the local engine.
"""

from __future__ import annotations

import random
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.documents.recovery import CIRCUMSTANCES, NAMES
from lab.fuzz.rounds import Round, Wrong, attack
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.spark_session import start_context
from waterline.counterexamples import to_json
from waterline.model.message.environment import DOCUMENTED
from waterline.model.message.versions import VERSIONS

DRIVER_LEVELS = 12
Described = tuple[tuple[object, ...], ...]


def describe(problem: Problem, choice: EngineChoice) -> tuple[Described, bool]:
    """What came out, as plain values, and whether Spark had a part in it."""
    found = run(problem, choice)
    verdicts = tuple((r.name, r.verdict, r.depth, r.unjudged) for r in found.result.invariants)
    traces = tuple((f.invariant, to_json(f.replayed.trace)) for f in found.findings)
    return (*verdicts, *traces), any(level.on == "spark" for level in found.result.levels)


@contextmanager
def rounds() -> Iterator[Round]:
    """A cell a round."""
    with tempfile.TemporaryDirectory() as folder:
        context = start_context("local[2]", log=Path(folder) / "spark.log")

        def make_round(seed: int, seen: Counter[str]) -> None:
            draw = random.Random(seed)
            version, name = draw.choice([*VERSIONS]), draw.choice([*CIRCUMSTANCES])
            on_spark = EngineChoice(session=context, partitions=2, driver_levels=DRIVER_LEVELS)
            environment = {**DOCUMENTED.options(), **CIRCUMSTANCES[name]}
            problem = MESSAGE.problem(version, environment, list(NAMES))
            here, _ = describe(problem, EngineChoice(name="local"))
            there, has_spark = describe(problem, on_spark)
            seen["cells"] += 1
            seen["verdicts"] += len(NAMES)
            seen["traces"] += len(here) - len(NAMES)
            if not has_spark:
                raise Wrong(f"{version}, {name}: Spark had no level")
            if here != there:
                raise Wrong(f"{version}, {name}\n  {here}\n  {there}")

        try:
            yield make_round
        finally:
            context.stop()


if __name__ == "__main__":
    sys.exit(attack("lab.fuzz.recovery_on_spark", rounds))
