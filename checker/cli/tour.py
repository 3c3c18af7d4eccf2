"""Execution of `tour`: the main job in one command, shown on the protocol itself.

`hw` loses an acknowledged record and diverges; `epoch`, in the same circumstances, does neither;
and a larger `epoch` space is explored by Spark, where it is installed, from the first level to the
last.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from waterline.checker.ci.expectation import Expectation, plainly
from waterline.checker.ci.positions import Place
from waterline.checker.cli.run_report import render_run
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.search.engines.engine import EngineChoice, lacks_spark
from waterline.checker.search.result import NO_BUDGETS, Verdict
from waterline.model.message.environment import Environment

LARGE = Environment(replicas=2, records=4, epochs=3, restarts=3)
"""Bounds with more than two million states, so that a frontier is worth distributing."""

MORE = "waterline check --protocol hw --all prints every trace"


@dataclass(frozen=True, slots=True)
class Stop:
    """One stop of the tour: what it shows, the run, and whether its counterexamples are printed."""

    title: str
    expectation: Expectation
    shown: tuple[str, ...] = ()


def stops() -> Iterator[Stop]:
    """The stops, in order."""
    documented = Environment()
    yield Stop(
        "hw loses an acknowledged record, and its logs diverge",
        _expect("hw", documented, EngineChoice()),
        shown=("acknowledged_durable", "no_divergence_below_hw"),
    )
    yield Stop(
        "epoch, in the same circumstances, does neither",
        _expect("epoch", documented, EngineChoice()),
    )
    distributed = EngineChoice(driver_levels=0)
    explored = ", every level explored by Spark" if distributed.name == "spark" else ""
    yield Stop(
        f"epoch at larger bounds{explored}",
        _expect("epoch", LARGE, distributed),
    )


def _expect(version: str, environment: Environment, choice: EngineChoice) -> Expectation:
    """Expect every claim to come out as in the documented environment."""
    problem = MESSAGE.problem(version, environment)
    applying = {claim.name for claim in problem.applicable}
    applying |= {claim.name for claim in problem.applicable_properties}
    verdicts: dict[str, str] = {}
    for claim in problem.claims:
        if claim.name in MESSAGE.expected["documented"][version]:
            verdicts[claim.name] = Verdict.VIOLATED.value
        elif claim.default:
            applies = claim.name in applying
            verdicts[claim.name] = (Verdict.HOLDS if applies else Verdict.NOT_APPLICABLE).value
    return Expectation(
        name=version,
        problem=problem,
        choice=choice,
        budgets=NO_BUDGETS,
        verdicts=plainly(verdicts),
        place=Place(__file__),
    )


@click.command("tour")
def tour_command() -> int:
    """Show what is lost under hw, that epoch keeps it, and a larger space explored by Spark."""
    # Its help needs no engine.
    from waterline.checker.batch.checks import answer_of_run  # noqa: PLC0415
    from waterline.checker.checking.run import run  # noqa: PLC0415
    from waterline.checker.ci.judging import judge  # noqa: PLC0415

    console = screen()
    outcomes = []
    for number, stop in enumerate(stops(), start=1):
        console.rule(f"[bold]{number}. {stop.title}")
        with showing(error_screen()) as progress:
            expected = stop.expectation
            done = run(
                expected.problem,
                expected.choice,
                budgets=expected.budgets,
                watch=progress.watch,
                announce=progress.announce,
            )
            outcome = judge(expected, answer_of_run(done))
        console.print(render_run(done, shown=stop.shown, more=MORE, spark=lacks_spark()))
        if done.result.interrupted:
            return exit_codes.INCOMPLETE
        for complaint in outcome.complaints:
            console.print(f"[bold red]Not as expected:[/] {complaint.text}")
        outcomes.append(outcome)
    met = sum(1 for outcome in outcomes if not outcome.complaints)
    console.rule()
    console.print(f"{met} of {len(outcomes)} came out as expected.")
    return exit_codes.HOLDS if met == len(outcomes) else exit_codes.UNEXPECTED
