"""Execution of `compare`: builds the other side from the options, shows both."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import click

from waterline.checker.analysis.compare.comparison import compare_models
from waterline.checker.analysis.compare.document import comparison_value
from waterline.checker.analysis.compare.rendering import render_comparison
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import write_files
from waterline.checker.cli.shared.options import ENVIRONMENT_OPTIONS
from waterline.checker.cli.shared.own_options import file_and_name
from waterline.checker.cli.shared.screen import screen
from waterline.checker.cli.traces.recorded import load_counterexample
from waterline.checker.kafka.families import MESSAGE
from waterline.checker.problem.family import Family
from waterline.checker.problem.problem import Problem
from waterline.counterexamples import BadTrace
from waterline.counterexamples.rendering import Trimmed
from waterline.model.core.errors import BadEnvironment
from waterline.model.message.versions import spell


def compare(options: dict[str, Any]) -> int:
    """Show the trace next to its alignment on the other side; return the exit code."""
    own_model = options["own_model"]
    found = load_counterexample(options["trace"], own_model)
    if found.finding.replayed.trace.raises is not None:
        raise BadTrace(f"{options['trace']} ends in an error of a rule, which is not compared")
    left = found.problem
    right = _other(left, options)
    if left.spec == right.spec:
        raise click.UsageError(
            "that is what the trace is of; name another --protocol, a rule or a setting"
        )
    comparison = compare_models(left, found.finding.replayed, right)
    if options["output_format"] == "json":
        click.echo(json.dumps(comparison_value(comparison), indent=1))
    else:
        screen().print(Trimmed(render_comparison(comparison)))
    if path := options["html_file"]:
        from waterline.checker.report.pages.comparison_page import comparison_page  # noqa: PLC0415 - as asked

        write_files({path: partial(comparison_page, comparison)})
    return exit_codes.HOLDS


def _other(left: Problem, options: dict[str, Any]) -> Problem:
    """The problem on the other side. Raises `BadEnvironment`."""
    family, model = left.family, left.model
    assert family is not None
    given = {name: options[name.replace("-", "_")] for name in ENVIRONMENT_OPTIONS}
    given = {name: value for name, value in given.items() if value is not None}
    given |= dict(options["bounds"])
    foreign = next((name for name in given if name not in model.options), None)
    if foreign is not None:
        raise BadEnvironment(
            f"{foreign} is no option of {model.name}; it has {', '.join(model.options)}"
        )
    circumstances = {**_base(family, left, options["environment"]), **given}
    names = [claim.name for claim in left.claims if left.is_asked(claim)]
    return family.problem_of(_version(family, left, options), circumstances, names)


def _base(family: Family, left: Problem, named: str | None) -> dict[str, object]:
    if named is None:
        return dict(left.model.options)
    if named not in family.environments:
        known = ", ".join(family.environments)
        raise BadEnvironment(f"--environment {named} is not one of {family.name}; it has {known}")
    options: dict[str, object] = family.environments[named].options()
    return options


def _version(family: Family, left: Problem, options: dict[str, Any]) -> str:
    version: str = options["protocol"] or left.model.version
    if options["own_model"] is not None:
        version = file_and_name(options["own_model"])[1] or version
    if options["added"] or options["removed"]:
        if family.model != MESSAGE.model:
            raise BadEnvironment(
                f"--with and --without are for {MESSAGE.model}, not {family.model}"
            )
        return spell(version, options["added"], options["removed"])
    if version not in family.versions and options["protocol"] is not None:
        known = ", ".join(family.versions)
        raise BadEnvironment(f"--protocol {version} is not one of {family.name}; it has {known}")
    return version
