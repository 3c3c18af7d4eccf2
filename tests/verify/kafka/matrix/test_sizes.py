"""Losses of a size, searched for, against those of a larger one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.kafka.matrix.test_sizes import LOCAL, UNCLEAN, with_one_more
from tests.support.commands import Commands
from tests.support.grids import explored
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.kafka.matrix.grid import grid_over
from waterline.checker.kafka.matrix.outcome import Standing
from waterline.checker.kafka.matrix.reason import LOSSES
from waterline.counterexamples.replay import follow


def test_a_loss_with_as_many_in_sync_is_a_loss_of_every_larger_size() -> None:
    """The replica more need only stay out of sync: each trace of 2 replicas is one of 3.

    That it leaves is written by the leader, or asked of the controller, which may raise the epoch.
    """
    found = 0
    only = [("version", name) for name in ("hw", "kip320", "kip903", "elr")]
    only += [("faults", name) for name in ("one crash", "two crashes", "power loss")]
    only += [("unclean.leader.election.enable", unclean) for unclean in ("false", "true")]
    over = ["version", "faults", "min.insync.replicas", "unclean.leader.election.enable"]
    for outcome in explored(grid_over(over, only, records=1, invariants=LOSSES), LOCAL).outcomes:
        if outcome.replayed is None or outcome.worst is None:
            continue
        environment = replace(outcome.cell.environment, replicas=3, epochs=4)
        problem = MESSAGE.problem(outcome.cell.version, environment, [outcome.worst.name])
        claim = next(claim for claim in problem.judged if claim.name == outcome.worst.name)
        trace = outcome.replayed.trace
        first = [step.action for step in trace.steps].index("Produce") + 1
        larger = [with_one_more(trace, at, steps) for at in (0, first) for steps in range(1, 5)]
        ended = [follow(each, problem.model) for each in larger]
        lasts = [each.replayed.states[-1] for each in ended if each.refusal is None]
        found += 1

        assert any(not claim.holds(last, problem.model.settings) for last in lasts), outcome.cell
    assert found > 20


def test_a_loss_with_fewer_in_sync_is_not_always_one_with_more() -> None:
    """So that `there` is said: one machine that loses power takes a record that had to be in one
    log, and not one that had to be in two."""
    given = [("version", "elr"), ("faults", "power loss")]
    small, large = (
        explored(grid_over([], [*given, ("min.insync.replicas", m)], replicas=n, records=1), LOCAL)
        for n, m in ((2, "1"), (3, "2"))
    )

    assert small.outcomes[0].worst is not None
    assert large.outcomes[0].standing is Standing.HOLDS


@pytest.mark.parametrize(("unclean", "code"), [("true", 12), ("false", 20)])
def test_five_replicas_are_never_answered_none(
    unclean: str, code: int, cli: Commands, tmp_path: Path
) -> None:
    """With unclean elections one crash loses; 3 of 3 stood for 3 of 5, and did not."""
    path = tmp_path / "server.properties"
    path.write_text(UNCLEAN.format(unclean))
    asked = ("--quick", "--no-unbounded", "--only", "faults=one crash")
    found, out, _ = cli("matrix", "--config", path, *asked, name="waterline")
    told = " ".join(out.split())

    assert found == code
    assert "explored as 3 replicas with min.insync.replicas=2, of your 5 and 3: " in told
    assert "none of" not in told
    assert "No loss with" not in told
