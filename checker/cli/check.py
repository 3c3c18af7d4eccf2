"""`waterline check`, or `check` for short: its options, and what --list shows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, OutputFile
from waterline.checker.cli.shared.grouped_help import GroupedCommand
from waterline.checker.cli.shared.options import (
    EngineOptions,
    budget_options,
    directory_options,
    engine_options,
    environment_options,
    format_option,
    invariant_option,
    options_as,
    protocol_option,
    symmetry_option,
    trace_dir_option,
    where_option,
)
from waterline.checker.cli.shared.problem_options import ProblemOptions
from waterline.checker.cli.shared.screen import screen
from waterline.checker.kafka.families import GRAINS
from waterline.checker.search.result import Budgets
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import TITLE, columns
from waterline.model.core.claim import (
    ActionProperty,
    Claim,
    Invariant,
    Reachable,
    Recoverable,
    Temporal,
)

_GRAPH_STATES_MAX = 20_000
"""No tool can draw a larger graph."""


def _list_claims(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    table = columns(header=TITLE)
    table.add_column("Claim", no_wrap=True)
    table.add_column("Grain", no_wrap=True)
    table.add_column("Kind", no_wrap=True)
    table.add_column("Sentence")
    for grain in GRAINS.values():
        for claim in grain.claims:
            table.add_row(claim.name, grain.name, _kind(claim), claim.sentence)
    screen().print(Trimmed(table))
    ctx.exit(0)


def _kind(claim: Claim | Reachable) -> str:
    match claim:
        case Reachable():
            return "must happen"
        case Invariant():
            kind = "invariant"
        case ActionProperty():
            kind = "property of steps"
        case Recoverable():
            kind = "recovery"
        case Temporal():
            kind = "liveness"
    return kind if claim.default else f"{kind}, on request"


_EPILOG = """\b
Examples:
  check --protocol hw                     Kafka up to 0.10.2 loses a record
  check --kafka 4.2                       the rules of a release
  check --scenario C21 --engine local     an entry of the catalogue
  check --model lease.py --engine local   a model of your own

\b
Exit codes: 0 all claims hold, 12 one is violated, 20 stopped early,
2 bad usage, 76 a rule raised an error. --help-all has the others.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckOptions:
    """The problem, where it runs and how long; what is shown, written and kept."""

    problem: ProblemOptions
    engine: EngineOptions
    budgets: Budgets
    run_dir: str | None
    resume: str | None
    is_whole: bool
    deadlock: bool
    viewed: bool
    explain: bool
    another: int | None
    profiled: bool
    output_format: str
    certificate: str | None
    trace_dir: Path | None
    html_file: Path | None
    graph_file: Path | None
    graph_limit: int

    @property
    def is_text(self) -> bool:
        """True if the report is for people."""
        return self.output_format == "text"


@click.command(
    "check",
    cls=GroupedCommand,
    usual=(
        *("--protocol", "--kafka", "--without", "--scenario", "--model", "--set"),
        *("--invariant", "--list", "--replicas", "--records", "--epochs", "--unbounded"),
        *("--restarts", "--moves", "--power-losses", "--acks", "--min-insync-replicas"),
        *("--unclean-leader-election", "--all", "--view", "--explain", "--html"),
        *("--max-time", "--memory", "--engine"),
    ),
    epilog=_EPILOG,
    whole_epilog=f"{exit_codes.HELP}\n{FILES_HELP}",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@protocol_option
@environment_options
@symmetry_option
@engine_options
@budget_options
@directory_options
@invariant_option
@where_option("Look for a state in which this is true, and show the way there; as s.leo[0] > 1.")
@click.option(
    "--recovery",
    is_flag=True,
    help="Also check recovery: whether the protocol comes back by itself.",
)
@click.option(
    "--liveness",
    is_flag=True,
    help="Also check liveness: whether what must happen does happen in the end.",
)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_claims,
    help="Show every claim with its sentence.",
)
@click.option(
    "--all",
    "is_whole",
    is_flag=True,
    help="Print the steps to every violated claim, not to the gravest alone.",
)
@click.option("--deadlock", is_flag=True, help="Exit 11 if a state has no transition at all.")
@click.option(
    "--view",
    "viewed",
    is_flag=True,
    help="Then step through the counterexample, in a terminal.",
)
@click.option(
    "--explain",
    is_flag=True,
    help="Say what the counterexample takes, and which single change prevents it; with --all of "
    "each.",
)
@click.option(
    "--another",
    type=click.IntRange(1, 20),
    metavar="N",
    help="Show up to N further counterexamples of the one claim that is asked: the shortest ones "
    "in which others act, or do something else.",
)
@click.option(
    "--profile",
    "profiled",
    is_flag=True,
    help="Say what made the space so large: bounds, actions, fields, faults, levels.",
)
@click.option(
    "--certificate",
    metavar="DIR",
    help="Write all states to this new directory when the run is complete, for `waterline certify` "
    "to judge what holds by interpreted rules.",
)
@trace_dir_option
@click.option(
    "--html",
    "html_file",
    type=OutputFile(),
    help="Write verdicts and counterexamples there, as one page to step through.",
)
@click.option(
    "--graph",
    "graph_file",
    type=OutputFile(),
    help="Write the state space there as GraphML, if it is small.",
)
@click.option(
    "--graph-limit",
    type=click.IntRange(1),
    default=_GRAPH_STATES_MAX,
    show_default=True,
    help="Most states that a graph is made of.",
)
@format_option
@options_as(CheckOptions)
def check_command(options: CheckOptions) -> int:
    """Explore every reachable state; say which invariants hold, and show how others break."""
    from waterline.checker.cli.checking import check  # noqa: PLC0415 - help needs no engine

    return check(options)
