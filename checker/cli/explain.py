"""`waterline explain`: what a trace takes, and what repairs it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import (
    MAX_STATES,
    Seconds,
    format_option,
    options_as,
    threads_option,
)
from waterline.checker.cli.shared.own_options import model_option


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Parts of an explanation, all where none is named; and limits, None for the usual ones."""

    wants_chain: bool = False
    wants_repairs: bool = False
    max_states: int | None = None
    max_time: float | None = None
    threads: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainOptions:
    """The command's options."""

    trace: Path
    own_model: str | None
    parts: Parts
    output_format: str


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
@options_as(ExplainOptions)
def explain_command(asked: ExplainOptions) -> int:
    """Say why a recorded trace ends as it does, and which single change prevents it.

    TRACE is a file that `check --trace-dir` has written. No heuristic is at work: what can happen
    without a step, or with a change, is explored in full (docs/counterexamples.md).
    """
    # Here, and not above: help needs no engine.
    from waterline.checker.cli.explaining import explain_recorded  # noqa: PLC0415

    return explain_recorded(asked)
