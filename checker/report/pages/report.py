"""HTML page of a run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from waterline.checker.kafka.narrative.story import Story, story_of
from waterline.checker.problem.family import words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import (
    describe_contract,
    describe_option,
    describe_symmetry,
    quantity,
)
from waterline.checker.report.pages.page import Shown, parts_of, render, require_few_steps
from waterline.checker.report.pages.trace_sequence import describe_title
from waterline.checker.search.result import Verdict

if TYPE_CHECKING:
    from waterline.checker.checking.run import Run
    from waterline.checker.search.result import InvariantResult, Result
    from waterline.checker.traces.finding import Finding


def run_page(run: Run, explained: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Return a page with the verdicts, their bounds, and every counterexample.

    `explained` are the causes and repairs of the claims' counterexamples, if requested. Raises
    `TooLongForPage`.
    """
    result = run.result
    problem = result.problem
    traces, named = _traces(run.shown, explained or {}, describe_symmetry(problem.symmetry))
    model = problem.model
    return render(
        "report.html.j2",
        title=f"{model.version}: {_headline(result)}",
        subtitle=f"{model.version}{words_of(problem).title(model)}{describe_symmetry(problem.symmetry)}",
        options=options_of(problem),
        verdicts=[_verdict(result, found, named) for found in result.invariants],
        happenings=_happenings(result),
        counts=_counts(result),
        command=problem.to_command() + (" --engine local" if result.engine == "local" else ""),
        complete=result.complete,
        stopped_by=result.stopped_by,
        traces=traces,
    )


def finding_page(problem: Problem, finding: Finding) -> str:
    """Return a page with one counterexample. Raises `TooLongForPage`."""
    traces, _ = _traces((finding,), {})
    model = problem.model
    return render(
        "report.html.j2",
        title=describe_title(story_of(finding)),
        subtitle=f"{model.version}{words_of(problem).title(model)}",
        options=options_of(problem),
        verdicts=[],
        happenings=[],
        counts=[],
        command=command_of(problem, finding),
        complete=True,
        stopped_by=None,
        traces=traces,
    )


def command_of(problem: Problem, finding: Finding) -> str:
    """The command that finds a counterexample again."""
    asked = f" --invariant {finding.invariant}" if story_of(finding).breaks else ""
    return problem.to_command() + asked


def _traces(
    findings: tuple[Finding, ...],
    explained: Mapping[str, Mapping[str, Any]],
    names: str = "",
) -> tuple[list[Shown], dict[str, str]]:
    """Return the traces shown, and the name of each claim's: equal steps are shown once."""
    stories = [story_of(finding) for finding in findings]
    require_few_steps(story.steps for story in stories)
    traces: list[Shown] = []
    seen: dict[object, str] = {}
    named: dict[str, str] = {}
    for finding, story in zip(findings, stories, strict=True):
        claim, name = finding.invariant, f"trace-{len(traces) + 1}"
        # What repairs one claim need not repair another.
        apart = claim if claim in explained else ""
        trace = story.replayed.trace
        key = (trace.steps, trace.cycle, finding.explanation, apart)
        named[claim] = seen.setdefault(key, name)
        if named[claim] == name:
            traces.append(
                parts_of(
                    story,
                    name,
                    title=title_of(story),
                    sentence=finding.sentence,
                    alike=finding.describe_alike(names),
                    explained=explained.get(claim),
                )
            )
    return traces, named


def title_of(story: Story) -> str:
    """Return `no_committed_loss breaks after 12 steps`, or how else a trace ends."""
    cycle = story.replayed.trace.cycle
    if story.raises:
        return f"a rule raises an error after {quantity(story.steps, 'step')}"
    if not story.breaks:
        return quantity(story.steps, "step")
    after = quantity(story.steps if cycle is None else cycle, "step")
    return f"{story.claim} breaks {'' if cycle is None else 'for ever '}after {after}"


def _headline(result: Result) -> str:
    violated = len(result.violated)
    if violated:
        return f"{quantity(violated, 'claim')} violated"
    return "every claim holds" if result.is_judged else "INCOMPLETE"


def options_of(problem: Problem) -> list[tuple[str, str]]:
    """The environment and the bounds, as a reader is shown them."""
    unsaid = words_of(problem).unsaid
    options = problem.model.options.items()
    return [(name, describe_option(value)) for name, value in options if name not in unsaid]


def _verdict(result: Result, found: InvariantResult, named: dict[str, str]) -> dict[str, object]:
    sentences = {claim.name: claim.sentence for claim in result.problem.claims}
    promised = result.contract_of(found.name) if found.verdict is Verdict.VIOLATED else None
    return {
        "name": found.name,
        "text": found.verdict.value.upper() + result.describe_after(found),
        "kind": found.verdict.name.lower(),
        "contract": describe_contract(promised) if promised else "",
        "sentence": sentences.get(found.name, ""),
        "trace": named.get(found.name),
    }


def _happenings(result: Result) -> list[tuple[str, str]]:
    never = "NEVER" if result.complete else "not seen so far"
    return [
        (claim.name, never if claim.depth is None else claim.description)
        for claim in result.reachable
    ]


def _counts(result: Result) -> list[tuple[str, str]]:
    return [
        ("Distinct states", f"{result.distinct:,}"),
        ("Transitions", f"{result.generated:,}"),
        ("Depth", f"{result.depth:,}"),
        ("Bounds", result.describe_cut()),
        ("Search", f"{result.seconds:.2f} s on engine {result.engine}"),
    ]
