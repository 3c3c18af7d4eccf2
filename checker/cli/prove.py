"""`waterline prove`: claims proved for bounds of any size, by induction over the rules."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from rich.text import Text

from waterline.checker.cli.shared import exit_codes
from waterline.checker.cli.shared.options import format_option, options_as
from waterline.checker.cli.shared.progress import Progress, showing
from waterline.checker.cli.shared.screen import error_screen, screen
from waterline.checker.problem.distribution import require
from waterline.checker.problem.wording import quantity
from waterline.counterexamples.rendering import Trimmed
from waterline.model.atomic.versions import VERSIONS
from waterline.model.core.errors import BadEnvironment

if TYPE_CHECKING:
    from waterline.checker.proof.obligations import Induction, Theorem
    from waterline.checker.proof.proving import Proof

FOR_ANY = (
    "any number of replicas, logs of any length, any number of records, leader epochs and elections"
)
TRUSTED = (
    "the translation of rules into terms (checker/proof), the solver, and that the model is Kafka's"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ProveOptions:
    """The theorem, and how it is reported."""

    protocol: str
    grain: str
    replicas: str
    search: bool
    output_format: str


@click.command(
    "prove",
    epilog=exit_codes.HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option("--protocol", default="kip320", show_default=True, help="A version of the grain.")
@click.option(
    "--grain",
    type=click.Choice(["atomic"]),
    default="atomic",
    show_default=True,
    help="The grain that has lemmas.",
)
@click.option(
    "--replicas",
    type=click.Choice(["any"]),
    default="any",
    show_default=True,
    help="How many replicas the proof is about.",
)
@click.option(
    "--search/--no-search",
    default=True,
    show_default=True,
    help="Test claims and lemmas on all states within small bounds first.",
)
@format_option
@options_as(ProveOptions)
def prove_command(options: ProveOptions) -> int:
    """Prove what `check` checks within bounds: by induction, for any number of replicas.

    The search tests the lemmas first. Then the solver z3 proves that they are true at first and
    stay so in every step, that no rule is in error, and that the claims follow (docs/proof.md).
    Exit 14 if a step leads out of the lemmas: the state before it need not be reachable.
    """
    require("z3", "prove", "prove")
    if options.protocol not in VERSIONS:
        raise BadEnvironment(f"unknown protocol {options.protocol!r}; known: {', '.join(VERSIONS)}")
    # The solver takes a while to load.
    from waterline.checker.kafka.theorems import SEARCHED, SMALL, theorem_of  # noqa: PLC0415
    from waterline.checker.proof.proving import Proof, search_first  # noqa: PLC0415

    theorem = theorem_of(options.protocol)
    small = theorem.within(SMALL)
    proof = Proof()
    say = _show if options.output_format == "text" else _silent
    with showing(error_screen()) as progress:
        if options.search:
            progress.announce("searching small bounds for a state that breaks a claim or a lemma")
            proof.searched = search_first(theorem, SEARCHED, progress.announce)
            say(_of_search(proof, theorem, SEARCHED))
        if not proof.violated:
            _prove(proof, theorem, small, say, progress)
    if options.output_format == "json":
        click.echo(json.dumps(_document(options, proof, theorem, small), indent=2))
    else:
        _show(_verdict(options, proof, theorem, small))
    return _exit_code(proof, theorem)


def _show(text: str) -> None:
    screen().print(Trimmed(Text(text)))


def _silent(text: str) -> None:
    """Print nothing: the document has it all."""


def _prove(
    proof: Proof,
    theorem: Theorem,
    small: Induction,
    say: Callable[[str], None],
    progress: Progress,
) -> None:
    from waterline.checker.proof.proving import never_happen, prove_all  # noqa: PLC0415 - as above

    started = time.monotonic()
    proof.never = never_happen(small)
    actions = len(small.model.enabled_actions)
    say(
        f"happens     {actions - len(proof.never)} of {actions} actions, each from a state "
        "of the invariant"
    )
    prove_all(
        proof,
        theorem.induction(),
        small,
        lambda answer: progress.report(
            f"{quantity(len(proof.answered), 'obligation')} answered; now {answer.what}"
        ),
    )
    done = sum(each not in proof.undecided for each in proof.answered)
    seconds = time.monotonic() - started
    every = len(proof.answered) + (proof.refuted is not None)
    say(
        f"induction   {done} of {every} obligations proved by {_solver()}, "
        f"{sum(each.attempt.steps for each in proof.answered):,} steps of it; {seconds:.0f} s"
    )


def _solver() -> str:
    from z3 import get_version_string  # noqa: PLC0415 - as above

    return f"z3 {get_version_string()}"


def _of_search(proof: Proof, theorem: Theorem, sizes: dict[str, int]) -> str:
    result = proof.searched
    assert result is not None
    claims = [claim.name for claim, _ in theorem.claims]
    violated = [name for name in proof.violated if name in claims]
    lemmas, false = _lemmas(theorem), len(proof.violated) - len(violated)
    found = f"{len(claims)} claims and {lemmas} lemmas hold"
    if proof.violated:
        found = f"{', '.join(violated) or 'no claim'} violated, {false} of {lemmas} lemmas false"
    return (
        f"search      {quantity(result.distinct, 'state')} of {sizes['replicas']} replicas, "
        f"{sizes['records']} records, epochs 0 to {sizes['epochs']}: "
        f"{found}; {result.seconds:.0f} s"
    )


def _lemmas(theorem: Theorem) -> int:
    """Return the number of lemmas, those included that follow from others."""
    return len(theorem.lemmas) + len(theorem.follows)


def _verdict(options: ProveOptions, proof: Proof, theorem: Theorem, small: Induction) -> str:
    from waterline.checker.proof.counterexample import describe  # noqa: PLC0415 - as above
    from waterline.checker.proof.proving import Verdict  # noqa: PLC0415 - as above

    verdict = proof.verdict(theorem)
    claims = [claim.name for claim, _ in theorem.claims]
    lines = [f"{options.protocol}: {verdict.value} {', '.join(claims)}"]
    match verdict:
        case Verdict.PROVED:
            lines += [f"  for {FOR_ANY}", f"  by {_lemmas(theorem)} lemmas"]
            lines += [f"  trusted: {TRUSTED}"]
        case Verdict.VIOLATED:
            found = ", ".join(name for name in proof.violated if name in claims)
            lines = [
                f"{options.protocol}: VIOLATED {found}, found by the search",
                f"  waterline check --grain atomic --protocol {options.protocol} --replicas 3 "
                "shows how",
            ]
        case Verdict.NOT_PROVED if proof.refuted is not None:
            lemma, found_one = proof.refuted
            sentence = next((e.sentence for e in theorem.lemmas if e.name == lemma), "")
            lines += [
                f"  {found_one.action.name} leads out of the lemmas: {lemma} is false after it, "
                "all are true before it.",
                f"  {lemma}: {sentence or 'no rule raises an error.'}",
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


def _document(
    options: ProveOptions, proof: Proof, theorem: Theorem, small: Induction
) -> dict[str, Any]:
    verdict = proof.verdict(theorem)
    document: dict[str, Any] = {
        "protocol": options.protocol,
        "grain": options.grain,
        "replicas": options.replicas,
        "verdict": verdict.value,
        "claims": [claim.name for claim, _ in theorem.claims],
        "lemmas": {lemma.name: lemma.sentence for lemma in theorem.lemmas},
        "solver": _solver(),
        "trusted": TRUSTED,
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
        document["leads_out"] = _as_document(*proof.refuted)
    return document


def _as_document(lemma: str, found: Any) -> dict[str, Any]:
    from waterline.model.core.state import as_dict  # noqa: PLC0415 - few need it

    return {
        "goal": lemma,
        "action": found.action.name,
        "arguments": dict(found.action.name_arguments(found.arguments)),
        "before": as_dict(found.before),
        "after": None if found.after is None else as_dict(found.after),
        "false_after": list(found.broken),
        "error": found.error,
    }


def _exit_code(proof: Proof, theorem: Theorem) -> int:
    from waterline.checker.proof.proving import Verdict  # noqa: PLC0415 - as above

    return {
        Verdict.PROVED: exit_codes.HOLDS,
        Verdict.VIOLATED: exit_codes.VIOLATED,
        Verdict.NOT_PROVED: exit_codes.NOT_PROVED,
        Verdict.UNDECIDED: exit_codes.INCOMPLETE,
    }[proof.verdict(theorem)]
