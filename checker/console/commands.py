"""The commands. What they print is made elsewhere; here is only what happens when.

A mistake of the user is one line on standard error and exit code 2, before anything is started.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing, nullcontext, suppress
from functools import partial
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from checker.confirm.errors import CannotConfirm
from checker.console import exit_codes
from checker.console.bound_advice import gate_advice
from checker.console.broken_down import telling_what_is_kept, told_os_error
from checker.console.confirm_command import confirm_catalogue_command, confirm_command
from checker.console.file_options import FILES_HELP, OutputFile, make_folder, write_files
from checker.console.gate import (
    BadGate,
    Expectation,
    Outcome,
    judge,
    junit,
    outcome_table,
    read_gate,
)
from checker.console.kernel_command import kernel_command
from checker.console.layout_table import layout_table
from checker.console.matrix_command import matrix_command
from checker.console.options import (
    budget_options,
    directory_options,
    engine_options,
    environment_options,
    problem_from,
    protocol_option,
    symmetry_option,
    take_budgets,
    take_engine,
    take_given,
)
from checker.console.progress import Progress, showing
from checker.console.report import render_run
from checker.console.run_options import take_run
from checker.console.scenarios_command import scenarios_command
from checker.console.screen import (
    error_screen,
    forget_useless_sizes,
    say,
    screen,
)
from checker.console.states_command import states_command
from checker.console.summary import to_text
from checker.console.tour import stops
from checker.console.versions_command import versions_command
from checker.engine import EngineFailed
from checker.engines.java import NoJava
from checker.engines.spark_session import NoSpark
from checker.faults import Raised
from checker.finding import confirmed
from checker.grains import GRAINS, MESSAGE, grain_of
from checker.graph import GRAPH_STATES_MAX, TooLargeForGraph, to_graphml
from checker.matrix.config_files import BadConfig
from checker.run import Run, run
from checker.store.manifest import BadRun
from checker.store.run_directory import InUse
from checker.store.storage import BadLocation, Damaged
from counterexamples import (
    BadFile,
    BadTrace,
    TraceError,
    Trimmed,
    read_trace,
    to_json,
    view,
)
from invariants.claim import ActionProperty, Invariant, Reachable
from model.environment import BadEnvironment


def _list_claims(ctx: click.Context, param: click.Parameter, wanted: bool) -> None:
    if not wanted or ctx.resilient_parsing:
        return
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Claim", no_wrap=True)
    table.add_column("Grain", no_wrap=True)
    table.add_column("Kind", no_wrap=True)
    table.add_column("Sentence")
    for grain in GRAINS.values():
        for claim in grain.claims:
            table.add_row(claim.name, grain.name, _kind(claim), claim.sentence)
    screen().print(Trimmed(table))
    ctx.exit(0)


def _kind(claim: Invariant | ActionProperty | Reachable) -> str:
    if isinstance(claim, Reachable):
        return "must happen"
    kind = "invariant" if isinstance(claim, Invariant) else "property of steps"
    return kind if claim.default else f"{kind}, on request"


@click.group(epilog=exit_codes.HELP, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="waterline", prog_name="waterline")
def waterline() -> None:
    """Check Kafka's partition replication exhaustively: can a committed record be lost?"""


