"""Mutation of the compiler: alter `checker/compiled/` in each place in turn; see if it shows.

A mutant is searched for with functions whose meaning Python says, and with searches whose counts
are known:

* random functions, the same for every mutant, interpreted and compiled over many states;
* small spaces of several versions, whose counts are compared with those of the unaltered compiler.

    python -m bench.compiler_mutation [--module NAME] [--every N] [--seconds S] [--json FILE]

Every N-th mutant is tried, until the time is over. What is left is printed as survivors.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.mutation import INVALID, KILLED, ROOT, SURVIVED, Mutant, alterations, places

MODULES = (
    "arithmetic",
    "fields",
    "writer",
    "conditions",
    "flat",
    "scope",
    "function",
    "written",
    "expressions",
    "loops",
    "states",
    "values",
)
PROGRAMS = 120
SECONDS_MAX = 90
_IGNORED = shutil.ignore_patterns("__pycache__", ".venv", ".git")


def mutants_of(module: str) -> Iterator[Mutant]:
    """Every mutant of a module of the compiler."""
    tree = ast.parse((ROOT / "checker" / "compiled" / f"{module}.py").read_text())
    seen = {ast.unparse(tree)}
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    for rule in functions:
        for node, parent, put in places(rule):
            for change, other in alterations(node, parent, rule):
                put(other)
                text = ast.unparse(ast.fix_missing_locations(tree))
                put(node)
                if text not in seen:
                    seen.add(text)
                    line, column = node.lineno, node.col_offset + 1  # type: ignore[attr-defined]
                    yield Mutant(0, module, line, column, rule.name, change, text)


def write_programs(target: Path) -> None:
    """Random functions, drawn by Hypothesis once."""
    from hypothesis import HealthCheck, given, seed, settings
    from programs import expressions, function_of, statements

    texts: list[str] = []
    drawn = settings(
        max_examples=PROGRAMS // 3, database=None, suppress_health_check=list(HealthCheck)
    )

    @seed(11)
    @drawn
    @given(expression=expressions(), body=statements(), looks=statements(writes=False))
    def draw(expression: str, body: list[str], looks: list[str]) -> None:
        texts.extend(map(function_of, ([f"return {expression}"], body, looks)))

    draw()
    target.write_text(json.dumps(texts[:PROGRAMS]))


def observe() -> dict[str, Any]:
    """The counts of a few spaces."""
    from checker.engines.memory import MemoryEngine
    from checker.grains import ATOMIC, problem_for
    from checker.search import search
    from model.atomic import AtomicEnvironment
    from model.message.environment import Environment

    few = {"records": 1, "epochs": 1}
    problems = [
        problem_for("hw", Environment(**few)),
        problem_for("elr", Environment(**few, power_losses=1)),
        problem_for("epoch", Environment(**few, replicas=3, restarts=0, moves=1)),
        ATOMIC.problem("kip320", AtomicEnvironment(records=1, epochs=1)),
    ]
    found: dict[str, Any] = {}
    for number, problem in enumerate(problems):
        engine = MemoryEngine(problem, threads=1)
        result = search(problem, engine)
        engine.close()
        found[str(number)] = [
            result.distinct,
            result.generated,
            sorted(result.fired.items()),
            sorted(result.cut.items()),
            [[i.name, i.verdict.value, i.depth] for i in result.invariants],
            [[r.name, r.depth] for r in result.reachable],
        ]
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]


def judge(programs: str, expected: str) -> None:
    """Compare this process's compiler with Python, and with what was counted; say what differs."""
    from test_random_programs import assert_same

    for number, text in enumerate(json.loads(Path(programs).read_text())):
        try:
            assert_same(text, (("low", "none", "high"), ())[number % 2])
        except AssertionError:
            _say(KILLED, f"program {number}")
            return
    if observe() != json.loads(Path(expected).read_text()):
        _say(KILLED, "counts")
        return
    _say(SURVIVED, "")


def _say(outcome: str, how: str) -> None:
    print(json.dumps({"outcome": outcome, "how": how}), flush=True)


