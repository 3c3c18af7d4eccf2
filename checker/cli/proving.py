"""Execution of `prove`: the search, the proof, and the verdict as text, JSON and exit code."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from rich.text import Text
from z3 import get_version_string

from waterline.checker.analysis.certificate.header import BadCertificate
from waterline.checker.analysis.certificate.proof import prove_again, read_proof, write_proof
from waterline.checker.ci.proving import subject_of_problem
from waterline.checker.cli.certify import CertifyOptions
from waterline.checker.cli.prove import DEFAULT, DEFAULT_MESSAGE, ProveOptions
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.file_options import new_folder
from waterline.checker.cli.shared.own_options import finder, vetted_problem
from waterline.checker.cli.shared.progress import Progress, showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.kafka.theorems import message_subject_of, subject_of
from waterline.checker.problem.wording import quantity
from waterline.checker.proof.counterexample import Counterexample, describe
from waterline.checker.proof.obligations import Induction
from waterline.checker.proof.proving import (
    Proof,
    Subject,
    Verdict,
    narrow_all,
    never_happen,
    prove_all,
    search_first,
)
from waterline.checker.proof.solver import Ask, ask
from waterline.checker.proof.terms import NotProvable
from waterline.checker.user_models.theorems import own_subject
from waterline.checker.user_models.vetting import vet
from waterline.counterexamples.rendering import Trimmed
from waterline.model.atomic.versions import VERSIONS
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import as_dict


def prove(options: ProveOptions) -> int:
    """Search, prove, report; returns the exit code. Raises `BadEnvironment`."""
    try:
        return _prove(_subject(options), options)
    except NotProvable as refused:
        raise BadEnvironment(f"no proof: {refused}") from None


def _subject(options: ProveOptions) -> Subject:
    """Return the theorem. Raises `BadEnvironment`."""
    if options.own_model is None:
        if options.bounds:
            raise BadEnvironment("--set sets a bound of --model FILE; name the file")
        if options.suggest:
            raise BadEnvironment("--suggest prints rules for --model FILE; name the file")
        return _subject_of_kafka(options)
    for name in ("protocol", "grain", "replicas"):
        if getattr(options, name) is not None:
            raise BadEnvironment(f"--{name} is about Kafka's models; --model has --set NAME=VALUE")
    return own_subject(vetted_problem(options.own_model, dict(options.bounds)), options.own_model)


def _subject_of_kafka(options: ProveOptions) -> Subject:
    if options.grain == "message":
        subject = message_subject_of(options.protocol or DEFAULT_MESSAGE)
    else:
        protocol = options.protocol or DEFAULT
        if protocol not in VERSIONS:
            raise BadEnvironment(f"unknown protocol {protocol!r}; known: {', '.join(VERSIONS)}")
        subject = subject_of(protocol)
    replicas = str(subject.options["replicas"])
    if options.replicas not in (None, replicas):
        raise BadEnvironment(
            f"the lemmas of {subject.name} are about --replicas {replicas}, not {options.replicas}"
        )
    return subject


def _prove(subject: Subject, options: ProveOptions) -> int:
    theorem, proof = subject.theorem, Proof()
    out = new_folder("--certificate", options.certificate) if options.certificate else None
    say = _show if options.output_format == "text" else _silent
    with showing(error_screen()) as progress:
        if options.search:
            progress.announce("searching small bounds for a state that breaks a claim or a lemma")
            proof.searched = search_first(theorem, subject.searched, progress.announce)
            say(of_search(proof, subject))
        small = None if proof.violated else theorem.within(subject.small)
        if small is not None:
            _induct(proof, subject, small, options, progress)
        if out is not None and proof.verdict(theorem) is Verdict.PROVED:
            progress.announce("looking for less that each query takes")
            narrow_all(proof, theorem.induction(), threads=options.threads)
            write_proof(subject, proof, out=out, solver=solver_name())
        suggested = None
        if options.suggest and proof.refuted is not None and subject.suggest is not None:
            progress.announce("looking for lemmas that exclude the state before the step")
            suggested = subject.suggest(proof.refuted[1])
    if options.output_format == "json":
        document = as_document(proof, subject)
        more = {} if suggested is None else {"suggestions": suggested[0]}
        click.echo(json.dumps(document | more, indent=2))
    else:
        _show(of_verdict(proof, subject, small))
    if suggested is not None:
        say(of_suggestions(*suggested, subject.file))
    if out is not None:
        say(of_certificate(out, proof, subject))
    return exit_code(proof, subject)


def _show(text: str) -> None:
    screen().print(Trimmed(Text(text)))


def _silent(text: str) -> None:
    """Print nothing: the document has it all."""


def _induct(
    proof: Proof,
    subject: Subject,
    small: Induction,
    options: ProveOptions,
    progress: Progress,
) -> None:
    say = _show if options.output_format == "text" else _silent
    started = time.monotonic()
    proof.never = never_happen(small)
    actions = len(small.model.enabled_actions)
    happen = actions - len(proof.never) - len(subject.theorem.never)
    say(f"happens     {happen} of {actions} actions, each from a state of the invariant")
    prove_all(
        proof,
        subject.theorem.induction(),
        small,
        lambda done, what: progress.report(f"{quantity(done, 'obligation')} answered; now {what}"),
        threads=options.threads,
    )
    done = sum(each not in proof.undecided for each in proof.answered)
    seconds = time.monotonic() - started
    every = len(proof.answered) + (proof.refuted is not None)
    say(
        f"induction   {done} of {every} obligations proved by {solver_name()}, "
        f"{sum(each.attempt.steps for each in proof.answered):,} steps of it; {seconds:.0f} s"
    )


def solver_name() -> str:
    """Return the solver with its version."""
    return f"z3 {get_version_string()}"


def of_search(proof: Proof, subject: Subject) -> str:
    """Return the line about the search."""
    result, theorem = proof.searched, subject.theorem
    assert result is not None
    violated = [name for name in proof.violated if name in theorem.names]
    lemmas, false = len(theorem.own_lemmas), len(proof.violated) - len(violated)
    found = f"{quantity(len(theorem.names), 'claim')} and {quantity(lemmas, 'lemma')} hold"
    if proof.violated:
        found = f"{', '.join(violated) or 'no claim'} violated, {false} of {lemmas} lemmas false"
    seconds = f"; {result.seconds:.0f} s" if result.seconds >= 1 else ""
    return (
        f"search      {quantity(result.distinct, 'state')} {subject.searched_in}: {found}{seconds}"
    )


def of_verdict(proof: Proof, subject: Subject, small: Induction | None) -> str:
    """Return the verdict, with what it is about or what is in its way."""
    theorem = subject.theorem
    verdict = proof.verdict(theorem)
    lines = [f"{subject.name}: {verdict.value} {', '.join(theorem.names)}"]
    match verdict:
        case Verdict.PROVED:
            lines += [f"  for {subject.scope}"]
            lemmas = quantity(len(theorem.own_lemmas), "lemma")
            lines += [f"  by {lemmas}" if theorem.own_lemmas else "  by induction alone"]
            lines += [f"  trusted: {subject.trusted}"]
        case Verdict.VIOLATED:
            found = ", ".join(name for name in proof.violated if name in theorem.names)
            lines = [
                f"{subject.name}: VIOLATED {found}, found by the search",
                f"  {subject.check} shows how",
            ]
        case Verdict.NOT_PROVED if proof.refuted is not None and small is not None:
            lemma, found_one = proof.refuted
            stated = (*theorem.invariants, *theorem.steps)
            sentence = next((e.sentence for e in stated if e.name == lemma), "")
            lines += [
                f"  {found_one.action.name} leads out of the lemmas: {lemma} is false after it, "
                "all are true before it.",
                f"  {lemma}: {sentence or found_one.error or 'no rule raises an error.'}",
                describe(small, found_one),
                "  The state before need not be reachable. This is no violation of a claim.",
            ]
        case Verdict.NOT_PROVED if proof.never:
            lines += [f"  no state of the invariant enables {', '.join(proof.never)}"]
        case Verdict.NOT_PROVED:
            lines += [f"  false in a reachable state: {', '.join(proof.violated)}"]
        case _:
            lines += [f"  no answer: {each.what}, {each.lemma}" for each in proof.undecided]
    return "\n".join(lines)


def of_suggestions(functions: Sequence[str], states: int, file: str) -> str:
    """Return lemmas that are suggested, as Python."""
    if not functions:
        return (
            "No clause of up to three comparisons excludes the state before: it takes another idea."
        )
    names = [each.partition("(")[0].removeprefix("def ") for each in functions]
    return (
        f"Suggested, the simplest first: each excludes the state before, and is true in "
        f"{quantity(states, 'state')} that the rules reach.\n\n"
        + "\n".join(functions)
        + f"\nPaste one at the end of {file}, and name it in the protocol: lemmas=[..., {names[0]}]"
    )


def of_certificate(out: Path, proof: Proof, subject: Subject) -> str:
    """Return the line about the certificate: where it is, or why there is none."""
    if proof.verdict(subject.theorem) is not Verdict.PROVED:
        return f"no certificate was written to {out}: the claims are not PROVED"
    own = f" --model {subject.file}" if subject.file else ""
    return f"wrote a certificate of the proof to {out}; judge it with waterline certify {out}{own}"


def certify_proof(options: CertifyOptions) -> int:
    """Prove each obligation again; returns the exit code. Raises `BadCertificate`."""
    ask_one: Ask = ask
    solver = solver_name()
    if options.solver == "cvc5":
        from waterline.checker.proof import second_solver  # noqa: PLC0415 - an extra

        ask_one, solver = second_solver.ask, second_solver.name()
    folder = options.folder
    if options.engine.engine == "spark":
        raise click.UsageError(f"{folder} is of a proof, which Spark has no part in; leave it out")
    document, spec = read_proof(folder)
    try:
        problem = spec.build(finder(options.own_model))
        if options.own_model is not None:
            vet(problem)
        subject, every = subject_of_problem(problem), len(document.obligations)
        with showing(error_screen()) as progress:
            proof = prove_again(
                document,
                subject,
                folder,
                lambda now: progress.report(f"proved {len(now.answered)} of {every} obligations"),
                ask_one,
                options.jobs or 0,
            )
    except (BadEnvironment, NotProvable) as found:
        raise BadCertificate(f"{folder}: {found}") from None
    screen().print(Trimmed(Text(of_certified(proof, subject, solver))))
    done = proof.verdict(subject.theorem) is Verdict.PROVED
    return exit_codes.HOLDS if done else exit_codes.NOT_CERTIFIED


def of_certified(proof: Proof, subject: Subject, solver: str) -> str:
    """Return the report of a proof that was made again by its certificate."""
    theorem, last = subject.theorem, proof.answered[-1]
    steps = sum(each.attempt.steps for each in proof.answered)
    judged = f"{quantity(len(proof.answered), 'obligation')}, {steps:,} steps of {solver}"
    if proof.verdict(theorem) is Verdict.PROVED:
        lines = [f"CERTIFIED {subject.name}: PROVED {', '.join(theorem.names)}"]
        lines += [f"  for {subject.scope}"]
    elif proof.never:
        lines = [f"NOT CERTIFIED {subject.name}: no state of the invariant enables "]
        lines[0] += ", ".join(proof.never)
    else:
        lines = [f"NOT CERTIFIED {subject.name}: {last.what}, {last.lemma}: not proved from what"]
        lines[0] += " the certificate names; waterline prove says whether it follows at all"
    return "\n".join(
        [*lines, f"  proved again from the rules: {judged}", f"  trusted: {subject.trusted}"]
    )


def as_document(proof: Proof, subject: Subject) -> dict[str, Any]:
    """Return the verdict for `--format json`."""
    theorem = subject.theorem
    verdict = proof.verdict(theorem)
    document: dict[str, Any] = {
        **subject.options,
        "verdict": verdict.value,
        "claims": list(theorem.names),
        "lemmas": {lemma.name: lemma.sentence for lemma in theorem.lemmas},
        "solver": solver_name(),
        "trusted": subject.trusted,
        "obligations": [
            {
                "of": each.what,
                "goal": each.lemma,
                "outcome": each.attempt.outcome.value,
                "attempts": each.attempt.number,
                "steps": each.attempt.steps,
            }
            for each in proof.answered
        ],
        "never_enabled": proof.never,
    }
    if proof.searched is not None:
        states = proof.searched.distinct
        document["search"] = {"states": states, "violated": list(proof.violated)}
    if proof.refuted is not None:
        document["leads_out"] = _step_as_document(*proof.refuted)
    return document


def _step_as_document(lemma: str, found: Counterexample) -> dict[str, Any]:
    return {
        "goal": lemma,
        "action": found.action.name,
        "arguments": dict(found.action.name_arguments(found.arguments)),
        "before": as_dict(found.before),
        "after": None if found.after is None else as_dict(found.after),
        "false_after": list(found.broken),
        "error": found.error,
    }


def exit_code(proof: Proof, subject: Subject) -> int:
    """Return the exit code of a verdict."""
    return {
        Verdict.PROVED: exit_codes.HOLDS,
        Verdict.VIOLATED: exit_codes.VIOLATED,
        Verdict.NOT_PROVED: exit_codes.NOT_PROVED,
        Verdict.UNDECIDED: exit_codes.INCOMPLETE,
    }[proof.verdict(subject.theorem)]
