"""`waterline explain`: what a trace takes, and what repairs it."""

from __future__ import annotations

from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import MAX_STATES, Seconds, format_option, threads_option
from waterline.checker.cli.shared.own_options import model_option


@click.command("explain", epilog=exit_codes.HELP)
@click.argument("trace", type=click.Path(path_type=Path))
@model_option
@click.option(
    "--chain",
    "wants_chain",
    is_flag=True,
    help="Only the steps that must come from outside, and the chances that were missed.",
)
@click.option(
    "--repairs", "wants_repairs", is_flag=True, help="Only the single changes that prevent it."
)
@click.option(
    "--max-states",
    type=MAX_STATES,
    help="Most states that one question may take; default: 300,000 for a step, 3,000,000 for a "
    "change.",
)
@click.option(
    "--max-time",
    type=Seconds(),
    help="Most seconds for the chain, and for the repairs; default: 60 and 120.",
)
@threads_option
@format_option
def explain_command(
    trace: Path,
    own_model: str | None,
    wants_chain: bool,
    wants_repairs: bool,
    max_states: int | None,
    max_time: float | None,
    threads: int,
    output_format: str,
) -> int:
    """Say why a recorded trace ends as it does, and which single change prevents it.

    TRACE is a file that `check --trace-dir` has written. No heuristic is at work: what can happen
    without a step, or with a change, is explored in full (docs/counterexamples.md).
    """
    # Here, and not above: help needs no engine.
    from waterline.checker.cli.explaining import ExplainOptions, explain_recorded  # noqa: PLC0415

    asked = ExplainOptions(
        chain=wants_chain or not wants_repairs,
        repairs=wants_repairs or not wants_chain,
        states_max=max_states,
        seconds_max=max_time,
        threads=threads,
    )
    return explain_recorded(trace, own_model, asked, as_json=output_format == "json")
