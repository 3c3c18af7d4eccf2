"""Reduced and full searches side by side: the same verdicts, and how much smaller the one is.

    python -m fuzz.reduction [golden] [environments] [catalogue] [random] [--states N] [--models N]
    python -m fuzz.reduction mutants [--limit N] [--seed S] [--seconds S] [--baseline FILE]

`golden` are the rows of tests/golden/manifest.json, `environments` every version in every named
environment, `catalogue` the entries of `waterline scenarios`, `random` so many random little
models. Only where they are said: `mutants`, altered rules of Kafka's; `forgotten`, which fields the
analysis finds dead that are forgotten by hand. Spaces of more than `--states` states are passed
over, and counted. Ends with 1 where a verdict differs, or whether something ever happens.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checker.kafka.families import MESSAGE
from checker.kafka.scenarios.catalogue import CATALOGUE
from checker.problem.problem import Problem
from checker.reduction.dead import dead_fields
from checker.reduction.effects import Steps
from checker.reduction.plan import CannotReduce
from checker.reduction.planning import decided, seen_while
from checker.reduction.reduction import reduced
from checker.reduction.smaller import smaller_model
from checker.search.budgets import Budgets
from checker.search.engines.memory import MemoryEngine
from checker.search.engines.prepare import prepare
from checker.search.result import Result
from checker.search.search import search
from fuzz.random_models import random_problem, verdicts
from fuzz.reduced_mutants import compare_mutants
from model.message.environment import ENVIRONMENTS
from model.message.versions import VERSIONS

GOLDEN = Path(__file__).resolve().parent.parent / "tests" / "golden" / "manifest.json"
STATES_MAX = 400_000
MODELS = 3_000
MUTANTS = 200


@dataclass(frozen=True, slots=True)
class Pair:
    """What the two searches of one problem came to; `less` is None where it was refused."""

    name: str
    full: Result
    less: Result | None
    refused: str = ""

    @property
    def agrees(self) -> bool:
        """Whether verdicts, and what ever happens, are the same."""
        return self.less is None or _describe(self.full) == _describe(self.less)

    def __str__(self) -> str:
        if self.less is None:
            return f"{self.name}: refused: {self.refused}"
        text = "the same verdicts" if self.agrees else "OTHER VERDICTS"
        factor = self.full.distinct / self.less.distinct
        faster = self.full.seconds / max(self.less.seconds, 1e-9)
        return (
            f"{self.name}: {self.full.distinct:,} and {self.less.distinct:,} states, "
            f"{factor:.1f} times fewer, {faster:.1f} times faster; {text}"
        )


def _describe(result: Result) -> dict[str, Any]:
    claims = {found.name: found.verdict for found in result.invariants}
    return {**claims, **{found.name: found.depth is not None for found in result.reachable}}


def compare(name: str, problem: Problem, states_max: int) -> Pair | None:
    """Both searches; None where there are more states than that."""
    full = _searched(problem, states_max)
    if not full.complete:
        return None
    try:
        return Pair(name, full, _searched(reduced(problem), states_max))
    except CannotReduce as why:
        return Pair(name, full, None, str(why))


def _searched(problem: Problem, states_max: int) -> Result:
    prepare(problem)
    with closing(MemoryEngine(problem)) as engine:
        return search(problem, engine, budgets=Budgets(max_states=states_max))


def problems(kinds: list[str]) -> Iterator[tuple[str, Problem]]:
    """The problems of these kinds, by name."""
    if "golden" in kinds:
        for row in json.loads(GOLDEN.read_text())["rows"]:
            options = {name.replace("_", "-"): value for name, value in row["options"].items()}
            text = " ".join(f"{name}={value}" for name, value in options.items())
            yield f"{row['protocol']} {text}", MESSAGE.problem_of(row["protocol"], options)
    if "environments" in kinds:
        for environment, settings in ENVIRONMENTS.items():
            for version in VERSIONS:
                problem = MESSAGE.problem_of(version, settings.options())
                yield f"{version} in {environment}", problem
    if "catalogue" in kinds:
        for scenario in CATALOGUE:
            for version in scenario.versions:
                options = scenario.environment.options()
                problem = MESSAGE.problem_of(version, options, [scenario.claim])
                yield f"{scenario.number} {version}", problem


def compare_random(models: int) -> tuple[int, list[int], dict[str, int]]:
    """How many random models were compared, which differ, and how many each reduction changed."""
    compared, differ = 0, list[int]()
    changed = {"not kept": 0, "postponed": 0, "at once": 0, "dead at times": 0}
    for seed in range(models):
        problem = random_problem(seed)
        full = verdicts(problem)
        if full is None:
            continue
        decisions = decided(problem)
        less = verdicts(replace(problem, model=smaller_model(problem.model, decisions)))
        if less is None:
            # Sets of what a field may be took more states than they spared.
            continue
        compared += 1
        changed["not kept"] += bool(decisions.fields)
        changed["postponed"] += bool(decisions.postponed)
        changed["at once"] += bool(decisions.at_once)
        changed["dead at times"] += bool(decisions.dead)
        if less[0] != full[0]:
            differ.append(seed)
    return compared, differ, changed


def forgotten_by_hand(version: str) -> Iterator[str]:
    """Of each field that some rows do not have by the layout when it is dead by analysis."""
    problem = MESSAGE.problem_of(version, {"records": 1, "epochs": 1, "restarts": 1})
    steps = Steps.of(problem.model)
    of_some = {f.name: f.alive for f in problem.model.layout.fields if f.alive is not None}
    names = [name for name in of_some if len(steps.ranges[name]) > 1]
    found = dead_fields(steps, names, seen_while(problem, steps))
    for name in names:
        alive = of_some[name]
        text = [
            f"dead while {each.deciding} is {' or '.join(map(str, each.values))}"
            for each in found
            if each.field == name and not each.spent
        ]
        yield (
            f"{version}: {name}, alive while {alive.field} is "
            f"{' or '.join(map(str, alive.values))}: {', '.join(text) or 'cannot say'}"
        )


def main() -> int:
    """Compare, a line for each problem, and what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__)
    kinds = ["golden", "environments", "catalogue", "random"]
    more = ["mutants", "forgotten"]
    parser.add_argument("kinds", nargs="*", choices=[*kinds, *more, []], default=kinds)
    parser.add_argument("--states", type=int, default=STATES_MAX)
    parser.add_argument("--models", type=int, default=MODELS)
    parser.add_argument("--limit", type=int, default=MUTANTS, metavar="N", help="mutants drawn")
    parser.add_argument("--seed", type=int, default=5, metavar="S", help="which mutants")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="for mutants, at most")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="as of fuzz.mutation")
    asked = parser.parse_args()
    began = time.monotonic()
    wrong = large = same = 0
    for name, problem in problems(asked.kinds):
        pair = compare(name, problem, asked.states)
        if pair is None:
            large += 1
            continue
        print(pair, flush=True)
        same += pair.agrees
        wrong += not pair.agrees
    if set(asked.kinds) - {"random", *more}:
        print(f"{same} agree, {wrong} differ, {large} have more than {asked.states:,} states")
    for version in VERSIONS if "forgotten" in asked.kinds else ():
        for line in forgotten_by_hand(version):
            print(line, flush=True)
    if "random" in asked.kinds:
        compared, differ, changed = compare_random(asked.models)
        text = ", ".join(f"{how} in {count}" for how, count in changed.items())
        print(f"{compared} random models ({text}): {len(differ)} differ {differ or ''}")
        wrong += len(differ)
    if "mutants" in asked.kinds:
        mutants = compare_mutants(asked.limit, asked.seed, asked.baseline, asked.seconds)
        print(mutants)
        wrong += len(mutants.differ)
    print(f"{time.monotonic() - began:.0f} s")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
