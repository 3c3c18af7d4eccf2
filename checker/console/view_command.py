"""`waterline view`: a recorded trace, step by step."""

from __future__ import annotations

from pathlib import Path

import click

from checker.console import exit_codes
from checker.console.own_options import model_option
from checker.console.recorded import recorded
from checker.console.screen import screen
from checker.console.viewing import is_interactive, view
from checker.story.story import reasons, story_of
from counterexamples import render_full


@click.command("view")
@click.argument("trace", type=click.Path(path_type=Path))
@model_option
@click.option("--plain", is_flag=True, help="Print every step and state, as into a pipe.")
def view_command(trace: Path, own_model: str | None, plain: bool) -> int:
    """Step through a recorded trace: j next, k back, ? all keys, q quit (docs/traces.md).

    Into a pipe all of it is printed.
    """
    found = recorded(trace, own_model)
    finding = found.finding
    if is_interactive() and not plain:
        return view(finding, found.claim)
    told = reasons(story_of(finding))
    whole = render_full(finding.replayed, explanation=finding.explanation, reasons=told)
    screen().print(whole)
    return exit_codes.HOLDS
