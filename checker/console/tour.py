"""The main job in one command: what Waterline is for, shown on the protocol itself.

`hw` loses a committed record and diverges; `epoch`, in the same circumstances, does neither; and a
larger `epoch` space is explored by Spark from the first level to the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checker.console.gate import Expectation
from checker.engines.choice import EngineChoice
from checker.grains import problem_for
from checker.result import Verdict
from checker.search import NO_BUDGETS
from model.environment import Environment

LARGE = Environment(replicas=2, records=4, epochs=3, restarts=3)
"""Bounds with more than two million states, so that a frontier is worth distributing."""


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of the tour: what it shows, the run, and whether its counterexamples are printed."""

    title: str
    expectation: Expectation
    shown: tuple[str, ...] = ()


def stops() -> Iterator[Stop]:
    """The stops, in order."""
    documented = Environment()
    names = [claim.name for claim in problem_for("epoch", documented).claims if claim.default]
    holds = dict.fromkeys(names, Verdict.HOLDS.value)
    lost = ("no_committed_loss", "no_divergence_below_hw")
    violated = dict.fromkeys((*lost, "acknowledged_durable", "consistent_read"), "violated")
    yield Stop(
        "hw loses a committed record, and its logs diverge",
        _expect("hw", documented, EngineChoice(), {**violated, "sane": "holds"}),
        shown=lost,
    )
    yield Stop(
        "epoch, in the same circumstances, does neither",
        _expect("epoch", documented, EngineChoice(), holds),
    )
    yield Stop(
        "epoch at larger bounds, every level explored by Spark",
        _expect("epoch", LARGE, EngineChoice(driver_levels=0), holds),
    )


def _expect(
    version: str, environment: Environment, choice: EngineChoice, verdicts: dict[str, str]
) -> Expectation:
    return Expectation(version, problem_for(version, environment), choice, NO_BUDGETS, verdicts)
