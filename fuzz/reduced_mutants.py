"""Mutants of the rules searched fully and reduced: verdicts are the same, whatever the rules are.

A mutant runs in a process of its own, in a few small settings that take the altered line, drawn by
the seed. In each it is searched fully and reduced: in one with all claims, in the other with one
claim alone, which leaves out most. One that raises, has too many states, or cannot be reduced is
counted apart.
"""

from __future__ import annotations

import json
import random
import re
import signal
import tempfile
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from checker.problem.problem import Problem
from checker.reduction.reduction import CannotReduce, reduced
from checker.search.budgets import Budgets
from checker.search.result import Result
from checker.search.search import search
from fuzz.interpreted import Interpreted
from fuzz.laboratory import Laboratory
from fuzz.mutants import KILLED, MODULES, Mutant, mutants_of, sampled
from fuzz.mutation_environments import INTERPRETED, SECONDS_MAX
from fuzz.observed import Setting, problem_of

STATES_MAX = 6_000
"""A mutant may have more states than the rules; past these it is not compared."""
STATES_OF_SETTING = 1_300
SETTINGS = 2
AGREES, DIFFERS, REFUSED, RAISES, LARGE = "agrees", "DIFFERS", "refused", "raises", "too large"


@dataclass(slots=True)
class Compared:
    """How many mutants came to what, and their searches; the mutants of which one differs."""

    mutants: Counter[str] = field(default_factory=Counter)
    searches: Counter[str] = field(default_factory=Counter)
    differ: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        text = ", ".join(f"{count} {how}" for how, count in sorted(self.mutants.items()))
        pairs = ", ".join(f"{count} {how}" for how, count in sorted(self.searches.items()))
        lines = (
            f"{self.mutants.total()} mutants: {text}; pairs of searches: {pairs}",
            *self.differ,
        )
        return "\n".join(lines)


def compare_mutants(limit: int, seed: int, baseline: Path | None, seconds: float) -> Compared:
    """So many mutants, drawn from all modules, a line for each; none begins after so long."""
    mutants = [mutant for name in MODULES for mutant in mutants_of(name)]
    for number, mutant in enumerate(mutants, 1):
        mutant.number = number
    compared = Compared()
    with tempfile.TemporaryDirectory(prefix="waterline-mutation-") as directory:
        laboratory = Laboratory(Path(directory), baseline)
        known = laboratory.measure(1)
        for mutant in sampled(mutants, limit, seed):
            if seconds <= 0:
                break
            names = drawn(mutant, known, seed)
            if not names:
                compared.mutants["reached nowhere"] += 1
                continue
            laboratory.judge(mutant, f"reduced_mutants.judge({names!r}, {mutant.number + seed})")
            seconds -= mutant.seconds
            note(compared, mutant)
            print(f"{mutant}: {mutant.outcome} {mutant.how} [{mutant.seconds} s]", flush=True)
    return compared


def drawn(mutant: Mutant, known: dict[str, Any], seed: int) -> list[str]:
    """The names of a few small settings that take the altered line."""
    names = [
        setting.name
        for setting in INTERPRETED
        if known[setting.name]["counts"]["distinct"] <= STATES_OF_SETTING
        and f"{mutant.module}:{mutant.line}" in known[setting.name]["reached"]
    ]
    draw = random.Random(seed * 100_003 + mutant.number)
    return sorted(draw.sample(names, min(SETTINGS, len(names))))


def note(compared: Compared, mutant: Mutant) -> None:
    """Count a mutant: by the worst of its searches, and all of these."""
    if mutant.how.startswith("{"):
        outcomes: dict[str, str] = json.loads(mutant.how)
    else:
        outcomes = {"": f"{LARGE if mutant.outcome == KILLED else DIFFERS}: {mutant.how}"}
    kinds = Counter(re.split(": | with ", outcome)[0] for outcome in outcomes.values())
    mutant.outcome = next(k for k in (DIFFERS, AGREES, REFUSED, LARGE, RAISES) if kinds[k])
    compared.mutants[mutant.outcome] += 1
    compared.searches += kinds
    if kinds[DIFFERS]:
        text = (f"{name}: {how}" for name, how in outcomes.items() if how.startswith(DIFFERS))
        compared.differ.append(f"{mutant}: {'; '.join(text)}")


def judge(names: list[str], seed: int) -> None:
    """Compare this process's rules in these settings, and print what came of it as JSON.

    In the first with all claims and what must happen, in the others with one claim alone.
    """
    draw = random.Random(seed)
    draw.shuffle(names)
    by_name = {setting.name: setting for setting in INTERPRETED}
    outcomes: dict[str, str] = {}
    for name in names:
        signal.alarm(4 * SECONDS_MAX["interpreted"])
        outcomes[name] = compared_in(by_name[name], draw if outcomes else None)
    print(json.dumps({"how": json.dumps(outcomes)}), flush=True)


def compared_in(setting: Setting, draw: random.Random | None) -> str:
    """What full and reduced searches of a setting come to: with all claims, or with one drawn."""
    try:
        problem = problem_of(setting)
        full = searched(problem)
    except Exception as fault:
        return f"{RAISES}: {_said(fault)}"
    if not full.complete:
        return LARGE
    if draw is None:
        return compared_with(full, problem)
    one = draw.choice(problem.checked)
    alone = compared_with(full, replace(problem, asked=frozenset({one}), reachable=()))
    return f"{alone} with {one} alone" if alone == AGREES else alone


def compared_with(full: Result, problem: Problem) -> str:
    """What a reduced search of the problem comes to, beside the full one of all claims."""
    try:
        found = describe(searched(reduced(problem)))
    except CannotReduce as why:
        return f"{REFUSED}: {why}"
    except Exception as fault:
        return f"{DIFFERS}: reduced, it raises {_said(fault)}"
    expected = describe(full)
    other = {
        name: [expected[name], is_so] for name, is_so in found.items() if expected[name] != is_so
    }
    return f"{DIFFERS}: {other}" if other else AGREES


def searched(problem: Problem) -> Result:
    """An interpreted search, cut short past some states."""
    return search(problem, Interpreted(problem), budgets=Budgets(max_states=STATES_MAX))


def describe(result: Result) -> dict[str, str | bool]:
    """Every verdict, and whether each that must happen does."""
    verdicts: dict[str, str | bool] = {i.name: i.verdict.value for i in result.invariants}
    return verdicts | {claim.name: claim.depth is not None for claim in result.reachable}


def _said(fault: Exception) -> str:
    return f"{type(fault).__name__}: {fault}".splitlines()[0][:160]
