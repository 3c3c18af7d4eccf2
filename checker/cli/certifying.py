"""Execution of `certify`: a set of states is judged by interpreted rules, and reported."""

from __future__ import annotations

from collections.abc import Iterator

import click
from rich.console import Group, RenderableType
from rich.text import Text

from waterline.checker.analysis.certificate.certificate import Certificate, open_certificate
from waterline.checker.analysis.certificate.certifying import Certified, certify, certify_on_spark
from waterline.checker.analysis.certificate.judging import OF_STATE, Failure, Judge
from waterline.checker.analysis.certificate.renaming import words_of
from waterline.checker.cli.certify import CertifyOptions
from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import (
    require_engine,
)
from waterline.checker.cli.shared.own_options import finder
from waterline.checker.cli.shared.progress import Progress, showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.problem.family import describe_circumstances
from waterline.checker.problem.family import words_of as vocabulary_of
from waterline.checker.problem.wording import describe_symmetry, describe_version, quantity, roughly
from waterline.checker.search.engines.engine import EngineChoice
from waterline.counterexamples.rendering import Trimmed
from waterline.counterexamples.state_table import LEGEND, facts, state_table, widths_of
from waterline.counterexamples.style import BAD, GOOD, QUIET
from waterline.model.core.state import State, as_dict
from waterline.model.core.transition_system import call


def certify_states(options: CertifyOptions) -> int:
    """Judge the certificate, and report; returns the exit code. Raises `BadCertificate`."""
    choice, own_model, jobs = options.engine.choice(), options.own_model, options.jobs
    require_engine(choice)
    if jobs is not None and choice.name != "local":
        raise click.UsageError("--jobs is for --engine local; leave it out, or ask for that")
    with showing(error_screen()) as progress:
        certificate = open_certificate(options.folder, finder(own_model))
        if own_model is not None:
            # What is no function of the state could come out otherwise for the same one.
            from waterline.checker.user_models.vetting import vet  # noqa: PLC0415 - the compiler

            vet(certificate.problem)
        done = _certify(certificate, choice, jobs, progress)
    screen().print(render_certified(certificate, done))
    return exit_codes.HOLDS if done.failure is None else exit_codes.NOT_CERTIFIED


def _certify(
    certificate: Certificate, choice: EngineChoice, jobs: int | None, progress: Progress
) -> Certified:
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
