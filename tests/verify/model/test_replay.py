"""A leader that replays late: what a search finds, and under the rule that repairs it."""

from __future__ import annotations

from contextlib import closing

import pytest

from waterline.checker.kafka.families import problem_for
from waterline.checker.search.engines.memory import MemoryEngine
from waterline.checker.search.result import Result, Verdict
from waterline.checker.search.search import search
from waterline.model.message.environment import Environment
from waterline.model.message.releases import release_named


def explored(release: str, *, switched: str = "", late: bool = True) -> Result:
    """Every state of 2 replicas, 2 records, 2 epochs, one crash."""
    version = release_named(release)[0].version + switched
    circumstances = Environment(records=2, epochs=2, restarts=1, late_replay=late)
    problem = problem_for(version, circumstances, ["no_committed_loss", "acknowledged_somewhere"])
    with closing(MemoryEngine(problem)) as engine:
        return search(problem, engine)


@pytest.mark.parametrize("release", ["3.6.0:kraft", "3.9.2:kraft", "4.4.0:kraft", "4.4.0:elr"])
def test_one_crash_after_a_replay_loses_an_acknowledged_record(release: str) -> None:
    found = explored(release)

    assert found.complete
    assert [claim.verdict for claim in found.invariants] == [Verdict.VIOLATED, Verdict.VIOLATED]
    assert [claim.depth for claim in found.invariants] == [14, 13]


@pytest.mark.parametrize("release", ["4.4.0:kraft", "4.4.0:elr"])
def test_without_that_replay_or_with_the_repair_one_crash_loses_nothing(release: str) -> None:
    for found in (
        explored(release, late=False),
        explored(release, switched="-with-pending-survives-replay"),
    ):
        assert found.complete
        assert all(claim.verdict is Verdict.HOLDS for claim in found.invariants)
