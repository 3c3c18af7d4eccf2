"""`waterline compare`: a recorded trace under another version or setting, side by side."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import click

from waterline.checker.analysis.compare.comparison import compare_models
from waterline.checker.analysis.compare.document import comparison_value
from waterline.checker.analysis.compare.rendering import render_comparison
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import OutputFile, write_files
from waterline.checker.cli.shared.grouped_help import GroupedCommand
from waterline.checker.cli.shared.options import (
    FEATURE_NAMES,
    PROTOCOLS,
    OneOf,
    environment_options,
    format_option,
    options_as,
)
from waterline.checker.cli.shared.own_options import bound_option, file_and_name, model_option
from waterline.checker.cli.shared.problem_options import ProblemOptions
from waterline.checker.cli.shared.recorded import load_counterexample
from waterline.checker.cli.shared.screen import screen
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.counterexamples import BadTrace
from waterline.counterexamples.rendering import Trimmed
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.features import TRUNCATIONS
from waterline.model.message.versions import spell


@dataclass(frozen=True, slots=True, kw_only=True)
class CompareOptions:
    """The trace, and what is other on the other side."""

    trace: Path
    other: ProblemOptions
    html_file: Path | None
    output_format: str


@click.command("compare", cls=GroupedCommand, epilog=exit_codes.HELP)
@click.argument("trace", type=click.Path(path_type=Path))
@click.option(
    "--protocol",
    type=OneOf(PROTOCOLS),
    metavar="VERSION",
    help=f"The other version, one of {', '.join(PROTOCOLS)}; default: the trace's own.",
)
@click.option(
    "--with",
    "added",
    type=OneOf([*TRUNCATIONS, *FEATURE_NAMES]),
    metavar="FEATURE",
    multiple=True,
    help="Add a rule to it; repeatable; `waterline versions` lists them.",
)
@click.option(
    "--without",
    "removed",
    type=OneOf([*TRUNCATIONS, *FEATURE_NAMES]),
    metavar="FEATURE",
    multiple=True,
    help="Take a rule out of it; repeatable.",
)
@environment_options
@model_option
@bound_option
@click.option(
    "--html",
    "html_file",
    type=OutputFile(),
    help="Write it there as well, as one page to step through.",
)
@format_option
@options_as(CompareOptions)
def compare_command(options: CompareOptions) -> int:
    """Make the choices of a recorded trace again under another version, side by side.

    TRACE is a file as `check --trace-dir` writes it. What is not given is as in the trace. Records,
    faults and decisions come in the same order; docs/counterexamples.md says what becomes of a step
    that the other version does not have, and which steps it takes besides.

    A claim about recovery or liveness is not judged in the other version: that needs all that can
    follow. `check` decides it there.
    """
    return compare(options)


def compare(options: CompareOptions) -> int:
    """Show the trace next to its alignment on the other side; return the exit code."""
    found = load_counterexample(options.trace, options.other.own_model)
    if found.finding.replayed.trace.raises is not None:
        raise BadTrace(f"{options.trace} ends in an error of a rule, which is not compared")
    left = found.problem
    right = _other(left, options.other)
    if left.spec == right.spec:
        raise click.UsageError(
            "that is what the trace is of; name another --protocol, a rule or a setting"
        )
    comparison = compare_models(left, found.finding.replayed, right)
    if options.output_format == "json":
        click.echo(json.dumps(comparison_value(comparison), indent=1))
    else:
        screen().print(Trimmed(render_comparison(comparison)))
    if path := options.html_file:
        from waterline.checker.report.pages.comparison_page import comparison_page  # noqa: PLC0415 - as asked

        write_files({path: partial(comparison_page, comparison)})
    return exit_codes.HOLDS


def _other(left: Problem, options: ProblemOptions) -> Problem:
    """The problem on the other side. Raises `BadEnvironment`."""
    family, model = left.family, left.model
    assert family is not None
    given = {**options.settings, **dict(options.bounds)}
    foreign = next((name for name in given if name not in model.options), None)
    if foreign is not None:
        raise BadEnvironment(
            f"{foreign} is no option of {model.name}; it has {', '.join(model.options)}"
        )
    circumstances = {**_base(family, left, options.environment), **given}
    names = [claim.name for claim in left.claims if left.is_asked(claim)]
    return family.problem(_version(family, left, options), circumstances, names)


def _base(family: Family, left: Problem, named: str | None) -> dict[str, object]:
    if named is None:
        return dict(left.model.options)
    if named not in family.environments:
        known = ", ".join(family.environments)
        raise BadEnvironment(f"--environment {named} is not one of {family.name}; it has {known}")
    options: dict[str, object] = family.environments[named].options()
    return options


def _version(family: Family, left: Problem, options: ProblemOptions) -> str:
    version = options.protocol or left.model.version
    if options.own_model is not None:
        version = file_and_name(options.own_model)[1] or version
    if options.added or options.removed:
        if family.model != MESSAGE.model:
            raise BadEnvironment(
                f"--with and --without are for {MESSAGE.model}, not {family.model}"
            )
        return spell(version, options.added, options.removed)
    if version not in family.versions and options.protocol is not None:
        known = ", ".join(family.versions)
        raise BadEnvironment(f"--protocol {version} is not one of {family.name}; it has {known}")
    return version
