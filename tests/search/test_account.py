"""What a search adds up survives being kept in a manifest."""

from __future__ import annotations

import json

from waterline.checker.kafka.families import problem_for
from waterline.checker.search.account import Account
from waterline.checker.search.engines.engine import EngineChoice
from waterline.checker.search.engines.factory import engine_for
from waterline.checker.search.result import LevelSummary
from waterline.checker.search.search import Budgets, search
from waterline.model.atomic import AtomicEnvironment


def test_an_account_is_the_same_after_it_was_kept() -> None:
    problem = problem_for("hw", AtomicEnvironment(replicas=2, epochs=1))
    last: list[Account] = []
    engine = engine_for(problem, EngineChoice(name="local"))
    search(
        problem,
        engine,
        budgets=Budgets(max_depth=6),
        commit=lambda level, account: last.append(account),
    )
    engine.close()
    account = last[-1]
    values = json.loads(json.dumps(account.as_values()))
    untimed = [LevelSummary(level.depth, level.states, level.on) for level in account.levels]

    again = Account.from_values(problem, untimed, values)

    assert again.as_values() == account.as_values()
    assert again.distinct == account.distinct
    assert [level.seconds for level in again.levels] == values["level_seconds"]
    assert sum(level.seconds for level in account.levels) <= account.seconds
