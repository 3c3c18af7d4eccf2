"""The verdict of `waterline prove` as text, as JSON and as an exit code."""

from __future__ import annotations

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
