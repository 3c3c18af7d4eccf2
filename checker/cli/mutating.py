"""Execution of `mutate`: the mutants are explored, and each is shown with what noticed it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
from rich.table import Table
from rich.text import Text

from waterline.checker.cli.mutate import MutateOptions
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.own_options import vetted_problem
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, say, screen
from waterline.checker.mutants.accepted import Reasons, reasons_for, survivors_of
from waterline.checker.mutants.judging import (
    OPEN,
    Fate,
    Judgement,
    Original,
    explore_original,
    judge_all,
)
from waterline.checker.mutants.mutants import Mutant, mutants_of
from waterline.checker.problem.family import describe_circumstances
from waterline.checker.problem.problem import Problem
from waterline.checker.problem.wording import quantity
from waterline.checker.user_models.family import built_of
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.style import BAD, QUIET, TITLE, columns
from waterline.model.core.errors import BadEnvironment, did_you_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """The model, its mutants with their fates, and the reasons why some may stay unnoticed."""

    problem: Problem
    original: Original
    mutants: Sequence[Mutant]
    judged: Sequence[Judgement]
    reasons: Reasons

    @property
    def pairs(self) -> Iterator[tuple[Mutant, Judgement]]:
        """Each mutant with its fate."""
        return zip(self.mutants, self.judged, strict=True)

    @property
    def unexplained(self) -> list[tuple[Mutant, Judgement]]:
        """The mutants that no claim notices and no reason excuses."""
        return list(survivors_of(self.mutants, self.judged, self.reasons))

    def reason(self, mutant: Mutant) -> str | None:
        """The reason why it may stay unnoticed, if there is one."""
        return self.reasons.get((mutant.rule, mutant.change))


def mutate(options: MutateOptions) -> int:
    """Explore the model and its mutants, and report; returns the exit code."""
    report = _judge(options)
    if options.output_format == "json":
        click.echo(json.dumps(_document(report), indent=2))
    else:
        _show(report)
    return _exit_code(report)


def _judge(options: MutateOptions) -> _Report:
    """Explore the model and its mutants. Raises `BadEnvironment`."""
    bounds = dict(options.bounds)
    problem = vetted_problem(options.model, bounds)
    own, _ = built_of(problem)
    mutants = mutants_of(own, problem.model.version, own.bounds_in(problem.model))
    reasons = reasons_for(own, mutants, options.accept)
    chosen = _choose(mutants, options)
    with showing(error_screen()) as progress:
        progress.report("exploring the model")
        original = explore_original(problem, own.file, bounds)
        judged = judge_all(
            chosen,
            original,
            states_max=options.max_states,
            processes=options.jobs,
            done=lambda number: progress.report(f"{number} of {len(chosen)} mutants judged"),
        )
    return _Report(
        problem=problem, original=original, mutants=chosen, judged=judged, reasons=reasons
    )


def _choose(mutants: Sequence[Mutant], options: MutateOptions) -> list[Mutant]:
    known = sorted({each.rule for each in mutants})
    for rule in options.rules:
        if rule not in known:
            raise BadEnvironment(f"--rule {rule}: no mutant is of it{did_you_mean(rule, known)}")
    return [
        each
        for each in mutants
        if (not options.only or each.kind in options.only)
        and (not options.rules or each.rule in options.rules)
    ]


def _show(report: _Report) -> None:
    console = screen()
    model, original = report.problem.model, report.original
    file = Path(original.file).name
    say(f"{model.version} in {file}", on=console)
    console.print(Trimmed(Text(f"{_of_model(report)}\n")))
    console.print(Trimmed(_table(report)))
    console.print()
    if report.unexplained:
        reasons = f"{Path(file).stem}.mutants.toml"
        say(f"No claim notices these. Claim more, or give a reason in {reasons}:", on=console)
        for line in _lines_to_fill_in(report.unexplained, file):
            say(line, on=console)
        console.print()
    console.print(Trimmed(Text(_summary(report))))


def _of_model(report: _Report) -> str:
    original = report.original
    parts = {
        "holds": sorted(original.held),
        "violated": [f"{name} ({depth} steps)" for name, depth in original.violated.items()],
        "happens": sorted(original.happens),
        "never happens": original.never,
    }
    said = [f"{word}: {', '.join(names)}" for word, names in parts.items() if names]
    counts = f"{quantity(original.states, 'state')}, {quantity(original.transitions, 'transition')}"
    return "\n".join((describe_circumstances(report.problem), counts, *said))


def _table(report: _Report) -> Table:
    table = columns(header=TITLE)
    table.add_column("Line", justify="right")
    table.add_column("Mutant")
    table.add_column("Noticed by")
    rule = None
    for mutant, judged in report.pairs:
        if mutant.rule != rule:
            rule = mutant.rule
            table.add_row("", Text(rule, TITLE), "")
        described = _outcome(judged, report.reason(mutant))
        table.add_row(str(mutant.line), Text(f"  {mutant.change}"), described)
    return table


def _outcome(judged: Judgement, reason: str | None) -> Text:
    match judged.fate:
        case Fate.NOTICED:
            return Text(", ".join(judged.by) + (f": {judged.why}" if judged.why else ""))
        case Fate.INVALID:
            return Text(f"invalid: {judged.why}", QUIET)
    if judged.fate in OPEN:
        if reason is not None:
            return Text(f"accepted: {reason}", QUIET)
        return Text(judged.fate.value.upper(), BAD)
    return Text(judged.fate.value, QUIET)


def _lines_to_fill_in(left: Sequence[tuple[Mutant, Judgement]], file: str) -> Iterator[str]:
    """The lines of a file of reasons, but for these."""
    rule = None
    for mutant, judged in left:
        if mutant.rule != rule:
            rule = mutant.rule
            yield f"[{rule}]"
        key = json.dumps(mutant.change, ensure_ascii=False)
        yield f'{key} = ""  # {file}:{mutant.line}: {judged.fate.value}'


def _summary(report: _Report) -> str:
    counts = _counts(report.judged)
    fates = ", ".join(f"{fate} {number}" for fate, number in counts.items())
    scope = describe_circumstances(report.problem)
    within = f" within {scope}" if scope else ""
    unexplained = len(report.unexplained)
    return (
        f"{report.problem.model.version}: {quantity(len(report.mutants), 'mutant')}{within}: "
        f"{fates}; {'all' if not unexplained else f'{unexplained} not'} explained."
    )


def _counts(judged: Sequence[Judgement]) -> dict[str, int]:
    """How many mutants have each fate."""
    counts = Counter(each.fate for each in judged)
    return {fate.value: counts[fate] for fate in Fate if counts[fate]}


def _document(report: _Report) -> Mapping[str, Any]:
    original, model = report.original, report.problem.model
    hidden = report.problem.family.words.unsaid if report.problem.family else frozenset()
    return {
        "protocol": model.version,
        "model": model.name,
        "bounds": {name: each for name, each in model.options.items() if name not in hidden},
        "states": original.states,
        "transitions": original.transitions,
        "holds": sorted(original.held),
        "violated": dict(original.violated),
        "happens": sorted(original.happens),
        "never": list(original.never),
        "mutants": [
            {
                "rule": mutant.rule,
                "line": mutant.line,
                "column": mutant.column,
                "kind": mutant.kind,
                "change": mutant.change,
                "fate": judged.fate.value,
                "noticed_by": list(judged.by),
                "why": judged.why,
                "states": judged.states,
                "accepted": report.reason(mutant),
            }
            for mutant, judged in report.pairs
        ],
        "counts": _counts(report.judged),
        "unexplained": len(report.unexplained),
    }


def _exit_code(report: _Report) -> int:
    fates = {judged.fate for _, judged in report.unexplained}
    if fates - {Fate.GROWS}:
        return exit_codes.UNEXPECTED
    return exit_codes.INCOMPLETE if fates else exit_codes.HOLDS
