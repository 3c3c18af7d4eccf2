"""`waterline certify`: a certificate, judged by interpreted rules, and the report of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Group, RenderableType
from rich.text import Text

from waterline.checker.analysis.certificate.header import BadCertificate
from waterline.checker.analysis.certificate.judging import OF_STATE, Failure, Judge
from waterline.checker.analysis.certificate.renaming import words_of
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import (
    DEFAULT_ENGINE,
    ENGINES,
    EngineOptions,
    options_as,
    require_engine,
    spark_options,
)
from waterline.checker.cli.shared.own_options import finder, model_option
from waterline.checker.cli.shared.progress import showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.problem.distribution import require
from waterline.checker.problem.family import describe_circumstances
from waterline.checker.problem.family import words_of as vocabulary_of
from waterline.checker.problem.wording import describe_symmetry, describe_version, quantity, roughly
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.state_table import LEGEND, facts, state_table, widths_of
from waterline.counterexamples.style import BAD, GOOD, QUIET
from waterline.model.core.errors import BadEnvironment
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import call

if TYPE_CHECKING:
    from waterline.checker.analysis.certificate.certificate import Certificate
    from waterline.checker.analysis.certificate.certifying import Certified
    from waterline.checker.cli.shared.progress import Progress
    from waterline.checker.search.engines.engine import EngineChoice


@dataclass(frozen=True, slots=True, kw_only=True)
class CertifyOptions:
    """The certificate, and where it is judged."""

    folder: Path
    own_model: str | None
    jobs: int | None
    solver: str
    engine: EngineOptions


@click.command("certify", epilog=exit_codes.HELP)
@click.argument("folder", type=click.Path(path_type=Path), metavar="DIR")
@model_option
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    show_default=DEFAULT_ENGINE,
    help="local judges in processes of this machine and never starts Spark.",
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 1024),
    show_default="one a core",
    help="How many processes judge side by side, with --engine local.",
)
@click.option(
    "--solver",
    type=click.Choice(["z3", "cvc5"]),
    default="z3",
    show_default=True,
    help="The solver that proves the obligations of a proof again.",
)
@spark_options
@options_as(CertifyOptions)
def certify_command(options: CertifyOptions) -> int:
    """Judge the certificate in DIR (check --certificate DIR) anew, by the rules as Python runs
    them.

    The initial state must be in its set of states, each step of each state must lead into the set,
    and what it says to hold must hold in each. Nothing that is compiled takes part. Of a proof
    (prove --certificate DIR) each obligation is proved again by the solver. Exit 13 if it is not
    certified.
    """
    from waterline.checker.analysis.certificate.reading import is_of_proof  # noqa: PLC0415 - msgspec

    if is_of_proof(options.folder):
        return _certify_proof(options)
    if options.solver != "z3":
        raise click.UsageError("--solver is for the certificate of a proof; leave it out")
    require("pyarrow", "arrow", "certify")
    from waterline.checker.analysis.certificate.certificate import open_certificate  # noqa: PLC0415 - pyarrow takes a while

    choice, own_model, jobs = options.engine.choice(), options.own_model, options.jobs
    require_engine(choice)
    if jobs is not None and choice.name != "local":
        raise click.UsageError("--jobs is for --engine local; leave it out, or ask for that")
    with showing(error_screen()) as progress:
        certificate = open_certificate(options.folder, finder(own_model))
        if own_model is not None:
            # What is no function of the state could come out otherwise for the same one.
            from waterline.checker.user_models.vetting import vet  # noqa: PLC0415 - with the compiler

            vet(certificate.problem)
        done = _certify(certificate, choice, jobs, progress)
    screen().print(render_certified(certificate, done))
    return exit_codes.HOLDS if done.failure is None else exit_codes.NOT_CERTIFIED


def _certify_proof(options: CertifyOptions) -> int:
    require("z3", "prove", "certify")
    if options.solver == "cvc5":
        require("cvc5", "cvc5", "--solver cvc5")
    from waterline.checker.analysis.certificate.proof import prove_again, read_proof  # noqa: PLC0415 - z3
    from waterline.checker.ci.proving import subject_of_problem  # noqa: PLC0415 - as above
    from waterline.checker.cli.prove_report import of_certified, solver_name  # noqa: PLC0415
    from waterline.checker.proof.proving import Verdict  # noqa: PLC0415
    from waterline.checker.proof.solver import ask  # noqa: PLC0415
    from waterline.checker.proof.terms import NotProvable  # noqa: PLC0415

    answer, solver = ask, solver_name()
    if options.solver == "cvc5":
        from waterline.checker.proof import second_solver  # noqa: PLC0415

        answer, solver = second_solver.ask, second_solver.name()
    folder = options.folder
    if options.jobs is not None or options.engine.engine == "spark":
        raise click.UsageError(
            f"{folder} is of a proof, which has no states to share out; leave "
            "out --jobs and --engine spark"
        )
    document, spec = read_proof(folder)
    try:
        problem = spec.build(finder(options.own_model))
        if options.own_model is not None:
            from waterline.checker.user_models.vetting import vet  # noqa: PLC0415 - the compiler

            vet(problem)
        subject, every = subject_of_problem(problem), len(document.obligations)
        with showing(error_screen()) as progress:
            proof = prove_again(
                document,
                subject,
                folder,
                lambda now: progress.report(f"proved {len(now.answered)} of {every} obligations"),
                answer,
            )
    except (BadEnvironment, NotProvable) as found:
        raise BadCertificate(f"{folder}: {found}") from None
    screen().print(Trimmed(Text(of_certified(proof, subject, solver))))
    done = proof.verdict(subject.theorem) is Verdict.PROVED
    return exit_codes.HOLDS if done else exit_codes.NOT_CERTIFIED


def _certify(
    certificate: Certificate, choice: EngineChoice, jobs: int | None, progress: Progress
) -> Certified:
    from waterline.checker.analysis.certificate.certifying import certify, certify_on_spark  # noqa: PLC0415 - with processes

    if choice.name == "spark":
        judging = f"judging {quantity(certificate.header.states, 'state')} on Spark"
        return certify_on_spark(
            certificate,
            choice,
            announce=progress.announce,
            watch=lambda tasks: progress.report(f"{judging}: {quantity(tasks, 'task')} done"),
        )

    def watch(so_far: Certified) -> None:
        rate = so_far.states / max(so_far.seconds, 1e-9)
        of = f"{so_far.states:,} of {quantity(certificate.header.states, 'state')}"
        progress.report(f"judged {of}, {roughly(rate)}/s")

    return certify(certificate, jobs=jobs or 0, watch=watch)


def render_certified(certificate: Certificate, done: Certified) -> RenderableType:
    """The whole report."""
    failure = done.failure
    parts: list[RenderableType] = [*_headline(certificate), Text()]
    if failure is None:
        parts += [_verdict(certificate), *_notes(certificate)]
    else:
        parts += _failure_tables(certificate, failure)
    return Trimmed(Group(*parts, *_counts(done)))


def _headline(certificate: Certificate) -> Iterator[Text]:
    """Yield the certified problem's version, bounds and settings, as `check` shows them."""
    problem = certificate.problem
    title = vocabulary_of(problem).title(problem.model)
    yield Text.assemble((describe_version(problem.model.version), "bold"), title)
    yield Text(describe_circumstances(problem), QUIET)


