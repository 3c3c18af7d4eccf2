"""Execution of `check`: the run, its report, and the files it writes."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from contextlib import closing, nullcontext, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Group
from rich.text import Text

from waterline.checker.checking.run import Run, RunRaised, run
from waterline.checker.cli.explain import Parts
from waterline.checker.cli.run_json import to_text
from waterline.checker.cli.run_report import render_run
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.errors import fail, reporting_what_is_kept
from waterline.checker.cli.shared.file_options import make_folder, new_folder, write_files
from waterline.checker.cli.shared.options import require_engine
from waterline.checker.cli.shared.problem_options import problem_from
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, is_interactive, say, screen
from waterline.checker.problem.distribution import require
from waterline.checker.problem.errors import Refused
from waterline.checker.problem.family import words_of
from waterline.checker.problem.symmetry import Symmetry
from waterline.checker.problem.where import nothing
from waterline.checker.problem.wording import describe_version, quantity
from waterline.checker.search.engines.engine import EngineChoice, lacks_spark
from waterline.checker.search.result import Budgets, Result, Verdict
from waterline.checker.traces.finding import file_claim, trace_name
from waterline.counterexamples import to_json
from waterline.counterexamples.rendering import Trimmed
from waterline.model.message.versions import spell

if TYPE_CHECKING:
    from waterline.checker.checking.bound_sensitivity import Lowered
    from waterline.checker.cli.check import CheckOptions
    from waterline.checker.cli.explaining import Explained
    from waterline.checker.problem.problem import Problem
    from waterline.checker.search.engines.engine import Engine
    from waterline.checker.storage.run_directory import RunDirectory
    from waterline.checker.traces.finding import Finding

_QUICK_SECONDS = 5.0
"""A search so short is made again for the comparison."""


def check(options: CheckOptions) -> int:
    """Run what the options ask for, and show it; returns the exit code."""
    spark = lacks_spark() if options.engine.engine is None else ""
    engine = options.engine.choice()
    require_engine(engine)
    make_folder("--trace-dir", options.trace_dir)
    problem, kept = _problem_and_directory(options)
    warnings = _warnings(problem, options.problem.own_model)
    certificate = options.certificate
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
                budgets=options.budgets,
                directory=kept,
                another=another,
                profiled=options.profiled,
                watch=progress.watch,
                announce=progress.announce,
                finished=finished,
            )
        except RunRaised as raised:
            done = raised.run
    lowered = _lower_bounds(done, engine)
    explained: list[Explained] | None = None
    if options.is_text:
        _show(done, lowered, is_whole=options.is_whole, spark=spark)
        _compare(done, options.problem.added, options.problem.removed, engine)
    else:
        explained = _explain_each(done, options, engine)
        values = {one.finding.invariant: one.as_value() for one in explained}
        click.echo(to_text(done, values, lowered, warnings))
    if kept is not None and not done.result.complete and done.error is None:
        say(f"kept in {kept.storage.location}; go on with --resume {kept.storage.location}")
    if certificate is not None:
        say(describe_certificate(certificate, done.result))
    code = (
        exit_codes.exit_code(done.result, deadlock=options.deadlock)
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
    except Refused as found:
        # What was found out weighs more than that it could not be drawn.
        return fail(str(found), code or exit_codes.BAD_USAGE)
    if done.shown and options.is_text and is_interactive():
        _offer(done, options)
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
        from waterline.checker.cli.profile_report import render_profile  # noqa: PLC0415

        screen().print(render_profile(done.result, done.profile, lowered))


def _gravest(done: Run) -> tuple[Finding, ...]:
    return () if done.gravest is None else (done.gravest,)


def _compare(
    done: Run, added: tuple[str, ...], removed: tuple[str, ...], engine: EngineChoice
) -> None:
    """Say where the rules that were switched make no difference."""
    if not added and not removed:
        return
    with showing(error_screen()) as progress:
        text = describe_no_difference(
            done.result, added, removed, threads=engine.threads, announce=progress.announce
        )
    if text is not None:
        screen().print(Trimmed(Text(text)))


def _another(problem: Problem, options: CheckOptions) -> int:
    """How many further counterexamples are wanted. Raises `UsageError`."""
    wanted = options.another or 0
    if wanted and (problem.asked is None or len(problem.asked) != 1):
        raise click.UsageError("--another is about one claim; name it with --invariant")
    if wanted and problem.symmetry.sorts:
        raise click.UsageError("--another tells actors apart; leave out --symmetry")
    return wanted


def _offer(done: Run, options: CheckOptions) -> None:
    """Step through the first counterexample under `--view`; otherwise print how to do so."""
    first = done.gravest or done.shown[0]
    if options.viewed:
        # Traces of other tools, which it reads as well, cost a verdict a thirtieth of its time.
        from waterline.checker.cli.view import view  # noqa: PLC0415

        claims = {claim.name: claim for claim in (*done.result.problem.claims, nothing())}
        view(first, claims[first.invariant])
    elif folder := options.trace_dir:
        name = trace_name(done.result.problem, file_claim(first))
        command = ["waterline", "view", str(folder / name)]
        if options.problem.own_model is not None:
            command += ["--model", options.problem.own_model]
        say(f"step through it: {shlex.join(command)}")
    else:
        say("add --view to step through the counterexample")


def _explain_each(done: Run, options: CheckOptions, engine: EngineChoice) -> list[Explained]:
    """Explain each counterexample shown (its causes and repairs) under `--explain`."""
    is_short = options.is_text and options.html_file is None and not options.is_whole
    findings = _gravest(done) if is_short else done.findings
    if not options.explain or not findings:
        return []
    # Most runs explain nothing.
    from waterline.checker.cli.explaining import explained_all  # noqa: PLC0415

    with showing(error_screen()) as progress:
        parts = Parts(threads=engine.threads)
        return explained_all(done.result.problem, findings, parts, progress)


def _lower_bounds(done: Run, engine: EngineChoice) -> tuple[Lowered, ...]:
    """Return the effect of lowering each bound, if the run has a profile; empty after Ctrl-C."""
    if done.profile is None:
        return ()
    from waterline.checker.checking.bound_sensitivity import lowered_bounds  # noqa: PLC0415 - most runs have no profile

    with showing(error_screen()) as progress, suppress(KeyboardInterrupt):
        return lowered_bounds(done.result, done.profile, engine, progress.announce)
    return ()


def _write_files(done: Run, options: CheckOptions) -> None:
    if folder := options.trace_dir:
        named = [(file_claim(finding), 0, finding) for finding in done.shown]
        named += [
            (name, number, finding)
            for name, others in done.others.items()
            for number, finding in enumerate(others.findings, start=1)
        ]
        write_files(
            {
                folder / trace_name(done.result.problem, name, number): partial(
                    to_json, finding.replayed.trace
                )
                for name, number, finding in named
            }
        )
    if options.graph_file is not None and done.error is None:
        _write_graph(done.result.problem, options.graph_file, options.graph_limit)


def _problem_and_directory(options: CheckOptions) -> tuple[Problem, RunDirectory | None]:
    if options.run_dir is None and options.resume is None:
        return problem_from(options.problem), None
    # Only a run that is kept needs what reads and writes manifests.
    from waterline.checker.cli.run_directories import problem_and_directory  # noqa: PLC0415

    return problem_and_directory(options.problem, options.run_dir, options.resume)


def _write_graph(problem: Problem, path: Path, states_max: int) -> None:
    """Every state, whatever the symmetry of the search."""
    # Few want a graph.
    from waterline.checker.covering.state_graph import graph_of  # noqa: PLC0415
    from waterline.checker.report.pages.surroundings import fields_of, to_graphml  # noqa: PLC0415

    whole, model = replace(problem, symmetry=Symmetry.NONE), problem.model
    graph = graph_of(whole, states_max=states_max, limit="--graph-limit")
    named = graph.to_networkx(
        lambda number: fields_of(graph.state(number)),
        lambda edge: {"action": model.narration.call(*graph.call(edge), model)},
    )
    write_files({path: partial(to_graphml, named)})


def _write_page(done: Run, options: CheckOptions, explained: list[Explained]) -> None:
    """Last, because it holds what was explained as well."""
    if path := options.html_file:
        from waterline.checker.report.pages.report import run_page  # noqa: PLC0415 - few ask for a page

        values = {one.finding.invariant: one.as_value() for one in explained}
        write_files({path: partial(run_page, done, values)})


def certifying(out: str, problem: Problem) -> Callable[[Engine, Result], None]:
    """Return the function that writes the certificate when the run is complete.

    Raises `Missing`, and `UsageError` if it could not be written, or would show nothing.
    """
    require("pyarrow", "arrow", "--certificate")
    folder = new_folder("--certificate", out)
    if not any(problem.is_checked(claim) for claim in problem.judged):
        raise click.UsageError(
            "--certificate shows claims about states and steps, and none is asked; ask one"
        )
    return partial(_write, out=folder)


def _write(engine: Engine, result: Result, *, out: Path) -> None:
    from waterline.checker.analysis.certificate.writing import write_certificate  # noqa: PLC0415 - pyarrow

    if _holding(result):
        write_certificate(engine, result, out=out)


def describe_certificate(out: str, result: Result) -> str:
    """Return the line about the certificate: where it is, or why there is none."""
    if not result.complete:
        return f"no certificate was written to {out}: the run was stopped by {result.stopped_by}"
    holding = _holding(result)
    if not holding:
        return f"no certificate was written to {out}: no claim about states or steps holds for sure"
    return (
        f"wrote a certificate of {quantity(holding, 'claim')} to {out}; "
        f"judge it with waterline certify {out}"
    )


def _holding(result: Result) -> int:
    """How many claims about states and steps hold."""
    names = {claim.name for claim in result.problem.judged}
    return sum(r.verdict is Verdict.HOLDS and r.name in names for r in result.invariants)


def describe_no_difference(
    result: Result,
    added: tuple[str, ...],
    removed: tuple[str, ...],
    *,
    threads: int,
    announce: Callable[[str], None],
) -> str | None:
    """`No difference within these bounds: ...`; None for one, or where none was looked for."""
    if not result.complete or result.seconds > _QUICK_SECONDS:
        return None
    problem = result.problem
    family, version = problem.family, problem.model.version
    assert family is not None
    usual = version.removesuffix(spell("", added, removed))
    announce(f"comparing with {describe_version(usual)}")
    other = run(
        replace(problem.spec, version=usual).build(lambda model: family),
        EngineChoice(name="local", threads=threads),
        budgets=Budgets(max_seconds=2 * _QUICK_SECONDS),
    ).result
    mine, theirs = _verdicts(result), _verdicts(other)
    shared = mine.keys() & theirs.keys()
    if not other.complete or any(mine[name] != theirs[name] for name in shared):
        return None
    where = "" if mine.keys() == theirs.keys() else " on all claims that apply to both"
    text = (
        f"No difference within these bounds: {describe_version(usual)} has the same verdicts as "
        f"{describe_version(version)}{where}."
    )
    for action in result.always_cut:
        if budget := result.spent_budget(action):
            option = words_of(problem).option(budget, 1)
            text += f" {budget}=0 cuts {action} always: try {option}."
    return text


def _verdicts(result: Result) -> dict[str, tuple[Verdict, int | None]]:
    """The verdicts on the claims that apply to the version."""
    return {
        r.name: (r.verdict, r.depth)
        for r in result.invariants
        if r.verdict is not Verdict.NOT_APPLICABLE
    }
