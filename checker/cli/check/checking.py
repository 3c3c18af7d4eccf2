"""Execution of `check`: the run, its report, and the files it writes."""

from __future__ import annotations

import shlex
from contextlib import closing, nullcontext, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import click
from rich.console import Group
from rich.text import Text

from waterline.checker.checking.run import Run, RunRaised, run
from waterline.checker.cli.check.certificate import certifying, describe_certificate
from waterline.checker.cli.check.report import render_run
from waterline.checker.cli.check.summary import to_text
from waterline.checker.cli.kept.run_options import take_run
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.broken_down import reporting_what_is_kept
from waterline.checker.cli.shared.error_messages import fail
from waterline.checker.cli.shared.file_options import make_folder, write_files
from waterline.checker.cli.shared.options import require_engine, take_budgets, take_engine
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.cli.traces.viewing import is_interactive, view
from waterline.checker.problem.where import nothing
from waterline.checker.report.pages.limits import TooLongForPage
from waterline.checker.search.engines.choice import lacks_spark
from waterline.checker.search.graph import TooLargeForGraph, to_graphml
from waterline.checker.traces.finding import file_claim, trace_name
from waterline.counterexamples import to_json
from waterline.counterexamples.rendering import Trimmed

if TYPE_CHECKING:
    from waterline.checker.checking.bound_sensitivity import Lowered
    from waterline.checker.cli.traces.explaining import Explained
    from waterline.checker.problem.problem import Problem
    from waterline.checker.search.engines.choice import EngineChoice
    from waterline.checker.traces.finding import Finding


def check(options: dict[str, Any]) -> int:
    """Run what the options ask for, and show it; returns the exit code."""
    spark = lacks_spark() if options["engine"] is None else ""
    engine = take_engine(options)
    require_engine(engine)
    budgets = take_budgets(options)
    make_folder("--trace-dir", options["trace_dir"])
    own_model = options["own_model"]
    certificate = options["certificate"]
    added, removed = options["added"], options["removed"]
    problem, kept = take_run(options)
    warnings = _warnings(problem, own_model)
    finished = certifying(certificate, problem) if certificate is not None else None
    another = _another(problem, options)
    with (
        closing(kept) if kept else nullcontext(),
        reporting_what_is_kept(kept),
        showing(error_screen()) as progress,
    ):
        try:
            done = run(
                problem,
                engine,
                budgets=budgets,
                directory=kept,
                another=another,
                profiled=options["profiled"],
                watch=progress.watch,
                announce=progress.announce,
                finished=finished,
            )
        except RunRaised as raised:
            done = raised.run
    lowered = _lower_bounds(done, engine)
    is_text = options["output_format"] == "text"
    explained: list[Explained] | None = None
    if is_text:
        _show(done, lowered, is_whole=options["is_whole"], spark=spark)
        if added or removed:
            _compare(done, added, removed, engine)
    else:
        explained = _explain_each(done, options, engine)
        values = {one.finding.invariant: one.as_value() for one in explained}
        click.echo(to_text(done, values, lowered, warnings))
    if kept is not None and not done.result.complete and done.error is None:
        say(f"kept in {kept.storage.location}; go on with --resume {kept.storage.location}")
    if certificate is not None:
        say(describe_certificate(certificate, done.result))
    code = (
        exit_codes.exit_code(done.result, deadlock=options["deadlock"])
        if done.error is None
        else fail(str(done.error.raised), exit_codes.RAISED)
    )
    try:
        _write_files(done, options)
        if explained is None:
            # After the report and the files, for it takes long.
            explained = _explain_each(done, options, engine)
            for one in explained:
                screen().print(Group(Text(), one.render()))
        _write_page(done, options, explained)
    except (TooLargeForGraph, TooLongForPage) as found:
        # What was found out weighs more than that it could not be drawn.
        return fail(str(found), code or exit_codes.BAD_USAGE)
    if done.shown and is_text and is_interactive():
        _offer(done, options, own_model)
    return code


def _warnings(problem: Problem, own_model: str | None) -> tuple[str, ...]:
    """Print and return the warnings about a user model, a line each."""
    if own_model is None:
        return ()
    from waterline.checker.user_models.warnings import warnings_of  # noqa: PLC0415 - of such models alone

    found = warnings_of(problem)
    for warning in found:
        say(f"warning: {warning}")
    return found


