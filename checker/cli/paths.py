"""`waterline paths`: paths that cover a model, as tests of an implementation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, write_files
from waterline.checker.cli.shared.options import (
    environment_options,
    options_as,
    protocol_option,
)
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.cli.shared.screen import say
from waterline.checker.problem.wording import quantity
from waterline.model.core.errors import BadEnvironment

COVERS = ("transitions", "states", "calls")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathsOptions:
    """The problem, what is covered, and the file of the corpus."""

    problem: ProblemOptions
    cover: str
    longest: int
    up_to: str | None
    output: Path
    check: bool


@click.command("paths", epilog=FILES_HELP)
@protocol_option
@environment_options
@click.option(
    "--cover",
    type=click.Choice(COVERS),
    default="transitions",
    show_default=True,
    help="What is taken at least once: every transition, every state, or every action with each "
    "combination of its arguments.",
)
@click.option(
    "--longest",
    type=click.IntRange(1),
    default=50,
    show_default=True,
    help="Most steps of a path, unless what it leads to is farther away.",
)
@click.option(
    "--up-to",
    metavar="SORT",
    help="A sort whose names are alike: of transitions that differ in these alone one is covered.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The corpus, a path on each line (JSON).",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 3 if the file is not the same.")
@options_as(PathsOptions)
def paths_command(options: PathsOptions) -> int:
    """Write paths that together take every transition of a model, in few steps (docs/testing.md).

    Each begins in an initial state. Commit the file, and replay it on your implementation.
    """
    # What needs the compiler is loaded after the options have been read.
    from waterline.checker.covering.corpus import corpus_lines, possible  # noqa: PLC0415
    from waterline.checker.covering.paths import cover_graph  # noqa: PLC0415
    from waterline.checker.covering.state_graph import graph_of  # noqa: PLC0415
    from waterline.checker.report.pages.formats import values_of  # noqa: PLC0415

    graph = graph_of(problem_from(options.problem))
    found = cover_graph(graph, options.cover, longest=options.longest, up_to=options.up_to)
    head = {"cover": options.cover, "longest": options.longest, "up_to": options.up_to}
    recorded = list(possible(graph, found, values_of))
    text = "".join(corpus_lines(graph.problem.model, recorded, head))
    steps = sum(len(path.calls) for path in recorded)
    size = (
        f"{quantity(len(graph), 'state')}, {quantity(graph.edges, 'transition')}: "
        f"{quantity(len(recorded), 'path')}, {quantity(steps, 'step')}"
    )
    if options.check:
        return _compare(options.output, text, size)
    write_files({options.output: lambda: text})
    say(size)
    return exit_codes.HOLDS


def _compare(file: Path, text: str, size: str) -> int:
    """Say whether the file has this text."""
    try:
        kept = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        raise BadEnvironment(f"--check: {file} cannot be read: {problem}") from None
    if kept == text:
        say(f"{file} covers the model: {size}")
        return exit_codes.HOLDS
    say(f"{file} is old: the model or an option has changed; write it again without --check")
    return exit_codes.UNEXPECTED
