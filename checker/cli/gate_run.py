"""Execution of `gate`: searches, shows outcomes, writes reports."""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import click
from rich.text import Text

from waterline.checker.ci.document import read_document
from waterline.checker.ci.expectation import Expectation
from waterline.checker.ci.judging import Outcome
from waterline.checker.ci.reports.as_json import to_json
from waterline.checker.ci.reports.junit import to_junit
from waterline.checker.ci.reports.markdown import to_markdown
from waterline.checker.ci.reports.merge_requests import to_gitlab, workflow_commands
from waterline.checker.ci.reports.sarif import to_sarif
from waterline.checker.ci.reports.text import command_of, describe_coverage, outcome_table
from waterline.checker.ci.searching import Manner, judge_all, shard
from waterline.checker.ci.updating import difference, update
from waterline.checker.cli.bound_advice import gate_advice
from waterline.checker.cli.gate import GateOptions
from waterline.checker.cli.gate_options import Gates
from waterline.checker.cli.run_report import render_finding
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import write_files
from waterline.checker.cli.shared.progress import Progress, ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.problem.family import words_of
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD

_CODES = {
    "raised": exit_codes.RAISED,
    "refused": exit_codes.BAD_USAGE,
    "failed": exit_codes.INTERNAL_ERROR,
}
_SHOWN_MAX = 3
"""Most counterexamples shown on the screen."""
_PRECEDENCE = {
    exit_codes.RAISED: "an action or a claim raised an error",
    exit_codes.INTERNAL_ERROR: "something could not be searched",
    exit_codes.BAD_USAGE: "something cannot be run as it was asked for",
    exit_codes.UNEXPECTED: "not as expected",
    exit_codes.INCOMPLETE: "interrupted",
    exit_codes.HOLDS: "as expected",
}
"""The worst first, each by name."""


def run_gate(options: GateOptions, gates: Gates) -> int:
    """Judge the expectations; returns the exit code."""
    expectations = gates.expectations
    if options.shard is not None:
        expectations = shard(expectations, *options.shard)
    with ending_as_by_ctrl_c(), showing(error_screen()) as progress:
        manner = _manner(progress, options, of=len(expectations))
        outcomes = judge_all(expectations, manner)
    done = {outcome.expectation.name for outcome in outcomes}
    left = [each for each in expectations if each.name not in done]
    _show(outcomes, left, len(expectations))
    _show_coverage(outcomes, options, gates.whole)
    if options.update:
        _update(options.files, outcomes)
    _write(options, outcomes, left)
    for loss in gates.lost:
        say(f"gone since {', '.join(map(str, options.since))}: {loss}")
    return _finish(outcomes, left, gates.lost)


def _manner(progress: Progress, options: GateOptions, *, of: int) -> Manner:
    """How so many expectations are searched, with what is to be seen meanwhile."""
    judged_so_far = 0

    def begin(name: str) -> None:
        progress.announce(f"{name} ...")

    def report_done(outcome: Outcome) -> None:
        nonlocal judged_so_far
        judged_so_far += 1
        described = "as expected" if outcome.is_met else "NO"
        progress.note(f"{described:11}  {outcome.expectation.name}", is_news=not outcome.is_met)
        progress.report(f"{judged_so_far} of {of} judged")

    return Manner(
        processes=options.jobs,
        uses_kept=not options.no_cache,
        begin=begin,
        watch=progress.watch,
        announce=progress.announce,
        done=report_done,
    )


def _show(outcomes: Sequence[Outcome], left: Sequence[Expectation], of: int) -> None:
    console = screen()
    console.print(Trimmed(outcome_table(outcomes)))
    _show_failures([outcome for outcome in outcomes if not outcome.is_met])
    advised = [(o.expectation.name, o.answer.result) for o in outcomes if o.answer is not None]
    for line in gate_advice(advised):
        console.print(Text(line))
    if left:
        say(f"interrupted: {len(outcomes)} of {of} were judged")


def _show_coverage(outcomes: Sequence[Outcome], options: GateOptions, whole: int) -> None:
    """Say how much of the files all of this is about."""
    parts = [f"profile {options.profile}"] if options.profile is not None else []
    if options.shard is not None:
        parts.append("shard {}/{}".format(*options.shard))
    screen().print(Text(describe_coverage(outcomes, whole, parts)))


def _show_failures(failed: Sequence[Outcome]) -> None:
    """Print the counterexamples of the first few, as `check` shows them, and the commands."""
    if not failed:
        return
    console = screen()
    for outcome in failed[:_SHOWN_MAX]:
        console.print(Text.assemble((outcome.expectation.name, BAD)), soft_wrap=True)
        console.print(Text(f"expected at {outcome.expectation.place}; shown by"), soft_wrap=True)
        console.print(Text(f"  {command_of(outcome)}"), soft_wrap=True)
        claim = outcome.shown_claim
        finding = outcome.answer.finding(claim) if outcome.answer and claim else None
        if finding is not None:
            words = words_of(outcome.expectation.problem)
            console.print(Trimmed(render_finding(finding, words)))
        console.print()
    if len(failed) > _SHOWN_MAX:
        console.print(Text(f"{len(failed) - _SHOWN_MAX:,} more; --summary FILE has them all."))


def _update(files: Sequence[Path], outcomes: Sequence[Outcome]) -> None:
    """Rewrite the numbers of every file that has one that differs."""
    for file in files:
        document = read_document(file)
        of_file = [o for o in outcomes if o.expectation.place.file == str(file)]
        text = update(document, of_file)
        described = difference(document.text, text, str(file))
        if not described:
            say(f"{file}: no number differs")
            continue
        click.echo(described, nl=False)
        mark = "\ufeff" if file.read_bytes().startswith(b"\xef\xbb\xbf") else ""
        write_files({file: lambda text=mark + text: text})  # type: ignore[misc]


def _write(options: GateOptions, outcomes: Sequence[Outcome], left: Sequence[Expectation]) -> None:
    """Write every report requested."""
    reports = (
        (options.junit_file, to_junit),
        (options.sarif_file, to_sarif),
        (options.gitlab_file, to_gitlab),
        (options.json_file, to_json),
        (options.summary_file, to_markdown),
    )
    if options.github:
        _annotate(outcomes, left)
    write_files({file: functools.partial(render, outcomes, left) for file, render in reports})


def _annotate(outcomes: Sequence[Outcome], left: Sequence[Expectation]) -> None:

    for line in workflow_commands(outcomes, left):
        click.echo(line)
    if path := os.environ.get("GITHUB_STEP_SUMMARY"):
        with suppress(OSError), Path(path).open("a", encoding="utf-8") as file:
            file.write(to_markdown(outcomes, left))


def _finish(outcomes: Sequence[Outcome], left: Sequence[Expectation], lost: Sequence[str]) -> int:
    """Print the count of each outcome, and return the worst exit code."""
    codes = [_code(outcome) for outcome in outcomes] + [exit_codes.UNEXPECTED] * len(lost)
    codes += [exit_codes.INCOMPLETE] * len(left)
    counts = [(name, codes.count(code)) for code, name in _PRECEDENCE.items() if code in codes]
    if len(counts) > 1:
        say("; ".join(f"{count} {name}" for name, count in counts))
    return min(codes, key=list(_PRECEDENCE).index, default=exit_codes.HOLDS)


def _code(outcome: Outcome) -> int:
    if outcome.trouble is not None:
        return _CODES[outcome.trouble.kind]
    return exit_codes.HOLDS if outcome.is_met else exit_codes.UNEXPECTED
