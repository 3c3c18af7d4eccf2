"""Report of a run for people: verdicts, bounds and counts, counterexamples.

Pure functions from a run to rich renderables. A run that stopped early never looks like one that
finished.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.box import SIMPLE_HEAD
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from waterline.checker.cli.bound_advice import (
    describe_advice,
    describe_larger,
    describe_never_taken,
    describe_unjudged,
)
from waterline.checker.kafka.narrative.story import reasons, story_of
from waterline.checker.problem.family import describe_circumstances, words_of
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import (
    describe_contract,
    describe_symmetry,
    describe_version,
    quantity,
    roughly,
)
from waterline.checker.problem.words import Words
from waterline.checker.search.eta import outlook
from waterline.checker.search.result import InvariantResult, LevelSummary, Result, Verdict
from waterline.counterexamples import TraceStep
from waterline.counterexamples.rendering import Trimmed, render_compact
from waterline.counterexamples.style import BAD, GOOD, WARNING, label_grid

if TYPE_CHECKING:
    from waterline.checker.checking.run import RuleError, Run
    from waterline.checker.traces.alternatives import Others
    from waterline.checker.traces.finding import Finding


WIDE = 110
"""Columns at least of a table with sentences."""
_STYLES = {
    Verdict.HOLDS: GOOD,
    Verdict.VIOLATED: BAD,
    Verdict.INCOMPLETE: WARNING,
    Verdict.NOT_APPLICABLE: "dim",
}


MORE = "--all prints every trace, --html FILE writes a page of them"
"""How `check` shows what its report leaves out."""


def render_run(
    run: Run,
    *,
    shown: Collection[str] | None = None,
    more: str = MORE,
    spark: str = "",
) -> RenderableType:
    """The whole report; of the counterexamples only those `shown`, None for all.

    What is found out comes first and last: the gravest counterexample opens the report and its
    sentence ends it. `more` says where those are that are left out, `spark` why another engine ran.
    """
    result = run.result
    listed = [f for f in run.findings if shown is None or f.invariant in shown]
    listed.sort(key=lambda finding: finding is not run.gravest)
    parts: list[RenderableType] = [headline(result.problem), *_traces(run, listed)]
    if run.error is not None:
        parts.append(render_error(run.error, words_of(result.problem)))
    parts += [
        verdicts(result),
        happenings(result),
        counts(result, run.prepare_seconds, spark),
        actions(result),
        conclusion(result),
    ]
    if run.gravest is not None:
        parts += [Text(), _finding_line(result, run.gravest)]
    parts += map(Text, describe_larger(result))
    if left := len(run.findings) - len(listed):
        parts.append(Text(f"{left} more violated: {more}."))
    return Trimmed(Group(*parts))


def _traces(run: Run, findings: Iterable[Finding]) -> Iterator[RenderableType]:
    """The counterexamples; steps that were shown already are not repeated."""
    words, names = words_of(run.result.problem), describe_symmetry(run.result.problem.symmetry)
    described: dict[tuple[tuple[TraceStep, ...], int | None], str] = {}
    for finding in findings:
        trace = finding.replayed.trace
        before = described.setdefault((trace.steps, trace.cycle), finding.invariant)
        same_as = before if before != finding.invariant else None
        yield render_finding(finding, words, same_as, names)
        if others := run.others.get(finding.invariant):
            yield render_others(finding, others, words)


def _finding_line(result: Result, finding: Finding) -> Text:
    """`VIOLATED no_committed_loss after 12 steps: ... m1 is lost.`"""
    found = next(each for each in result.invariants if each.name == finding.invariant)
    line = Text.assemble(("VIOLATED ", BAD), (found.name, "bold"))
    # A model of one's own that explains nothing says no more than that the claim is false.
    is_bare = finding.invariant in finding.explanation
    said = finding.sentence if is_bare else finding.explanation
    return line.append(_after(result, found)).append(f": {said}")


def headline(problem: Problem) -> RenderableType:
    """Return the title: version, environment, symmetry if any, every bound and setting."""
    model, words = problem.model, words_of(problem)
    symmetric = describe_symmetry(problem.symmetry)
    version = describe_version(model.version)
    title = Text.assemble((version, "bold"), f"{words.title(model)}{symmetric}")
    return Group(title, Text(describe_circumstances(problem), style="dim"))


def sentences(problem: Problem) -> dict[str, str]:
    """Return the sentence of each claim, by its name."""
    return {claim.name: claim.sentence for claim in (*problem.claims, *problem.reachable)}


def verdicts(result: Result) -> RenderableType:
    """One line an invariant or property; its sentence only where there is room for it."""
    rows = []
    for found in result.invariants:
        verdict = Text(found.verdict.value.upper(), style=_STYLES[found.verdict])
        verdict.append(_after(result, found))
        if found.why:
            verdict.append(f": {found.why}", style="yellow")
        if found.unjudged:
            verdict.append(f"; {describe_unjudged(result, found.unjudged)}", style="yellow")
        rows.append((found.name, verdict))
    return Claims(("Invariant", "Verdict"), tuple(rows), sentences(result.problem))


def _after(result: Result, found: InvariantResult) -> Text:
    """` after 12 steps, within the contract of acks=1`; nothing where nothing breaks the claim."""
    if found.depth is None:
        return Text()
    after = Text(result.describe_after(found), style="red")
    if contract := result.contract_of(found.name):
        after.append(f", {describe_contract(contract)}", style="yellow")
    return after


@dataclass(frozen=True, slots=True)
class Claims:
    """A table of claims: name, what came of it and, on a wide screen, the sentence."""

    titles: tuple[str, str]
    rows: tuple[tuple[str, Text], ...]
    sentences: Mapping[str, str]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self.rows:
            return
        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        name, verdict = self.titles
        table.add_column(name, no_wrap=True)
        table.add_column(verdict)
        wide = options.max_width >= WIDE
        if wide:
            table.add_column("Claim")
        for name, what in self.rows:
            table.add_row(name, what, *([self.sentences.get(name, "")] if wide else []))
        yield table


def happenings(result: Result) -> RenderableType:
    """One line a reachability claim: without these, HOLDS would mean little."""
    rows = []
    for found in result.reachable:
        if found.depth is not None:
            first = Text(found.description, style="green")
        elif result.complete:
            first = Text("NEVER", style=BAD)
        else:
            first = Text("not seen so far", style="yellow")
        rows.append((found.name, first))
    return Claims(("Must happen", "Happens"), tuple(rows), sentences(result.problem))


def counts(result: Result, prepare_seconds: float, spark: str = "") -> RenderableType:
    """States, transitions, depth, bounds and what they cut, who explored which levels, how fast."""
    grid = label_grid()
    grid.add_row(
        "Explored",
        "every reachable state within the bounds"
        if result.complete
        else Text(f"a part only: stopped by {result.stopped_by}", style=WARNING),
    )
    if not result.complete:
        for title, line in zip(("Covered", ""), describe_coverage(result.levels), strict=False):
            grid.add_row(title, line)
    symmetric = describe_symmetry(result.problem.symmetry)
    grid.add_row("Distinct states", f"{result.distinct:,}{symmetric}")
    grid.add_row("Generated", f"{result.generated:,}")
    grid.add_row("Depth", f"{result.depth}")
    grid.add_row("Bounds", result.describe_cut())
    if advice := describe_advice(result):
        grid.add_row("HOLDS means", advice)
    for line in who_explored(result.levels):
        grid.add_row("Levels", line)
    grid.add_row("Time", _time(result, prepare_seconds))
    if spark:
        grid.add_row("Spark", Text(spark))
    grid.add_row("Peak memory", f"{result.peak_rss / 1e6:,.0f} MB in the driver")
    return grid


def describe_coverage(levels: list[LevelSummary]) -> list[str]:
    """Return what a stopped run has covered, with the estimated share of the whole."""
    if not levels:
        return ["nothing"]
    deepest = levels[-1].depth
    steps = f", every step from depth 0 to {deepest - 1}" if deepest else ""
    lines = [f"every state to depth {deepest}{steps}"]
    if estimate := outlook(levels):
        seen = sum(level.states for level in levels) / estimate.states
        lines.append(f"about {seen:.0%} of an estimated {roughly(estimate.states)} states")
    return lines


def who_explored(levels: list[LevelSummary]) -> list[str]:
    """`0 to 12 on the driver: 3,456 states` for each run of levels explored in one place."""
    lines = []
    for place, group in itertools.groupby(levels, key=lambda level: level.on):
        run = list(group)
        states = sum(level.states for level in run)
        lines.append(f"{run[0].depth} to {run[-1].depth} on {place}: {quantity(states, 'state')}")
    return lines


def actions(result: Result) -> RenderableType:
    """How often each action happened, and which never did."""
    parts: list[RenderableType] = [action_table(result.fired, "Times")]
    if result.never_enabled:
        parts.append(Text(f"Never enabled: {', '.join(result.never_enabled)}"))
    parts += map(Text, describe_never_taken(result))
    return Group(*parts)


def action_table(times: Mapping[str, int], title: str) -> RenderableType:
    """How often each action happened, those that never did left out."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for _ in range(2):
        table.add_column("Action", no_wrap=True)
        table.add_column(title, justify="right", no_wrap=True)
    cells = [(name, f"{count:,}") for name, count in times.items() if count]
    rows = -(-len(cells) // 2)
    columns = [cells[i * rows : (i + 1) * rows] for i in range(2)]
    for line in itertools.zip_longest(*columns, fillvalue=("", "")):
        table.add_row(*itertools.chain(*line))
    return table


def render_finding(
    finding: Finding, words: Words, same_as: str | None = None, names: str = ""
) -> RenderableType:
    """A counterexample under its own title; steps that were shown already are not repeated.

    `names` says what a count of states is up to (`describe_symmetry`).
    """
    title = Text.assemble(
        ("VIOLATED ", BAD),
        (finding.invariant, "bold"),
        f": {finding.sentence}",
    )
    if same_as is not None:
        described = Text(finding.explanation, style=BAD)
        shown: RenderableType = Group(Text(f"By the same steps as {same_as}, above."), described)
    else:
        shown = _render_steps(finding, words)
    alike = finding.describe_alike(names)
    return Group(Text(), title, shown, *([Text(alike, "dim")] if alike else []))


def _render_steps(finding: Finding, words: Words) -> RenderableType:
    return render_compact(
        finding.replayed,
        explanation=finding.explanation,
        lanes=words.lanes,
        reasons=reasons(story_of(finding)),
    )


def render_error(error: RuleError, words: Words) -> RenderableType:
    """Render the error of a rule, and the steps to the state that raises it."""
    title = Text.assemble(("ERROR ", BAD), str(error.raised))
    return Group(Text(), title, render_compact(error.finding.replayed, lanes=words.lanes))


def render_others(first: Finding, others: Others, words: Words) -> RenderableType:
    """Further counterexamples, each under its number, and how many kinds there are."""
    parts: list[RenderableType] = []
    for number, finding in enumerate(others.findings, start=1):
        title = Text.assemble((f"ANOTHER {number} ", BAD), (finding.invariant, "bold"))
        title.append(f": {quantity(len(finding.replayed.moments), 'step')}")
        parts += [Text(), title, _render_steps(finding, words)]
    return Group(*parts, Text(), Text(others.describe(first), "dim"))


def conclusion(result: Result) -> RenderableType:
    """One line that can stand alone: the verdicts with their bounds."""
    model = result.problem.model
    by_verdict: dict[Verdict, list[str]] = {}
    for found in result.invariants:
        left = f" ({quantity(found.unjudged, 'state')} not judged)" if found.unjudged else ""
        by_verdict.setdefault(found.verdict, []).append(f"{found.name}{left}")
    line = Text(f"\n{describe_version(model.version)}: ", style="bold")
    for verdict, names in sorted(by_verdict.items(), key=lambda item: item[0].value, reverse=True):
        line.append(f"{verdict.value.upper()} ", style=_STYLES[verdict])
        line.append(f"{', '.join(names)}; ")
    how = "in all" if result.complete else "so far"
    states = (
        f"{quantity(result.distinct, 'state')} {how}{describe_symmetry(result.problem.symmetry)}"
    )
    line.append(f"{states}, {words_of(result.problem).describe_scope(model)}.")
    never = [claim.name for claim in result.reachable if claim.depth is None]
    if never and result.complete:
        line.append(f" Never happened: {', '.join(never)}.", style=BAD)
    if result.deadlock is not None:
        line.append(f" A state at depth {result.deadlock[0]} has no transition.", style="yellow")
    return line


def _time(result: Result, prepare_seconds: float) -> str:
    rate = result.generated / result.seconds if result.seconds else 0.0
    return (
        f"{result.seconds:.2f} s on engine {result.engine} "
        f"({result.distinct / max(result.seconds, 1e-9) / 1e6:.2f} M distinct/s, "
        f"{rate / 1e6:.2f} M transitions/s), {prepare_seconds:.2f} s to load the model"
    )
