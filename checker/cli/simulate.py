"""`waterline simulate`: walks at random, where the space is too large to be explored."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.grouped_help import GroupedCommand
from waterline.checker.cli.shared.options import (
    ENGINES,
    EngineOptions,
    Seconds,
    environment_options,
    format_option,
    invariant_option,
    options_as,
    protocol_option,
    spark_options,
    threads_option,
    trace_dir_option,
)
from waterline.checker.cli.shared.problem_options import ProblemOptions

_WAYS = ("mixed", "steps", "actions", "paces", "rare")
_SEED_MAX = (1 << 63) - 1
_DEPTH_MAX = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class SimulateOptions:
    """The problem, how walks choose, and when they end."""

    problem: ProblemOptions
    engine: EngineOptions
    seed: int
    walks: int | None
    depth: int
    choosing: str
    max_time: float | None
    stop_at_first: bool
    shorten_states: int
    trace_dir: Path | None
    output_format: str


@click.command(
    "simulate",
    cls=GroupedCommand,
    short_help="Walks at random, beyond what can be explored.",
    epilog=exit_codes.HELP,
)
@protocol_option
@environment_options
@invariant_option
@click.option(
    "--seed",
    type=click.IntRange(0, _SEED_MAX),
    default=0,
    show_default=True,
    help="What chance goes by: the same seed, the same walks.",
)
@click.option(
    "--walks",
    type=click.IntRange(1),
    help="How many walks; default: 100,000, or with --max-time as many as there is time for.",
)
@click.option(
    "--depth",
    type=click.IntRange(1, _DEPTH_MAX),
    default=100,
    show_default=True,
    help="Most steps of a walk.",
)
@click.option(
    "--choose",
    "choosing",
    type=click.Choice(_WAYS),
    default="mixed",
    show_default=True,
    help="What is left to chance: any enabled step; an action and then its step; the same with a "
    "pace of its own for each action in each walk; the same with rarer faults; or these in turn.",
)
@click.option("--max-time", type=Seconds(), help="Stop after so many seconds.")
@click.option(
    "--stop-at-first", is_flag=True, help="End after the first batch in which a claim breaks."
)
@click.option(
    "--shorten-states",
    type=click.IntRange(0),
    default=1_000_000,
    show_default=True,
    help="How many states may be explored to find shorter counterexamples; 0: none.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default="local",
    show_default=True,
    help="Where walks are made: on this process's threads, or in tasks on Spark.",
)
@threads_option
@spark_options
@trace_dir_option
@format_option
@options_as(SimulateOptions)
def simulate_command(options: SimulateOptions) -> int:
    """Walk through the model at random, and say what was seen.

    A claim that breaks on the way is VIOLATED, with its counterexample. Of all others nothing is
    said but that none was seen: only `check` says what holds. docs/running.md says how walks
    choose, and what they find.
    """
    from waterline.checker.cli.simulating import simulate_asked  # noqa: PLC0415 - not for help

    return simulate_asked(options)
