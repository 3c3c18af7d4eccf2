"""Rules that use an epoch or a record otherwise than by order and equality are refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import invariants
from checker.kafka.families import MESSAGE
from checker.problem.problem import Problem
from checker.sorts.check import require_well_sorted, violations
from checker.sorts.violation import IllSorted
from model.core.claim import Temporal
from model.message.environment import Environment
from model.message.features import FEATURES
from model.message.versions import VERSIONS
from tests.support import ill_sorted

FILE = Path(ill_sorted.__file__)
RULES = {
    name: rule
    for name, rule in vars(ill_sorted).items()
    if inspect.isfunction(rule)
    and rule.__module__ == ill_sorted.__name__
    and list(inspect.signature(rule).parameters) == ["s", "c", "replica"]
}
SOUND = {name for name in RULES if name.startswith("sound")}
EVERYTHING = {
    "shutdowns": 1,
    "session-expiries": 1,
    "moves": 1,
    "requests-survive": True,
    "parked-fetches": True,
    "late-reads": True,
    "late-answers": True,
    "consumer": True,
    "power-losses": 1,
    "lost-disks": 1,
    "lost-checkpoints": 1,
    "election-order": "any",
}


def unbounded(version: str, **options: Any) -> Problem:
    """The unbounded problem of a version, with every claim that can be asked of it."""
    given = {**MESSAGE.usual.options(), "unbounded": True, "records": 1, **options}
    claims = (*invariants.ALL, *invariants.PROPERTIES, *invariants.BEHAVIOURS)
    names = tuple(c.name for c in claims if not isinstance(c, Temporal))
    return MESSAGE.problem_of(version, given, names)


def with_rule(rule: Callable[..., Any]) -> Problem:
    """The problem of a version whose brokers crash by another rule."""
    problem = unbounded("kip320")
    actions = tuple(
        replace(action, effect=rule) if action.name == "Crash" else action
        for action in problem.model.actions
    )
    return replace(problem, model=replace(problem.model, actions=actions))


def marked(name: str) -> list[int]:
    """The lines that must be refused for a rule: in it, or in a helper that names it."""
    lines = FILE.read_text().splitlines()
    rule, first = inspect.getsourcelines(RULES[name])
    inside = [first + i for i, line in enumerate(rule) if line.rstrip().endswith("#!")]
    return inside or [
        i for i, line in enumerate(lines, start=1) if line.rstrip().endswith(f"#! {name}")
    ]


@pytest.mark.parametrize("name", sorted(RULES.keys() - SOUND))
def test_another_use_is_refused_at_its_line(name: str) -> None:
    found = violations(with_rule(RULES[name]))

    assert len(marked(name)) == 1
    assert {v.line for v in found} == set(marked(name))
    assert all(v.file.endswith("ill_sorted.py") for v in found)
    assert all("the effect of Crash" in v.root for v in found)


@pytest.mark.parametrize("name", sorted(SOUND))
def test_order_and_equality_are_not(name: str) -> None:
    assert violations(with_rule(RULES[name])) == ()
