"""`waterline view`: a recorded trace, step by step."""

from __future__ import annotations

from pathlib import Path

import click

from checker.console import exit_codes
from checker.console.own_options import finder, model_option
from checker.console.screen import screen
from checker.finding import confirmed
from counterexamples import BadTrace, read_trace, view
from model.kit.errors import BadEnvironment


@click.command("view")
@click.argument("trace", type=click.Path(path_type=Path))
@model_option
def view_command(trace: Path, own_model: str | None) -> int:
    """Step through a recorded trace: n next, p previous, g first, G last, q quit."""
    recorded = read_trace(trace)
    try:
        family = finder(own_model)(recorded.model)
        problem = family.problem_of(recorded.version, recorded.environment, [recorded.invariant])
    except BadEnvironment as problem_found:
        raise BadTrace(f"{trace}: {problem_found}") from None
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    finding = confirmed(recorded, problem.model, claim)
    view(finding.replayed, screen(), explanation=finding.explanation)
    return exit_codes.HOLDS