def _verdict(certificate: Certificate) -> Text:
    model = certificate.problem.model
    line = Text.assemble(("CERTIFIED ", GOOD), (describe_version(model.version), "bold"))
    line.append(f": HOLDS {', '.join(certificate.certified)}; ")
    symmetric = describe_symmetry(certificate.problem.symmetry)
    line.append(f"{quantity(certificate.header.states, 'state')} in the set{symmetric}, ")
    return line.append(f"{vocabulary_of(certificate.problem).describe_scope(model)}.")


def _notes(certificate: Certificate) -> Iterator[Text]:
    """Yield lines about the claims that the header names and this does not certify."""
    others: dict[str, list[str]] = {}
    for name, claim in certificate.header.claims.items():
        if name not in certificate.certified and name not in certificate.uncertified:
            at = f" after {quantity(claim.depth, 'step')}" if claim.depth is not None else ""
            others.setdefault(f"{claim.verdict.upper()}{at}", []).append(name)
    for verdict, those in others.items():
        yield Text(f"Not certified (the header says {verdict}): {', '.join(those)}")
    if certificate.uncertified:
        names = ", ".join(certificate.uncertified)
        yield Text(f"Not certified, because no set of states can show it: {names}")


def _counts(done: Certified) -> Iterator[Text]:
    judged = f"{quantity(done.states, 'state')} and {quantity(done.steps, 'step')}"
    cut = ", ".join(f"{name}: {count:,} cut" for name, count in done.cut.items())
    yield Text(f"Judged by interpreted rules: {judged}; {cut or 'nothing cut'}.")
    yield Text(
        f"{done.seconds:.1f} s, {done.states / max(done.seconds, 1e-9):,.0f} states/s", QUIET
    )


def _failure_tables(certificate: Certificate, failure: Failure) -> Iterator[RenderableType]:
    """The state and the step that fail, as tables."""
    judge = Judge(certificate.problem, certificate.certified)
    model = judge.model
    title = Text.assemble(("NOT CERTIFIED ", BAD), (describe_version(model.version), "bold"))
    if not failure.key:
        yield title.append(f": an initial state {failure.what}")
        yield from _table(judge, None, model.initial[failure.place])
        return
    state = State(model.layout, words_of(judge.state_of(failure)))
    if failure.place == OF_STATE:
        yield title.append(f": a state {failure.what}")
        yield Text(_why(judge, failure, state))
        yield from _table(judge, None, state)
        return
    action, arguments = judge.calls[failure.place]
    yield title.append(f": {call(action, arguments)} {failure.what}, taken in the state")
    yield from _table(judge, None, state)
    try:
        step = model.take(state, action, arguments)
    except Exception:
        return  # The rule raised: that is what failed.
    yield Text("It leads to")
    yield from _table(judge, state, step.after)


def _why(judge: Judge, failure: Failure, state: State) -> str:
    """Return the broken claim's explanation of a state."""
    for claim in judge.invariants:
        if failure.what == f"breaks {claim.name}":
            return claim.explain(state, judge.model.settings)
    return f"Its words are {' '.join(f'{word:016x}' for word in state.words)}."


def _table(judge: Judge, before: State | None, state: State) -> Iterator[RenderableType]:
    """A state as a table, with what differs from `before` marked; a forged one as it can be."""
    narration = judge.model.narration
    try:
        both = [state] if before is None else [before, state]
        table = state_table(narration, before, state, widths_of(narration, both))
        beside = facts(narration, before, state)
    except Exception:
        # Narrations are written for states that are reached; this one need not be.
        yield Text(", ".join(f"{name}={value}" for name, value in as_dict(state).items()))
        return
    yield table
    yield beside
    if before is not None:
        yield Text(LEGEND, QUIET)
