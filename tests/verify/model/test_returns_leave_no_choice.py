"""A partition without a leader has at most one candidate when a broker comes back.

`controller.leaves_a_choice` and `sessions.register` rest on it: where two might win, the first by
number would, which `--election-order any` forbids and `--symmetry replicas` must never see.
"""

from __future__ import annotations

from contextlib import closing
from typing import Any

import pytest

from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.problem import Problem
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Budgets
from waterline.checker.search.search import search
from waterline.model.core.claim import Invariant
from waterline.model.message.controller import candidates, unavailable
from waterline.model.message.settings import Settings
from waterline.model.message.terms import NO_REPLICA, contains, size, without_member


def leaves_no_choice(s: Any, c: Settings) -> bool:
    """No leader, so of those that may be elected when a broker is back there is one at most."""
    if s.leader != NO_REPLICA:
        return True
    for replica in range(s.replicas):
        if contains(s.fenced, replica) and size(_candidates_with(s, c, replica)) > 1:
            return False
    return True


def _candidates_with(s: Any, c: Settings, replica: int) -> int:
    return candidates(s, c, without_member(unavailable(s), replica))


SMALL: dict[str, Any] = {
    "replicas": 3,
    "records": 1,
    "epochs": 3,
    "restarts": 2,
    "moves": 1,
    "election-order": "any",
}
CLAIM = Invariant(
    name="leaves_no_choice",
    sentence="One that comes back is the only candidate.",
    holds=leaves_no_choice,
    explain=lambda s, c: f"isr {s.isr}, elr {s.elr}, fenced {s.fenced}",
)


UNCLEAN, POWER = {"unclean-leader-election": True}, {"min-insync-replicas": 2, "power-losses": 1}


@pytest.mark.parametrize(
    ("version", "options"),
    [
        pytest.param(version, options, id=" ".join((version, *options)))
        for version, options in (("hw", UNCLEAN), ("kraft", {}), ("elr", UNCLEAN), ("elr", POWER))
    ],
)
def test_a_broker_that_returns_is_the_only_candidate(version: str, options: dict[str, Any]) -> None:
    model = MESSAGE.problem(version, SMALL | options).model
    problem = Problem(model, (CLAIM,))
    with closing(MemoryEngine(problem)) as engine:
        result = search(problem, engine, budgets=Budgets(max_states=3_000_000))
    (found,) = result.invariants

    assert found.depth is None, (result.distinct, found)
    assert result.distinct > 10_000
