"""`waterline view`: a recorded trace, step by step."""

from __future__ import annotations

from pathlib import Path

import click

from checker.console import exit_codes
from checker.console.own_options import finder, model_option
from checker.console.screen import screen
from checker.console.viewing import is_interactive, view
from checker.finding import confirmed
from checker.story.story import reasons, story_of
from counterexamples import BadTrace, read_trace, render_full
from model.kit.errors import BadEnvironment


@click.command("view")
@click.argument("trace", type=click.Path(path_type=Path))
@model_option
@click.option("--plain", is_flag=True, help="Print every step and state, as into a pipe.")
def view_command(trace: Path, own_model: str | None, plain: bool) -> int:
    """Step through a recorded trace: j next, k back, ? all keys, q quit (docs/traces.md).

    Into a pipe all of it is printed.
    """
    recorded = read_trace(trace)
    try:
        family = finder(own_model)(recorded.model)
        problem = family.problem_of(recorded.version, recorded.environment, [recorded.invariant])
    except BadEnvironment as problem_found:
        raise BadTrace(f"{trace}: {problem_found}") from None
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    finding = confirmed(recorded, problem.model, claim)
    if is_interactive() and not plain:
        return view(finding, claim)
    told = reasons(story_of(finding))
    whole = render_full(finding.replayed, explanation=finding.explanation, reasons=told)
    screen().print(whole)
    return exit_codes.HOLDS
