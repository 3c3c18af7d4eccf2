"""`waterline paths`: paths that cover a model, as tests of an implementation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import FILES_HELP, make_folder
from waterline.checker.cli.shared.options import (
    environment_options,
    options_as,
    protocol_option,
)
from waterline.checker.cli.shared.problem_options import ProblemOptions, problem_from
from waterline.checker.cli.shared.screen import say
from waterline.checker.problem.distribution import require
from waterline.checker.problem.wording import quantity
from waterline.counterexamples.formats import to_itf
from waterline.counterexamples.named_file import require_replaceable, written_whole
from waterline.model.core.errors import BadEnvironment

_FILES = "path_*.itf.json"
COVERS = ("transitions", "states", "calls", "guards")


@dataclass(frozen=True, slots=True, kw_only=True)
class PathsOptions:
    """The problem, what is covered, and the file of the corpus."""

    problem: ProblemOptions
    cover: str
    longest: int
    up_to: str | None
    optimal: bool
    to: str
    refused: bool
    output: Path
    check: bool


def _refuse_symmetry(_: object, __: object, sort: str | None) -> None:
    if sort is not None:
        raise click.UsageError(
            f"a state up to symmetry has no steps of its own, so paths has no --symmetry; "
            f"--up-to {sort} covers one of the transitions that are alike"
        )


@click.command("paths", epilog=FILES_HELP)
@protocol_option
@environment_options
@click.option(
    "--cover",
    type=click.Choice(COVERS),
    default="transitions",
    show_default=True,
    help="What is taken at least once: every transition, every state, every action with each "
    "combination of its arguments, or each guard where it alone refuses a call.",
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
    "--optimal",
    is_flag=True,
    help="The fewest steps for all transitions, a path counting as one, by a minimum-cost flow.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    metavar="FILE",
    help="The corpus: a file, or with --to itf a folder of files.",
)
@click.option(
    "--to",
    type=click.Choice(["jsonl", "itf"]),
    default="jsonl",
    show_default=True,
    help="A path on each line (JSON), or each in a file in the Informal Trace Format.",
)
@click.option(
    "--refused",
    is_flag=True,
    help="jsonl: with each state also the calls that are not enabled, to be refused.",
)
@click.option("--check", is_flag=True, help="Write nothing; exit 3 if a file is not the same.")
@click.option("--symmetry", hidden=True, expose_value=False, callback=_refuse_symmetry)
@options_as(PathsOptions)
def paths_command(options: PathsOptions) -> int:
    """Write paths that together take every transition of a model, in few steps (docs/testing.md).

    Each begins in an initial state. Commit the file, and replay it on your implementation.
    """
    _require_writable(options)
    if options.optimal:
        require("scipy", "optimal", "paths --optimal")
    # What needs the compiler is loaded after the options have been read.
    from waterline.checker.covering.corpus import corpus_lines, possible  # noqa: PLC0415
    from waterline.checker.covering.covers import cover_graph  # noqa: PLC0415
    from waterline.checker.covering.state_graph import graph_of  # noqa: PLC0415
    from waterline.checker.mutants.guards import goals_of_guards  # noqa: PLC0415

    graph = graph_of(problem_from(options.problem))
    found = cover_graph(
        graph,
        options.cover,
        longest=options.longest,
        up_to=options.up_to,
        optimal=options.optimal,
        guards=goals_of_guards,
    )
    head = {"cover": options.cover, "longest": options.longest, "up_to": options.up_to}
    if options.optimal:
        head["optimal"] = True
    recorded = list(possible(graph, found))
    if options.to == "itf":
        texts = {
            options.output / f"path_{number:05}.itf.json": to_itf(path.recording)
            for number, path in enumerate(recorded, 1)
        }
    else:
        lines = corpus_lines(graph.problem.model, recorded, head, refused=options.refused)
        texts = {options.output: "".join(lines)}
    steps = sum(len(path.recording.trace.steps) for path in recorded)
    size = (
        f"{quantity(len(graph), 'state')}, {quantity(graph.edges, 'transition')}: "
        f"{quantity(len(recorded), 'path')}, {quantity(steps, 'step')}"
    )
    if options.check:
        return _compare(options, texts, size)
    _write(options, texts)
    say(size)
    return exit_codes.HOLDS


def _require_writable(options: PathsOptions) -> None:
    """Refuse before the search what cannot be written after it."""
    if options.refused and options.to == "itf":
        raise click.UsageError("--refused is for --to jsonl; ITF has no place for such calls")
    if options.check:
        return
    if options.to == "itf":
        make_folder("--output", options.output)
    else:
        require_replaceable(options.output)


def _write(options: PathsOptions, texts: Mapping[Path, str]) -> None:
    """Write the corpus, and remove files of an earlier one that had more paths."""
    for path, text in texts.items():
        with written_whole(path) as file:
            file.write(text.encode())
    for old in _there(options) - set(texts):
        old.unlink()
    what = f"{quantity(len(texts), 'file')} in " if options.to == "itf" else ""
    say(f"wrote {what}{options.output}")


def _there(options: PathsOptions) -> set[Path]:
    """The files of the corpus that is there."""
    return set(options.output.glob(_FILES)) if options.to == "itf" else {options.output}


def _compare(options: PathsOptions, texts: Mapping[Path, str], size: str) -> int:
    """Say whether the corpus that is there has these texts."""
    try:
        kept = {file: file.read_text(encoding="utf-8") for file in _there(options)}
    except (OSError, UnicodeDecodeError) as problem:
        raise BadEnvironment(f"--check: {options.output} cannot be read: {problem}") from None
    if kept == texts:
        say(f"{options.output} covers the model: {size}")
        return exit_codes.HOLDS
    remedy = "write it again without --check"
    say(f"{options.output} is old: the model or an option has changed; {remedy}")
    return exit_codes.UNEXPECTED
