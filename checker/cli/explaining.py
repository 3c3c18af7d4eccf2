"""Execution of `explain` and `check --explain`: causal chains and repairs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
from rich.console import Group, RenderableType
from rich.text import Text

from waterline.checker.analysis.explain import chain as chains
from waterline.checker.analysis.explain import repairs as repairing
from waterline.checker.analysis.explain.chain import Chain, chain_of
from waterline.checker.analysis.explain.rendering import explanation, render_chain, render_repairs
from waterline.checker.analysis.explain.repairs import Repairs, repairs_of
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.progress import Progress, ending_as_by_ctrl_c, showing
from waterline.checker.cli.shared.recorded import load_counterexample
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.problem.family import describe_circumstances
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.spec import NO_SYMMETRY
from waterline.checker.problem.wording import describe_version
from waterline.checker.search.engines.engine import threads_of
from waterline.checker.search.engines.prepare import prepare
from waterline.checker.traces.finding import Finding
from waterline.counterexamples import NO_CLAIM, BadTrace
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD

if TYPE_CHECKING:
    from waterline.checker.cli.explain import ExplainOptions, Parts


@dataclass(frozen=True, slots=True)
class Explained:
    """A finding with the explanation requested."""

    finding: Finding
    chain: Chain | None
    repairs: Repairs | None

    @property
    def is_whole(self) -> bool:
        """True if nothing was left out for want of time or room."""
        chain, repairs = self.chain, self.repairs
        undecided = chain is not None and (
            bool(chain.unlooked) or any(cause.undecided for cause in chain.causes)
        )
        return not undecided and not (repairs is not None and repairs.undecided)

    def render(self, circumstances: str = "") -> RenderableType:
        """A claim with all that was found out about its trace.

        `circumstances` are the bounds and settings, where no report above has them.
        """
        version = describe_version(self.finding.replayed.trace.version)
        parts: list[RenderableType] = [
            Text.assemble((version, "bold"), ": ", (self.finding.invariant, "bold")),
            *([Text(circumstances, "dim")] if circumstances else []),
            Text(self.finding.explanation, BAD),
        ]
        if self.chain is not None:
            parts += [Text(), render_chain(self.chain)]
        if self.repairs is not None:
            parts += [Text(), render_repairs(self.repairs)]
        return Trimmed(Group(*parts))

    def as_value(self) -> dict[str, Any]:
        """Return the explanation as values for JSON."""
        return explanation(self.finding.replayed, self.chain, self.repairs)


def explain_recorded(options: ExplainOptions) -> int:
    """Explain the trace in a file; returns the exit code."""
    path = options.trace
    found = load_counterexample(path, options.own_model)
    if found.finding.replayed.trace.raises is not None:
        raise BadTrace(f"{path} ends in an error of a rule: mend the rule, and check it again")
    if found.finding.invariant == NO_CLAIM:
        raise BadTrace(f"{path} breaks no claim: there is nothing to explain")
    if options.own_model is not None:
        # Only a model of one's own needs to be looked over, and what does that.
        from waterline.checker.user_models.vetting import vet  # noqa: PLC0415

        vet(found.problem)
    with ending_as_by_ctrl_c(), showing(error_screen()) as progress:
        every = explained_all(found.problem, [found.finding], options.parts, progress)
    if not every:
        say("interrupted before anything was found out")
        return exit_codes.INCOMPLETE
    [explained] = every
    if options.output_format == "json":
        click.echo(json.dumps(explained.as_value(), indent=2))
    else:
        screen().print(explained.render(describe_circumstances(found.problem)))
    return exit_codes.HOLDS if explained.is_whole else exit_codes.INCOMPLETE


def explained_all(
    problem: Problem, findings: Sequence[Finding], asked: Parts, progress: Progress
) -> list[Explained]:
    """Explain findings of one problem; what would repair them is explored once for all.

    Ctrl-C ends it: what was explained until then is returned.
    """
    explained: list[Explained] = []
    with suppress(KeyboardInterrupt):
        for one in _explaining(problem, findings, asked, progress):
            explained.append(one)  # noqa: PERF402  # keeps those before the interrupt
    return explained


def _explaining(
    problem: Problem, findings: Sequence[Finding], asked: Parts, progress: Progress
) -> Iterator[Explained]:
    family, spec = problem.family, replace(problem.spec, symmetry=NO_SYMMETRY)
    assert family is not None
    repairs: dict[str, Repairs] = {}
    if findings and (asked.wants_repairs or not asked.wants_chain):
        names = [finding.invariant for finding in findings]
        found = repairs_of(
            family.make(replace(spec, claims=frozenset(names))),
            threads=asked.threads,
            states_max=asked.max_states or repairing.STATES_MAX,
            seconds_max=asked.max_time or repairing.SECONDS_MAX,
            announce=progress.announce,
            watch=lambda done, of: progress.report(f"{done} of {of} spaces explored"),
        )
        repairs = {each.claim: each for each in found}
    for finding in findings:
        chain = None
        if asked.wants_chain or not asked.wants_repairs:
            # A trace found without bounds is one of a bounded model.
            options = tuple(finding.replayed.trace.environment.items())
            claims = frozenset([finding.invariant])
            one = family.make(replace(spec, options=options, claims=claims))
            prepare(one, threads=threads_of(asked.threads), announce=progress.announce)
            progress.report(f"leaving out steps of {finding.invariant}")
            chain = chain_of(
                one,
                finding.replayed,
                states_max=asked.max_states or chains.STATES_MAX,
                seconds_max=asked.max_time or chains.SECONDS_MAX,
            )
        yield Explained(finding, chain, repairs.get(finding.invariant))