class Laboratory:
    """A frozen copy of the project, and for each mutant a copy of the checker before it."""

    def __init__(self, directory: Path) -> None:
        self.directory, self.project = directory, directory / "project"
        for folder in ("model", "invariants", "checker", "counterexamples", "bench", "tests"):
            shutil.copytree(ROOT / folder, self.project / folder, ignore=_IGNORED)
        self.programs, self.expected = directory / "programs.json", directory / "expected.json"
        where = f"from pathlib import Path; write_programs(Path({str(self.programs)!r}))"
        self._run(f"from bench.compiler_mutation import *; {where}", self.project)
        wrote = f"Path({str(self.expected)!r}).write_text(json.dumps(observe()))"
        self._run(f"from bench.compiler_mutation import *; {wrote}", self.project)

    def judge(self, mutant: Mutant) -> None:
        """Try one mutant in a process of its own."""
        started = time.monotonic()
        with tempfile.TemporaryDirectory(dir=self.directory) as place:
            shutil.copytree(self.project / "checker", Path(place, "checker"), ignore=_IGNORED)
            altered = Path(place, "checker", "compiled", f"{mutant.module}.py")
            altered.write_text(mutant.text)
            asked = f"judge({str(self.programs)!r}, {str(self.expected)!r})"
            try:
                done = self._run(f"from bench.compiler_mutation import *; {asked}", Path(place))
                said = [line for line in done.stdout.splitlines() if line.startswith("{")]
                # One that is refused, or breaks the process, shows.
                mutant.outcome, mutant.how = KILLED, f"exit code {done.returncode}"
                if said:
                    told = json.loads(said[-1])
                    mutant.outcome, mutant.how = told["outcome"], told["how"]
            except subprocess.TimeoutExpired:
                mutant.outcome, mutant.how = KILLED, "no end in sight"
        mutant.seconds = round(time.monotonic() - started, 1)

    def _run(self, call: str, first: Path) -> subprocess.CompletedProcess[str]:
        support = self.project / "tests"
        path = [first, self.project, support / "support", support / "compiled"]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "WATERLINE_CACHE": str(first / "cache"),
        }
        return subprocess.run(
            [sys.executable, "-P", "-c", call],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS_MAX,
        )


def main() -> int:
    """Run the mutants one after the other; exit code 1 if one survives."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--module", choices=MODULES, help="only this module")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="one of N mutants")
    parser.add_argument("--seconds", type=float, metavar="S", help="stop after so long")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every outcome there")
    asked = parser.parse_args()
    mutants = [m for name in MODULES for m in mutants_of(name) if asked.module in (None, name)]
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    random.Random(5).shuffle(mutants)
    ends = time.monotonic() + (asked.seconds or float("inf"))
    tried = []
    with tempfile.TemporaryDirectory(prefix="waterline-mutation-") as directory:
        laboratory = Laboratory(Path(directory))
        arithmetic = (ROOT / "checker" / "compiled" / "arithmetic.py").read_text()
        unaltered = Mutant(0, "arithmetic", 0, 0, "", "nothing", arithmetic)
        laboratory.judge(unaltered)
        if unaltered.outcome != SURVIVED:
            print(f"the unaltered compiler is told apart: {unaltered.how}")
            return 2
        for mutant in mutants[:: asked.every]:
            if time.monotonic() > ends:
                break
            laboratory.judge(mutant)
            tried.append(mutant)
            where = f"{mutant.module}.py:{mutant.line} {mutant.rule}: {mutant.change}"
            print(f"{mutant.number} {where}: {mutant.outcome} {mutant.how} [{mutant.seconds} s]")
            sys.stdout.flush()
    counts = Counter(mutant.outcome for mutant in tried)
    print(f"{len(tried)} of {len(mutants)} mutants: {dict(counts)}; {INVALID} ones count as killed")
    if asked.json:
        asked.json.write_text(json.dumps([asdict(mutant) for mutant in tried], indent=1))
    return int(SURVIVED in counts)


if __name__ == "__main__":
    sys.exit(main())
