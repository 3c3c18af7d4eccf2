"""The proof that an entry with `proved = true` demands: of all that it expects to hold."""

from __future__ import annotations

from collections.abc import Iterator

from waterline.checker.ci.expectation import Expectation
from waterline.checker.kafka.theorems import message_subject_within, subject_of
from waterline.checker.problem.problem import Problem
from waterline.checker.proof.proving import Proof, Subject, Verdict, induct, search_first
from waterline.checker.proof.terms import NotProvable
from waterline.checker.search.result import Verdict as Found
from waterline.checker.user_models.family import OwnFamily
from waterline.checker.user_models.theorems import own_subject
from waterline.model.atomic.versions import NAME
from waterline.model.core.errors import BadEnvironment


def reasons_against(expectation: Expectation) -> Iterator[str]:
    """Yield why the claims that are expected to hold are not proved for bounds of any size."""
    try:
        subject = subject_of_problem(expectation.problem)
        proved = subject.theorem.names
        holding = [n for n, e in expectation.verdicts.items() if e.verdict == Found.HOLDS.value]
        if others := [name for name in holding if name not in proved]:
            about = ", ".join(proved)
            yield f"{', '.join(others)}: expected proved, and the proof is about {about}"
            return
        proof = Proof(searched=search_first(subject.theorem, subject.searched))
        if not proof.violated:
            induct(subject, proof)
    except (BadEnvironment, NotProvable) as problem:
        yield f"expected proved: {problem}"
        return
    verdict = proof.verdict(subject.theorem)
    if verdict is not Verdict.PROVED:
        yield f"expected PROVED, got {verdict.value}: {_reason(proof)}"


def subject_of_problem(problem: Problem) -> Subject:
    """The theorem about a problem's version, for any bounds. Raises `BadEnvironment`."""
    if isinstance(problem.family, OwnFamily):
        return own_subject(problem, problem.family.own.file)
    version = problem.model.version
    if problem.model.name == NAME:
        return subject_of(version)
    return message_subject_within(version, problem.model.options)


def _reason(proof: Proof) -> str:
    if proof.violated:
        return f"false in a reachable state: {', '.join(proof.violated)}"
    if proof.refuted is not None:
        name, found = proof.refuted
        return f"{found.action.name} leads out of the lemmas, to a state without {name}"
    if proof.never:
        return f"no state of the invariant enables {', '.join(proof.never)}"
    return f"no answer to {', '.join(f'{e.what}: {e.lemma}' for e in proof.undecided)}"