def _show(done: Run, lowered: tuple[Lowered, ...], *, is_whole: bool, spark: str) -> None:
    """Print the report, with what it says of Spark, and the profile if the run has one."""
    shown = done.findings if is_whole else _gravest(done)
    claims = [finding.invariant for finding in shown]
    screen().print(render_run(done, shown=claims, spark=spark))
    if done.profile is not None:
        from waterline.checker.cli.check.profile_report import render_profile  # noqa: PLC0415

        screen().print(render_profile(done.result, done.profile, lowered))


def _gravest(done: Run) -> tuple[Finding, ...]:
    return () if done.gravest is None else (done.gravest,)


def _compare(
    done: Run, added: tuple[str, ...], removed: tuple[str, ...], engine: EngineChoice
) -> None:
    """Say where the rules that were switched make no difference."""
    from waterline.checker.cli.check.switched import describe_no_difference  # noqa: PLC0415 - few switch rules

    with showing(error_screen()) as progress:
        text = describe_no_difference(
            done.result, added, removed, threads=engine.threads, announce=progress.announce
        )
    if text is not None:
        screen().print(Trimmed(Text(text)))


def _another(problem: Problem, options: dict[str, Any]) -> int:
    """How many further counterexamples are wanted. Raises `UsageError`."""
    wanted: int = options["another"] or 0
    if wanted and (problem.asked is None or len(problem.asked) != 1):
        raise click.UsageError("--another is about one claim; name it with --invariant")
    if wanted and problem.symmetry.sorts:
        raise click.UsageError("--another tells actors apart; leave out --symmetry")
    return wanted


def _offer(done: Run, options: dict[str, Any], own_model: str | None) -> None:
    """Step through the first counterexample under `--view`; otherwise print how to do so."""
    first = done.gravest or done.shown[0]
    if options["viewed"]:
        claims = {claim.name: claim for claim in (*done.result.problem.claims, nothing())}
        view(first, claims[first.invariant])
    elif folder := options["trace_dir"]:
        name = trace_name(done.result.problem, file_claim(first))
        command = ["waterline", "view", str(folder / name)]
        if own_model is not None:
            command += ["--model", own_model]
        say(f"step through it: {shlex.join(command)}")
    else:
        say("add --view to step through the counterexample")


def _explain_each(done: Run, options: dict[str, Any], engine: EngineChoice) -> list[Explained]:
    """Explain each counterexample shown (its causes and repairs) under `--explain`."""
    is_short = options["output_format"] == "text" and not options["html_file"]
    findings = _gravest(done) if is_short and not options["is_whole"] else done.findings
    if not options["explain"] or not findings:
        return []
    # Most runs explain nothing.
    from waterline.checker.cli.traces.explaining import ExplainOptions, explained_all  # noqa: PLC0415

    with showing(error_screen()) as progress:
        asked = ExplainOptions(threads=engine.threads)
        return explained_all(done.result.problem, findings, asked, progress)


def _lower_bounds(done: Run, engine: EngineChoice) -> tuple[Lowered, ...]:
    """Return the effect of lowering each bound, if the run has a profile; empty after Ctrl-C."""
    if done.profile is None:
        return ()
    from waterline.checker.checking.bound_sensitivity import lowered_bounds  # noqa: PLC0415 - most runs have no profile

    with showing(error_screen()) as progress, suppress(KeyboardInterrupt):
        return lowered_bounds(done.result, done.profile, engine, progress.announce)
    return ()


def _write_files(done: Run, options: dict[str, Any]) -> None:
    if folder := options["trace_dir"]:
        write_files(
            {
                folder / trace_name(done.result.problem, file_claim(finding)): partial(
                    to_json, finding.replayed.trace
                )
                for finding in done.shown
            }
            | {
                folder / trace_name(done.result.problem, name, number): partial(
                    to_json, finding.replayed.trace
                )
                for name, others in done.others.items()
                for number, finding in enumerate(others.findings, start=1)
            }
        )
    if path := options["graph_file"]:
        graph = done.result.graph(states_max=options["graph_limit"])
        write_files({path: partial(to_graphml, graph)})


def _write_page(done: Run, options: dict[str, Any], explained: list[Explained]) -> None:
    """Last, because it holds what was explained as well."""
    if path := options["html_file"]:
        from waterline.checker.report.pages.report import run_page  # noqa: PLC0415 - few ask for a page

        values = {one.finding.invariant: one.as_value() for one in explained}
        write_files({path: partial(run_page, done, values)})
