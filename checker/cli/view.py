"""`waterline view`: a recorded trace, step by step."""

from __future__ import annotations

from pathlib import Path

import click

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import where_option
from waterline.checker.cli.shared.own_options import model_option
from waterline.checker.cli.shared.recorded import Recorded, load_counterexample
from waterline.checker.cli.shared.screen import is_interactive, screen
from waterline.checker.kafka.narrative.story import reasons, story_of
from waterline.checker.problem.spec import WHERE
from waterline.checker.problem.where import Condition
from waterline.checker.traces.finding import Finding
from waterline.counterexamples.formats.itf_states import ItfTrace, trace_of_another_tool
from waterline.counterexamples.formats.itf_table import render_itf
from waterline.counterexamples.rendering import render_full
from waterline.model.core.claim import Claim


@click.command("view")
@click.argument("trace", type=click.Path(path_type=Path))
@model_option
@where_option("Mark the steps after which this is true; as s.leo[0] > 1.")
@click.option("--plain", is_flag=True, help="Print every step and state, as into a pipe.")
def view_command(trace: Path, own_model: str | None, where: str | None, plain: bool) -> int:
    """Step through a recorded trace: j next, k back, ? all keys, q quit (docs/counterexamples.md).

    Into a pipe all of it is printed. A trace that Quint, Apalache or TLC wrote is shown as it is.
    """
    if (of_another_tool := trace_of_another_tool(trace)) is not None:
        _require_nothing_asked(trace, own_model, where)
        if is_interactive() and not plain:
            return view_itf(of_another_tool)
        screen().print(render_itf(of_another_tool))
        return exit_codes.HOLDS
    found = load_counterexample(trace, own_model)
    finding = found.finding
    asked = _condition(found, where)
    if is_interactive() and not plain:
        return view(finding, found.claim, asked)
    described = reasons(story_of(finding))
    whole = render_full(
        finding.replayed,
        explanation=finding.explanation,
        reasons=described,
        remarks=_remarks(finding, asked) if asked else {},
    )
    screen().print(whole)
    return exit_codes.HOLDS


def _require_nothing_asked(trace: Path, own_model: str | None, where: str | None) -> None:
    for option, value in (("--model", own_model), ("--where", where)):
        if value is not None:
            raise click.UsageError(
                f"{trace} is a trace of another tool, shown without its model; leave out {option}"
            )


def _condition(found: Recorded, where: str | None) -> Condition | None:
    """The condition that was given; else the one that the trace was found for, if any."""
    problem = found.problem
    text = where if where is not None else str(problem.model.options.get(WHERE, ""))
    assert problem.family is not None
    return problem.family.condition(text, problem.model) if text or where is not None else None


def _remarks(finding: Finding, asked: Condition) -> dict[int, str]:
    """Return remarks on the states where the condition is true, by number of the state."""
    settings = finding.model.settings
    states = enumerate(finding.replayed.states)
    return {n: f"where {asked.text}: true" for n, s in states if asked.holds(s, settings)}


def view(finding: Finding, claim: Claim, asked: Condition | None = None) -> int:
    """Step through a counterexample, and mark the states where the condition `asked` is true.

    Returns the exit code.
    """
    # Only who looks at a screen needs what draws it.
    from waterline.checker.report.viewer.app import Viewer  # noqa: PLC0415

    return Viewer(story_of(finding), claim, asked).run() or 0


def view_itf(trace: ItfTrace) -> int:
    """Step through the states of another tool's trace. Returns the exit code."""
    from waterline.checker.report.viewer.itf_app import ItfViewer  # noqa: PLC0415

    return ItfViewer(trace).run() or 0