@waterline.command(
    short_help="Say which invariants hold.",
    epilog=f"{exit_codes.HELP}\n{FILES_HELP}",
    context_settings={"help_option_names": ["-h", "--help"]},
)
@protocol_option
@environment_options
@symmetry_option
@engine_options
@budget_options
@directory_options
@click.option(
    "--invariant", "names", multiple=True, metavar="NAME", help="Only this one; repeatable."
)
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_list_claims,
    help="Show every claim with its sentence.",
)
@click.option("--deadlock", is_flag=True, help="Exit 11 if a state has no transition at all.")
@click.option(
    "--trace-dir",
    type=click.Path(file_okay=False, path_type=Path),
    help="Write each counterexample there as JSON.",
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
    default=GRAPH_STATES_MAX,
    show_default=True,
    help="Most states that a graph is made of.",
)
@click.option(
    "--format",
    "output_format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="json: one object on standard output, nothing else.",
)
def check(**options: Any) -> int:
    """Explore every reachable state; say which invariants hold, and show how others break."""
    engine = take_engine(options)
    budgets = take_budgets(options)
    make_folder("--trace-dir", options["trace_dir"])
    problem, kept = take_run(options)
    with (
        closing(kept) if kept else nullcontext(),
        telling_what_is_kept(kept),
        showing(error_screen()) as progress,
    ):
        done = run(
            problem,
            engine,
            budgets=budgets,
            directory=kept,
            watch=progress.watch,
            announce=progress.announce,
        )
    if options["output_format"] == "json":
        click.echo(to_text(done))
    else:
        screen().print(render_run(done))
    if kept is not None and not done.result.complete:
        say(f"kept in {kept.storage.location}; go on with --resume {kept.storage.location}")
    code = exit_codes.exit_code(done.result, deadlock=options["deadlock"])
    try:
        _write_files(done, options)
    except TooLargeForGraph as problem:
        # What was found out weighs more than that it could not be drawn.
        return _fail(str(problem), code or exit_codes.BAD_USAGE)
    return code


def _write_files(done: Run, options: dict[str, Any]) -> None:
    if folder := options["trace_dir"]:
        write_files(
            {
                folder / trace_name(done, finding.invariant): partial(
                    to_json, finding.replayed.trace
                )
                for finding in done.findings
            }
        )
    if path := options["graph_file"]:
        graph = done.result.graph(states_max=options["graph_limit"])
        write_files({path: partial(to_graphml, graph)})


def trace_name(done: Run, invariant: str) -> str:
    """`hw-no_committed_loss-2r2n2e.json`: version, claim, bounds; before it a grain's name."""
    model = done.result.problem.model
    grain = grain_of(model.name)
    letters = {"replicas": "r", "log_size": "l", "records": "n", "epochs": "e"}
    sizes = model.layout.sizes
    bounds = "".join(f"{sizes[name]}{letter}" for name, letter in letters.items() if name in sizes)
    prefix = "" if grain is MESSAGE else f"{grain.name}-"
    return f"{prefix}{model.version}-{invariant}-{bounds}.json"


@waterline.command("view", short_help="Step through a recorded trace.")
@click.argument("trace", type=click.Path(path_type=Path))
def view_trace(trace: Path) -> int:
    """Step through a recorded trace: n next, p previous, g first, G last, q quit."""
    recorded = read_trace(trace)
    try:
        grain = grain_of(recorded.model)
        environment = grain.environment.from_options(dict(recorded.environment))
        problem = grain.problem(recorded.version, environment, [recorded.invariant])
    except BadEnvironment as problem_found:
        raise BadTrace(f"{trace}: {problem_found}") from None
    claim = next(claim for claim in problem.claims if problem.is_asked(claim))
    finding = confirmed(recorded, problem.model, claim)
    view(finding.replayed, screen(), explanation=finding.explanation)
    return exit_codes.HOLDS


@waterline.command("layout", short_help="Show the fields of a state, in bits.")
@protocol_option
@environment_options
def layout_command(**options: Any) -> int:
    """Show what a state is made of within these bounds, field by field, in bits."""
    problem = problem_from(take_given(options))
    screen().print(Trimmed(layout_table(problem.model)))
    return exit_codes.HOLDS


@waterline.command(
    "gate", short_help="Run a file of expectations.", epilog=f"{exit_codes.HELP}\n{FILES_HELP}"
)
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--junit",
    "junit_file",
    type=OutputFile(),
    help="Write the outcomes there as JUnit XML.",
)
def gate_command(file: Path, junit_file: Path | None) -> int:
    """Run the expectations in FILE; exit 0 only if every one came out as expected.

    Ctrl-C ends all of it: what was judged until then is shown.
    """
    expectations = read_gate(file)
    with showing(error_screen()) as progress:
        outcomes = _judged(expectations, progress)
    screen().print(Trimmed(outcome_table(outcomes)))
    for line in gate_advice([(o.expectation.name, o.run.result) for o in outcomes]):
        screen().print(Text(line))
    left = expectations[len(outcomes) :]
    if left:
        say(f"interrupted: {len(outcomes)} of {len(expectations)} were judged")
    if junit_file:
        write_files({junit_file: lambda: junit(outcomes, left)})
    if left:
        return exit_codes.INCOMPLETE
    return exit_codes.UNEXPECTED if any(o.complaints for o in outcomes) else exit_codes.HOLDS


