"""`waterline tour`: the main job in one command."""

from __future__ import annotations

import click

from checker.console import exit_codes
from checker.console.gate import judge
from checker.console.progress import showing
from checker.console.report import render_run
from checker.console.screen import error_screen, screen
from checker.console.tour import stops


@click.command("tour")
def tour_command() -> int:
    """Show what is lost under hw, that epoch keeps it, and a larger space explored by Spark."""
    from checker.console.judging import run_expected  # noqa: PLC0415 - its help needs no engine

    console = screen()
    outcomes = []
    for number, stop in enumerate(stops(), start=1):
        console.rule(f"[bold]{number}. {stop.title}")
        with showing(error_screen()) as progress:
            outcome = judge(stop.expectation, run_expected(stop.expectation, progress))
        console.print(render_run(outcome.run, shown=stop.shown))
        if outcome.run.result.interrupted:
            return exit_codes.INCOMPLETE
        for complaint in outcome.complaints:
            console.print(f"[bold red]Not as expected:[/] {complaint}")
        outcomes.append(outcome)
    met = sum(1 for outcome in outcomes if not outcome.complaints)
    console.rule()
    console.print(f"{met} of {len(outcomes)} came out as expected.")
    return exit_codes.HOLDS if met == len(outcomes) else exit_codes.UNEXPECTED
