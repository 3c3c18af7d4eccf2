"""`waterline gate`: a file of expectations, each run and judged."""

from __future__ import annotations

from pathlib import Path

import click
from rich.text import Text

from checker.console import exit_codes
from checker.console.bound_advice import gate_advice
from checker.console.file_options import FILES_HELP, OutputFile, write_files
from checker.console.gate import junit, outcome_table, read_gate
from checker.console.progress import showing
from checker.console.screen import error_screen, say, screen
from counterexamples import Trimmed


@click.command("gate", epilog=f"{exit_codes.HELP}\n{FILES_HELP}")
@click.argument("file", type=click.Path(path_type=Path))
@click.option(
    "--junit",
    "junit_file",
    type=OutputFile(),
    help="Write the outcomes there as JUnit XML.",
)
@click.option(
    "--allow-models",
    is_flag=True,
    help="Entries may name models of somebody's own: Python files, which are run.",
)
def gate_command(file: Path, junit_file: Path | None, allow_models: bool) -> int:
    """Run the expectations in FILE; exit 0 only if every one came out as expected.

    Ctrl-C ends all of it: what was judged until then is shown.
    """
    expectations = read_gate(file, allow_models=allow_models)
    from checker.console.judging import judged  # noqa: PLC0415 - a bad file needs no engine

    with showing(error_screen()) as progress:
        outcomes = judged(expectations, progress)
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