def _judged(expectations: Sequence[Expectation], progress: Progress) -> list[Outcome]:
    """How each came out, up to the one in which the user ended it."""
    outcomes: list[Outcome] = []
    with suppress(KeyboardInterrupt):
        for expectation in expectations:
            progress.announce(f"{expectation.name} ...")
            done = _run_expected(expectation, progress)
            if done.result.interrupted:
                break
            outcomes.append(judge(expectation, done))
    return outcomes


@waterline.command("tour", short_help="Show what this is for.")
def tour_command() -> int:
    """Show what is lost under hw, that epoch keeps it, and a larger space explored by Spark."""
    console = screen()
    outcomes = []
    for number, stop in enumerate(stops(), start=1):
        console.rule(f"[bold]{number}. {stop.title}")
        with showing(error_screen()) as progress:
            outcome = judge(stop.expectation, _run_expected(stop.expectation, progress))
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


def _run_expected(expectation: Expectation, progress: Progress) -> Run:
    return run(
        expectation.problem,
        expectation.choice,
        budgets=expectation.budgets,
        watch=progress.watch,
        announce=progress.announce,
    )


waterline.add_command(states_command)
waterline.add_command(scenarios_command)
waterline.add_command(versions_command)
waterline.add_command(kernel_command)
waterline.add_command(matrix_command)
waterline.add_command(confirm_command)
waterline.add_command(confirm_catalogue_command)


def run_command(name: str) -> int:
    """Run `waterline` or `check` on this process's arguments; returns the exit code.

    What is wrong with an option, a file or the machine is told in one line.
    """
    forget_useless_sizes()
    command: click.Command = check if name == "check" else waterline
    try:
        return _outcome_of(command, name)
    except SystemExit:
        # Click and Rich end a command so when a pipe is closed that they write to, and never else.
        return exit_codes.READER_GONE


def _outcome_of(command: click.Command, name: str) -> int:
    try:
        return int(command.main(prog_name=name, standalone_mode=False) or exit_codes.HOLDS)
    except click.exceptions.Exit as done:
        return done.exit_code
    except click.Abort as ended:
        if isinstance(ended.__cause__, EOFError):
            # Click takes it for the end of what a user types; here it is a mistake of ours.
            raise ended.__cause__ from None
        raise KeyboardInterrupt from None
    except tuple(_TOLD) as problem:
        code = next(code for kind, code in _TOLD.items() if isinstance(problem, kind))
        return _fail(_told(problem), code)


_TOLD: dict[type[Exception], int] = {
    **dict.fromkeys(
        (
            click.ClickException,
            BadConfig,
            BadEnvironment,
            BadFile,
            BadGate,
            CannotConfirm,
            TraceError,
            TooLargeForGraph,
            BadLocation,
            BadRun,
            Damaged,
            InUse,
            NoJava,
            NoSpark,
            OSError,
        ),
        exit_codes.BAD_USAGE,
    ),
    EngineFailed: exit_codes.INTERNAL_ERROR,
    MemoryError: exit_codes.INTERNAL_ERROR,
    Raised: exit_codes.RAISED,
}
"""What is told in one line, and its exit code."""


def _told(problem: Exception) -> str:
    match problem:
        case click.ClickException():
            return problem.format_message()
        case Raised():
            return f"{problem} in {problem.state}"
        case OSError():
            return told_os_error(problem)
        case _:
            return str(problem) or "out of memory"


def _fail(message: str, code: int) -> int:
    line = Text("error: ", style="bold red").append(" ".join(message.split()), style="default")
    error_screen().print(line, soft_wrap=True)
    return code
