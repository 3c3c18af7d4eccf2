"""The verdict of `waterline prove` as text, as JSON and as an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from z3 import get_version_string

from waterline.checker.cli.shared import exit_codes
from waterline.checker.problem.wording import quantity
from waterline.checker.proof.counterexample import Counterexample, describe
from waterline.checker.proof.obligations import Induction
from waterline.checker.proof.proving import Proof, Subject, Verdict
from waterline.model.core.state import as_dict


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


def of_verdict(proof: Proof, subject: Subject, small: Induction) -> str:
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
        case Verdict.NOT_PROVED if proof.refuted is not None:
            lemma, found_one = proof.refuted
            stated = (*theorem.invariants, *theorem.steps)
            sentence = next((e.sentence for e in stated if e.name == lemma), "")
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
