"""Recovery and liveness of Kafka on Spark, beside the local engine: the same in every cell.

    python -m bench.recovery_on_spark [--in-parts] [CIRCUMSTANCE ...]

goes through the cells of docs/recovery.md, of the circumstances named or of all. In each the first
levels are explored in the driver and all others by Spark's tasks; verdicts, depths, states left
open and traces must be those of the local engine. Some seconds a cell; with `--in-parts`, where
Spark's tasks judge what would fit the driver, too, several times as many.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from docs.make.recovery import CIRCUMSTANCES, NAMES
from waterline.checker.checking.run import run
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.choice import EngineChoice
from waterline.checker.search.engines.spark_session import start_context
from waterline.counterexamples import to_json
from waterline.model.message.environment import DOCUMENTED
from waterline.model.message.versions import VERSIONS

DRIVER_LEVELS = 12
Told = tuple[tuple[object, ...], ...]


def describe(problem: Problem, choice: EngineChoice) -> tuple[Told, bool]:
    """What came out, as plain values, and whether Spark had a part in it."""
    found = run(problem, choice)
    verdicts = tuple((r.name, r.verdict, r.depth, r.unjudged) for r in found.result.invariants)
    traces = tuple((f.invariant, to_json(f.replayed.trace)) for f in found.findings)
    return (*verdicts, *traces), any(level.on == "spark" for level in found.result.levels)


def main() -> None:
    """Compare, circumstance by circumstance; exit code 1 where anything differs."""
    asked = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    asked.add_argument("--in-parts", action="store_true", help="tasks judge, and not the driver")
    asked.add_argument("circumstances", nargs="*", metavar="CIRCUMSTANCE", help="all, if none")
    given = asked.parse_args()
    if unknown := {*given.circumstances} - {*CIRCUMSTANCES}:
        asked.error(f"{min(unknown)!r} is none of: {', '.join(CIRCUMSTANCES)}")
    wanted = given.circumstances or list(CIRCUMSTANCES)
    differ = 0
    with tempfile.TemporaryDirectory() as folder:
        context = start_context("local[2]", log=Path(folder) / "spark.log")
        on_spark = EngineChoice(
            session=context,
            partitions=2,
            driver_levels=DRIVER_LEVELS,
            in_parts=given.in_parts,
        )
        for name in wanted:
            judged = violated = 0
            for version in VERSIONS:
                environment = {**DOCUMENTED.options(), **CIRCUMSTANCES[name]}
                problem = MESSAGE.problem_of(version, environment, list(NAMES))
                here, _ = describe(problem, EngineChoice(name="local"))
                there, has_spark = describe(problem, on_spark)
                assert has_spark, f"{version}, {name}: Spark had no level"
                judged += len(NAMES)
                violated += len(here) - len(NAMES)
                if here != there:
                    differ += 1
                    print(f"{version}, {name}: differs\n  {here}\n  {there}")
            print(
                f"{name}: {judged} verdicts, {violated} traces, {differ} cells differ", flush=True
            )
        context.stop()
    raise SystemExit(1 if differ else 0)


if __name__ == "__main__":
    main()
