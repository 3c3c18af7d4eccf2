"""`waterline tour`: the main job in one command."""

from __future__ import annotations

import click

from waterline.checker.cli.check.report import render_run
from waterline.checker.cli.check.tour import stops
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.search.engines.choice import lacks_spark

MORE = "waterline check --protocol hw --all prints every trace"


@click.command("tour")
def tour_command() -> int:
    """Show what is lost under hw, that epoch keeps it, and a larger space explored by Spark."""
    # Its help needs no engine.
    from waterline.checker.checking.run import run  # noqa: PLC0415
    from waterline.checker.ci.answer import answer_of  # noqa: PLC0415
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
            outcome = judge(expected, answer_of(done))
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
