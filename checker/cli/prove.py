"""`waterline prove`: claims proved for bounds of any size, by induction over the rules."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import new_folder
from waterline.checker.cli.shared.options import format_option, options_as
from waterline.checker.cli.shared.own_options import bound_option, model_option, vetted_problem
from waterline.checker.cli.shared.progress import Progress, showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.problem.distribution import require
from waterline.checker.problem.wording import quantity
from waterline.counterexamples.rendering import Trimmed
from waterline.model.atomic.versions import VERSIONS
from waterline.model.core.errors import BadEnvironment

if TYPE_CHECKING:
    from waterline.checker.proof.obligations import Induction
    from waterline.checker.proof.proving import Proof, Subject

_DEFAULT = "kip320"


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveOptions:
    """The theorem, and how it is reported."""

    protocol: str | None
    grain: str | None
    replicas: str | None
    own_model: str | None
    bounds: tuple[tuple[str, int | bool], ...]
    search: bool
    certificate: str | None
    suggest: bool
    output_format: str


@click.command("prove", epilog=exit_codes.HELP)
@click.option("--protocol", help=f"A version of the grain.  [default: {_DEFAULT}]")
@click.option(
    "--grain",
    type=click.Choice(["atomic"]),
    help="The grain that has lemmas.  [default: atomic]",
)
@click.option(
    "--replicas",
    type=click.Choice(["any"]),
    help="How many replicas the proof is about.  [default: any]",
)
@model_option
@bound_option
@click.option(
    "--search/--no-search",
    default=True,
    show_default=True,
    help="Test claims and lemmas on all states within small bounds first.",
)
@click.option(
    "--certificate",
    metavar="DIR",
    help="Write what each obligation took to this new directory if all is proved, for `waterline "
    "certify` to prove it again in less time.",
)
@click.option(
    "--suggest",
    is_flag=True,
    help="Where a step leads out of the lemmas of --model, suggest lemmas that exclude the state "
    "before it, as Python to be pasted.",
)
@format_option
@options_as(ProveOptions)
def prove_command(options: ProveOptions) -> int:
    """Prove what `check` checks within bounds: by induction, for any number of replicas.

    The search tests the lemmas first. Then the solver z3 proves that they are true at first and
    stay so in every step, that no rule is in error, and that the claims follow (docs/proof.md).
    Exit 14 if a step leads out of the lemmas: the state before it need not be reachable. With
    --model it proves the claims of your own model, for any number of what falls away of its bounds;
    --set gives the bounds of the search.
    """
    require("z3", "prove", "prove")
    from waterline.checker.proof.terms import NotProvable  # noqa: PLC0415 - takes a while to load

    try:
        return _prove(_subject(options), options)
    except NotProvable as refused:
        raise BadEnvironment(f"no proof: {refused}") from None


def _subject(options: ProveOptions) -> Subject:
    """Return the theorem. Raises `BadEnvironment`."""
    if options.own_model is None:
        from waterline.checker.kafka.theorems import subject_of  # noqa: PLC0415 - as above

        if options.bounds:
            raise BadEnvironment("--set sets a bound of --model FILE; name the file")
        if options.suggest:
            raise BadEnvironment("--suggest prints rules for --model FILE; name the file")
        protocol = options.protocol or _DEFAULT
        if protocol not in VERSIONS:
            raise BadEnvironment(f"unknown protocol {protocol!r}; known: {', '.join(VERSIONS)}")
        return subject_of(protocol)
    for name in ("protocol", "grain", "replicas"):
        if getattr(options, name) is not None:
            raise BadEnvironment(f"--{name} is about Kafka's models; --model has --set NAME=VALUE")
    from waterline.checker.user_models.theorems import own_subject  # noqa: PLC0415 - as above

    return own_subject(vetted_problem(options.own_model, dict(options.bounds)), options.own_model)


def _prove(subject: Subject, options: ProveOptions) -> int:
    from waterline.checker.cli import prove_report  # noqa: PLC0415 - as above
    from waterline.checker.proof.proving import Proof, Verdict, search_first  # noqa: PLC0415

    theorem, proof = subject.theorem, Proof()
    out = new_folder("--certificate", options.certificate) if options.certificate else None
    small = theorem.within(subject.small)
    say = _show if options.output_format == "text" else _silent
    with showing(error_screen()) as progress:
        if options.search:
            progress.announce("searching small bounds for a state that breaks a claim or a lemma")
            proof.searched = search_first(theorem, subject.searched, progress.announce)
            say(prove_report.of_search(proof, subject))
        if not proof.violated:
            _induct(proof, subject, small, say, progress)
        if out is not None and proof.verdict(theorem) is Verdict.PROVED:
            _write(proof, subject, out, progress)
        suggested = None
        if options.suggest and proof.refuted is not None and subject.suggest is not None:
            progress.announce("looking for lemmas that exclude the state before the step")
            suggested = subject.suggest(proof.refuted[1])
    if options.output_format == "json":
        document = prove_report.as_document(proof, subject)
        more = {} if suggested is None else {"suggestions": suggested[0]}
        click.echo(json.dumps(document | more, indent=2))
    else:
        _show(prove_report.of_verdict(proof, subject, small))
    if suggested is not None:
        say(prove_report.of_suggestions(*suggested, subject.file))
    if out is not None:
        say(prove_report.of_certificate(out, proof, subject))
    return prove_report.exit_code(proof, subject)


def _write(proof: Proof, subject: Subject, out: Path, progress: Progress) -> None:
    from waterline.checker.analysis.certificate.proof import write_proof  # noqa: PLC0415 - as above
    from waterline.checker.cli.prove_report import solver_name  # noqa: PLC0415

    every = len(proof.answered)
    write_proof(
        subject,
        proof,
        out=out,
        solver=solver_name(),
        watch=lambda done: progress.report(f"looked at what {done} of {every} obligations took"),
    )


def _show(text: str) -> None:
    screen().print(Trimmed(Text(text)))


def _silent(text: str) -> None:
    """Print nothing: the document has it all."""


def _induct(
    proof: Proof,
    subject: Subject,
    small: Induction,
    say: Callable[[str], None],
    progress: Progress,
) -> None:
    from waterline.checker.cli.prove_report import solver_name  # noqa: PLC0415 - as above
    from waterline.checker.proof.proving import never_happen, prove_all  # noqa: PLC0415

    started = time.monotonic()
    proof.never = never_happen(small)
    actions = len(small.model.enabled_actions)
    say(
        f"happens     {actions - len(proof.never)} of {actions} actions, each from a state "
        "of the invariant"
    )
    prove_all(
        proof,
        subject.theorem.induction(),
        small,
        lambda answer: progress.report(
            f"{quantity(len(proof.answered), 'obligation')} answered; now {answer.what}"
        ),
    )
    done = sum(each not in proof.undecided for each in proof.answered)
    seconds = time.monotonic() - started
    every = len(proof.answered) + (proof.refuted is not None)
    say(
        f"induction   {done} of {every} obligations proved by {solver_name()}, "
        f"{sum(each.attempt.steps for each in proof.answered):,} steps of it; {seconds:.0f} s"
    )
